"""The rows of a comparison: estimates, tests, their correction, intervals; also by people's labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TypeVar

import numpy as np

from permed_measures.arrays import Floats
from permed_measures.comparison.paired import PairedRuns
from permed_measures.comparison.results import ComparedRuns, ComparisonRow, TestOptions
from permed_measures.comparison.tests import (
    MAX_T,
    MOST_UNITS,
    SignificanceTest,
    correction_of,
    critical_t,
    effect_sizes,
    equivalence_tests,
    n_patterns,
    randomize,
    sample_size,
    sign_of,
    sign_patterns,
    t_test,
    wilcoxon_test,
)
from permed_measures.corrections import CORRECTIONS
from permed_measures.human_labels.agreement import OrderAgreement, Orders, reason_not_compared
from permed_measures.human_labels.corrected import People, RunUnderBothLabels
from permed_measures.intervals import (
    difference_range,
    mean_and_error,
    mean_intervals,
    measure_intervals,
    no_variance,
)
from permed_measures.wording import plural

Tests = dict[str, list[SignificanceTest]]
"""The outcomes of each test, by its name: a list with those of each row."""


def compare_rows(
    parts: Sequence[PairedRuns], options: TestOptions
) -> tuple[list[list[ComparisonRow]], dict[str, int], float | None]:
    """Compare runs on each set of queries, with one correction over all p-values.

    Returns
    -------
    list of lists of ComparisonRow
        For each set of queries: measures in their order, then pairs.
    dict of str to int
        For each test, the number of p-values that were corrected together.
    float or None
        The critical value of max-T, if it is the correction.
    """
    tests = [_tests(paired, options) for paired in parts]
    critical = _randomize(parts, options, tests) if "randomization" in options.tests else None
    sizes = {name: _adjust(name, options, tests) for name in tests[0]}
    rows = [_rows(paired, of_part, options, critical) for paired, of_part in zip(parts, tests, strict=True)]
    return rows, sizes, critical


# --- tests -----------------------------------------------------------------------------------------------

_TESTS: dict[str, Callable[[Floats, PairedRuns], list[SignificanceTest]]] = {
    "t-test": lambda differences, paired: t_test(differences, paired.cluster),
    "wilcoxon": lambda differences, paired: [
        replace(test, naive=bool(paired.clusters)) for test in wilcoxon_test(differences)
    ],
}
"""The tests that take the differences of one measure on one set of queries."""


def _tests(paired: PairedRuns, options: TestOptions) -> Tests:
    """Run all tests but the randomization test, whose list stays empty."""
    tests: Tests = {name: [] for name in options.tests}
    for measure in range(len(paired.measures)):
        differences = paired.differences(measure)
        for name in _TESTS.keys() & tests.keys():
            tests[name] += _TESTS[name](differences, paired)
        if options.equivalence_margin is not None:
            margin = options.equivalence_margin
            for name, outcomes in equivalence_tests(differences, paired.cluster, margin).items():
                tests.setdefault(name, []).extend(outcomes)
    return tests


def _randomize(parts: Sequence[PairedRuns], options: TestOptions, tests: Sequence[Tests]) -> float | None:
    """Run the randomization test on all sets of queries at once, since they may share clusters.

    Return the critical value of max-T, if it is the correction.
    """
    n_clusters = 1 + max(int(paired.shared_cluster.max()) for paired in parts)
    blocks = [paired.sums(n_clusters) for paired in parts]
    sums, starts = np.concatenate(blocks, axis=1), blocks[0].shape[1] * np.arange(len(parts))
    columns = np.concatenate(
        [parts[0].pair_columns() + start for start in starts]
    )  # parts have the same pairs
    used, compact = np.unique(columns, return_inverse=True)
    pairs = compact.reshape(columns.shape)
    outcome = randomize(sums[:, used], pairs, options.resamples, options.seed, options.level)
    of_parts = zip(*(np.split(values, len(parts)) for values in outcome[:3]), strict=True)
    draws = None if n_patterns(n_clusters, options.resamples) else options.resamples
    is_adjusted = options.correction == MAX_T
    for paired, tests_of_part, of_part in zip(parts, tests, of_parts, strict=True):
        method = sign_patterns(n_clusters, paired.unit, options.resamples)
        tests_of_part["randomization"] = [
            SignificanceTest(
                p=p,
                adjusted=adjusted if is_adjusted else None,
                statistic=statistic,
                direction=sign_of(statistic),
                method=method,
                draws=draws,
            )
            for p, adjusted, statistic in np.transpose(of_part).tolist()
        ]
    return outcome.critical if is_adjusted else None


def _adjust(name: str, options: TestOptions, tests: Sequence[Tests]) -> int:
    """Adjust the p-values of a test, unless max-T has adjusted them; return their number."""
    p = np.array([[np.nan if test.p is None else test.p for test in of_part[name]] for of_part in tests])
    known = ~np.isnan(p)
    method = correction_of(options.correction, name)
    if method != MAX_T:
        p[known] = CORRECTIONS[method](p[known])
        for of_part, adjusted in zip(tests, p.tolist(), strict=True):
            of_part[name] = [
                replace(test, adjusted=None if test.p is None else value)
                for test, value in zip(of_part[name], adjusted, strict=True)
            ]
    return int(known.sum())


# --- estimates -------------------------------------------------------------------------------------------


def _rows(
    paired: PairedRuns, tests: Tests, options: TestOptions, critical: float | None
) -> list[ComparisonRow]:
    """Build the rows of a set of queries."""
    means = {
        run: measure_intervals(paired.measures, values.T, paired.cluster, options.level)
        for run, values in paired.values.items()
    }
    simultaneous = None if critical is None else critical_t(critical, paired.n_clusters)
    rows: list[ComparisonRow] = []
    for index, measure in enumerate(paired.measures):
        differences = paired.differences(index)
        within = [difference_range(measure)] * len(paired.pairs)
        intervals = mean_intervals(differences, paired.cluster, options.level, within, simultaneous)
        errors = mean_and_error(differences, paired.cluster)[1].tolist()
        columns = zip(paired.pairs, differences.T, intervals, errors, effect_sizes(differences), strict=True)
        for (run, baseline), of_pair, interval, std_error, effect_size in columns:
            mean, baseline_mean = (float(paired.values[name][index].mean()) for name in (run, baseline))
            difference = float(of_pair.mean())
            wins, losses = int((of_pair > 0).sum()), int((of_pair < 0).sum())
            needed, why_unknown = _needed(paired, std_error, options)
            reasons = {"interval": interval.reason, "needed": why_unknown}
            row = ComparisonRow(
                measure=measure,
                run=run,
                baseline=baseline,
                mean=mean,
                baseline_mean=baseline_mean,
                difference=difference,
                std_error=std_error,
                relative=difference / abs(baseline_mean) if baseline_mean else None,
                interval=interval.value,
                wins=wins,
                ties=len(of_pair) - wins - losses,
                losses=losses,
                effect_size=effect_size,
                intervals={"mean": means[run][index].value, "baseline_mean": means[baseline][index].value},
                tests={name: outcomes[len(rows)] for name, outcomes in tests.items()},
                needed=needed,
                reasons={name: reason for name, reason in reasons.items() if reason},
            )
            rows.append(row)
    return rows


def _needed(paired: PairedRuns, error: float, options: TestOptions) -> tuple[int | None, str]:
    """Compute the number of units that the difference to detect needs, or the reason why it is unknown."""
    if options.detect is None:
        return None, ""
    if not error:
        return None, no_variance(paired.n_clusters, paired.unit)
    units = sample_size(error, paired.n_clusters, options.detect, options.level)
    return units, "" if units else f"more than {MOST_UNITS:,} {plural(paired.unit)}"


# --- by people's labels --------------------------------------------------------------------------------

_FEWEST_RUNS = 3
"""With two runs, the corrected difference already tells their order."""

Compared = TypeVar("Compared", bound=ComparedRuns)


def with_human_labels(result: Compared, people: People) -> Compared:
    """Add differences corrected by people's labels, and the orders of the runs, to a comparison."""
    paired = result.paired
    runs = {
        run: people.evaluate_both(result.measures, paired.rankings[run], values)
        for run, values in paired.values.items()
    }
    return replace(
        result,
        rows=_corrected(result, people, runs),
        notes=[*result.notes, *people.notes],
        agreement=people.agreement,
        orders=_orders(result, people, runs) if len(runs) >= _FEWEST_RUNS else None,
    )


