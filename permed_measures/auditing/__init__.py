"""Find the convention that gives a published number."""
