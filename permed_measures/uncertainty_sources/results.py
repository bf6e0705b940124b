"""The uncertainty of means: a row for each run and measure, and its report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import chain
from operator import itemgetter
from typing import Any

from ir_measures.measures import Measure

from permed_measures.arrays import Floats
from permed_measures.engine.ties import ALL_ORDERS, EXPECTED_VALUE, NO_CLOSED_FORM
from permed_measures.escaping import join_names, pluralize
from permed_measures.human_labels.agreement import Agreement
from permed_measures.human_labels.corrected import Corrected
from permed_measures.human_labels.methods import about_people, corrected_by_people
from permed_measures.human_labels.tables import MEANS_TEXTS, Line, agreement_json, flat, section_of
from permed_measures.intervals import percent, queries_in_clusters
from permed_measures.measures.headings import heading_notes, headings_of, name_of
from permed_measures.provenance import Origin, provenance
from permed_measures.results.methods import Methods, independent_units, means_over_queries, methods_of
from permed_measures.results.report import DescribedResult, Report, Section, how_made, low_high_fields, titled
from permed_measures.results.table import MEASURE, NONE, Cell, Style, Table, as_text
from permed_measures.tolerances import SUM_NOISE
from permed_measures.uncertainty_sources.labels import LabelErrors

MaybeLowHigh = tuple[float, float] | None

SOURCES = {"interval": "topics", "ties": "ties", "unjudged": "unjudged", "labels": "labels"}
"""Where the uncertainty of a number comes from, by the name of the pair: the heading of its column."""

INTERVAL = "Student's t; where all values are 0 or 1, Clopper-Pearson"
"""How the intervals of the means are computed, and with clusters."""
BY_CLUSTERS = "cluster-robust Student's t; where all values are 0 or 1, Korn-Graubard"


@dataclass(frozen=True)
class UncertaintyRow:
    """How sure a number is.

    Attributes
    ----------
    run : str
    measure : Measure
    value : float
        The mean over all queries of the qrels; of counts such as NumRet too, not their sum.
    interval : (float, float) or None
        What it could be on other topics: a confidence interval by queries, or by whole clusters.
    ties : (float, float)
        The least and the most over orders of equal scores.
    unjudged : (float, float) or None
        The least and the most over ways to grade the unjudged documents within the cutoff. It need not hold
        the value: with `judged_only`, a level of 0 or `grades` without 0 no grade counts as no label does.
    labels : (float, float) or None
        What it could be if labels are wrong as often as was said; None unless that was said.
    exact : mapping of str to bool
        Whether no order of ties, and no grading of unjudged documents, gives a value beyond ``ties`` and
        ``unjudged``. Some order, some grading gives both ends in any case.
    judged : float or None
        Judged@k, the share of the retrieved documents within the cutoff that are judged: its mean over the
        queries for which something was retrieved; None without any.
    reasons : mapping of str to str
        Why a pair is None, by its name.
    people : Corrected or None
        What it would be by people's labels, if a sample of these was given.
    ties_expected : float or None
        The mean over all orders of equal scores, each as likely; None where it has no closed form.
    """

    run: str
    measure: Measure
    value: float
    interval: MaybeLowHigh
    ties: MaybeLowHigh
    unjudged: MaybeLowHigh
    labels: MaybeLowHigh
    exact: Mapping[str, bool]
    judged: float | None
    reasons: Mapping[str, str] = field(default_factory=dict)
    people: Corrected | None = None
    ties_expected: float | None = None


@dataclass(frozen=True, eq=False)
class Uncertainty(DescribedResult):
    """The uncertainty of the means of some runs; ``print`` shows it as a table.

    ``to_polars`` and ``to_pandas`` give a row for each run and measure.

    Attributes
    ----------
    rows : list of UncertaintyRow
        Runs in their order, then measures.
    measures : list of Measure
    n_queries, n_clusters : int
        Queries of the qrels; independent units: clusters, or queries without clusters.
    clusters : str
        What the clusters are; empty without any.
    level : float
        Of `interval` and `labels`.
    draws, seed : int
        Of the labels.
    scale : ndarray
        The grades that an unjudged document may have.
    label_errors : LabelErrors or None
    notes : list of str
    origin : Origin or None
    agreement : Agreement or None
        Of the qrels and people's labels.
    all_relevant : bool
        Whether each label is relevant to each measure: then Judged@k is P@k.
    of_proportions : frozenset of bool
        Whether there are intervals of proportions (True), and others (False).
    """

    rows: list[UncertaintyRow]
    measures: list[Measure]
    n_queries: int
    n_clusters: int
    clusters: str
    level: float
    draws: int
    seed: int
    scale: Floats
    label_errors: LabelErrors | None
    notes: list[str]
    origin: Origin | None = field(default=None, repr=False)
    agreement: Agreement | None = None
    all_relevant: bool = False
    of_proportions: frozenset[bool] = frozenset()

    @property
    def runs(self) -> list[str]:
        """The names of the runs."""
        return list(dict.fromkeys(row.run for row in self.rows))

    @property
    def headings(self) -> dict[Measure, str]:
        """The heading of each measure."""
        return dict(zip(self.measures, headings_of(self.measures), strict=True))

    @property
    def sources(self) -> list[str]:
        """The sources of uncertainty that were asked for."""
        return [name for name in SOURCES if name != "labels" or self.label_errors]

    def __repr__(self) -> str:
        """Name the runs and the measures."""
        return f"<Uncertainty of {', '.join(self.runs)}: {', '.join(self.headings.values())}>"

    def report(self, digits: int | None = None) -> Report:
        """Return the table and how it was computed; `digits` is the number of decimals, four if left out."""
        digits = 4 if digits is None else digits
        return Report(
            titled(self.origin, len(self.runs), self.n_queries),
            [*_finding(self, digits), *_corrected(self, digits)],
            [Section(tables=[_table(self, digits)]), *self._of_people(digits)],
            notes=self.notes,
            data=partial(_content, self),
            rows=partial(_records, self),
            how=partial(how_made, self.measures, self.origin, self.seed),
            methods=partial(uncertainty_methods, self),
        )

    def _of_people(self, digits: int) -> list[Section]:
        if self.agreement is None:
            return []
        short, several = self.headings, len(self.runs) > 1
        lines = [
            Line(({"run": row.run} if several else {}) | {MEASURE: short[row.measure]}, row.value, row.people)
            for row in self.rows
            if row.people
        ]
        interval = [f"{percent(self.level)} CI"]
        return [section_of(self.agreement, MEANS_TEXTS, lines, interval, Style(digits))]


# --- the answer ------------------------------------------------------------------------------------------

_SOURCE_WORDS = {**SOURCES, "unjudged": "unjudged documents", "labels": "wrong labels"}
_RANGE_WITHOUT_VALUE = {"unjudged": "with grades for unjudged documents", "labels": "with labels drawn anew"}
"""Of which numbers a range is that does not hold the value, by the sources that may have such a range."""


def _finding(result: Uncertainty, digits: int) -> Iterator[str]:
    """Say which source leaves a mean most open, and how wide the ranges of the others are."""
    known = {name: [row for row in result.rows if getattr(row, name)] for name in result.sources}
    order = sorted(filter(known.get, known), key=lambda name: -max(_open(row, name) for row in known[name]))
    if not order:
        return
    first = order[0]
    row = max(known[first], key=lambda row: _open(row, first))
    if _open(row, first) <= SUM_NOISE:
        yield f"No mean is changed by {join_names([_SOURCE_WORDS[name] for name in order])}."
        return
    ends = [_shown(bound, digits) for bound in getattr(row, first)]
    is_inside = _open(row, first) - _width(row, first) <= SUM_NOISE
    value = f"{_about(result, row)} is {_shown(row.value, digits)}"
    beyond = " to ".join(dict.fromkeys(ends))
    found = f"between {' and '.join(ends)}" if is_inside else f"{_RANGE_WITHOUT_VALUE[first]} {beyond}"
    yield f"Of all sources, {_SOURCE_WORDS[first]} leave most open: {value}, and {found}."
    if len(order) > 1:
        yield f"Widest {'; '.join(_widest(result, name, known[name], digits) for name in order[1:])}."


def _widest(result: Uncertainty, name: str, rows: Sequence[UncertaintyRow], digits: int) -> str:
    """Say how wide the widest range of a source is; of one number, how far it is from the value."""
    row = max(rows, key=lambda row: (_width(row, name), _open(row, name)))
    width = _width(row, name)
    width = width if width > SUM_NOISE else _open(row, name)
    found = f"{_shown(width, digits)} ({_about(result, row)})" if width > SUM_NOISE else "none"
    return f"by {_SOURCE_WORDS[name]}: {found}"


def _corrected(result: Uncertainty, digits: int) -> Iterator[str]:
    """Say which mean people's labels change most, where one prints otherwise by them."""
    known = [
        (abs(row.people.value - row.value), row, row.people.value)
        for row in result.rows
        if row.people and row.people.value is not None
    ]
    if known:
        _, row, corrected = max(known, key=itemgetter(0))
        before, after = (_shown(value, digits) for value in (row.value, corrected))
        if before != after:
            changed = f"{_about(result, row)} changes most: from {before} to {after}"
            yield f"Corrected by people's labels, {changed}."


