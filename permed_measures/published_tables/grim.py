"""What the numbers of a column tell by themselves: whole numbers of hits, points or percent of another row.

P@k over n topics is a whole number of hits, divided by k·n. Where the numbers of a column are whole
numbers of another total, it is not the measure of its heading, or the topics are others. Brown and
Heathers (2017) test single numbers so (GRIM).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.escaping import grouped, join_names, pluralize
from permed_measures.measures.parameters import Cutoff, cutoff_of
from permed_measures.measures.parsing import parse_measure
from permed_measures.published_tables.cells import CellNumber
from permed_measures.published_tables.claims import EXACT, Claim, RoundingInterval
from permed_measures.published_tables.measure_names import meaning_of, strip_heading
from permed_measures.published_tables.tables import ClaimRow

_MISPRINTED = 0.01
"""How many numbers of a column may be no whole numbers, as after a typing error."""
_ODDS = 1000
"""How much likelier the numbers must be by a whole, among as many others, than without one."""
_MAX_P_OF_TRUNCATION = 0.001
"""In how many columns the numbers are cut off after their last digit, and not rounded."""
_MOST_TOPICS, _LARGEST_CUTOFF = 10_000, 200
_MOST_DIGITS = 9
"""Numbers with more would not fit into 64 bits."""
_SHOWN = 3


class CommonDenominator(NamedTuple):
    """What the numbers of a column are whole numbers of.

    Attributes
    ----------
    name : str
        What heads the column.
    measure : {'P', 'Success', 'Coverage'}
    cutoff : int
        How many hits a topic can have by the heading.
    claims : list of Claim
        The numbers of all rows.
    said : int
        How many hits there could be by the heading and the qrels: the cutoff times the topics.
    total : int
        The same by the numbers.
    is_cut : bool
        Whether the numbers were cut off after their last digit, and not rounded.
    topics : tuple of int
        Over how many topics that may be.
    part : str
        The table and the heading above the column, where there are several.
    """

    name: str
    measure: str
    cutoff: int
    claims: list[Claim]
    said: int
    total: int
    is_cut: bool
    topics: tuple[int, ...] = ()
    part: str = ""

    @property
    def is_as_said(self) -> bool:
        """Whether the heading and the qrels say so too."""
        return self.total == self.said

    def __str__(self) -> str:
        """Say it, with an example of a number that is another one than the heading says."""
        hits = [(claim, self._printed(claim).counts(self.total)) for claim in self.claims]
        others = [claim.text for claim, found in hits if not found]
        n = len(hits)
        rows = f"{n - len(others)} of {n} rows" if others else f"all {n} rows"
        but = f" (not {join_names(others, _SHOWN)})" if others else ""
        cut = " if they were cut and not rounded" if self.is_cut else ""
        ways = " or ".join(map(self._way, self.topics))
        name = f"{self.name} of {self.part}" if self.part else self.name
        line = f"{rows} are whole numbers of {self.total:,}{cut}{but}, as {ways}"
        for claim, found in hits:
            by_heading = claim.anyhow.counts(self.said) or self._printed(claim).counts(self.said)
            if len(found) == 1 and not by_heading:
                number = f"{claim.text} is {found[0]:,} of {self.total:,}, no whole number of {self.said:,}"
                return f"{name}: {number}: {line}"
        return f"{name}: {line}"

    def _printed(self, claim: Claim) -> RoundingInterval:
        if not self.is_cut:
            return claim.printed()
        return RoundingInterval.cut(claim.value, claim.decimals)._replace(
            without_high=False
        )  # as for `_evidence`

    def _way(self, n_topics: int) -> str:
        measure = f"P@{self.total // n_topics}" if self.measure == "P" else self.measure
        return f"{measure} over {n_topics:,} topics"


def wholes_by_part(
    rows: Iterable[tuple[str, int | None, Sequence[Claim]]], n_topics: int
) -> Iterator[CommonDenominator]:
    """Yield the wholes of each part of a table by itself: one below another heading may have other topics.

    Parameters
    ----------
    rows : iterable of tuples of str, int or None, and sequence of Claim
        The name of the part that each row is in, over how many topics it says to be, and its numbers.
    n_topics : int
        Over how many topics the others are.
    """
    parts = grouped(((part, topics or n_topics), claims) for part, topics, claims in rows)
    for (part, topics), of_part in parts.items():
        yield from (whole._replace(part=part) for whole in wholes_in(of_part, topics))


def wholes_in(rows: Iterable[Sequence[Claim]], n_topics: int) -> Iterator[CommonDenominator]:
    """Yield what the numbers of columns of P, Success and Coverage are whole numbers of, where these tell.

    By a total of h hits a row prints each of h + 1 numbers with the same probability, and in 1 of 100 rows
    any number, as after a typing error; without a total it prints any of the numbers with its digits. Tried
    are the totals with the cutoff of the heading, or over the topics of the qrels, by numbers that are
    rounded, and that are cut off in 1 of 1,000 columns. The likeliest is named if the numbers are 1,000 times
    as many times likelier by it as there are totals. As the mean of such a ratio is at most 1, at most 1 of
    1,000 columns of arbitrary numbers is said to have a total, and at most 1 of 1,000 that are as the heading
    and the qrels say is said to have another (Markov's inequality).

    Parameters
    ----------
    rows : iterable of sequences of Claim
    n_topics : int
        Over how many topics the qrels have the mean.

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
    found = [_whole(name, _read_alike(claims), n_topics) for name, claims in columns.items()]
    wholes = [whole for whole in found if whole is not None]
    tried = dict.fromkeys([n_topics, *(whole.total // whole.cutoff for whole in wholes)])
    for whole in wholes:
        common = {n: sum(n in _topics(each, tried) for each in wholes) for n in _topics(whole, tried)}
        yield whole._replace(topics=tuple(n for n in common if common[n] == max(common.values())))


def _topics(whole: CommonDenominator, tried: Iterable[int]) -> list[int]:
    """Return the numbers of topics that go into a total, with any cutoff of P."""
    return [n for n in tried if (whole.total % n == 0 and whole.measure == "P") or whole.total == n]


def _measure_of(claim: Claim) -> tuple[str, int]:
    """Return the name of a measure that counts hits, and how many a topic can have; empty for others."""
    if not claim.is_fixed:
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
        return [claim if claim.percent else claim.or_in_percent().other or claim for claim in claims]
    return claims


def _whole(name: str, claims: list[Claim], n_topics: int) -> CommonDenominator | None:
    """Return the whole that the numbers of a column tell; None if they tell none."""
    measure, cutoff = _measure_of(claims[0])
    told = list({claim.value: claim for claim in claims if 0 < claim.value < 1}.values())
    digits = max((claim.decimals for claim in told), default=0)
    if not measure or digits > _MOST_DIGITS:
        return None
    said, totals = cutoff * n_topics, cutoff * np.arange(1, _MOST_TOPICS + 1)
    if measure == "P":
        totals = np.union1d(totals, n_topics * np.arange(1, _LARGEST_CUTOFF + 1))
    totals = np.union1d(totals[totals < 10**digits], said)
    evidence = np.array([_evidence(told, totals), _evidence(told, totals, is_cut=True)])
    likelier = evidence + np.log([[1 - _MAX_P_OF_TRUNCATION], [_MAX_P_OF_TRUNCATION]])
    way, best = np.unravel_index(likelier.argmax(), likelier.shape)
    as_said = evidence[:, totals == said].max() if totals[best] != said else 0
    if likelier[way, best] - max(as_said, 0) < np.log(_ODDS * len(totals)):
        return None
    return CommonDenominator(name, measure, cutoff, claims, said, int(totals[best]), is_cut=bool(way))


def _evidence(claims: list[Claim], totals: NDArray[np.int64], *, is_cut: bool = False) -> NDArray[np.float64]:
    """Return the logarithm of how much likelier each total makes claims than if they were any numbers."""
    evidence = np.zeros(len(totals))
    for claim in claims:
        unit = 10**claim.decimals
        low = 2 * int(EXACT.multiply(claim.value, unit)) - (not is_cut)  # in halves of the last digit
        is_whole = (low + 2) * totals // (2 * unit) >= -(-low * totals // (2 * unit))
        n_printed = np.minimum(totals + 1 + _n_at_ends(unit, totals, is_cut), unit)
        evidence += np.log(np.where(is_whole, (1 - _MISPRINTED) * unit / n_printed, 0) + _MISPRINTED)
    return evidence


def _n_at_ends(unit: int, totals: NDArray[np.int64], is_cut: bool) -> NDArray[np.int64]:
    """Return how many shares may print as two numbers, as they lie where one ends and the other begins."""
    if is_cut:  # what a sum is off by may cut off more
        return np.gcd(unit, totals)
    common = np.gcd(2 * unit, totals)
    return np.where(2 * unit // common % 2, (common + 1) // 2, 0)


# --- changes from another row ----------------------------------------------------------------------


def changes_in(rows: list[ClaimRow]) -> Iterator[str]:
    """Say of each column of changes whether all its numbers are points or percent of one row of the table."""
    columns: dict[tuple[str, str, str], list[tuple[CellNumber, ClaimRow]]] = {}
    for row in rows:
        for title, name, number in row.changes:
            columns.setdefault((row.part, title, name), []).append((number, row))
    for (part, title, about), cells in columns.items():
        names = {name for row in rows for name in row.claims if _meaning(name) == _meaning(about)}
        found: dict[str, list[str]] = {"points": [], "percent": []}
        for name in sorted(names):
            for base in (row for row in rows if row.part == part and name in row.claims):
                fits = [
                    _fits(number, row.claims.get(name), base.claims[name])
                    if row is not base
                    else _of_itself(number)
                    for number, row in cells
                ]
                for way in set.intersection(*fits):
                    found[way].append(f"{name} against {base.label}")
        ways = [f"{way} of {' or '.join(of[:_SHOWN])}" for way, of in found.items() if of]
        start = f"{part}: " if part else ""
        what = ", or ".join(ways) or "neither points nor percent of one row of the table"
        yield f"{start}{title} ({pluralize(len(cells), 'number')}): {what}"


def _meaning(name: str) -> tuple[str, tuple[Cutoff, ...]]:
    return meaning_of(strip_heading(name)[0])


def _fits(change: CellNumber, claim: Claim | None, base: Claim) -> set[str]:
    """Return what a change of a number from another can be, to the digits that are printed."""
    if claim is None:
        return set()
    wanted, a, b = map(_printed, (change, CellNumber(claim.text), CellNumber(base.text)))
    points = RoundingInterval(a.low - b.high, a.high - b.low)
    tried = [("points", points), ("points", _times_100(points))]  # the latter of fractions
    if b.low > 0:
        tried.append(("percent", _times_100(RoundingInterval(a.low / b.high - 1, a.high / b.low - 1))))
    ways = [wanted] if change.signed else [wanted, RoundingInterval(-wanted.high, -wanted.low)]
    return {way for way, ours in tried for each in ways if ours.low <= each.high and each.low <= ours.high}


def _of_itself(change: CellNumber) -> set[str]:
    """Return what a change of a number from itself can be: nothing but 0."""
    return set() if any(digit in change.number for digit in "123456789") else {"points", "percent"}


def _printed(number: CellNumber) -> RoundingInterval:
    """Return the values that print as a number, in points where it is in percent."""
    return RoundingInterval.rounded(number.value, -int(number.value.as_tuple().exponent))


def _times_100(values: RoundingInterval) -> RoundingInterval:
    return RoundingInterval(100 * values.low, 100 * values.high)
