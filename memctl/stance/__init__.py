"""Whether one statement speaks for or against another. Pure."""

__all__ = ["stance"]
