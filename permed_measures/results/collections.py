"""Runs on several collections in one table: a column for each collection, and the mean of their means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt
from ir_measures.measures import Measure

from permed_measures.measures.headings import check_headings, heading_notes, headings_of, name_of
from permed_measures.measures.specs import is_count
from permed_measures.provenance import Origin, provenance
from permed_measures.results.evaluation_report import best_of, format_distinguishable, highest
from permed_measures.results.evaluations import Evaluations
from permed_measures.results.methods import Methods, means_over_collections, methods_of
from permed_measures.results.report import DescribedResult, Report, Section, how_made
from permed_measures.results.table import Cell, Style, Table, competition_rank, isclose
from permed_measures.wording import join_names, pluralize

MEAN = "mean"
HEADINGS = ("run", MEAN, "ranks")
"""The columns of a table besides the collections."""


@dataclass(frozen=True)
class CollectionMeans(DescribedResult):
    """The means of several runs on several collections; ``print`` shows a table for each measure.

    ``to_polars`` and ``to_pandas`` give a row for each run and collection, and one for the mean of a run.

    Attributes
    ----------
    evaluations : mapping of str to Evaluations
        By name of the collection, with the same runs and measures in each.
    style : Style
        The format of means in tables.
    origin : Origin or None
        The command.
    """

    evaluations: Mapping[str, Evaluations] = field(repr=False)
    style: Style = field(default_factory=Style)
    origin: Origin | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Raise InputError for a measure that has the name of another column."""
        check_headings(["run", "collection", "queries"], self.measures)

    @property
    def measures(self) -> list[Measure]:
        """The measures."""
        return next(iter(self.evaluations.values())).measures

    @property
    def runs(self) -> list[str]:
        """The names of the runs."""
        return list(next(iter(self.evaluations.values())).evaluations)

    @cached_property
    def means(self) -> npt.NDArray[np.float64]:
        """The means, of shape (n_measures, n_runs, n_collections)."""
        rows = [
            list(run.aggregated.values())
            for evaluations in self.evaluations.values()
            for run in evaluations.evaluations.values()
        ]
        return np.array(rows).reshape(len(self.evaluations), len(self.runs), len(self.measures)).T

    @property
    def n_queries(self) -> dict[str, int]:
        """The number of judged queries of each collection."""
        first = self.runs[0]
        return {name: evaluations.queries(first)["judged"] for name, evaluations in self.evaluations.items()}

    @property
    def notes(self) -> list[str]:
        """The notes on the runs, each with its collection."""
        return [
            f"{name}: {note}"
            for name, evaluations in self.evaluations.items()
            for run in self.runs
            for note in evaluations.notes_on(run)
        ]

    def report(self) -> Report:
        """Build the report: the run with the highest mean of means, and a table for each measure."""
        size = f"{pluralize(len(self.runs), 'run')}, {pluralize(len(self.n_queries), 'collection')}"
        return Report(
            size,
            self._finding(),
            [Section(tables=[self._table(index)]) for index in range(len(self.measures))],
            self.notes,
            self._content,
            self._rows,
            partial(how_made, self.measures, self.origin),
            methods=self._methods,
        )

    def _methods(self) -> Methods:
        """Describe how the means were computed, for a paper."""
        roles = {f"{name} qrels" for name in self.evaluations}
        origin = self.origin or Origin()
        qrels = {role: path for role, path in origin.others.items() if role in roles}
        counts = headings_of([measure for measure in self.measures if is_count(measure)])
        means = [means_over_collections(len(self.evaluations), counts)]
        return methods_of(
            self.measures, origin._replace(qrels="", others=qrels), self.runs, self.n_queries, means
        )

    # --- table and finding -----------------------------------------------------------------------------

    def _values(self, measure: int) -> list[list[float]]:
        """Return the values of a measure, by its number: for each run by collection, then their mean."""
        values = self.means[measure]
        rows: list[list[float]] = np.column_stack([values, values.mean(axis=1)]).tolist()
        return rows

    def _ranks(self, measure: int) -> list[list[int]]:
        """Rank the runs on each collection; equal values share a rank."""
        columns = self.means[measure].T.tolist()
        ranks = ([competition_rank(value, column) for value in column] for column in columns)
        return [list(row) for row in zip(*ranks, strict=True)]

    def _table(self, index: int) -> Table:
        values, ranks, measure = self._values(index), self._ranks(index), self.measures[index]
        evaluations = next(iter(self.evaluations.values()))
        columns = [evaluations.cells(measure, column, self.style) for column in zip(*values, strict=True)]
        if is_count(measure):  # a mean of counts need not be a whole number
            columns[-1] = [Cell(f"{of_run[-1]:,.1f}", value=of_run[-1]) for of_run in values]
        rows: list[list[str | Cell]] = []
        for name, cells, of_run in zip(self.runs, zip(*columns, strict=True), ranks, strict=True):
            best_to_worst = f"{min(of_run)}\N{EN DASH}{max(of_run)}"
            rows.append([name, *cells, Cell(best_to_worst, value=min(of_run))])
        heading = headings_of(self.measures)[index]
        return Table.of(
            ["run", *self.n_queries, MEAN, "ranks"],
            rows,
            caption=f"{heading} by collection{self.style.unit}, and the mean, in which each collection "
            "counts once",
            notes=[
                "Judged queries: " + join_names(f"{name} {n:,}" for name, n in self.n_queries.items()),
                "Ranks: the best and the worst of the run on a collection; equal values share a rank",
                *(text for text in heading_notes(self.measures) if text.startswith(f"{heading} ")),
            ],
            droppable=["ranks"],
            label="collections",
        )

    def _finding(self) -> list[str]:
        """Name the highest run on the first measure, and whether that depends on one collection.

        Name the runs with the highest mean on the other measures. For a single run, give its means.
        """
        heading, values = headings_of(self.measures)[0], self._values(0)
        n_collections = pluralize(len(self.n_queries), "collection")
        if len(self.runs) == 1:
            means = [
                self._mean_text(index, self._values(index)[0][-1]) for index in range(len(self.measures))
            ]
            texts = join_names(map(" ".join, zip(headings_of(self.measures), means, strict=True)))
            return [f"{self.runs[0]} has, as means of {n_collections}, {texts}."]
        others = self._highest_on_others()
        best = best_of(dict(zip(self.runs, values, strict=True)), len(self.n_queries))
        if not best:
            return []
        style = Style(1) if is_count(self.measures[0]) else self.style
        scaled = [of_run[-1] * style.scale for of_run in values]
        mean = format_distinguishable(scaled, style.decimals) + style.sign
        if len(best) > 1:
            return [f"{join_names(best)} have the highest mean {heading}, {mean}.", *others]
        index = self.runs.index(best[0])
        n_first = self._ranks(0)[index].count(1)
        sentences = [
            f"{best[0]} has the highest mean {heading}, {mean}, and the highest {heading} on "
            f"{n_first} of {n_collections}."
        ]
        sentences += [self._without_one(index)] if len(self.n_queries) > 2 else []
        return [*sentences, *others, "No significance test was run."]

    def _mean_text(self, measure: int, mean: float) -> str:
        """Format the mean of means of a measure, by its number."""
        as_count = is_count(self.measures[measure])
        return f"{mean:,.1f}" if as_count else self.style.text(mean) + self.style.sign

    def _highest_on_others(self) -> list[str]:
        """Name the runs with the highest means on the measures after the first."""
        columns = [self._values(index) for index in range(len(self.measures))]
        means = {run: [column[row][-1] for column in columns] for row, run in enumerate(self.runs)}
        headings = headings_of(self.measures)
        counts = [
            heading for heading, measure in zip(headings, self.measures, strict=True) if is_count(measure)
        ]
        sentences = highest(headings, means, self.style, counts)[1:]
        return [text.replace("Highest on", "Highest mean on", 1) for text in sentences]

    def _without_one(self, index: int) -> str:
        """Tell whether a run keeps the highest mean when any one collection is left out."""
        values, names = self.means[0], list(self.n_queries)
        others = [np.delete(values, column, axis=1).mean(axis=1) for column in range(len(names))]
        lost = [
            name for name, means in zip(names, others, strict=True) if not isclose(means[index], means.max())
        ]
        run = self.runs[index]
        if not lost:
            return f"Whichever collection is left out, no run has a higher mean than {run}."
        return f"Another run has a higher mean than {run} if {' or '.join(lost)} is left out."

    # --- other programs ----------------------------------------------------------------------------------

    def _rows(self) -> Iterator[dict[str, Any]]:
        for index, run in enumerate(self.runs):
            values = self.means[:, index]
            columns = {**dict(zip(self.n_queries, values.T, strict=True)), MEAN: values.mean(axis=1)}
            for name, by_measure in columns.items():
                measured = dict(zip(map(name_of, self.measures), map(float, by_measure), strict=True))
                yield {"run": run, "collection": name, "queries": self.n_queries.get(name), **measured}

    def _content(self) -> dict[str, Any]:
        about = provenance(self.measures, self.origin)
        return {"rows": list(self._rows()), "notes": self.notes, "provenance": about}
