"""Transcript formats -> messages."""
