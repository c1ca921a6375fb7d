"""Writes a fact into a daily log."""

__all__ = ["retain"]
