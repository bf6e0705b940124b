"""Leaderboards: runs and records in one table, each with the ranks that it may have."""

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
from permed_measures.datasets.loading import loaded_qrels, loaded_run
from permed_measures.engine.evaluator import PermedEvaluator, aggregated
from permed_measures.engine.groups import By
from permed_measures.engine.inputs import QrelsLike, RunLike
from permed_measures.errors import InputError, MeasureError
from permed_measures.files.provenance import Origin, provenance
from permed_measures.frames import Tabular
from permed_measures.markup import as_cell, as_json, counted, listed
from permed_measures.measures.headings import explained, headings_of, name_of
from permed_measures.measures.parsing import MeasuresLike, measures_of
from permed_measures.pages.words import page_words
from permed_measures.records.record import Record, is_record, read_record
from permed_measures.reports.evaluation import with_judged
from permed_measures.reports.html import html_means
from permed_measures.reports.result_page import PageTable, Part, copies_of, how_made, result_page
from permed_measures.reports.tables import (
    Cell,
    PaperTable,
    TableRow,
    Texts,
    check_texts,
    headings_of_texts,
    markdown,
    placed,
    separated,
    styled_rows,
    texts_of,
)
from permed_measures.statistics.differences import PairedRuns, clusters_of, naming
from permed_measures.statistics.results import MAX_T, Options
from permed_measures.terminal import paragraph, terminal_table

LEVEL = 0.05
"""Two runs can be told apart if the adjusted p-value of their difference is below this."""


