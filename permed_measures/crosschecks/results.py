"""What a cross-check found: as text, JSON, HTML and a page, and as frames."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

from ir_measures.measures import Measure

from permed_measures.errors import check_choice
from permed_measures.files.provenance import Origin, provenance
from permed_measures.frames import Tabular
from permed_measures.markup import as_json, counted, html_section, html_table, listed
from permed_measures.measures.headings import name_of
from permed_measures.measures.parameters import own_name
from permed_measures.pages.display import Shown
from permed_measures.pages.words import page_words
from permed_measures.reports.result_page import Part, how_made, result_page, text_table, titled
from permed_measures.terminal import section, terminal_table


@dataclass(frozen=True)
class Row:
    """How a measure compares.

    Attributes
    ----------
    measure : Measure
        What was asked for.
    value : float
        Its mean over all queries of the qrels.
    least, most : float
        That mean in the least and the most favourable order of ties.
    tied_queries : int
        Queries with equal scores that begin within the cutoff of the measure.
    compared : str
        What was compared: the measure, or an identity (``GradedAP(gains={1:1,2:1})@10 = AP@10``).
    ours, theirs : float
        The means of what was compared, over all queries; a query that only we score has our value in both.
        NaN if not cross-checked.
    largest_difference : float
        Over the queries.
    queries, differing : int
        How many queries both computed, and how many differ by more than 1e-9.
    verdict : str
        ``agrees``, ``differs``, or ``not cross-checked: `` and why.
    query_id, cause : str or None
        The query that differs most, and what explains it.
    per_query : dict of str to (float, float)
        Our value and pytrec_eval's of what was compared, for each query that both computed.
    """

    measure: Measure
    value: float
    least: float
    most: float
    tied_queries: int
    compared: str = ""
    verdict: str = ""
    ours: float = math.nan
    theirs: float = math.nan
    largest_difference: float = math.nan
    queries: int = 0
    differing: int = 0
    query_id: str | None = None
    cause: str | None = None
    per_query: dict[str, tuple[float, float]] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class CrossCheck(Tabular, Shown):
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
        return not any(row.verdict == "differs" for row in self.rows)

    def __str__(self) -> str:
        """Return the verdict, the table, the cause of each difference, and what ties could change."""
        table = terminal_table(_HEADINGS, _cells(self.rows), 2, spare=["pytrec_eval", "ours"])
        verdict, *sections = (section(heading, texts) for heading, texts in _sections(self).items())
        parts = [verdict, table, "".join(sections)]
        tied = [row for row in self.rows if row.tied_queries]
        if tied:
            parts.append(section(_TIES, []) + terminal_table(_TIE_HEADINGS, _tie_cells(tied), 1))
        return "\n".join(part for part in parts if part).rstrip("\n")

    def to(self, form: str) -> str:
        """Write it as ``table``, ``json`` or ``html``, a page.

        Raises
        ------
        InputError
            For another form, or for ``html`` if Jinja2 is missing.
        """
        check_choice("form", form, CROSSCHECK_FORMATS)
        return CROSSCHECK_FORMATS[form]({"run": self}, Origin())

    def __repr__(self) -> str:
        """Name the verdict and the measures."""
        measures = ", ".join(name_of(row.measure) for row in self.rows)
        verdict, queries = next(iter(_sections(self))), counted(self.n_queries, "judged query")
        return f"<CrossCheck: {verdict}, {queries}: {measures}>"

    def _repr_html_(self) -> str:
        """Return the outcome for a notebook."""
        verdict, *others = _sections(self).items()
        tied = [row for row in self.rows if row.tied_queries]
        tables = [html_table(_HEADINGS, _cells(self.rows), 2)]
        tables += [f"<p>{_TIES}</p>", html_table(_TIE_HEADINGS, _tie_cells(tied), 1)] if tied else []
        sections = (html_section(*each) for each in others)
        return "".join([html_section(*verdict, is_open=True), *tables, *sections])

    def _records(self) -> list[dict[str, Any]]:
        rows = ({**vars(row), "measure": name_of(row.measure)} for row in self.rows)
        return [{name: _known(each) for name, each in row.items() if name != "per_query"} for row in rows]


def _known(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


_HEADINGS = ["measure", "verdict", "value", "ours", "pytrec_eval", "largest |Δ|", "differ"]
_TIES = "Equal scores within the cutoff: the mean in the least and most favourable order"
_TIE_HEADINGS = ["measure", "value", "least", "most", "queries with ties"]


def _cells(rows: list[Row]) -> list[list[str]]:
    cells = []
    for row in rows:
        means = [f"{mean:.4f}" if row.queries else "" for mean in (row.ours, row.theirs)]
        counts = [f"{row.largest_difference:.0e}", f"{row.differing:,}"] if row.queries else ["", ""]
        cells.append(
            [name_of(row.measure), row.verdict.partition(":")[0], f"{row.value:.4f}", *means, *counts]
        )
    return cells


def _tie_cells(rows: list[Row]) -> list[list[str]]:
    return [
        [
            name_of(row.measure),
            *(f"{value:.4f}" for value in (row.value, row.least, row.most)),
            f"{row.tied_queries:,}",
        ]
        for row in rows
    ]


def _sections(result: CrossCheck) -> dict[str, list[str]]:
    """Return paragraphs by their heading: the verdict, then what stands below the table."""
    rows = result.rows
    differing = [row for row in rows if row.verdict == "differs"]
    refused = [row for row in rows if row.verdict.startswith("not ")]
    compared = counted(len(rows) - len(refused), "measure")
    verdict = f"pytrec_eval agrees on {compared}" if len(refused) < len(rows) else "no measure was compared"
    if differing:
        verdict = f"pytrec_eval differs on {len(differing):,} of {compared}"
    summary = (
        f"{counted(result.n_queries, 'judged query')}, {result.alone:,} of them scored by us alone; "
        f"pytrec-eval-terrier {version('pytrec-eval-terrier')}"
    )
    found = {
        verdict: [summary],
        "Why they differ": [
            f"{row.compared} differs most on query {row.query_id!r}; {row.cause}" for row in differing
        ],
        "Compared by an identity": [row.compared for row in rows if " = " in row.compared],
        "Names": [f"{name_of(row.measure)} is {row.measure}" for row in rows if own_name(row.measure)],
        "Not cross-checked": [f"{name_of(row.measure)}: {row.verdict.partition(': ')[2]}" for row in refused],
    }
    return {heading: texts for heading, texts in found.items() if texts}


def _as_text(results: Mapping[str, CrossCheck], *_: object) -> str:
    return "\n".join(f"{section(name, [])}\n{result}\n" for name, result in results.items())


def _as_json(results: Mapping[str, CrossCheck], origin: Origin, *_: object) -> str:
    content = {
        "ok": all(result.ok for result in results.values()),
        "runs": [
            {
                "run": name,
                "ok": result.ok,
                "queries": result.n_queries,
                "alone": result.alone,
                "measures": result._records(),
            }
            for name, result in results.items()
        ],
        "provenance": provenance(_measures(results), origin, packages=["pytrec-eval-terrier"]),
    }
    return as_json(content, indent=2, allow_nan=False) + "\n"


def _measures(results: Mapping[str, CrossCheck]) -> list[Measure]:
    return list(dict.fromkeys(row.measure for result in results.values() for row in result.rows))


# --- the page ----------------------------------------------------------------------------------------


def _as_page(results: Mapping[str, CrossCheck], origin: Origin) -> str:
    """Write a page: whether all is equal, and a section for each run."""
    words = page_words()
    n_queries = next(iter(results.values())).n_queries
    return result_page(
        titled(origin, len(results), n_queries, words),
        list(_finding(results, words)),
        [_part(name, result, words, len(results) > 1) for name, result in results.items()],
        how_made(_measures(results), origin, packages=["pytrec-eval-terrier"]),
    )


def _finding(results: Mapping[str, CrossCheck], words: dict[str, str]) -> Iterator[str]:
    """Say how many values were compared, and whether they are equal."""
    compared = [row for result in results.values() for row in result.rows if row.queries]
    differing = {name_of(row.measure): row for row in compared if row.verdict == "differs"}
    n = f"{sum(row.queries for row in compared):,}"
    most = max((row.largest_difference for row in compared), default=0.0)
    largest = f"{most:.0e}" if most else "0"
    if not compared:
        yield words["c_nothing"]
    elif differing:
        n_differing = f"{sum(row.differing for row in compared):,}"
        measures = listed(differing)
        yield words["c_differs"].format(n=n_differing, of=n, measures=measures, largest=largest)
    else:
        n_measures = len({row.measure for row in compared})
        yield words["c_equal"].format(n=n, measures=n_measures, largest=largest)
    left = dict.fromkeys(
        name_of(row.measure)
        for each in results.values()
        for row in each.rows
        if row.verdict.startswith("not ")
    )
    if left and compared:
        yield words["c_left"].format(measures=listed(left))


def _part(name: str, result: CrossCheck, words: dict[str, str], several: bool) -> Part:
    """Return the section of a run."""
    (verdict, summary), *others = _sections(result).items()
    tied = [row for row in result.rows if row.tied_queries]
    tables = [text_table(_HEADINGS, _cells(result.rows), 2, about=verdict, folded=result.ok and several)]
    tables += [text_table(_TIE_HEADINGS, _tie_cells(tied), 1, about=_TIES)] if tied else []
    lists = [(words.get(f"c_{heading}", heading), texts) for heading, texts in others]
    return Part(name, summary[0], tables=tables, lists=lists)


CROSSCHECK_FORMATS: dict[str, Callable[..., str]] = {
    "table": _as_text,
    "json": _as_json,
    "html": _as_page,
}
"""The formats of the cross-checks of several runs, by name: each takes them and their origin."""
