"""Check the numbers of columns by themselves: counts of hits, and changes from another row.

P@k over n topics is a whole number of hits, divided by k·n. If the numbers of a column have another
denominator, the column is not the measure of its heading, or it is over other topics. Brown and Heathers
(2017) check single numbers this way (the GRIM test).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.measures.parameters import Cutoff, cutoff_of
from permed_measures.measures.parsing import parse_measure
from permed_measures.published_tables.cells import CellNumber
from permed_measures.published_tables.claims import EXACT, Claim, RoundingInterval
from permed_measures.published_tables.measure_names import meaning_of, strip_heading
from permed_measures.published_tables.tables import ClaimRow
from permed_measures.wording import grouped, join_names, pluralize

_MISPRINTED = 0.01
"""Prior probability that a number is not a count, for example after a typing error."""
_ODDS = 1000
"""Minimum likelihood ratio of a denominator against none, per denominator tried."""
_MAX_P_OF_TRUNCATION = 0.001
"""Prior probability that the numbers of a column are cut off after their last digit, not rounded."""
_MOST_TOPICS, _LARGEST_CUTOFF = 10_000, 200
_MOST_DIGITS = 9
"""Maximum number of digits: with more, products would not fit into 64 bits."""
_SHOWN = 3


class CommonDenominator(NamedTuple):
    """The denominator that the numbers of a column have in common.

    Attributes
    ----------
    name : str
        The heading of the column.
    measure : {'P', 'Success', 'Coverage'}
    cutoff : int
        The maximum number of hits for a topic, according to the heading.
    claims : list of Claim
        The numbers of all rows.
    heading_total : int
        The denominator according to the heading and the qrels: the cutoff times the topics.
    total : int
        The denominator according to the numbers.
    is_cut : bool
        Whether the numbers were cut off after their last digit, not rounded.
    topics : tuple of int
        The numbers of topics that fit the total.
    part : str
        The table and the heading above the column, if there are several.
    """

    name: str
    measure: str
    cutoff: int
    claims: list[Claim]
    heading_total: int
    total: int
    is_cut: bool
    topics: tuple[int, ...] = ()
    part: str = ""

    @property
    def matches_heading(self) -> bool:
        """Whether the numbers agree with the heading and the qrels."""
        return self.total == self.heading_total

    def __str__(self) -> str:
        """Describe the denominator, with an example of a number that contradicts the heading."""
        hits = [(claim, self._printed(claim).counts(self.total)) for claim in self.claims]
        others = [claim.text for claim, counts in hits if not counts]
        n = len(hits)
        rows = f"{n - len(others)} of {n} rows" if others else f"all {n} rows"
        but = f" (not {join_names(others, _SHOWN)})" if others else ""
        cut = " if they were cut and not rounded" if self.is_cut else ""
        ways = " or ".join(map(self._way, self.topics))
        name = f"{self.name} of {self.part}" if self.part else self.name
        line = f"{rows} are multiples of 1/{self.total:,}{cut}{but}, as {ways}"
        for claim, counts in hits:
            by_heading = claim.rounding_or_truncation.counts(self.heading_total) or self._printed(
                claim
            ).counts(self.heading_total)
            if len(counts) == 1 and not by_heading:
                number = (
                    f"{claim.text} is {counts[0]:,} of {self.total:,}, not a multiple of "
                    f"1/{self.heading_total:,}"
                )
                return f"{name}: {number}: {line}"
        return f"{name}: {line}"

    def _printed(self, claim: Claim) -> RoundingInterval:
        if not self.is_cut:
            return claim.printed()
        # The upper end belongs to it, as in `_evidence`: a sum may be just below its exact value.
        return RoundingInterval.cut(claim.value, claim.decimals)._replace(without_high=False)

    def _way(self, n_topics: int) -> str:
        measure = f"P@{self.total // n_topics}" if self.measure == "P" else self.measure
        return f"{measure} over {n_topics:,} topics"


def wholes_by_part(
    rows: Iterable[tuple[str, int | None, Sequence[Claim]]], n_topics: int
) -> Iterator[CommonDenominator]:
    """Yield the common denominators of each part of a table, because parts may have different topics.

    Parameters
    ----------
    rows : iterable of tuples of str, int or None, and sequence of Claim
        For each row the name of its part, the number of topics if the table says it, and its numbers.
    n_topics : int
        The number of topics of the other rows.
    """
    parts = grouped(((part, topics or n_topics), claims) for part, topics, claims in rows)
    for (part, topics), part_rows in parts.items():
        yield from (whole._replace(part=part) for whole in wholes_in(part_rows, topics))


def wholes_in(rows: Iterable[Sequence[Claim]], n_topics: int) -> Iterator[CommonDenominator]:
    """Yield the common denominators of columns of P, Success and Coverage whose numbers show one.

    With a denominator of h hits, a row prints each of h + 1 numbers with the same probability, and in 1 of
    100 rows any number, for example after a typing error. Without one, it prints any number with its digits.
    The totals tried have the cutoff of the heading, or the topics of the qrels. The numbers are rounded; a
    prior of 1 in 1,000 columns has numbers that are cut off.

    The best total is reported if its likelihood ratio exceeds 1,000 times the number of totals tried. The
    mean of such a ratio is at most 1. By Markov's inequality, at most 1 of 1,000 columns of arbitrary numbers
    gets a total, and at most 1 of 1,000 columns that agree with the heading and the qrels gets another one.

    Parameters
    ----------
    rows : iterable of sequences of Claim
    n_topics : int
        The number of topics of the qrels.

    Examples
    --------
    >>> from permed_measures.published_tables.claims import parse_claims
    >>> rows = parse_claims([{"P@10": f"{hits / 750:.4f}"} for hits in (230, 81, 307, 44, 190, 413, 52)])
    >>> [whole] = wholes_in(rows, 50)
    >>> whole.total, whole.topics
    (750, (50, 75))
    """
    columns: dict[str, list[Claim]] = {}
    for claim in (claim for row in rows for claim in row):
        columns.setdefault(claim.name, []).append(claim)
    results = [_common_denominator(name, _read_alike(claims), n_topics) for name, claims in columns.items()]
    wholes = [whole for whole in results if whole is not None]
    tried = dict.fromkeys([n_topics, *(whole.total // whole.cutoff for whole in wholes)])
    for whole in wholes:
        common = {n: sum(n in _topics(other, tried) for other in wholes) for n in _topics(whole, tried)}
        yield whole._replace(topics=tuple(n for n in common if common[n] == max(common.values())))


def _topics(whole: CommonDenominator, tried: Iterable[int]) -> list[int]:
    """List the numbers of topics that divide a total; P may have any cutoff."""
    return [n for n in tried if (whole.total % n == 0 and whole.measure == "P") or whole.total == n]


def _measure_of(claim: Claim) -> tuple[str, int]:
    """Return the name of a measure that counts hits, and the maximum hits for a topic; empty for others."""
    if not claim.is_fully_specified:
        measure, cutoff = claim.measure, claim.cutoffs[0]
    else:
        parsed = parse_measure(claim.measure)
        measure, cutoff = str(parsed.NAME), cutoff_of(parsed)
    if measure == "P" and isinstance(cutoff, int):
        return "P", cutoff
    return measure if measure in ("Success", "Coverage") else "", 1


def _read_alike(claims: list[Claim]) -> list[Claim]:
    """Read all numbers of a column in percent if one is."""
    if any(claim.percent for claim in claims):
        return [claim if claim.percent else claim.with_percent_reading().other or claim for claim in claims]
    return claims


def _common_denominator(name: str, claims: list[Claim], n_topics: int) -> CommonDenominator | None:
    """Find the denominator that the numbers of a column show; None if they show none."""
    measure, cutoff = _measure_of(claims[0])
    distinct = list({claim.value: claim for claim in claims if 0 < claim.value < 1}.values())
    digits = max((claim.decimals for claim in distinct), default=0)
    if not measure or digits > _MOST_DIGITS:
        return None
    heading_total, totals = cutoff * n_topics, cutoff * np.arange(1, _MOST_TOPICS + 1)
    if measure == "P":
        totals = np.union1d(totals, n_topics * np.arange(1, _LARGEST_CUTOFF + 1))
    totals = np.union1d(totals[totals < 10**digits], heading_total)
    evidence = np.array([_evidence(distinct, totals), _evidence(distinct, totals, is_cut=True)])
    with_prior = evidence + np.log([[1 - _MAX_P_OF_TRUNCATION], [_MAX_P_OF_TRUNCATION]])
    way, best = np.unravel_index(with_prior.argmax(), with_prior.shape)
    by_heading = evidence[:, totals == heading_total].max() if totals[best] != heading_total else 0
    if with_prior[way, best] - max(by_heading, 0) < np.log(_ODDS * len(totals)):
        return None
    return CommonDenominator(
        name, measure, cutoff, claims, heading_total, int(totals[best]), is_cut=bool(way)
    )


def _evidence(claims: list[Claim], totals: NDArray[np.int64], *, is_cut: bool = False) -> NDArray[np.float64]:
    """Compute the log-likelihood ratio of claims under each total against arbitrary numbers."""
    evidence = np.zeros(len(totals))
    for claim in claims:
        unit = 10**claim.decimals
        low = 2 * int(EXACT.multiply(claim.value, unit)) - (not is_cut)  # in halves of the last digit
        is_whole = (low + 2) * totals // (2 * unit) >= -(-low * totals // (2 * unit))
        n_printed = np.minimum(totals + 1 + _n_at_ends(unit, totals, is_cut), unit)
        evidence += np.log(np.where(is_whole, (1 - _MISPRINTED) * unit / n_printed, 0) + _MISPRINTED)
    return evidence


def _n_at_ends(unit: int, totals: NDArray[np.int64], is_cut: bool) -> NDArray[np.int64]:
    """Count the shares that may print as two numbers, because they lie on the border between these."""
    if is_cut:  # rounding errors of sums may cut off one unit more
        return np.gcd(unit, totals)
    common = np.gcd(2 * unit, totals)
    return np.where(2 * unit // common % 2, (common + 1) // 2, 0)


# --- changes from another row ----------------------------------------------------------------------


def changes_in(rows: list[ClaimRow]) -> Iterator[str]:
    """Check for each column of changes whether all its numbers are points or percent of one row."""
    columns: dict[tuple[str, str, str], list[tuple[CellNumber, ClaimRow]]] = {}
    for row in rows:
        for title, name, number in row.changes:
            columns.setdefault((row.part, title, name), []).append((number, row))
    for (part, title, about), cells in columns.items():
        names = {name for row in rows for name in row.claims if _meaning(name) == _meaning(about)}
        bases: dict[str, list[str]] = {"points": [], "percent": []}
        for name in sorted(names):
            for base in (row for row in rows if row.part == part and name in row.claims):
                fits = [
                    _fits(number, row.claims.get(name), base.claims[name])
                    if row is not base
                    else _from_itself(number)
                    for number, row in cells
                ]
                for way in set.intersection(*fits):
                    bases[way].append(f"{name} against {base.label}")
        ways = [f"{way} of {' or '.join(names[:_SHOWN])}" for way, names in bases.items() if names]
        start = f"{part}: " if part else ""
        what = ", or ".join(ways) or "neither points nor percent of one row of the table"
        yield f"{start}{title} ({pluralize(len(cells), 'number')}): {what}"


def _meaning(name: str) -> tuple[str, tuple[Cutoff, ...]]:
    return meaning_of(strip_heading(name)[0])


def _fits(change: CellNumber, claim: Claim | None, base: Claim) -> set[str]:
    """Tell whether a printed change can be points or percent of the difference of two printed numbers."""
    if claim is None:
        return set()
    printed, a, b = map(_values_of, (change, CellNumber(claim.text), CellNumber(base.text)))
    points = RoundingInterval(a.low - b.high, a.high - b.low)
    computed = [("points", points), ("points", _times_100(points))]  # the latter for fractions
    if b.low > 0:
        computed.append(("percent", _times_100(RoundingInterval(a.low / b.high - 1, a.high / b.low - 1))))
    signs = [printed] if change.signed else [printed, RoundingInterval(-printed.high, -printed.low)]
    return {
        way
        for way, values in computed
        for wanted in signs
        if values.low <= wanted.high and wanted.low <= values.high
    }


def _from_itself(change: CellNumber) -> set[str]:
    """Tell whether a change can be that of a number from itself: only if it is 0."""
    return set() if any(digit in change.number for digit in "123456789") else {"points", "percent"}


def _values_of(number: CellNumber) -> RoundingInterval:
    """Find the values that print as a number; percent is in points."""
    return RoundingInterval.rounded(number.value, -int(number.value.as_tuple().exponent))


def _times_100(values: RoundingInterval) -> RoundingInterval:
    return RoundingInterval(100 * values.low, 100 * values.high)
