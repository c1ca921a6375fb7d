"""Retrieval quality of a workspace on labelled questions (`memctl eval`)."""
