"""Evaluate runs on several collections, whose qrels and runs a TOML file names."""

from __future__ import annotations

import tomllib
from argparse import Namespace
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from permed_measures.cli.driver import FilesRead, execute
from permed_measures.cli.inputs import Inputs, chosen_measures, find_runs, reading
from permed_measures.errors import InputError
from permed_measures.experiment import Experiment
from permed_measures.results.collections import HEADINGS, CollectionMeans
from permed_measures.results.evaluations import Evaluations
from permed_measures.results.table import Style
from permed_measures.wording import pluralize

COLLECTION_FIELD = "{collection}"
"""The part of a run's path that stands for the name of the collection."""

COLLECTION_EXAMPLE = (
    f'qrels = {{ scifact = "scifact.tsv" }} and runs = {{ bm25 = "bm25/{COLLECTION_FIELD}.trec" }}'
)
"""An example of a file of collections."""


def collections_of(path: Path) -> dict[str, tuple[str, dict[str, Path]]]:
    """Read the qrels and run files of each collection; paths are relative to the file.

    Raises
    ------
    InputError
        If the file is not TOML, or not of the form of `COLLECTION_EXAMPLE`; the message names file and key.
    """
    try:
        content: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"this is not a TOML file ({error})", where=str(path)) from None
    qrels, runs = (_texts(content, key, path) for key in ("qrels", "runs"))
    if unknown := sorted(set(content) - {"qrels", "runs"}):
        raise InputError(f"only [qrels] and [runs] are allowed (found {unknown[0]!r})", where=str(path))
    for name in HEADINGS:
        if name in qrels:
            problem = f"a collection cannot be named {name!r}, because a column has this name"
            raise InputError(problem, where=str(path))
    for name, pattern in runs.items():
        if COLLECTION_FIELD not in pattern:
            problem = f"runs.{name} must have {COLLECTION_FIELD} in place of the collection's name"
            raise InputError(f"{problem} (found {pattern!r})", where=str(path))
    collections = {}
    for name, file in qrels.items():
        paths = {run: _beside(path, pattern.replace(COLLECTION_FIELD, name)) for run, pattern in runs.items()}
        files = find_runs([f"{run}={each}" for run, each in paths.items()])
        collections[name] = (_beside(path, file), files)
    return collections


def _texts(content: Mapping[str, Any], key: str, path: Path) -> dict[str, str]:
    """Read a table of the file whose values must all be texts."""
    table = content.get(key)
    if not isinstance(table, dict) or not table or not all(isinstance(each, str) for each in table.values()):
        problem = f"{key} must have a text for each name, such as {COLLECTION_EXAMPLE}"
        raise InputError(problem, where=str(path))
    return table


def _beside(path: Path, file: str) -> str:
    """Resolve a file relative to another's folder; keep the text if there is none: a data set id."""
    return str(path.parent / file) if (path.parent / file).exists() else file


def run(args: Namespace) -> None:
    """Evaluate runs on several collections."""
    _check_together(args)
    path = Path(args.qrels)
    collections = collections_of(path)
    read = {f"{name} qrels": Path(qrels) for name, (qrels, _) in collections.items()}
    read |= {f"{name} {run}": file for name, (_, files) in collections.items() for run, file in files.items()}
    execute(
        args,
        partial(_compute, collections=collections),
        files=FilesRead(others=read),
        about=lambda *_: pluralize(len(collections), "collection"),
    )


def _compute(
    args: Namespace, _: Inputs, collections: Mapping[str, tuple[str, dict[str, Path]]]
) -> CollectionMeans:
    printed_notes: set[str] = set()
    evaluations = {name: _evaluated(args, *each, printed_notes) for name, each in collections.items()}
    return CollectionMeans(evaluations, Style.of(args.digits, args.percent))


def _evaluated(args: Namespace, qrels: str, files: dict[str, Path], printed_notes: set[str]) -> Evaluations:
    """Evaluate the runs of a collection; do not print a note again."""
    with reading(args, files, qrels) as inputs:
        measures = chosen_measures(args, inputs)
        if not measures:
            raise InputError("no measure was named", hint="Name measures for all collections: -m nDCG@10")
        experiment = Experiment.of(inputs.qrels, inputs.runs, measures)
        new_notes = [*inputs.notes, *experiment.evaluator.notes()]
        inputs.notes[:] = [note for note in new_notes if note not in printed_notes]
        printed_notes.update(inputs.notes)
        evaluations, notes = experiment.evaluate_all()
    return Evaluations(measures, evaluations, notes=notes)


def _check_together(args: Namespace) -> None:
    """Refuse options that need a single collection."""
    for name in ("by", "by_query", "macro", "record"):
        if getattr(args, name):
            problem = f"--{name.replace('_', '-')} goes with one collection (found a file of several)"
            raise InputError(problem, hint="Leave it out, or name qrels and runs")
