"""Search result → cited answer: evidence, composition, verification of citations, abstention."""
