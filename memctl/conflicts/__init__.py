"""Disagreements between facts, and resolving them."""

__all__ = ["listing"]
