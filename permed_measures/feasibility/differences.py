"""Which differences between printed means are significant, whatever the two runs are."""

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
from permed_measures.escaping import grouped, pluralize
from permed_measures.feasibility.rows import read_as
from permed_measures.intervals import queries_in_clusters, range_of
from permed_measures.measures.parsing import parse_measure
from permed_measures.published_tables.claims import EXACT, Claim
from permed_measures.results.report import Section
from permed_measures.results.table import NONE, Cell, Table
from permed_measures.tolerances import BOUND

ALPHA = 0.05
SURELY, UNDECIDED = "surely significant", "not decided"
_NOT_TOLD = "cannot be told"
_ONE_CLASS = np.ones(1)
_HAVE_CEILINGS = ("P", "R", "RR", "AP", "GradedAP", "nDCG", "Success")
"""The measures that are highest for the documents in the order of their grades."""
_MAX_SHOWN_PAIRS = 20
"""How many pairs a report shows; CSV and JSON have all."""


class Units(NamedTuple):
    """What is independent: queries or, with a name, clusters.

    Attributes
    ----------
    n_queries, n_units : int
    largest : int
        How many queries the largest cluster has.
    name : str
        What the clusters are; empty for queries.
    """

    n_queries: int
    n_units: int
    largest: int = 1
    name: str = ""

    @classmethod
    def of(cls, judgments: Judgments, clusters: By | None, dataset: Any) -> tuple[Units, list[str]]:
        """Return the units of a test, by default conversations where they are known; and notes."""
        name, cluster, notes = clusters_of(judgments.query_ids, clusters, dataset)
        sizes = np.bincount(cluster)
        return cls(judgments.n_queries, len(sizes), int(sizes.max()), name), notes


