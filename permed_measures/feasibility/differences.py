"""Prove which differences between printed means are significant for any two runs with these means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil, inf, sqrt
from typing import Any, NamedTuple

import numpy as np

from permed_measures.arrays import Floats
from permed_measures.corrections import CORRECTIONS
from permed_measures.engine.evaluator import ideal_evaluation
from permed_measures.engine.groups import By, clusters_of
from permed_measures.engine.judgments import Judgments
from permed_measures.errors import InputError
from permed_measures.feasibility.rows import read_as
from permed_measures.intervals import queries_in_clusters
from permed_measures.measures.parsing import parse_measure
from permed_measures.measures.specs import range_of
from permed_measures.published_tables.claims import EXACT, Claim
from permed_measures.results.report import Section
from permed_measures.results.table import NONE, Cell, Table
from permed_measures.tolerances import BOUND
from permed_measures.wording import grouped, pluralize

ALPHA = 0.05
SURELY, UNDECIDED = "surely significant", "not decided"
_NOT_TOLD = "cannot be told"
_ONE_CLASS = np.ones(1)
_HAVE_CEILINGS = ("P", "R", "RR", "AP", "GradedAP", "nDCG", "Success")
"""The measures that are highest for a ranking by grade."""
_MAX_SHOWN_PAIRS = 20
"""Maximum number of pairs in a report; CSV and JSON have all."""


class Units(NamedTuple):
    """The independent units of a test: queries, or named clusters of queries.

    Attributes
    ----------
    n_queries, n_units : int
    largest : int
        The number of queries in the largest cluster.
    name : str
        The name of the clusters; empty if each query is a unit.
    """

    n_queries: int
    n_units: int
    largest: int = 1
    name: str = ""

    @classmethod
    def of(cls, judgments: Judgments, clusters: By | None, dataset: Any) -> tuple[Units, list[str]]:
        """Group the queries into units, by default conversations if the data set has them; add notes."""
        name, cluster, notes = clusters_of(judgments.query_ids, clusters, dataset)
        sizes = np.bincount(cluster)
        return cls(judgments.n_queries, len(sizes), int(sizes.max()), name), notes


def least_t(higher: float, lower: float, units: Units, ceilings: Floats = _ONE_CLASS) -> float:
    r"""Bound t of a paired t-test from below, for any two runs with these means.

    A query has the value x in one run and y in the other, both from 0 to 1. Let D = x - y, and let a > b be
    the means over N queries, d = a - b. As |D| is at most 1, x + y and 2 - x - y,

    .. math:: E[D^2] \le E|D| \le m = \min(a + b, 2 - a - b)

    (m is smaller if the measure has a ceiling below 1: see `_max_mean_square`). So t is at least
    d √((N - 1) / (m - d²)). With G clusters of at most n queries, the cluster-robust t-test of
    `comparison.tests` has the squared error G / (G - 1) ∑ u² / N², where u is the sum of D - d in a cluster.
    By the Cauchy-Schwarz inequality u² is at most n times the sum of the squares (D - d)². So the error is at
    most G / (G - 1) n (m - d²) / N, and

    .. math:: t \ge d \sqrt{\frac{N (G - 1)}{G n (m - d^2)}}

    With one query in each cluster both bounds are the same. m is a concave function of a + b that is 0 at
    both its ends, so d² / m grows with a and falls with b: the lower end of a and the upper end of b give the
    smallest t. If D has no variance, t is infinite.

    Parameters
    ----------
    higher, lower : float
        The means a and b.
    units : Units
    ceilings : ndarray
        The maximum value of each query, in descending order; a single 1 for all.

    Examples
    --------
    >>> round(least_t(0.6, 0.5, Units(101, 101)), 3)
    1.06
    >>> round(least_t(0.6, 0.5, Units(100, 50, 2)), 3)  # 50 conversations of two turns
    0.742
    """
    d, (n, g, largest, _) = higher - lower, units
    if d <= 0 or g < 2:
        return 0.0
    variance = _max_mean_square(higher + lower, ceilings) - d * d
    return d * sqrt(n * (g - 1) / (g * largest * variance)) if variance > 0 else inf


def _max_mean_square(total: float, ceilings: Floats) -> float:
    """Bound the mean of D² from above, if the means of two runs have the sum `total`.

    In a query with the ceiling c, D² is at most c |D|, and |D| is at most x + y and 2 c - x - y. The sum over
    queries is largest if x + y reaches c first in the queries with the largest ceilings. If the total exceeds
    the sum of the ceilings, the excess costs least in the queries with the smallest ceilings.
    """
    amount = total * len(ceilings)
    excess = max(amount - ceilings.sum(), 0.0)
    return (_fill(amount, ceilings) - _fill(excess, ceilings[::-1])) / len(ceilings)


def _fill(amount: float, ceilings: Floats) -> float:
    """Fill the queries up to their ceilings c, one after the other, and sum c times what each takes."""
    before = np.cumsum(ceilings) - ceilings
    return float(ceilings @ np.clip(amount - before, 0, ceilings))


class RowDifference(NamedTuple):
    """The difference between two rows.

    Attributes
    ----------
    measure : str
        The measure as it was printed.
    row, other : str
    difference : float
        The printed value of `row` minus that of `other`.
    verdict : {'surely significant', 'not decided'}
    p_at_most : float or None
        An upper bound of p, after Holm's correction for all pairs; None if no bound is known.
    why : str
        Why the pair is not decided; empty if it is.
    """

    measure: str
    row: str
    other: str
    difference: float
    verdict: str
    p_at_most: float | None
    why: str


@dataclass(frozen=True)
class Differences:
    """The differences between rows of a table, and the independent units of their tests."""

    pairs: list[RowDifference]
    units: Units

    @classmethod
    def of(
        cls,
        rows: Mapping[str, Sequence[Claim]],
        parts: Sequence[str],
        judgments: Judgments,
        units: Units,
        topics: Mapping[str, int | None],
    ) -> Differences:
        """Compare all pairs of rows of one part that have a measure of the same name.

        `topics` has the number of queries behind the means of a row, if the table says it.
        """
        from scipy.special import stdtr

        asked = [
            (row, other, one, two)
            for of_part in grouped(zip(parts, rows.items(), strict=True)).values()
            for (row, claims), (other, other_claims) in combinations(of_part, 2)
            for one in claims
            for two in other_claims
            if one.name == two.name
        ]
        if not asked:
            hint = "Give a table with --claims FILE, or claims=FILE in Python"
            raise InputError("differences need two rows with a number of the same measure", hint=hint)
        ceilings = {one.name: _ceilings(one, judgments) for *_, one, _ in asked}
        has_negative = bool((judgments.grade < 0).any())
        whys = [
            _other_queries([topics[row], topics[other]], units)
            or _why_unknown(one, two, units, ceilings[one.name], has_negative)
            for row, other, one, two in asked
        ]
        t_values = [
            0.0 if why else _least_t(one, two, units, ceilings[one.name])
            for (*_, one, two), why in zip(asked, whys, strict=True)
        ]
        p_values = CORRECTIONS["holm"](2 * stdtr(max(units.n_units - 1, 1), -np.array(t_values))).tolist()
        pairs = []
        for (row, other, one, two), why, t, p in zip(asked, whys, t_values, p_values, strict=True):
            at_most = None if why else p
            why = why or (f"{_NOT_TOLD} from the means" if t else "the means may be the same")
            difference = float(EXACT.subtract(one.value, two.value))
            verdict = (SURELY, p, "") if p <= ALPHA else (UNDECIDED, at_most, why)
            pairs.append(RowDifference(one.name, row, other, difference, *verdict))
        return cls(pairs, units)

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield a record for each pair."""
        return (pair._asdict() for pair in self.pairs)

    def section(self) -> Section:
        """Report the number of surely significant differences, and the pairs with the smallest p."""
        texts = []
        for measure, pairs in grouped((pair.measure, pair) for pair in self.pairs).items():
            n_surely = sum(pair.verdict == SURELY for pair in pairs)
            texts.append(f"{measure}: {n_surely:,} of {pluralize(len(pairs), 'pair')} surely significant.")
        known = [pair for pair in self.pairs if pair.p_at_most is not None]
        shown = sorted(known, key=lambda pair: pair.p_at_most or 0.0)[:_MAX_SHOWN_PAIRS]
        if len(known) > _MAX_SHOWN_PAIRS:
            texts.append(
                f"The {_MAX_SHOWN_PAIRS} pairs with the smallest p are shown; CSV and JSON have all."
            )
        unknown = dict.fromkeys(pair.why for pair in self.pairs if pair.p_at_most is None)
        texts += [f"Not decided: {why}." for why in unknown]
        lines: list[list[str | Cell]] = [
            [
                *(pair.measure, pair.row, pair.other, "surely" if not pair.why else _NOT_TOLD),
                Cell(f"{pair.difference:+.6g}", value=pair.difference),
                Cell(_rounded_up(pair.p_at_most), value=pair.p_at_most),
            ]
            for pair in shown
        ]
        headings = ["measure", "row", "other", "significant", "difference", "p at most"]
        caption = (
            f"Differences (row minus other), p after Holm's correction for "
            f"{pluralize(len(self.pairs), 'pair')}"
        )
        tables = [Table.of(headings, lines, 4, caption=caption, label="differences")] if lines else []
        return Section("Differences", tables=tables, texts=[*texts, self.assumed()])

    def assumed(self) -> str:
        """State the test and the assumptions about runs and queries."""
        units = self.units
        queries, test = pluralize(units.n_queries, "query"), "paired t-test"
        if units.name:
            queries = queries_in_clusters(units.n_queries, units.n_units, units.name)
            queries, test = f"{queries}, at most {units.largest:,} in each", "cluster-robust t-test"
        return (
            f"Surely significant: by the two-sided {test} at {ALPHA} after Holm's correction, for any two "
            f"runs with these means over the same queries ({queries}), if each query has a value from 0 to "
            "1. Cannot be told: the means alone do not say whether the difference is significant."
        )


