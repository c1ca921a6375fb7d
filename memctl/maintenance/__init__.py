"""Make a workspace, look after it: init, check, status."""

__all__ = ["check", "init", "status", "undo"]
