"""Disagreements between facts, and resolving them."""
