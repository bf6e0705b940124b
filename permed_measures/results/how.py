"""How a report was made: its title, and what one needs to make it again."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ir_measures.measures import Measure

from permed_measures.files.provenance import Origin, provenance
from permed_measures.markup import counted
from permed_measures.measures.headings import headings_of


def titled(origin: Origin | None, n_runs: int, n_queries: int) -> str:
    """Write a title: the name of the qrels, where they have one, and how much there is.

    Examples
    --------
    >>> titled(Origin(qrels="data/sample.qrels"), 2, 1)
    'sample.qrels: 2 runs, 1 query'
    """
    qrels = f"{Path(origin.qrels).name}: " if origin and origin.qrels else ""
    return f"{qrels}{counted(n_runs, 'run')}, {counted(n_queries, 'query')}"


def how_made(
    measures: Sequence[Measure],
    origin: Origin | None,
    seed: int | None = None,
    packages: Iterable[str] = (),
) -> dict[str, Any]:
    """Say how to make it again: command, measures, conventions, files with hashes, versions, seed.

    A report is for others: of a file in a folder that only this machine has, it says the name.
    """
    found = provenance(measures, origin, seed, packages)
    line = shlex.join(map(_without_folder, shlex.split(origin.line))) if origin else ""
    return {
        "again": line,
        "measures": [
            {"heading": heading, "measure": each["measure"], "description": each["description"]}
            for heading, each in zip(headings_of(measures), found["measures"], strict=True)
        ],
        "conventions": found["conventions"],
        "inputs": [
            {**each, "path": _without_folder(each.get("path", ""))} for each in found.get("inputs", [])
        ],
        "versions": found["versions"],
        "seed": found.get("seed"),
    }


def _without_folder(word: str) -> str:
    """Return a word of a command, of an absolute path its name alone: ``PATH`` or ``NAME=PATH``."""
    name, equals, path = word.rpartition("=")
    return f"{name}{equals}{Path(path).name}" if Path(path).is_absolute() else word
