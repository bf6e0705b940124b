"""The uncertainty of means: a row for each run and measure, and its report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import chain
from operator import itemgetter
from typing import Any

from ir_measures.measures import Measure

from permed_measures.arrays import Floats
from permed_measures.engine.ties import ALL_ORDERS, EXPECTED_VALUE, NO_CLOSED_FORM
from permed_measures.human_labels.agreement import Agreement
from permed_measures.human_labels.corrected import Corrected
from permed_measures.human_labels.methods import about_people, corrected_by_people
from permed_measures.human_labels.tables import MEANS_TEXTS, CorrectedRow, agreement_json, flatten, section_of
from permed_measures.intervals import percent, queries_in_clusters
from permed_measures.measures.headings import heading_notes, headings_of, name_of
from permed_measures.provenance import Origin, provenance
from permed_measures.results.methods import Methods, independent_units, means_over_queries, methods_of
from permed_measures.results.report import DescribedResult, Report, Section, how_made, low_high_fields, titled
from permed_measures.results.table import MEASURE, NONE, Cell, Style, Table, as_text
from permed_measures.uncertainty_sources.labels import LabelErrors
from permed_measures.wording import pluralize

MaybeLowHigh = tuple[float, float] | None

SOURCES = {"interval": "topics", "ties": "ties", "unjudged": "unjudged", "labels": "labels"}
"""The sources of uncertainty: the name of each range in a row, and the heading of its column."""

INTERVAL = "Student's t; where all values are 0 or 1, Clopper-Pearson"
"""The method of the intervals of means without clusters."""
BY_CLUSTERS = "cluster-robust Student's t; where all values are 0 or 1, Korn-Graubard"
"""The method of the intervals of means with clusters."""


@dataclass(frozen=True)
class UncertaintyRow:
    """The mean of a run on a measure, with its range for each source of uncertainty.

    Attributes
    ----------
    run : str
    measure : Measure
    value : float
        The mean over all queries of the qrels; counts such as NumRet are averaged too, not summed.
    interval : (float, float) or None
        Confidence interval of the mean for other topics, by queries or by whole clusters.
    ties : (float, float)
        Minimum and maximum over the orders of equal scores.
    unjudged : (float, float) or None
        Minimum and maximum over the gradings of the unjudged documents within the cutoff. It need not contain
        the value: with `judged_only`, ``rel=0`` or `grades` without 0, no grade counts like a missing label.
    labels : (float, float) or None
        Interval of the mean on labels with errors of the given probability; None unless one is given.
    exact : mapping of str to bool
        Whether ``ties`` and ``unjudged`` are exact: no order or grading gives a value beyond them. Some order
        or grading gives both ends in any case.
    judged : float or None
        Judged@k, the share of judged documents among the retrieved ones within the cutoff: its mean over the
        queries for which the run retrieves something; None without any.
    reasons : mapping of str to str
        Why a range is None, by its name.
    people : Corrected or None
        The mean corrected by people's labels, if a sample of them was given.
    ties_expected : float or None
        The mean over all orders of equal scores, each equally likely; None without a closed form.
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
        Numbers of queries of the qrels, and of independent units: clusters, or queries without clusters.
    clusters : str
        Name of the clusters; empty without clusters.
    level : float
        Level of `interval` and `labels`.
    draws, seed : int
        Number of draws of the labels, and their seed.
    scale : ndarray
        The possible grades of an unjudged document.
    label_errors : LabelErrors or None
    notes : list of str
    origin : Origin or None
    agreement : Agreement or None
        Agreement of the qrels with people's labels.
    all_relevant : bool
        Whether each label is relevant to each measure: then Judged@k equals P@k.
    of_proportions : frozenset of bool
        The kinds of intervals in the result: True for intervals of proportions, False for Student's.
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
        """The requested sources of uncertainty."""
        return [name for name in SOURCES if name != "labels" or self.label_errors]

    def __repr__(self) -> str:
        """Name the runs and the measures."""
        return f"<Uncertainty of {', '.join(self.runs)}: {', '.join(self.headings.values())}>"

    def report(self, digits: int | None = None) -> Report:
        """Build the report: the table and its notes; `digits` is the number of decimals, four if None."""
        digits = 4 if digits is None else digits
        return Report(
            titled(self.origin, len(self.runs), self.n_queries),
            [*_largest_correction(self, digits)],
            [Section(tables=[_table(self, digits)]), *self._people_section(digits)],
            notes=self.notes,
            data=partial(_content, self),
            rows=partial(_records, self),
            provenance=partial(how_made, self.measures, self.origin, self.seed),
            methods=partial(uncertainty_methods, self),
        )

    def _people_section(self, digits: int) -> list[Section]:
        if self.agreement is None:
            return []
        headings, several = self.headings, len(self.runs) > 1
        rows = []
        for row in self.rows:
            if row.people:
                names = ({"run": row.run} if several else {}) | {MEASURE: headings[row.measure]}
                rows.append(CorrectedRow(names, row.value, row.people))
        interval = [f"{percent(self.level)} CI"]
        return [section_of(self.agreement, MEANS_TEXTS, rows, interval, Style(digits))]


