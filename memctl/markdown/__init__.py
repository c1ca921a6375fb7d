"""A page <-> facts and blocks; the line grammar. Pure."""

__all__ = ["attributes", "blocks", "escape", "front_matter", "grammar", "lines", "markers", "page", "private"]
