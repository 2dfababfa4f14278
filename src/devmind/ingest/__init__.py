"""The write path: plan what changed, build it, publish it as one generation."""

from devmind.ingest.report import IngestOptions, Progress, Report
from devmind.ingest.writer import Writer

__all__ = ["IngestOptions", "Progress", "Report", "Writer"]
