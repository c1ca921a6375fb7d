"""Facts to decisions. Pure: no files, no SQLite, no clock, no randomness."""
