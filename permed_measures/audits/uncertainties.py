"""Intervals and p-values of a printed table, against those of the runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.audits.answers import Answer
from permed_measures.audits.changes import Changes, Range, same_measure
from permed_measures.audits.choices import MeasureSpec
from permed_measures.audits.claim_columns import Kind
from permed_measures.audits.claim_runs import Assigned
from permed_measures.audits.claim_tables import ClaimRow, Derived
from permed_measures.audits.matches import ClaimAudit
from permed_measures.audits.query_sets import place
from permed_measures.audits.tried import number_of
from permed_measures.errors import InputError
from permed_measures.markup import counted
from permed_measures.papers.cells import plain, printed_in
from permed_measures.statistics.resampling import randomization_test
from permed_measures.statistics.signed_ranks import wilcoxon_test
from permed_measures.statistics.significance import scipy_stats, t_test, zero_rounding_noise

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_SEEDS = (42, 0, 1, 123, 1234, 2024)
_RESAMPLES = (10_000, 1_000, 5_000, 2_000)
_MOST_DRAWS = 10**8
"""How many draws are made for all seeds together."""
_SCATTER = 0.05
"""By how much of their width the bounds of two bootstraps differ that draw otherwise."""
_NUMBERS = re.compile(r"([0-9]{1,18})")
_P = re.compile(r"(?:p\s*)?([<>≤=]?)\s*(.*)")


def checks_of(main: Answer, rows: list[ClaimRow], printed: Assigned) -> list[str]:
    """Say of all numbers that come from others what they are, each column in a line."""
    if not printed.derived:
        return []
    by_run = {run: row for row in rows if (run := printed.run_of.get(id(row))) is not None}
    changes = Changes(rows, printed, by_run)
    return [*changes.lines(), *_Uncertain(main, printed, changes).lines()]


class _Series(NamedTuple):
    """The values of the queries that a mean or a difference is taken over, and what it is of.

    The queries are in the order of the numbers in their ids; `by_text` puts them in that of the ids as texts.
    """

    values: Floats
    by_text: Ints
    scale: float
    what: str


class _Uncertain:
    """The intervals and p-values of a file, by column."""

    def __init__(self, main: Answer, printed: Assigned, changes: Changes) -> None:
        self.main, self.changes = main, changes
        self.columns: dict[tuple[str, Kind, str], list[tuple[ClaimRow, str | None, str | None, Derived]]] = {}
        of_runs = [each for each in printed.derived if each[1] is not None]
        for row, run, versus in of_runs:
            for derived in row.derived:
                if derived.kind in (Kind.INTERVAL, Kind.P):
                    key = (row.part, derived.kind, derived.title)
                    self.columns.setdefault(key, []).append((row, run, versus, derived))

    def lines(self) -> Iterator[str]:
        """Say of each column what its numbers are."""
        for (part, kind, title), cells in self.columns.items():
            said: dict[str, int] = {}
            for row, run, versus, derived in cells:
                series = self._series(row, run, versus, derived)
                if series is None:
                    text = "not checked: the table does not say of which runs and measure"
                else:
                    text = (_interval if kind is Kind.INTERVAL else _p_value)(derived.text, series, row.label)
                said[text] = said.get(text, 0) + 1
            start = f"{part}: {title}" if part else title
            of = "interval" if kind is Kind.INTERVAL else "p-value"
            for text, n in said.items():
                yield f"{start} ({counted(n, of)}): {text}"

    def _series(self, row: ClaimRow, run: str | None, versus: str | None, derived: Derived) -> _Series | None:
        """Return the values that an interval or a p-value is of; None if that is not said."""
        ours = self._values(run, derived.name)
        if ours is None:
            return None
        values, by_text, scale, name = ours
        base = self.changes.bases.get((row.part, name))
        against = versus or (None if base is None else self.changes.run_of(base))
        theirs = self._values(against, derived.name)
        mean = _Series(values, by_text, scale, name)
        of_mean = derived.kind is Kind.INTERVAL and versus is None
        if of_mean and _holds(derived.text, scale * float(values.mean())):
            return mean
        if theirs is None or len(theirs.values) != len(values):
            return mean if of_mean else None
        difference = zero_rounding_noise(values - theirs.values)
        return _Series(difference, by_text, scale, f"{name} against {against}")

    def _values(self, run: str | None, name: str) -> _Series | None:
        """Return the values of the queries for a measure of a run, as the claims were made."""
        for audited in self.main.claims:
            if audited.row == run and (not name or same_measure(audited.claim.name, name)):
                order = queries_of(self.main, audited)
                if order is None:
                    return None
                values, texts = (
                    per_query(self.main, audited)[order],
                    np.array(audited.run.judgments.query_ids),
                )
                scale = 100.0 if audited.claim.percent else 1.0
                return _Series(values, np.argsort(texts[order]), scale, audited.claim.name)
        return None


def per_query(main: Answer, audited: ClaimAudit) -> Floats:
    """Return the value of each query by which a claim was made."""
    claim, r = audited.claim, _number(main, audited)
    cutoff, ranked = main.cutoffs[claim.name], audited.run.ranked[r]
    spec = MeasureSpec(claim.measure, cutoff, ranked.labels, ranked.spans)
    return main.choices[claim.family].values(ranked.at(cutoff), spec)


def queries_of(main: Answer, audited: ClaimAudit) -> Ints | None:
    """Return the queries that the mean is taken over, as the numbers in their ids order them.

    It is None if the claim is no plain mean of the values of queries.
    """
    sets = audited.run.sets_at(_number(main, audited), main.cutoffs[audited.claim.name])
    weights = sets.weights[place(main.setting.queries)]
    ids = audited.run.judgments.query_ids
    order = np.array(
        sorted(np.flatnonzero(weights).tolist(), key=lambda query: _natural(ids[query])), np.int64
    )
    if not len(order) or np.ptp(weights[order]) > 0:
        return None
    mean = per_query(main, audited)[order].mean()
    return order if np.isclose(mean, main.given(audited).value, rtol=0, atol=1e-9) else None


def _number(main: Answer, audited: ClaimAudit) -> int:
    """Return which ranking of a run a convention uses."""
    return int(audited.run.of_setting[number_of(main.setting) or 0])


def _natural(query_id: str) -> list[tuple[int, str]]:
    """Return what orders an id by the numbers in it."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in _NUMBERS.split(query_id)]


