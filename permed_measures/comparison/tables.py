"""The tables of a comparison: means with marks, differences, and notes on how both were computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain, count
from string import ascii_lowercase

import numpy as np
from ir_measures.measures import Measure

from permed_measures.comparison.paired import PairedRuns
from permed_measures.comparison.results import (
    MARK_LEVEL,
    MARKS,
    TESTS,
    ComparedRuns,
    ComparisonRow,
    better_pairs,
)
from permed_measures.comparison.tests import EQUIVALENCE, MAX_T, correction_of, sign_of
from permed_measures.intervals import queries_in_clusters
from permed_measures.measures.headings import ABOUT_JUDGED, heading_notes
from permed_measures.results.table import NONE, Cell, Table, as_text, best_two
from permed_measures.run_notes import mean_judged
from permed_measures.wording import join_names, plural, pluralize

_CORRECTION_NAMES = {
    "holm": "Holm",
    "bonferroni": "Bonferroni",
    "benjamini-hochberg": "Benjamini-Hochberg",
    MAX_T: "max-T",
}
_MIN_PRINTED_P = 1e-4
"""A table prints a smaller p as ``<0.0001``."""


def families_of(result: ComparedRuns, name: str) -> dict[str, int]:
    """Count the p-values of a test that were corrected together; all groups are one family of their own."""
    families = {"all queries" if result.groups else "": result.families}
    if result.groups:
        families = {"groups": next(iter(result.groups.values())).families} | families
    return {family: sizes[name] for family, sizes in families.items() if sizes.get(name)}


def _family_sizes(result: ComparedRuns, name: str, noun: str) -> list[str]:
    """Write the size of each family of p-values of a test."""
    names = {"": "", "groups": f" of all {result.by} groups", "all queries": " of all queries"}
    return [f"{pluralize(n, noun)}{names[family]}" for family, n in families_of(result, name).items()]


def p_or_dash(value: float | None) -> str:
    """Format a p-value for a table."""
    if value is None:
        return NONE
    return f"<{_MIN_PRINTED_P:.4f}" if value < _MIN_PRINTED_P else shown_p(value)


def shown_p(value: float) -> str:
    """Format a p-value with four decimals, or with more if rounding would lift it to a significance level.

    Examples
    --------
    >>> shown_p(0.04994), shown_p(0.04996), shown_p(0.05004)
    ('0.0499', '0.04996', '0.0500')
    """
    decimals = next(
        decimals
        for decimals in count(4)
        if all((round(value, decimals) < level) == (value < level) for level in MARKS.values())
    )
    return f"{value:.{decimals}f}"


def format_mean(result: ComparedRuns, value: float | None, sign: str = "") -> str:
    """Format a mean, or a difference if `sign` is ``+``."""
    return result.style.text(value, sign)


def not_zero(value: float, decimals: int) -> str:
    """Format a value, with more decimals if a value other than 0 would print as 0.

    >>> not_zero(0.5, 1), not_zero(0.0061, 1), not_zero(0.0, 1)
    ('0.5', '0.01', '0.0')
    """
    places = next(places for places in count(decimals) if round(value, places) or not value)
    return as_text(value, f".{places}f")


def correction_name(result: ComparedRuns, test: str) -> str:
    """Return the name of the correction of a test's p-values, for a sentence."""
    return _CORRECTION_NAMES[correction_of(result.options.correction, test)]


def p_of_sentences(result: ComparedRuns) -> str:
    """Name the p-values of the deciding test, with their correction if they were adjusted."""
    adjusted = result.options.correction != "none" and result.families[result.test] > 1
    return f"{correction_name(result, result.test)}-adjusted p" if adjusted else "p"


def interval_method(result: ComparedRuns) -> str:
    """Name the method of the intervals; an empty string if there are none."""
    if not any(row.interval for row in result.every_row):
        return ""
    return "Student's t" if result.critical is None else "simultaneous, max-T"


def interval_heading(result: ComparedRuns) -> str:
    """Return the heading of intervals, such as ``95% CI``."""
    return f"{result.level_in_percent} CI"


def interval_of(result: ComparedRuns, row: ComparisonRow) -> str:
    """Format the interval; a dash if there is none."""
    if row.interval is None:
        return NONE
    return f"[{', '.join(format_mean(result, bound, '+') for bound in row.interval)}]"


