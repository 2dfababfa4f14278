"""Catalog (the truth: SQLite) and recall index (lexical: tantivy, vectors: arrays), which can be rebuilt from it."""
