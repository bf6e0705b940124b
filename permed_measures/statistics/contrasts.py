"""Test each pair of runs on each measure, and correct for the number of tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np
from ir_measures.measures import Measure

from permed_measures.errors import InputError, nearest
from permed_measures.statistics.differences import PairedRuns
from permed_measures.statistics.resampling import Operands, bootstrap_intervals, randomization_test
from permed_measures.statistics.significance import (
    CORRECTIONS,
    Estimate,
    Floats,
    Ints,
    Outcome,
    blocks_of_columns,
    effect_sizes,
    t_test,
    wilcoxon_test,
)


@dataclass(frozen=True)
class SignificanceTest:
    """The result of a significance test on a pair of runs.

    Attributes
    ----------
    p : float or None
        Two-sided, uncorrected.
    adjusted : float or None
        Corrected for the number of p-values of the same test.
    statistic : float or None
        t; Wilcoxon's smaller rank sum; for the randomization test the mean difference.
    naive : bool
        Whether queries of one cluster were treated as independent: the p-value is too small where they are
        correlated.
    method : str
        How it was computed, such as ``10,000 random sign patterns of 843 clusters``.
    reason : str
        Why there is no p-value, where there is none.
    """

    p: float | None
    adjusted: float | None
    statistic: float | None
    naive: bool
    method: str
    reason: str = ""


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


_T = TypeVar("_T")


class _Test(NamedTuple):
    """A test, its name in the result, and whether it treats queries as independent."""

    name: str
    naive: bool
    run: Callable[[Floats, Ints, Options, Operands | None], list[Outcome]]


def _in_blocks(compute: Callable[[Floats], list[_T]], differences: Floats) -> list[_T]:
    """Compute something column by column, in blocks of columns."""
    return [each for block in blocks_of_columns(differences) for each in compute(block)]


def _t(differences: Floats, cluster: Ints, *_: object) -> list[Outcome]:
    return _in_blocks(lambda block: t_test(block, cluster), differences)


def _randomization(
    differences: Floats, cluster: Ints, options: Options, operands: Operands | None
) -> list[Outcome]:
    return randomization_test(differences, cluster, options.resamples, options.seed, operands)


TESTS: dict[str, tuple[_Test, ...]] = {
    "t-test": (_Test("clustered t-test", False, _t), _Test("t-test", True, _t)),
    "wilcoxon": (_Test("wilcoxon", True, lambda differences, *_: _in_blocks(wilcoxon_test, differences)),),
    "randomization": (
        _Test("randomization", False, _randomization),
        _Test("naive randomization", True, _randomization),
    ),
    "bootstrap": (),
}
"""The variants of each test; without clusters only the one of its name. The bootstrap gives an interval."""


@dataclass(frozen=True)
class Options:
    """How to test; validated on creation.

    Attributes
    ----------
    tests : tuple of str
    correction : str
    resamples, seed : int
    level : float
    """

    tests: tuple[str, ...]
    correction: str
    resamples: int
    seed: int
    level: float

    def __post_init__(self) -> None:
        """Raise InputError for an invalid option."""
        if self.correction not in CORRECTIONS:
            raise InputError(
                f"correction must be one of {', '.join(CORRECTIONS)} (found {self.correction!r})",
                hint=nearest(str(self.correction), CORRECTIONS),
            )
        for name, least in (("resamples", 1), ("seed", 0)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise InputError(f"{name} must be a whole number of at least {least} (found {value!r})")
        if not isinstance(self.level, (int, float)) or not 0 < self.level < 1:
            raise InputError(
                f"level must be between 0 and 1 (found {self.level!r})", hint="95 percent is 0.95"
            )

    @classmethod
    def of(
        cls, tests: Iterable[str] | str, correction: str, resamples: int, seed: int, level: float
    ) -> Options:
        """Check the options of `compare`."""
        return cls(_tests(tests), correction, resamples, seed, level)


def _tests(names: Iterable[str] | str) -> tuple[str, ...]:
    """Validate the names of tests, and drop repetitions."""
    wanted = tuple(dict.fromkeys([names] if isinstance(names, str) else names))
    for name in wanted:
        if name not in TESTS:
            raise InputError(
                f"a test must be one of {', '.join(TESTS)} (found {name!r})", hint=nearest(str(name), TESTS)
            )
    return wanted


# --- rows ------------------------------------------------------------------------------------------


def contrasts(paired: PairedRuns, options: Options) -> list[ComparisonRow]:
    """Build a row for each measure and pair, with p-values not yet adjusted."""
    differences = paired.differences()
    operands = paired.operands()
    tested = {
        test.name: _tested(test, differences, paired, options, operands) for test in _chosen(paired, options)
    }
    intervals = _intervals(differences, paired, options, operands)
    effects = _in_blocks(effect_sizes, differences)
    places = [(number, *pair) for number in range(len(paired.measures)) for pair in paired.pairs]
    rows = []
    for column, (number, run, baseline) in enumerate(places):
        means = (float(paired.values[name][number].mean()) for name in (run, baseline))
        estimates = {"interval": intervals[column], "effect_size": effects[column]}
        tests = {name: each[column] for name, each in tested.items()}
        names = run, baseline, paired.measures[number]
        rows.append(_row(names, (next(means), next(means)), differences[:, column], estimates, tests))
    return rows


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


def _chosen(paired: PairedRuns, options: Options) -> list[_Test]:
    """Choose the variants to compute: without clusters none is naive, and no clustered variant is added."""
    tests = [test for name in options.tests for test in TESTS[name]]
    if paired.clusters:
        return tests
    return [test._replace(naive=False) for test in tests if test.name in TESTS]


def _tested(
    test: _Test, differences: Floats, paired: PairedRuns, options: Options, operands: Operands | None
) -> list[SignificanceTest]:
    """Run a test on all columns."""
    cluster = np.arange(len(differences)) if test.naive else paired.cluster
    return [
        SignificanceTest(each.p, each.p, each.statistic, test.naive, each.method, each.reason)
        for each in test.run(differences, cluster, options, operands)
    ]


def _intervals(
    differences: Floats, paired: PairedRuns, options: Options, operands: Operands | None
) -> list[Estimate]:
    if "bootstrap" not in options.tests:
        return [Estimate(None, "the bootstrap was not asked for")] * differences.shape[1]
    how = options.resamples, options.seed, options.level
    return bootstrap_intervals(differences, paired.cluster, *how, operands)


def _row(
    names: tuple[str, str, Measure],
    means: tuple[float, float],
    differences: Floats,
    estimates: dict[str, Estimate],
    tests: dict[str, SignificanceTest],
) -> ComparisonRow:
    difference = float(differences.mean())
    undefined = Estimate(None, "the mean of the baseline is 0")
    relative = Estimate(difference / abs(means[1])) if means[1] else undefined
    wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
    return ComparisonRow(
        *names,
        *means,
        difference=difference,
        relative=relative.value,
        wins=wins,
        ties=len(differences) - wins - losses,
        losses=losses,
        interval=estimates["interval"].value,
        effect_size=estimates["effect_size"].value,
        tests=tests,
        reasons={
            name: each.reason
            for name, each in {"relative": relative, **estimates}.items()
            if each.value is None
        },
    )
