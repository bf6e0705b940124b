"""Gates: a run must reach floors, and not fall below a baseline by more than is allowed."""

from __future__ import annotations

import math
import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from ir_measures.measures import Measure
from numpy.typing import NDArray

from permed_measures.datasets.loading import loaded_qrels, loaded_run
from permed_measures.engine.evaluator import PermedEvaluator
from permed_measures.engine.groups import By
from permed_measures.engine.inputs import QrelsLike, RunLike
from permed_measures.errors import InputError, MeasureError, check_whole_number, nearest, shown
from permed_measures.markup import as_json, counted
from permed_measures.measures.headings import name_of
from permed_measures.measures.parsing import distinct, named_measure
from permed_measures.records.record import Record, is_record, read_record
from permed_measures.reports.tables import PaperTable, TableRow, markdown
from permed_measures.statistics.differences import clusters_of
from permed_measures.statistics.resampling import randomization_test
from permed_measures.terminal import paragraph, terminal_table

SIGNIFICANT = 0.05
"""A drop counts with ``significant`` if its p-value is below this."""


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
    ok : bool
    note : str
        What else there is to say, such as the p-value of a drop.
    """

    measure: str
    asked: str
    found: float
    ok: bool
    note: str = ""


@dataclass(frozen=True)
class Gate:
    """The outcome; ``print`` shows the table.

    Attributes
    ----------
    rules : list of Rule
    about : str
        The run, the baseline and the queries.
    """

    rules: list[Rule]
    about: str

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

    def __str__(self) -> str:
        """Return the table, and the verdict."""
        table = terminal_table(_HEADINGS, self._rows("ok", "FAILED"), 5)
        return "\n".join([table, paragraph(f"{self.about}; {self.verdict}"), ""])

    def to(self, form: str) -> str:
        """Write it as ``table``, ``markdown`` or ``json``."""
        return GATE_FORMATS[form](self)

    def _rows(self, passed: str, failed: str) -> list[list[str]]:
        return [
            [each.measure, each.asked, f"{each.found:.4f}", passed if each.ok else failed, each.note]
            for each in self.rules
        ]


_HEADINGS = ["measure", "asked", "found", "outcome", ""]


def _as_markdown(gate: Gate) -> str:
    rows = [TableRow([*row[:4], row[4]], []) for row in gate._rows("✅", "❌")]
    heading = f"### {'✅' if gate.ok else '❌'} Retrieval quality: {gate.verdict}\n\n"
    return heading + markdown(PaperTable([*_HEADINGS[:4], "note"], [], [rows], gate.about))


def _as_json(gate: Gate) -> str:
    rules = [vars(rule) for rule in gate.rules]
    return as_json({"passed": gate.ok, "about": gate.about, "rules": rules}, indent=2) + "\n"


GATE_FORMATS: dict[str, Callable[[Gate], str]] = {"table": str, "markdown": _as_markdown, "json": _as_json}


def gate(
    qrels: QrelsLike,
    run: RunLike,
    minimum: Mapping[str, float] | None = None,
    baseline: RunLike | Record | None = None,
    max_drop: Mapping[str, float] | None = None,
    significant: bool = False,
    rope: float = 0.0,
    clusters: By | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> Gate:
    """Say whether a run reaches floors, and does not fall too far below a baseline.

    Parameters
    ----------
    qrels : QrelsLike
    run : RunLike
    minimum : mapping of str to float
        The least mean of each measure: ``{"nDCG@10": 0.80}``.
    baseline : RunLike or Record, optional
        A run, or a record of one (or the path of either), whose values need not be computed again.
    max_drop : mapping of str to float
        How far the mean of each measure may fall below that of the baseline.
    significant : bool
        A drop beyond `max_drop` counts only if it is significant too: by the randomization test over whole
        clusters, two-sided at 0.05 (``randomization_test`` has formula and source).
    rope : float, at least 0
        The region of practical equivalence. With `significant`, the drop must be significantly larger
        than this.
    clusters : str, mapping or callable, optional
        As in `compare`: by default the conversations of a data set that has them.
    resamples, seed : int
        Of the test.

    Returns
    -------
    Gate
        ``ok``, and a row for each rule.

    Raises
    ------
    MeasureError, InputError
        As for an evaluation; if there is no rule, or `max_drop` has no baseline, or the record lacks a
        measure or has other queries.

    Examples
    --------
    >>> qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    >>> found = gate(qrels, {"q1": {"a": 1.0}}, minimum={"RR": 0.8})
    >>> found.ok, found.rules
    (False, [Rule(measure='RR', asked='at least 0.8', found=0.5, ok=False, note='')])
    """
    floors, drops = _limits(minimum, "minimum"), _limits(max_drop, "max_drop")
    _refuse_incomplete(floors, drops, baseline, significant, rope)
    check_whole_number("resamples", resamples, 1)
    check_whole_number("seed", seed, 0)
    loaded = loaded_qrels(qrels)
    evaluator = PermedEvaluator(distinct([*floors, *drops]), loaded)
    query_ids = evaluator.judgments.query_ids
    if not query_ids:
        raise InputError("the qrels have no query")
    evaluation = evaluator.evaluate(loaded_run(run))
    values = dict(zip(evaluation.measures, evaluation.values, strict=True))
    rules = [_floor(measure, values[measure], least) for measure, least in floors.items()]
    about = counted(len(query_ids), "query")
    if baseline is not None:
        before = _baseline_values(baseline, drops, loaded, query_ids)
        name, cluster, _ = clusters_of(query_ids, clusters, loaded)
        test = _Test(significant, rope, cluster, resamples, seed)
        rules += [_drop(each, values[each] - before[each], most, test) for each, most in drops.items()]
        about += f", tested by {name}" if significant and name else ""
    return Gate(rules, about)


@dataclass(frozen=True)
class _Test:
    asked: bool
    rope: float
    cluster: NDArray[np.int64]
    resamples: int
    seed: int


def _limits(given: Mapping[str, float] | None, name: str) -> dict[Measure, float]:
    """Return the limit of each measure."""
    found: dict[Measure, float] = {}
    for text, limit in (given or {}).items():
        if isinstance(limit, bool) or not isinstance(limit, (int, float)) or not math.isfinite(limit):
            raise InputError(f"{name} of {text} must be a number (found {shown(limit)})")
        if name == "max_drop" and limit < 0:
            raise InputError(f"max_drop of {text} must be at least 0 (found {limit!r})")
        found[text if isinstance(text, Measure) else named_measure(text)] = float(limit)
    return found


def _refuse_incomplete(
    floors: Mapping[Measure, float],
    drops: Mapping[Measure, float],
    baseline: object,
    significant: bool,
    rope: float,
) -> None:
    if not floors and not drops:
        raise InputError("there is no rule", hint="Give minimum={'nDCG@10': 0.8}, or a baseline and max_drop")
    if drops and baseline is None:
        raise InputError("max_drop needs a baseline", hint="Name a run or a record")
    if baseline is not None and not drops:
        raise InputError(
            "a baseline needs max_drop", hint="Say how far a measure may fall: {'nDCG@10': 0.01}"
        )
    if rope and not significant:
        raise InputError("rope needs significant", hint="Without a test, max_drop alone says what is allowed")
    if not isinstance(rope, (int, float)) or not 0 <= rope < math.inf:
        raise InputError(f"rope must be a number of at least 0 (found {rope!r})")


def _floor(measure: Measure, values: NDArray[np.float64], least: float) -> Rule:
    mean = float(values.mean())
    return Rule(name_of(measure), f"at least {least:g}", mean, mean >= least)


def _drop(measure: Measure, change: NDArray[np.float64], most: float, test: _Test) -> Rule:
    """Judge a drop; rounding in the last bits is none."""
    drop = -float(change.mean())
    ok, note = drop <= most + 1e-12, ""
    if not ok and test.asked:
        [tested] = randomization_test(change[:, None] + test.rope, test.cluster, test.resamples, test.seed)
        p = 1.0 if drop <= test.rope else tested.p
        ok = not (p is not None and p < SIGNIFICANT)
        beyond = f" beyond {test.rope:g}" if test.rope else ""
        p_text = "" if p is None else f", p = {p:.4f}"
        note = f"{'not ' if ok else ''}significant{beyond}{p_text}"
    return Rule(name_of(measure), f"drop of at most {most:g}", drop, ok, note)


# --- the baseline ------------------------------------------------------------------------------------


def _baseline_values(
    baseline: RunLike | Record, drops: Mapping[Measure, float], qrels: Any, query_ids: list[str]
) -> dict[Measure, NDArray[np.float64]]:
    """Return the values of the baseline: those of its record, or computed."""
    is_path = isinstance(baseline, (str, os.PathLike))
    where = str(baseline) if is_path else ""
    if is_path and is_record(Path(baseline)):  # type: ignore[arg-type]
        baseline = read_record(baseline)  # type: ignore[arg-type]
    if not isinstance(baseline, Record):
        evaluation = PermedEvaluator(list(drops), qrels).evaluate(loaded_run(baseline))
        return dict(zip(evaluation.measures, evaluation.values, strict=True))
    if len(baseline.runs) != 1:
        raise InputError(
            f"the record of a baseline must have one run (found {len(baseline.runs)})", where=where
        )
    if baseline["query_ids"] != query_ids:
        raise InputError("the record of the baseline has other queries than the qrels", where=where)
    recorded = {measure: name_of(measure) for measure in baseline.measures}
    for measure in drops:
        if measure not in recorded:
            names = ", ".join(map(str, recorded))
            raise MeasureError(
                f"the record of the baseline has no {measure} (it has {names})",
                where=where,
                hint=nearest(str(measure), map(str, recorded)),
            )
    [run] = baseline.runs
    return {measure: baseline.values(run, recorded[measure]) for measure in drops}


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


# --- rules in a file ---------------------------------------------------------------------------------

_KEYS = ("min", "baseline", "max-drop", "significant", "rope", "clusters", "resamples", "seed")


def read_rules(path: Path) -> dict[str, Any]:
    """Read the rules of a TOML file: the table ``tool.permed-measures.gate`` if it has it, or all of it.

    Raises
    ------
    InputError
        If it is no TOML, or a key or a value is no rule.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"this is no TOML file ({error})", where=str(path)) from None
    rules = content.get("tool", {}).get("permed-measures", {}).get("gate")
    if rules is None and path.name == "pyproject.toml":
        raise InputError("there is no table [tool.permed-measures.gate]", where=str(path))
    rules = content if rules is None else rules
    for key, value in rules.items():
        if key not in _KEYS:
            raise InputError(f"{key!r} is no rule", where=str(path), hint=nearest(key, _KEYS))
        if key in ("min", "max-drop") and not isinstance(value, dict):
            raise InputError(
                f"{key} must be a table {{'nDCG@10' = 0.8}} (found {shown(value)})", where=str(path)
            )
    if "baseline" in rules and not Path(str(rules["baseline"])).is_absolute():
        rules["baseline"] = str(path.parent / str(rules["baseline"]))
    return dict(rules)
