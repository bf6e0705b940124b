"""Evaluations as rows of numbers, of texts, and as objects."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import ir_measures
import numpy as np
from ir_measures.measures import Measure

from permed_measures.engine.evaluator import Evaluation, has_ceiling, ideal_evaluation
from permed_measures.engine.groups import Groups
from permed_measures.files.provenance import Origin
from permed_measures.markup import counted
from permed_measures.measures.headings import check_headings, name_of
from permed_measures.measures.parameters import cutoff_of, values_of
from permed_measures.reports.tables import Texts, check_texts, headings_of_texts, texts_of
from permed_measures.reports.wording import NONE
from permed_measures.statistics.differences import notes_of


def with_judged(measures: Iterable[Measure]) -> list[Measure]:
    """Return the measures, followed by Judged@k for each cutoff k among them.

    A run that was not pooled has unjudged documents, which count as not relevant: a low value beside a low
    share of judged documents says little.
    """
    measures = list(measures)
    cutoffs = dict.fromkeys(cutoff_of(m) for m in measures if "cutoff" in m.SUPPORTED_PARAMS)
    judged = [ir_measures.Judged if k is None else ir_measures.Judged @ k for k in cutoffs]
    return list(dict.fromkeys([*measures, *judged]))


BEST = "best possible"
MACRO = "(macro)"
COUNTS = ("NumQ", "NumRet", "NumRel")


class TextRow(NamedTuple):
    """The cells of a row; `ideal` says whether it is what an ideal ranking scores."""

    labels: list[str]
    values: list[str]
    queries: list[str]
    ideal: bool = False


class Row(NamedTuple):
    """A row of a table: the run, and the query or the group; its values; how many queries there are."""

    labels: list[str]
    values: list[float]
    queries: dict[str, int]


@dataclass(frozen=True)
class Report:
    """Evaluations of several runs by the same measures and qrels.

    Parameters
    ----------
    measures : list of Measure
        What was asked for; an evaluation may have Judged beside it.
    evaluations : mapping of str to Evaluation
        By the name of the run, at least one.
    by_query : bool
        Whether to give the values of each query instead of the means.
    groups : Groups, optional
        Give the means of each group of queries, then those of all.
    macro : bool
        Give the mean of the groups' means in place of each.
    origin : Origin, optional
        Where the qrels and the runs come from.
    digits : int, optional
        Number of decimals; if left out, four in tables, and all in CSV and TSV. JSON always has all.
    only : sequence of str
        Headings of the columns of the table, commas between them, or ``all``; by default those that say
        something and fit.
    texts : mapping of str to mapping
        The cells of other columns by run and heading; not with `by_query` or `groups`.
    caption : str
        With what the caption of a table for a paper begins.
    notes : mapping of str to sequence of str
        What `run_notes` says of each run.
    """

    measures: list[Measure]
    evaluations: Mapping[str, Evaluation]
    by_query: bool = False
    groups: Groups | None = None
    macro: bool = False
    origin: Origin | None = None
    digits: int | None = None
    only: Sequence[str] = ()
    texts: Texts = field(default_factory=dict)
    caption: str = ""
    notes: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a measure that is named like another column, and texts of a run that is not here."""
        check_texts(self.texts, self.evaluations)
        check_headings([*self.labels, "query", "queries", "queries in run", "ignored"], self.measures)

    @property
    def columns(self) -> list[Measure]:
        """All measures, Judged included."""
        return next(iter(self.evaluations.values())).measures

    @property
    def labels(self) -> list[str]:
        """The headings of the labels."""
        if self.by_query:
            return ["run", "query_id"]
        return ["run", *headings_of_texts(self.texts)] if self.groups is None else ["run", self.groups.name]

    @cached_property
    def ideal(self) -> Evaluation:
        """The highest values that a run can have; NaN of a measure that has no ceiling."""
        rankings = next(iter(self.evaluations.values())).rankings
        missing = np.full((1, rankings.n_queries), np.nan)
        values = [
            ideal_evaluation(measure, rankings.judgments).values if has_ceiling(measure) else missing
            for measure in self.measures
        ]
        return Evaluation(self.measures, np.concatenate(values), rankings)

    @property
    def ceilings(self) -> dict[Measure, float]:
        """The best possible value of each measure where that is below 1."""
        return {measure: value for measure, value in self.ideal.aggregated.items() if value < 1 - 1e-12}

    @cached_property
    def level(self) -> float:
        """The lowest grade that counts as relevant, of the measures that have such a level; otherwise 1."""
        levels = [values_of(measure).get("rel") for measure in self.measures]
        return min((level for level in levels if level is not None), default=1)

    @cached_property
    def all_relevant(self) -> bool:
        """Whether each label is relevant to each measure: then Judged@k is P@k."""
        levels = [values_of(measure).get("rel") or 0 for measure in self.measures]
        grades = next(iter(self.evaluations.values())).rankings.judgments.grade
        return bool((grades >= max(*levels, self.level)).all())

    def queries(self, name: str) -> dict[str, int]:
        """Count the queries: judged, in the run, without relevant documents, and ignored."""
        rankings = self.evaluations[name].rankings
        return {
            "judged": rankings.n_queries,
            "in_run": rankings.n_shared,
            "without_relevant": int((rankings.judgments.num_rel(self.level) == 0).sum()),
            "ignored": rankings.n_run_queries - rankings.n_shared,
        }

    def rows(self) -> Iterator[Row]:
        """Yield the rows: a run, a query of a run, or a group of queries of a run."""
        for name, evaluation in self.evaluations.items():
            if self.by_query:
                yield from (Row([name, query_id], values, {}) for query_id, values in evaluation.per_query())
            else:
                yield from self.means(name, evaluation, self.queries(name))

    def means(self, name: str, evaluation: Evaluation, queries: dict[str, int]) -> Iterator[Row]:
        """Yield a row for each group, and one for all queries."""
        every, groups = list(evaluation.aggregated.values()), self.groups
        if groups is None:
            yield Row([name, *texts_of(self.texts, name)], every, queries)
            return
        if self.macro:
            means = list(groups.macro(evaluation).values())
            yield Row([name, MACRO], means, {"judged": sum(groups.sizes)})
        else:
            for (value, by_measure), size in zip(groups.means(evaluation).items(), groups.sizes, strict=True):
                yield Row([name, str(value)], list(by_measure.values()), {"judged": size})
        yield Row([name, "(all)"], every, {"judged": evaluation.rankings.n_queries})

    def notes_above(self) -> list[str]:
        """Return what must be seen before the values; unless there are groups, columns count the queries."""
        if self.groups is not None:
            return self.all_notes()
        return [note for name in self.evaluations for note in self.notes.get(name, ())]

    def notes_on(self, name: str) -> list[str]:
        """Return what is to be known about a run."""
        return [*self.notes.get(name, ()), *notes_of(name, self.evaluations[name].rankings)]

    def all_notes(self) -> list[str]:
        """Return what is to be known about each run."""
        return [note for name in self.evaluations for note in self.notes_on(name)]

    def cells(self) -> Iterator[TextRow]:
        """Yield the rows as text; the last are those of an ideal ranking, where that is below 1."""
        for row in self.rows():
            texts = [self.shown(*pair) for pair in zip(self.columns, row.values, strict=True)]
            yield TextRow(row.labels, texts, _shown_queries(row.queries))
        if not self.ceilings or self.by_query:
            return
        for row in self.means(BEST, self.ideal, {}):
            best = dict(zip(self.measures, row.values, strict=True))
            texts = [self._best(measure, best.get(measure)) for measure in self.columns]
            yield TextRow(row.labels, texts, _shown_queries(row.queries) or ["", ""], ideal=True)

    def _best(self, measure: Measure, value: float | None) -> str:
        """Write a ceiling: nothing where it is 1 or more, a dash where there is none."""
        if value is not None and math.isnan(value):
            return NONE
        return "" if value is None or measure not in self.ceilings else self.shown(measure, value)

    def shown(self, measure: Measure, value: float) -> str:
        """Write a value of a measure."""
        decimals = 4 if self.digits is None else self.digits
        return f"{value:,.0f}" if measure.NAME in COUNTS else f"{value:.{decimals}f}"

    def about(self) -> str:
        """Say what the queries are."""
        queries = self.queries(next(iter(self.evaluations)))
        judged, without = counted(queries["judged"], "judged query"), queries["without_relevant"]
        documents = "relevant documents" + ("" if self.level == 1 else f" (labels of {self.level:g} or more)")
        if without == queries["judged"]:
            return f"{judged}, none with relevant documents: no label reaches {self.level:g}"
        if not without:
            return f"{judged}, {'each ' if queries['judged'] > 1 else ''}with {documents}"
        return f"{judged}, {without:,} of them without {documents}"

    def objects(self) -> Iterator[dict[str, Any]]:
        """Yield a JSON object per run."""
        for name, evaluation in self.evaluations.items():
            means = self.named(evaluation.measures, evaluation.aggregated.values())
            content: dict[str, Any] = {
                "run": name,
                "metrics": {name_of(measure): means[name_of(measure)] for measure in self.measures},
                "judged": {name_of(m): means[name_of(m)] for m in evaluation.measures if m.NAME == "Judged"},
                "ceilings": self.named(self.ceilings, self.ceilings.values()),
                "queries": self.queries(name),
                **({"columns": dict(self.texts.get(name, {}))} if self.texts else {}),
            }
            if self.by_query:
                content["by_query"] = {
                    query_id: self.named(evaluation.measures, values)
                    for query_id, values in evaluation.per_query()
                }
            if self.groups is not None:
                content |= {"by": self.groups.name, "groups": list(self.objects_of_groups(self.groups, name))}
            yield content

    def objects_of_groups(self, groups: Groups, name: str) -> Iterator[dict[str, Any]]:
        """Yield a JSON object for each group of a run, with the best possible values below 1."""
        ideal = {MACRO: groups.macro(self.ideal)} if self.macro else groups.means(self.ideal)
        evaluation = self.evaluations[name]
        for value, row in zip(ideal, self.means(name, evaluation, {}), strict=False):  # without (all)
            best = {measure: each for measure, each in ideal[value].items() if each < 1 - 1e-12}
            yield {
                "group": value if type(value) in (int, str) else str(value),
                "queries": row.queries["judged"],
                "metrics": self.named(evaluation.measures, row.values),
                "ceilings": self.named(best, best.values()),
            }

    def named(self, measures: Iterable[Measure], values: Iterable[float]) -> dict[str, float | None]:
        """Return the values by the names of the measures; NaN, which JSON does not have, is null."""
        known = [None if math.isnan(value) else value for value in values]
        return dict(zip(map(name_of, measures), known, strict=True))


def _shown_queries(queries: dict[str, int]) -> list[str]:
    if "in_run" in queries:
        return [f"{queries['in_run']:,} of {queries['judged']:,}", f"{queries['ignored']:,}"]
    return [f"{count:,}" for count in queries.values()]
