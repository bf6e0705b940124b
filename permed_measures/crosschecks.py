"""Compare our values with pytrec_eval's, query by query: `crosscheck`.

pytrec_eval is C code that checks little. With pytrec-eval-terrier 0.5.11 each of the following inputs crashes
the process, hangs it, or gives values from foreign memory (``tests/test_crosschecks.py`` has them): a cutoff
of 0; a query with negative grades only, or without results; the query ids ``no query`` and ``no_query``,
which it uses itself; an id with a NUL or with invalid Unicode; large grades (its memory grows with the
highest grade, its time with the square); bpref at a relevance level more than one above the highest grade.
Numbers of other types than Python's raise a TypeError.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import version
from locale import localeconv
from typing import Any

import ir_measures
import numpy as np
from ir_measures.measures import Measure

from permed_measures.engine.evaluator import Evaluation, PermedEvaluator, aggregated
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.tables import NamedDict, Nested, file_of, stringify_keys
from permed_measures.engine.ties import ALL_ORDERS, EXPECTED_VALUE, THREE_ORDERS, OverTies, over_ties
from permed_measures.errors import InputError, MeasureError
from permed_measures.inputs.columns import QrelsLike, RunLike
from permed_measures.inputs.door import read_nested
from permed_measures.inputs.runs import runs_by_name
from permed_measures.measures.definitions import LITSEARCH, MEDCORPUS
from permed_measures.measures.headings import alias_notes, name_of
from permed_measures.measures.parameters import values_of
from permed_measures.measures.parsing import MeasuresLike, measures_of, parse_measure
from permed_measures.measures.pytrec import ABSENT, HIGHEST_GRADE, Same
from permed_measures.measures.specs import spec_of
from permed_measures.provenance import Origin, provenance
from permed_measures.results.report import Report, Result, Section, how_made, titled
from permed_measures.results.table import Cell, Table, as_text
from permed_measures.tolerances import AGREEMENT
from permed_measures.wording import grouped, join_names, pluralize

_COMMON = """AP AP@100 nDCG nDCG@10 nDCG@100 P@5 P@10 R@100 RR Rprec Bpref infAP Success@1 Success@5
SetP SetR SetF IPrec@0.1"""

DEFAULT_MEASURES = tuple(dict.fromkeys([*MEDCORPUS, *LITSEARCH, *map(parse_measure, _COMMON.split())]))
"""The measures to check by default: the presets, and the most common measures in papers."""


def default_measures(judgments: Judgments) -> list[Measure]:
    """Return the default measures that accept the grades of these judgments."""
    return [measure for measure in DEFAULT_MEASURES if _accepts(measure, judgments)]


def _accepts(measure: Measure, judgments: Judgments) -> bool:
    try:
        PermedEvaluator([measure], judgments)
    except MeasureError:
        return False
    return True


QrelsValues = Mapping[str, Mapping[str, int]]
RunScores = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class MeasureAgreement:
    """The comparison of a measure.

    Attributes
    ----------
    measure : Measure
    value : float
        Our mean over all queries of the qrels.
    ties : (float, float)
        Minimum and maximum of our mean over orders of equal scores; some order gives each of them.
    ties_exact : bool
        Whether the range is exact: no order gives a mean beyond it.
    ties_expected : float or None
        Our mean over all orders of equal scores, each equally likely; None without a closed form.
    pytrec_eval : float
        The mean over all queries, with our value if only we score the query. NaN if not compared.
    largest_difference : float
        The largest difference of a query. NaN if not compared.
    query_id : str or None
        The query with the largest difference, if there is one above 1e-9.
    values : (float, float) or None
        Our value and pytrec_eval's on this query.
    queries, differing : int
        Number of queries that both computed, and number of differences above 1e-9.
    reason : str
        Why the measure was not compared; empty if it was. Agreement needs a query that both computed.
    """

    measure: Measure
    value: float
    ties: tuple[float, float]
    ties_exact: bool
    ties_expected: float | None = None
    pytrec_eval: float = math.nan
    largest_difference: float = math.nan
    query_id: str | None = None
    values: tuple[float, float] | None = None
    queries: int = 0
    differing: int = 0
    reason: str = ""

    @property
    def verdict(self) -> str:
        """The verdict: ``agrees``, ``differs`` or ``not compared``."""
        return "not compared" if self.reason else "differs" if self.differing else "agrees"


@dataclass(frozen=True)
class CrossCheck(Result):
    """The result of a cross-check; ``print`` shows a table of differences, and names what agrees.

    ``to_polars`` and ``to_pandas`` give a row for each measure, with the columns of `MeasureAgreement`.

    Attributes
    ----------
    rows : list of MeasureAgreement
        One for each measure.
    n_queries : int
        Number of queries of the qrels.
    alone : int
        Number of queries with a value of ours only: not in the run, with negative grades only, or with ids
        that pytrec_eval cannot take; all queries if no measure was compared.
    origin : Origin or None
        The sources of the qrels and the run.
    """

    rows: list[MeasureAgreement]
    n_queries: int
    alone: int
    origin: Origin | None = field(default=None, repr=False)

    @property
    def ok(self) -> bool:
        """Whether no measure differs."""
        return not any(row.differing for row in self.rows)

    def report(self) -> Report:
        """Build the report: a table of differences, and lines on agreement and missing measures."""
        return crosscheck_report({"": self}, self.origin)

    def __repr__(self) -> str:
        """Name the verdict and the measures."""
        measures = ", ".join(name_of(row.measure) for row in self.rows)
        verdict, queries = _verdict(self.rows).partition(",")[0], pluralize(self.n_queries, "judged query")
        return f"<CrossCheck: {verdict}, {queries}: {measures}>"


def crosscheck(
    qrels: QrelsLike, run: RunLike, measures: MeasuresLike | None = None, rel: float | None = None
) -> CrossCheck:
    """Compare our values with pytrec_eval's, query by query.

    Parameters
    ----------
    qrels : QrelsLike
    run : RunLike
    measures : iterable of Measure or str, or one of these, or a dict of name to measure, optional
        If left out, the presets and some measures that papers report often, without measures that do not
        accept these grades. Only identical measures are compared. pytrec_eval may have them under another
        name (Coverage is Success, RR@k is RR where the first relevant document is within k) or on other
        grades (exp-gain nDCG is nDCG on grades 2^g - 1). GradedAP, GAP, QMeasure and others do not exist in
        pytrec_eval, and are not compared.
    rel : number, optional
        As in `calc_aggregate`.

    Returns
    -------
    CrossCheck
        With ``ok`` and ``rows``; its text is a table of differences and a line of agreement. Each row also
        has the range over the orders of ties, and the mean over all orders.

    Raises
    ------
    MeasureError, InputError
        As for an evaluation. Input that pytrec_eval cannot take, or that would crash it, is not passed to it.

    Examples
    --------
    >>> result = crosscheck({"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}, ["RR", "GradedAP@10"])
    >>> result.ok, result.rows[0].ties, [row.verdict for row in result.rows]
    (True, (0.5, 1.0), ['agrees', 'not compared'])
    >>> result.rows[0].ties_expected
    0.75
    """
    origin = Origin.of(qrels, {} if isinstance(run, Mapping) else runs_by_name(run))
    labels, scores = (
        _stringify_keys(read_nested(data, column)) for data, column in ((qrels, "relevance"), (run, "score"))
    )
    judgments = Judgments.of(labels)
    asked = measures_of(default_measures(judgments) if measures is None else measures, rel)
    if not asked:
        raise InputError("there is no measure to compare", hint="Name one, such as 'nDCG@10'")
    evaluation = PermedEvaluator(asked, judgments).evaluate(scores)
    orders = over_ties(evaluation.measures, judgments, scores, evaluation.values)
    longest = max(map(len, scores.values()), default=0)
    rows: list[MeasureAgreement] = []
    by_both: set[str] = set()
    for i, (measure, value) in enumerate(evaluation.aggregated.items()):
        row = MeasureAgreement(measure, value, *_over_ties(measure, orders, i))
        same = same_measure(measure, set(judgments.grade.tolist()), longest)
        if isinstance(same, str):
            rows.append(replace(row, reason=same))
            continue
        pytrec = _values_of_same(same, labels, scores)
        by_both.update(pytrec)
        rows.append(_compared(row, pytrec, evaluation))
    return CrossCheck(rows, len(labels), len(labels) - len(by_both), origin)


def _over_ties(measure: Measure, orders: OverTies, i: int) -> tuple[tuple[float, float], bool, float | None]:
    """Return the range of the mean over orders of ties, whether it is exact, and the expected mean."""
    low, high = (aggregated([measure], ends[None, i])[measure] for ends in (orders.minimum, orders.maximum))
    mean = orders.expected[i]
    expected = None if mean is None else aggregated([measure], mean[None])[measure]
    return (low, high), orders.exact[i], expected


def _stringify_keys(nested: Nested) -> NamedDict:
    named = stringify_keys(nested, "query ids")
    pairs = ((q, dict(stringify_keys(docs, "document ids", query_id=q))) for q, docs in named.items())
    return NamedDict(pairs, file_of(nested))


def _values_of_same(same: Same, qrels: QrelsValues, run: RunScores) -> dict[str, float]:
    """Compute pytrec_eval's value of a measure for each query that it can take."""
    gains = {q: {d: same.gains.get(int(g), int(g)) for d, g in docs.items()} for q, docs in qrels.items()}
    values = _pytrec_values(same.measure, gains, run, same.rel_near_grades)
    if same.recall is not None:
        recall = _pytrec_values(same.recall, gains, run)
        values = {
            query_id: 2 * p * recall[query_id] / ((p + recall[query_id]) or 1)
            for query_id, p in values.items()
        }
    return {query_id: value if value >= same.threshold else 0.0 for query_id, value in values.items()}


def _compared(row: MeasureAgreement, pytrec: dict[str, float], evaluation: Evaluation) -> MeasureAgreement:
    """Add pytrec_eval's mean and the differences to a row."""
    values = evaluation.values[evaluation.measures.index(row.measure)].tolist()
    own_values = dict(zip(evaluation.rankings.judgments.query_ids, values, strict=True))
    if not pytrec:
        return replace(row, reason=NO_QUERY)
    differences = {query_id: abs(own_values[query_id] - value) for query_id, value in pytrec.items()}
    differing = sum(difference > AGREEMENT for difference in differences.values())
    worst = max(differences, key=differences.__getitem__) if differing else None
    return replace(
        row,
        pytrec_eval=aggregated([row.measure], np.array([[*{**own_values, **pytrec}.values()]]))[row.measure],
        largest_difference=max(differences.values()),
        query_id=worst,
        values=None if worst is None else (own_values[worst], pytrec[worst]),
        queries=len(pytrec),
        differing=differing,
    )


# --- the same measure in pytrec_eval -----------------------------------------------------------------

HIGHEST_REL = 2**31 - 1
"""The highest relevance level of pytrec_eval: it is a C int."""
NO_QUERY = "there is no query that both compute"


def same_measure(measure: Measure, grades: set[float], longest: int) -> Same | str:
    """Find the measure of pytrec_eval with the same values, or return the reason why there is none.

    Parameters
    ----------
    measure : Measure
    grades : set of float
        The grades of the qrels.
    longest : int
        The length of the longest list.
    """
    if any(grade != int(grade) for grade in grades):
        return "pytrec_eval takes whole grades only"
    params = values_of(measure)
    if (rel := params.get("rel") or 1) != int(rel):
        return ABSENT
    same = spec_of(measure).pytrec(measure, params, grades, longest)
    if isinstance(same, str):
        return same
    if max([*grades, *same.gains.values()], default=0) > HIGHEST_GRADE:
        return f"pytrec_eval reserves memory up to the highest gain, here above {HIGHEST_GRADE:,}"
    if not 1 <= (values_of(same.measure).get("rel") or 1) <= HIGHEST_REL or params.get("rel") == 0:
        return f"pytrec_eval takes a rel from 1 to {HIGHEST_REL}"
    if same.has_decimals and (point := localeconv()["decimal_point"]) != ".":
        return (
            f"pytrec_eval reads decimals by the locale of the process, which writes them with {point!r}; "
            "locale.setlocale(locale.LC_NUMERIC, 'C') lets it compare this measure"
        )
    return same


def _pytrec_values(
    measure: Measure, qrels: QrelsValues, run: RunScores, rel_near_grades: bool = False
) -> dict[str, float]:
    """Compute pytrec_eval's value for each query that it can take, without NaN of 0 by 0."""
    level = values_of(measure).get("rel") or 1
    safe = [
        query_id
        for query_id, labels in qrels.items()
        if _can_take(labels, run.get(query_id, {}))
        and (not rel_near_grades or level <= max(labels.values()) + 1)
    ]
    names = {f"q{number}": query_id for number, query_id in enumerate(safe)}
    # trec_eval treats all negative grades the same; -1 fits its integers
    labels = {name: {d: max(g, -1) for d, g in qrels[q].items()} for name, q in names.items()}
    scores = {name: {d: float(s) for d, s in run[q].items()} for name, q in names.items()}
    metrics = ir_measures.pytrec_eval.iter_calc([measure], labels, scores)
    return {names[m.query_id]: m.value for m in metrics if m.value == m.value}


def _can_take(labels: Mapping[str, int], scores: Mapping[str, float]) -> bool:
    """Check whether pytrec_eval can take a query."""
    ids = "".join([*labels, *scores])
    if not (labels and scores) or "\0" in ids or not 0 <= max(labels.values()) <= HIGHEST_GRADE:
        return False
    try:
        ids.encode()
    except UnicodeEncodeError:
        return False
    return True


# --- report ------------------------------------------------------------------------------------------

_HEADINGS = ["measure", "ours", "pytrec_eval", "largest |Δ|", "ties", "expected"]
_CHECKED_PACKAGES = ["pytrec-eval-terrier"]


@dataclass(frozen=True)
class CrossChecks(Result):
    """The cross-checks of several runs; ``print`` shows them in one table.

    Attributes
    ----------
    checks : mapping of str to CrossCheck
        By name of the run.
    origin : Origin or None
        The sources of the qrels and the runs.
    """

    checks: Mapping[str, CrossCheck]
    origin: Origin | None = field(default=None, repr=False)

    @property
    def ok(self) -> bool:
        """Whether no measure differs on any run."""
        return all(check.ok for check in self.checks.values())

    def report(self) -> Report:
        """Build the report: a table of differences, and lines on agreement for each run."""
        return crosscheck_report(self.checks, self.origin)


def crosscheck_report(results: Mapping[str, CrossCheck], origin: Origin | None = None) -> Report:
    """Report the cross-checks of runs: a table of differences, and a line of agreement."""
    measures = list(dict.fromkeys(row.measure for result in results.values() for row in result.rows))
    verdicts = {name: _verdict(result.rows) for name, result in results.items()}
    runs = [
        {
            "run": name or "run",
            "ok": result.ok,
            "queries": result.n_queries,
            "alone": result.alone,
            "measures": list(map(_record, result.rows)),
        }
        for name, result in results.items()
    ]
    return Report(
        titled(origin, len(results), next(iter(results.values())).n_queries),
        [f"{name}: {verdict}." if name else f"{verdict}." for name, verdict in verdicts.items()],
        list(_sections(results)),
        data=lambda: {
            "ok": all(result.ok for result in results.values()),
            "runs": runs,
            "provenance": provenance(measures, origin, packages=_CHECKED_PACKAGES),
        },
        rows=lambda: [
            {**({"run": name} if name else {}), **_record(row)}
            for name, result in results.items()
            for row in result.rows
        ],
        provenance=partial(how_made, measures, origin, packages=_CHECKED_PACKAGES),
    )


def _verdict(rows: list[MeasureAgreement]) -> str:
    compared = [row for row in rows if not row.reason]
    if not compared:
        return "No measure was compared"
    n_differing, measures = sum(row.differing > 0 for row in compared), pluralize(len(compared), "measure")
    verdict = f"pytrec_eval {f'differs on {n_differing:,} of' if n_differing else 'agrees on'} {measures}"
    minimum, maximum = (end(row.queries for row in compared) for end in (min, max))
    queries = f"{'' if minimum == maximum else f'{minimum:,} to '}{pluralize(maximum, 'query')}"
    largest = max(row.largest_difference for row in compared)
    return f"{verdict}, on {queries} (largest difference {largest:.0g})"


def _record(row: MeasureAgreement) -> dict[str, Any]:
    low, high = row.ties
    replaced = {"measure": name_of(row.measure), "verdict": row.verdict, "ties_low": low, "ties_high": high}
    fields = {name: value for name, value in vars(row).items() if name not in ("ties", "values")}
    return {name: None if value != value else value for name, value in {**fields, **replaced}.items()}


def _cells(row: MeasureAgreement) -> list[str | Cell]:
    texts = [*(f"{value:.4f}" for value in (row.value, row.pytrec_eval)), f"{row.largest_difference:.0g}"]
    numbers = zip(texts, (row.value, row.pytrec_eval, row.largest_difference), strict=True)
    ties = Cell(_ties(row) or "same", mark=_star(row), value=row.ties[0])
    expected = Cell(as_text(row.ties_expected, ".4f"), value=row.ties_expected)
    return [name_of(row.measure), *(Cell(text, value=value) for text, value in numbers), ties, expected]


def _ties(row: MeasureAgreement) -> str:
    """Format the range over orders of ties; empty if it prints like the value."""
    low, high = (f"{value:.4f}" for value in row.ties)
    return "" if low == high == f"{row.value:.4f}" else f"{low} to {high}"


def _expected(row: MeasureAgreement) -> str:
    """Format the mean over orders of ties in parentheses; empty if it is unknown or ties change nothing."""
    return f" ({row.ties_expected:.4f})" if row.ties_expected is not None and _ties(row) else ""


def _star(row: MeasureAgreement) -> str:
    return "" if row.ties_exact else "*"


def _sections(results: Mapping[str, CrossCheck]) -> Iterator[Section]:
    """Yield a section for each run, with its differences and its own texts, then the texts of all runs."""
    texts = {name: list(_texts(result)) for name, result in results.items()}
    shared = [text for text in next(iter(texts.values())) if all(text in of_run for of_run in texts.values())]
    for name, result in results.items():
        table = Table.of(
            _HEADINGS,
            [_cells(row) for row in result.rows if row.differing],
            notes=[f"Expected: {EXPECTED_VALUE}"],
            caption=f"What differs, of {pluralize(result.n_queries, 'judged query')}",
            label="crosscheck",
        )
        own = [text for text in texts[name] if text not in shared]
        if own or not result.ok:
            yield Section(name, tables=[] if result.ok else [table], texts=own)
    yield Section(texts=[*shared, *_explained(results)])


def _texts(result: CrossCheck) -> Iterator[str]:
    """Name the measures that differ, agree or were not compared, and the ranges over ties."""
    yield from (_largest_difference(row, *row.values) for row in result.rows if row.values)
    agree = [name_of(row.measure) for row in result.rows if row.verdict == "agrees"]
    if agree:
        yield f"Agrees: {join_names(agree)}."
    absent = grouped((row.reason, name_of(row.measure)) for row in result.rows if row.reason)
    yield from (f"Not compared: {join_names(names)} ({reason})." for reason, names in absent.items())
    tied = [row for row in result.rows if not row.differing and (_ties(row) or not row.ties_exact)]
    if tied:
        ranges = [
            f"{name_of(row.measure)} {_ties(row) or 'same'}{_star(row)}{_expected(row)}" for row in tied
        ]
        means = ", in parentheses the mean over all of them" if any(map(_expected, tied)) else ""
        yield f"Ties, {ALL_ORDERS}{means}: {join_names(ranges)}."
    yield (
        f"{pluralize(result.n_queries, 'judged query')}, {result.alone:,} of them scored by us alone; "
        f"pytrec-eval-terrier {version('pytrec-eval-terrier')}."
    )


def _largest_difference(row: MeasureAgreement, own_value: float, pytrec: float) -> str:
    where = f"{name_of(row.measure)} differs on {row.differing:,} of {pluralize(row.queries, 'query')}"
    return f"{where}, most on {row.query_id!r}: ours {own_value:.6g}, pytrec_eval {pytrec:.6g}."


def _explained(results: Mapping[str, CrossCheck]) -> list[str]:
    """Explain aliases and stars."""
    rows = [row for result in results.values() for row in result.rows]
    some = not all(row.ties_exact for row in rows)
    names = (f"{text}." for text in alias_notes(dict.fromkeys(row.measure for row in rows)))
    return [*names, *([f"{THREE_ORDERS}."] if some else [])]
