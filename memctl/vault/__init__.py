"""Sealed lines: text that only those with a key can read."""

__all__ = ["vault"]
