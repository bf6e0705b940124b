"""Compute what gates check: the values of a run and its baseline, with confidence intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from ir_measures.measures import Measure

from permed_measures import __version__
from permed_measures.arrays import Floats, Ints
from permed_measures.comparison.tests import (
    critical_t,
    min_attainable_p,
    n_patterns,
    randomize,
    sign_patterns,
)
from permed_measures.engine.evaluator import aggregated
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.tables import file_of
from permed_measures.errors import InputError, check_choice
from permed_measures.experiment import Experiment
from permed_measures.inputs.runs import run_name, runs_by_name
from permed_measures.intervals import (
    Estimate,
    difference_range,
    mean_and_error,
    mean_intervals,
    measure_intervals,
    proportion_interval,
    sums_of,
    units_of,
    zero_rounding_noise,
)
from permed_measures.measures.descriptions import ORDERS
from permed_measures.measures.specs import LowHigh, is_count
from permed_measures.provenance import Origin
from permed_measures.records.record import Record, as_record, hash_of, is_record
from permed_measures.records.verify import mismatches
from permed_measures.results.evaluations import Evaluations
from permed_measures.tolerances import SUM_NOISE
from permed_measures.wording import pluralize


class Values(NamedTuple):
    """The values of a run for each query, by measure, with notes on the run and its file."""

    name: str
    values: dict[Measure, Floats]
    notes: Sequence[str] = ()
    file: Path | None = None

    def total(self, measure: Measure) -> float:
        """Compute the mean, for counts the sum, as `evaluate` prints it."""
        return aggregated([measure], self.values[measure][None])[measure]

    def scaled(self, measures: Iterable[Measure]) -> Floats:
        """Scale the values so that their means are the totals; shape (n_queries, n_measures)."""
        scaled = [self.values[each] * (len(self.values[each]) if is_count(each) else 1) for each in measures]
        return np.stack(scaled, axis=1)


def evaluated_run(run: Any, experiment: Experiment, how: Mapping[str, Any]) -> Values:
    """Evaluate a run, and collect its values, notes and file."""
    name = run_name(file_of(run) or run)
    check_choice("order", how["order"], ORDERS)
    reading = {"order": how["order"], "rewriting": how["query_ids"], "qrels": experiment.judgments}
    by_run, notes = replace(experiment, runs={name: run}).evaluate_all(**reading)
    evaluations = Evaluations(experiment.measures, by_run, notes=notes)
    values = dict(zip(experiment.measures, by_run[name].values, strict=True))
    files = Origin.of("", {} if isinstance(run, Mapping) else runs_by_name(run)).runs
    return Values(name, values, evaluations.notes_on(name), next(iter(files.values()), None))


def baseline_of(
    baseline: Any, run: str, experiment: Experiment, measures: list[Measure], how: Mapping[str, Any]
) -> Values:
    """Load the values of a baseline: evaluate a run, or read them from a record."""
    name, source = "", baseline
    if isinstance(baseline, Mapping) and not isinstance(baseline, Record) and len(baseline) == 1:
        [(name, source)] = baseline.items()
    if not is_record(source):
        return evaluated_run(baseline, experiment, how)
    record = as_record(source)
    where = record.source or "the record"
    if wrong := list(_incompatibilities(record, experiment.judgments, measures, how)):
        hint = "Make it again: evaluate QRELS RUN --record FILE"
        raise InputError(f"this cannot be the baseline: {'; '.join(wrong)}", where=where, hint=hint)
    runs, asked = record["runs"], name or run
    if len(runs) == 1 and not name:
        [asked] = runs
    if asked not in runs:
        known = f"the record has the runs {', '.join(map(repr, runs))}"
        raise InputError(known, where=where, hint="Name one: NAME=FILE, in Python {'NAME': 'FILE'}")
    rows = {measure: key for key, measure in zip(record["measures"], record.measures, strict=True)}
    values = {each: np.array(runs[asked]["values"][rows[each]]) for each in measures}
    return Values(asked, values, file=Path(record.source) if record.source else None)


def _incompatibilities(
    record: Record, judgments: Judgments, measures: Iterable[Measure], how: Mapping[str, Any]
) -> Iterable[str]:
    """Yield the reasons why the values of a record cannot be compared with those of a run."""
    yield from map(str, mismatches(record, hash_of(judgments), judgments.query_ids))
    if record.version != __version__:
        yield f"versions: made by version {record.version}, this is {__version__}"
    for name, value in record["options"].items():
        if value != how[name]:
            yield f"options: {name} was {value or 'left out'}, now it is {how[name] or 'left out'}"
    known = record.measures
    if lacking := [str(each) for each in measures if each not in known]:
        has = (text if name == text else f"{name} ({text})" for name, text in record["measures"].items())
        yield f"measures: it lacks {', '.join(lacking)}, and has {', '.join(has)}"


# --- intervals --------------------------------------------------------------------------------------------

GATE_LEVEL, GATE_RESAMPLES, GATE_SEED = 0.95, 50_000, 0
"""The level, resamples and seed of the intervals: the defaults of `compare`."""


def intervals_of_means(measures: Sequence[Measure], values: Floats, cluster: Ints) -> list[Estimate]:
    """Compute the confidence intervals of means, each by itself: those of `uncertainty`.

    Parameters
    ----------
    measures : sequence of Measure
    values : ndarray of float64, shape (n_queries, n_measures)
    cluster : ndarray of int64, shape (n_queries,)

    Returns
    -------
    list of Estimate
        If at least `ENOUGH` units all have the same value, the interval is this value twice.
    """
    return _with_equal_values(measure_intervals(measures, values, cluster, GATE_LEVEL), values, cluster)


def intervals_of_changes(
    measures: Sequence[Measure], differences: Floats, cluster: Ints, resamples: int = GATE_RESAMPLES
) -> list[Estimate]:
    """Compute the confidence intervals of changes, simultaneous for all of them: those of `compare`.

    The parameters are those of `intervals_of_means`, with differences from the baseline as values. If fewer
    than `ENOUGH` units differ, their variance says little about other units. Then the interval is at least as
    wide as Clopper and Pearson's interval of the share that differs, with the largest possible difference.
    """
    differences = zero_rounding_noise(differences)
    n, n_measures = differences.shape
    sums = sums_of(np.concatenate([differences, np.zeros((n, 1))], axis=1), cluster)
    pairs = np.stack([np.arange(n_measures), np.full(n_measures, n_measures)], axis=1)  # each minus 0
    critical = randomize(sums, pairs, resamples, GATE_SEED, GATE_LEVEL).critical
    reach, within = critical_t(critical, len(sums)), [difference_range(each) for each in measures]
    estimates = mean_intervals(differences, cluster, GATE_LEVEL, within, reach)
    widened = [
        _widen_for_few_changes(*each, n_measures)
        for each in zip(estimates, differences.T, sums.T, within, strict=False)
    ]
    return _with_equal_values(widened, differences, cluster)


def _widen_for_few_changes(
    estimate: Estimate, differences: Floats, sums: Floats, within: LowHigh, n_measures: int
) -> Estimate:
    """Widen the interval of a change if few units differ; return any other interval unchanged."""
    differ = (np.abs(sums) > SUM_NOISE).astype(float)
    if estimate.value is None or differ.sum() >= ENOUGH:
        return estimate
    level = 1 - (1 - GATE_LEVEL) / n_measures
    _, share = proportion_interval(differ, np.arange(len(differ)), level)
    largest = share * (within[1] if np.isfinite(within[1]) else float(np.abs(differences).max()))
    low, high = estimate.value
    return Estimate((min(low, -largest), max(high, largest)))


def _with_equal_values(estimates: Sequence[Estimate], values: Floats, cluster: Ints) -> list[Estimate]:
    """Add the interval of a measure with one value for all units: this value, if the units are enough."""
    n_units, unit = units_of(values, cluster)
    means, errors = mean_and_error(values, cluster)
    too_few = Estimate(None, f"too little is known of {pluralize(n_units, unit)}")
    return [
        estimate if estimate.value or error else Estimate((mean, mean)) if n_units >= ENOUGH else too_few
        for estimate, mean, error in zip(estimates, means.tolist(), errors.tolist(), strict=True)
    ]


ENOUGH = next(n for n in count() if min_attainable_p(n, GATE_RESAMPLES) < 1 - GATE_LEVEL)
"""The smallest number of units for which an equal change of all is significant: 2 of 2^n sign patterns."""


def is_resampled(cluster: Ints) -> bool:
    """Check whether sign patterns are drawn at random, because there are too many to use all."""
    return n_patterns(int(cluster.max()) + 1, GATE_RESAMPLES) is None


def method(cluster: Ints, clusters: str, has_means: bool, has_changes: bool) -> list[str]:
    """Describe how the intervals are computed."""
    n_units, unit = int(cluster.max()) + 1, "cluster" if clusters else "query"
    by, share = "Student's t", "Clopper-Pearson"
    if clusters:
        by, share = f"cluster-robust {by}", "Korn-Graubard"
    percent, where = f"{100 * GATE_LEVEL:g}% CI", f" by {clusters}" if clusters else ""
    lines = []
    if has_means:
        units = f"{pluralize(n_units, unit)}{where}"
        lines.append(f"{percent} of a mean: {by}, of values that are 0 or 1 {share}; {units}")
    if has_changes:
        patterns = f"{sign_patterns(n_units, unit, GATE_RESAMPLES)}{where}"
        drawn = f", seed {GATE_SEED}" if is_resampled(cluster) else ""
        lines.append(
            f"{percent} of a change (below 0: a drop), for all changes at once: max-T, {patterns}{drawn}"
        )
    return [*lines, "Passed or failed: the whole interval is on one side of the limit"]
