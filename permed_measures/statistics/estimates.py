"""The intervals of a comparison: of means, differences, relative differences and effect sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from permed_measures.markup import counted, plural
from permed_measures.statistics.differences import PairedRuns
from permed_measures.statistics.intervals import (
    FEW,
    Spread,
    agreeing,
    bounds,
    cluster_sums,
    contrast_spreads,
    critical_of,
    mean_intervals,
)
from permed_measures.statistics.power import detectable, needed
from permed_measures.statistics.resampling import bootstrap_intervals
from permed_measures.statistics.results import ComparisonRow, Options, deciding
from permed_measures.statistics.significance import Estimate, Floats, has_scipy, zero_rounding_noise

Rows = list[ComparisonRow]
Interval = tuple[float, float] | None

_ROWS = 256
"""Number of rows whose queries are in memory at a time."""


def estimated(rows: Rows, paired: PairedRuns, options: Options, critical: Floats) -> Rows:
    """Give the rows their intervals, which never contradict the p-value that decides.

    Parameters
    ----------
    rows : list of ComparisonRow
        Of `families.corrected`.
    paired : PairedRuns
    options : Options
    critical : ndarray of float64, shape (n_rows,)
        How many standard errors a simultaneous interval has on a side; NaN for an interval of its own.
    """
    reason, student = _student(paired, options)
    alone = np.isnan(critical)
    critical = np.where(alone, student, critical)
    means = {} if reason else _means(paired, options.level)
    sums = {run: cluster_sums(values.T, paired.cluster) for run, values in paired.values.items()}
    found: Rows = []
    for start in range(0, len(rows), _ROWS):
        block, here = rows[start : start + _ROWS], slice(start, start + _ROWS)
        for row, fields in _of_block(block, paired, options, critical[here], sums):
            number = paired.measures.index(row.measure)
            of_means = {
                name: means.get(run, {}).get(number)
                for name, run in (("mean", row.run), ("baseline_mean", row.baseline))
            }
            missing = reason if reason or alone[len(found)] else _MORE
            reasons = row.reasons if fields["interval"] else {**row.reasons, "interval": missing or _UNEQUAL}
            fields["intervals"] = {**of_means, **fields["intervals"]}
            found.append(replace(row, reasons=reasons, **fields))
    return _by_bootstrap(found, paired, options) if options.interval == "bootstrap" else found


_UNEQUAL = "an interval needs more, and more equal, clusters"
_MORE = (
    "a simultaneous interval of so many differences needs more, and more equal, clusters or more resamples"
)


def _student(paired: PairedRuns, options: Options) -> tuple[str, float]:
    """Return why there is no interval of its own, if so, and its critical value."""
    if paired.n_clusters < 2:
        return f"an interval needs at least two {plural(paired.unit)}", np.inf
    if not has_scipy():
        return "an interval needs scipy", np.inf
    return "", critical_of(options.level, paired.n_clusters)


def _means(paired: PairedRuns, level: float) -> dict[str, dict[int, Any]]:
    """Return the interval of the mean of each run on each measure."""
    return {
        run: {i: each.value for i, each in enumerate(mean_intervals(values.T, paired.cluster, level))}
        for run, values in paired.values.items()
    }


def _of_block(
    rows: Rows, paired: PairedRuns, options: Options, critical: Floats, sums: Mapping[str, Floats]
) -> Iterator[tuple[ComparisonRow, dict[str, Any]]]:
    """Yield each row with what is estimated: the intervals, and what could be detected."""
    places = [paired.measures.index(row.measure) for row in rows]
    base = np.stack([paired.values[row.baseline][i] for row, i in zip(rows, places, strict=True)])
    differences = np.stack([paired.values[row.run][i] for row, i in zip(rows, places, strict=True)])
    differences -= base
    columns = [sums[row.baseline][:, i] for row, i in zip(rows, places, strict=True)]
    spreads = contrast_spreads(
        zero_rounding_noise(differences).T, base.mean(axis=1), np.stack(columns, axis=1), paired.cluster
    )
    names = ("difference", "relative", "effect_size")
    found = {
        name: _agreed(rows, spread, options, critical) for name, spread in zip(names, spreads, strict=True)
    }
    power = _power(spreads[0], options)
    for number, row in enumerate(rows):
        others = {
            name: found[name][number] if getattr(row, name) is not None else None
            for name in ("relative", "effect_size")
        }
        yield row, {"interval": found["difference"][number], "intervals": others, **power[number]}


def _power(spread: Spread, options: Options) -> list[dict[str, Any]]:
    """Return what could be detected with these units, and how many the difference asked for needs."""
    nothing: dict[str, Any] = {"detectable": None, "needed": None}
    varies = spread.error > 0
    if spread.n_units < 2 or not varies.any() or not has_scipy():
        return [nothing] * len(varies)
    least = detectable(spread.error, spread.n_units, options.level)
    units: list[int | None] = [None] * len(varies)
    if options.detect is not None:
        units = needed(spread.error, spread.n_units, options.detect, options.level)
    pairs = zip(least.tolist(), units, varies, strict=True)
    return [{"detectable": d, "needed": n} if here else nothing for d, n, here in pairs]


def _agreed(rows: Rows, spread: Spread, options: Options, critical: Floats) -> list[Interval]:
    """Return the intervals, which end at 0 where they would contradict the p-value that decides."""
    low, high = bounds(spread, critical)
    name, alpha = deciding(rows[0].tests), round(1 - options.level, 12)
    found: list[Interval] = []
    for row, ends in zip(rows, zip(low.tolist(), high.tolist(), strict=True), strict=True):
        if not np.isfinite(ends).all() or (spread.n_units < 2 and row.wins + row.losses):
            found.append(None)
            continue
        test = row.tests.get(name)
        p = None if test is None else test.adjusted if options.interval == "simultaneous" else test.p
        found.append(ends if p is None else agreeing(*ends, row.difference > 0, p < alpha))
    return found


def _by_bootstrap(rows: Rows, paired: PairedRuns, options: Options) -> Rows:
    """Replace the intervals of the differences by percentile bootstrap intervals."""
    how = options.resamples, options.seed, options.level
    drawn = bootstrap_intervals(paired.differences(), paired.cluster, *how, paired.operands())
    return [_with_interval(row, each) for row, each in zip(rows, drawn, strict=True)]


def _with_interval(row: ComparisonRow, found: Estimate) -> ComparisonRow:
    reasons = {name: reason for name, reason in row.reasons.items() if name != "interval"}
    if found.value is None:
        reasons["interval"] = found.reason
    return replace(row, interval=found.value, reasons=reasons)


# --- where they may not hold ---------------------------------------------------------------------------


_SMALL = 20


def doubtful(rows: Rows, paired: PairedRuns, options: Options) -> list[str]:
    """Note where intervals may not hold as often as they say: of few units, or where few of them differ."""
    n_units, level = paired.n_clusters, f"{100 * options.level:.10g}%"
    if n_units < 2 or options.interval == "bootstrap" or not any(row.interval for row in rows):
        return []
    if n_units < _SMALL:
        units = counted(n_units, paired.unit)
        return [f"interval: with {units} it holds less often than {level} where differences are skewed"]
    enough = FEW * int(np.bincount(paired.cluster).max())  # so many queries are of FEW clusters at least
    few = sum(row.wins + row.losses < enough and _differ(row, paired) < FEW for row in rows)
    if not few:
        return []
    units, verb = plural(paired.unit), "is" if few == 1 else "are"
    return [
        f"interval: {few:,} of {counted(len(rows), 'difference')} {verb} 0 but on fewer than {FEW} {units}; "
        f"there it may hold less often than {level}"
    ]


def _differ(row: ComparisonRow, paired: PairedRuns) -> int:
    """Count the units that differ."""
    number = paired.measures.index(row.measure)
    differences = zero_rounding_noise(paired.values[row.run][number] - paired.values[row.baseline][number])
    return len(np.unique(paired.cluster[differences != 0]))
