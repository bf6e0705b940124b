"""All benchmarks in one command: time and memory, beside other tools where they do the same.

Run it with ``python tests/benchmarks/speed.py [ROW ...] [--rounds N] [--out FILE] [--guide]``; a row is one
of ``ROWS``, or a pattern such as ``'dict-*'``. ``--out`` writes all times as JSON. ``--guide`` draws the
tables of the guide from them, with ``--from FILE`` from those of an earlier run. ``--share 0.01`` takes a
hundredth of the queries: to try it out. All rows take some ten minutes.

All tools get the same objects in one process and are called in turns, so that a busy moment hits all of
them; the tables have medians, and medians of the ratios of each round. A frame that a tool does not take is
converted before the time is taken. *ranx, built* evaluates a Run that was made before. Files are timed as
commands, from start to numbers. Peaks of memory are of processes that do one thing each, from the moment when
the data are there.
"""

import argparse
import json
import os
import platform
from fnmatch import fnmatch
from importlib.metadata import version
from pathlib import Path
from typing import Any

import against_others
import our_work
from guide_tables import GUIDE, redraw, time_of

ROWS = against_others.ROWS | our_work.ROWS


def measure(names: list[str], rounds: int, share: float) -> dict[str, Any]:
    """Return the results of some rows; each is also printed as soon as it is there."""
    libraries = ", ".join(f"{name} {version(name)}" for name in ("ir-measures", "polars", "numpy", "pandas"))
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, {libraries}"
    report: dict[str, Any] = {"machine": machine, "rounds": rounds, "share": share, "rows": []}
    print(machine)
    for name in names:
        for row in ROWS[name](rounds=rounds, share=share):
            report["rows"].append({"name": name, **row})
            print(line_of(row), flush=True)
    return report


def line_of(row: dict[str, Any]) -> str:
    """Return a result as a line of text."""
    seconds = row["seconds"].items()
    return f"{row['what']}: " + "; ".join(f"{name} {time_of(each)}" for name, each in seconds)


def chosen(patterns: list[str]) -> list[str]:
    """Return the rows of some names and patterns, in the order of the tables."""
    for pattern in patterns:
        if not any(fnmatch(name, pattern) for name in ROWS):
            raise SystemExit(f"no row is called {pattern}; there are {', '.join(ROWS)}")
    return [name for name in ROWS if any(fnmatch(name, pattern) for pattern in patterns or ["*"])]


def main() -> None:
    """Measure, write JSON and draw the tables, as the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], epilog=f"Rows: {', '.join(ROWS)}")
    parser.add_argument("rows", nargs="*", metavar="ROW", help="by default all")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--share", type=float, default=1.0, help="the share of the queries")
    parser.add_argument("--out", type=Path, help="write the results to this file, as JSON")
    parser.add_argument(
        "--from", type=Path, dest="earlier", help="take the results of this file: measure nothing"
    )
    parser.add_argument(
        "--guide", nargs="?", type=Path, const=GUIDE, help=f"draw the tables, in {GUIDE.name}"
    )
    arguments = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # commands are timed as they are installed: compiled
    if arguments.earlier:
        report = json.loads(arguments.earlier.read_text())
    else:
        report = measure(chosen(arguments.rows), arguments.rounds, arguments.share)
    if arguments.out:
        arguments.out.write_text(json.dumps(report, indent=1) + "\n")
    if arguments.guide:
        redraw(report, arguments.guide)


if __name__ == "__main__":
    main()
