"""One owner for each resource outside: Markdown files, the SQLite index."""
