"""A question -> cited hits."""

__all__ = ["answer", "entry_hits", "lookup", "query", "question", "recall", "related", "search_vectors", "wording"]
