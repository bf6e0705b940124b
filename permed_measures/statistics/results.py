"""The result of a comparison: tests of each pair of runs on each measure, corrected for their number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Self, TypeVar

import numpy as np
from ir_measures.measures import Measure

from permed_measures.errors import InputError, check_choice, check_whole_number
from permed_measures.files.provenance import Origin
from permed_measures.markup import counted
from permed_measures.statistics.differences import PairedRuns
from permed_measures.statistics.resampling import (
    Operands,
    bootstrap_intervals,
    n_patterns,
    randomization_test,
)
from permed_measures.statistics.signed_ranks import wilcoxon_test
from permed_measures.statistics.significance import (
    CORRECTIONS,
    LEVELS,
    Estimate,
    Floats,
    Ints,
    SignificanceTest,
    blocks_of_columns,
    effect_sizes,
    effective_clusters,
    t_test,
)


@dataclass(frozen=True)
class ComparisonRow:
    """A run compared with another on a measure.

    Attributes
    ----------
    run, baseline : str
    measure : Measure
    mean, baseline_mean : float
        Over all queries of the qrels; of counts such as NumRet too, not their sum.
    difference : float
        The mean of the differences run - baseline.
    relative : float or None
        The difference over the absolute value of the baseline's mean; None where that mean is 0.
    wins, ties, losses : int
        Queries on which the run is above the baseline, equal (within 1e-12), below.
    interval : (float, float) or None
        Bootstrap confidence interval of the difference.
    effect_size : float or None
        Cohen's d_z: the difference over the standard deviation of the queries' differences.
    tests : dict of str to SignificanceTest
        By name: those that were asked for; with clusters also ``clustered t-test`` and
        ``naive randomization``.
    reasons : dict of str to str
        Why a field is None: by ``relative``, ``interval``, ``effect_size``.
    """

    run: str
    baseline: str
    measure: Measure
    mean: float
    baseline_mean: float
    difference: float
    relative: float | None
    wins: int
    ties: int
    losses: int
    interval: tuple[float, float] | None
    effect_size: float | None
    tests: dict[str, SignificanceTest]
    reasons: dict[str, str]


@dataclass(frozen=True, eq=False)
class ComparisonResult:
    """The outcome of a comparison.

    Attributes
    ----------
    rows : list of ComparisonRow
        One for each pair of runs and measure: measures in their order, then pairs.
    measures : list of Measure
    baseline : str or None
        None where every pair was compared.
    correction : str
    families : dict of str to int
        For each test, how many p-values were corrected together.
    resamples, seed : int
    level : float
        Of the intervals.
    notes : list of str
        Notes on the runs, the clusters and the tests.
    paired : PairedRuns
        The values of each query by each run, and the cluster of each query.
    by : str
        What the groups of queries are; empty without.
    groups : dict of group to the same
        The comparison on each group of queries, the p-values of all groups corrected together.
    origin : Origin or None
        Where the qrels and the runs come from.
    digits : int or None
        Number of decimals of means and differences; if None, four in tables and all in CSV.
    """

    rows: list[ComparisonRow]
    measures: list[Measure]
    baseline: str | None
    correction: str
    families: dict[str, int]
    resamples: int
    seed: int
    level: float
    notes: list[str]
    paired: PairedRuns = field(repr=False)
    by: str = ""
    groups: dict[Any, Self] = field(default_factory=dict, repr=False)
    origin: Origin | None = field(default=None, repr=False)
    digits: int | None = None

    @property
    def n_queries(self) -> int:
        """Number of queries in the qrels."""
        return len(self.paired.query_ids)

    @property
    def n_clusters(self) -> int:
        """Number of independent units: clusters, or queries without clusters."""
        return self.paired.n_clusters

    @property
    def level_in_percent(self) -> str:
        """The level of the intervals, such as ``95%``."""
        return f"{100 * self.level:.10g}%"

    def sections(self) -> Iterator[tuple[str, Self]]:
        """Yield the groups, then the whole, each with its label."""
        yield from ((str(value), group) for value, group in self.groups.items())
        yield ("(all)" if self.by else "", self)


VARIANTS = {
    "t-test": {"clustered t-test": False, "t-test": True},
    "wilcoxon": {"wilcoxon": True},
    "randomization": {"randomization": False, "naive randomization": True},
    "bootstrap": {},
}
"""The variants of each test, and whether they treat queries as independent.

