"""A repository in the knowledge base → evaluation topics about it: each with its provenance, for a person to accept.

One module a kind of question: `symbols`, `traps`, `history`, `docs`, `hops`; `paraphrase` words them anew. Nothing here
asks a system or ranks anything; truths come from the symbol table, the call graph and git alone.
"""
