"""What a cross-check found, and its report."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from typing import Any

from ir_measures.measures import Measure

from permed_measures.engine.ties import ALL_ORDERS, THREE_ORDERS
from permed_measures.files.provenance import Origin, provenance
from permed_measures.markup import counted, listed
from permed_measures.measures.headings import name_of
from permed_measures.measures.parameters import alias_of
from permed_measures.results.findings import grouped
from permed_measures.results.how import how_made, titled
from permed_measures.results.report import Report, Result, Section
from permed_measures.results.table import NONE, Cell, Table


@dataclass(frozen=True)
class Row:
    """How a measure compares.

    Attributes
    ----------
    measure : Measure
    value : float
        Our mean over all queries of the qrels.
    ties : (float, float)
        The least and the most of this mean over orders of equal scores; some order gives them.
    ties_exact : bool
        Whether no order gives a mean beyond them.
    pytrec_eval : float
        The mean over all queries, with our value where only we score the query. NaN if not compared.
    largest_difference : float
        Over the queries. NaN if not compared.
    query_id : str or None
        The query that differs most, if one does.
    queries, differing : int
        How many queries both computed, and how many differ by more than 1e-9.
    reason : str
        Why the measure was not compared, if it was not.
    per_query : dict of str to (float, float)
        Our value and pytrec_eval's, for each query that both computed.
    """

    measure: Measure
    value: float
    ties: tuple[float, float]
    ties_exact: bool
    pytrec_eval: float = math.nan
    largest_difference: float = math.nan
    query_id: str | None = None
    queries: int = 0
    differing: int = 0
    reason: str = ""
    per_query: dict[str, tuple[float, float]] = field(default_factory=dict, repr=False)

    @property
    def verdict(self) -> str:
        """Whether it ``agrees`` or ``differs``, or was ``not compared``."""
        return "not compared" if self.reason else "differs" if self.differing else "agrees"


@dataclass(frozen=True)
class CrossCheck(Result):
    """The outcome of a cross-check; ``print`` shows it as a table.

    ``to_polars`` and ``to_pandas`` give a row for each measure, with the columns of `Row` but for
    ``per_query``.

    Attributes
    ----------
    rows : list of Row
        One for each measure.
    n_queries : int
        Queries of the qrels.
    alone : int
        Queries that only we score: not in the run, with negative grades only, or with ids that pytrec_eval
        cannot take.
    """

    rows: list[Row]
    n_queries: int
    alone: int

    @property
    def ok(self) -> bool:
        """Whether no measure differs."""
        return not any(row.differing for row in self.rows)

    def report(self) -> Report:
        """Return what pytrec_eval agrees on, a row for each measure, and what it does not have."""
        return crosscheck_report({"": self})

    def __repr__(self) -> str:
        """Name the verdict and the measures."""
        measures = ", ".join(name_of(row.measure) for row in self.rows)
        return f"<CrossCheck: {_verdict(self.rows)}, {counted(self.n_queries, 'judged query')}: {measures}>"

    def _records(self) -> list[dict[str, Any]]:
        return list(map(_record, self.rows))


def _record(row: Row) -> dict[str, Any]:
    low, high = row.ties
    replaced = {"measure": name_of(row.measure), "verdict": row.verdict, "ties_low": low, "ties_high": high}
    fields = {name: value for name, value in vars(row).items() if name not in ("ties", "per_query")}
    return {name: None if value != value else value for name, value in {**fields, **replaced}.items()}


_HEADINGS = ["measure", "ours", "pytrec_eval", "largest |Δ|", "ties"]


def _cells(rows: list[Row]) -> list[list[str | Cell]]:
    cells: list[list[str | Cell]] = []
    for row in rows:
        theirs = [NONE, NONE] if row.reason else [f"{row.pytrec_eval:.4f}", f"{row.largest_difference:.0e}"]
        ours, low, high = (f"{value:.4f}" for value in (row.value, *row.ties))
        ties = "same" if low == high == ours else f"{low} {high}"
        star = "" if row.ties_exact else "*"
        cells.append([name_of(row.measure), ours, *theirs, Cell(ties, mark=star)])
    return cells


def _verdict(rows: list[Row]) -> str:
    compared = [row for row in rows if not row.reason]
    if not compared:
        return "No measure was compared"
    n_differing, measures = sum(row.differing > 0 for row in compared), counted(len(compared), "measure")
    return f"pytrec_eval {f'differs on {n_differing:,} of' if n_differing else 'agrees on'} {measures}"


def crosscheck_report(results: Mapping[str, CrossCheck], origin: Origin | None = None) -> Report:
    """Report the cross-checks of runs: a section for each."""
    measures = list(dict.fromkeys(row.measure for result in results.values() for row in result.rows))
    n_queries = next(iter(results.values())).n_queries
    return Report(
        titled(origin, len(results), n_queries),
        [
            f"{name}: {_verdict(each.rows)}." if name else f"{_verdict(each.rows)}."
            for name, each in results.items()
        ],
        [*(_section(name, each) for name, each in results.items()), Section(texts=_explained(results))],
        data=lambda: {
            "ok": all(result.ok for result in results.values()),
            "runs": [_content(name, result) for name, result in results.items()],
            "provenance": provenance(measures, origin, packages=_PACKAGES),
        },
        rows=lambda: [
            {**({"run": name} if name else {}), **row}
            for name, each in results.items()
            for row in each._records()
        ],
        how=partial(how_made, measures, origin, packages=_PACKAGES),
    )


_PACKAGES = ["pytrec-eval-terrier"]


def _section(name: str, result: CrossCheck) -> Section:
    summary = (
        f"{counted(result.n_queries, 'judged query')}, {result.alone:,} of them scored by us alone; "
        f"pytrec-eval-terrier {version('pytrec-eval-terrier')}"
    )
    rows = result.rows
    absent = grouped((row.reason, name_of(row.measure)) for row in rows if row.reason)
    texts = [_difference(row) for row in rows if row.differing]
    texts += [f"Not compared: {listed(names)} ({reason})." for reason, names in absent.items()]
    table = Table.of(_HEADINGS, _cells(rows), caption=summary, label="crosscheck")
    return Section(name, tables=[table], texts=texts)


def _explained(results: Mapping[str, CrossCheck]) -> list[str]:
    """Say what names and ranges are."""
    rows = [row for result in results.values() for row in result.rows]
    tied = any(row.ties != (row.value, row.value) for row in rows)
    some = not all(row.ties_exact for row in rows)
    names = dict.fromkeys(row.measure for row in rows if alias_of(row.measure))
    texts = [f"{name_of(measure)} is {measure}." for measure in names]
    texts += [f"Ties: {ALL_ORDERS}."] if tied or some else []
    return [*texts, *([f"{THREE_ORDERS}."] if some else [])]


def _difference(row: Row) -> str:
    ours, theirs = row.per_query[str(row.query_id)]
    where = f"{name_of(row.measure)} differs on {row.differing:,} of {counted(row.queries, 'query')}"
    return f"{where}, most on {row.query_id!r}: ours {ours:.6g}, pytrec_eval {theirs:.6g}."


def _content(name: str, result: CrossCheck) -> dict[str, Any]:
    return {
        "run": name or "run",
        "ok": result.ok,
        "queries": result.n_queries,
        "alone": result.alone,
        "measures": result._records(),
    }
