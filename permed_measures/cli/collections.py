"""Several collections in one table, for the command evaluate: a file names the qrels and runs of each."""

from __future__ import annotations

import tomllib
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from permed_measures.cli.inputs import chosen_measures, find_runs, origin_of, reading
from permed_measures.cli.output import format_of, write_report
from permed_measures.engine.evaluator import PermedEvaluator
from permed_measures.errors import InputError
from permed_measures.escaping import pluralize
from permed_measures.results.collections import HEADINGS, CollectionMeans
from permed_measures.results.evaluations import Evaluations, evaluate_all
from permed_measures.results.table import Style

PLACE = "{collection}"
"""What stands in the path of a run for the name of the collection."""

COLLECTION_EXAMPLE = f'qrels = {{ scifact = "scifact.tsv" }} and runs = {{ bm25 = "bm25/{PLACE}.trec" }}'
"""What a file of collections may say."""


def collections_of(path: Path) -> dict[str, tuple[str, dict[str, Path]]]:
    """Read the qrels and the files of the runs of each collection; paths are relative to the file.

    Raises
    ------
    InputError
        If it is no TOML, or not of the form of `COLLECTION_EXAMPLE`; the message names file and key.
    """
    try:
        content: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"this is no TOML file ({error})", where=str(path)) from None
    qrels, runs = (_texts(content, key, path) for key in ("qrels", "runs"))
    if unknown := sorted(set(content) - {"qrels", "runs"}):
        raise InputError(f"there can be [qrels] and [runs] (found {unknown[0]!r})", where=str(path))
    for name in HEADINGS:
        if name in qrels:
            raise InputError(f"a collection cannot be named {name!r}, as a column is", where=str(path))
    for name, pattern in runs.items():
        if PLACE not in pattern:
            problem = f"runs.{name} must have {PLACE} where the name of the collection stands"
            raise InputError(f"{problem} (found {pattern!r})", where=str(path))
    found = {}
    for name, file in qrels.items():
        paths = {run: _beside(path, pattern.replace(PLACE, name)) for run, pattern in runs.items()}
        found[name] = (_beside(path, file), find_runs([f"{run}={each}" for run, each in paths.items()]))
    return found


def _texts(content: Mapping[str, Any], key: str, path: Path) -> dict[str, str]:
    found = content.get(key)
    if not isinstance(found, dict) or not found or not all(isinstance(each, str) for each in found.values()):
        problem = f"{key} must have a text for each name, such as {COLLECTION_EXAMPLE}"
        raise InputError(problem, where=str(path))
    return found


def _beside(path: Path, file: str) -> str:
    """Return the path of a file that stands beside another, or the text as it is: the id of a data set."""
    return str(path.parent / file) if (path.parent / file).exists() else file


def run(args: Namespace) -> None:
    """Evaluate runs on several collections."""
    _check_together(args)
    path = Path(args.qrels)
    collections = collections_of(path)
    read = {f"{name} qrels": Path(qrels) for name, (qrels, _) in collections.items()}
    read |= {f"{name} {run}": file for name, (_, files) in collections.items() for run, file in files.items()}
    form = format_of(args, read.values())
    said: set[str] = set()
    found = {name: _evaluated(args, *each, said) for name, each in collections.items()}
    origin = origin_of(args, {}, read)
    result = CollectionMeans(found, Style.of(args.digits, args.percent), origin)
    write_report(result.report(), form, args, pluralize(len(collections), "collection"))


def _evaluated(args: Namespace, qrels: str, files: dict[str, Path], said: set[str]) -> Evaluations:
    """Evaluate the runs of a collection; what was `said` of the measures is not said again."""
    with reading(args, files, qrels) as inputs:
        measures = chosen_measures(args, inputs)
        if not measures:
            raise InputError("no measure was named", hint="Name those of all collections: -m nDCG@10")
        evaluator = PermedEvaluator(measures, inputs.judgments)
        inputs.notes[:] = [note for note in [*inputs.notes, *evaluator.notes()] if note not in said]
        said.update(inputs.notes)
        evaluations, notes = evaluate_all(evaluator, inputs.runs)
    return Evaluations(measures, evaluations, notes=notes)


def _check_together(args: Namespace) -> None:
    """Refuse the options that go with one collection only."""
    for name in ("by", "by_query", "macro", "record", "methods"):
        if getattr(args, name):
            problem = f"--{name.replace('_', '-')} goes with one collection (found a file of several)"
            raise InputError(problem, hint="Leave it out, or name qrels and runs")
