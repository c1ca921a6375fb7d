"""Words of human languages: analysis, dates, relations, spellings of names. Pure."""
