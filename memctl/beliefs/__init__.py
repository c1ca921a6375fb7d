"""Beliefs: confidence replayed from evidence, and bank/opinions.md."""
