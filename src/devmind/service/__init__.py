"""The read path: what front ends ask of the published generations. One subject a module; `Service` joins them."""

from devmind.service.embedder import embedder_options
from devmind.service.service import Service

__all__ = ["Service", "embedder_options"]
