"""All benchmarks in one command: time and memory, beside other tools where they do the same.

Run it with ``python tests/benchmarks/speed.py [ROW ...] [--rounds N]``; a row is one of ``ROWS``, or a
pattern such as ``'dict-*'``. It prints the tables of the guide, in Markdown. ``--share 0.01`` takes a
hundredth of the queries: to try it out. All rows take some twenty minutes.

All tools get the same objects in one process and are called in turns, so that a busy moment hits all of
them; the tables have medians, and medians of the ratios of each round. Times are those that processors worked
in all threads, which other work on the machine changes least; polars shares its work between cores, so that
one waits less than these. A frame that a tool does not take is converted before the time is taken. *ranx,
built* evaluates a Run that was made before. Files are timed as commands, from start to numbers, beside
``trec_eval`` if it is on the path. Peaks of memory are of processes that do one thing each, from the moment
when the data are there.
"""

import argparse
import os
import platform
import statistics
from collections.abc import Callable, Sequence
from fnmatch import fnmatch
from importlib.metadata import version
from typing import Any

import against_others
import our_work
import scale
from measuring import ratio

ROWS = against_others.ROWS | our_work.ROWS | scale.ROWS
Row = dict[str, Any]


def time_of(seconds: Sequence[float]) -> str:
    """Write the median of some times with two significant digits or more."""
    median = statistics.median(seconds)
    if median < 0.1:
        return f"{median * 1000:.{0 if median >= 0.01 else 1 if median >= 0.001 else 2}f} ms"
    return f"{median:.{2 if median < 10 else 1}f} s"


def times(row: Row, tool: str) -> str:
    """Write how many times longer than ours another tool takes; nothing if it was not called."""
    if tool not in row["seconds"]:
        return ""
    found = ratio(row["seconds"], tool, "ours")
    return f"{found:.{1 if found < 20 else 0}f} \N{MULTIPLICATION SIGN}"


def peaks(row: Row, names: Sequence[str]) -> str:
    """Write the peak memory of some tools."""
    return ", ".join(f"{row['peak MB'][name]:,.0f} MB" for name in names if name in row["peak MB"])


def _beside_tools(row: Row) -> list[str]:
    ranx = ", ".join(filter(None, (times(row, "ranx"), times(row, "ranx, built"))))
    others = [times(row, "ir_measures"), times(row, "pytrec_eval") or times(row, "trec_eval")]
    return [row["what"], time_of(row["seconds"]["ours"]), *others, ranx, peaks(row, ("ours", "ir_measures"))]


def _work(row: Row) -> list[str]:
    return [row["what"], time_of(row["seconds"]["ours"]), peaks(row, ("ours",))]


def _start(row: Row) -> list[str]:
    return [f"`{row['what']}`", time_of(row["seconds"]["ours"])]


def _growth(row: Row) -> list[str]:
    kinds = ("parquet", "trec")
    return [row["what"], *(f"{time_of(row['seconds'][kind])}, {peaks(row, (kind,))}" for kind in kinds)]


def _scale(row: Row) -> list[str]:
    start, tenth, whole = (statistics.median(row["seconds"][name]) for name in ("start", "tenth", "all"))
    growth = (whole - start) / max(tenth - start, 1e-3)
    return [
        row["what"],
        time_of([tenth - start]),
        time_of([whole - start]),
        f"{growth:.1f} \N{MULTIPLICATION SIGN}",
        peaks(row, ("ours",)),
    ]


_TOOLS = ["run", "ours", "ir_measures", "pytrec_eval; of files trec_eval", "ranx; with its Run built before"]
TABLES: dict[str, tuple[list[str], Callable[[Row], list[str]]]] = {
    "tools": ([*_TOOLS, "our peak memory, that of ir_measures"], _beside_tools),
    "work": (["work", "time", "peak memory"], _work),
    "start": (["command", "time"], _start),
    "growth": (["rows", "Parquet", "TREC file"], _growth),
    "scale": (["command", "a tenth of it", "all of it", "growth", "peak memory"], _scale),
}
"""By the table that a row belongs to: the headings, and the cells of a row."""


def table(name: str, rows: Sequence[Row]) -> str:
    """Return the rows of a table in Markdown; nothing if it has none."""
    headings, cells = TABLES[name]
    lines = [cells(row) for row in rows if row["table"] == name]
    lines = [headings, ["---"] * len(headings), *lines] if lines else []
    return "".join(f"| {' | '.join(line)} |\n".replace("  ", " ") for line in lines)


def main() -> None:
    """Measure and print the tables, as the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], epilog=f"Rows: {', '.join(ROWS)}")
    parser.add_argument("rows", nargs="*", metavar="ROW", default=["*"], help="by default all")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--share", type=float, default=1.0, help="the share of the queries")
    asked = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # commands are timed as they are installed: compiled
    chosen = [name for name in ROWS if any(fnmatch(name, pattern) for pattern in asked.rows)]
    rows = [row for name in chosen for row in ROWS[name](rounds=asked.rounds, share=asked.share)]
    for name in TABLES:
        if found := table(name, rows):
            print(found)
    libraries = ", ".join(f"{name} {version(name)}" for name in ("ir-measures", "polars", "numpy", "pandas"))
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, {libraries}"
    print(f"Processor time, medians of calls in turns: {machine}.")


if __name__ == "__main__":
    main()
