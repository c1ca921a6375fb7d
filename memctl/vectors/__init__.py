"""Models, embedding, the vector file, search by meaning."""
