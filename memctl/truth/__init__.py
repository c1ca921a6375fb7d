"""What holds as of a day: slots, validity, supersession."""
