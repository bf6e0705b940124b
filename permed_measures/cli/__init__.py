"""The command line ``permed-measures``."""

from permed_measures.cli.commands import app, main

__all__ = ["app", "main"]
