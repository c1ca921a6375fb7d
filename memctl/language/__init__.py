"""Words of human languages: analysis, dates, relations, spellings of names. Pure."""

__all__ = [
    "analyzer", "dates", "entity_key", "names", "phonetic", "relations", "secrets", "sentences", "synonyms",
    "tokens", "words",
]  # fmt: skip
