"""The command line: one module a command group; output.py is the only door to the terminal."""

__all__ = ["call"]
