"""Leaderboards: runs and records in one table, and which are significantly below the first."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from ir_measures.measures import Measure
from numpy.typing import NDArray

from permed_measures.comparisons.compare import compared
from permed_measures.comparisons.corrections import MAX_T
from permed_measures.comparisons.paired import PairedRuns
from permed_measures.comparisons.results import Options
from permed_measures.comparisons.tests import least_p
from permed_measures.datasets.loading import loaded_qrels, loaded_run
from permed_measures.engine.evaluator import PermedEvaluator, aggregated
from permed_measures.engine.groups import By, clusters_of
from permed_measures.engine.inputs import QrelsLike, RunLike
from permed_measures.errors import InputError
from permed_measures.files.provenance import Origin
from permed_measures.frames import Tabular
from permed_measures.markup import as_cell, as_json, counted
from permed_measures.measures.headings import check_headings, explained, headings_of, name_of
from permed_measures.measures.parsing import MeasuresLike, measures_of
from permed_measures.named_runs import naming
from permed_measures.pages.words import page_words
from permed_measures.records.changes import values_to_compare
from permed_measures.records.record import Record, as_record
from permed_measures.reports.html import html_means
from permed_measures.reports.result_page import PageTable, Part, copies_of, how_made, result_page
from permed_measures.reports.tables import (
    Cell,
    PaperTable,
    TableRow,
    as_table,
    placed,
    separated,
    styled_rows,
)
from permed_measures.results.evaluations import with_judged
from permed_measures.results.own_columns import Texts, check_texts, headings_of_texts, texts_of
from permed_measures.terminal import paragraph, terminal_table

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
    source : str
        The record that it is from; empty for a run.
    texts : dict of str to str
        Cells of the user's own columns.
    """

    rank: int
    run: str
    p: float | None
    values: dict[str, float]
    judged: dict[str, float | None]
    source: str = ""
    texts: dict[str, str] = field(default_factory=dict)

    @property
    def is_below(self) -> bool:
        """Whether it is significantly below the first run."""
        return self.p is not None and self.p < LEVEL