def method_of(result: ComparedRuns, name: str) -> str:
    """Name the method of a test's p-values; if rows have different methods, name each without its sizes."""
    tests = [row.tests[name] for row in result.every_row]
    methods = dict.fromkeys(test.method for test in [test for test in tests if test.p is not None] or tests)
    if len(methods) == 1:
        return next(iter(methods))
    if name == "wilcoxon":
        return f"signed ranks, {' or '.join(sorted({method.rpartition(', ')[2] for method in methods}))}"
    return " or ".join(sorted({method.partition(", ")[0] for method in methods}))


def is_seeded(result: ComparedRuns, name: str) -> bool:
    """Check whether the p-values of a test, adjusted or not, depend on the seed."""
    return any(row.tests[name].draws for row in result.every_row)


# --- what is judged ------------------------------------------------------------------------------------

_UNEQUAL = 0.05
"""The smallest difference in Judged@k that a note reports."""


def judged_shares(result: ComparedRuns) -> dict[str, dict[str, float | None]]:
    """Return the mean Judged@k of each run, by cutoff."""
    judged = result.paired.judged
    return {
        run: {heading: mean_judged(of_runs[run]) for heading, of_runs in judged.items()}
        for run in result.paired.values
    }


def _judged_cells(part: ComparedRuns, run: str) -> list[Cell]:
    """Return the cells with Judged@k of a run, by cutoff; none if the table does not show them."""
    if not part.display.shows_judged:
        return []
    return [Cell(format_mean(part, share), value=share) for share in judged_shares(part)[run].values()]


def _about_judged(result: ComparedRuns) -> list[str]:
    """Explain Judged@k, if the table shows it, and its queries, if they are not all queries."""
    if not (result.display.shows_judged and result.paired.judged):
        return []
    judged = chain.from_iterable(of_runs.values() for of_runs in result.paired.judged.values())
    partly = any(np.isnan(shares).any() for shares in judged)
    over = "; over the queries for which a run retrieves something" if partly else ""
    return [f"{ABOUT_JUDGED}{over}"]


def judged_notes(paired: PairedRuns) -> list[str]:
    """Note the pair of runs with the largest difference in Judged@k."""
    differences = [
        (abs(of_run - of_baseline), heading, run, of_run, baseline, of_baseline)
        for heading, of_runs in paired.judged.items()
        for run, baseline in paired.pairs
        if (of_run := mean_judged(of_runs[run])) is not None
        and (of_baseline := mean_judged(of_runs[baseline])) is not None
    ]
    unequal = [difference for difference in differences if difference[0] >= _UNEQUAL]
    if not unequal:
        return []
    _, heading, run, of_run, baseline, of_baseline = max(unequal)
    widest = f" (the widest of {pluralize(len(paired.pairs), 'pair')})" if len(paired.pairs) > 1 else ""
    return [
        f"{heading}: {run!r} {of_run:.2f}, {baseline!r} {of_baseline:.2f}{widest}; "
        "differences may be due to unjudged documents"
    ]


# --- means ---------------------------------------------------------------------------------------------


def means_table(result: ComparedRuns) -> Table:
    """Build the table of means: a row for each run, by group of queries if there are groups."""
    letters = compact_letters(result)
    labels = [*([result.by] if result.by else []), *([""] if letters else []), "run"]
    by = f" by {result.by}" if result.by else ""
    units = queries_in_clusters(result.n_queries, result.n_clusters, result.paired.clusters)
    judged = [*result.paired.judged] if result.display.shows_judged else []
    parts = [(group, replace(part, display=result.display)) for group, part in result.sections()]
    return Table(
        [*labels, *result.headings.values(), *judged],
        [list(_block(result, group, part, letters)) for group, part in parts],
        len(labels),
        f"Means{by}{result.style.unit} over {units}",
        [
            _significance(result, letters),
            *_against_the_mean(result),
            *_about_judged(result),
            *heading_notes(result.measures),
        ],
        judged[::-1],
        "comparison",
    )


def compact_letters(result: ComparedRuns) -> list[str]:
    """Return a letter for each run, if every pair is tested and the alphabet is long enough."""
    n_runs = len(result.paired.values)
    tested = result.baseline is None and families_of(result, result.test) and n_runs <= len(ascii_lowercase)
    return list(ascii_lowercase[:n_runs]) if tested else []


