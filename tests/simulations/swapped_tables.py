"""How many of random swaps in a table of the sample an audit names: rows, columns, cells.

Run by hand: ``PYTHONPATH=tests:tests/audits python tests/simulations/swapped_tables.py 200``.
"""

import random
import sys
from collections import Counter

from test_swaps import audited, copied, swapped


def main(n):
    """Print by kind how many swaps were named in one line, with nothing else left open."""
    named, tables = Counter(), Counter()
    for seed in range(n):
        table, line = swapped(random.Random(1000 + seed))
        if table == copied():  # two equal numbers
            continue
        kind = next(each for each in ("the rows", "the columns", ": ", ", ") if each in line)
        result = audited(table)
        tables[kind] += 1
        named[kind] += result.moves == [line] and result.best[0].complete
    words = {"the rows": "rows", "the columns": "columns", ": ": "cells of a row or column", ", ": "cells"}
    for kind, total in tables.items():
        print(f"{words[kind]:25} {named[kind]:4} of {total}")


if __name__ == "__main__":
    main(int(sys.argv[1]))
