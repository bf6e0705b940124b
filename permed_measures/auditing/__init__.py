"""Which convention gives a published number."""
