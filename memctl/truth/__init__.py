"""What holds as of a day: slots, validity, supersession."""

__all__ = ["change", "judge", "replaced", "statement", "validity"]
