"""The methods paragraph of a comparison: tests, corrections, intervals, effect sizes."""

from __future__ import annotations

from collections.abc import Iterator

from permed_measures.comparison.results import MARK_LEVEL, ComparedRuns
from permed_measures.comparison.tables import families_of, why_no_differences
from permed_measures.comparison.tests import EQUIVALENCE, MAX_T, MOST_EXACT, POWER, correction_of, n_patterns
from permed_measures.human_labels.methods import about_people, corrected_by_people
from permed_measures.intervals import percent
from permed_measures.measures.formulas import number
from permed_measures.results.methods import Methods, independent_units, means_over_queries, methods_of
from permed_measures.results.prose import literal
from permed_measures.wording import grouped, join_names, plural, pluralize


def comparison_methods(result: ComparedRuns) -> Methods:
    """Describe how the numbers of a comparison were computed."""
    return methods_of(
        result.measures,
        result.origin,
        [*result.paired.values],
        result.n_queries,
        _means(result),
        _statistics(result),
        ["scipy"],
    )


def _means(result: ComparedRuns) -> Iterator[str]:
    """Describe the means and Judged@k."""
    yield means_over_queries(result.n_queries)
    if result.by:
        groups = pluralize(len(result.groups), "group")
        yield f"The same is computed for each of the {groups} of queries by {literal(result.by)}."
    if result.display.shows_judged and result.paired.judged:
        yield (
            "Judged@k is the share of the first $k$ documents that have a label, over the queries for which "
            "a run retrieves something."
        )


def _statistics(result: ComparedRuns) -> Iterator[str]:
    """Describe the pairs of runs, the tests, the estimates and people's labels."""
    if result.baseline is not None:
        yield f"Each run is compared with {literal(result.baseline)} on each measure, query by query."
    else:
        yield "Each pair of runs is compared on each measure, query by query."
    yield independent_units(result.n_clusters, result.paired.clusters)
    for index, name in enumerate(name for name in result.tests if name not in EQUIVALENCE):
        yield from _TEST_SENTENCES[name](result, "also tested" if index else "tested")
    yield from _equivalence(result)
    yield from _corrections(result)
    yield from _verdicts(result)
    if not why_no_differences(result):
        yield from _estimates(result)
    yield from _power(result)
    yield from _people(result)


def _randomization(result: ComparedRuns, tested: str) -> Iterator[str]:
    options, unit = result.options, result.paired.unit
    units = plural(unit)
    signs = "of all queries of a cluster together" if unit == "cluster" else "of each query"
    summed = "summed " * (unit == "cluster")
    statistic = r"$T = |\sum_c d_c| / \sqrt{\sum_c d_c^2}$"
    yield (
        f"Differences are {tested} by a two-sided paired randomization test [@smucker2007comparison] that "
        f"changes the signs of the differences {signs}, with the statistic {statistic} of the {summed}"
        f"differences $d_c$ of the {units}."
    )
    if all_patterns := n_patterns(result.n_clusters, options.resamples):
        yield f"All {all_patterns:,} patterns of signs are used, so that its p-values are exact."
    else:
        yield (
            f"It uses {options.resamples:,} random patterns of signs (seed {options.seed}), and its p-value "
            f"is $(1 + m) / (1 + {options.resamples})$ where $m$ patterns give a $T$ that is at least as "
            "large [@phipson2010permutation]."
        )


def _t_test(result: ComparedRuns, tested: str) -> Iterator[str]:
    kind = "a two-sided paired t-test"
    degrees = f", with {pluralize(result.n_clusters - 1, 'degree')} of freedom" * (not result.by)
    if result.paired.unit == "cluster":
        kind = "a two-sided cluster-robust t-test [@cameron2015practitioner]"
    yield f"Differences are {tested} by {kind}{degrees}."


def _wilcoxon(result: ComparedRuns, tested: str) -> Iterator[str]:
    sizes = [row.wins + row.losses for row in result.every_row]
    exact, normal = min(sizes) <= MOST_EXACT, max(sizes) > MOST_EXACT
    how = "exact [@streitberg1986exact]" if exact else "by the normal approximation"
    if exact and normal:
        how = f"{how} for up to {MOST_EXACT} differences, and by the normal approximation for more"
    yield (
        f"Differences are {tested} by Wilcoxon's two-sided signed-rank test [@wilcoxon1945individual], "
        f"without the queries on which runs are equal; its p-values are {how}."
    )
    if result.tests["wilcoxon"].naive:
        yield "It takes the queries of a cluster as independent, and decides nothing here."


_TEST_SENTENCES = {"randomization": _randomization, "t-test": _t_test, "wilcoxon": _wilcoxon}
"""The function that describes each test."""


