"""Import from other memories, export of plain data."""
