"""Runs against a baseline or against each other: differences, tests, intervals, rerankings."""
