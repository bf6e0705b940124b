"""Notes where there are too few clusters or resamples for what was asked."""

from __future__ import annotations

from permed_measures.markup import counted
from permed_measures.statistics.contrasts import Options
from permed_measures.statistics.differences import PairedRuns
from permed_measures.statistics.resampling import n_patterns

_USUAL = 0.05
"""The level of significance that most papers use."""


def coarse(paired: PairedRuns, options: Options, n_tests: int, n_here: int) -> list[str]:
    """Note that no result can be significant, with so few clusters or resamples.

    Of the `n_tests` corrected together, `n_here` are on these queries. Holm's correction multiplies the
    smallest p of these by at least `n_here`, since all others may be smaller still.
    """
    if "randomization" not in options.tests:
        return []
    n = int(paired.cluster.max()) + 1
    patterns = n_patterns(n, options.resamples)
    family = {"holm": n_here, "bonferroni": n_tests}.get(options.correction, 1)
    least = min(family * (2 / patterns if patterns else 1 / (1 + options.resamples)), 1.0)
    if least <= _USUAL:
        return []
    cause = counted(n, paired.unit) if patterns else counted(options.resamples, "resample")
    or_more = " or more" if options.correction == "holm" and n_here < n_tests else ""
    corrected = f", corrected for {counted(family, 'test')}{or_more}," if family > 1 else ""
    return [f"randomization: with {cause} no p-value{corrected} is below {least:.4g}, whatever the runs"]


_FEW = 10
"""Of fewer normal differences a 95% percentile bootstrap covers the mean in less than 90 of 100 cases."""


def too_short(paired: PairedRuns, options: Options) -> list[str]:
    """Note that there are too few clusters for the intervals."""
    n = int(paired.cluster.max()) + 1
    if "bootstrap" not in options.tests or not 1 < n < _FEW:
        return []
    return [f"interval: with {counted(n, paired.unit)} percentile bootstrap intervals are too short"]
