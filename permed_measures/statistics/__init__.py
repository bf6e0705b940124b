"""Paired differences of runs: tests, corrections, intervals."""
