"""Retrieval quality of a workspace on labelled questions (`memctl eval`)."""

__all__ = ["evaluate", "labels", "metrics"]
