"""The tables of a comparison: means with marks, differences, and how both were computed, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, count
from string import ascii_lowercase
from typing import Any

import numpy as np

from permed_measures.comparison.paired import PairedRuns
from permed_measures.comparison.results import (
    MARK_LEVEL,
    MARKS,
    TESTS,
    Comparison,
    ComparisonRow,
    better_pairs,
)
from permed_measures.comparison.tests import EQUIVALENCE, MAX_T, correction_of
from permed_measures.escaping import plural, pluralize
from permed_measures.intervals import queries_in_clusters
from permed_measures.measures.headings import ABOUT_JUDGED, heading_notes
from permed_measures.results.table import NONE, Cell, Table, as_text, best_two
from permed_measures.run_notes import mean_judged

_CORRECTION_NAMES = {
    "holm": "Holm",
    "bonferroni": "Bonferroni",
    "benjamini-hochberg": "Benjamini-Hochberg",
    MAX_T: "max-T",
}
_LEAST_P = 1e-4
"""Of a smaller p a table says that it is smaller."""


def families_of(result: Comparison, name: str) -> dict[str, int]:
    """Return how many p-values of a test were corrected together; those of groups are a family apart."""
    sizes = {"all queries" if result.groups else "": result.families}
    if result.groups:
        sizes = {"groups": next(iter(result.groups.values())).families} | sizes
    return {of: each[name] for of, each in sizes.items() if each.get(name)}


def _families(result: Comparison, name: str, noun: str) -> list[str]:
    """Say how many there are, each family of what."""
    of_what = {"": "", "groups": f" of all {result.by} groups", "all queries": " of all queries"}
    return [f"{pluralize(n, noun)}{of_what[of]}" for of, n in families_of(result, name).items()]


def p_or_dash(value: float | None) -> str:
    """Format a p-value for a table."""
    return NONE if value is None else f"<{_LEAST_P:.4f}" if value < _LEAST_P else shown_p(value)


def shown_p(value: float) -> str:
    """Format a p-value with four decimals, or more where rounding would lift it to a level it is below.

    Examples
    --------
    >>> shown_p(0.04994), shown_p(0.04996), shown_p(0.05004)
    ('0.0499', '0.04996', '0.0500')
    """
    enough = next(
        decimals
        for decimals in count(4)
        if all((round(value, decimals) < level) == (value < level) for level in MARKS.values())
    )
    return f"{value:.{enough}f}"


def format_mean(result: Comparison, value: float | None, sign: str = "") -> str:
    """Format a mean, or with ``+`` as its sign a difference."""
    return result.style.text(value, sign)


def not_zero(value: float, decimals: int) -> str:
    """Format a value, with more decimals where it would print as 0 and is not.

    >>> not_zero(0.5, 1), not_zero(0.0061, 1), not_zero(0.0, 1)
    ('0.5', '0.01', '0.0')
    """
    places = next(places for places in count(decimals) if round(value, places) or not value)
    return as_text(value, f".{places}f")


def correction_name(result: Comparison, test: str) -> str:
    """Return the name of the correction of a test's p-values, as a sentence has it."""
    return _CORRECTION_NAMES[correction_of(result.options.correction, test)]


def p_of_sentences(result: Comparison) -> str:
    """Name the p-values of the test that decides as they are reported: those that were adjusted say how."""
    adjusted = result.options.correction != "none" and result.families[result.test] > 1
    return f"{correction_name(result, result.test)}-adjusted p" if adjusted else "p"


def interval_method(result: Comparison) -> str:
    """Say how the intervals were computed; nothing where there are none."""
    if not any(row.interval for row in result.every_row):
        return ""
    return "Student's t" if result.critical is None else "simultaneous, max-T"


def interval_heading(result: Comparison) -> str:
    """Return the heading of intervals, such as ``95% CI``."""
    return f"{result.level_in_percent} CI"


def interval_of(result: Comparison, row: ComparisonRow) -> str:
    """Write the interval; a dash where there is none."""
    if row.interval is None:
        return NONE
    return f"[{', '.join(format_mean(result, bound, '+') for bound in row.interval)}]"


def method_of(result: Comparison, name: str) -> str:
    """Say how the p-values of a test were computed: in one way, or without sizes in each of several ways."""
    tests = [row.tests[name] for row in result.every_row]
    methods = dict.fromkeys(test.method for test in [each for each in tests if each.p is not None] or tests)
    if len(methods) == 1:
        return next(iter(methods))
    if name == "wilcoxon":
        return f"signed ranks, {' or '.join(sorted({each.rpartition(', ')[2] for each in methods}))}"
    return " or ".join(sorted({each.partition(", ")[0] for each in methods}))


def is_seeded(result: Comparison, name: str) -> bool:
    """Say whether the p-values of a test, or those adjusted by the same draws, depend on the seed."""
    return any(row.tests[name].draws for row in result.every_row)


