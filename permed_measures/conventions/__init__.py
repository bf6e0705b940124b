"""Compute measures by any convention: the options of measures, and the conventions that have a name."""
