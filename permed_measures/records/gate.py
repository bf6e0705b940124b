"""Check a run against floors and against a baseline, by the means or by confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from ir_measures.measures import Measure

from permed_measures.arrays import Ints
from permed_measures.engine.groups import By
from permed_measures.errors import InputError, short_repr
from permed_measures.experiment import Experiment
from permed_measures.inputs.columns import QrelsLike, RunLike
from permed_measures.intervals import Estimate
from permed_measures.measures.headings import alias_notes, name_of
from permed_measures.measures.parsing import deduplicate, parse_named_measure
from permed_measures.measures.specs import is_count
from permed_measures.provenance import Origin, provenance
from permed_measures.records.limit_intervals import (
    GATE_LEVEL,
    GATE_SEED,
    Values,
    baseline_of,
    evaluated_run,
    intervals_of_changes,
    intervals_of_means,
    is_resampled,
    method,
)
from permed_measures.results.report import Report, Result, Section, how_made
from permed_measures.results.table import NONE, Cell, Table, as_text
from permed_measures.wording import pluralize

PASSED, FAILED, INCONCLUSIVE = "passed", "failed", "inconclusive"
FLOOR, DROP = "minimum", "max_drop"

Limits = Mapping[str, float] | Iterable[tuple[str, float]]
"""A limit for each measure, by name or as pairs of both."""


@dataclass(frozen=True)
class Rule:
    """A limit on a measure, and the result of the check.

    Attributes
    ----------
    measure : str
    kind : {'minimum', 'max_drop'}
    limit : float
    asked : str
        The limit in words, such as ``at least 0.8``.
    found : float
        The mean (for counts the sum), or the drop below the baseline (above 0 is worse).
    said : str
        The same number as it is printed and compared: ``0.7934``, ``fell by 0.0530``, ``rose by 0.0474``.
    ok : bool
        Whether the run passes this rule.
    outcome : {'passed', 'failed', 'inconclusive'}
        The result by the mean itself, or by its confidence interval.
    low, high : float or None
        The confidence interval of `found`, if intervals decide.
    interval : str
        The interval as it is printed (for a drop, that of the change), or the reason why there is none.
    unclear : str
        If the outcome is inconclusive, a sentence that says so.
    """

    measure: str
    kind: str
    limit: float
    asked: str
    found: float
    said: str
    ok: bool
    outcome: str
    low: float | None = None
    high: float | None = None
    interval: str = ""
    unclear: str = ""


@dataclass(frozen=True)
class Gate(Result):
    """The outcome of a gate; ``print`` shows the table.

    ``to_polars`` and ``to_pandas`` give a row for each rule.

    Attributes
    ----------
    rules : list of Rule
    about : str
        The number of queries.
    notes : list of str
        The notes of `evaluate` about the run.
    measures : list of Measure
    origin : Origin or None
        The command and its files.
    evidence : list of str
        How the intervals were computed; empty if the means alone decide.
    seed : int or None
        The seed of the random sign patterns; None if all patterns were used, or none.
    """

    rules: list[Rule]
    about: str
    notes: list[str] = field(default_factory=list)
    measures: list[Measure] = field(default_factory=list, repr=False)
    origin: Origin | None = field(default=None, repr=False)
    evidence: list[str] = field(default_factory=list, repr=False)
    seed: int | None = field(default=None, repr=False)

    @property
    def ok(self) -> bool:
        """Whether the run passes all rules."""
        return all(rule.ok for rule in self.rules)

    @property
    def outcome(self) -> str:
        """``failed`` if a rule fails; else ``inconclusive`` if a rule is inconclusive; else ``passed``."""
        unclear = any(rule.outcome == INCONCLUSIVE for rule in self.rules)
        return FAILED if not self.ok else INCONCLUSIVE if unclear else PASSED

    @property
    def verdict(self) -> str:
        """The outcome in a sentence."""
        broken = list(dict.fromkeys(rule.measure for rule in self.rules if rule.outcome == FAILED))
        unclear = [rule.unclear for rule in self.rules if rule.outcome == INCONCLUSIVE]
        if not broken and not unclear:
            return f"{PASSED}: {pluralize(len(self.rules), 'rule')}"
        parts = [f"{FAILED}: {', '.join(broken)}"] if broken else [] if self.ok else [FAILED]
        return "; ".join([*parts, *([f"{INCONCLUSIVE}: {'; '.join(unclear)}"] if unclear else [])])

    def report(self) -> Report:
        """Report the outcome, with a row for each rule."""
        percent = [f"{100 * GATE_LEVEL:g}% CI"] if self.evidence else []
        headings = ["outcome", "measure", "asked", "found", *percent]
        words = {PASSED: "ok", FAILED: "FAILED", INCONCLUSIVE: INCONCLUSIVE}
        rows: list[list[str | Cell]] = [
            [
                words[rule.outcome] if rule.ok or rule.outcome == FAILED else f"FAILED ({rule.outcome})",
                *(Cell(rule.measure), Cell(rule.asked), Cell(rule.said, value=rule.found)),
                *([Cell(NONE if rule.low is None else rule.interval, value=rule.low)] if percent else []),
            ]
            for rule in self.rules
        ]
        notes = [*alias_notes(self.measures), *self.evidence]
        table = Table.of(headings, rows, len(headings), caption=self.about, notes=notes, label="gate")
        return Report(
            "Retrieval quality",
            [f"Retrieval quality {self.verdict}."],
            [Section(tables=[table])],
            data=lambda: {
                "passed": self.ok,
                "outcome": self.outcome,
                "verdict": self.verdict,
                "about": self.about,
                "rules": [*map(vars, self.rules)],
                "evidence": self.evidence,
                "notes": self.notes,
                "provenance": provenance(self.measures, self.origin, self.seed),
            },
            rows=lambda: map(vars, self.rules),
            provenance=partial(how_made, self.measures, self.origin, self.seed),
            cautions=self.notes,
        )


def gate(
    qrels: QrelsLike,
    run: RunLike,
    minimum: Limits | None = None,
    baseline: RunLike | Mapping[str, Any] | None = None,
    max_drop: Limits | None = None,
    *,
    significant: bool = False,
    non_inferior: bool = False,
    clusters: By | None = None,
    order: str = "score",
    query_ids: str | None = None,
) -> Gate:
    """Check whether a run reaches floors, and does not fall too far below a baseline.

    Parameters
    ----------
    qrels : QrelsLike
    run : RunLike
    minimum : mapping of str to float, or pairs of both
        The smallest allowed mean of each measure, for counts the smallest sum: ``{"nDCG@10": 0.80}``.
    baseline : RunLike or record, optional
        A run, or a record of one, as a `Record` or its file. A record is checked as by `verify`, but not
        computed again. If it has several runs, the one with the name of `run` counts, or name one:
        ``{name: record}``.
    max_drop : mapping of str to float, or pairs of both
        The largest allowed drop of each measure's mean below the mean of the baseline.
    significant : bool
        Fail only if the whole confidence interval is beyond a limit. If the whole interval is within the
        limit, the rule passes. Otherwise it is inconclusive, and passes too.
    non_inferior : bool
        Likewise, but an inconclusive rule fails: the run passes only if each whole interval is within its
        limit.
    clusters : str, mapping or callable, optional
        Groups of queries to resample together, as in `compare`: by default the conversations of a data set.
    order, query_ids
        As in `record`.

    Returns
    -------
    Gate
        ``ok``, and a row for each rule.

    Raises
    ------
    MeasureError, InputError
        As for an evaluation; also if there is no rule, a measure has two limits of a kind, `max_drop` has no
        baseline, both `significant` and `non_inferior` are true, or the record was edited, has another
        version, other labels or other options, or lacks a measure.

    Notes
    -----
    Numbers are compared as they are printed: with four decimals, or as many as the limit has, nine at most.
    So a mean of 0.61996 is 0.6200 and reaches a limit of 0.62; for a limit of 0.61997 it is 0.61996.

    The intervals have the level 0.95. The intervals of changes are those of `compare`, simultaneous for all
    changes that have a limit. The intervals of means are those of `uncertainty`, each by itself.

    Examples
    --------
    >>> qrels = {f"q{n}": {"a": 1} for n in range(9)}
    >>> run = {query_id: {"a": 1.0} for query_id in list(qrels)[:6]}
    >>> [rule] = gate(qrels, run, minimum={"RR": 0.8}).rules
    >>> rule.asked, rule.said, rule.ok
    ('at least 0.8', '0.6667', False)
    >>> found = gate(qrels, run, minimum={"RR": 0.8}, significant=True)
    >>> found.ok, found.verdict
    (True, 'inconclusive: RR may be 0.2993 to 0.9251')
    """
    floors, drops = _by_measure(FLOOR, minimum), _by_measure(DROP, max_drop)
    _refuse_incomplete(floors, drops, baseline)
    if significant and non_inferior:
        raise InputError("give significant or non_inferior, not both")
    experiment = Experiment.of(qrels, {"run": run}, deduplicate([*floors, *drops]), by_name=True)
    experiment.check_nonempty("judge by")
    how = {"order": order, "query_ids": query_ids}
    now = evaluated_run(run, experiment, how)
    before = None if baseline is None else baseline_of(baseline, now.name, experiment, list(drops), how)
    notes = [*now.notes, *(each for each in (before.notes if before else ()) if each not in now.notes)]
    evidence: list[str] = []
    cluster = None
    if significant or non_inferior:
        name, cluster, cluster_notes = experiment.clusters(clusters)
        notes, evidence = [*notes, *cluster_notes], method(cluster, name, bool(floors), bool(drops))
    rules = [
        *_rules(FLOOR, floors, now, None, cluster, non_inferior),
        *_rules(DROP, drops, now, before, cluster, non_inferior),
    ]
    about = pluralize(experiment.judgments.n_queries, "query")
    seed = GATE_SEED if drops and cluster is not None and is_resampled(cluster) else None
    origin = Origin.of(qrels, {now.name: now.file} if now.file else {})._replace(
        others={"baseline": before.file} if before and before.file else {},
        options={"order": order, "query-ids": query_ids},
    )
    return Gate(rules, about, notes, experiment.measures, origin, evidence, seed)


def _by_measure(kind: str, asked: Limits | None) -> dict[Measure, float]:
    """Parse the limits of one kind, and check them; two names of one measure count as the same."""
    limits: dict[Measure, float] = {}
    try:
        pairs = [
            (text, limit) for text, limit in (asked.items() if isinstance(asked, Mapping) else asked or ())
        ]
    except (TypeError, ValueError):
        problem = f"{kind} must be a mapping of measures to numbers (found {short_repr(asked)})"
        raise InputError(problem, hint="Give it as {'nDCG@10': 0.8}") from None
    for text, limit in pairs:
        if not _is_number(limit) or (kind == DROP and limit < 0):
            expected = "a number" if kind == FLOOR else "a number of at least 0"
            raise InputError(f"{kind} of {text} must be {expected} (found {short_repr(limit)})")
        measure = text if isinstance(text, Measure) else parse_named_measure(str(text))
        if measure in limits:
            both = f"{_limit(limits[measure])} and {_limit(float(limit))}"
            raise InputError(f"{measure} has two limits: {kind} {both}", hint="Give one of them")
        limits[measure] = float(limit)
    return limits


def _is_number(limit: object) -> bool:
    try:
        return isinstance(limit, Real) and not isinstance(limit, bool) and math.isfinite(limit)
    except OverflowError:  # an int above the largest float
        return False


def _refuse_incomplete(floors: Any, drops: Any, baseline: object) -> None:
    for is_wrong, problem, hint in (
        (not floors and not drops, "there is no rule", "Give minimum={'nDCG@10': 0.8}, or max_drop"),
        (drops and baseline is None, "max_drop needs a baseline", "Name a run"),
        (baseline is not None and not drops, "a baseline needs max_drop", "Say how far a measure may fall"),
    ):
        if is_wrong:
            raise InputError(problem, hint=hint)


# --- rules -----------------------------------------------------------------------------------------------


def _rules(
    kind: str,
    limits: Mapping[Measure, float],
    now: Values,
    before: Values | None,
    cluster: Ints | None,
    is_strict: bool,
) -> Iterator[Rule]:
    """Check means, or changes if there is a baseline; with clusters, check their confidence intervals."""
    if not limits:
        return
    measures = list(limits)
    values, totals = now.scaled(measures), [now.total(each) for each in measures]
    if before:
        values = values - before.scaled(measures)
        totals = [total - before.total(each) for total, each in zip(totals, measures, strict=True)]
    minima = [limit if kind == FLOOR else -limit for limit in limits.values()]
    intervals: list[Estimate | None] = [None] * len(measures)
    if cluster is not None:
        compute = intervals_of_changes if before else intervals_of_means
        intervals = [*compute(measures, values, cluster)]
    for facts in zip(measures, limits.values(), minima, totals, intervals, strict=True):
        yield _rule(kind, is_strict, *facts)


def _rule(
    kind: str,
    is_strict: bool,
    measure: Measure,
    limit: float,
    minimum: float,
    value: float,
    estimate: Estimate | None,
) -> Rule:
    """Check a mean or a change against its smallest allowed value."""
    printed, is_floor = _ComparedNumbers(minimum, 0 if is_count(measure) else 4), kind == FLOOR
    outcome = printed.outcome(value, estimate)
    asked = f"{'at least' if is_floor else 'drop of at most'} {_limit(limit)}"
    text = printed.text(value) if is_floor else printed.change_text(value)
    ok = outcome == PASSED or (outcome == INCONCLUSIVE and not is_strict)
    rule = Rule(name_of(measure), kind, limit, asked, value if is_floor else -value, text, ok, outcome)
    if estimate is None:
        return rule
    if estimate.value is None:
        rule = replace(rule, interval=estimate.reason)
    else:
        low, high = estimate.value
        interval = f"{printed.text(low)} {printed.text(high)}"
        low, high = estimate.value if is_floor else (-high, -low)
        rule = replace(rule, low=low, high=high, interval=interval)
    if outcome != INCONCLUSIVE:
        return rule
    return replace(rule, unclear=f"{rule.measure} {printed.unclear(estimate, kind)}")


class _ComparedNumbers(NamedTuple):
    """Print and compare numbers with the decimals of a limit: at least `min_decimals`, at most nine."""

    limit: float
    min_decimals: int

    @property
    def decimals(self) -> int:
        """The number of decimals beside this limit."""
        decimals = len(_limit(self.limit).partition(".")[2])
        return min(max(decimals, self.min_decimals), 9)

    def rounded(self, value: float) -> float:
        """Round a number as it is printed and compared."""
        return round(value, self.decimals)

    def text(self, value: float) -> str:
        """Write a number with these decimals."""
        return as_text(value, f",.{self.decimals}f")

    def change_text(self, change: float) -> str:
        """Write a change in words."""
        verb = "changed" if not self.rounded(change) else "fell" if change < 0 else "rose"
        return f"{verb} by {self.text(abs(change))}"

    def is_below(self, value: float) -> bool:
        """Check whether a value is below the limit, both as printed."""
        return self.rounded(value) < self.rounded(self.limit)

    def outcome(self, value: float, estimate: Estimate | None) -> str:
        """Decide the outcome by the interval; without one asked for, by the value itself."""
        interval = (value, value) if estimate is None else estimate.value
        if interval is None:
            return INCONCLUSIVE
        low, high = interval
        return FAILED if self.is_below(high) else INCONCLUSIVE if self.is_below(low) else PASSED

    def unclear(self, estimate: Estimate, kind: str) -> str:
        """Describe the range that remains possible."""
        if estimate.value is None:
            return f"is open ({estimate.reason})"
        low, high = estimate.value
        if kind == FLOOR:
            return f"may be {self.text(low)} to {self.text(high)}"
        return f"may have fallen by {self.text(-low)}"


def _limit(limit: float) -> str:
    return f"{Decimal(np.format_float_positional(limit, trim='-')):,f}"


def assert_no_regression(
    qrels: QrelsLike,
    run: RunLike,
    baseline: RunLike | Mapping[str, Any] | None = None,
    max_drop: Limits | None = None,
    minimum: Limits | None = None,
    **how: Any,
) -> None:
    """Raise AssertionError if a rule is broken; the message is the table of `gate`.

    It is for tests in any framework. Parameters and other errors are those of `gate`.

    Examples
    --------
    >>> assert_no_regression({"q": {"a": 1}}, {"q": {"a": 1.0}}, minimum={"RR": 0.8})
    """
    result = gate(qrels, run, minimum, baseline, max_drop, **how)
    if not result.ok:
        raise AssertionError(f"retrieval quality dropped\n\n{result}")
