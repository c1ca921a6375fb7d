"""Files of the workspace: paths, settings, reading, appending, replacing. The only room that writes Markdown."""

__all__ = ["edits", "files", "journal", "settings", "workspace"]