def _rounded_up(p: float | None) -> str:
    """Write an upper bound of p with four digits, rounded up."""
    return NONE if p is None else f"{ceil(p * 10_000) / 10_000:.4f}"


def _ceilings(claim: Claim, judgments: Judgments) -> Floats:
    """Compute the maximum value of each query, in descending order; a single 1 for a loose name."""
    if not claim.is_fully_specified or str(parse_measure(claim.measure).NAME) not in _HAVE_CEILINGS:
        return _ONE_CLASS
    return np.sort(ideal_evaluation(parse_measure(claim.measure), judgments).values[0])[::-1]


def _least_t(one: Claim, two: Claim, units: Units, ceilings: Floats) -> float:
    """Bound t from below over all means that print as two claims, in every reading of these."""
    claims = sorted((one, two), key=lambda claim: claim.value)
    t_values, maximum = [], float(ceilings.mean())
    for lower, higher in (claims, read_as(claims, False), read_as(claims, True)):
        low = max(higher.rounding_or_truncation.ends[0], 0.0)
        high = min(lower.rounding_or_truncation.ends[1], maximum)
        t_values.append(least_t(low, high, units, ceilings))
    return min(t_values)


def _other_queries(topics: list[int | None], units: Units) -> str:
    """Explain that means are over other queries than the qrels have; empty if they may be the same."""
    n = next((n for n in topics if n not in (None, units.n_queries)), None)
    return f"the table says {pluralize(n, 'query')}, and the qrels have {units.n_queries:,}" if n else ""


