"""The differences of a comparison as text: the table, and how it was computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import NamedTuple

from ir_measures.measures import Measure

from permed_measures.comparisons.corrections import correction_of
from permed_measures.comparisons.results import (
    EQUIVALENCE,
    INTERACTION,
    ComparisonResult,
    ComparisonRow,
    deciding,
)
from permed_measures.comparisons.tests import SignificanceTest
from permed_measures.comparisons.wording import (
    CORRECTION_NAMES,
    LEVELS,
    families,
    in_clusters,
    interval_heading,
    interval_method,
    interval_of,
    is_random,
    method_of,
    of_each,
    p_or_dash,
    shown,
    signed,
)
from permed_measures.markup import counted, plural
from permed_measures.measures.headings import headings_of
from permed_measures.results.table import NONE

_ADJUSTED = "(adj.)"
"""What the heading of an adjusted p-value ends with."""


class DifferencesTable(NamedTuple):
    """The differences as text, as `terminal_table` takes them: a row for each pair and measure."""

    headings: list[str]
    rows: list[list[str]]
    n_labels: int
    block: int
    spare: list[str]


def differences_table(result: ComparisonResult, tests: Mapping[str, str] | None = None) -> DifferencesTable:
    """Tabulate the differences: a p-value for each test, and the adjusted one unless the test is naive.

    `tests` has the tests to show with their headings; if left out, it is `headings_of_tests`.
    """
    shown = headings_of_tests(result) if tests is None else tests
    made = result.rows[0].tests
    adjusted = [name for name in shown if not made[name].naive and result.correction != "none"]
    intervals = [interval_heading(result)] if interval_method(result) else []
    labels = [*([result.by] if result.by else []), "measure", "run"]
    labels += ["against"] if result.baseline is None else []
    headings = ["mean", "base", "Δ", "Δ %", *intervals, "win/tie/loss", "d_z"]
    spare = [heading for name, heading in shown.items() if name not in adjusted]
    spare = [] if len(spare) == len(shown) else spare
    spare += [*(shown[name] for name in adjusted), "Δ %", "d_z", "base", "mean", "win/tie/loss"]
    for name, heading in shown.items():
        headings += [heading, *([f"{heading} {_ADJUSTED}"] if name in adjusted else [])]
    short = dict(zip(result.measures, headings_of(result.measures), strict=True))
    rows = [
        [
            *([group] if result.by else []),
            short[row.measure],
            *([row.run] if result.baseline is not None else [row.run, row.baseline]),
            *_estimates(result, row, bool(intervals)),
            *(cell for name in shown for cell in _p_values(row.tests.get(name), name in adjusted)),
        ]
        for group, comparison in result.sections()
        for row in comparison.rows
    ]
    return DifferencesTable([*labels, *headings], rows, len(labels), len(result.rows), spare)


def headings_of_tests(result: ComparisonResult) -> dict[str, str]:
    """Return the heading of each test."""
    tests = result.rows[0].tests
    return {name: f"{name} (naive)" if test.naive else name for name, test in tests.items()}


def _estimates(result: ComparisonResult, row: ComparisonRow, intervals: bool) -> list[str]:
    percent = None if row.relative is None else 100 * row.relative
    cells = [shown(result, row.mean), shown(result, row.baseline_mean), shown(result, row.difference, "+")]
    cells.append(signed(percent, "+.1f"))
    cells += [interval_of(result, row)] if intervals else []
    return [*cells, f"{row.wins:,}/{row.ties:,}/{row.losses:,}", signed(row.effect_size, "+.2f")]


def _p_values(test: SignificanceTest | None, adjusted: bool) -> list[str]:
    """Write the p-values of a test; those of an interaction are of all queries, not of a group."""
    if test is None:
        return ["", ""] if adjusted else [""]
    return [p_or_dash(test.p), p_or_dash(test.adjusted)] if adjusted else [p_or_dash(test.p)]


# --- how it was computed -----------------------------------------------------------------------------


def legend(result: ComparisonResult, only: Collection[str] | None = None) -> list[str]:
    """Explain the differences: what they are, how they were computed, and why some are missing.

    `only` names the tests that are shown; all if left out.
    """
    tests = {name: test for name, test in result.rows[0].tests.items() if only is None or name in only}
    against = (
        result.baseline if result.baseline is not None else f"the run in column 'against' ({result.against})"
    )
    seed = f"; seed {result.seed}" if any(is_random(result, name) for name in tests) else ""
    lines = [f"Δ: row run minus {against}; {counted(result.n_queries, 'query')}{in_clusters(result)}{seed}"]
    if interval_method(result):
        lines += [_about_intervals(result), *_around_zero(result)]
    lines += [f"{name}: {method_of(result, name)}" for name in tests if "random" in name]
    valid = [name for name, test in tests.items() if not test.naive]
    for correction in dict.fromkeys(correction_of(result.correction, name) for name in valid):
        chosen = [name for name in valid if correction_of(result.correction, name) == correction]
        lines += _corrections(result, correction, chosen)
    if any(test.naive for test in tests.values()):
        lines.append("naive: treats the queries of a cluster as independent; do not report it")
    rows = [row for _, each in result.sections() for row in each.rows]
    lines += [
        *_about_power(result),
        *(_ABOUT[name].format(result, tests[name].method) for name in _ABOUT if name in tests),
    ]
    return [*lines, *_reasons(rows, tests), *result.notes]


_ABOUT = {
    EQUIVALENCE: "equivalence: p that Δ is beyond the equivalence margin ±{0.equivalence_margin:g}, "
    "by two one-sided t-tests",
    INTERACTION: "interaction: p that the differences do not depend on {0.by}, by {1}",
}


def _about_power(result: ComparisonResult) -> list[str]:
    """Say how many queries the difference asked for needs."""
    if result.detect is None:
        return []
    names = dict(zip(result.measures, headings_of(result.measures), strict=True))
    units = plural(result.paired.unit)
    what = f"{units} needed for a difference of {result.detect:g} (80% power)"
    ranges = {name: _range(result, measure) for measure, name in names.items()}
    texts = [f"{text} ({name})" for name, text in ranges.items() if text]
    return [f"{what}, for one uncorrected t-test: {', '.join(texts) or NONE}"]


def _range(result: ComparisonResult, measure: Measure) -> str:
    """Write the least and the most that the rows of a measure need."""
    known = sorted(row.needed for row in result.rows if row.measure == measure and row.needed is not None)
    return " to ".join(dict.fromkeys(f"{each:,}" for each in known[:1] + known[-1:]))


def _about_intervals(result: ComparisonResult) -> str:
    """Say how the intervals were computed."""
    heading = interval_heading(result)
    if result.interval == "simultaneous":
        sizes = {of: each["randomization"] for of, each in families(result).items()}
        texts = [
            f"{counted(n, 'difference')}{of_each(result)}{_of_what(result, of)}" for of, n in sizes.items()
        ]
        return f"simultaneous {heading} (max-T) of {', and of '.join(texts)}"
    units = counted(result.n_clusters, result.paired.unit)
    of_groups = "; of a group, from its own" if result.by else ""
    several = sum(len(each.rows) for _, each in result.sections()) > 1
    each_alone = "; not adjusted for multiple testing" if several and result.correction != "none" else ""
    return f"{heading}: {interval_method(result)}, {units}{of_groups}{each_alone}"


def _around_zero(result: ComparisonResult) -> list[str]:
    """Say why intervals contain 0 where the adjusted p is below 0.05, if some do."""
    found = n_rows = 0
    for row in (row for _, each in result.sections() for row in each.rows):
        test = deciding(row.tests)
        p = row.tests[test].adjusted if test else None
        if row.interval:
            n_rows += 1
            found += p is not None and p < LEVELS["†"] and row.interval[0] <= 0 <= row.interval[1]
    simultaneous = result.interval == "simultaneous"
    why = "max-T steps down, the intervals do not" if simultaneous else "they are not of the same test"
    said = f"{found:,} of {counted(n_rows, 'interval')} with 0 inside though p (adj.) < 0.05: {why}"
    return [said] if found else []


def _corrections(result: ComparisonResult, correction: str, names: list[str]) -> list[str]:
    """Say which p-values of these tests were adjusted together."""
    if correction == "none":
        return []
    texts = [
        _sizes({name: sizes[name] for name in names if name in sizes})
        + of_each(result)
        + _of_what(result, of)
        for of, sizes in families(result).items()
        if any(sizes.get(name) for name in names)
    ]
    adjusted = f"p {_ADJUSTED} of {', '.join(names)}: {CORRECTION_NAMES[correction]}"
    return [f"{adjusted} over {', and over '.join(texts)}"] if texts else []


def _of_what(result: ComparisonResult, of: str) -> str:
    return {"": "", "groups": f" of all {result.by} groups", "all queries": " of all queries"}[of]


def _sizes(sizes: dict[str, int]) -> str:
    """Say how many p-values each test has; one number if all have the same."""
    if len({*sizes.values()}) == 1:
        return counted(next(iter(sizes.values())), "p-value")
    return ", ".join(f"{n:,} ({name})" for name, n in sizes.items()) + " p-values"


def _reasons(rows: list[ComparisonRow], tests: Collection[str]) -> list[str]:
    """Say why values are missing: each reason once, with its number of rows."""
    found = Counter[str]()
    for row in rows:
        missing = {name: test.reason for name, test in row.tests.items() if name in tests and test.reason}
        given = {**row.reasons, **missing}
        found.update(f"{NONE} {name.replace('_', ' ')}: {reason}" for name, reason in given.items())
    return [f"{text} ({n:,} of {counted(len(rows), 'row')})" for text, n in found.items()]