# --- intervals -----------------------------------------------------------------------------------------


def _bounds_in(text: str) -> tuple[str, str] | None:
    printed = printed_in(text)
    return None if printed is None else printed.interval


def _holds(text: str, value: float) -> bool:
    """Return whether an interval holds a value."""
    bounds = _bounds_in(text)
    return bounds is not None and Range.of(bounds[0]).low <= value <= Range.of(bounds[1]).high


@dataclass(frozen=True)
class _Bootstrap:
    """The means of resamples of one generator."""

    values: Floats
    seed: int
    legacy: bool

    @cached_property
    def means(self) -> Floats:
        """The mean of each resample, in the order in which they are drawn."""
        n = len(self.values)
        new, old = np.random.default_rng(self.seed), np.random.RandomState(self.seed)
        found = np.empty(max(_RESAMPLES))
        step = max((1 << 21) // n, 1)
        for start in range(0, len(found), step):
            size = (min(step, len(found) - start), n)
            drawn = old.randint(0, n, size) if self.legacy else new.integers(0, n, size)
            found[start : start + size[0]] = self.values[drawn].mean(axis=1)
        return found

    def intervals(self) -> Iterator[tuple[tuple[float, float], str]]:
        """Yield the 95% intervals, and how each is made."""
        generator = f"RandomState({self.seed})" if self.legacy else f"default_rng({self.seed})"
        for n in _RESAMPLES:
            means = np.sort(self.means[:n])
            low, high = np.quantile(means, [0.025, 0.975])
            how = f"percentile bootstrap of {n:,} resamples, numpy's {generator}"
            yield (low, high), how
            for last in (int(0.975 * n), int(0.975 * n) - 1):
                yield (means[int(0.025 * n)], means[last]), f"{how}, bounds that are resamples"


def _interval(text: str, series: _Series, label: str) -> str:
    """Say what gives an interval; else what ours is."""
    bounds = _bounds_in(text)
    if bounds is None:
        return f"{text} of {label} is no interval"
    wanted = [Range.of(each) for each in bounds]
    if not len(series.values) > 1:
        return "not checked: there is one query"
    for found, how in _intervals(series):
        if _prints(found, wanted, series.scale):
            return f"{how}, of {series.what}"
    ours = next(iter(_Bootstrap(series.values, *_kinds()[0]).intervals()))[0]
    low, high = (series.scale * each for each in ours)
    reach = _SCATTER * (high - low)
    if abs(low - wanted[0].middle) <= reach and abs(high - wanted[1].middle) <= reach:
        return f"as the bootstrap of {series.what} gives it, up to its random draws"
    digits = max(len(each.rstrip("%").partition(".")[2]) for each in bounds)
    return f"{text} of {label} is not that of {series.what}, which is [{low:.{digits}f}, {high:.{digits}f}]"


def _kinds() -> list[tuple[int, bool]]:
    return [(seed, legacy) for seed, legacy in product(_SEEDS, (False, True))]


def _intervals(series: _Series) -> Iterator[tuple[tuple[float, float], str]]:
    """Yield 95% intervals of a mean: of bootstraps with usual seeds, of t and of the normal distribution."""
    values = series.values
    n, mean = len(values), float(values.mean())
    orders = [values, values[series.by_text]]
    error = float(values.std(ddof=1)) / n**0.5
    yield (mean - 1.96 * error, mean + 1.96 * error), "mean and 1.96 standard errors"
    try:
        reach = float(scipy_stats().t.ppf(0.975, n - 1)) * error
        yield (mean - reach, mean + reach), "the t-distribution"
    except InputError:  # without scipy there is one way less
        pass
    most = max(_MOST_DRAWS // (max(_RESAMPLES) * n), 1)
    for (seed, legacy), ordered in islice(product(_kinds(), orders), most):
        yield from _Bootstrap(ordered, seed, legacy).intervals()


def _prints(found: tuple[float, float], wanted: list[Range], scale: float) -> bool:
    values = [scale * each for each in found]
    return all(each.meets(Range(value, value)) for each, value in zip(wanted, values, strict=True))


# --- p-values ------------------------------------------------------------------------------------------


def _p_value(text: str, series: _Series, label: str) -> str:
    """Say which test gives a p-value; else what ours give."""
    found = _P.fullmatch(plain(text).strip(" *†‡$").lower())
    printed = printed_in(found[2]) if found else None
    if found is None or printed is None or not printed.number:
        return f"{text} of {label} is no p-value"
    ours = _p_values(series.values)
    limit = Range.of(printed.number)
    if found[1] in ("<", "≤", ">"):
        agree = [name for name, p in ours.items() if (p > limit.middle) == (found[1] == ">")]
    else:
        agree = [name for name, p in ours.items() if limit.meets(Range(p, p))]
    if agree:
        return f"{' and '.join(agree)}, of {series.what}"
    shown = ", ".join(f"{p:.2g} by {name}" for name, p in ours.items())
    return f"{text} of {label} is not that of {series.what}: {shown}"


def _p_values(values: Floats) -> dict[str, float]:
    """Return the p-values of the usual paired tests."""
    column, cluster = values[:, None], np.arange(len(values))
    tests = {
        "the randomization test (10,000 resamples, seed 42)": randomization_test(column, cluster, 10_000, 42)
    }
    try:
        tests["the paired t-test"] = t_test(column, cluster)
        tests["Wilcoxon's test"] = wilcoxon_test(column)
    except InputError:  # these need scipy
        pass
    return {name: outcome.p for name, [outcome] in tests.items() if outcome.p is not None}