@dataclass(frozen=True)
class Entry:
    """A run of a leaderboard.

    Attributes
    ----------
    run : str
    first, last : int
        The ranks it may have: 1 + the runs that are significantly better; all runs but those that are
        significantly worse.
    values : dict of str to float
        The mean of each measure.
    judged : dict of str to float
        The share of judged documents at each cutoff.
    source : str
        The record that it is from; empty for a run.
    texts : dict of str to str
        Cells of the user's own columns.
    """

    run: str
    first: int
    last: int
    values: dict[str, float]
    judged: dict[str, float]
    source: str = ""
    texts: dict[str, str] = field(default_factory=dict)

    @property
    def rank(self) -> str:
        """The ranks as a table shows them, such as ``1-3``."""
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"


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
        The queries, and how runs were told apart.
    origin : Origin or None
        The command and its files.
    """

    entries: list[Entry]
    measures: list[Measure]
    about: str
    origin: Origin | None = field(default=None, repr=False)

    @property
    def leaders(self) -> list[str]:
        """The runs that cannot be told from the first."""
        return [entry.run for entry in self.entries if entry.first == 1]

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
        return [
            {
                "rank": each.rank,
                "run": each.run,
                **each.texts,
                **each.values,
                **each.judged,
                "source": each.source,
            }
            for each in self.entries
        ]

    def _table(self) -> PaperTable:
        texts = {entry.run: entry.texts for entry in self.entries}
        judged = list(dict.fromkeys(name for entry in self.entries for name in entry.judged))
        sources = ["record"] if any(entry.source for entry in self.entries) else []
        columns = []
        for name in map(name_of, self.measures):
            cells = [f"{entry.values[name]:.4f}" for entry in self.entries]
            columns.append([*map(Cell, cells, placed(cells))])
        for name in judged:
            columns.append(
                [Cell(f"{entry.judged[name]:.4f}" if name in entry.judged else "") for entry in self.entries]
            )
        rows = [
            TableRow(
                [
                    entry.rank,
                    entry.run,
                    *texts_of(texts, entry.run),
                    *[entry.source] * len(sources),
                ],
                [column[number] for column in columns],
            )
            for number, entry in enumerate(self.entries)
        ]
        leaders = self.leaders
        resolution = (
            f"{leaders[0]} is first"
            if len(leaders) == 1
            else f"{counted(len(leaders), 'run')} may be first: {', '.join(leaders)}"
        )
        return PaperTable(
            ["rank", "run", *headings_of_texts(texts), *sources],
            [*headings_of(self.measures), *judged],
            [rows],
            f"Runs by {headings_of(self.measures)[0]} over {self.about}",
            [resolution, *explained(self.measures)],
        )


def _as_json(board: Leaderboard) -> str:
    entries = [{**vars(entry), "rank": entry.rank} for entry in board.entries]
    content = {
        "measures": list(map(str, board.measures)),
        "about": board.about,
        "leaders": board.leaders,
        "runs": entries,
    }
    return as_json(content, indent=2) + "\n"


def _as_csv(board: Leaderboard) -> str:
    rows = board._records()
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [
        [as_cell(each) if isinstance(each := row.get(name, ""), str) else each for name in names]
        for row in rows
    ]
    return separated([[*map(as_cell, names)], *cells])


def _as_html(board: Leaderboard) -> str:
    words, table, leaders = page_words(), board._table(), board.leaders
    key = "l_first" if len(leaders) == 1 else "l_may_be_first"
    fields = {"n": len(leaders), "runs": listed(leaders, 3), "measure": headings_of(board.measures)[0]}
    shown = PageTable(html_means(table), copies=copies_of(table, "leaderboard"))
    how = how_made(board.measures, board.origin)
    parts = [Part(words["table"], tables=[shown])]
    return result_page(table.about, [words[key].format(**fields)], parts, how)


LEADERBOARD_FORMATS: dict[str, Callable[[Leaderboard], str]] = {
    "table": str,
    "markdown": lambda board: markdown(board._table()),
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
    resamples: int = 10_000,
    seed: int = 0,
) -> Leaderboard:
    """Order runs by the mean of a measure, and say which ranks each may have.

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

    Returns
    -------
    Leaderboard
        Every pair of runs is compared by the randomization test over whole clusters, adjusted by step-down
        max-T for all pairs at once (``statistics.max_t``); runs differ where p < 0.05.

    Raises
    ------
    MeasureError, InputError
        As for an evaluation; for a record that lacks a measure, or was made with other qrels.

    Examples
    --------
    >>> qrels = {f"q{i}": {"a": 1} for i in range(8)}
    >>> runs = {"old": {q: {"b": 2.0, "a": 1.0} for q in qrels}, "new": {q: {"a": 1.0} for q in qrels}}
    >>> [(each.rank, each.run, each.values) for each in leaderboard(qrels, runs, "RR").entries]
    [('1', 'new', {'RR': 1.0}), ('2', 'old', {'RR': 0.5})]
    """
    asked = measures_of(measures)
    if not asked:
        raise InputError("there is no measure to order by", hint="Name one, such as 'nDCG@10'")
    loaded = loaded_qrels(qrels)
    evaluator = PermedEvaluator(with_judged(asked), loaded)
    query_ids = evaluator.judgments.query_ids
    if not query_ids:
        raise InputError("the qrels have no query")
    hashes = _hashes(provenance([], Origin.of(qrels, {})).get("inputs", ()))
    found: dict[str, _Scores] = {}
    for name, scores in _scores(runs, asked, evaluator, hashes):
        if name in found:
            places = " and ".join(each.source or "a run" for each in (found[name], scores))
            problem = f"two runs are named {name!r} ({places})"
            raise InputError(problem, hint="Give one of them another name: NAME=FILE")
        found[name] = scores
    if not found:
        raise InputError("there is no run")
    unit, cluster, _ = clusters_of(query_ids, clusters, loaded)
    ordered = sorted(found, key=lambda name: -found[name].values[0].mean())
    paired = PairedRuns(
        asked[:1],
        query_ids,
        {n: found[n].values[:1] for n in ordered},
        [(b, a) for a, b in combinations(ordered, 2)],
        unit,
        cluster,
        [],
    )
    bounds = _bounds(paired, Options(("randomization",), MAX_T, resamples, seed, 1 - LEVEL))
    entries = [
        Entry(
            name,
            *bounds[name],
            dict(zip(map(name_of, asked), aggregated(asked, found[name].values).values(), strict=True)),
            found[name].judged,
            found[name].source,
            dict((texts or {}).get(name, {})),
        )
        for name in ordered
    ]
    check_texts(texts or {}, found)
    by = f" by {unit}" if unit else ""
    how = f"ranks are told apart by the randomization test with max-T at {LEVEL:g}"
    about = f"{counted(len(query_ids), 'query')}{by}; {how}"
    return Leaderboard(entries, asked, about)


@dataclass(frozen=True)
class _Scores:
    values: NDArray[np.float64]  # by measure and query
    judged: dict[str, float]
    source: str = ""


def _scores(
    runs: Mapping[str, Any], asked: list[Measure], evaluator: PermedEvaluator, hashes: set[str]
) -> Iterator[tuple[str, _Scores]]:
    """Yield the values of each run, computed or from a record."""
    for name in runs:
        run, source = runs[name], name
        if isinstance(run, (str, os.PathLike)) and is_record(Path(run)):
            run, source = read_record(run), str(run)
        if isinstance(run, Record):
            yield from _recorded(run, source, asked, evaluator.judgments.query_ids, hashes)
            continue
        with naming(name):
            evaluation = evaluator.evaluate(loaded_run(run))
        rows = dict(zip(evaluation.measures, evaluation.values, strict=True))
        judged = {name_of(m): mean for m, mean in evaluation.aggregated.items() if m not in asked}
        yield name, _Scores(np.stack([rows[measure] for measure in asked]), judged)


def _recorded(
    record: Record, source: str, asked: list[Measure], query_ids: list[str], hashes: set[str]
) -> Iterator[tuple[str, _Scores]]:
    """Yield the values of the runs of a record; it must have the same qrels, and all measures."""
    theirs = _hashes(record.inputs("qrels"))
    if record["query_ids"] != query_ids or (theirs and hashes and theirs != hashes):
        raise InputError("this record was made with other qrels", where=source)
    if record.get("sha256") != record.seal:
        raise InputError(
            "this record was edited after it was written", where=source, hint="verify says what differs"
        )
    names = {measure: name_of(measure) for measure in record.measures}
    for measure in asked:
        if measure not in names:
            raise MeasureError(
                f"this record has no {measure} (it has {', '.join(names.values())})", where=source
            )
    for content in record["runs"]:
        values = np.stack([record.values(content["run"], names[measure]) for measure in asked])
        yield content["run"], _Scores(values, content["judged"], Path(source).name)


def _hashes(inputs: Any) -> set[str]:
    return {each["sha256"] for each in inputs if each.get("sha256")}


def _bounds(paired: PairedRuns, options: Options) -> dict[str, tuple[int, int]]:
    """Return the first and the last rank that each run may have."""
    n = len(paired.values)
    better, worse = dict.fromkeys(paired.values, 0), dict.fromkeys(paired.values, 0)
    for row in compared([paired], options, [])[0].rows if n > 1 else ():
        adjusted = row.tests["randomization"].adjusted
        if adjusted is not None and adjusted < LEVEL and row.difference:
            high, low = (row.run, row.baseline) if row.difference > 0 else (row.baseline, row.run)
            better[low] += 1
            worse[high] += 1
    return {name: (1 + better[name], n - worse[name]) for name in paired.values}
