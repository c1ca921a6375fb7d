"""A question -> cited hits."""

__all__ = [
    "entry_hits", "lookup", "query", "question_in_paste", "recall", "related", "search_vectors", "surroundings", "wording",
]  # fmt: skip
