"""Evaluations as tables, for a terminal and for other programs."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import ir_measures
import numpy as np
from ir_measures.measures import Measure

from permed_measures.engine.evaluator import Evaluation, ideal_evaluation
from permed_measures.engine.groups import Groups
from permed_measures.files.provenance import Origin, provenance
from permed_measures.markup import as_cell, as_json, counted
from permed_measures.measures.headings import explained, headings_of, name_of
from permed_measures.measures.parameters import cutoff_of
from permed_measures.terminal import Styled, paragraph, terminal_table


def with_judged(measures: Iterable[Measure]) -> list[Measure]:
    """Return the measures, followed by Judged@k for each cutoff k among them.

    A run that was not pooled has unjudged documents, which count as not relevant: a low value beside a low
    share of judged documents says little.
    """
    measures = list(measures)
    cutoffs = dict.fromkeys(cutoff_of(m) for m in measures if "cutoff" in m.SUPPORTED_PARAMS)
    judged = [ir_measures.Judged if k is None else ir_measures.Judged @ k for k in cutoffs]
    return list(dict.fromkeys([*measures, *judged]))


def meaning(measure: Measure) -> str:
    """Describe a measure in a line."""
    return str(getattr(measure, "SHORT_DESC", ""))


class Row(NamedTuple):
    """A row of a table.

    Attributes
    ----------
    labels : list of str
        The run, and the query or the group.
    values : list of float
        By the columns.
    queries : dict of str to int
        The number of queries.
    """

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
    """

    measures: list[Measure]
    evaluations: Mapping[str, Evaluation]
    by_query: bool = False
    groups: Groups | None = None
    macro: bool = False
    origin: Origin | None = None

    @property
    def columns(self) -> list[Measure]:
        """All measures, Judged included."""
        return next(iter(self.evaluations.values())).measures

    @property
    def labels(self) -> list[str]:
        """The headings of the labels."""
        if self.by_query:
            return ["run", "query_id"]
        return ["run"] if self.groups is None else ["run", self.groups.name]

    @cached_property
    def ideal(self) -> Evaluation:
        """The evaluation of an ideal ranking."""
        judgments = next(iter(self.evaluations.values())).rankings.judgments
        evaluations = [ideal_evaluation(measure, judgments) for measure in self.measures]
        values = np.concatenate([evaluation.values for evaluation in evaluations])
        return Evaluation(self.measures, values, evaluations[0].rankings)

    @property
    def ceilings(self) -> dict[Measure, float]:
        """The best possible value of each measure where that is below 1."""
        return {measure: value for measure, value in self.ideal.aggregated.items() if value < 1 - 1e-12}

    def queries(self, name: str) -> dict[str, int]:
        """Count the queries: judged, in the run, without relevant documents, and ignored."""
        rankings = self.evaluations[name].rankings
        return {
            "judged": rankings.n_queries,
            "in_run": rankings.n_answered,
            "without_relevant": int((rankings.judgments.num_rel(1) == 0).sum()),
            "ignored": rankings.n_run_queries - rankings.n_answered,
        }

    def legend(self) -> dict[str, str]:
        """Explain each column and line of the table."""
        best = "What an ideal ranking of these judgments scores, where that is below 1."
        return {
            **dict(zip(headings_of(self.columns), map(meaning, self.columns), strict=True)),
            "queries in run": "How many of the judged queries the run answers; the others score 0.",
            "ignored": "Queries of the run without judgments; they do not count.",
            **({_BEST: best} if self.ceilings else {}),
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
            yield Row([name], every, queries)
            return
        if self.macro:
            means = list(groups.macro(evaluation).values())
            yield Row([name, _MACRO], means, {"judged": sum(groups.sizes)})
        else:
            for (value, by_measure), size in zip(groups.means(evaluation).items(), groups.sizes, strict=True):
                yield Row([name, str(value)], list(by_measure.values()), {"judged": size})
        yield Row([name, "(all)"], every, {"judged": evaluation.rankings.n_queries})

    def objects(self) -> Iterator[dict[str, Any]]:
        """Yield a JSON object per run."""
        for name, evaluation in self.evaluations.items():
            means = _json_values(evaluation.measures, evaluation.aggregated.values())
            content: dict[str, Any] = {
                "run": name,
                "metrics": {name_of(measure): means[name_of(measure)] for measure in self.measures},
                "judged": {key: value for key, value in means.items() if key.startswith("Judged")},
                "ceilings": {name_of(measure): value for measure, value in self.ceilings.items()},
                "queries": self.queries(name),
            }
            if self.by_query:
                content["by_query"] = {
                    query_id: _json_values(evaluation.measures, values)
                    for query_id, values in evaluation.per_query()
                }
            if self.groups is not None:
                content |= {"by": self.groups.name, "groups": list(self.objects_of_groups(self.groups, name))}
            yield content

    def objects_of_groups(self, groups: Groups, name: str) -> Iterator[dict[str, Any]]:
        """Yield a JSON object for each group of a run, with the best possible values below 1."""
        best = {_MACRO: groups.macro(self.ideal)} if self.macro else groups.means(self.ideal)
        evaluation = self.evaluations[name]
        for value, row in zip(best, self.means(name, evaluation, {}), strict=False):  # without (all)
            yield {
                "group": value if type(value) in (int, str) else str(value),
                "queries": row.queries["judged"],
                "metrics": _json_values(evaluation.measures, row.values),
                "ceilings": {name_of(m): v for m, v in best[value].items() if v < 1 - 1e-12},
            }


def _json_values(measures: Iterable[Measure], values: Iterable[float]) -> dict[str, float | None]:
    """Return the values by the names of the measures; NaN, which JSON does not have, is null."""
    pairs = zip(measures, values, strict=True)
    return {name_of(measure): None if math.isnan(value) else value for measure, value in pairs}


def _json(report: Report) -> str:
    """Write an object per run, with the provenance of its values."""
    origin, objects = provenance(report.columns, report.origin), []
    for content in report.objects():
        of_run = [
            each for each in origin.get("inputs", []) if each.get("name", content["run"]) == content["run"]
        ]
        content["provenance"] = {**origin, "inputs": of_run} if of_run else origin
        objects.append(content)
    return as_json(objects, indent=2) + "\n"


def _jsonl(report: Report) -> str:
    objects: Iterable[dict[str, Any]] = report.objects()
    if report.by_query:
        objects = (
            {"run": name, "query_id": query_id, "metrics": _json_values(report.columns, values)}
            for (name, query_id), values, _ in report.rows()
        )
    elif report.groups is not None:
        objects = (
            {"run": name, "by": report.groups.name, **content}
            for name in report.evaluations
            for content in report.objects_of_groups(report.groups, name)
        )
    return "".join(as_json(content) + "\n" for content in objects)


def _tsv(report: Report) -> str:
    text = io.StringIO()
    writer = csv.writer(text, dialect="excel-tab", lineterminator="\n")
    rows = list(report.rows())
    counts = [f"queries_{key}" for key in rows[0].queries] if rows else []
    writer.writerow([*map(as_cell, report.labels), *map(name_of, report.columns), *counts])
    writer.writerows([*map(as_cell, row.labels), *row.values, *row.queries.values()] for row in rows)
    return text.getvalue()


def _table(report: Report) -> str:
    """Write the table for a terminal."""
    labels = ["run", "query"] if report.by_query else report.labels
    headings = [*labels, *headings_of(report.columns)]
    if not report.by_query:
        headings += ["queries in run", "ignored"] if report.groups is None else ["queries"]
    rows = [[Styled(cell, "dim" if row[0] == _BEST else "") for cell in row] for row in _rows(report)]
    queries = report.queries(next(iter(report.evaluations)))
    judged = counted(queries["judged"], "judged query")
    return (
        f"{terminal_table(headings, rows, len(labels))}\n"
        f"{judged}, {queries['without_relevant']:,} of them without relevant documents; a query that is not "
        "in the run scores 0.\n" + "".join(f"{paragraph(text)}\n" for text in _explanations(report))
    )


def _explanations(report: Report) -> Iterator[str]:
    """Yield what headings and labels stand for."""
    yield from explained(report.columns)
    if report.groups is not None and report.macro:
        groups = counted(len(report.groups.values), "group")
        yield f"{_MACRO}: the mean of the means of {groups} by {report.groups.name}, each counting once"


_BEST = "best possible"
_MACRO = "(macro)"


def _rows(report: Report) -> list[list[str]]:
    """Return the cells of each row; the last rows are the best possible values, where below 1."""
    rows = [
        [*row.labels, *map(_shown, report.columns, row.values), *_shown_queries(row.queries)]
        for row in report.rows()
    ]
    if not report.ceilings or report.by_query:
        return rows
    for row in report.means(_BEST, report.ideal, {}):
        best = dict(zip(report.measures, row.values, strict=True))
        cells = [_shown(m, best[m]) if m in report.ceilings else "" for m in report.columns]
        rows.append([*row.labels, *cells, *(_shown_queries(row.queries) or ["", ""])])
    return rows


def _shown_queries(queries: dict[str, int]) -> list[str]:
    if "in_run" in queries:
        return [f"{queries['in_run']:,} of {queries['judged']:,}", f"{queries['ignored']:,}"]
    return [f"{count:,}" for count in queries.values()]


def _shown(measure: Measure, value: float) -> str:
    """Format a value: counts whole, anything else with four digits."""
    return f"{value:,.0f}" if measure.NAME in ("NumQ", "NumRet", "NumRel") else f"{value:.4f}"


EVALUATION_FORMATS: dict[str, Callable[[Report], str]] = {
    "table": _table,
    "tsv": _tsv,
    "jsonl": _jsonl,
    "json": _json,
}
"""The formats of an evaluation."""
