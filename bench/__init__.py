"""Benchmarks: every figure of docs/benchmarks.md is printed by ``python -m bench``."""
