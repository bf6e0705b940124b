"""Find which conventions can have given a published row, from the qrels alone."""