# --- what is judged ------------------------------------------------------------------------------------

_UNEQUAL = 0.05
"""The difference in Judged@k from which a note says so."""


def judged_shares(result: Comparison) -> dict[str, dict[str, float | None]]:
    """Return the share that is judged of each run, by cutoff."""
    judged = result.paired.judged
    return {
        run: {heading: mean_judged(of_runs[run]) for heading, of_runs in judged.items()}
        for run in result.paired.values
    }


def _judged_cells(part: Comparison, run: str) -> list[Cell]:
    """Return the share that is judged of a run, by cutoff; nothing if that is not shown."""
    if not part.shows_judged:
        return []
    return [Cell(format_mean(part, share), value=share) for share in judged_shares(part)[run].values()]


def _about_judged(result: Comparison) -> list[str]:
    """Say what Judged is, where it is shown, and what it is a mean over, where that is not all queries."""
    if not (result.shows_judged and result.paired.judged):
        return []
    judged = chain.from_iterable(of_runs.values() for of_runs in result.paired.judged.values())
    partly = any(np.isnan(each).any() for each in judged)
    over = "; over the queries for which a run retrieves something" if partly else ""
    return [f"{ABOUT_JUDGED}{over}"]


def judged_notes(paired: PairedRuns) -> list[str]:
    """Note the pair of runs that differs most in what is judged of it."""
    found = [
        (abs(ours - theirs), heading, run, ours, baseline, theirs)
        for heading, of_runs in paired.judged.items()
        for run, baseline in paired.pairs
        if (ours := mean_judged(of_runs[run])) is not None
        and (theirs := mean_judged(of_runs[baseline])) is not None
    ]
    unequal = [each for each in found if each[0] >= _UNEQUAL]
    if not unequal:
        return []
    _, heading, run, ours, baseline, theirs = max(unequal)
    most = f" (the widest of {pluralize(len(paired.pairs), 'pair')})" if len(paired.pairs) > 1 else ""
    return [
        f"{heading}: {run!r} {ours:.2f}, {baseline!r} {theirs:.2f}{most}; "
        "differences may be due to unjudged documents"
    ]


# --- means ---------------------------------------------------------------------------------------------


def means_table(result: Comparison) -> Table:
    """Build the table of means: a row for each run, by group of queries if there are groups."""
    letters = compact_letters(result)
    labels = [*([result.by] if result.by else []), *([""] if letters else []), "run"]
    by = f" by {result.by}" if result.by else ""
    units = queries_in_clusters(result.n_queries, result.n_clusters, result.paired.clusters)
    judged = [*result.paired.judged] if result.shows_judged else []
    how: Any = {name: getattr(result, name) for name in ("digits", "in_percent", "shows_judged")}
    return Table(
        [*labels, *result.headings.values(), *judged],
        [list(_block(result, group, replace(part, **how), letters)) for group, part in result.sections()],
        len(labels),
        f"Means{by}{result.style.unit} over {units}",
        [_significance(result, letters), *_about_judged(result), *heading_notes(result.measures)],
        judged[::-1],
        "comparison",
    )


def compact_letters(result: Comparison) -> list[str]:
    """Return the letters of the runs, where every pair is tested and there are letters for all."""
    n_runs = len(result.paired.values)
    tested = result.baseline is None and families_of(result, result.test) and n_runs <= len(ascii_lowercase)
    return list(ascii_lowercase[:n_runs]) if tested else []


def _block(whole: Comparison, group: str, part: Comparison, letters: list[str]) -> Iterator[list[Cell]]:
    """Yield a row for each run."""
    columns = [_column(part, number, letters) for number in range(len(part.measures))]
    for number, (run, *cells) in enumerate(zip(part.paired.values, *columns, strict=True)):
        labels = [*([group] if whole.by else []), *letters[number : number + 1], run]
        yield [*map(Cell, labels), *cells, *_judged_cells(part, run)]


def _column(part: Comparison, number: int, letters: list[str]) -> list[Cell]:
    """Return the cells of a measure."""
    means = [float(values[number].mean()) for values in part.paired.values.values()]
    texts = [format_mean(part, mean) for mean in means]
    return [*map(Cell, texts, best_two(means), _marks(part, number, letters), means)]


# --- marks -----------------------------------------------------------------------------------------


def _marks(part: Comparison, number: int, letters: list[str]) -> list[str]:
    """Mark each run by a dagger, or by the letters of the runs that it is significantly better than."""
    rows, runs = part.rows_of(number), list(part.paired.values)
    if part.baseline is not None:
        marks = {row.run: _dagger(row.p) for row in rows}
        return [marks.get(run, "") for run in runs]
    better, named = better_pairs(rows), list(zip(letters, runs, strict=False))
    return ["".join(letter for letter, other in named if (run, other) in better) for run in runs]


