"""The statements that other rooms ask of the index."""

__all__ = ["entity_names", "entries", "evidence", "filters", "traces"]
