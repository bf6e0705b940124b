"""What a reader of a comparison should know: too few queries, clusters or resamples for what was asked."""

from __future__ import annotations

from collections.abc import Iterable

from ir_measures.measures import Measure

from permed_measures.markup import counted
from permed_measures.statistics.differences import PairedRuns
from permed_measures.statistics.randomization import n_patterns
from permed_measures.statistics.results import Options
from permed_measures.statistics.significance import LEVELS

_FEW = 10
"""Of fewer normal differences a 95% percentile bootstrap covers the mean in less than 90 of 100 cases."""


def cautions(
    paired: PairedRuns, options: Options, n_tests: int, n_here: int, level: float = LEVELS[0]
) -> list[str]:
    """Note where there are too few clusters or resamples for what was asked.

    Of the `n_tests` corrected together, `n_here` are on these queries; `level` is the lowest that has a mark.
    """
    notes = _no_significance(paired, options, n_tests, n_here, level)
    if options.interval == "bootstrap" and 1 < paired.n_clusters < _FEW:
        units = counted(paired.n_clusters, paired.unit)
        notes.append(f"interval: with {units} percentile bootstrap intervals are too short")
    return notes


def disputed(measures: Iterable[Measure]) -> list[str]:
    """Note that means of reciprocal ranks are disputed.

    References
    ----------
    Fuhr, Some Common Mistakes in IR Evaluation, and How They Can Be Avoided, SIGIR Forum 51(3), 2017;
    Sakai, On Fuhr's Guideline for IR Evaluation, SIGIR Forum 54(1), 2020.
    """
    names = list(dict.fromkeys(each.NAME for each in measures if each.NAME in ("RR", "ERR")))
    if not names:
        return []
    steps = "whose steps have unequal sizes: whether means of it may be compared is disputed"
    return [f"{' and '.join(names)}: a reciprocal rank, {steps} (Fuhr 2017; Sakai 2020)"]


def _no_significance(
    paired: PairedRuns, options: Options, n_tests: int, n_here: int, level: float
) -> list[str]:
    """Note that no result can be significant at the level, with so few clusters or resamples.

    Holm's correction multiplies the smallest p of these queries by at least `n_here`, since all others may be
    smaller still.
    """
    if "randomization" not in options.tests:
        return []
    patterns = n_patterns(paired.n_clusters, options.resamples)
    family = {"holm": n_here, "bonferroni": n_tests}.get(options.correction, 1)
    least = min(family * (2 / patterns if patterns else 1 / (1 + options.resamples)), 1.0)
    if least < level:
        return []
    cause = counted(paired.n_clusters, paired.unit) if patterns else counted(options.resamples, "resample")
    or_more = " or more" if options.correction == "holm" and n_here < n_tests else ""
    corrected = f", corrected for {counted(family, 'test')}{or_more}," if family > 1 else ""
    return [f"randomization: with {cause} no p-value{corrected} is below {least:.4g}, whatever the runs"]
