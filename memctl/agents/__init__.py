"""What stands in a host's files: bracket commands (act), hooks, connect."""
