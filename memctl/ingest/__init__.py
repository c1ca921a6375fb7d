"""A conversation -> candidate facts."""
