"""Plots of comparisons, for papers: differences with their intervals, and query by query."""
