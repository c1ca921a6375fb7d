"""Keeps the index as fresh as the files."""

__all__ = ["watch"]
