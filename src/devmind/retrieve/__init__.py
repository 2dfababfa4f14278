"""The read path's core: a query → hits of the published generations, each with the reasons for its rank."""

from devmind.retrieve.search import Retriever

__all__ = ["Retriever"]