def _why_unknown(one: Claim, two: Claim, units: Units, ceilings: Floats, has_negative: bool) -> str:
    """Explain why no bound is known for a pair; empty if one is known."""
    if units.n_units < 2:
        return f"a t-test needs two {'clusters' if units.name else 'queries'}"
    if one.is_fully_specified and range_of(parse_measure(one.measure)) != (0, 1):
        return f"{one.name} is not known to be from 0 to 1 for each query"
    for claim in (one, two):
        high, low = claim.rounding_or_truncation.ends[::-1]
        if high < 0 or low > ceilings.mean() + BOUND:
            return f"{claim.name} {claim.text} is not the mean of any run"
        if claim.other and max(claim.value, claim.other.value) > 1:
            but = "if it is in percent, write a percent sign after its name or number"
            return f"{claim.name} {claim.text} may be above 1 if it is not normalized; {but}"
    if has_negative and one.measure == "nDCG":
        below = f"{one.name} may be below 0: some programs keep the negative grades of the qrels"
        return f"{below}; if these grades gain nothing, call it {_without_negative(one)}"
    return ""


def _without_negative(claim: Claim) -> str:
    """Return the name of the nDCG that is never below 0."""
    [cutoff, *_] = claim.cutoffs
    return f"VariantNDCG@{cutoff}" if cutoff else "VariantNDCG"
