"""Runs on several collections in one table: a column for each collection, and the mean of their means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt
from ir_measures.measures import Measure

from permed_measures.escaping import join_names, pluralize
from permed_measures.measures.headings import check_headings, heading_notes, headings_of, name_of
from permed_measures.provenance import Origin, provenance
from permed_measures.results.evaluation_report import best_of, format_distinguishable, highest
from permed_measures.results.evaluations import COUNTS, Evaluations
from permed_measures.results.report import Report, Result, Section, how_made
from permed_measures.results.table import Cell, Style, Table, competition_rank, isclose

MEAN = "mean"
HEADINGS = ("run", MEAN, "ranks")
"""The columns of a table besides the collections."""


@dataclass(frozen=True)
class CollectionMeans(Result):
    """The means of several runs on several collections; ``print`` shows a table for each measure.

    ``to_polars`` and ``to_pandas`` give a row for each run and collection, and one for the mean of a run.

    Attributes
    ----------
    found : mapping of str to Evaluations
        By the name of the collection; all of the same runs and measures.
    style : Style
        How means are written in tables.
    origin : Origin or None
        The command.
    """

    found: Mapping[str, Evaluations] = field(repr=False)
    style: Style = field(default_factory=Style)
    origin: Origin | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Refuse a measure that is named like another column of the rows."""
        check_headings(["run", "collection", "queries"], self.measures)

    @property
    def measures(self) -> list[Measure]:
        """The measures."""
        return next(iter(self.found.values())).measures

    @property
    def runs(self) -> list[str]:
        """The names of the runs."""
        return list(next(iter(self.found.values())).evaluations)

    @cached_property
    def means(self) -> npt.NDArray[np.float64]:
        """The means, of shape (n_measures, n_runs, n_collections)."""
        found = [run.aggregated for each in self.found.values() for run in each.evaluations.values()]
        rows = np.array([list(means.values()) for means in found])
        return rows.reshape(len(self.found), len(self.runs), len(self.measures)).T

    @property
    def n_queries(self) -> dict[str, int]:
        """The number of judged queries of each collection."""
        return {name: each.queries(self.runs[0])["judged"] for name, each in self.found.items()}

    @property
    def notes(self) -> list[str]:
        """What is to be known about the runs, each with its collection."""
        named = {(name, run): each for name, each in self.found.items() for run in self.runs}
        return [f"{name}: {note}" for (name, run), each in named.items() for note in each.notes_on(run)]

    def report(self) -> Report:
        """Return which run has the highest mean of means, and a table for each measure."""
        size = f"{pluralize(len(self.runs), 'run')}, {pluralize(len(self.n_queries), 'collection')}"
        return Report(
            size,
            self._finding(),
            [Section(tables=[self._table(number)]) for number in range(len(self.measures))],
            self.notes,
            self._content,
            self._rows,
            partial(how_made, self.measures, self.origin),
        )

    # --- what is printed -------------------------------------------------------------------------------

    def _values(self, number: int) -> list[list[float]]:
        """Return the values of a measure: of each run by collection, then their mean."""
        values = self.means[number]
        found: list[list[float]] = np.column_stack([values, values.mean(axis=1)]).tolist()
        return found

    def _ranks(self, number: int) -> list[list[int]]:
        """Return the rank of each run on each collection; equal values share one."""
        columns = self.means[number].T.tolist()
        ranks = ([competition_rank(value, column) for value in column] for column in columns)
        return [list(row) for row in zip(*ranks, strict=True)]

    def _table(self, number: int) -> Table:
        values, ranks, measure = self._values(number), self._ranks(number), self.measures[number]
        one_of_each = next(iter(self.found.values()))
        columns = [one_of_each.cells(measure, column, self.style) for column in zip(*values, strict=True)]
        if measure.NAME in COUNTS:  # whose mean is no whole number
            columns[-1] = [Cell(f"{own[-1]:,.1f}", value=own[-1]) for own in values]
        rows: list[list[str | Cell]] = []
        for name, cells, placed in zip(self.runs, zip(*columns, strict=True), ranks, strict=True):
            worst = f"{min(placed)}\N{EN DASH}{max(placed)}"
            rows.append([name, *cells, Cell(worst, value=min(placed))])
        heading = headings_of(self.measures)[number]
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
            spare=["ranks"],
            label="collections",
        )

    def _finding(self) -> list[str]:
        """Say which run is highest on the first measure, on how many collections, and if any one decides.

        Of the other measures it is said which run has the highest mean; of one run what its means are.
        """
        heading, values = headings_of(self.measures)[0], self._values(0)
        if len(self.runs) == 1:
            means = [
                self._written(number, self._values(number)[0][-1]) for number in range(len(self.measures))
            ]
            each = join_names(map(" ".join, zip(headings_of(self.measures), means, strict=True)))
            of = pluralize(len(self.n_queries), "collection")
            return [f"{self.runs[0]} has, as means of {of}, {each}."]
        others = self._highest_on_others()
        best = best_of(dict(zip(self.runs, values, strict=True)), len(self.n_queries))
        if not best:
            return []
        style = Style(1) if self.measures[0].NAME in COUNTS else self.style
        mean = format_distinguishable([own[-1] * style.scale for own in values], style.decimals) + style.sign
        if len(best) > 1:
            return [f"{join_names(best)} have the highest mean {heading}, {mean}.", *others]
        place = self.runs.index(best[0])
        n_first = self._ranks(0)[place].count(1)
        said = [
            f"{best[0]} has the highest mean {heading}, {mean}, and the highest {heading} on "
            f"{n_first} of {pluralize(len(self.n_queries), 'collection')}."
        ]
        said += [self._without_one(place)] if len(self.n_queries) > 2 else []
        return [*said, *others, "No significance test was run."]

    def _written(self, number: int, mean: float) -> str:
        """Write the mean of means of a measure."""
        is_count = self.measures[number].NAME in COUNTS
        return f"{mean:,.1f}" if is_count else self.style.text(mean) + self.style.sign

    def _highest_on_others(self) -> list[str]:
        """Say which runs have the highest means of the measures but the first."""
        columns = [self._values(number) for number in range(len(self.measures))]
        means = {run: [column[place][-1] for column in columns] for place, run in enumerate(self.runs)}
        headings = headings_of(self.measures)
        counts = [text for text, each in zip(headings, self.measures, strict=True) if each.NAME in COUNTS]
        said = highest(headings, means, self.style, counts)[1:]
        return [each.replace("Highest on", "Highest mean on", 1) for each in said]

    def _without_one(self, place: int) -> str:
        """Say whether the run with the highest mean still has it when one collection is left out."""
        values, names = self.means[0], list(self.n_queries)
        others = [np.delete(values, number, axis=1).mean(axis=1) for number in range(len(names))]
        lost = [
            name for name, means in zip(names, others, strict=True) if not isclose(means[place], means.max())
        ]
        run = self.runs[place]
        if not lost:
            return f"Whichever collection is left out, no run has a higher mean than {run}."
        return f"Another run has a higher mean than {run} if {' or '.join(lost)} is left out."

    # --- other programs ----------------------------------------------------------------------------------

    def _rows(self) -> Iterator[dict[str, Any]]:
        for place, run in enumerate(self.runs):
            values = self.means[:, place]
            columns = {**dict(zip(self.n_queries, values.T, strict=True)), MEAN: values.mean(axis=1)}
            for name, by_measure in columns.items():
                measured = dict(zip(map(name_of, self.measures), map(float, by_measure), strict=True))
                yield {"run": run, "collection": name, "queries": self.n_queries.get(name), **measured}

    def _content(self) -> dict[str, Any]:
        about = provenance(self.measures, self.origin)
        return {"rows": list(self._rows()), "notes": self.notes, "provenance": about}
