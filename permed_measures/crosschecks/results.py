"""What a cross-check found, as text and JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

from ir_measures.measures import Measure

from permed_measures.engine.ties import ALL_ORDERS, THREE_ORDERS
from permed_measures.errors import check_choice
from permed_measures.files.provenance import Origin, provenance
from permed_measures.frames import Tabular
from permed_measures.markup import as_json, counted, html_section, html_table
from permed_measures.measures.headings import name_of
from permed_measures.measures.parameters import alias_of
from permed_measures.results.table import NONE
from permed_measures.terminal import section, terminal_table


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
class CrossCheck(Tabular):
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

    def __str__(self) -> str:
        """Return the verdict, the table, and what stands below it."""
        verdict, *below = (section(heading, texts) for heading, texts in _sections(self).items())
        return "\n".join([verdict, terminal_table(_HEADINGS, _cells(self.rows), 1), *below]).rstrip("\n")

    def to(self, form: str) -> str:
        """Write it as ``table`` or ``json``.

        Raises
        ------
        InputError
            For another form.
        """
        check_choice("form", form, CROSSCHECK_FORMATS)
        return CROSSCHECK_FORMATS[form]({"run": self}, Origin())

    def __repr__(self) -> str:
        """Name the verdict and the measures."""
        measures = ", ".join(name_of(row.measure) for row in self.rows)
        return f"<CrossCheck: {_verdict(self.rows)}, {counted(self.n_queries, 'judged query')}: {measures}>"

    def _repr_html_(self) -> str:
        """Return the outcome for a notebook."""
        verdict, *below = _sections(self).items()
        table = html_table(_HEADINGS, _cells(self.rows), 1)
        return html_section(*verdict, is_open=True) + table + "".join(html_section(*each) for each in below)

    def _records(self) -> list[dict[str, Any]]:
        return list(map(_record, self.rows))


def _record(row: Row) -> dict[str, Any]:
    low, high = row.ties
    replaced = {"measure": name_of(row.measure), "verdict": row.verdict, "ties_low": low, "ties_high": high}
    fields = {name: value for name, value in vars(row).items() if name not in ("ties", "per_query")}
    return {name: None if value != value else value for name, value in {**fields, **replaced}.items()}


_HEADINGS = ["measure", "ours", "pytrec_eval", "largest |Δ|", "ties"]


def _cells(rows: list[Row]) -> list[list[str]]:
    cells = []
    for row in rows:
        theirs = [NONE, NONE] if row.reason else [f"{row.pytrec_eval:.4f}", f"{row.largest_difference:.0e}"]
        ours, low, high = (f"{value:.4f}" for value in (row.value, *row.ties))
        ties = "same" if low == high == ours else f"{low} {high}"
        cells.append([name_of(row.measure), ours, *theirs, ties + "*" * (not row.ties_exact)])
    return cells


def _verdict(rows: list[Row]) -> str:
    compared = [row for row in rows if not row.reason]
    if not compared:
        return "no measure was compared"
    n_differing, measures = sum(row.differing > 0 for row in compared), counted(len(compared), "measure")
    return f"pytrec_eval {f'differs on {n_differing:,} of' if n_differing else 'agrees on'} {measures}"


def _sections(result: CrossCheck) -> dict[str, list[str]]:
    """Return paragraphs by their heading: the verdict, then what stands below the table."""
    rows = result.rows
    summary = (
        f"{counted(result.n_queries, 'judged query')}, {result.alone:,} of them scored by us alone; "
        f"pytrec-eval-terrier {version('pytrec-eval-terrier')}"
    )
    tied = any(row.ties != (row.value, row.value) for row in rows)
    some = not all(row.ties_exact for row in rows)
    found = {
        _verdict(rows): [summary],
        "Differences": [_difference(row) for row in rows if row.differing],
        "Not compared": [f"{name_of(row.measure)}: {row.reason}" for row in rows if row.reason],
        "Names": [f"{name_of(row.measure)} is {row.measure}" for row in rows if alias_of(row.measure)],
        "Ties": [*([ALL_ORDERS] if tied or some else []), *([THREE_ORDERS] if some else [])],
    }
    return {heading: texts for heading, texts in found.items() if texts}


def _difference(row: Row) -> str:
    ours, theirs = row.per_query[str(row.query_id)]
    where = f"{name_of(row.measure)} differs on {row.differing:,} of {counted(row.queries, 'query')}"
    return f"{where}, most on {row.query_id!r}: ours {ours:.6g}, pytrec_eval {theirs:.6g}"


def _as_text(results: Mapping[str, CrossCheck], _: Origin) -> str:
    return "\n".join(f"{section(name, [])}\n{result}\n" for name, result in results.items())


def _as_json(results: Mapping[str, CrossCheck], origin: Origin) -> str:
    runs = [
        {
            "run": name,
            "ok": result.ok,
            "queries": result.n_queries,
            "alone": result.alone,
            "measures": result._records(),
        }
        for name, result in results.items()
    ]
    measures = list(dict.fromkeys(row.measure for result in results.values() for row in result.rows))
    content = {
        "ok": all(result.ok for result in results.values()),
        "runs": runs,
        "provenance": provenance(measures, origin, packages=["pytrec-eval-terrier"]),
    }
    return as_json(content, indent=2, allow_nan=False) + "\n"


CROSSCHECK_FORMATS: dict[str, Callable[[Mapping[str, CrossCheck], Origin], str]] = {
    "table": _as_text,
    "json": _as_json,
}
"""The formats of the cross-checks of several runs, by name."""
