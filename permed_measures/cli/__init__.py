"""The command line ``permed-measures``."""

from permed_measures.cli.commands import main, run

__all__ = ["main", "run"]
