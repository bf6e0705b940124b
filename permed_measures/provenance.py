"""Where numbers come from: the part ``provenance`` of every JSON output."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ir_measures.measures import Measure

from permed_measures import __version__
from permed_measures.escaping import join_names
from permed_measures.measures.headings import headings_of
from permed_measures.measures.parameters import alias_of, values_of

STDIN = Path("/dev/stdin")
"""What the path ``-`` stands for, on any system."""

OF_QRELS = ("NumQ", "NumRel")
"""The measures that count the qrels, whatever was retrieved."""

ORDERS = {
    "score": "Documents are ranked by score descending, compared as float32; ties by document id descending.",
    "list": "Documents are ranked as the files of the runs list them, whatever their scores.",
}
"""What ranks documents, by the option ``order``."""

_EFFECTS_OF_OPTIONS = {
    "query-ids": "Query ids of runs are rewritten to match the qrels ({}).",
    "max-passage": "Ids of runs have the document before {!r}: its best part is kept.",
    "duplicates": "Of a document that a run lists twice for a query, one row is kept: the {}.",
    "ignore-self": "A document whose id is that of the query is left out.",
    "subset": "Of files of MTEB, the subset {} is read.",
}
"""What else options do to runs while they are read; by default nothing."""
_DEFAULTS = (None, "", False, "refuse")


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


def ranking_conventions(measures: Iterable[Measure], options: Mapping[str, Any]) -> list[str]:
    r"""Say which queries count and how documents were ranked, by these measures with these options.

    Examples
    --------
    >>> from ir_measures import Bpref
    >>> print(*ranking_conventions([Bpref], {"order": "list"})[2:], sep="\n")
    Documents are ranked as the files of the runs list them, whatever their scores.
    Documents that are unjudged or have a negative grade are left out before the others are ranked.
    """
    measures = list(measures)
    names, given = [str(measure.NAME) for measure in measures], [values_of(measure) for measure in measures]
    known = list(zip(headings_of(measures), names, given, strict=True))
    return [
        _which_queries([text for text, name, values in known if _counts_more(name, values)], len(known)),
        "Queries of the run that the qrels lack are ignored.",
        ORDERS[options.get("order", "score")],
        *_which_documents(known),
        *(
            text.format(options[name])
            for name, text in _EFFECTS_OF_OPTIONS.items()
            if options.get(name) not in _DEFAULTS
        ),
    ]


def _counts_more(name: str, given: Mapping[str, Any]) -> bool:
    """Return whether a query without results or relevant documents may have another value than 0."""
    counts = name in (*OF_QRELS, "Judged") or (name == "NumRet" and given["rel"] is None)
    gains = given.get("gains") or {} if name == "nDCG" else {}  # others have gains of relevant grades alone
    return counts or any(gain > 0 for grade, gain in gains.items() if grade < 1)


def _which_queries(others: list[str], n_measures: int) -> str:
    every = "Every query of the qrels counts"
    if others and len(others) == n_measures:
        return f"{every}."
    but = f" on all but {join_names(others)}" if others else ""
    return f"{every}; one that the run lacks, or that has no relevant document, scores 0{but}."


def _which_documents(known: list[tuple[str, str, dict[str, Any]]]) -> Iterator[str]:
    """Say what unjudged documents and negative grades do."""
    condensed = [text for text, name, given in known if given.get("judged_only") or name == "Bpref"]
    said = "Documents that are unjudged or have a negative grade"
    if condensed and len(condensed) == len(known):
        yield f"{said} are left out before the others are ranked."
    else:
        left_out = f"; for {join_names(condensed)} they are left out" if condensed else ""
        yield f"{said} take up ranks and are not relevant{left_out}."
    if keep := [text for text, _, given in known if given.get("negative") == "keep"]:
        yield f"A negative grade is a loss on {join_names(keep)}."


_DESCRIPTIONS = {
    "GradedAP": "Average precision, each relevant document counted by its grade.",
    "VariantNDCG": "nDCG with gain, discount, ideal list and negative grades as asked.",
    "GAP": "Average precision, averaged over what a user takes as relevant.",
    "P": "The share of the top k results that are relevant.",
    "R": "The share of the relevant documents that are in the top k results.",
    "F1": "The harmonic mean of a query's precision and recall in the top k.",
    "AP": "The precision at each relevant document, averaged over all of them.",
    "nDCG": "The gain, discounted by the rank, over that of the ideal ranking.",
    "ERR": "The expected reciprocal rank at which a user is satisfied.",
    "RBP": "The gain of a user who goes on to the next rank with probability p.",
    "Success": "Whether a relevant document is in the top k results.",
    "Judged": "The share of the top k results that have a relevance judgment.",
    "Rprec": "The precision at R, the number of relevant documents of the query.",
    "infAP": "AP that allows for documents that were pooled and not judged.",
    "SetF": "The harmonic mean of set precision and recall, weighted by beta.",
    "SetAP": "The precision among all returned documents, times the recall.",
}
"""What is said of measures that describe themselves in more than a line, or not as they are computed."""


def description_of(measure: Measure) -> str:
    """Say in a line what a measure is.

    Examples
    --------
    >>> from ir_measures import AP
    >>> description_of(AP @ 10)
    'The precision at each relevant document, averaged over all of them.'
    """
    own = str(getattr(measure, "SHORT_DESC", ""))
    return _DESCRIPTIONS.get(str(measure.NAME), own.removesuffix(".") + ".")


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
        Files are read once more, for their hashes. Its options say how documents were ranked; without
        options by score.
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
        - ``conventions``: which queries count and how documents were ranked (`ranking_conventions`).
        - ``seed``: if it was given.
        - ``command``, ``options``: if the origin has them.
        - ``inputs``: if the origin has them. Each has a ``role``, such as ``qrels`` or ``run``, and runs a
          ``name``; then ``dataset``, an id, or ``path``, with ``bytes`` and ``sha256`` of the file as it is
          stored; of a data set, of the file of its labels. Both are null for folders, for standard input
          (``-``) and other pipes, which can be read only once, and for a data set without such a file.

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


def _version(package: str) -> str | None:
    """Return the version of a package; None if it is installed under another name, such as polars-lts-cpu."""
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
    """Describe a file of qrels, or the data set of an id."""
    if name == "-" or os.path.lexists(name):
        return _file(Path(name))
    return {"dataset": name, **stored(_labels_of(name))}


def _file(path: Path) -> dict[str, Any]:
    return {"path": "-" if path == STDIN else str(path), **stored(path)}


def stored(path: Path | None) -> dict[str, Any]:
    """Return size and hash of a file as it is stored; null of what is no file, or can be read only once."""
    if path is None or path == STDIN or not path.is_file():
        return {"bytes": None, "sha256": None}
    import hashlib  # which loads OpenSSL

    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"bytes": path.stat().st_size, "sha256": digest}


def _labels_of(dataset: str) -> Path | None:
    """Return the file of the labels of a data set, which were read; None where there is no such file."""
    import ir_datasets

    try:
        return Path(ir_datasets.load(dataset).qrels_path())
    except Exception:  # of any data set of ir_datasets: numbers are worth having without
        return None
