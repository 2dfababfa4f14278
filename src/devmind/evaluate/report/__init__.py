"""Measured runs → what people and other programs read: one HTML file, Markdown, JSON, JUnit.

``data`` joins runs and comparisons; ``record`` is its JSON shape, from which the page is made. Nothing here
measures.
"""

from __future__ import annotations

from devmind.evaluate.report.data import Report, make_report

__all__ = ["Report", "make_report"]
