"""Generate files of every format, and compare every way to read them.

``python tests/files/generate_files.py 6000`` makes 6,000 files, and a second number makes others, from that
seed on. It ends with status 1 at the first difference.
"""

import sys
import tempfile
from collections import Counter
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(1, str(Path(__file__).parents[1]))

from reading_paths import DifferenceError, check


def main(count, first=0):
    """Compare files, print how many of each format and how often each path was compared."""
    formats, paths = Counter(), Counter()
    for seed in range(first, first + count):
        with tempfile.TemporaryDirectory() as folder:
            file, counts = check(seed, Path(folder))
        formats[f"{file.format} as {file.what}"] += 1
        formats["with something wrong"] += bool(file.flaw)
        paths += counts
    for title, counts in (("files", formats), ("paths", paths)):
        print(f"{title}: {counts.total():,}")
        for name, number in counts.most_common():
            print(f"{number:9,} {name}")


if __name__ == "__main__":
    try:
        main(*map(int, sys.argv[1:3]))
    except DifferenceError as difference:
        sys.exit(f"DIFFERENCE: {difference}")
