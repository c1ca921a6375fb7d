"""A question -> cited hits."""