# --- the finding -----------------------------------------------------------------------------------------


def _largest_correction(result: Uncertainty, digits: int) -> Iterator[str]:
    """Name the mean that people's labels change most, if a printed digit changes."""
    known = [
        (abs(row.people.value - row.value), row, row.people.value)
        for row in result.rows
        if row.people and row.people.value is not None
    ]
    if known:
        _, row, corrected = max(known, key=itemgetter(0))
        before, after = (_decimals(value, digits) for value in (row.value, corrected))
        if before != after:
            of_run = f" of {row.run}" if len(result.runs) > 1 else ""
            mean = f"{result.headings[row.measure]}{of_run}"
            yield f"Corrected by people's labels, {mean} changes most: from {before} to {after}."


# --- the table -------------------------------------------------------------------------------------------


def _table(result: Uncertainty, digits: int) -> Table:
    expected = _ties_change_a_mean(result, digits)
    units = queries_in_clusters(result.n_queries, result.n_clusters, result.clusters)
    return Table.by_heading(
        [dict(_cells(result, row, digits, expected)) for row in result.rows],
        1 + (len(result.runs) > 1),
        caption=f"Means over {units}",
        notes=list(_explanations(result, expected)),
        droppable=["judged", _EXPECTED_HEADING],
        label="uncertainty",
    )


def _cells(
    result: Uncertainty, row: UncertaintyRow, digits: int, expected: bool
) -> Iterator[tuple[str, str | Cell]]:
    """Yield the headings and cells of a row: names, numbers, and the range of each source."""
    if len(result.runs) > 1:
        yield "run", row.run
    yield MEASURE, result.headings[row.measure]
    if not result.all_relevant:
        yield "judged", Cell(_decimals(row.judged, 2), value=row.judged)
    yield "value", Cell(_decimals(row.value, digits), value=row.value)
    for name in result.sources:
        cell = _range_cell(row, name, digits)
        yield SOURCES[name], cell
        if name == "ties" and expected:
            text = _decimals(row.ties_expected, digits)
            same = cell.text == _SAME and text == _decimals(row.value, digits)
            yield _EXPECTED_HEADING, Cell(_SAME if same else text, value=row.ties_expected)


def _decimals(value: float | None, digits: int) -> str:
    return as_text(value, f".{digits}f")


_SAME = "same"


def _range_cell(row: UncertaintyRow, name: str, digits: int) -> Cell:
    """Format the range of a source, with a star unless it is exact; its lower end is the value to sort by."""
    low_high: MaybeLowHigh = getattr(row, name)
    if low_high is None:
        return Cell(NONE)
    low, high = (_decimals(bound, digits) for bound in low_high)
    text = _SAME if low == high == _decimals(row.value, digits) else f"{low} {high}"
    return Cell(text, mark="" if row.exact.get(name, True) else "*", value=low_high[0])


_EXPECTED_HEADING = "expected"


def _ties_change_a_mean(result: Uncertainty, digits: int) -> bool:
    """Check whether an order of equal scores changes a printed mean."""
    return any(_range_cell(row, "ties", digits).text != _SAME for row in result.rows)


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
    """Describe how the uncertainty of the means was computed, for a paper."""
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
    """Describe the range of each source."""
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
        estimates = [row.people for row in result.rows if row.people]
        yield from corrected_by_people(estimates, "means", result.level)


def _about_topics(result: Uncertainty) -> Iterator[str]:
    """Describe the intervals of the measures that have one."""
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
    """End a sentence on ranges, and mention that some are not exact, if so."""
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
            **(
                {f"people_{key}": value for key, value in flatten(row.people).items()}
                if result.agreement
                else {}
            ),
        }


def _content(result: Uncertainty) -> dict[str, Any]:
    """Return the content of the JSON."""
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
            {name: value for name, value in _fields(row).items() if name != "people" or row.people}
            for row in result.rows
        ],
        "notes": result.notes,
        "provenance": provenance(result.measures, result.origin, result.seed),
    }


def _fields(row: UncertaintyRow) -> dict[str, Any]:
    return {**asdict(row), "measure": name_of(row.measure)}
