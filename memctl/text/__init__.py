"""Text to facts and back. Pure: no files, no SQLite, no clock, no randomness."""
