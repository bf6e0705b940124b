"""The provenance of numbers: versions, measures, conventions, command and files, for every JSON output."""

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
"""The path of standard input, on any system."""

OF_QRELS = ("NumQ", "NumRel")
"""The measures that count in the qrels alone, whatever the run retrieves."""

ORDERS = {
    "score": "Documents are ranked by score descending, compared as float32; ties by document id descending.",
    "list": "Documents are ranked as the files of the runs list them, whatever their scores.",
}
"""The ranking rule for each value of the option ``order``."""

_EFFECTS_OF_OPTIONS = {
    "query-ids": "Query ids of runs are rewritten to match the qrels ({}).",
    "max-passage": "Ids of runs have the document before {!r}: its best part is kept.",
    "duplicates": "If a run lists a document twice for a query, the {} row is kept.",
    "ignore-self": "A document whose id is that of the query is left out.",
    "subset": "Of files of MTEB, the subset {} is read.",
}
"""The effects of other options on runs; options with their default have none."""
_DEFAULTS = (None, "", False, "refuse")


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


def ranking_conventions(measures: Iterable[Measure], options: Mapping[str, Any]) -> list[str]:
    r"""Describe which queries count and how documents were ranked, for these measures and options.

    Examples
    --------
    >>> from ir_measures import Bpref
    >>> print(*ranking_conventions([Bpref], {"order": "list"})[2:], sep="\n")
    Documents are ranked as the files of the runs list them, whatever their scores.
    Documents that are unjudged or have a negative grade are left out before the others are ranked.
    """
    measures = list(measures)
    names, params = [str(measure.NAME) for measure in measures], [values_of(measure) for measure in measures]
    rows = list(zip(headings_of(measures), names, params, strict=True))
    return [
        _which_queries([text for text, name, values in rows if _may_be_nonzero(name, values)], len(rows)),
        "Queries of the run that the qrels lack are ignored.",
        ORDERS[options.get("order", "score")],
        *_which_documents(rows),
        *(
            text.format(options[name])
            for name, text in _EFFECTS_OF_OPTIONS.items()
            if options.get(name) not in _DEFAULTS
        ),
    ]


def _may_be_nonzero(name: str, params: Mapping[str, Any]) -> bool:
    """Check whether a query without results or relevant documents may have a value other than 0."""
    counts = name in (*OF_QRELS, "Judged") or (name == "NumRet" and params["rel"] is None)
    gains = params.get("gains") or {} if name == "nDCG" else {}  # others have gains of relevant grades only
    return counts or any(gain > 0 for grade, gain in gains.items() if grade < 1)


def _which_queries(others: list[str], n_measures: int) -> str:
    every = "Every query of the qrels counts"
    if others and len(others) == n_measures:
        return f"{every}."
    but = f" on all but {join_names(others)}" if others else ""
    return f"{every}; one that the run lacks, or that has no relevant document, scores 0{but}."


def _which_documents(rows: list[tuple[str, str, dict[str, Any]]]) -> Iterator[str]:
    """Describe the effect of unjudged documents and negative grades."""
    judged_only = [text for text, name, params in rows if params.get("judged_only") or name == "Bpref"]
    documents = "Documents that are unjudged or have a negative grade"
    if judged_only and len(judged_only) == len(rows):
        yield f"{documents} are left out before the others are ranked."
    else:
        left_out = f"; for {join_names(judged_only)} they are left out" if judged_only else ""
        yield f"{documents} take up ranks and are not relevant{left_out}."
    if keep := [text for text, _, params in rows if params.get("negative") == "keep"]:
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
"""One-line descriptions that replace ``SHORT_DESC`` where it is long or inaccurate."""


def description_of(measure: Measure) -> str:
    """Describe a measure in one line.

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
