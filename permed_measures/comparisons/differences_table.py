"""The table of differences: estimates, intervals and p-values of each pair, and how they were computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from permed_measures.comparisons.corrections import correction_of
from permed_measures.comparisons.results import (
    LEVEL,
    ComparisonResult,
    ComparisonRow,
    deciding,
    is_significant,
)
from permed_measures.comparisons.tests import EQUIVALENCE, SignificanceTest
from permed_measures.comparisons.wording import (
    CORRECTION_NAMES,
    families,
    interval_heading,
    interval_method,
    interval_of,
    is_random,
    method_of,
    p_or_dash,
    shown,
    test_name,
)
from permed_measures.markup import counted, plural
from permed_measures.measures.headings import headings_of
from permed_measures.results.table import NONE, Cell, Table, number

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
        cells = [
            Cell(shown(result, row.difference, "+"), value=row.difference),
            Cell(number(percent, "+.1f"), value=percent),
        ]
        if intervals:
            cells += [Cell(interval_of(result, row), value=row.interval[0] if row.interval else None)]
        cells += [
            Cell(f"{row.wins:,}/{row.ties:,}/{row.losses:,}", value=row.wins),
            Cell(number(row.effect_size, "+.2f"), value=row.effect_size),
        ]
        for name in result.rows[0].tests:
            cells += _p_values(row.tests[name], name in adjusted)
        yield [*map(Cell, labels), *cells]


def _p_values(test: SignificanceTest, adjusted: bool) -> list[Cell]:
    """Write the p-values of a test."""
    return [Cell(p_or_dash(p), value=p) for p in ([test.p, test.adjusted] if adjusted else [test.p])]


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
    if name in EQUIVALENCE:
        return _EQUIVALENCE[EQUIVALENCE.index(name)].format(f"{result.equivalence_margin:g}")
    seed = f", seed {result.seed}" if is_random(result, name) else ""
    return f"{test_name(name)} ({method_of(result, name)}{seed})"


_EQUIVALENCE = (
    "that Δ is -{0} or below, by a one-sided t-test",
    "that Δ is +{0} or above, by a one-sided t-test",
    "that Δ is beyond the equivalence margin ±{0}, by two one-sided t-tests",
)


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
    """Say why intervals contain 0 where p is below 0.05, if some do."""
    found, n_rows = Counter[str](), 0
    for _, part in result.sections():
        for row in part.rows:
            n_rows += row.interval is not None
            if row.interval and row.interval[0] <= 0 <= row.interval[1] and is_significant(row):
                found[_why_around_zero(part, row)] += 1
    p = f"p {_ADJUSTED}" if result.correction != "none" else "p"
    for why, n in found.items():
        yield f"{n:,} of {counted(n_rows, 'interval')} with 0 inside though {p} < {LEVEL}: {why}"


def _why_around_zero(part: ComparisonResult, row: ComparisonRow) -> str:
    """Say why an interval contains 0 though the test that decides finds a difference."""
    test = deciding(row.tests)
    why = [f"they have the level {part.level_in_percent}"] if part.level > 1 - LEVEL else []
    if part.critical is None:
        why += [f"they are Student's, p is {_WHOSE[test]}"] if test in _WHOSE else []
    elif abs(row.tests[test].statistic or 0.0) <= part.critical and part.families[test] > 1:
        why += ["max-T steps down, the intervals do not"]
    return ", and ".join(why) or "clusters differ in size, which counts in an interval and not in p"


_WHOSE = {"randomization": "that of the randomization test", "wilcoxon": "Wilcoxon's"}


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