def _about(result: Uncertainty, row: UncertaintyRow) -> str:
    """Name the number of a row."""
    return f"{result.headings[row.measure]}{f' of {row.run}' if len(result.runs) > 1 else ''}"


def _width(row: UncertaintyRow, name: str) -> float:
    low, high = getattr(row, name)
    return float(high - low)


def _open(row: UncertaintyRow, name: str) -> float:
    """Return how wide a range is with the value, which may be outside.

    Wrong labels may mostly err to one side, and labels of all documents may be more or less than none: a list
    of judged documents alone, or a level of 0, then has others.
    """
    low, high = getattr(row, name)
    return float(max(high, row.value) - min(low, row.value))


# --- the table -------------------------------------------------------------------------------------------


def _table(result: Uncertainty, digits: int) -> Table:
    several, judged, short = len(result.runs) > 1, not result.all_relevant, result.headings
    expected = _some_order_counts(result, digits)
    rows: list[list[str | Cell]] = [
        [
            *([row.run] if several else []),
            short[row.measure],
            *([Cell(_shown(row.judged, 2), value=row.judged)] if judged else []),
            Cell(_shown(row.value, digits), value=row.value),
            *(cell for name in result.sources for cell in _cells(row, name, digits, expected)),
        ]
        for row in result.rows
    ]
    headings = ["measure", *(["judged"] if judged else []), "value"]
    units = queries_in_clusters(result.n_queries, result.n_clusters, result.clusters)
    sources = [SOURCES[name] for name in result.sources]
    if expected:
        sources.insert(sources.index("ties") + 1, _EXPECTED_HEADING)
    return Table.of(
        [*(["run"] if several else []), *headings, *sources],
        rows,
        1 + several,
        caption=f"Means over {units}",
        notes=list(_explanations(result, expected)),
        spare=["judged", _EXPECTED_HEADING],
        label="uncertainty",
    )