def _block(whole: ComparedRuns, group: str, part: ComparedRuns, letters: list[str]) -> Iterator[list[Cell]]:
    """Yield a row for each run."""
    columns = [_column(part, index, letters) for index in range(len(part.measures))]
    for index, (run, *cells) in enumerate(zip(part.paired.values, *columns, strict=True)):
        labels = [*([group] if whole.by else []), *letters[index : index + 1], run]
        yield [*map(Cell, labels), *cells, *_judged_cells(part, run)]


def _column(part: ComparedRuns, measure: int, letters: list[str]) -> list[Cell]:
    """Return the cells of a measure, by its number."""
    means = [float(values[measure].mean()) for values in part.paired.values.values()]
    texts = [format_mean(part, mean) for mean in means]
    return [*map(Cell, texts, best_two(means), _marks(part, measure, letters), means)]


# --- marks -----------------------------------------------------------------------------------------


def _marks(part: ComparedRuns, measure: int, letters: list[str]) -> list[str]:
    """Mark each run by a dagger, or by the letters of the runs that it is significantly better than."""
    rows, runs = part.rows_of(measure), list(part.paired.values)
    if part.baseline is not None:
        marks = {row.run: _dagger(row.p) for row in rows}
        return [marks.get(run, "") for run in runs]
    better, named = better_pairs(rows), list(zip(letters, runs, strict=False))
    return ["".join(letter for letter, other in named if (run, other) in better) for run in runs]


def _dagger(p: float | None) -> str:
    """Return the mark of a p-value."""
    return next((mark for mark, level in MARKS.items() if p is not None and p < level), "")


# --- what the marks mean ---------------------------------------------------------------------------


def _significance(result: ComparedRuns, letters: list[str]) -> str:
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


def _against_the_mean(result: ComparedRuns) -> list[str]:
    """Note the significant differences in favour of the run whose mean is not higher.

    Only a test of ranks can find them. The marks do not show the direction of the test.
    """
    if result.test != "wilcoxon":
        return []
    headings, names = result.headings, []
    for label, part in result.sections():
        group = f" ({result.by} {label})" if part is not result else ""
        rows = [row for row in part.rows if row.is_significant and row.outcome != sign_of(row.difference)]
        names += [f"{name_of_row(row, headings)}{group}" for row in rows]
    if not names:
        return []
    name, shown = TESTS[result.test], join_names(names, MAX_NAMED_PAIRS)
    return [f"{name} compares ranks, not means: it favours the run whose mean is not higher for {shown}"]


MAX_NAMED_PAIRS = 5
"""The largest number of pairs that a sentence names; it counts the others."""


def name_of_row(row: ComparisonRow, headings: Mapping[Measure, str]) -> str:
    """Name the runs and the measure of a row."""
    return f"{row.run} against {row.baseline} on {headings[row.measure]}"


# --- differences ---------------------------------------------------------------------------------------

_MOST_PAIRS = 15
"""The largest number of pairs in a table of differences, if no run is the baseline."""


def why_no_differences(result: ComparedRuns) -> str:
    """Explain why tables omit the differences, and how to see them; an empty string if they show them."""
    n = len(result.paired.pairs)
    if result.baseline is not None or result.display.all_pairs or n <= _MOST_PAIRS:
        return ""
    typed = result.origin is not None and result.origin.command
    one, every = ("--baseline NAME", "--all-pairs") if typed else ("baseline=NAME", "to(all_pairs=True)")
    others = "HTML, CSV, TSV, JSON and JSONL have them"
    return f"Not shown: the differences of {n:,} pairs. {one} shows those to one run, {every} all; {others}."


_ADJUSTED = "(adj.)"
"""The end of the heading of adjusted p-values."""


def differences_table(result: ComparedRuns) -> Table:
    """Build the table of differences, with the p-value of each test, also adjusted unless it is naive."""
    tests = headings_of_tests(result)
    blocks = [[*_rows(result, group, part, tests)] for group, part in result.sections()]
    headings = [heading for heading, _ in blocks[0][0]]
    kept = f"p {_ADJUSTED}" if result.options.correction != "none" else "p"
    of_tests = headings[headings.index("d_z") + 1 :]
    against = result.baseline or "the run in column 'against' (every pair)"
    points = ", in percentage points" * result.style.in_percent
    return Table(
        headings,
        [[[cell for _, cell in row] for row in block] for block in blocks],
        headings.index("Δ"),
        f"Δ: row run minus {against}{points}; W/T/L: queries on which it is above, equal, below",
        list(_notes(result, tests)),
        [*(heading for heading in of_tests if heading != kept), "d_z", "Δ %", "W/T/L"],
        "differences",
    )


