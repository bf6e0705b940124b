"""Generate files of every format, and compare every way to read them.

``python tests/files/generate_files.py 6000`` makes 6,000 files; a second number is the first seed.
It ends with an error at the first difference.
"""

import sys
import tempfile
from collections import Counter
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(1, str(Path(__file__).parents[1]))

from generator import generated
from reading_paths import check


def main(count, first=0):
    """Compare files, and print how many there were and how often each path was compared."""
    paths = Counter()
    for seed in range(first, first + count):
        try:
            with tempfile.TemporaryDirectory() as folder:
                paths += check(seed, Path(folder))
        except Exception as error:
            raise AssertionError(str(generated(seed))) from error
    print(f"{count:,} files, {paths.total():,} comparisons")
    for name, number in paths.most_common():
        print(f"{number:9,} {name}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