def _dagger(p: float | None) -> str:
    """Return the mark of a p-value."""
    return next((mark for mark, level in MARKS.items() if p is not None and p < level), "")


# --- what the marks mean ---------------------------------------------------------------------------


def _significance(result: Comparison, letters: list[str]) -> str:
    """Explain the marks."""
    name = result.test
    if not name:
        naive = "No significance marks: the tests treat the queries of a cluster as independent"
        return naive if result.tests else "No significance test was run"
    if not families_of(result, name):
        return f"No significance marks: no {name} has a p-value"
    if result.baseline is None and not letters:
        return f"No significance marks: more runs than {len(ascii_lowercase)} letters"
    if result.baseline is None:
        marks = f"Letters name the runs that a run is significantly better than, p < {MARK_LEVEL}"
    else:
        shown = ", ".join(f"{mark} p < {p}" for mark, p in reversed(MARKS.items()))
        marks = f"{shown} against {result.baseline}"
    how = "uncorrected"
    if result.options.correction != "none":
        families = families_of(result, name).items()
        sizes = [f"over {pluralize(n, 'test')}{of and f' on {of}'}" for of, n in families]
        how = f"{correction_name(result, name)} correction {' and '.join(sizes)}"
    return f"{marks}: {_about_test(result, name)}, {how}"


# --- differences ---------------------------------------------------------------------------------------

_MOST_PAIRS = 15
"""Of more pairs, all of them compared, a table of differences is too long to be read."""


def why_no_differences(result: Comparison) -> str:
    """Say that tables leave out the differences, and how to see them; nothing where they have them."""
    n = len(result.paired.pairs)
    if result.baseline is not None or result.all_pairs or n <= _MOST_PAIRS:
        return ""
    typed = result.origin is not None and result.origin.command
    one, every = ("--baseline NAME", "--all-pairs") if typed else ("baseline=NAME", "to(all_pairs=True)")
    others = "HTML, CSV, TSV, JSON and JSONL have them"
    return f"Not shown: the differences of {n:,} pairs. {one} shows those to one run, {every} all; {others}."


_ADJUSTED = "(adj.)"
"""What the heading of an adjusted p-value ends with."""


def differences_table(result: Comparison) -> Table:
    """Build the table of differences: a p-value for each test, and the adjusted one unless it is naive."""
    tests = headings_of_tests(result)
    blocks = [[*_rows(result, group, part, tests)] for group, part in result.sections()]
    headings = [heading for heading, _ in blocks[0][0]]
    kept = f"p {_ADJUSTED}" if result.options.correction != "none" else "p"
    of_tests = headings[headings.index("d_z") + 1 :]
    against = result.baseline or "the run in column 'against' (every pair)"
    points = ", in percentage points" * result.in_percent
    return Table(
        headings,
        [[[cell for _, cell in row] for row in block] for block in blocks],
        headings.index("Δ"),
        f"Δ: row run minus {against}{points}; W/T/L: queries on which it is above, equal, below",
        list(_notes(result, tests)),
        [*(heading for heading in of_tests if heading != kept), "d_z", "Δ %", "W/T/L"],
        "differences",
    )


def headings_of_tests(result: Comparison) -> dict[str, str]:
    """Return the heading of the p-value of each test: ``p`` for the one that decides."""
    return {
        name: "p" if name == result.test else f"{name}{' (naive)' * test.naive} p"
        for name, test in result.tests.items()
    }


def _rows(
    result: Comparison, group: str, part: Comparison, tests: dict[str, str]
) -> Iterator[list[tuple[str, Cell]]]:
    """Yield the headings and cells of each measure and pair."""
    short, intervals = result.headings, interval_method(result)
    for row in part.rows:
        percent = None if row.relative is None else 100 * row.relative
        cells = [(result.by, Cell(group))] if result.by else []
        cells += [("measure", Cell(short[row.measure])), ("run", Cell(row.run))]
        cells += [("against", Cell(row.baseline))] if result.baseline is None else []
        cells += [
            ("Δ", Cell(format_mean(result, row.difference, "+"), value=row.difference)),
            ("Δ %", Cell(as_text(percent, "+.1f"), value=percent)),
        ]
        if intervals:
            low = row.interval[0] if row.interval else None
            cells += [(interval_heading(result), Cell(interval_of(result, row), value=low))]
        cells += [
            ("W/T/L", Cell(f"{row.wins:,}/{row.ties:,}/{row.losses:,}", value=row.wins)),
            ("d_z", Cell(as_text(row.effect_size, "+.2f"), value=row.effect_size)),
        ]
        for name, heading in tests.items():
            test = row.tests[name]
            cells += [(heading, Cell(p_or_dash(test.p), value=test.p))]
            if _is_adjusted(result, name):
                cells += [(f"{heading} {_ADJUSTED}", Cell(p_or_dash(test.adjusted), value=test.adjusted))]
        yield cells


