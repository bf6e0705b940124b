"""Gates: a run must reach floors, and not fall below a baseline by more than is allowed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from ir_measures.measures import Measure

from permed_measures.datasets.loading import loaded_qrels, loaded_runs, run_name
from permed_measures.engine.evaluator import PermedEvaluator
from permed_measures.engine.inputs import QrelsLike, RunLike
from permed_measures.engine.tables import path_of
from permed_measures.errors import InputError, shown
from permed_measures.files.provenance import Origin, provenance
from permed_measures.markup import counted
from permed_measures.measures.headings import name_of
from permed_measures.measures.parsing import distinct, named_measure
from permed_measures.results.evaluations import Evaluations, evaluate_all
from permed_measures.results.report import Report, Result, Section
from permed_measures.results.table import Table

_HEADINGS = ["measure", "asked", "found", "outcome"]


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
    """

    measure: str
    asked: str
    found: float
    said: str
    ok: bool


@dataclass(frozen=True)
class Gate(Result):
    """The outcome; ``print`` shows the table.

    ``to_polars`` and ``to_pandas`` give a row for each rule.

    Attributes
    ----------
    rules : list of Rule
    about : str
        The number of queries.
    notes : list of str
        What is to be known about the run, as `evaluate` says it.
    measures : list of Measure
    origin : Origin or None
        The command and its files.
    """

    rules: list[Rule]
    about: str
    notes: list[str] = field(default_factory=list)
    measures: list[Measure] = field(default_factory=list, repr=False)
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
        rows = [[rule.measure, rule.asked, rule.said, "ok" if rule.ok else "FAILED"] for rule in self.rules]
        table = Table.of(_HEADINGS, rows, len(_HEADINGS), caption=self.about, label="gate")
        return Report(
            "Retrieval quality",
            [f"Retrieval quality {self.verdict}."],
            [Section(tables=[table])],
            data=lambda: {
                "passed": self.ok,
                "about": self.about,
                "rules": [*map(vars, self.rules)],
                "notes": self.notes,
                "provenance": provenance(self.measures, self.origin),
            },
            rows=lambda: map(vars, self.rules),
            cautions=self.notes,
        )


def gate(
    qrels: QrelsLike,
    run: RunLike,
    minimum: Mapping[str, float] | None = None,
    baseline: RunLike | None = None,
    max_drop: Mapping[str, float] | None = None,
) -> Gate:
    """Say whether a run reaches floors, and does not fall too far below a baseline.

    Parameters
    ----------
    qrels : QrelsLike
    run : RunLike
    minimum : mapping of str to float
        The least mean of each measure: ``{"nDCG@10": 0.80}``.
    baseline : RunLike, optional
    max_drop : mapping of str to float
        How far the mean of each measure may fall below that of the baseline.

    Returns
    -------
    Gate
        ``ok``, and a row for each rule.

    Raises
    ------
    MeasureError, InputError
        As for an evaluation; if there is no rule, or `max_drop` has no baseline.

    Notes
    -----
    Numbers are compared as they are printed, with four decimals, or as many as the limit has, nine at
    most: a mean of 0.61996 is 0.6200 and reaches 0.62, and is 0.61996 where 0.61997 is asked for.

    Examples
    --------
    >>> qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    >>> found = gate(qrels, {"q1": {"a": 1.0}}, minimum={"RR": 0.8})
    >>> found.ok, found.rules
    (False, [Rule(measure='RR', asked='at least 0.8', found=0.5, said='0.5000', ok=False)])
    """
    floors, drops = _by_measure("minimum", minimum), _by_measure("max_drop", max_drop)
    _refuse_incomplete(floors, drops, baseline)
    loaded = loaded_qrels(qrels)
    evaluator = PermedEvaluator(distinct([*floors, *drops]), loaded)
    query_ids = evaluator.judgments.query_ids
    if not query_ids:
        raise InputError("the qrels have no query")
    means, notes = _evaluated(run, evaluator)
    rules = [_floor(measure, means[measure], least) for measure, least in floors.items()]
    if baseline is not None:
        before, of_baseline = _evaluated(baseline, evaluator)
        notes += [each for each in of_baseline if each not in notes]
        rules += [_drop(measure, means[measure] - before[measure], most) for measure, most in drops.items()]
    return Gate(rules, counted(len(query_ids), "query"), notes, list(evaluator.measures))


