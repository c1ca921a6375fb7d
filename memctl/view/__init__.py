"""Pictures of the memory for people: timelines, neighbours of an entity, and a site of pages that only reads."""

__all__ = ["pictures"]
