"""What a reader of a comparison should know: too few queries, clusters or resamples for what was asked."""

from __future__ import annotations

from collections.abc import Iterable

from ir_measures.measures import Measure

from permed_measures.markup import counted
from permed_measures.statistics.differences import PairedRuns
from permed_measures.statistics.precision import near
from permed_measures.statistics.resampling import n_patterns
from permed_measures.statistics.results import ComparisonRow, Options
from permed_measures.statistics.significance import LEVELS, effective_clusters

_FEW = 10
"""Of fewer normal differences a 95% percentile bootstrap covers the mean in less than 90 of 100 cases."""


def cautions(
    paired: PairedRuns, options: Options, n_tests: int, n_here: int, level: float = LEVELS[0]
) -> list[str]:
    """Note where there are too few clusters or resamples for what was asked.

    Of the `n_tests` corrected together, `n_here` are on these queries; `level` is the lowest that has a mark.
    """
    notes = _no_significance(paired, options, n_tests, n_here, level)
    notes += _unequal_clusters(paired, options)
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


_FEW_EFFECTIVE = 5
"""Of fewer a cluster-robust t-test at 0.05 rejects a true null hypothesis in 6 of 100 cases and more."""


def unsteady(rows: list[ComparisonRow], options: Options, levels: Iterable[float]) -> list[str]:
    """Note how many p-values are so near to a level that another seed might put them on its other side."""
    tests = [row.tests.get("randomization") for row in rows]
    close = [test for test in tests if near(test, levels, options.correction)]
    if not close:
        return []
    some = f"{len(close):,} of {counted(len(rows), 'p-value')} might be on the other side of"
    error = max(test.error or 0 for test in close if test)
    draws = max(test.draws or 0 for test in close if test)
    return [
        f"randomization: with another seed {some} {' or '.join(map(str, levels))} "
        f"(Monte Carlo error {error:.2g} with {draws:,} draws); more resamples tell"
    ]


def _unequal_clusters(paired: PairedRuns, options: Options) -> list[str]:
    """Note that the cluster-robust t-test is too sure, because few clusters have most of the queries."""
    effective = effective_clusters(paired.cluster)
    if "t-test" not in options.tests or effective >= min(_FEW_EFFECTIVE, paired.n_clusters / 2):
        return []
    number, alike = counted(paired.n_clusters, "cluster"), f"{effective:.1f} of one size"
    return [
        f"clustered t-test: {number} of very different sizes count as {alike}, so that its p is too small; "
        "the randomization test holds"
    ]
