"""Evaluations as tables, for a terminal and for other programs."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import ir_measures
from ir_measures.measures import Measure

from permed_measures.engine import Evaluation, ceiling
from permed_measures.parameters import cutoff_of

__all__ = ["FORMATS", "Report", "meaning", "with_judged"]


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
    """Return what a measure says, in a line."""
    return str(getattr(measure, "SHORT_DESC", ""))


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
    """

    measures: list[Measure]
    evaluations: Mapping[str, Evaluation]
    by_query: bool = False

    @property
    def columns(self) -> list[Measure]:
        """All measures, Judged included."""
        return next(iter(self.evaluations.values())).measures

    @property
    def ceilings(self) -> dict[Measure, float]:
        """The best possible value of each measure where that is below 1."""
        judgments = next(iter(self.evaluations.values())).rankings.judgments
        ceilings = {measure: ceiling(measure, judgments) for measure in self.measures}
        return {measure: value for measure, value in ceilings.items() if value < 1 - 1e-12}

    def queries(self, name: str) -> dict[str, int]:
        """Return how many queries are judged, in the run, without relevant documents, and ignored."""
        rankings = self.evaluations[name].rankings
        return {
            "judged": rankings.n_queries,
            "in_run": rankings.n_answered,
            "without_relevant": int((rankings.judgments.num_rel(1) == 0).sum()),
            "ignored": rankings.n_run_queries - rankings.n_answered,
        }

    def legend(self) -> dict[str, str]:
        """Return what each column and line of the table means."""
        return {
            **{str(measure): meaning(measure) for measure in self.columns},
            "queries in run": "How many of the judged queries the run answers; the others score 0.",
            "ignored": "Queries of the run without judgments; they do not count.",
            "best possible": "What an ideal ranking of these judgments scores, where that is below 1.",
        }

    def rows(self) -> Iterator[tuple[list[str], list[float]]]:
        """Yield the labels (run, and query if by query) and the values of each row."""
        for name, evaluation in self.evaluations.items():
            if self.by_query:
                yield from (([name, query_id], values) for query_id, values in evaluation.per_query())
            else:
                yield [name], list(evaluation.aggregated.values())

    def objects(self) -> Iterator[dict[str, Any]]:
        """Yield a JSON object per run."""
        for name, evaluation in self.evaluations.items():
            means = _json_values(evaluation.measures, evaluation.aggregated.values())
            content = {
                "run": name,
                "metrics": {str(measure): means[str(measure)] for measure in self.measures},
                "judged": {key: value for key, value in means.items() if key.startswith("Judged")},
                "ceilings": {str(measure): value for measure, value in self.ceilings.items()},
                "queries": self.queries(name),
            }
            if self.by_query:
                content["by_query"] = {
                    query_id: _json_values(evaluation.measures, values)
                    for query_id, values in evaluation.per_query()
                }
            yield content


def _json_values(measures: Iterable[Measure], values: Iterable[float]) -> dict[str, float | None]:
    """Return the values by the measures' names; JSON has no NaN, so that is null."""
    pairs = zip(measures, values, strict=True)
    return {str(measure): None if math.isnan(value) else value for measure, value in pairs}


def _json(report: Report) -> str:
    return json.dumps(list(report.objects()), ensure_ascii=False, indent=2) + "\n"


def _jsonl(report: Report) -> str:
    objects: Iterable[dict[str, Any]] = report.objects()
    if report.by_query:
        objects = (
            {"run": name, "query_id": query_id, "metrics": _json_values(report.columns, values)}
            for (name, query_id), values in report.rows()
        )
    return "".join(json.dumps(content, ensure_ascii=False) + "\n" for content in objects)


def _tsv(report: Report) -> str:
    text = io.StringIO()
    writer = csv.writer(text, dialect="excel-tab", lineterminator="\n")
    labels = ["run", "query_id"] if report.by_query else ["run"]
    counts = (
        []
        if report.by_query
        else [f"queries_{key}" for key in report.queries(next(iter(report.evaluations)))]
    )
    writer.writerow([*labels, *report.columns, *counts])
    for names, values in report.rows():
        writer.writerow([*names, *values, *([] if report.by_query else report.queries(names[0]).values())])
    return text.getvalue()


def _table(report: Report) -> str:
    """Return the table as text: as wide as the terminal, or as wide as it needs to be where there is none."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    terminal = sys.stdout.isatty()
    console = Console(
        file=io.StringIO(), width=None if terminal else 10_000, force_terminal=terminal, highlight=False
    )
    rows = _rows(report)
    headings = [*(("run", "query") if report.by_query else ("run",)), *map(str, report.columns)]
    headings += [] if report.by_query else ["queries in run", "ignored"]
    widths = _widths(headings, rows, console.width)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, collapse_padding=True)
    for heading, width in zip(headings, widths, strict=True):
        left = heading in ("run", "query")
        table.add_column(Text(heading), justify="left" if left else "right", overflow="fold", width=width)
    for row in rows:
        table.add_row(*map(Text, row), style="dim" if row[0] == _BEST else None)
    console.width = max(console.width, sum(widths) + 2 * len(widths))
    console.print(table)
    queries = report.queries(next(iter(report.evaluations)))
    console.print(
        f"\n{queries['judged']:,} judged queries, {queries['without_relevant']:,} of them without relevant "
        "documents; a query that is not in the run scores 0."
    )
    output: str = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in output.strip("\n").split("\n")) + "\n"


_BEST = "best possible"


def _rows(report: Report) -> list[list[str]]:
    """Return the cells of each row; last what is best possible, where that is below 1."""
    rows = []
    for names, values in report.rows():
        rows.append([*names, *map(_shown, report.columns, values)])
        if not report.by_query:
            queries = report.queries(names[0])
            rows[-1] += [f"{queries['in_run']:,} of {queries['judged']:,}", f"{queries['ignored']:,}"]
    ceilings = report.ceilings
    if ceilings and not report.by_query:
        best = [_shown(m, ceilings[m]) if m in ceilings else "" for m in report.columns]
        rows.append([_BEST, *best, "", ""])
    return rows


def _widths(headings: list[str], rows: list[list[str]], available: int) -> list[int]:
    """Return the width of each column: headings are folded to what room there is, but no value is."""
    needed = [max(map(len, column)) for column in zip(*rows, strict=True)]
    natural = [max(len(heading), width) for heading, width in zip(headings, needed, strict=True)]
    widths = natural
    for most in range(max(natural), 5, -1):
        widths = [max(width, min(full, most)) for width, full in zip(needed, natural, strict=True)]
        if sum(widths) + 2 * len(widths) <= available:
            break
    return widths


def _shown(measure: Measure, value: float) -> str:
    """Return a value as the table has it: counts whole, anything else with four digits."""
    return f"{value:,.0f}" if measure.NAME in ("NumQ", "NumRet", "NumRel") else f"{value:.4f}"


FORMATS: dict[str, Callable[[Report], str]] = {
    "table": _table,
    "tsv": _tsv,
    "jsonl": _jsonl,
    "json": _json,
}
"""How a report can be printed."""