def _corrected(
    result: ComparedRuns, people: People, runs: Mapping[str, RunUnderBothLabels]
) -> list[ComparisonRow]:
    """Add the corrected differences to the rows, with simultaneous intervals if p-values are corrected.

    The simultaneous intervals are Bonferroni's: each has the level 1 - (1 - level) / number of rows.
    """
    n = 1 if result.options.correction == "none" else len(result.rows)
    level = 1 - (1 - result.options.level) / n
    of_pairs = [people.ppi_estimates(runs[run], level, runs[other]) for run, other in result.paired.pairs]
    of_rows = chain.from_iterable(zip(*of_pairs, strict=True))  # in the order of the rows: by measure
    return [replace(row, people=corrected) for row, corrected in zip(result.rows, of_rows, strict=True)]


def _orders(result: ComparedRuns, people: People, runs: Mapping[str, RunUnderBothLabels]) -> Orders:
    """Compare the orders of the runs by both sets of labels, on the queries that people judged as a whole."""
    queries, n = people.queries, int(people.queries.sum())
    by_model = result.paired.of_queries(queries)
    if reason := reason_not_compared(n, by_model.n_clusters if n else 0, by_model.unit):
        return Orders(n, len(runs), [], reason)
    by_model = replace(by_model, among=None)  # no other queries are tested with these
    by_people = replace(by_model, values={run: both.by_people[:, queries] for run, both in runs.items()})
    verdicts = [_verdicts(paired, result.options) for paired in (by_model, by_people)]
    orders = []
    for index in range(len(result.measures)):
        before, after = (
            {run: float(values[index].mean()) for run, values in paired.values.items()}
            for paired in (by_model, by_people)
        )
        orders.append(OrderAgreement.of(before, after, *(of_labels[index] for of_labels in verdicts)))
    return Orders(n, len(runs), orders)


def _verdicts(paired: PairedRuns, options: TestOptions) -> list[dict[tuple[str, str], int]]:
    """Return the outcome of each pair, by measure; empty if no test decides."""
    [rows], _, _ = compare_rows([paired], options)
    n = len(paired.pairs)
    by_measure = [rows[start : start + n] for start in range(0, len(rows), n)]
    decided = any(row.test for row in rows)
    return [{(row.run, row.baseline): row.outcome for row in part if decided} for part in by_measure]
