"""The rows of a comparison, and the tests of each, before they are corrected for their number."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np

from permed_measures.statistics.differences import PairedRuns
from permed_measures.statistics.interactions import interaction_test
from permed_measures.statistics.power import equivalence_test
from permed_measures.statistics.results import EQUIVALENCE, INTERACTION, VARIANTS, ComparisonRow, Options
from permed_measures.statistics.signed_ranks import wilcoxon_test
from permed_measures.statistics.significance import (
    Estimate,
    Floats,
    Ints,
    SignificanceTest,
    blocks_of_columns,
    effect_sizes,
    t_test,
)

Tests = dict[str, list[SignificanceTest]]
"""The outcomes of a test on each column, by its name."""


def contrasts(paired: PairedRuns, options: Options, randomized: Tests) -> list[ComparisonRow]:
    """Build a row for each measure and pair, not yet corrected for their number, and without intervals.

    `randomized` has the outcomes of the randomization test on all rows.
    """
    rows: list[ComparisonRow] = []
    for part in paired.by_measure():
        here = slice(len(rows), len(rows) + len(paired.pairs))
        rows += _contrasts_of(part, options, {name: each[here] for name, each in randomized.items()})
    return rows


def _contrasts_of(paired: PairedRuns, options: Options, randomized: Tests) -> list[ComparisonRow]:
    """Build the rows of one measure."""
    differences = paired.differences()
    tested = _tested(paired, options, differences, randomized)
    effects = _in_blocks(effect_sizes, differences)
    return [
        _row(
            paired,
            pair,
            differences[:, column],
            {"effect_size": effects[column]},
            {name: outcomes[column] for name, outcomes in tested.items()},
        )
        for column, pair in enumerate(paired.pairs)
    ]


_T = TypeVar("_T")


def _in_blocks(compute: Callable[[Floats], list[_T]], differences: Floats) -> list[_T]:
    """Compute something column by column, in blocks of columns."""
    return [each for block in blocks_of_columns(differences) for each in compute(block)]


def variants(test: str, paired: PairedRuns) -> dict[str, bool]:
    """Return the variants of a test that are run, and whether they treat queries as independent."""
    return VARIANTS[test] if paired.clusters else {test: False} if VARIANTS[test] else {}


def _tested(paired: PairedRuns, options: Options, differences: Floats, randomized: Tests) -> Tests:
    """Run the tests on all columns."""
    tests: dict[str, Callable[[Ints], list[SignificanceTest]]] = {
        "t-test": lambda cluster: _in_blocks(lambda block: t_test(block, cluster), differences),
        "wilcoxon": lambda _: _in_blocks(wilcoxon_test, differences),
    }
    alone = np.arange(len(differences))
    found: Tests = {}
    for test in options.tests:
        for name, naive in variants(test, paired).items():
            cluster = alone if naive else paired.cluster
            outcomes = randomized[name] if name in randomized else tests[test](cluster)
            found[name] = [replace(each, naive=naive) for each in outcomes]
    if options.equivalence_margin is not None:
        found[EQUIVALENCE] = equivalence_test(differences, paired.cluster, options.equivalence_margin)
    if paired.group is not None and paired.group.max(initial=-1) > 0:
        how = options.resamples, options.seed
        found[INTERACTION] = interaction_test(differences, paired.cluster, paired.group, *how)
    return found


def _row(
    paired: PairedRuns,
    pair: tuple[str, str],
    differences: Floats,
    estimates: Mapping[str, Estimate],
    tests: dict[str, SignificanceTest],
) -> ComparisonRow:
    mean, baseline_mean = (float(paired.values[run].mean()) for run in pair)
    difference = float(differences.mean())
    undefined = Estimate(None, "the mean of the baseline is 0")
    relative = Estimate(difference / abs(baseline_mean)) if baseline_mean else undefined
    estimates = {"relative": relative, **estimates}
    wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
    return ComparisonRow(
        *pair,
        paired.measures[0],
        mean,
        baseline_mean,
        difference=difference,
        wins=wins,
        ties=len(differences) - wins - losses,
        losses=losses,
        interval=None,
        tests=tests,
        reasons={name: each.reason for name, each in estimates.items() if each.value is None},
        **{name: each.value for name, each in estimates.items()},
    )
