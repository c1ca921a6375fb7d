"""Beliefs: confidence replayed from evidence, and bank/opinions.md."""

__all__ = ["confidence", "page_read", "page_write", "replay", "stance_judge", "view"]