def least_t(higher: float, lower: float, units: Units, ceilings: Floats = _ONE_CLASS) -> float:
    r"""Return the least t of a paired t-test that two runs can have with these means.

    Let the values of a query be from 0 to 1, x of one run and y of the other, D = x - y, with the means
    a > b over N queries, d = a - b. As |D| is at most 1, x + y and 2 - x - y,

    .. math:: E[D^2] \le E|D| \le m = \min(a + b, 2 - a - b)

    (m is smaller where the measure has a ceiling below 1: `_most_squares`), and so t is at least
    d √((N - 1) / (m - d²)). With G clusters of at most n queries, the cluster-robust t-test of
    `comparison.tests` has the squared error G / (G - 1) ∑ u² / N², u being the sum of D - d in a cluster. By
    Cauchy and Schwarz u² is at most n times the sum of the squares (D - d)², so that the error is at most
    G / (G - 1) n (m - d²) / N, and

    .. math:: t \ge d \sqrt{\frac{N (G - 1)}{G n (m - d^2)}}

    which is the former where each query is its own cluster. As m is a concave function of a + b that is 0
    at both its ends, d² / m grows with a and falls with b, so that the lower end of a and the upper end of b
    are the least favourable. Where D has no variance, t is infinite.

    Parameters
    ----------
    higher, lower : float
        The means a and b.
    units : Units
    ceilings : ndarray
        The most that each query can have, in descending order; a single 1 for all.

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
    variance = _most_squares(higher + lower, ceilings) - d * d
    return d * sqrt(n * (g - 1) / (g * largest * variance)) if variance > 0 else inf


def _most_squares(total: float, ceilings: Floats) -> float:
    """Return the most that the mean of D² can be, if the means of two runs add up to a total.

    Where no value of a query is above c, D² is at most c |D|, and |D| at most x + y and 2 c - x - y. The sum
    of these is the largest if x + y is c in the queries with the largest c, as far as the total goes; what is
    more than c in all queries takes away the least where c is small.
    """
    within = total * len(ceilings)
    beyond = max(within - ceilings.sum(), 0.0)
    return (_filled(within, ceilings) - _filled(beyond, ceilings[::-1])) / len(ceilings)


def _filled(amount: float, ceilings: Floats) -> float:
    """Return the sum of c times what each query takes of an amount, at most c, one query after the other."""
    before = np.cumsum(ceilings) - ceilings
    return float(ceilings @ np.clip(amount - before, 0, ceilings))


class RowDifference(NamedTuple):
    """The difference between two rows.

    Attributes
    ----------
    measure : str
        As it was printed.
    row, other : str
    difference : float
        What the row has more than the other, as printed.
    verdict : {'surely significant', 'not decided'}
    p_at_most : float or None
        What p is at most, after Holm's correction for all pairs; None where nothing is known of it.
    why : str
        Why it is not decided; empty if it is.
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
    """The differences between rows of a table, and what was assumed to be independent."""

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
        """Compare all rows of each part that have a measure of the same name.

        `topics` has over how many queries the means of a row are, where that is said.
        """
        from scipy.special import stdtr

        asked = [
            (row, other, one, two)
            for of_part in grouped(zip(parts, rows.items(), strict=True)).values()
            for (row, ours), (other, theirs) in combinations(of_part, 2)
            for one in ours
            for two in theirs
            if one.name == two.name
        ]
        if not asked:
            hint = "Give a table with --claims FILE, or claims=FILE in Python"
            raise InputError("differences need two rows with a number of the same measure", hint=hint)
        ceilings = {one.name: _ceilings(one, judgments) for *_, one, _ in asked}
        has_negative = bool((judgments.grade < 0).any())
        whys = [
            _of_others([topics[row], topics[other]], units)
            or _unknown(one, two, units, ceilings[one.name], has_negative)
            for row, other, one, two in asked
        ]
        t = [
            0.0 if why else _least_t(one, two, units, ceilings[one.name])
            for (*_, one, two), why in zip(asked, whys, strict=True)
        ]
        p = CORRECTIONS["holm"](2 * stdtr(max(units.n_units - 1, 1), -np.array(t)))
        pairs = []
        for (row, other, one, two), why, each_t, each_p in zip(asked, whys, t, p.tolist(), strict=True):
            surely, at_most = each_p <= ALPHA, None if why else each_p
            why = why or (f"{_NOT_TOLD} from the means" if each_t else "the means may be the same")
            difference = float(EXACT.subtract(one.value, two.value))
            said = (SURELY, each_p, "") if surely else (UNDECIDED, at_most, why)
            pairs.append(RowDifference(one.name, row, other, difference, *said))
        return cls(pairs, units)

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield a record for each pair."""
        return (pair._asdict() for pair in self.pairs)

    def section(self) -> Section:
        """Return how many differences are surely significant, and a row for each of the clearest."""
        texts = []
        for measure, pairs in grouped((each.measure, each) for each in self.pairs).items():
            n_surely = sum(each.verdict == SURELY for each in pairs)
            texts.append(f"{measure}: {n_surely:,} of {pluralize(len(pairs), 'pair')} surely significant.")
        known = [each for each in self.pairs if each.p_at_most is not None]
        shown = sorted(known, key=lambda each: each.p_at_most or 0.0)[:_MAX_SHOWN_PAIRS]
        if len(known) > _MAX_SHOWN_PAIRS:
            texts.append(f"Shown are the {_MAX_SHOWN_PAIRS} pairs with the least p; CSV and JSON have all.")
        unknown = dict.fromkeys(each.why for each in self.pairs if each.p_at_most is None)
        texts += [f"Not decided: {why}." for why in unknown]
        lines: list[list[str | Cell]] = [
            [
                *(each.measure, each.row, each.other, "surely" if not each.why else _NOT_TOLD),
                Cell(f"{each.difference:+.6g}", value=each.difference),
                Cell(_rounded_up(each.p_at_most), value=each.p_at_most),
            ]
            for each in shown
        ]
        headings = ["measure", "row", "other", "significant", "difference", "p at most"]
        caption = (
            f"Differences (row minus other), p after Holm's correction for "
            f"{pluralize(len(self.pairs), 'pair')}"
        )
        tables = [Table.of(headings, lines, 4, caption=caption, label="differences")] if lines else []
        return Section("Differences", tables=tables, texts=[*texts, self.assumed()])

    def assumed(self) -> str:
        """Say of which runs, queries and test this is true."""
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
    """Write a bound of p with four digits, none of which makes it less."""
    return NONE if p is None else f"{ceil(p * 10_000) / 10_000:.4f}"


def _ceilings(claim: Claim, judgments: Judgments) -> Floats:
    """Return the most that each query can have, in descending order; a single 1 for a loose name."""
    if not claim.is_fixed or str(parse_measure(claim.measure).NAME) not in _HAVE_CEILINGS:
        return _ONE_CLASS
    return np.sort(ideal_evaluation(parse_measure(claim.measure), judgments).values[0])[::-1]


def _least_t(one: Claim, two: Claim, units: Units, ceilings: Floats) -> float:
    """Return the least t for all means that print as two claims, as they may be read."""
    claims = sorted((one, two), key=lambda claim: claim.value)
    t, most = [], float(ceilings.mean())
    for lower, higher in (claims, read_as(claims, False), read_as(claims, True)):
        t.append(least_t(max(higher.anyhow.ends[0], 0.0), min(lower.anyhow.ends[1], most), units, ceilings))
    return min(t)


def _of_others(topics: list[int | None], units: Units) -> str:
    """Say that means are not over the queries of the qrels; empty if they may be."""
    n = next((n for n in topics if n not in (None, units.n_queries)), None)
    return f"the table says {pluralize(n, 'query')}, and the qrels have {units.n_queries:,}" if n else ""


def _unknown(one: Claim, two: Claim, units: Units, ceilings: Floats, has_negative: bool) -> str:
    """Say why no bound is known of a pair; empty if one is."""
    if units.n_units < 2:
        return f"a t-test needs two {'clusters' if units.name else 'queries'}"
    if one.is_fixed and range_of(parse_measure(one.measure)) != (0, 1):
        return f"{one.name} is not known to be from 0 to 1 for each query"
    for claim in (one, two):
        high, low = claim.anyhow.ends[::-1]
        if high < 0 or low > ceilings.mean() + BOUND:
            return f"{claim.name} {claim.text} is beyond what the mean of any run can be"
        if claim.other and max(claim.value, claim.other.value) > 1:
            but = "if it is in percent, write a percent sign behind its name or number"
            return f"{claim.name} {claim.text} may be above 1, as nothing is divided; {but}"
    if has_negative and one.measure == "nDCG":
        below = f"{one.name} may be below 0, as some keep the negative grades of the qrels"
        return f"{below}; if these gain nothing, call it {_without_negative(one)}"
    return ""


def _without_negative(claim: Claim) -> str:
    """Return the name of nDCG that is never below 0."""
    [cutoff, *_] = claim.cutoffs
    return f"VariantNDCG@{cutoff}" if cutoff else "VariantNDCG"
