"""A page <-> facts and blocks; the line grammar. Pure."""

__all__ = [
    "additions", "attributes", "blocks", "escape", "evidence_line", "front_matter", "grammar", "lines", "markers",
    "page", "private",
]  # fmt: skip