Without clusters there is only the one of its name. The bootstrap gives an interval.
"""


@dataclass(frozen=True)
class Options:
    """How to test; validated on creation. See `compare`."""

    tests: tuple[str, ...]
    correction: str
    resamples: int
    seed: int
    level: float

    def __post_init__(self) -> None:
        """Raise InputError for an invalid option."""
        for name in self.tests:
            check_choice("a test", name, VARIANTS)
        check_choice("correction", self.correction, CORRECTIONS)
        check_whole_number("resamples", self.resamples, 1)
        check_whole_number("seed", self.seed, 0)
        if not isinstance(self.level, (int, float)) or not 0 < self.level < 1:
            raise InputError(
                f"level must be between 0 and 1 (found {self.level!r})", hint="95 percent is 0.95"
            )


def contrasts(paired: PairedRuns, options: Options) -> list[ComparisonRow]:
    """Build a row for each measure and pair, with p-values not yet adjusted."""
    differences, operands = paired.differences(), paired.operands()
    tested = _tested(paired, options, differences, operands)
    intervals = [Estimate(None, "the bootstrap was not asked for")] * differences.shape[1]
    if "bootstrap" in options.tests:
        how = options.resamples, options.seed, options.level
        intervals = bootstrap_intervals(differences, paired.cluster, *how, operands)
    effects = _in_blocks(effect_sizes, differences)
    return [
        _row(
            paired,
            number,
            pair,
            differences[:, column],
            {"interval": intervals[column], "effect_size": effects[column]},
            {name: outcomes[column] for name, outcomes in tested.items()},
        )
        for column, (number, pair) in enumerate(product(range(len(paired.measures)), paired.pairs))
    ]


def corrected(rows: list[ComparisonRow], correction: str) -> tuple[list[ComparisonRow], dict[str, int]]:
    """Adjust the p-values of each test over all rows; return the rows and the number of p-values by test."""
    tests, families = [dict(row.tests) for row in rows], {}
    for name in tests[0]:
        answered = [(each, p) for each in tests if (p := each[name].p) is not None]
        adjusted = CORRECTIONS[correction](np.array([p for _, p in answered], np.float64))
        for (each, _), value in zip(answered, adjusted.tolist(), strict=True):
            each[name] = replace(each[name], adjusted=value)
        families[name] = len(answered)
    return [replace(row, tests=each) for row, each in zip(rows, tests, strict=True)], families


_T = TypeVar("_T")


def _in_blocks(compute: Callable[[Floats], list[_T]], differences: Floats) -> list[_T]:
    """Compute something column by column, in blocks of columns."""
    return [each for block in blocks_of_columns(differences) for each in compute(block)]


def _tested(
    paired: PairedRuns, options: Options, differences: Floats, operands: Operands | None
) -> dict[str, list[SignificanceTest]]:
    """Run the tests on all columns; without clusters none is naive, and no clustered variant is added."""
    how = options.resamples, options.seed, operands
    tests: dict[str, Callable[[Ints], list[SignificanceTest]]] = {
        "t-test": lambda cluster: _in_blocks(lambda block: t_test(block, cluster), differences),
        "wilcoxon": lambda _: _in_blocks(wilcoxon_test, differences),
        "randomization": lambda cluster: randomization_test(differences, cluster, *how),
    }
    alone = np.arange(len(differences))
    found = {}
    for test in options.tests:
        for name, naive in VARIANTS[test].items():
            if paired.clusters:
                outcomes = tests[test](alone if naive else paired.cluster)
                found[name] = [replace(each, naive=naive) for each in outcomes]
            elif name == test:
                found[name] = tests[test](alone)
    return found


def _row(
    paired: PairedRuns,
    number: int,
    pair: tuple[str, str],
    differences: Floats,
    estimates: Mapping[str, Estimate],
    tests: dict[str, SignificanceTest],
) -> ComparisonRow:
    mean, baseline_mean = (float(paired.values[run][number].mean()) for run in pair)
    difference = float(differences.mean())
    undefined = Estimate(None, "the mean of the baseline is 0")
    relative = Estimate(difference / abs(baseline_mean)) if baseline_mean else undefined
    estimates = {"relative": relative, **estimates}
    wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
    return ComparisonRow(
        *pair,
        paired.measures[number],
        mean,
        baseline_mean,
        difference=difference,
        wins=wins,
        ties=len(differences) - wins - losses,
        losses=losses,
        tests=tests,
        reasons={name: each.reason for name, each in estimates.items() if each.value is None},
        **{name: each.value for name, each in estimates.items()},
    )


# --- cautions --------------------------------------------------------------------------------------

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
    if "bootstrap" in options.tests and 1 < paired.n_clusters < _FEW:
        units = counted(paired.n_clusters, paired.unit)
        notes.append(f"interval: with {units} percentile bootstrap intervals are too short")
    return notes


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
