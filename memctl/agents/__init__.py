"""What stands in a host's files: bracket commands (act), hooks, connect."""

__all__ = ["act", "connect", "hooks", "hosts"]
