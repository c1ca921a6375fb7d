"""The statements that other rooms ask of the index."""
