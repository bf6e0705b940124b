"""Gates: a run must reach floors, and not fall below a baseline by more than is allowed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
from ir_measures.measures import Measure

from permed_measures.comparisons.paired import PairedRuns
from permed_measures.comparisons.results import ComparisonRow, Options
from permed_measures.comparisons.rows import rows_of
from permed_measures.comparisons.tests import least_p
from permed_measures.comparisons.wording import p_or_dash
from permed_measures.datasets.loading import loaded_qrels, loaded_run, run_name
from permed_measures.engine.evaluator import PermedEvaluator
from permed_measures.engine.groups import By, clusters_of
from permed_measures.engine.inputs import QrelsLike, RunLike, path_of
from permed_measures.errors import InputError
from permed_measures.files.provenance import Origin, provenance
from permed_measures.intervals import Floats, sums_of
from permed_measures.markup import counted
from permed_measures.measures.headings import name_of
from permed_measures.measures.parsing import distinct, named_measure
from permed_measures.records.changes import values_to_compare
from permed_measures.records.fields import check_fields
from permed_measures.records.record import Record, as_record
from permed_measures.records.rules import RULES
from permed_measures.results.evaluations import Evaluations, evaluated
from permed_measures.results.report import Report, Result, Section
from permed_measures.results.table import Table

LEVEL = 0.05
"""A drop is significant if its p-value is below this; the interval is of 1 - this."""

_NO_EVIDENCE = (
    "that a drop is not significant does not show that it is small: non-inferior asks for evidence of that"
)


@dataclass(frozen=True)
class Rule:
    """What was asked of a measure, and what was found.

    Attributes
    ----------
    measure : str
    asked : str
        Such as ``at least 0.8``.
    found : float
        The mean, or the drop below the baseline (above 0 is worse).
    said : str
        The same as it is printed and compared: ``0.7934``, ``fell by 0.0530``, ``rose by 0.0474``.
    ok : bool
    note : str
        What else there is to say, such as the p-value of a drop.
    """

    measure: str
    asked: str
    found: float
    said: str
    ok: bool
    note: str = ""


@dataclass(frozen=True)
class Gate(Result):
    """The outcome; ``print`` shows the table.

    ``to_polars`` and ``to_pandas`` give a row for each rule.

    Attributes
    ----------
    rules : list of Rule
    about : str
        The queries, and how drops were judged.
    notes : list of str
        What is to be known about the run, as `evaluate` says it.
    measures : list of Measure
    seed : int or None
        Of the test, if there was one.
    origin : Origin or None
        The command and its files.
    """

    rules: list[Rule]
    about: str
    notes: list[str] = field(default_factory=list)
    measures: list[Measure] = field(default_factory=list, repr=False)
    seed: int | None = field(default=None, repr=False)
    origin: Origin | None = field(default=None, repr=False)

    @property
    def ok(self) -> bool:
        """Whether every rule holds."""
        return all(rule.ok for rule in self.rules)

    @property
    def verdict(self) -> str:
        """The outcome in a sentence."""
        broken = [rule.measure for rule in self.rules if not rule.ok]
        if not broken:
            return f"passed: {counted(len(self.rules), 'rule')}"
        return f"failed: {', '.join(dict.fromkeys(broken))}"

    def report(self) -> Report:
        """Return the outcome, and a row for each rule."""
        rows = [
            [rule.measure, rule.asked, rule.said, "ok" if rule.ok else "FAILED", rule.note]
            for rule in self.rules
        ]
        n = len(_HEADINGS) - (not any(rule.note for rule in self.rules))
        table = Table.of(_HEADINGS[:n], [row[:n] for row in rows], n, caption=self.about, label="gate")
        return Report(
            "Retrieval quality",
            [f"Retrieval quality {self.verdict}."],
            [Section(tables=[table])],
            data=lambda: {
                "passed": self.ok,
                "about": self.about,
                "rules": [*map(vars, self.rules)],
                "notes": self.notes,
                "provenance": provenance(self.measures, self.origin, self.seed, ["scipy"]),
            },
            rows=lambda: map(vars, self.rules),
            cautions=self.notes,
        )


_HEADINGS = ["measure", "asked", "found", "outcome", "note"]


def gate(
    qrels: QrelsLike,
    run: RunLike,
    minimum: Mapping[str, float] | None = None,
    baseline: RunLike | Record | None = None,
    max_drop: Mapping[str, float] | None = None,
    significant: bool = False,
    non_inferior: bool = False,
    clusters: By | None = None,
    resamples: int = 50_000,
    seed: int = 0,
    order: str = "score",
    query_ids: str | None = None,
) -> Gate:
    """Say whether a run reaches floors, and does not fall too far below a baseline.

    Parameters
    ----------
    qrels : QrelsLike
    run : RunLike
    minimum : mapping of str to float
        The least mean of each measure: ``{"nDCG@10": 0.80}``.
    baseline : RunLike or Record, optional
        A run, or a record of one (or the path of either), whose values need not be computed again. A record
        must have been made with the same labels and options.
    max_drop : mapping of str to float
        How far the mean of each measure may fall below that of the baseline: the margin.
    significant : bool
        A drop beyond the margin counts only if it is significant too: by the randomization test over whole
        clusters, two-sided at 0.05 (``randomization_test`` has formula and source), each measure by itself.
        That a drop is not significant is no evidence that it is small.
    non_inferior : bool
        The run passes only with evidence that it does not fall by more than the margin: if the 95 % interval
        of the change (``mean_intervals``, over whole clusters) lies above -`max_drop`.
    clusters : str, mapping or callable, optional
        As in `compare`: by default the conversations of a data set that has them.
    resamples, seed : int
        Of the test.
    order, query_ids
        How runs are read that are paths, and how the record of a baseline must have been made, as in
        `record`.

    Returns
    -------
    Gate
        ``ok``, and a row for each rule.

    Raises
    ------
    MeasureError, InputError
        As for an evaluation; if there is no rule, or `max_drop` has no baseline; if the record of the
        baseline lacks a measure, was edited, or was made with other labels, queries or options; if no drop
        could be significant: the p-values of five clusters or fewer are at least 2 / 2^5.

    Notes
    -----
    Numbers are compared as they are printed, with four decimals, or as many as the limit has, nine at
    most: a mean of 0.61996 is 0.6200 and reaches 0.62, and is 0.61996 where 0.61997 is asked for.

    Examples
    --------
    >>> qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    >>> found = gate(qrels, {"q1": {"a": 1.0}}, minimum={"RR": 0.8})
    >>> found.ok, found.rules
    (False, [Rule(measure='RR', asked='at least 0.8', found=0.5, said='0.5000', ok=False, note='')])
    """
    floors, drops = _by_measure(minimum), _by_measure(max_drop)
    limits = {"min": floors, "max-drop": drops}
    given = {"significant": significant, "non-inferior": non_inferior, "resamples": resamples, "seed": seed}
    check_fields({name: {str(m): x for m, x in each.items()} for name, each in limits.items()} | given, RULES)
    _refuse_incomplete(floors, drops, baseline, significant, non_inferior)
    loaded = loaded_qrels(qrels)
    evaluator = PermedEvaluator(distinct([*floors, *drops]), loaded)
    judgments = evaluator.judgments
    if not judgments.query_ids:
        raise InputError("the qrels have no query")

    def values_of(run: Any) -> tuple[dict[Measure, Floats], list[str]]:
        name = run_name(path_of(run) or run)
        if isinstance(run, (str, os.PathLike)):
            run = loaded_run(run, order=order, rewriting=query_ids, qrels=loaded)
        evaluations, notes = evaluated(evaluator, {name: run})
        found = Evaluations(list(evaluator.measures), evaluations, notes=notes)
        values = evaluations[name].values
        return dict(zip(evaluator.measures, values, strict=True)), found.notes_on(name)

    values, notes = values_of(run)
    rules = [_floor(measure, values[measure], least) for measure, least in floors.items()]
    about = counted(len(judgments.query_ids), "query")
    if baseline is not None:
        recorded = as_record(baseline)
        if recorded is None:
            before, of_baseline = values_of(baseline)
            notes += [each for each in of_baseline if each not in notes]
        elif len(recorded.runs) != 1:
            problem = f"the record of a baseline must have one run (found {len(recorded.runs)})"
            raise InputError(problem, where=recorded.source)
        else:
            how = (list(drops), judgments, order, query_ids)
            [before] = values_to_compare(recorded, *how).values()
        name, cluster, _ = clusters_of(judgments.query_ids, clusters, loaded)
        runs = {"baseline": before, "run": values}
        stacked = {run: np.stack([of[measure] for measure in drops]) for run, of in runs.items()}
        pairs = [("run", "baseline")]
        paired = PairedRuns(list(drops), judgments.query_ids, stacked, pairs, name, cluster, [])
        tests = ("randomization",) if significant else ()
        _refuse_powerless(paired, significant, resamples)
        [rows], _ = rows_of([paired], Options(tests, "none", resamples, seed, 1 - LEVEL))
        for row, most, changes in zip(rows, drops.values(), _changes_of_clusters(paired), strict=True):
            few = least_p(int((np.abs(changes) > 1e-12).sum()), resamples) >= LEVEL
            rules.append(_drop(row, most, non_inferior, few))
        if significant or non_inferior:
            about += f", by {name}" * bool(name)
        if non_inferior:
            about += "; [95% CI of the change]"
        elif any(rule.ok and rule.note for rule in rules):
            about += f"; {_NO_EVIDENCE}"
    return Gate(rules, about, notes, list(evaluator.measures), seed if significant else None)


def _by_measure(given: Mapping[str, float] | None) -> dict[Measure, float]:
    """Return the limit of each measure."""
    pairs = (given or {}).items()
    return {text if isinstance(text, Measure) else named_measure(text): limit for text, limit in pairs}


def _refuse_incomplete(
    floors: Any, drops: Any, baseline: object, significant: bool, non_inferior: bool
) -> None:
    is_tested = significant or non_inferior
    for is_wrong, problem, hint in (
        (not floors and not drops, "there is no rule", "Give minimum={'nDCG@10': 0.8}, or max_drop"),
        (drops and baseline is None, "max_drop needs a baseline", "Name a run or a record"),
        (baseline is not None and not drops, "a baseline needs max_drop", "Say how far a measure may fall"),
        (is_tested and not drops, "a test is of a drop below a baseline", "Give a baseline and max_drop"),
        (significant and non_inferior, "significant and non_inferior exclude each other", "Choose one"),
    ):
        if is_wrong:
            raise InputError(problem, hint=hint)


def _printed(value: float, limit: float, sign: str = "") -> str:
    """Write a number as it is compared with a limit: with the decimals of that, but four to nine."""
    decimals = -int(Decimal(repr(float(limit))).as_tuple().exponent)
    return f"{value:{sign}.{min(max(decimals, 4), 9)}f}"


def _is_less(value: float, limit: float) -> bool:
    """Return whether a value is below a limit, both as they are printed."""
    return float(_printed(value, limit)) < float(_printed(limit, limit))


def _limit(limit: float) -> str:
    return f"{limit:g}" if float(f"{limit:g}") == limit else repr(limit)


def _floor(measure: Measure, values: Floats, least: float) -> Rule:
    mean = float(values.mean())
    is_met = not _is_less(mean, least)
    return Rule(name_of(measure), f"at least {_limit(least)}", mean, _printed(mean, least), is_met)


def _refuse_powerless(paired: PairedRuns, significant: bool, resamples: int) -> None:
    """Refuse a test that no drop could fail."""
    least = least_p(paired.n_clusters, resamples)
    if significant and least >= LEVEL:
        of = f"{counted(paired.n_clusters, 'independent unit')} and {counted(resamples, 'resample')}"
        hint = "Leave out significant: max_drop alone, or with non_inferior, can fail"
        problem = f"no drop can be significant: the smallest p-value of {of} is {least:.4f}"
        raise InputError(problem, hint=hint)


def _drop(row: ComparisonRow, most: float, non_inferior: bool, few: bool) -> Rule:
    """Judge the drop of a measure: by its interval, by its test, or by itself.

    Where `few` queries differ, no sign pattern of them gives a small p-value.
    """
    size = _printed(abs(row.difference), most)
    is_nothing = float(size) == 0
    said = f"{'changed' if is_nothing else 'fell' if row.difference < 0 else 'rose'} by {size}"
    ok, note = not _is_less(row.difference, -most), ""
    if non_inferior:
        ok, note = _within(row, most)
    elif row.tests and not ok:
        p = row.tests["randomization"].p
        note = f"p = {p_or_dash(p)}" + f", those that differ give none below {LEVEL:g}" * few
        ok = p is not None and p >= LEVEL
    return Rule(name_of(row.measure), f"drop of at most {_limit(most)}", -row.difference, said, ok, note)


def _changes_of_clusters(paired: PairedRuns) -> list[Floats]:
    """Return the sum of the changes of each cluster by measure."""
    changes = [paired.differences(number)[:, 0] for number in range(len(paired.measures))]
    return [sums_of(each[:, None], paired.cluster)[:, 0] for each in changes]


def _within(row: ComparisonRow, most: float) -> tuple[bool, str]:
    """Return whether the interval of the change lies above the margin."""
    if not row.wins + row.losses:
        return True, "every query is as before"
    if row.interval is None:
        return False, row.reasons["interval"]
    low, high = (_printed(each, most, "+") for each in row.interval)
    return not _is_less(float(low), -most), f"[{low}, {high}]"


def assert_no_regression(
    qrels: QrelsLike,
    run: RunLike,
    baseline: RunLike | Record | None = None,
    max_drop: Mapping[str, float] | None = None,
    minimum: Mapping[str, float] | None = None,
    **options: Any,
) -> None:
    """Raise AssertionError, with the table of `gate` as its message, if a rule is broken.

    Parameters and errors are those of `gate`. For tests of any framework.

    Examples
    --------
    >>> assert_no_regression({"q": {"a": 1}}, {"q": {"a": 1.0}}, minimum={"RR": 0.8})
    """
    found = gate(qrels, run, minimum, baseline, max_drop, **options)
    if not found.ok:
        raise AssertionError(f"retrieval quality dropped\n\n{found}")