def _by_measure(name: str, given: Mapping[str, float] | None) -> dict[Measure, float]:
    """Return the limit of each measure."""
    for text, limit in (given or {}).items():
        is_number = isinstance(limit, (int, float)) and not isinstance(limit, bool) and math.isfinite(limit)
        if not is_number or (name == "max_drop" and limit < 0):
            expected = "a number" if name == "minimum" else "a number of at least 0"
            raise InputError(f"{name} of {text} must be {expected} (found {shown(limit)})")
    pairs = (given or {}).items()
    return {text if isinstance(text, Measure) else named_measure(text): limit for text, limit in pairs}


def _refuse_incomplete(floors: Any, drops: Any, baseline: object) -> None:
    for is_wrong, problem, hint in (
        (not floors and not drops, "there is no rule", "Give minimum={'nDCG@10': 0.8}, or max_drop"),
        (drops and baseline is None, "max_drop needs a baseline", "Name a run"),
        (baseline is not None and not drops, "a baseline needs max_drop", "Say how far a measure may fall"),
    ):
        if is_wrong:
            raise InputError(problem, hint=hint)


def _evaluated(run: Any, evaluator: PermedEvaluator) -> tuple[dict[Measure, float], list[str]]:
    """Return the means of a run, and what is to be known about it."""
    name = run_name(path_of(run) or run)
    evaluations, notes = evaluate_all(evaluator, loaded_runs({name: run}))
    found = Evaluations(list(evaluator.measures), evaluations, notes=notes)
    means = evaluations[name].values.mean(axis=1).tolist()
    return dict(zip(evaluator.measures, means, strict=True)), found.notes_on(name)


def _printed(value: float, limit: float) -> str:
    """Write a number as it is compared with a limit: with the decimals of that, but four to nine."""
    decimals = -int(Decimal(repr(float(limit))).as_tuple().exponent)
    return f"{value:.{min(max(decimals, 4), 9)}f}"


def _is_less(value: float, limit: float) -> bool:
    """Return whether a value is below a limit, both as they are printed."""
    return float(_printed(value, limit)) < float(_printed(limit, limit))


def _limit(limit: float) -> str:
    return f"{limit:g}" if float(f"{limit:g}") == limit else repr(limit)


def _floor(measure: Measure, mean: float, least: float) -> Rule:
    is_met = not _is_less(mean, least)
    return Rule(name_of(measure), f"at least {_limit(least)}", mean, _printed(mean, least), is_met)


def _drop(measure: Measure, change: float, most: float) -> Rule:
    size = _printed(abs(change), most)
    said = f"{'changed' if float(size) == 0 else 'fell' if change < 0 else 'rose'} by {size}"
    is_small = not _is_less(change, -most)
    return Rule(name_of(measure), f"drop of at most {_limit(most)}", -change, said, is_small)


def assert_no_regression(
    qrels: QrelsLike,
    run: RunLike,
    baseline: RunLike | None = None,
    max_drop: Mapping[str, float] | None = None,
    minimum: Mapping[str, float] | None = None,
) -> None:
    """Raise AssertionError, with the table of `gate` as its message, if a rule is broken.

    Parameters and errors are those of `gate`. For tests of any framework.

    Examples
    --------
    >>> assert_no_regression({"q": {"a": 1}}, {"q": {"a": 1.0}}, minimum={"RR": 0.8})
    """
    found = gate(qrels, run, minimum, baseline, max_drop)
    if not found.ok:
        raise AssertionError(f"retrieval quality dropped\n\n{found}")
