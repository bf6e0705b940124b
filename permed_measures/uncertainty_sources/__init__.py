"""Uncertainty of a mean: by its topics, by ties, by unjudged documents, and by wrong labels."""
