"""The results of the benchmarks as tables in Markdown, and the tables in the guide."""

import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from measuring import ratio

GUIDE = Path(__file__).parents[2] / "notebooks" / "guide" / "speed.md"
START, END = "<!-- tables of tests/benchmarks/speed.py -->", "<!-- end of the tables -->"

Row = dict[str, Any]


def time_of(seconds: Sequence[float]) -> str:
    """Write the median of some times with two significant digits or more."""
    median = statistics.median(seconds)
    if median < 0.1:
        return f"{median * 1000:.{0 if median >= 0.01 else 1}f} ms"
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
    others = [times(row, tool) for tool in ("ir_measures", "pytrec_eval")]
    return [row["what"], time_of(row["seconds"]["ours"]), *others, ranx, peaks(row, ("ours", "ir_measures"))]


def _work(row: Row) -> list[str]:
    return [row["what"], f"{time_of(row['seconds']['ours'])}, {row['clock']}", peaks(row, ("ours",))]


def _start(row: Row) -> list[str]:
    return [f"`{row['what']}`", time_of(row["seconds"]["ours"])]


def _growth(row: Row) -> list[str]:
    kinds = ("parquet", "trec")
    return [row["what"], *(f"{time_of(row['seconds'][kind])}, {peaks(row, (kind,))}" for kind in kinds)]


TABLES: dict[str, tuple[str, list[str], Callable[[Row], list[str]]]] = {
    "tools": (
        "Times against other tools, with six measures asked of us and three of them:",
        [
            "run",
            "ours",
            "ir_measures",
            "pytrec_eval",
            "ranx; with its Run built before",
            "our peak memory, that of ir_measures",
        ],
        _beside_tools,
    ),
    "work": ("What these tools do not do:", ["work", "time", "peak memory"], _work),
    "start": ("Start:", ["command", "time"], _start),
    "growth": ("Larger files, evaluated in a stream:", ["rows", "Parquet", "TREC file"], _growth),
}
"""By the table that a row belongs to: what it shows, the headings, and the cells of a row."""


def tables(report: dict[str, Any]) -> str:
    """Return the tables of a report, and on what they were measured."""
    parts = []
    for name, (title, headings, cells) in TABLES.items():
        lines = [headings, ["---"] * len(headings)]
        lines += [cells(row) for row in report["rows"] if row["table"] == name]
        if len(lines) > 2:
            parts += [title, "\n".join(f"| {' | '.join(line)} |".replace("  ", " ") for line in lines)]
    parts.append(f"Medians of calls in turns: {report['machine']}.")
    return "\n\n".join(parts)


def redraw(report: dict[str, Any], guide: Path = GUIDE) -> None:
    """Put the tables of a report into the guide, in the place of those that are there."""
    before, start, rest = guide.read_text().partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise SystemExit(f"{guide} must have the lines {START} and {END}")
    guide.write_text(f"{before}{start}\n\n{tables(report)}\n\n{end}{after}")
