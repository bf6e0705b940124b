"""Generate files of every format, and compare every way to read them.

``python tests/files/generate_files.py 6000`` makes 6,000 files, a second number makes others, from that seed
on, and after that a name makes files of that format only. It ends with status 1 at the first difference.
"""

import sys
import tempfile
from collections import Counter
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(1, str(Path(__file__).parents[1]))

from generator import FORMATS, generated
from reading_paths import DifferenceError, check


def compare(seed):
    """Compare the paths of one file; anything that is raised is a difference."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            return check(seed, Path(folder))
        except DifferenceError:
            raise
        except Exception as error:
            raise DifferenceError(f"{generated(seed)}: {error!r}") from error


def main(count, first=0, only=""):
    """Compare files, print how many of each format and how often each path was compared."""
    formats, paths = Counter(), Counter()
    for seed in range(first, first + count):
        if only not in FORMATS[seed % len(FORMATS)][0]:
            continue
        file, counts = compare(seed)
        formats[f"{file.format} as {file.what}{', with something wrong' if file.flaw else ''}"] += 1
        paths += counts
    for title, counts in (("files", formats), ("paths", paths)):
        print(f"{title}: {counts.total():,}")
        for name, number in counts.most_common():
            print(f"{number:9,} {name}")


if __name__ == "__main__":
    try:
        main(*map(int, sys.argv[1:3]), *sys.argv[3:])
    except DifferenceError as difference:
        sys.exit(f"DIFFERENCE: {difference}")
