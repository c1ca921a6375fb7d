"""Writes a fact into a daily log."""
