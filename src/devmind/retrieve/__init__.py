"""The read path's core: a query → hits of the published generations, each with the reasons for its rank."""

from devmind.retrieve.request import Request
from devmind.retrieve.search import CACHE_SECONDS, Retriever
from devmind.retrieve.steps import STEPS, Steps

__all__ = ["CACHE_SECONDS", "STEPS", "Request", "Retriever", "Steps"]
