"""Beliefs: confidence replayed from evidence, and bank/opinions.md."""

__all__ = ["confidence", "page", "replay", "view"]
