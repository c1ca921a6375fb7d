"""Which lines may go, the plan, erasing them everywhere."""
