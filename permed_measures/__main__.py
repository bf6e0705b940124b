"""``python -m permed_measures`` is the command line."""

from permed_measures.cli.commands import main

main()