def _is_adjusted(result: Comparison, name: str) -> bool:
    """Return whether the p-values of a test were adjusted."""
    return not result.tests[name].naive and result.options.correction != "none"


# --- how it was computed -----------------------------------------------------------------------------


def _notes(result: Comparison, tests: dict[str, str]) -> Iterator[str]:
    """Say how intervals and p-values were computed, and why some are missing."""
    if interval_method(result):
        yield _about_intervals(result)
        yield from _around_zero(result)
    for name, heading in tests.items():
        yield f"{heading}: {_about_test(result, name)}{_correction(result, name, heading)}"
    if any(test.naive for test in result.tests.values()):
        yield "naive: treats the queries of a cluster as independent; do not report it"
    yield from _about_power(result)
    yield from _reasons(result)


def _about_test(result: Comparison, name: str) -> str:
    """Say what a test is and how it was computed."""
    if name in EQUIVALENCE:
        return EQUIVALENCE[name].format(f"{result.options.equivalence_margin:g}")
    seed = f", seed {result.options.seed}" if is_seeded(result, name) else ""
    return f"{TESTS[name]} ({method_of(result, name)}{seed})"


def _correction(result: Comparison, name: str, heading: str) -> str:
    """Say which p-values of a test were adjusted together."""
    sizes = _families(result, name, "p-value")
    if not sizes or not _is_adjusted(result, name):
        return ""
    return f"; {heading} {_ADJUSTED}: {correction_name(result, name)} over {', and over '.join(sizes)}"


def _about_intervals(result: Comparison) -> str:
    """Say how the intervals were computed."""
    heading = interval_heading(result)
    if result.critical is not None:
        sizes = _families(result, "randomization", "difference")
        return f"{heading}: simultaneous (max-T) for {', and for '.join(sizes)}"
    units = pluralize(result.n_clusters, result.paired.unit)
    of_groups = "; of a group, from its own" if result.by else ""
    alone = len(result.every_row) > 1 and result.options.correction != "none"
    unadjusted = "; not adjusted for multiple testing" * alone
    return f"{heading}: {interval_method(result)}, {units}{of_groups}{unadjusted}"


def _around_zero(result: Comparison) -> Iterator[str]:
    """Say why intervals contain 0 where p is below 0.05, if some do."""
    n_rows = sum(row.interval is not None for row in result.every_row)
    found = Counter(
        _why_around_zero(part, row)
        for _, part in result.sections()
        for row in part.rows
        if row.interval and row.interval[0] <= 0 <= row.interval[1] and row.is_significant
    )
    p = f"p {_ADJUSTED}" if result.options.correction != "none" else "p"
    for why, n in found.items():
        yield f"{n:,} of {pluralize(n_rows, 'interval')} with 0 inside though {p} < {MARK_LEVEL}: {why}"


def _why_around_zero(part: Comparison, row: ComparisonRow) -> str:
    """Say why an interval contains 0 though the test that decides finds a difference."""
    test = row.test
    why = [f"they have the level {part.level_in_percent}"] if part.options.level > 1 - MARK_LEVEL else []
    if part.critical is None:
        why += [f"they are Student's, p is {_WHOSE[test]}"] if test in _WHOSE else []
    elif not why and abs(row.tests[test].statistic or 0) <= part.critical:
        why = ["max-T steps down, the intervals do not"]
    return ", and ".join(why) or "clusters differ in size, which counts in an interval and not in p"


_WHOSE = {"randomization": "that of the randomization test", "wilcoxon": "Wilcoxon's"}


def _about_power(result: Comparison) -> Iterator[str]:
    """Say how many queries the difference asked for needs."""
    if result.options.detect is None:
        return
    ranges = []
    for measure, heading in result.headings.items():
        known = sorted(row.needed for row in result.rows if row.measure == measure and row.needed is not None)
        texts = dict.fromkeys(f"{each:,}" for each in known[:1] + known[-1:])
        ranges += [f"{' to '.join(texts)} ({heading})"] if texts else []
    what = f"{plural(result.paired.unit)} needed for a difference of {result.options.detect:g} (80% power)"
    yield f"{what}, for one uncorrected t-test: {', '.join(ranges) or NONE}"


def _reasons(result: Comparison) -> Iterator[str]:
    """Say why values are missing: each reason once, with its number of rows."""
    rows = result.every_row
    found = Counter(pair for row in rows for pair in row.missing.items())
    for (name, reason), n in found.items():
        yield f"{NONE} {name.replace('_', ' ')}: {reason} ({n:,} of {pluralize(len(rows), 'row')})"
