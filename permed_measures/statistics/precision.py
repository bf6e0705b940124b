"""The Monte Carlo error of p-values by random draws, and more draws where it matters."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from permed_measures.statistics.differences import PairedRuns
from permed_measures.statistics.resampling import randomization_test
from permed_measures.statistics.results import SIMULTANEOUS, ComparisonRow, Options
from permed_measures.statistics.significance import LEVELS, SignificanceTest, zero_rounding_noise

MORE = 10
"""So many times the resamples are drawn where a p-value is near a level."""

THRESHOLDS = (*LEVELS, 0.001)
"""The levels near which more is drawn: those of marks, and that of p < 0.001 in sentences."""

_MOST = 5_000_000_000
"""Not more products than this are computed for it: some seconds of work."""


def with_error(test: SignificanceTest, correction: str) -> SignificanceTest:
    """Add the Monte Carlo error of the adjusted p-value.

    That of a share p of so many random draws is the root of p (1 - p) / draws; a correction that multiplies p
    multiplies its error too, and max-T has a share of its own.
    """
    if test.draws is None or not test.adjusted:
        return test
    p = test.adjusted if correction in SIMULTANEOUS else test.p or 0.0
    return replace(test, error=test.adjusted / p * math.sqrt(p * (1 - p) / test.draws))


def near(test: SignificanceTest | None, levels: Iterable[float], correction: str) -> bool:
    """Say whether another seed might put the adjusted p-value on the other side of a level it can reach."""
    if test is None or test.error is None or test.draws is None or not test.adjusted:
        return False
    times = 1 if correction in SIMULTANEOUS else test.adjusted / (test.p or 1)
    reached = (level for level in levels if times / (1 + test.draws) < level)
    return any(abs(test.adjusted - level) <= 2 * test.error for level in reached)


def redrawn(
    found: list[ComparisonRow], corrected: list[ComparisonRow], paired: PairedRuns, options: Options
) -> list[ComparisonRow]:
    """Test rows again, by `MORE` times the resamples, whose corrected p-value is near a level.

    `found` has the rows before they were corrected; it is returned where none is near. Which rows are tested
    again depends on the seed, not on the order of the runs.

    References
    ----------
    Gandy, Sequential Implementation of Monte Carlo Tests with Uniformly Bounded Resampling Risk, JASA 104,
    2009; here in two steps.
    """
    unsure = [
        number
        for number, row in enumerate(corrected)
        if near(row.tests.get("randomization"), THRESHOLDS, options.correction)
    ]
    resamples = MORE * options.resamples
    if not unsure or len(unsure) * paired.n_clusters * resamples > _MOST:
        return found
    columns = []
    for row in (found[number] for number in unsure):
        place = paired.measures.index(row.measure)
        columns.append(
            zero_rounding_noise(paired.values[row.run][place] - paired.values[row.baseline][place])
        )
    tests = randomization_test(np.stack(columns, axis=1), paired.cluster, resamples, options.seed)
    again = list(found)
    for number, test in zip(unsure, tests, strict=True):
        again[number] = replace(again[number], tests={**again[number].tests, "randomization": test})
    return again


def more_draws(n_columns: int, resamples: int) -> int:
    """Return how many signs max-T draws where a p-value is near a level, of so many columns."""
    return MORE * resamples if n_columns * MORE * resamples * 25 <= _MOST else resamples