def _shown(value: float | None, digits: int) -> str:
    return as_text(value, f".{digits}f")


_SAME = "same"


def _range(row: UncertaintyRow, name: str, digits: int) -> Cell:
    """Write a pair; a star says that others may go beyond. Pairs are ordered by the lower end."""
    found: MaybeLowHigh = getattr(row, name)
    if found is None:
        return Cell(NONE)
    low, high = (_shown(bound, digits) for bound in found)
    text = _SAME if low == high == _shown(row.value, digits) else f"{low} {high}"
    return Cell(text, mark="" if row.exact.get(name, True) else "*", value=found[0])


_EXPECTED_HEADING = "expected"


def _some_order_counts(result: Uncertainty, digits: int) -> bool:
    """Return whether an order of equal scores changes what is printed of a mean."""
    return any(_range(row, "ties", digits).text != _SAME for row in result.rows)


def _cells(row: UncertaintyRow, name: str, digits: int, expected: bool) -> Iterator[Cell]:
    """Yield the pair of a source, and after that of ties the mean over all orders."""
    pair = _range(row, name, digits)
    yield pair
    if name == "ties" and expected:
        text = _shown(row.ties_expected, digits)
        same = pair.text == _SAME and text == _shown(row.value, digits)
        yield Cell(_SAME if same else text, value=row.ties_expected)


def _explanations(result: Uncertainty, expected: bool) -> Iterator[str]:
    """Explain the columns."""
    level, scale = percent(result.level), ", ".join(f"{grade:g}" for grade in result.scale)
    yield from heading_notes(result.measures)
    yield f"Topics: {level} CI ({_method(result)})"
    yield f"Ties: {ALL_ORDERS}"
    if expected:
        yield f"Expected: {EXPECTED_VALUE}"
    yield f"Unjudged: the least and the most over grades ({scale}) of unjudged documents within the cutoff"
    if not all(exact for row in result.rows for exact in row.exact.values()):
        yield "*: only some orders or gradings were tried, and others may go beyond"
    if result.label_errors:
        drawn = f"{level} of {pluralize(result.draws, 'draw')}, seed {result.seed}"
        yield f"Labels: {result.label_errors.about}; {drawn}"
    if result.all_relevant:
        yield "Judged@k is left out: all labels are relevant"
    else:
        yield "Judged: Judged@k, over queries with an answer"
    reasons = {(SOURCES[name], why) for row in result.rows for name, why in row.reasons.items()}
    if expected and any(row.ties_expected is None for row in result.rows):
        reasons.add((_EXPECTED_HEADING, NO_CLOSED_FORM))
    yield from (f"{NONE} in {heading}: {why}" for heading, why in sorted(reasons))


