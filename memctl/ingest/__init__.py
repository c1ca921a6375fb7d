"""A conversation -> candidate facts."""

__all__ = ["conversation", "extract", "formats", "ingest", "json_stream", "own_words", "turns"]
