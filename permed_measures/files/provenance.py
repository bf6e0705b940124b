"""Where numbers come from: the part ``provenance`` of every JSON output."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ir_measures.measures import Measure

from permed_measures import __version__
from permed_measures.engine.inputs import STDIN
from permed_measures.measures.parameters import alias_of, values_of

CONVENTIONS = (
    "Every query of the qrels counts; one that the run lacks, or that has no relevant document, scores 0.",
    "Queries of the run that the qrels lack are ignored.",
    "Documents are ranked by score descending, compared as float32; ties by document id descending.",
    "Documents that are unjudged or have a negative grade take up ranks and are not relevant.",
)
"""What all measures share, unless their description says otherwise."""


class Origin(NamedTuple):
    """What a result does not know about itself: which command gave it, from which files.

    Attributes
    ----------
    command : str
        Such as ``evaluate``; empty in Python.
    qrels : str
        A file, a folder, ``-`` or the id of a data set; empty if Python was given something else.
    runs : mapping of str to Path
        The files of the runs by name; those of them that are files.
    others : mapping of str to Path
        Other files that were read, by their role, such as ``claims``.
    options : mapping of str to what JSON can hold
        The options of the command, those that were left out with their defaults.
    line : str
        The whole command line, or what is typed in Python, to make the result again.
    """

    command: str = ""
    qrels: str = ""
    runs: Mapping[str, Path] = {}
    others: Mapping[str, Path] = {}
    options: Mapping[str, Any] = {}
    line: str = ""

    @classmethod
    def of(cls, qrels: object, runs: object) -> Origin:
        """Say which of the qrels and runs that Python was given are named by path or id."""
        given = runs if isinstance(runs, dict) else {}  # another mapping may read what it returns
        files = {name: Path(run) for name, run in given.items() if isinstance(run, (str, os.PathLike))}
        return cls(qrels=os.fspath(qrels) if isinstance(qrels, (str, os.PathLike)) else "", runs=files)


def provenance(
    measures: Iterable[Measure],
    origin: Origin | None = None,
    seed: int | None = None,
    packages: Iterable[str] = (),
) -> dict[str, Any]:
    """Say how numbers came about, for JSON.

    Parameters
    ----------
    measures : iterable of Measure
    origin : Origin, optional
        Files are read once more, for their hashes.
    seed : int, optional
        Where something is random.
    packages : iterable of str
        Installed packages that the numbers depend on, besides those below.

    Returns
    -------
    dict of str to what JSON can hold

        - ``versions``: of permed-measures, Python, ir-measures, numpy, polars and `packages`.
        - ``measures``: for each its name as it prints (``measure``), a ``description``, and the values of all
          ``parameters``, defaults included (null where there is none); its ``heading`` if the user named it.
        - ``conventions``: what all measures share, in sentences.
        - ``seed``: if it was given.
        - ``command``, ``options``: if the origin has them.
        - ``inputs``: if the origin has them. Each has a ``role``, such as ``qrels`` or ``run``, and runs a
          ``name``; then ``dataset``, an id, or ``path`` with ``bytes`` and ``sha256`` of the file as it is
          stored. Both are null for folders, and for standard input (``-``) and other pipes, which can be
          read only once.

    Examples
    --------
    >>> from ir_measures import P
    >>> provenance([P @ 5])["measures"][0]["parameters"]
    {'cutoff': 5, 'rel': 1, 'judged_only': False}
    """
    import platform

    installed = ("ir-measures", "numpy", "polars", *packages)
    content: dict[str, Any] = {
        "versions": {
            "permed-measures": __version__,
            "python": platform.python_version(),
            **{name: _version(name) for name in installed},
        },
        "measures": [
            {
                "measure": str(measure),
                "description": str(getattr(measure, "SHORT_DESC", "")),
                "parameters": values_of(measure),
                **({"heading": alias_of(measure)} if alias_of(measure) else {}),
            }
            for measure in measures
        ],
        "conventions": list(CONVENTIONS),
    }
    if seed is not None:
        content["seed"] = seed
    if origin is not None and origin.command:
        content["command"], content["options"] = origin.command, dict(origin.options)
    if origin is not None and (origin.qrels or origin.runs or origin.others):
        content["inputs"] = list(_inputs(origin))
    return content


def _version(package: str) -> str | None:
    """Return the version of a package; None if it is installed under another name, such as polars-lts-cpu."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _inputs(origin: Origin) -> Iterator[dict[str, Any]]:
    if origin.qrels == "-" or os.path.lexists(origin.qrels):
        yield {"role": "qrels", **_file(Path(origin.qrels))}
    elif origin.qrels:
        yield {"role": "qrels", "dataset": origin.qrels}
    for name, path in origin.runs.items():
        yield {"role": "run", "name": name, **_file(path)}
    for role, path in origin.others.items():
        yield {"role": role, **_file(path)}


def _file(path: Path) -> dict[str, Any]:
    if path == STDIN or not path.is_file():
        return {"path": "-" if path == STDIN else str(path), "bytes": None, "sha256": None}
    import hashlib  # which loads OpenSSL

    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"path": str(path), "bytes": path.stat().st_size, "sha256": digest}
