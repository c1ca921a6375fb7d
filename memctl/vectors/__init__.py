"""Models, embedding, the vector file, search by meaning."""

__all__ = ["embed", "file", "models", "quantized", "tables"]
