"""What a shell asks at TAB, and the scripts that ask it."""

__all__ = ["complete"]
