"""Leaderboards: runs and records in one table, and which are significantly below the first."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from ir_measures.measures import Measure

from permed_measures.comparisons.corrections import MAX_T
from permed_measures.comparisons.paired import PairedRuns
from permed_measures.comparisons.results import ComparisonRow, Options
from permed_measures.comparisons.rows import rows_of
from permed_measures.comparisons.tests import least_p
from permed_measures.comparisons.wording import p_or_dash
from permed_measures.datasets.loading import loaded_qrels, loaded_run
from permed_measures.engine.evaluator import Evaluation, PermedEvaluator, aggregated
from permed_measures.engine.groups import By, clusters_of
from permed_measures.engine.inputs import QrelsLike, RunLike
from permed_measures.errors import InputError
from permed_measures.files.provenance import Origin, provenance
from permed_measures.intervals import Floats
from permed_measures.measures.headings import check_headings, headings_of, name_of
from permed_measures.measures.parsing import MeasuresLike, measures_of
from permed_measures.named_runs import naming
from permed_measures.records.changes import values_to_compare
from permed_measures.records.record import Record, as_record
from permed_measures.results.evaluation_report import evaluation_report
from permed_measures.results.evaluations import Evaluations, evaluated, objects, records_of, with_judged
from permed_measures.results.report import Report, Result, Section
from permed_measures.results.table import Cell, Table

LEVEL = 0.05
"""A run is below the first if the adjusted p-value of their difference is below this."""


@dataclass(frozen=True)
class Entry:
    """A run of a leaderboard.

    Attributes
    ----------
    rank : int
        1 + the number of runs with a higher mean.
    run : str
    p : float or None
        Of its difference from the first run, adjusted for all pairs of runs; None for the first.
    values : dict of str to float
        The mean of each measure.
    judged : dict of str to float or None
        The share of judged documents at each cutoff; None where a record does not have it.
    queries : dict of str to int
        How many are judged, in the run, without relevant documents, and ignored.
    source : str
        The record that it is from; empty for a run.
    notes : list of str
        What is to be known about the run, as `evaluate` says it.
    """

    rank: int
    run: str
    p: float | None
    values: dict[str, float]
    judged: dict[str, float | None]
    queries: dict[str, int]
    source: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def is_below(self) -> bool:
        """Whether it is significantly below the first run."""
        return self.p is not None and self.p < LEVEL


@dataclass(frozen=True)
class Leaderboard(Result):
    """Runs by their mean of the first measure; ``print`` shows the table.

    ``to_polars`` and ``to_pandas`` give a row for each run.

    Attributes
    ----------
    entries : list of Entry
        Best first.
    measures : list of Measure
        The first orders the runs.
    about : str
        The queries, and how runs were tested.
    least_p : float
        The smallest p-value that the test can give.
    evaluations : Evaluations
        Of the runs.
    origin : Origin or None
        The command and its files.
    notes : list of str
        Notes on the measures and the clusters.
    """

    entries: list[Entry]
    measures: list[Measure]
    about: str
    least_p: float
    evaluations: Evaluations = field(repr=False, compare=False)
    origin: Origin | None = field(default=None, repr=False)
    notes: list[str] = field(default_factory=list)

    @property
    def finding(self) -> str:
        """Which runs are significantly below the first."""
        below = [entry.run for entry in self.entries if entry.is_below]
        if len(self.entries) == 1:
            return "one run has nothing to be compared with"
        if self.least_p >= LEVEL:
            return f"no difference can be significant here: the smallest possible p is {self.least_p:.4f}"
        first = self.entries[0].run
        return f"significantly below {first} (p < {LEVEL:g}): {', '.join(below) or 'no run'}"

    def report(self, digits: int | None = None, caption: str = "") -> Report:
        """Return the report of `evaluate`, with the options of that, and ranks and p-values in its table."""
        evaluations = replace(self.evaluations, origin=self.origin)
        made = evaluation_report(evaluations, digits, caption)
        [section] = made.sections
        [table] = section.tables
        return replace(
            made,
            finding=[f"{self.finding[:1].upper()}{self.finding[1:]}."],
            sections=[Section(tables=[self._with_places(table)])],
            notes=[*made.notes, *self.notes],
            data=partial(_content, self),
            rows=partial(_records, self),
        )

    def _with_places(self, table: Table) -> Table:
        """Put ranks before the names of runs, and p-values behind the labels."""
        n = table.n_labels
        places = {
            each.run: (str(each.rank), "" if each.p is None else p_or_dash(each.p)) for each in self.entries
        }

        def placed(row: Sequence[Cell]) -> list[Cell]:
            rank, p = places.get(row[0].text, ("", ""))
            return [Cell(rank), *row[:n], Cell(p), *row[n:]]

        return replace(
            table,
            headings=["rank", *table.headings[:n], "p", *table.headings[n:]],
            blocks=[[placed(row) for row in block] for block in table.blocks],
            n_labels=n + 1,
            notes=[
                *table.notes,
                f"Rank: by {headings_of(self.measures)[0]}",
                *[f"p: {self.about}"] * bool(self.about),
            ],
            label="leaderboard",
        )


def _records(board: Leaderboard) -> Iterator[dict[str, Any]]:
    """Yield the numbers of each run."""
    for each, row in zip(board.entries, records_of(board.evaluations), strict=True):
        yield {"rank": each.rank, **row, "p": each.p}


def _content(board: Leaderboard) -> dict[str, Any]:
    """Return what the JSON holds."""
    return {
        "measures": list(map(str, board.measures)),
        "about": board.about,
        "finding": board.finding,
        "runs": [{**vars(entry), "is_below": entry.is_below} for entry in board.entries],
        "notes": board.notes,
        "provenance": provenance(board.measures, board.origin),
    }


def leaderboard(
    qrels: QrelsLike,
    runs: Mapping[str, RunLike | Record],
    measures: MeasuresLike,
    clusters: By | None = None,
    resamples: int = 50_000,
    seed: int = 0,
    order: str = "score",
    query_ids: str | None = None,
) -> Leaderboard:
    """Order runs by the mean of a measure, and test which are below the first.

    Parameters
    ----------
    qrels : QrelsLike
    runs : mapping of str to RunLike or Record
        Runs by name. A record, or the path of one, stands for the runs in it, by their own names: their
        values are taken from it, and the runs themselves are not needed.
    measures : Measure or str, or an iterable of them
        The first orders the runs.
    clusters : str, mapping or callable, optional
        As in `compare`.
    resamples, seed : int
        Of the randomization test.
    order, query_ids
        How runs are read that are paths, and how records must have been made; as in `record`.

    Returns
    -------
    Leaderboard
        Every pair of runs is compared by the randomization test over whole clusters, adjusted by step-down
        max-T for all pairs at once (`randomize`), as the first is known from the same values only. A
        run is below the first where p < 0.05.

    Raises
    ------
    MeasureError, InputError
        As for an evaluation; for a record that lacks a measure, was edited, or was made with other labels,
        queries or options; for a measure that is named like another column.

    Examples
    --------
    >>> qrels = {f"q{i}": {"a": 1} for i in range(8)}
    >>> runs = {"old": {q: {"b": 2.0, "a": 1.0} for q in qrels}, "new": {q: {"a": 1.0} for q in qrels}}
    >>> board = leaderboard(qrels, runs, "RR")
    >>> [(each.rank, each.run, each.values) for each in board.entries]
    [(1, 'new', {'RR': 1.0}), (2, 'old', {'RR': 0.5})]
    >>> board.finding
    'significantly below new (p < 0.05): old'
    """
    asked = measures_of(measures)
    if not asked:
        raise InputError("there is no measure to order by", hint="Name one, such as 'nDCG@10'")
    loaded = loaded_qrels(qrels)
    evaluator = PermedEvaluator(with_judged(asked), loaded)
    ids = evaluator.judgments.query_ids
    if not ids:
        raise InputError("the qrels have no query")
    check_headings(["rank", "run", "p", "record"], asked)
    found = _by_name(_scored(runs, asked, evaluator, order, query_ids, loaded))
    evaluations = _evaluations(found, asked)
    unit, cluster, notes = clusters_of(ids, clusters, loaded)
    values = {name: each.values[:1] for name, each in evaluations.evaluations.items()}
    pairs = [(later, earlier) for earlier, later in combinations(values, 2)]
    rows = _differences(PairedRuns(asked[:1], ids, values, pairs, unit, cluster, []), resamples, seed)
    p_values = [None, *(row.tests["randomization"].adjusted for row in rows[: len(values) - 1])]
    sources = {name: each.source for name, each in found.items()}
    entries = list(_entries(evaluations, p_values, sources))
    least = least_p(int(cluster.max()) + 1, resamples)
    about, notes = _tested(rows, unit, seed), [*evaluator.notes(), *notes]
    return Leaderboard(entries, asked, about, least, evaluations, notes=notes)


class _Scored(NamedTuple):
    """A run, or what a record has of one: the file of that, and how many queries the run has."""

    evaluation: Evaluation
    notes: list[str]
    source: str = ""
    counts: dict[str, int] | None = None


def _scored(
    runs: Mapping[str, Any],
    asked: list[Measure],
    evaluator: PermedEvaluator,
    order: str,
    query_ids: str | None,
    qrels: Any,
) -> Iterator[tuple[str, _Scored]]:
    """Yield the values of each run, computed or from a record."""
    for name in runs:
        run = runs[name]
        if (record := as_record(run)) is not None:
            recorded = values_to_compare(record, asked, evaluator.judgments, order, query_ids)
            for content, values in zip(record["runs"], recorded.values(), strict=True):
                told, source = content.get("notes", []), Path(record.source).name or name
                found = _of_record(content["judged"], [*values.values()], evaluator)
                yield content["run"], _Scored(found, told, source, content["queries"])
            continue
        with naming(name):
            if isinstance(run, (str, os.PathLike)):
                run = loaded_run(run, order=order, rewriting=query_ids, qrels=qrels)
            evaluations, notes = evaluated(evaluator, {name: run})
        yield name, _Scored(evaluations[name], notes[name])


@dataclass(frozen=True)
class _Recorded(Evaluation):
    """What a record has of a run: of Judged only the means, and no rankings."""

    means: dict[Measure, float]

    @property
    def aggregated(self) -> dict[Measure, float]:
        """The means that were recorded."""
        return self.means


def _of_record(
    judged: Mapping[str, float | None], values: list[Floats], evaluator: PermedEvaluator
) -> _Recorded:
    measures, nothing = list(evaluator.measures), evaluator.evaluate({})
    shares = [judged.get(name_of(measure)) for measure in measures[len(values) :]]
    known = [math.nan if share is None else share for share in shares]
    means = aggregated(measures[: len(values)], np.stack(values)) | dict(
        zip(measures[len(values) :], known, strict=True)
    )
    return _Recorded(measures, np.stack(values), nothing.rankings, means)


def _by_name(scored: Iterator[tuple[str, _Scored]]) -> dict[str, _Scored]:
    """Return the runs by their names, best first; no two may have the same."""
    found: dict[str, _Scored] = {}
    for name, each in scored:
        if name in found:
            places = " and ".join(one.source or "a run" for one in (found[name], each))
            hint = "Give one of them another name: NAME=FILE"
            raise InputError(f"two runs are named {name!r} ({places})", hint=hint)
        found[name] = each
    if not found:
        raise InputError("there is no run")
    return dict(sorted(found.items(), key=lambda item: -float(item[1].evaluation.values[0].mean())))


def _evaluations(found: Mapping[str, _Scored], asked: list[Measure]) -> Evaluations:
    """Put the runs together, with the records where any run is from one."""
    records = {name: each.source for name, each in found.items()}
    return Evaluations(
        asked,
        {name: each.evaluation for name, each in found.items()},
        records=records if any(records.values()) else {},
        notes={name: each.notes for name, each in found.items()},
        counts={name: each.counts for name, each in found.items() if each.counts is not None},
    )


def _entries(found: Evaluations, p_values: list[float | None], sources: Mapping[str, str]) -> Iterator[Entry]:
    means = [each.aggregated[found.measures[0]] for each in found.evaluations.values()]
    for run, own, p in zip(objects(found), means, p_values, strict=True):
        name = run["run"]
        rank = 1 + sum(mean > own + 1e-12 for mean in means)
        numbers = run["metrics"], run["judged"], run["queries"]
        yield Entry(rank, name, p, *numbers, sources[name], found.notes_on(name))


def _differences(paired: PairedRuns, resamples: int, seed: int) -> list[ComparisonRow]:
    """Return the rows of all pairs of runs, those with the first run first; none of one run."""
    if not paired.pairs:
        return []
    [rows], _ = rows_of([paired], Options(("randomization",), MAX_T, resamples, seed, 1 - LEVEL))
    return rows


def _tested(rows: list[ComparisonRow], clusters: str, seed: int) -> str:
    """Say how p-values are computed; nothing where there are none."""
    if not rows:
        return ""
    test = rows[0].tests["randomization"]
    named = (
        f" ({clusters})" if clusters not in ("", "clusters") else ""
    )  # a mapping or a function has no name
    patterns = f"{test.method}{named}{f', seed {seed}' if test.draws else ''}"
    return (
        "of the difference from the first run, by the randomization test with max-T over all pairs of runs; "
        f"{patterns}"
    )
