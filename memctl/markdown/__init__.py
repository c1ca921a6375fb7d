"""A page <-> facts and blocks; the line grammar. Pure."""
