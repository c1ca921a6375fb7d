"""Names, aliases, who is meant."""

__all__ = ["rename", "similar"]
