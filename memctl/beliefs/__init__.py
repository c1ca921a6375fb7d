"""Beliefs: confidence replayed from evidence, and bank/opinions.md."""

__all__ = ["confidence", "opinions_page", "replay", "view"]
