"""What is planned for bank/: entity pages, lessons, proposals."""

__all__ = ["fact_source", "lessons", "plan", "proposals", "record", "reflect"]
