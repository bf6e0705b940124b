"""The intervals of a comparison: of means and of differences; and on request what could be detected."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from permed_measures.markup import counted, plural
from permed_measures.statistics.bootstrap import bootstrap_intervals
from permed_measures.statistics.differences import PairedRuns
from permed_measures.statistics.intervals import (
    FEW,
    bounds,
    critical_of,
    difference_range,
)
from permed_measures.statistics.power import detectable, needed
from permed_measures.statistics.proportions import measure_intervals
from permed_measures.statistics.results import ComparisonRow, Options
from permed_measures.statistics.significance import (
    Estimate,
    Floats,
    effective_clusters,
    mean_and_error,
    zero_rounding_noise,
)

Rows = list[ComparisonRow]


def estimated(rows: Rows, paired: PairedRuns, options: Options, critical: Floats) -> Rows:
    """Give the rows their intervals.

    Parameters
    ----------
    rows : list of ComparisonRow
        Of `contrasts`: measures in their order, then pairs.
    paired : PairedRuns
    options : Options
    critical : ndarray of float64, shape (n_rows,)
        How many standard errors a simultaneous interval has on a side; NaN for an interval of its own.
    """
    means = _means(paired, options.level)
    found: Rows = []
    for number, part in enumerate(paired.by_measure()):
        here = slice(len(found), len(found) + len(paired.pairs))
        mean, error = mean_and_error(part.differences(), paired.cluster)
        intervals = _intervals(part, options, mean, error, critical[here])
        power = _power(error, paired.n_clusters, options)
        for row, interval, extra in zip(rows[here], intervals, power, strict=True):
            reasons = {**row.reasons, **({} if interval.value else {"interval": interval.reason})}
            of_means = {"mean": means[row.run][number], "baseline_mean": means[row.baseline][number]}
            given = {name: each.value for name, each in of_means.items()}
            found.append(replace(row, interval=interval.value, reasons=reasons, intervals=given, **extra))
    return found


def _means(paired: PairedRuns, level: float) -> dict[str, list[Estimate]]:
    """Return the interval of the mean of each run on each measure."""
    return {
        run: measure_intervals(paired.measures, values.T, paired.cluster, level)
        for run, values in paired.values.items()
    }


def _intervals(
    paired: PairedRuns, options: Options, mean: Floats, error: Floats, critical: Floats
) -> list[Estimate]:
    """Return the intervals of the differences on one measure."""
    units = plural(paired.unit)
    if paired.n_clusters < 2:
        return [Estimate(None, f"an interval needs at least two {units}")] * len(mean)
    if options.interval == "bootstrap":
        columns = paired.columns(paired.cluster)
        return bootstrap_intervals(columns, options.resamples, options.seed, options.level)
    critical = np.where(np.isnan(critical), critical_of(options.level, paired.n_clusters), critical)
    low, high = bounds(mean, error, critical, [difference_range(paired.measures[0])] * len(mean))
    return [
        Estimate(None, f"an interval needs differences that vary between {units}")
        if not varies
        else Estimate(None, f"a simultaneous interval needs more {units} or more resamples")
        if not np.isfinite(reach)
        else Estimate((a, b))
        for varies, reach, a, b in zip(error > 0, critical, low.tolist(), high.tolist(), strict=True)
    ]


def _power(error: Floats, n_units: int, options: Options) -> list[dict[str, Any]]:
    """Return what one t-test finds with these units, and how many the difference asked for needs."""
    nothing: dict[str, Any] = {"detectable": None, "needed": None}
    if options.detect is None or n_units < 2:
        return [nothing] * len(error)
    least = detectable(error, n_units, options.level).tolist()
    units = needed(error, n_units, options.detect, options.level)
    return [
        {"detectable": d, "needed": n} if varies else nothing
        for d, n, varies in zip(least, units, error > 0, strict=True)
    ]


# --- where they may not hold ---------------------------------------------------------------------------

_SMALL = 20
_FEW_EFFECTIVE = 5
"""Of fewer a cluster-robust t-test at 0.05 rejects a true null hypothesis in 6 of 100 cases and more."""


def doubtful(rows: Rows, paired: PairedRuns, options: Options) -> list[str]:
    """Note where the coverage of intervals may be lower: few units, few that differ, or unequal clusters."""
    n_units, below = paired.n_clusters, f"coverage may be below {100 * options.level:.10g}%"
    if options.interval == "bootstrap" or not any(row.interval for row in rows):
        return []
    notes = []
    if n_units < _SMALL:
        notes.append(f"interval: with {counted(n_units, paired.unit)} {below} where differences are skewed")
    else:
        enough = FEW * int(np.bincount(paired.cluster).max())  # so many queries are of FEW clusters at least
        few = sum(row.wins + row.losses < enough and _differ(row, paired) < FEW for row in rows)
        if few:
            some, units = f"{few:,} of {counted(len(rows), 'difference')}", plural(paired.unit)
            verb = "is" if few == 1 else "are"
            notes.append(f"interval: {some} {verb} 0 but on fewer than {FEW} {units}; there {below}")
    effective = effective_clusters(paired.cluster)
    if effective < min(_FEW_EFFECTIVE, n_units / 2):
        alike = f"{n_units:,} clusters of very different sizes count as {effective:.1f} of one size"
        too_small = ", and p of the clustered t-test too small" if "t-test" in options.tests else ""
        notes.append(f"interval: {alike}: {below}{too_small}")
    return notes


def _differ(row: ComparisonRow, paired: PairedRuns) -> int:
    """Count the units that differ."""
    number = paired.measures.index(row.measure)
    differences = zero_rounding_noise(paired.values[row.run][number] - paired.values[row.baseline][number])
    return len(np.unique(paired.cluster[differences != 0]))
