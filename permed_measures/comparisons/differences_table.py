"""The table of differences: estimates, intervals and p-values of each pair, and how they were computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from permed_measures.comparisons.corrections import correction_of
from permed_measures.comparisons.results import (
    EQUIVALENCE,
    ComparisonResult,
    ComparisonRow,
    deciding,
)
from permed_measures.comparisons.tests import SignificanceTest
from permed_measures.comparisons.wording import (
    CORRECTION_NAMES,
    LEVELS,
    TEST_NAMES,
    families,
    interval_heading,
    interval_method,
    interval_of,
    is_random,
    method_of,
    p_or_dash,
    shown,
    signed,
)
from permed_measures.markup import counted, plural
from permed_measures.measures.headings import headings_of
from permed_measures.results.table import NONE, Cell, Table

_ADJUSTED = "(adj.)"
"""What the heading of an adjusted p-value ends with."""


def differences_table(result: ComparisonResult) -> Table:
    """Build the table of differences: a p-value for each test, and the adjusted one unless it is naive."""
    adjusted = _adjusted(result)
    intervals = [interval_heading(result)] if interval_method(result) else []
    labels = [*([result.by] if result.by else []), "measure", "run"]
    labels += ["against"] if result.baseline is None else []
    tests = headings_of_tests(result)
    decided = tests.get(deciding(result.rows[0].tests), "")
    of_tests = []
    for name, heading in tests.items():
        of_tests += [heading, *([f"{heading} {_ADJUSTED}"] if name in adjusted else [])]
    kept = {f"{decided} {_ADJUSTED}", *([] if adjusted else [decided])}
    return Table(
        [*labels, "Δ", "Δ %", *intervals, "W/T/L", "d_z", *of_tests],
        [list(_rows(result, group, part, adjusted)) for group, part in result.sections()],
        len(labels),
        f"Δ: row run minus {_against(result)}; W/T/L: queries on which it is above, equal, below",
        list(_notes(result, tests, adjusted)),
        [*(heading for heading in of_tests if heading not in kept), "d_z", "Δ %", "W/T/L"],
        "differences",
    )


def headings_of_tests(result: ComparisonResult) -> dict[str, str]:
    """Return the heading of the p-value of each test: ``p`` for the one that decides."""
    tests = result.rows[0].tests
    name_of_test = {name: f"{name} (naive)" if each.naive else name for name, each in tests.items()}
    decided = deciding(tests)
    return {name: "p" if name == decided else f"{name_of_test[name]} p" for name in tests}


def _adjusted(result: ComparisonResult) -> list[str]:
    """Return the tests whose p-values were adjusted."""
    tests = result.rows[0].tests
    return [name for name in tests if not tests[name].naive and result.correction != "none"]


def _against(result: ComparisonResult) -> str:
    if result.baseline is not None:
        return result.baseline
    return "the run in column 'against' (every pair)"


def _rows(
    result: ComparisonResult, group: str, part: ComparisonResult, adjusted: list[str]
) -> Iterator[list[Cell]]:
    """Yield a row for each measure and pair."""
    short = dict(zip(result.measures, headings_of(result.measures), strict=True))
    intervals = bool(interval_method(result))
    for row in part.rows:
        labels = [*([group] if result.by else []), short[row.measure], row.run]
        labels += [row.baseline] if result.baseline is None else []
        percent = None if row.relative is None else 100 * row.relative
        cells = [shown(result, row.difference, "+"), signed(percent, "+.1f")]
        cells += [interval_of(result, row)] if intervals else []
        cells += [f"{row.wins:,}/{row.ties:,}/{row.losses:,}", signed(row.effect_size, "+.2f")]
        for name in result.rows[0].tests:
            cells += _p_values(row.tests[name], name in adjusted)
        yield [*map(Cell, [*labels, *cells])]


def _p_values(test: SignificanceTest, adjusted: bool) -> list[str]:
    """Write the p-values of a test."""
    return [p_or_dash(test.p), p_or_dash(test.adjusted)] if adjusted else [p_or_dash(test.p)]


# --- how it was computed -----------------------------------------------------------------------------


def _notes(result: ComparisonResult, tests: dict[str, str], adjusted: list[str]) -> Iterator[str]:
    """Say how intervals and p-values were computed, and why some are missing."""
    made = result.rows[0].tests
    if interval_method(result):
        yield _about_intervals(result)
        yield from _around_zero(result)
    for name, heading in tests.items():
        yield f"{heading}: {_about_test(result, name)}{_correction(result, name, heading, name in adjusted)}"
    if any(test.naive for test in made.values()):
        yield "naive: treats the queries of a cluster as independent; do not report it"
    yield from _about_power(result)
    yield from _reasons(result)


def _about_test(result: ComparisonResult, name: str) -> str:
    """Say what a test is and how it was computed."""
    if name == EQUIVALENCE:
        margin = f"±{result.equivalence_margin:g}"
        return f"that Δ is beyond the equivalence margin {margin}, by two one-sided t-tests"
    seed = f", seed {result.seed}" if is_random(result, name) else ""
    return f"{TEST_NAMES.get(name, name)} ({method_of(result, name)}{seed})"


def _correction(result: ComparisonResult, name: str, heading: str, adjusted: bool) -> str:
    """Say which p-values of a test were adjusted together."""
    sizes = [
        f"{counted(each[name], 'p-value')}{_of_what(result, of)}"
        for of, each in families(result).items()
        if each.get(name)
    ]
    if not sizes or not adjusted:
        return ""
    correction = CORRECTION_NAMES[correction_of(result.correction, name)]
    return f"; {heading} {_ADJUSTED}: {correction} over {', and over '.join(sizes)}"


def _of_what(result: ComparisonResult, of: str) -> str:
    return {"": "", "groups": f" of all {result.by} groups", "all queries": " of all queries"}[of]


def _about_intervals(result: ComparisonResult) -> str:
    """Say how the intervals were computed."""
    heading = interval_heading(result)
    if result.interval == "simultaneous":
        sizes = {of: each["randomization"] for of, each in families(result).items()}
        texts = [f"{counted(n, 'difference')}{_of_what(result, of)}" for of, n in sizes.items()]
        return f"{heading}: simultaneous (max-T) for {', and for '.join(texts)}"
    units = counted(result.n_clusters, result.paired.unit)
    of_groups = "; of a group, from its own" if result.by else ""
    several = sum(len(each.rows) for _, each in result.sections()) > 1
    each_alone = "; not adjusted for multiple testing" if several and result.correction != "none" else ""
    return f"{heading}: {interval_method(result)}, {units}{of_groups}{each_alone}"


def _around_zero(result: ComparisonResult) -> Iterator[str]:
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
    if found:
        yield f"{found:,} of {counted(n_rows, 'interval')} with 0 inside though p (adj.) < 0.05: {why}"


def _about_power(result: ComparisonResult) -> Iterator[str]:
    """Say how many queries the difference asked for needs."""
    if result.detect is None:
        return
    ranges = []
    for measure, heading in zip(result.measures, headings_of(result.measures), strict=True):
        known = sorted(row.needed for row in result.rows if row.measure == measure and row.needed is not None)
        texts = dict.fromkeys(f"{each:,}" for each in known[:1] + known[-1:])
        ranges += [f"{' to '.join(texts)} ({heading})"] if texts else []
    what = f"{plural(result.paired.unit)} needed for a difference of {result.detect:g} (80% power)"
    yield f"{what}, for one uncorrected t-test: {', '.join(ranges) or NONE}"


def _reasons(result: ComparisonResult) -> Iterator[str]:
    """Say why values are missing: each reason once, with its number of rows."""
    found = Counter[str]()
    rows: list[ComparisonRow] = [row for _, part in result.sections() for row in part.rows]
    for row in rows:
        missing = {name: test.reason for name, test in row.tests.items() if test.reason}
        given = {**row.reasons, **missing}
        found.update(f"{NONE} {name.replace('_', ' ')}: {reason}" for name, reason in given.items())
    for text, n in found.items():
        yield f"{text} ({n:,} of {counted(len(rows), 'row')})"