def _method(result: Uncertainty) -> str:
    return BY_CLUSTERS if result.clusters else INTERVAL


# --- for a paper -----------------------------------------------------------------------------------------


def uncertainty_methods(result: Uncertainty) -> Methods:
    """Describe how the uncertainty of the means was computed, as a paper says it."""
    means = [means_over_queries(result.n_queries)]
    if not result.all_relevant:
        means += [
            "Judged@k is the share of the documents retrieved, down to the cutoff, that have a label, over "
            "the queries for which a run retrieves something."
        ]
    return methods_of(
        result.measures,
        result.origin,
        result.runs,
        result.n_queries,
        means,
        _statistics(result),
        ["scipy"],
    )


def _statistics(result: Uncertainty) -> Iterator[str]:
    """Say where each pair of ends comes from."""
    yield independent_units(result.n_clusters, result.clusters)
    yield from _about_topics(result)
    ties = "The range by ties is the least and the most over the orders of documents with equal scores"
    yield ties + _partly(result, "ties", "orders")
    if any(row.unjudged for row in result.rows):
        scale = ", ".join(f"{grade:g}" for grade in result.scale)
        unjudged = f"The range by unjudged documents is the least and the most over their gradings by {scale}"
        yield f"{unjudged}{_partly(result, 'unjudged', 'gradings')}"
    if result.label_errors:
        yield (
            f"For the range by wrong labels, {result.label_errors.about}: it is the middle "
            f"{percent(result.level)} of the means in {pluralize(result.draws, 'draw')} of all labels "
            f"(seed {result.seed})."
        )
    if result.agreement:
        yield from about_people()
        found = [row.people for row in result.rows if row.people]
        yield from corrected_by_people(found, "means", result.level)


def _about_topics(result: Uncertainty) -> Iterator[str]:
    """Say how the intervals are computed, of those measures that have one."""
    student = "Student's, cut to what the measure can be"
    if result.clusters:
        student = f"{student}, with cluster-robust standard errors [@cameron2015practitioner]"
    proportion = "that of Clopper and Pearson [@clopper1934use]"
    if result.clusters:
        proportion += " on the effective sample size of Korn and Graubard [@korn1998confidence]"
    kinds = {False: student, True: proportion}
    known = [kinds[kind] for kind in sorted(result.of_proportions)]
    if known:
        how = ", and where all values are 0 or 1 ".join(known)
        yield f"The {percent(result.level)} confidence interval for other topics is {how}."


def _partly(result: Uncertainty, name: str, what: str) -> str:
    """End a sentence on a range, of which some are not exact."""
    partly = not all(row.exact.get(name, True) for row in result.rows)
    return f"; of some measures only some {what} were tried." if partly else "."


# --- other programs --------------------------------------------------------------------------------------


def _records(result: Uncertainty) -> Iterator[dict[str, Any]]:
    """Yield the numbers of each row."""
    errors = result.label_errors
    for row in result.rows:
        bounds = (low_high_fields(f"{name}_", getattr(row, name)).items() for name in SOURCES)
        yield {
            "run": row.run,
            "measure": name_of(row.measure),
            "value": row.value,
            **dict(chain.from_iterable(bounds)),
            "ties_expected": row.ties_expected,
            **{f"{name}_exact": row.exact.get(name) for name in ("ties", "unjudged")},
            "judged": row.judged,
            "level": result.level,
            "draws": result.draws,
            "seed": result.seed,
            "clusters": result.clusters or None,
            "label_error": errors.about if errors else None,
            "reasons": "; ".join(f"{name}: {why}" for name, why in row.reasons.items()) or None,
            **({f"people_{k}": each for k, each in flat(row.people).items()} if result.agreement else {}),
        }


def _content(result: Uncertainty) -> dict[str, Any]:
    """Return what the JSON holds."""
    errors = result.label_errors
    return {
        "queries": result.n_queries,
        "clusters": result.clusters or None,
        "n_clusters": result.n_clusters,
        "level": result.level,
        "interval_method": _method(result),
        "draws": result.draws,
        "seed": result.seed,
        "grades": result.scale.tolist(),
        "label_errors": errors
        and {"about": errors.about, "grades": errors.levels.tolist(), "rates": errors.rates.tolist()},
        **({"agreement": agreement_json(result.agreement)} if result.agreement else {}),
        "rows": [
            {name: each for name, each in _fields(row).items() if name != "people" or row.people}
            for row in result.rows
        ],
        "notes": result.notes,
        "provenance": provenance(result.measures, result.origin, result.seed),
    }


def _fields(row: UncertaintyRow) -> dict[str, Any]:
    return {**asdict(row), "measure": name_of(row.measure)}