def _equivalence(result: ComparedRuns) -> Iterator[str]:
    margin = result.options.equivalence_margin
    if margin is not None:
        yield (
            rf"Whether a difference is within $\pm {number(margin)}$ is tested by two one-sided t-tests "
            "[@schuirmann1987comparison]."
        )


_CORRECTIONS = {
    MAX_T: "the step-down max-T procedure [@westfall1993resampling; @boytsov2013deciding]",
    "holm": "Holm's procedure [@holm1979simple]",
    "bonferroni": "Bonferroni's correction",
    "benjamini-hochberg": "the procedure of Benjamini and Hochberg [@benjamini1995controlling]",
}
_NAMES = {
    **{"randomization": "the randomization test", "t-test": "the t-test", "wilcoxon": "Wilcoxon's test"},
    **{"non-inferiority": "the test of non-inferiority", "non-superiority": "the test of non-superiority"},
    "equivalence": "the test of equivalence",
}


def _corrections(result: ComparedRuns) -> Iterator[str]:
    """Describe the correction of the p-values, and their number."""
    if not result.tests:
        return
    adjusted = [name for name in result.tests if not result.tests[name].naive]
    if result.options.correction == "none":
        yield "P-values are not adjusted for the number of tests."
        return
    by = grouped((correction_of(result.options.correction, name), name) for name in adjusted)
    for correction, names in by.items():
        sizes = grouped((_sizes(result, name), name) for name in names)
        for size, same_size in sizes.items():
            tests = join_names(_NAMES[name] for name in same_size)
            yield f"The p-values of {tests} are adjusted by {_CORRECTIONS[correction]} over {size}."


def _sizes(result: ComparedRuns, name: str, noun: str = "p-value", joined: str = ", and over ") -> str:
    """Write the size of each family of p-values of a test."""
    names = {"": "", "groups": " of all groups", "all queries": " of all queries"}
    sizes = [f"{pluralize(n, noun)}{names[family]}" for family, n in families_of(result, name).items()]
    return joined.join(sizes) or f"no {noun}"


def _verdicts(result: ComparedRuns) -> Iterator[str]:
    """Define a significant difference."""
    if not result.test:
        return
    adjusted = "adjusted " * (result.options.correction != "none")
    by = f" of {_NAMES[result.test]}" * (len(result.tests) > 1)
    yield f"A difference is significant where the {adjusted}p-value{by} is below {MARK_LEVEL:g}."


def _estimates(result: ComparedRuns) -> Iterator[str]:
    """Define intervals, effect sizes and equal values."""
    if any(row.interval for row in result.every_row):
        yield _intervals(result)
    if any(row.effect_size is not None for row in result.every_row):
        yield (
            "The effect size is Cohen's $d_z$ [@cohen1988statistical], the mean difference over the standard "
            "deviation of the differences of the queries."
        )
    yield "Two values of a query are equal if they differ by at most $10^{-12}$."


def _intervals(result: ComparedRuns) -> str:
    """Describe the intervals of differences."""
    error = "its standard error"
    if result.paired.unit == "cluster":
        error = "its cluster-robust standard error [@cameron2015practitioner]"
    if result.critical is None:
        quantile = "Student's quantile, for each by itself"
    else:
        sizes = _sizes(result, "randomization", "difference", ", and for ")
        quantile = f"the quantile of max-T, which makes the intervals simultaneous for {sizes}"
    level = percent(result.options.level)
    return (
        f"The {level} confidence interval of a difference is the difference plus and minus {error} times "
        f"{quantile}, cut to what a difference can be."
    )


def _power(result: ComparedRuns) -> Iterator[str]:
    if result.options.detect is not None:
        alpha = number(round(1 - result.options.level, 12))
        yield (
            f"The number of {plural(result.paired.unit)} needed for a difference of "
            f"${number(result.options.detect)}$ is that of one two-sided t-test at ${alpha}$ with a power of "
            f"{POWER:g} [@cohen1988statistical; @sakai2016topic]."
        )


def _people(result: ComparedRuns) -> Iterator[str]:
    """Describe the corrections by people's labels."""
    if result.agreement is None:
        return
    n = 1 if result.options.correction == "none" else len(result.rows)
    yield from about_people()
    yield from corrected_by_people(
        [row.people for row in result.rows if row.people], "differences", result.options.level, n
    )
    if result.orders is not None and result.orders.of_measures:
        yield (
            r"The orders of the runs by both sets of labels are compared by Kendall's $\tau_b$ and by "
            rf"$\tau_{{AP}}$ [@yilmaz2008new], on the {pluralize(result.orders.queries, 'query')} of which "
            "people judged all documents."
        )
