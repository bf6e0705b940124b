"""``python -m permed_measures`` and the program ``permed-measures`` are the command line."""

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line; Ctrl-C while it is imported ends it as later."""
    try:
        from permed_measures.cli.commands import main as run
    except KeyboardInterrupt:
        exec("")  # as in the command line
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
