"""Evaluations of several runs by the same measures and qrels: values by run, query and group."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import ir_measures
import numpy as np
from ir_measures.measures import Measure

from permed_measures.engine.evaluator import Evaluation, has_ceiling, ideal_evaluation
from permed_measures.errors import InputError
from permed_measures.measures.headings import (
    ABOUT_JUDGED,
    check_headings,
    heading_notes,
    headings_of,
    name_of,
)
from permed_measures.measures.parameters import cutoff_of, values_of
from permed_measures.measures.specs import is_count, spec_of
from permed_measures.provenance import Origin, provenance
from permed_measures.results.table import NONE, Cell, Style, best_two
from permed_measures.run_notes import every_label_is_relevant, notes_of, scored_without_results
from permed_measures.tolerances import SUM_NOISE
from permed_measures.wording import pluralize

if TYPE_CHECKING:
    from permed_measures.engine.groups import Groups

MACRO = "(macro)"
BEST = "best possible"


def value_text(measure: Measure, value: float, style: Style) -> str:
    """Format a value of a measure: a count is a whole number."""
    return f"{value:,.0f}" if is_count(measure) else style.text(value)


def with_judged(measures: Iterable[Measure]) -> list[Measure]:
    """Add Judged@k to the measures, for each cutoff k among them.

    A run that was not pooled has unjudged documents, which count as not relevant: with a low share of judged
    documents, a low value says little about the run.
    """
    measures = list(measures)
    cutoffs = dict.fromkeys(cutoff_of(m) for m in measures if "cutoff" in m.SUPPORTED_PARAMS)
    judged = [ir_measures.Judged if k is None else ir_measures.Judged @ k for k in cutoffs]
    return list(dict.fromkeys([*measures, *judged]))


class EvaluationRow(NamedTuple):
    """A row: labels (the run, and the query or group), values, and counts of queries."""

    labels: list[str]
    values: list[float]
    queries: dict[str, int]


@dataclass(frozen=True)
class Evaluations:
    """Evaluations of several runs by the same measures and qrels.

    Parameters
    ----------
    measures : list of Measure
        The requested measures; an evaluation may have Judged too.
    evaluations : mapping of str to Evaluation
        At least one, by name of the run.
    of_queries : bool
        Whether to give the values of each query instead of the means.
    groups : Groups, optional
        Groups of queries: give the means of each group, then the means of all queries.
    macro : bool
        Whether to give the mean of the groups' means instead of the mean of each group.
    shows_judged : bool
        Whether tables show Judged@k if some documents are not judged.
    origin : Origin, optional
        The sources of the qrels and the runs.
    notes : mapping of str to sequence of str
        The `run_notes` of each run.
    """

    measures: list[Measure]
    evaluations: Mapping[str, Evaluation]
    of_queries: bool = False
    groups: Groups | None = None
    macro: bool = False
    shows_judged: bool = True
    origin: Origin | None = None
    notes: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise InputError for a measure that has the name of another column."""
        check_headings([*self.labels, "query", "queries", "queries in run", "ignored"], self.measures)

    @property
    def columns(self) -> list[Measure]:
        """All measures, Judged included."""
        return next(iter(self.evaluations.values())).measures

    @cached_property
    def _asked_for(self) -> frozenset[Measure]:
        """The requested measures as a set: a comparison of two measures would compare their texts."""
        return frozenset(self.measures)

    @cached_property
    def shown(self) -> list[Measure]:
        """The requested measures, then Judged by cutoff if it is informative."""
        asked = [measure for measure in self.columns if measure in self._asked_for]
        judged = [measure for measure in self.columns if measure not in self._asked_for]
        means = [evaluation.aggregated for evaluation in self.evaluations.values()]
        partly = [measure for measure in judged if not all(mean[measure] >= 1 - SUM_NOISE for mean in means)]
        partly = partly if self.shows_judged and not self.all_relevant else []
        return [*asked, *sorted(partly, key=lambda measure: cutoff_of(measure) or math.inf)]

    @property
    def labels(self) -> list[str]:
        """The headings of the columns with labels."""
        if self.of_queries:
            return ["run", "query_id"]
        return ["run"] if self.groups is None else ["run", self.groups.name]

    @cached_property
    def ideal(self) -> Evaluation:
        """The evaluation of ideal rankings, with the highest possible values; NaN without a ceiling."""
        rankings = next(iter(self.evaluations.values())).rankings
        missing = np.full((1, rankings.n_queries), np.nan)
        values = [
            ideal_evaluation(measure, rankings.judgments).values if has_ceiling(measure) else missing
            for measure in self.measures
        ]
        return Evaluation(self.measures, np.concatenate(values), rankings)

    @cached_property
    def ceilings(self) -> dict[Measure, float]:
        """The best possible values that are below 1, by measure."""
        return _below_1(self.ideal.aggregated)

    @cached_property
    def level(self) -> float:
        """The lowest relevant grade over the measures with such a level; 1 if there are none."""
        levels = [values_of(measure).get("rel") for measure in self.measures]
        return min((level for level in levels if level is not None), default=1)

    @cached_property
    def all_relevant(self) -> bool:
        """Whether all labels are relevant to each measure: then Judged@k equals P@k."""
        judgments = next(iter(self.evaluations.values())).rankings.judgments
        return every_label_is_relevant(self.measures, judgments)

    def queries(self, name: str) -> dict[str, int]:
        """Count the queries: judged, in the run, without relevant documents, and ignored."""
        rankings = self.evaluations[name].rankings
        return {
            "judged": rankings.n_queries,
            "in_run": rankings.n_shared,
            "without_relevant": int((rankings.judgments.num_rel(self.level) == 0).sum()),
            "ignored": rankings.n_run_queries - rankings.n_shared,
        }

    def rows(self) -> Iterator[EvaluationRow]:
        """Yield a row for each run, query of a run, or group of queries of a run."""
        for name, evaluation in self.evaluations.items():
            if self.of_queries:
                yield from (
                    EvaluationRow([name, query_id], values, {}) for query_id, values in evaluation.per_query()
                )
            else:
                yield from self.means(name, evaluation, self.queries(name))

    def means(self, name: str, evaluation: Evaluation, queries: dict[str, int]) -> Iterator[EvaluationRow]:
        """Yield a row for each group, and one for all queries."""
        every, groups = list(evaluation.aggregated.values()), self.groups
        if groups is None:
            yield EvaluationRow([name], every, queries)
            return
        if self.macro:
            means = list(groups.macro(evaluation).values())
            yield EvaluationRow([name, MACRO], means, {"judged": sum(groups.sizes)})
        else:
            for (value, by_measure), size in zip(groups.means(evaluation).items(), groups.sizes, strict=True):
                yield EvaluationRow([name, str(value)], list(by_measure.values()), {"judged": size})
        yield EvaluationRow([name, "(all)"], every, {"judged": evaluation.rankings.n_queries})

    def notes_on(self, name: str) -> list[str]:
        """Return all notes on a run."""
        return [*self.notes.get(name, ()), *self.notes_on_queries(name)]

    def notes_on_queries(self, name: str) -> list[str]:
        """Note the missing and the additional queries of a run."""
        return notes_of(name, self.evaluations[name].rankings, self.measures)

    def all_notes(self) -> list[str]:
        """Return the `run_notes` of all runs, which a report shows before the values."""
        return [note for run in self.evaluations for note in self.notes.get(run, ())]

    def headings(self, measures: Iterable[Measure]) -> list[str]:
        """Return the headings of these columns."""
        by_measure = dict(zip(self.columns, headings_of(self.columns), strict=True))
        return [by_measure[measure] for measure in measures]

    @property
    def droppable(self) -> list[str]:
        """The headings of Judged that a narrow table may drop, the one of the first measure last."""
        judged = {*self.shown} - self._asked_for
        return self.headings([measure for measure in reversed(self.columns) if measure in judged])

    def cells(self, measure: Measure, values: Sequence[float], style: Style) -> list[Cell]:
        """Build the cells of a measure, with the best means marked."""
        is_mean = measure in self._asked_for and not is_count(measure) and not self.of_queries
        ranks = best_two(values) if is_mean else [0] * len(values)
        ranked = zip(values, ranks, strict=True)
        return [Cell(value_text(measure, value, style), rank, value=value) for value, rank in ranked]

    def text_of_best(self, measure: Measure, value: float | None, style: Style) -> str:
        """Format the value of an ideal ranking: empty if it is 1 or more, a dash if there is none.

        A value below 1 has more decimals if it would print as 1.
        """
        if value is not None and math.isnan(value):
            return NONE
        if value is None or not _is_below_1(value):
            return ""
        decimals = (n for n in count(style.decimals) if round(value * style.scale, n) < style.scale)
        return value_text(measure, value, style._replace(decimals=next(decimals)))

    def about(self) -> str:
        """Describe the queries, and tell whether all runs have results for them."""
        every = "every run" if len(self.evaluations) > 1 else "the run"
        without_results = f"a query without results {scored_without_results(self.measures)}"
        return f"{self._queries()}; {without_results if self._lacks_results else f'all are in {every}'}"

    @property
    def _lacks_results(self) -> bool:
        """Whether a run has no results for some query."""
        return any((run.rankings.retrieved == 0).any() for run in self.evaluations.values())

    def explanations(self) -> Iterator[str]:
        """Explain headings and labels of a table, and why Judged@k is missing."""
        yield from self._about_judged() if self.shows_judged else ()
        if self.ceilings and not self.of_queries:
            yield f"{BEST.capitalize()}: what an ideal ranking scores, where that is below 1"
        in_table = {*self.shown}
        yield from heading_notes(measure for measure in self.columns if measure in in_table)
        if self.groups is not None and self.macro:
            of_groups = f"{pluralize(len(self.groups.values), 'group')} by {self.groups.name}"
            yield f"{MACRO}: the mean of the means of {of_groups}, each counting once"

    def _about_judged(self) -> Iterator[str]:
        """Explain Judged@k in a table, or why it is missing."""
        in_table = {*self.shown}
        if in_table - self._asked_for:
            yield ABOUT_JUDGED + "; a query without results counts 0" * self._lacks_results
        elif in_table < {*self.columns}:
            yield (
                "Judged@k is left out: all labels are relevant"
                if self.all_relevant
                else "All documents within the cutoffs are judged"
            )

    def _queries(self) -> str:
        queries = self.queries(next(iter(self.evaluations)))
        judged, without = pluralize(queries["judged"], "judged query"), queries["without_relevant"]
        documents = "relevant documents" + ("" if self.level == 1 else f" (labels of {self.level:g} or more)")
        if without == queries["judged"]:
            return f"{judged}, none with relevant documents: no label reaches {self.level:g}"
        if not without:
            return f"{judged}, {'each ' if queries['judged'] > 1 else ''}with {documents}"
        return f"{judged}, {without:,} of them without {documents}"


