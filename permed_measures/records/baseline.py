"""The values of a run and of its baseline, which may be a record of one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from ir_measures.measures import Measure, SumAgg

from permed_measures import __version__
from permed_measures.datasets.loading import loaded_runs, run_name
from permed_measures.engine.evaluator import PermedEvaluator, aggregated
from permed_measures.engine.inputs import path_of
from permed_measures.errors import InputError
from permed_measures.intervals import Floats
from permed_measures.records.record import Record, as_record, hash_of, is_record
from permed_measures.records.verify import unlike
from permed_measures.results.evaluations import Evaluations, evaluate_all


class Values(NamedTuple):
    """The values of a run for each query by measure, and what is to be known about it."""

    name: str
    values: dict[Measure, Floats]
    notes: Sequence[str] = ()

    def total(self, measure: Measure) -> float:
        """Return the mean, of counts the sum, as `evaluate` prints it."""
        return aggregated([measure], self.values[measure][None])[measure]

    def scaled(self, measures: Iterable[Measure]) -> Floats:
        """Return values whose means are the totals; shape (n_queries, n_measures)."""
        found = [self.values[each] * (len(self.values[each]) if is_count(each) else 1) for each in measures]
        return np.stack(found, axis=1) if found else np.zeros((0, 0))


def is_count(measure: Measure) -> bool:
    """Return whether a measure is added up over the queries."""
    return isinstance(measure.aggregator(), SumAgg)


def evaluated_run(run: Any, evaluator: PermedEvaluator, how: Mapping[str, Any]) -> Values:
    """Evaluate a run."""
    name, judgments = run_name(path_of(run) or run), evaluator.judgments
    read = loaded_runs({name: run}, order=how["order"], rewriting=how["query_ids"], qrels=judgments)
    evaluations, notes = evaluate_all(evaluator, read)
    found = Evaluations(list(evaluator.measures), evaluations, notes=notes)
    rows = dict(zip(evaluator.measures, evaluations[name].values, strict=True))
    return Values(name, rows, found.notes_on(name))


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
    return Values(asked, {each: np.array(runs[asked]["values"][rows[each]]) for each in measures})


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
