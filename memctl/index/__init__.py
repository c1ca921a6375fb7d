"""SQLite: schema, sync, healing, queries. The only room that speaks SQL to the index."""

__all__ = [
    "completion", "heal", "index", "lexical", "open_memory", "queries", "reread", "resident", "row",
    "rows", "sync",
]  # fmt: skip