# --- other programs ------------------------------------------------------------------------------------


def objects(evaluated: Evaluations) -> Iterator[dict[str, Any]]:
    """Yield a JSON object per run."""
    for name, evaluation in evaluated.evaluations.items():
        means = _named(evaluation.measures, evaluation.aggregated.values())
        content: dict[str, Any] = {
            "run": name,
            "metrics": {name_of(measure): means[name_of(measure)] for measure in evaluated.measures},
            "judged": {name_of(m): means[name_of(m)] for m in evaluation.measures if spec_of(m).about_labels},
            "ceilings": _named(evaluated.ceilings, evaluated.ceilings.values()),
            "queries": evaluated.queries(name),
        }
        if evaluated.of_queries:
            content["by_query"] = {
                query_id: _named(evaluation.measures, values) for query_id, values in evaluation.per_query()
            }
        if evaluated.groups is not None:
            groups = _objects_of_groups(evaluated, evaluated.groups, name)
            content |= {"by": evaluated.groups.name, "groups": list(groups)}
        yield content


def _objects_of_groups(evaluated: Evaluations, groups: Groups, name: str) -> Iterator[dict[str, Any]]:
    """Yield a JSON object for each group of a run, with the best possible values below 1."""
    ideal = {MACRO: groups.macro(evaluated.ideal)} if evaluated.macro else groups.means(evaluated.ideal)
    evaluation = evaluated.evaluations[name]
    for value, row in zip(ideal, evaluated.means(name, evaluation, {}), strict=False):  # without (all)
        best = _below_1(ideal[value])
        yield {
            "group": value if type(value) in (int, str) else str(value),
            "queries": row.queries["judged"],
            "metrics": _named(evaluation.measures, row.values),
            "ceilings": _named(best, best.values()),
        }


