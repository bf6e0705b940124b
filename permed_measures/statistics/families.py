"""The p-values of a comparison, corrected for their number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import TypeVar

import numpy as np

from permed_measures.markup import counted
from permed_measures.measures.headings import name_of
from permed_measures.statistics.differences import PairedRuns
from permed_measures.statistics.intervals import mean_spread
from permed_measures.statistics.max_t import Columns, as_student, max_t
from permed_measures.statistics.precision import more_draws, redrawn, with_error
from permed_measures.statistics.results import MAX_T, SIMULTANEOUS, TUKEY, ComparisonRow, Options
from permed_measures.statistics.significance import CORRECTIONS, Floats, sums_of, zero_rounding_noise
from permed_measures.statistics.tukey import tukey_hsd

Rows = list[ComparisonRow]
Key = tuple[int, int, int]


def correction_of(correction: str, test: str) -> str:
    """Return how the p-values of a test are adjusted: max-T and Tukey have draws, other tests Holm's."""
    return "holm" if correction in SIMULTANEOUS and test != "randomization" else correction


def corrected(
    found: list[Rows], parts: list[PairedRuns], options: Options
) -> tuple[list[Rows], dict[str, int], list[list[str]], list[Floats]]:
    """Adjust the p-values, with more random draws where one is near a level; see `_corrected`."""
    once = _corrected(found, parts, options, options.resamples)
    if options.correction == TUKEY:
        return once
    again = [redrawn(*each, options) for each in zip(found, once[0], parts, strict=True)]
    if again == found:
        return once
    return _corrected(again, parts, options, more_draws(sum(map(len, found)), options.resamples))


def _corrected(
    found: list[Rows], parts: list[PairedRuns], options: Options, draws: int
) -> tuple[list[Rows], dict[str, int], list[list[str]], list[Floats]]:
    """Adjust the p-values of each test over all rows of its family.

    Parameters
    ----------
    found : list of lists of ComparisonRow
        The rows on each set of queries, of `contrasts`; all are corrected together.
    parts : list of PairedRuns
        The runs on these queries.
    options : Options
    draws : int
        The number of random signs of max-T.

    Returns
    -------
    list of lists of ComparisonRow
    dict of str to int
        The number of p-values that were corrected together by test; where the families are measures, of one.
    list of lists of str
        Notes on the rows of each set of queries.
    list of ndarray of float64
        How many standard errors a simultaneous interval of each row has on a side; NaN where there are none.
    """
    critical = [np.full(len(each), np.nan) for each in found]
    if options.correction == TUKEY:
        found, critical = _by_tukey(found, parts, options)
    elif options.correction == MAX_T:
        found, critical = _by_max_t(found, parts, options, draws)
    rows = [row for each in found for row in each]
    keys = [key for number, paired in enumerate(parts) for key in _keys(number, paired)]
    tests = [dict(row.tests) for row in rows]
    sizes: dict[str, int] = {}
    families = list(_families(rows, options.family))
    for name in rows[0].tests:
        method = correction_of(options.correction, name)
        for family in families:
            answered = {keys[i]: p for i in reversed(family) if (p := tests[i][name].p) is not None}
            if method not in SIMULTANEOUS:
                p_values = np.array(list(answered.values()), np.float64)
                adjusted = dict(zip(answered, CORRECTIONS[method](p_values).tolist(), strict=True))
                for i in family:
                    adapted = replace(tests[i][name], adjusted=adjusted.get(keys[i]))
                    tests[i][name] = with_error(adapted, options.correction)
            count = len(answered) if method != "none" else len(family)
            sizes[name] = max(sizes.get(name, 0), count)
    done = _split([replace(row, tests=each) for row, each in zip(rows, tests, strict=True)], found)
    once = options.correction != "none" and options.family == "all"
    notes = [_repeated(*each) if once else [] for each in zip(done, _split(keys, found), strict=True)]
    return done, sizes, notes, critical


_T = TypeVar("_T")


def _split(flat: list[_T], like: list[Rows]) -> list[list[_T]]:
    """Split a list into as many parts as there are, of the same sizes."""
    bounds = np.cumsum([0, *map(len, like)])
    return [flat[start:end] for start, end in pairwise(bounds)]


def _families(rows: Rows, family: str) -> Iterator[list[int]]:
    """Yield the numbers of the rows that are corrected together."""
    if family == "all":
        yield list(range(len(rows)))
        return
    for measure in dict.fromkeys(row.measure for row in rows):
        yield [number for number, row in enumerate(rows) if row.measure == measure]


# --- differences that are there more than once -------------------------------------------------------


