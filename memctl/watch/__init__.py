"""Keeps the index as fresh as the files."""
