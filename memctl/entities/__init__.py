"""Names, aliases, who is meant."""
