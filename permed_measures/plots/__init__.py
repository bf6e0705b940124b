"""Plots of comparisons, for papers."""
