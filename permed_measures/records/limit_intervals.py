"""What gates judge: the values of a run and of its baseline, and what they show of other queries."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from ir_measures.measures import Measure, SumAgg

from permed_measures import __version__
from permed_measures.arrays import Floats, Ints
from permed_measures.comparison.tests import (
    critical_t,
    min_attainable_p,
    n_patterns,
    randomize,
    sample_size,
    sign_patterns,
)
from permed_measures.engine.evaluator import PermedEvaluator, aggregated
from permed_measures.engine.tables import file_of
from permed_measures.errors import InputError, check_choice
from permed_measures.escaping import pluralize
from permed_measures.inputs.runs import run_name, runs_by_name
from permed_measures.intervals import (
    Estimate,
    LowHigh,
    critical_of,
    difference_range,
    mean_and_error,
    mean_intervals,
    measure_intervals,
    proportion_interval,
    sums_of,
    units_of,
    zero_rounding_noise,
)
from permed_measures.provenance import ORDERS, Origin
from permed_measures.records.record import Record, as_record, hash_of, is_record
from permed_measures.records.verify import unlike
from permed_measures.results.evaluations import Evaluations, evaluate_all
from permed_measures.tolerances import SUM_NOISE


class Values(NamedTuple):
    """The values of a run for each query by measure, what is to be known about it, and the file named."""

    name: str
    values: dict[Measure, Floats]
    notes: Sequence[str] = ()
    file: Path | None = None

    def total(self, measure: Measure) -> float:
        """Return the mean, of counts the sum, as `evaluate` prints it."""
        return aggregated([measure], self.values[measure][None])[measure]

    def scaled(self, measures: Iterable[Measure]) -> Floats:
        """Return values whose means are the totals; shape (n_queries, n_measures)."""
        found = [self.values[each] * (len(self.values[each]) if is_count(each) else 1) for each in measures]
        return np.stack(found, axis=1)


def is_count(measure: Measure) -> bool:
    """Return whether a measure is added up over the queries."""
    return isinstance(measure.aggregator(), SumAgg)


def evaluated_run(run: Any, evaluator: PermedEvaluator, how: Mapping[str, Any]) -> Values:
    """Evaluate a run."""
    name, judgments = run_name(file_of(run) or run), evaluator.judgments
    check_choice("order", how["order"], ORDERS)
    reading = {"order": how["order"], "rewriting": how["query_ids"], "qrels": judgments}
    evaluations, notes = evaluate_all(evaluator, {name: run}, **reading)
    found = Evaluations(list(evaluator.measures), evaluations, notes=notes)
    rows = dict(zip(evaluator.measures, evaluations[name].values, strict=True))
    files = Origin.of("", {} if isinstance(run, Mapping) else runs_by_name(run)).runs
    return Values(name, rows, found.notes_on(name), next(iter(files.values()), None))


def baseline_of(
    given: Any, run: str, evaluator: PermedEvaluator, measures: list[Measure], how: Mapping[str, Any]
) -> Values:
    """Return the values of a baseline: of a run, or those that a record has of one."""
    name, of_name = "", given
    if isinstance(given, Mapping) and not isinstance(given, Record) and len(given) == 1:
        [(name, of_name)] = given.items()
    if not is_record(of_name):
        return evaluated_run(given, evaluator, how)
    record = as_record(of_name)
    where = record.source or "the record"
    if wrong := list(_unfit(record, evaluator, measures, how)):
        hint = "Make it again: evaluate QRELS RUN --record FILE"
        raise InputError(f"this is no baseline here: {'; '.join(wrong)}", where=where, hint=hint)
    runs, asked = record["runs"], name or run
    if len(runs) == 1 and not name:
        [asked] = runs
    if asked not in runs:
        known = f"the record has the runs {', '.join(map(repr, runs))}"
        raise InputError(known, where=where, hint="Name one: NAME=FILE, in Python {'NAME': 'FILE'}")
    rows = {measure: key for key, measure in zip(record["measures"], record.measures, strict=True)}
    values = {each: np.array(runs[asked]["values"][rows[each]]) for each in measures}
    return Values(asked, values, file=Path(record.source) if record.source else None)


def _unfit(
    record: Record, evaluator: PermedEvaluator, measures: Iterable[Measure], how: Mapping[str, Any]
) -> Iterable[str]:
    """Yield why the values of a record cannot be compared with those of a run."""
    judgments = evaluator.judgments
    yield from map(str, unlike(record, hash_of(judgments), judgments.query_ids))
    if record.version != __version__:
        yield f"versions: made by version {record.version}, this is {__version__}"
    for name, value in record["options"].items():
        if value != how[name]:
            yield f"options: {name} was {value or 'left out'}, and is {how[name] or 'left out'}"
    known = record.measures
    if lacking := [str(each) for each in measures if each not in known]:
        has = (text if name == text else f"{name} ({text})" for name, text in record["measures"].items())
        yield f"measures: it lacks {', '.join(lacking)}, and has {', '.join(has)}"


# --- intervals, and how many queries would decide ---------------------------------------------------------

GATE_LEVEL, GATE_RESAMPLES, GATE_SEED = 0.95, 50_000, 0
"""Of the intervals: those of `compare` by default."""


class Evidence(NamedTuple):
    """What the mean of a measure, or its change, may be on other queries.

    Attributes
    ----------
    interval : (float, float) or None
        A confidence interval; where all units have the same value, and are enough, that value.
    reason : str
        Why there is none.
    needed : int or None
        About how many queries decide whether it is below a limit, if mean and variance stay as they are;
        None if it is at the limit.
    """

    interval: tuple[float, float] | None
    reason: str
    needed: int | None


def of_means(
    measures: Sequence[Measure], values: Floats, cluster: Ints, limits: Sequence[float]
) -> list[Evidence]:
    """Return the evidence on means, each by itself.

    Parameters
    ----------
    measures : sequence of Measure
    values : ndarray of float64, shape (n_queries, n_measures)
    cluster : ndarray of int64, shape (n_queries,)
    limits : sequence of float
        Of the mean of each measure.
    """
    estimates = measure_intervals(measures, values, cluster, GATE_LEVEL)
    n_units, _ = units_of(values, cluster)
    reach = critical_of(GATE_LEVEL, n_units) if n_units > 1 else math.inf
    return _evidence(estimates, values, cluster, limits, reach)


def of_changes(
    measures: Sequence[Measure],
    differences: Floats,
    cluster: Ints,
    limits: Sequence[float],
    resamples: int = GATE_RESAMPLES,
) -> list[Evidence]:
    """Return the evidence on changes, by the intervals of `compare`: simultaneous for all of them.

    Parameters are those of `of_means`, with the differences from the baseline as values. Where fewer than
    `ENOUGH` units differ, their variance says little of how many others would: the interval is then at least
    as wide as Clopper and Pearson's of the share that differ allows, each by as much as it can.
    """
    differences = zero_rounding_noise(differences)
    n, number = differences.shape
    sums = sums_of(np.concatenate([differences, np.zeros((n, 1))], axis=1), cluster)
    pairs = np.stack([np.arange(number), np.full(number, number)], axis=1)  # each less nothing
    critical = randomize(sums, pairs, resamples, GATE_SEED, GATE_LEVEL).critical
    reach, within = critical_t(critical, len(sums)), [difference_range(each) for each in measures]
    estimates = mean_intervals(differences, cluster, GATE_LEVEL, within, reach)
    widened = [
        _widened(*each, number) for each in zip(estimates, differences.T, sums.T, within, strict=False)
    ]
    return _evidence(widened, differences, cluster, limits, reach)


def _widened(estimate: Estimate, differences: Floats, sums: Floats, within: LowHigh, number: int) -> Estimate:
    """Return the interval of a change that rests on few units, as wide as these allow; any other as it is."""
    differ = (np.abs(sums) > SUM_NOISE).astype(float)
    if estimate.value is None or differ.sum() >= ENOUGH:
        return estimate
    level = 1 - (1 - GATE_LEVEL) / number
    _, share = proportion_interval(differ, np.arange(len(differ)), level)
    most = share * (within[1] if np.isfinite(within[1]) else float(np.abs(differences).max()))
    low, high = estimate.value
    return Estimate((min(low, -most), max(high, most)))


def _evidence(
    estimates: list[Estimate], values: Floats, cluster: Ints, limits: Sequence[float], reach: float
) -> list[Evidence]:
    n_units, unit = units_of(values, cluster)
    means, errors = mean_and_error(values, cluster)
    found = []
    for estimate, mean, error, limit in zip(estimates, means.tolist(), errors.tolist(), limits, strict=True):
        interval = estimate.value or ((mean, mean) if not error and n_units >= ENOUGH else None)
        reason = estimate.reason if error else f"too little is known of {pluralize(n_units, unit)}"
        units = _units_that_decide(error, n_units, abs(mean - limit), reach)
        queries = None if units is None else math.ceil(units * len(values) / n_units)
        found.append(Evidence(interval, "" if interval else reason, queries))
    return found


ENOUGH = next(n for n in count() if min_attainable_p(n, GATE_RESAMPLES) < 1 - GATE_LEVEL)
"""Of so many units the same change of all is no chance: of 2^n patterns of signs two are as extreme."""


def _units_that_decide(error: float, n_units: int, distance: float, reach: float) -> int | None:
    """Return how many units find with a power of 0.8 that a mean so far from a limit is not beyond it."""
    from scipy.special import stdtr

    if not error:  # all are the same: enough of them decide
        return ENOUGH
    if distance <= SUM_NOISE:
        return None
    of_all = 2 * float(stdtr(n_units - 1, reach)) - 1 if math.isfinite(reach) else GATE_LEVEL
    level = min(max(of_all, GATE_LEVEL), 1 - 1e-9)  # that of the simultaneous interval
    units = sample_size(error, n_units, distance, level)
    return None if units is None else max(units, ENOUGH)


def is_resampled(cluster: Ints) -> bool:
    """Return whether not all sign patterns are tried."""
    return n_patterns(int(cluster.max()) + 1, GATE_RESAMPLES) is None


def method(cluster: Ints, clusters: str, has_means: bool, has_changes: bool) -> list[str]:
    """Say how the intervals are computed."""
    n_units, unit = int(cluster.max()) + 1, "cluster" if clusters else "query"
    by, share = "Student's t", "Clopper-Pearson"
    if clusters:
        by, share = f"cluster-robust {by}", "Korn-Graubard"
    percent, where = f"{100 * GATE_LEVEL:g}% CI", f" by {clusters}" if clusters else ""
    said = []
    if has_means:
        units = f"{pluralize(n_units, unit)}{where}"
        said.append(f"{percent} of a mean: {by}, of values that are 0 or 1 {share}; {units}")
    if has_changes:
        patterns = f"{sign_patterns(n_units, unit, GATE_RESAMPLES)}{where}"
        drawn = f", seed {GATE_SEED}" if is_resampled(cluster) else ""
        said.append(
            f"{percent} of a change (below 0: a drop), for all changes at once: max-T, {patterns}{drawn}"
        )
    return [*said, "What is shown has its whole interval on one side of the limit"]