def _below_1(ideal: Mapping[Measure, float]) -> dict[Measure, float]:
    """Select the best possible values that are below 1 by more than rounding."""
    return {measure: value for measure, value in ideal.items() if _is_below_1(value)}


def _is_below_1(value: float) -> bool:
    return value < 1 - SUM_NOISE


def _named(measures: Iterable[Measure], values: Iterable[float]) -> dict[str, float | None]:
    """Map the names of measures to values, with None for NaN, which JSON does not have."""
    or_none = [None if math.isnan(value) else value for value in values]
    return dict(zip(map(name_of, measures), or_none, strict=True))


def content_of(evaluated: Evaluations) -> list[dict[str, Any]]:
    """Return the content of the JSON: an object per run, with its notes and its provenance."""
    origin, content = provenance(evaluated.columns, evaluated.origin), []
    for of_run in objects(evaluated):
        run = of_run["run"]
        inputs = [file for file in origin.get("inputs", []) if file.get("name", run) == run]
        about = {**origin, "inputs": inputs} if inputs else origin
        content.append({**of_run, "notes": evaluated.notes_on(run), "provenance": about})
    return content


def evaluation_records(evaluated: Evaluations) -> Iterator[dict[str, Any]]:
    """Yield the rows of CSV, TSV and JSONL: labels, values by name of the measure, counts of queries."""
    names = [*evaluated.labels, *map(name_of, evaluated.columns)]
    for row in evaluated.rows():
        counts = {f"queries_{key}": count for key, count in row.queries.items()}
        if twice := [name for name in names if names.count(name) > 1 or name in counts]:
            hint = "Give the measure another name: NAME=MEASURE"
            raise InputError(f"two columns would be named {twice[0]!r}", hint=hint)
        values = [None if math.isnan(value) else value for value in row.values]
        yield {**dict(zip(names, [*row.labels, *values], strict=True)), **counts}
