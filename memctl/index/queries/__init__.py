"""The statements that other rooms ask of the index."""

__all__ = ["beliefs", "entries", "filters", "forget", "names"]
