"""The randomization test of a comparison, and all p-values corrected for their number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import TypeVar

import numpy as np
from ir_measures.measures import Measure

from permed_measures.statistics.columns import Columns
from permed_measures.statistics.contrasts import Tests, variants
from permed_measures.statistics.differences import PairedRuns
from permed_measures.statistics.randomization import as_student, randomize, sign_tests
from permed_measures.statistics.results import MAX_T, ComparisonRow, Options
from permed_measures.statistics.significance import CORRECTIONS, Floats, SignificanceTest

Rows = list[ComparisonRow]


def correction_of(correction: str, test: str) -> str:
    """Return how the p-values of a test are adjusted: those of other tests than max-T's by Holm's."""
    return "holm" if correction == MAX_T and test != "randomization" else correction


# --- the randomization test ----------------------------------------------------------------------------


def randomized(parts: list[PairedRuns], options: Options) -> tuple[list[Tests], list[Floats]]:
    """Run the randomization test on all sets of queries at once, since they may share clusters.

    Returns
    -------
    list of Tests
        For each set of queries; with max-T the p-values are adjusted.
    list of ndarray of float64
        How many standard errors a simultaneous interval of each row has on a side; NaN where there are none.
    """
    if "randomization" not in options.tests:
        return [{} for _ in parts], [np.full(len(each.measures) * len(each.pairs), np.nan) for each in parts]
    found, critical = _by_clusters(parts, options)
    tests: list[Tests] = [{"randomization": each} for each in found]
    for paired, each in zip(parts, tests, strict=True):
        if "naive randomization" in variants("randomization", paired):
            alone = np.arange(len(paired.query_ids))
            outcome = randomize(paired.columns(alone), options.resamples, options.seed)
            how = len(alone), "query", options.resamples
            each["naive randomization"] = sign_tests(outcome, _means(paired), *how)
    return tests, critical


def _by_clusters(
    parts: list[PairedRuns], options: Options
) -> tuple[list[list[SignificanceTest]], list[Floats]]:
    """Test all columns by the signs of the clusters, which groups of queries share."""
    n_clusters = 1 + max(int(paired.shared_cluster.max()) for paired in parts)
    columns = Columns.joined([paired.columns(paired.shared_cluster, n_clusters) for paired in parts])
    measures = [measure for paired in parts for measure in paired.measures for _ in paired.pairs]
    bounds = np.cumsum([0, *(len(paired.measures) * len(paired.pairs) for paired in parts)])
    part = np.repeat(np.arange(len(parts)), np.diff(bounds))
    means = np.concatenate([_means(paired) for paired in parts])
    tests = [SignificanceTest(method="")] * len(measures)
    critical = np.full(len(measures), np.nan)
    for family in map(np.array, _families(measures, options.family)):
        outcome = randomize(columns.chosen(family), options.resamples, options.seed, options.level)
        for number, paired in enumerate(parts):
            here = part[family] == number
            how = paired.n_clusters, paired.unit, options.resamples, options.correction == MAX_T
            of_part = sign_tests(outcome.chosen(here), means[family[here]], *how)
            for row, test in zip(family[here], of_part, strict=True):
                tests[row] = test
            if options.correction == MAX_T:
                critical[family[here]] = as_student(outcome.critical, paired.n_clusters)
    return _split(tests, bounds.tolist()), np.split(critical, bounds[1:-1])


def _means(paired: PairedRuns) -> Floats:
    """Return the mean difference of each row."""
    return np.concatenate([part.differences().mean(axis=0) for part in paired.by_measure()])


# --- corrections ---------------------------------------------------------------------------------------


def corrected(found: list[Rows], options: Options) -> tuple[list[Rows], dict[str, int]]:
    """Adjust the p-values of each test over all rows of its family, but those that max-T has adjusted.

    Returns
    -------
    list of lists of ComparisonRow
    dict of str to int
        The number of p-values that were corrected together by test; where the families are measures, of one.
    """
    rows = [row for each in found for row in each]
    tests = [dict(row.tests) for row in rows]
    sizes: dict[str, int] = {}
    for name in rows[0].tests:
        method = correction_of(options.correction, name)
        for family in _families([row.measure for row in rows], options.family):
            answered = [i for i in family if tests[i][name].p is not None]
            if method != MAX_T:
                p_values = np.array([tests[i][name].p for i in answered], np.float64)
                for i, p in zip(answered, CORRECTIONS[method](p_values).tolist(), strict=True):
                    tests[i][name] = replace(tests[i][name], adjusted=p)
            sizes[name] = max(sizes.get(name, 0), len(answered))
    bounds = np.cumsum([0, *map(len, found)]).tolist()
    done = [replace(row, tests=each) for row, each in zip(rows, tests, strict=True)]
    return _split(done, bounds), sizes


_T = TypeVar("_T")


def _split(flat: list[_T], bounds: list[int]) -> list[list[_T]]:
    """Split a list at these places."""
    return [flat[start:end] for start, end in pairwise(bounds)]


def _families(measures: list[Measure], family: str) -> Iterator[list[int]]:
    """Yield the numbers of the rows that are corrected together."""
    if family == "all":
        yield list(range(len(measures)))
        return
    for measure in dict.fromkeys(measures):
        yield [number for number, each in enumerate(measures) if each == measure]