def headings_of_tests(result: ComparedRuns) -> dict[str, str]:
    """Return the heading of each test's p-value: ``p`` for the deciding test."""
    return {
        name: "p" if name == result.test else f"{name}{' (naive)' * test.naive} p"
        for name, test in result.tests.items()
    }


def _rows(
    result: ComparedRuns, group: str, part: ComparedRuns, tests: dict[str, str]
) -> Iterator[list[tuple[str, Cell]]]:
    """Yield the headings and cells of each measure and pair."""
    measures, intervals = result.headings, interval_method(result)
    for row in part.rows:
        percent = None if row.relative is None else 100 * row.relative
        cells = [(result.by, Cell(group))] if result.by else []
        cells += [("measure", Cell(measures[row.measure])), ("run", Cell(row.run))]
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


def _is_adjusted(result: ComparedRuns, name: str) -> bool:
    """Check whether the p-values of a test were adjusted."""
    return not result.tests[name].naive and result.options.correction != "none"


# --- how it was computed -----------------------------------------------------------------------------


def _notes(result: ComparedRuns, tests: dict[str, str]) -> Iterator[str]:
    """Explain how intervals and p-values were computed, and why some are missing."""
    if interval_method(result):
        yield _about_intervals(result)
    for name, heading in tests.items():
        yield f"{heading}: {_about_test(result, name)}{_correction(result, name, heading)}"
    if any(test.naive for test in result.tests.values()):
        yield "naive: treats the queries of a cluster as independent; do not report it"
    yield from _about_power(result)
    yield from _reasons(result)


def _about_test(result: ComparedRuns, name: str) -> str:
    """Name a test and its method."""
    if name in EQUIVALENCE:
        return EQUIVALENCE[name].format(f"{result.options.equivalence_margin:g}")
    seed = f", seed {result.options.seed}" if is_seeded(result, name) else ""
    return f"{TESTS[name]} ({method_of(result, name)}{seed})"


def _correction(result: ComparedRuns, name: str, heading: str) -> str:
    """Name the correction of a test, and the number of p-values that it adjusts together."""
    sizes = _family_sizes(result, name, "p-value")
    if not sizes or not _is_adjusted(result, name):
        return ""
    return f"; {heading} {_ADJUSTED}: {correction_name(result, name)} over {', and over '.join(sizes)}"


def _about_intervals(result: ComparedRuns) -> str:
    """Explain how the intervals were computed."""
    heading = interval_heading(result)
    if result.critical is not None:
        sizes = _family_sizes(result, "randomization", "difference")
        return f"{heading}: simultaneous (max-T) for {', and for '.join(sizes)}"
    units = pluralize(result.n_clusters, result.paired.unit)
    of_groups = "; of a group, from its own" if result.by else ""
    is_worth_a_note = len(result.every_row) > 1 and result.options.correction != "none"
    unadjusted = "; not adjusted for multiple testing" * is_worth_a_note
    return f"{heading}: {interval_method(result)}, {units}{of_groups}{unadjusted}"


def _about_power(result: ComparedRuns) -> Iterator[str]:
    """Write the number of queries that the difference to detect needs."""
    if result.options.detect is None:
        return
    ranges = []
    for measure, heading in result.headings.items():
        known = sorted(row.needed for row in result.rows if row.measure == measure and row.needed is not None)
        texts = dict.fromkeys(f"{needed:,}" for needed in known[:1] + known[-1:])
        ranges += [f"{' to '.join(texts)} ({heading})"] if texts else []
    what = f"{plural(result.paired.unit)} needed for a difference of {result.options.detect:g} (80% power)"
    yield f"{what}, for one uncorrected t-test: {', '.join(ranges) or NONE}"


def _reasons(result: ComparedRuns) -> Iterator[str]:
    """Write each reason for missing values once, with its number of rows."""
    rows = result.every_row
    reasons = Counter(pair for row in rows for pair in row.missing.items())
    for (name, reason), n in reasons.items():
        yield f"{NONE} {name.replace('_', ' ')}: {reason} ({n:,} of {pluralize(len(rows), 'row')})"
