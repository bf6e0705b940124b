"""Leaderboards: runs in one table, and which are significantly below the first."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, NamedTuple

from ir_measures.measures import Measure

from permed_measures.comparisons.corrections import MAX_T
from permed_measures.comparisons.paired import PairedRuns
from permed_measures.comparisons.results import ComparisonRow, Options
from permed_measures.comparisons.rows import rows_of
from permed_measures.comparisons.tests import least_p
from permed_measures.comparisons.wording import p_or_dash
from permed_measures.datasets.loading import loaded_qrels, loaded_run
from permed_measures.engine.evaluator import Evaluation, PermedEvaluator
from permed_measures.engine.groups import By, clusters_of
from permed_measures.engine.inputs import QrelsLike, RunLike
from permed_measures.errors import InputError
from permed_measures.files.provenance import Origin, provenance
from permed_measures.measures.headings import check_headings, headings_of
from permed_measures.measures.parsing import MeasuresLike, measures_of
from permed_measures.named_runs import naming
from permed_measures.results.evaluation_report import evaluation_report
from permed_measures.results.evaluations import Evaluations, evaluated, objects, records_of, with_judged
from permed_measures.results.report import Report, Result, Section
from permed_measures.results.table import Cell, Table

LEVEL = 0.05
"""A run is below the first if the adjusted p-value of their difference is below this."""


class Entry(NamedTuple):
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
    """

    rank: int
    run: str
    p: float | None
    values: dict[str, float]

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
        How runs were tested.
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
            data=self._content,
            rows=self._rows,
        )

    def _with_places(self, table: Table) -> Table:
        """Put ranks before the names of runs, and p-values behind them."""
        places = {
            each.run: (str(each.rank), "" if each.p is None else p_or_dash(each.p)) for each in self.entries
        }

        def placed(row: Sequence[Cell]) -> list[Cell]:
            rank, p = places.get(row[0].text, ("", ""))
            return [Cell(rank), row[0], Cell(p), *row[1:]]

        notes = [f"Rank: by {headings_of(self.measures)[0]}", *[f"p: {self.about}"] * bool(self.about)]
        return replace(
            table,
            headings=["rank", table.headings[0], "p", *table.headings[1:]],
            blocks=[[placed(row) for row in block] for block in table.blocks],
            n_labels=2,
            notes=[*table.notes, *notes],
            label="leaderboard",
        )

    def _content(self) -> dict[str, Any]:
        """Return what the JSON holds: of each run what `evaluate` has of it, its rank and its p-value."""
        numbers = zip(self.entries, objects(self.evaluations), strict=True)
        return {
            "finding": self.finding,
            "about": self.about,
            "runs": [
                {"rank": each.rank, **content, "p": each.p, "notes": self.evaluations.notes_on(each.run)}
                for each, content in numbers
            ],
            "notes": self.notes,
            "provenance": provenance(self.measures, self.origin),
        }

    def _rows(self) -> Iterator[dict[str, Any]]:
        """Yield the numbers of each run."""
        for each, row in zip(self.entries, records_of(self.evaluations), strict=True):
            yield {"rank": each.rank, **row, "p": each.p}


def leaderboard(
    qrels: QrelsLike,
    runs: Mapping[str, RunLike],
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
    runs : mapping of str to RunLike
        Runs by name.
    measures : Measure or str, or an iterable of them
        The first orders the runs.
    clusters : str, mapping or callable, optional
        As in `compare`.
    resamples, seed : int
        Of the randomization test.
    order, query_ids
        How runs are read that are paths, as in `record`.

    Returns
    -------
    Leaderboard
        Every pair of runs is compared by the randomization test over whole clusters, adjusted by step-down
        max-T for all pairs at once (`randomize`), as the first is known from the same values only. A
        run is below the first where p < 0.05.

    Raises
    ------
    MeasureError, InputError
        As for an evaluation.

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
    check_headings(["rank", "p"], asked)
    loaded = loaded_qrels(qrels)
    evaluator = PermedEvaluator(with_judged(asked), loaded)
    ids = evaluator.judgments.query_ids
    if not ids:
        raise InputError("the qrels have no query")
    found = _best_first(runs, asked, evaluator, loaded, {"order": order, "rewriting": query_ids})
    unit, cluster, notes = clusters_of(ids, clusters, loaded)
    values = {name: each.values[:1] for name, each in found.evaluations.items()}
    pairs = [(later, earlier) for earlier, later in combinations(values, 2)]
    rows = _differences(PairedRuns(asked[:1], ids, values, pairs, unit, cluster, []), resamples, seed)
    p_values = [None, *(row.tests["randomization"].adjusted for row in rows[: len(values) - 1])]
    least = least_p(int(cluster.max()) + 1, resamples)
    notes = [*evaluator.notes(), *notes]
    return Leaderboard(_entries(found, p_values), asked, _tested(rows, unit, seed), least, found, notes=notes)


def _best_first(
    runs: Mapping[str, Any],
    asked: list[Measure],
    evaluator: PermedEvaluator,
    qrels: Any,
    how: Mapping[str, Any],
) -> Evaluations:
    """Evaluate the runs, and order them."""
    found: dict[str, Evaluation] = {}
    notes: dict[str, list[str]] = {}
    for name in runs:
        run = runs[name]
        with naming(name):
            if isinstance(run, (str, os.PathLike)):
                run = loaded_run(run, qrels=qrels, **how)
            evaluations, noted = evaluated(evaluator, {name: run})
        found |= evaluations
        notes |= noted
    if not found:
        raise InputError("there is no run")
    ordered = sorted(found.items(), key=lambda item: -float(item[1].values[0].mean()))
    return Evaluations(asked, dict(ordered), notes=notes)


def _entries(found: Evaluations, p_values: Sequence[float | None]) -> list[Entry]:
    means = [each.aggregated[found.measures[0]] for each in found.evaluations.values()]
    return [
        Entry(1 + sum(mean > own + 1e-12 for mean in means), content["run"], p, content["metrics"])
        for content, own, p in zip(objects(found), means, p_values, strict=True)
    ]


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
    named = f" ({clusters})" * (clusters not in ("", "clusters"))  # a mapping or a function has no name
    patterns = f"{test.method}{named}{f', seed {seed}' if test.draws else ''}"
    return (
        "of the difference from the first run, by the randomization test with max-T over all pairs of runs; "
        f"{patterns}"
    )
