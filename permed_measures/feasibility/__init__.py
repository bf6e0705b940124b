"""What a published row can be, from the qrels alone: which conventions can have given it."""