@dataclass(frozen=True)
class Leaderboard(Tabular):
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
    origin : Origin or None
        The command and its files.
    """

    entries: list[Entry]
    measures: list[Measure]
    about: str
    least_p: float
    origin: Origin | None = field(default=None, repr=False)

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

    def to(self, form: str) -> str:
        """Write it as ``table``, ``markdown``, ``html``, ``csv`` or ``json``."""
        return LEADERBOARD_FORMATS[form](self)

    def __str__(self) -> str:
        """Return the table for a terminal."""
        table = self._table()
        shown = terminal_table(
            [*table.labels, *table.headings], styled_rows(table), len(table.labels), goes_on=True
        )
        return "\n".join([shown, paragraph(table.caption(styled="\x1b[" in shown)), ""])

    def _records(self) -> list[dict[str, Any]]:
        texts = {entry.run: entry.texts for entry in self.entries}
        return [
            {"rank": each.rank, "run": each.run}
            | dict(zip(headings_of_texts(texts), texts_of(texts, each.run), strict=True))
            | {**each.values, "p": each.p, **each.judged, "record": each.source}
            for each in self.entries
        ]

    def _table(self) -> PaperTable:
        records, names = self._records(), [*map(name_of, self.measures)]
        own = headings_of_texts({entry.run: entry.texts for entry in self.entries})
        labels = ["rank", "run", *own, *["record"] * any(entry.source for entry in self.entries)]
        columns = [names[0], "p", *names[1:], *self.entries[0].judged]
        cells = []
        for column in columns:
            values = [record[column] for record in records]
            texts = ["" if value is None else f"{value:.4f}" for value in values]
            cells.append([*map(Cell, texts, placed(texts) if column in names else [0] * len(texts))])
        rows = [
            TableRow([str(record[label]) for label in labels], [column[number] for column in cells])
            for number, record in enumerate(records)
        ]
        first, *others = headings_of(self.measures)
        about = f"Runs by {first} over {self.about}"
        headings = [first, "p", *others, *self.entries[0].judged]
        return PaperTable(labels, headings, [rows], about, [self.finding, *explained(self.measures)])


def _as_json(board: Leaderboard) -> str:
    about = {"measures": list(map(str, board.measures)), "about": board.about, "finding": board.finding}
    runs = [{**vars(entry), "is_below": entry.is_below} for entry in board.entries]
    return as_json({**about, "runs": runs}, indent=2) + "\n"


def _as_csv(board: Leaderboard) -> str:
    rows = [[*board._records()[0]], *(record.values() for record in board._records())]
    return separated([[as_cell(each) if isinstance(each, str) else each for each in row] for row in rows])


def _as_html(board: Leaderboard) -> str:
    words, table = page_words(), board._table()
    shown = PageTable(html_means(table), copies=copies_of(table, "leaderboard"))
    how = how_made(board.measures, board.origin)
    parts = [Part(words["table"], tables=[shown])]
    return result_page(table.about, [f"{board.finding[:1].upper()}{board.finding[1:]}."], parts, how)


LEADERBOARD_FORMATS: dict[str, Callable[[Leaderboard], str]] = {
    "table": str,
    "markdown": lambda board: as_table(board._table()).to("markdown"),
    "html": _as_html,
    "csv": _as_csv,
    "json": _as_json,
}
"""The formats of a leaderboard."""


def leaderboard(
    qrels: QrelsLike,
    runs: Mapping[str, RunLike | Record],
    measures: MeasuresLike,
    clusters: By | None = None,
    texts: Texts | None = None,
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
    texts : mapping of str to mapping, optional
        For each run the cells of other columns: ``{"bm25": {"method": "sparse", "latency": "3 ms"}}``.
    resamples, seed : int
        Of the randomization test.
    order, query_ids
        How runs are read that are paths, and how records must have been made; as in `record`.

    Returns
    -------
    Leaderboard
        Every pair of runs is compared by the randomization test over whole clusters, adjusted by step-down
        max-T for all pairs at once, as the first is known from the same values only. A
        run is below the first where p < 0.05.

    Raises
    ------
    MeasureError, InputError
        As for an evaluation; for a record that lacks a measure, was edited, or was made with other labels,
        queries or options; for a column that is named like another.

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
    found: dict[str, _Scores] = {}
    for name, scores in _scores(runs, asked, evaluator, order, query_ids, loaded):
        if name in found:
            places = " and ".join(each.source or "a run" for each in (found[name], scores))
            hint = "Give one of them another name: NAME=FILE"
            raise InputError(f"two runs are named {name!r} ({places})", hint=hint)
        found[name] = scores
    if not found:
        raise InputError("there is no run")
    check_texts(texts or {}, found)
    _refuse_headings(headings_of_texts(texts or {}), asked, evaluator)
    unit, cluster, _ = clusters_of(ids, clusters, loaded)
    means = {name: float(each.values[0].mean()) for name, each in found.items()}
    ordered = sorted(found, key=lambda name: -means[name])
    pairs = [(other, run) for run, other in combinations(ordered, 2)]
    values = {name: found[name].values[:1] for name in ordered}
    p = _p_values(PairedRuns(asked[:1], ids, values, pairs, unit, cluster, []), resamples, seed)
    entries = [
        Entry(
            1 + sum(means[other] > means[name] + 1e-12 for other in ordered),
            name,
            p.get(name),
            dict(zip(map(name_of, asked), aggregated(asked, found[name].values).values(), strict=True)),
            found[name].judged,
            found[name].source,
            dict((texts or {}).get(name, {})),
        )
        for name in ordered
    ]
    by = f" by {unit}" if unit else ""
    how = "p of the difference from the first, by the randomization test with max-T over all pairs of runs"
    least = least_p(int(cluster.max()) + 1, resamples)
    return Leaderboard(entries, asked, f"{counted(len(ids), 'query')}{by}; {how}", least)


def _refuse_headings(headings: list[str], asked: list[Measure], evaluator: PermedEvaluator) -> None:
    """Refuse columns of the user's own, and names of measures, that are those of other columns."""
    ours = ["rank", "run", "p", "record"]
    check_headings(ours, asked)
    taken = {*ours, *map(name_of, evaluator.measures), *headings_of(evaluator.measures)}
    for heading in taken.intersection(headings):
        problem = f"a column of your own is named {heading!r}, as one that is computed"
        raise InputError(problem, hint="Give it another heading")


@dataclass(frozen=True)
class _Scores:
    values: NDArray[np.float64]  # by measure and query
    judged: dict[str, float | None]
    source: str = ""


def _scores(
    runs: Mapping[str, Any],
    asked: list[Measure],
    evaluator: PermedEvaluator,
    order: str,
    query_ids: str | None,
    qrels: Any,
) -> Iterator[tuple[str, _Scores]]:
    """Yield the values of each run, computed or from a record."""
    shares = [name_of(measure) for measure in evaluator.measures if measure not in asked]
    for name in runs:
        run = runs[name]
        if (record := as_record(run)) is not None:
            recorded = values_to_compare(record, asked, evaluator.judgments, order, query_ids)
            source = Path(record.source).name or name
            for content, values in zip(record["runs"], recorded.values(), strict=True):
                judged = {share: content["judged"].get(share) for share in shares}
                yield content["run"], _Scores(np.stack([*values.values()]), judged, source)
            continue
        with naming(name):
            if isinstance(run, (str, os.PathLike)):
                run = loaded_run(run, order=order, rewriting=query_ids, qrels=qrels)
            evaluation = evaluator.evaluate(run)
        means = evaluation.aggregated.values()
        yield (
            name,
            _Scores(evaluation.values[: len(asked)], dict(zip(shares, [*means][len(asked) :], strict=True))),
        )


def _p_values(paired: PairedRuns, resamples: int, seed: int) -> dict[str, float]:
    """Return the adjusted p-value of each run's difference from the first."""
    first, *others = paired.values
    if not others:
        return {}
    options = Options(("randomization",), MAX_T, resamples, seed, 1 - LEVEL)
    rows = compared([paired], options, [])[0].rows
    found = {row.run: row.tests["randomization"].adjusted for row in rows if row.baseline == first}
    return {run: p for run, p in found.items() if p is not None}