def _keys(number: int, paired: PairedRuns) -> Iterator[Key]:
    """Yield for each row what tells its differences from those of others: which values of which queries."""
    seen: dict[bytes, int] = {}
    ids = {
        run: [seen.setdefault(each.tobytes(), len(seen)) for each in values]
        for run, values in paired.values.items()
    }
    for measure in range(len(paired.measures)):
        for run, baseline in paired.pairs:
            first, second = sorted((ids[run][measure], ids[baseline][measure]))
            yield number, first, second


def _repeated(rows: Rows, keys: list[Key]) -> list[str]:
    """Note that differences which are those of another pair or measure count once."""
    first: dict[Key, ComparisonRow] = {}
    pairs = [(row, first.setdefault(key, row)) for row, key in zip(rows, keys, strict=True)]
    again = [(row, same) for row, same in pairs if row is not same]
    if not again:
        return []
    names = [f"{row.run!r} against {row.baseline!r} on {name_of(row.measure)}" for row in again[0]]
    of = f"{len(again):,} of {counted(len(rows), 'row')}"
    verb = "has" if len(again) == 1 else "have"
    return [f"{of} {verb} the differences of another and count once (first: {names[0]}, as {names[1]})"]


# --- max-T -------------------------------------------------------------------------------------------


def _by_max_t(
    found: list[Rows], parts: list[PairedRuns], options: Options, draws: int
) -> tuple[list[Rows], list[Floats]]:
    """Adjust the p-values of the randomization test by max-T; return the critical values of intervals too."""
    n_clusters = 1 + max(int(paired.shared_cluster.max()) for paired in parts)
    of_measures = [each for part in parts for each in part.by_measure()]
    columns = Columns.joined(
        [
            Columns.of(each.differences(), each.shared_cluster, each.operands(), n_clusters)
            for each in of_measures
        ]
    )
    rows = [row for each in found for row in each]
    n_units = np.repeat([paired.n_clusters for paired in parts], [len(each) for each in found])
    critical = np.empty(len(rows))
    for family in _families(rows, options.family):
        outcome = max_t(columns.chosen(np.array(family)), draws, options.seed, options.level)
        for i, p in zip(family, outcome.adjusted, strict=True):
            rows[i] = _adapted(rows[i], p, outcome.exact, draws)
            critical[i] = as_student(outcome.critical, int(n_units[i]))
    ends = np.cumsum([len(each) for each in found])[:-1]
    return _split(rows, found), np.split(critical, ends)


def _by_tukey(
    found: list[Rows], parts: list[PairedRuns], options: Options
) -> tuple[list[Rows], list[Floats]]:
    """Adjust the p-values of the randomization test by the randomized Tukey HSD; else as `_by_max_t`."""
    n_clusters = 1 + max(int(paired.shared_cluster.max()) for paired in parts)
    done, critical = [list(each) for each in found], [np.empty(len(each)) for each in found]
    measures = range(len(parts[0].measures))
    runs = list(parts[0].values)
    pairs = [(runs.index(run), runs.index(baseline)) for run, baseline in parts[0].pairs]
    for family in [measures] if options.family == "all" else [[measure] for measure in measures]:
        places = [(part, measure) for part in range(len(parts)) for measure in family]
        sums = [_run_sums(parts[part], measure, n_clusters) for part, measure in places]
        outcome = tukey_hsd(sums, pairs, options.resamples, options.seed, options.level)
        for (part, measure), p, half in zip(places, outcome.adjusted, outcome.half, strict=True):
            here = slice(measure * len(pairs), (measure + 1) * len(pairs))
            adapted = zip(done[part][here], p.tolist(), strict=True)
            done[part][here] = [_adapted(row, each, False, options.resamples) for row, each in adapted]
            critical[part][here] = half / len(parts[part].query_ids) / _errors(parts[part], measure)
    return done, critical


def _run_sums(paired: PairedRuns, measure: int, n_clusters: int) -> Floats:
    """Sum the values of each run on a measure by cluster; shape (n_clusters, n_runs)."""
    values = np.stack([each[measure] for each in paired.values.values()], axis=1)
    return sums_of(values, paired.shared_cluster, n_clusters)


def _errors(paired: PairedRuns, measure: int) -> Floats:
    """Return the standard errors of the differences on a measure; infinite where they do not vary."""
    of = {run: values[measure] for run, values in paired.values.items()}
    differences = np.stack([of[run] - of[baseline] for run, baseline in paired.pairs], axis=1)
    error = mean_spread(zero_rounding_noise(differences), paired.cluster).error
    return np.where(error > 0, error, np.inf)


def _adapted(row: ComparisonRow, p: float, exact: bool, draws: int) -> ComparisonRow:
    """Give the randomization test of a row its p-value by max-T or Tukey's test."""
    test = row.tests["randomization"]
    adjusted = replace(test, adjusted=max(float(p), test.p or 0.0), draws=None if exact else draws)
    return replace(row, tests={**row.tests, "randomization": with_error(adjusted, MAX_T)})
