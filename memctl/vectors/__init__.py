"""Models, embedding, the vector file, search by meaning."""

__all__ = ["embed", "file", "models", "tables", "text_to_embed"]
