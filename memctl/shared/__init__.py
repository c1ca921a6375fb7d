"""Shared memory: the public pages of workspaces on a PostgreSQL server, and recall over them."""

__all__ = ["shared"]
