"""Offline memory for AI agents and people, in a folder of Markdown that they own."""

__version__ = "0.1.0"
