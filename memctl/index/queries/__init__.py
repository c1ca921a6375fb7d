"""The statements that other rooms ask of the index."""

__all__ = ["beliefs", "entries", "expiry", "filters", "forget", "names"]
