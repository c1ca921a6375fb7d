"""Which lines may go, the plan, erasing them everywhere."""

__all__ = ["forget", "select"]
