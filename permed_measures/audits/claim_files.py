"""Claims in a CSV file or on the command line."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from permed_measures.audits.claims import parse_claims
from permed_measures.errors import InputError
from permed_measures.files.sources import Source

_NO_NUMBER = ("", "-", "\u2013", "\u2014", "n/a", "na")
"""Cells without a claim; two of these are dashes."""


def read_claims(path: Path | None, texts: list[str], runs: list[str]) -> dict[str, dict[str, str]]:
    """Read the claims about each run: a CSV file with a row per run, or ``NAME=VALUE`` for a single run."""
    if bool(texts) == bool(path):
        raise InputError("give the published numbers with either --claim or --claims")
    if path is None:
        if len(runs) > 1:
            raise InputError(
                f"--claim is for one run, but there are {len(runs)}",
                hint="Use --claims with a row for each run",
            )
        return {runs[0]: _one_by_one(texts)}
    found: dict[str, dict[str, str]] = {}
    for place, name, cells in _csv_rows(path):
        if name not in runs or name in found:
            known = f"one of the runs {', '.join(runs)}, each once"
            raise InputError(f"a row must begin with {known} (found {name!r})", where=place)
        found[name] = {title: cell for title, cell in cells.items() if cell.lower() not in _NO_NUMBER}
        for title, cell in found[name].items():
            try:
                parse_claims([{title: cell}])
            except InputError as error:
                where = f"{place}, {error.where}"
                raise InputError(error.problem, where=where, hint=error.hint) from None
    missing = [name for name in runs if not found.get(name)]
    if missing:
        raise InputError(
            f"no claims for the run {missing[0]!r}; each run needs a row with a claim", where=str(path)
        )
    return found


def _csv_rows(path: Path) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield the rows of a CSV file: file and line, the first cell, and the other cells by title."""
    try:
        content = b"".join(chunk.data for chunk in Source(path).chunks(whole=True))
        lines = io.StringIO(content.decode("utf-8-sig"), newline="")
        header, *rows = [*csv.reader(lines, strict=True), list[str]()]
    except (csv.Error, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read as CSV ({error})", where=str(path)) from None
    titles = [title.strip() for title in header]
    if len(titles) == 1:
        what = "the header must name the runs and then the measures, with commas between"
        raise InputError(f"{what} (found {','.join(titles)!r})", where=f"{path}:1")
    twice = next((title for title, count in Counter(titles).items() if count > 1), None)
    if twice is not None:
        raise InputError(f"two columns are named {twice!r}", where=str(path))
    for line, row in enumerate(rows, start=2):
        if row and len(row) != len(titles):
            problem = f"the row has {len(row)} cells, but the header has {len(titles)}"
            raise InputError(problem, where=f"{path}:{line}")
        if row:
            name, *cells = map(str.strip, row)
            yield f"{path}:{line}", name, dict(zip(titles[1:], cells, strict=True))


def _one_by_one(texts: list[str]) -> dict[str, str]:
    claims: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.rpartition("=")
        if not equals or name in claims:
            raise InputError(f"a claim must be NAME=VALUE, each name once (found {text!r})")
        claims[name] = value
    return claims
