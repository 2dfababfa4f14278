"""DevMind: a knowledge base for code that can prove what it says."""

__version__ = "0.1.0"
