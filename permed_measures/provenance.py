"""The provenance of numbers: versions, measures, conventions, command and files, for every JSON output."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ir_measures.measures import Measure

from permed_measures import __version__
from permed_measures.measures.descriptions import description_of, ranking_conventions
from permed_measures.measures.parameters import alias_of, values_of

STDIN = Path("/dev/stdin")
"""The path of standard input, on any system."""


class Origin(NamedTuple):
    """The command and the files that a result comes from.

    Attributes
    ----------
    command : str
        Name of the command, such as ``evaluate``; empty in Python.
    qrels : str
        A file, a folder, ``-`` or the id of a data set; empty for an object in Python.
    runs : mapping of str to Path
        The files of the runs, by name; runs in other forms are not listed.
    others : mapping of str to Path
        Other files that were read, by their role, such as ``claims``.
    options : mapping of str to a value for JSON
        The options of the command, with the defaults of omitted ones.
    line : str
        The whole command line, or the Python statement, that makes the result again.
    """

    command: str = ""
    qrels: str = ""
    runs: Mapping[str, Path] = {}
    others: Mapping[str, Path] = {}
    options: Mapping[str, Any] = {}
    line: str = ""

    @classmethod
    def of(cls, qrels: object, runs: object) -> Origin:
        """Collect the paths and ids among qrels and runs in Python."""
        by_name = runs if isinstance(runs, dict) else {}  # another mapping may read a file at each look-up
        files = {name: Path(run) for name, run in by_name.items() if isinstance(run, (str, os.PathLike))}
        return cls(qrels=os.fspath(qrels) if isinstance(qrels, (str, os.PathLike)) else "", runs=files)


def provenance(
    measures: Iterable[Measure],
    origin: Origin | None = None,
    seed: int | None = None,
    packages: Iterable[str] = (),
) -> dict[str, Any]:
    """Describe where numbers come from, in a form for JSON.

    Parameters
    ----------
    measures : iterable of Measure
    origin : Origin, optional
        The command and the files, which are read once more for their hashes. Without options in it,
        documents are ranked by score.
    seed : int, optional
        The seed, if something is random.
    packages : iterable of str
        Installed packages that the numbers depend on, besides those below.

    Returns
    -------
    dict of str to a value for JSON

        - ``versions``: of permed-measures, Python, ir-measures, numpy, polars and `packages`.
        - ``measures``: for each its printed name (``measure``), a ``description``, and the values of all
          ``parameters``, defaults included (null without a value); its ``heading`` if the user named it.
        - ``conventions``: which queries count and how documents were ranked (`ranking_conventions`).
        - ``seed``: if it was given.
        - ``command``, ``options``: if the origin has them.
        - ``inputs``: if the origin has them. Each has a ``role``, such as ``qrels`` or ``run``; a run has a
          ``name``. Each has a ``dataset`` (an id) or a ``path``, with ``bytes`` and ``sha256`` of the stored
          file; a data set has those of its label file. Both are null for folders, for standard input (``-``)
          and other pipes, which can be read only once, and for a data set without a label file.

    Examples
    --------
    >>> from ir_measures import P
    >>> provenance([P @ 5])["measures"][0]["parameters"]
    {'cutoff': 5, 'rel': 1, 'judged_only': False}
    """
    import platform

    measures, installed = list(measures), ("ir-measures", "numpy", "polars", *packages)
    content: dict[str, Any] = {
        "versions": {
            "permed-measures": __version__,
            "python": platform.python_version(),
            **{name: _version(name) for name in installed},
        },
        "measures": [
            {
                "measure": str(measure),
                "description": description_of(measure),
                "parameters": values_of(measure),
                **({"heading": alias_of(measure)} if alias_of(measure) else {}),
            }
            for measure in measures
        ],
        "conventions": ranking_conventions(measures, origin.options if origin is not None else {}),
    }
    if seed is not None:
        content["seed"] = seed
    if origin is not None and origin.command:
        content["command"], content["options"] = origin.command, dict(origin.options)
    if origin is not None and (origin.qrels or origin.runs or origin.others):
        content["inputs"] = list(_inputs(origin))
    return content


@cache
def _version(package: str) -> str | None:
    """Look up the version of a package; None if it has another name here, such as polars-lts-cpu."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _inputs(origin: Origin) -> Iterator[dict[str, Any]]:
    if origin.qrels:
        yield {"role": "qrels", **_qrels(origin.qrels)}
    for name, path in origin.runs.items():
        yield {"role": "run", "name": name, **_file(path)}
    for role, path in origin.others.items():
        yield {"role": role, **(_qrels(path.as_posix()) if role.endswith(" qrels") else _file(path))}


def _qrels(name: str) -> dict[str, Any]:
    """Describe a qrels file, or a data set by its id."""
    if name == "-" or os.path.lexists(name):
        return _file(Path(name))
    return {"dataset": name, **stored(_label_file(name))}


def _file(path: Path) -> dict[str, Any]:
    return {"path": "-" if path == STDIN else str(path), **stored(path)}


def stored(path: Path | None) -> dict[str, Any]:
    """Compute size and hash of a stored file; None for a folder, a pipe or no path."""
    if path is None or path == STDIN or not path.is_file():
        return {"bytes": None, "sha256": None}
    import hashlib  # here, because it loads OpenSSL

    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"bytes": path.stat().st_size, "sha256": digest}


def _label_file(dataset: str) -> Path | None:
    """Return the path of a data set's label file; None if it has none."""
    import ir_datasets

    try:
        return Path(ir_datasets.load(dataset).qrels_path())
    except Exception:  # any data set of ir_datasets may fail; the numbers are useful without the hash
        return None
