"""The questions that only an owner can answer: found, shown, answered by a line of Markdown."""

__all__ = ["answer", "collect", "keep", "offers", "question"]
