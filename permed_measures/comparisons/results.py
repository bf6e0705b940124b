"""What a comparison found, and its text."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, NamedTuple

from ir_measures.measures import Measure

from permed_measures.comparisons.contrasts import ComparisonRow
from permed_measures.comparisons.differences import PairedRuns
from permed_measures.errors import InputError
from permed_measures.markup import counted, one_line, plural
from permed_measures.measures.parameters import cutoff_of
from permed_measures.terminal import aligned

__all__ = [
    "CORRECTION_NAMES",
    "LEVELS",
    "Comparison",
    "Details",
    "details",
    "headings_of",
    "in_clusters",
    "is_random",
    "legend",
    "level_of",
    "long_names",
    "method_of",
    "sections",
    "short_names",
    "shown_p",
    "signed",
]

_REPORTS = "permed_measures.reports.comparison"
"""Reports are built on comparisons: loaded by name when one is asked for, so that imports go one way."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """The outcome of a comparison; ``print`` shows it as a table.

    Attributes
    ----------
    rows : list of ComparisonRow
        One for each pair of runs and measure: measures in their order, then pairs.
    measures : list of Measure
    baseline : str or None
        None where every pair was compared.
    correction : str
    families : dict of str to int
        For each test, how many p-values were corrected together.
    resamples, seed : int
    level : float
        Of the intervals.
    notes : list of str
        What to know of the runs, the clusters and the tests.
    paired : PairedRuns
        The values of each query by each run, and the cluster of each query.
    by : str
        What the groups of queries are; empty without.
    groups : dict of group to Comparison
        The same for each group of queries, the p-values of all groups corrected together.
    """

    rows: list[ComparisonRow]
    measures: list[Measure]
    baseline: str | None
    correction: str
    families: dict[str, int]
    resamples: int
    seed: int
    level: float
    notes: list[str]
    paired: PairedRuns = field(repr=False)
    by: str = ""
    groups: dict[Any, Comparison] = field(default_factory=dict, repr=False)

    @property
    def n_queries(self) -> int:
        """How many queries the qrels have."""
        return len(self.paired.query_ids)

    @property
    def n_clusters(self) -> int:
        """How many independent units there are: clusters, or queries where each has its own."""
        return int(self.paired.cluster.max()) + 1

    def to(self, form: str) -> str:
        """Return it in a form for a paper, a browser or another program.

        Parameters
        ----------
        form : {'table', 'markdown', 'latex', 'html', 'csv', 'json'}
            The first four have the table of a paper: means, the best in bold, the second underlined, marks of
            significance. ``table`` and ``html`` have the table of differences too, ``markdown`` and ``latex``
            the sentences for the text; ``csv`` and ``json`` have all numbers as they were computed. A
            ``table`` is as wide as the terminal that it is printed to.

        Raises
        ------
        InputError
            For another form.
        """
        formats = import_module(_REPORTS).FORMATS
        if form not in formats:
            raise InputError(f"form must be one of {', '.join(formats)} (found {form!r})")
        text: str = formats[form](self)
        return text

    def __str__(self) -> str:
        """Return the table, how it was computed, and what to know of it."""
        headings, rows, n_labels = details(self)[:3]
        table = aligned([headings, *rows], tuple(headings[:n_labels]))
        return "\n".join(map(one_line, [*table, "", *long_names(self), *legend(self)]))


def sections(result: Comparison) -> Iterator[tuple[str, Comparison]]:
    """Yield the groups, then the whole, each with its label."""
    yield from ((str(value), group) for value, group in result.groups.items())
    yield ("(all)" if result.by else "", result)


def short_names(measures: Sequence[Measure]) -> dict[str, str]:
    """Return a heading for each measure, by that its name as it prints: short if no other has the same."""
    short = [_short(measure) for measure in measures]
    return {
        name if short.count(name) == 1 else str(measure): str(measure)
        for name, measure in zip(short, measures, strict=True)
    }


def long_names(result: Comparison) -> list[str]:
    """Return what each short heading stands for."""
    return [f"{short} is {whole}" for short, whole in short_names(result.measures).items() if short != whole]


def _short(measure: Measure) -> str:
    cutoff = cutoff_of(measure)
    return f"{measure.NAME}@{cutoff}" if cutoff is not None else str(measure.NAME)


# --- the differences as a table ---------------------------------------------------------------------

NONE = "—"
LEVELS = {"‡": 0.01, "†": 0.05}
"""The marks of significance, and below which p they are set."""
CORRECTION_NAMES = {"holm": "Holm", "bonferroni": "Bonferroni", "benjamini-hochberg": "Benjamini-Hochberg"}
_SMALL = 1e-4
_HEADINGS = {"holm": "Holm", "bonferroni": "Bonferroni", "benjamini-hochberg": "B-H"}


class Details(NamedTuple):
    """The differences as text.

    Attributes
    ----------
    headings : list of str
    rows : list of list of str
        A row for each pair and measure, those of a group together.
    n_labels : int
        So many columns at the left hold texts.
    block : int
        So many rows belong to a group.
    spare : list of str
        The headings of columns that can be left out where there is no room, the first first.
    """

    headings: list[str]
    rows: list[list[str]]
    n_labels: int
    block: int
    spare: list[str]


def details(result: Comparison, tests: Mapping[str, str] | None = None) -> Details:
    """Return the differences: a p-value for each test, and the adjusted one unless the test is naive.

    Parameters
    ----------
    result : Comparison
    tests : mapping of str to str, optional
        The tests to show with their headings; `headings_of` if left out.
    """
    shown = headings_of(result) if tests is None else tests
    made = result.rows[0].tests
    adjusted = [name for name in shown if not made[name].naive and result.correction != "none"]
    intervals = [f"{level_of(result)} interval"] if _has_intervals(result) else []
    labels = [*([result.by] if result.by else []), "measure", "run"]
    labels += ["against"] if result.baseline is None else []
    headings = ["mean", "base", "Δ", "Δ %", *intervals, "win/tie/loss", "d_z"]
    spare = ["mean", "base", "d_z", "Δ %", "win/tie/loss", *intervals]
    for name, heading in shown.items():
        headings += [heading, *([_HEADINGS[result.correction]] if name in adjusted else [])]
    short = {whole: name for name, whole in short_names(result.measures).items()}
    rows = [
        [
            *([group] if result.by else []),
            short[str(row.measure)],
            *_runs(row, result),
            *_estimates(row, bool(intervals)),
            *_p_values(row, shown, adjusted),
        ]
        for group, comparison in sections(result)
        for row in comparison.rows
    ]
    return Details([*labels, *headings], rows, len(labels), len(result.rows), spare)


def headings_of(result: Comparison) -> dict[str, str]:
    """Return the heading of each test that was made."""
    tests = result.rows[0].tests
    return {
        name: f"{name} (naive)" if test.naive and "naive" not in name else name
        for name, test in tests.items()
    }


def _has_intervals(result: Comparison) -> bool:
    """Return whether the bootstrap was asked for."""
    return "not asked" not in result.rows[0].reasons.get("interval", "")


def _runs(row: ComparisonRow, result: Comparison) -> list[str]:
    return [row.run] if result.baseline is not None else [row.run, row.baseline]


def _estimates(row: ComparisonRow, intervals: bool) -> list[str]:
    percent = None if row.relative is None else 100 * row.relative
    interval = NONE if row.interval is None else "[{}, {}]".format(*map(signed, row.interval))
    cells = [f"{row.mean:.4f}", f"{row.baseline_mean:.4f}", signed(row.difference), signed(percent, "+.1f")]
    cells += [interval] if intervals else []
    return [*cells, f"{row.wins:,}/{row.ties:,}/{row.losses:,}", signed(row.effect_size, "+.2f")]


def _p_values(row: ComparisonRow, tests: Collection[str], adjusted: list[str]) -> list[str]:
    cells = []
    for name in tests:
        test = row.tests[name]
        cells += [_p(test.p), *([_p(test.adjusted)] if name in adjusted else [])]
    return cells


def _p(value: float | None) -> str:
    return NONE if value is None else f"<{_SMALL:.4f}" if value < _SMALL else shown_p(value)


def shown_p(value: float) -> str:
    """Return a p-value with four decimals, or more where it would be rounded up to a level that it is below.

    Examples
    --------
    >>> shown_p(0.04994), shown_p(0.04996), shown_p(0.05004)
    ('0.0499', '0.04996', '0.0500')
    """
    enough = (
        decimals
        for decimals in range(4, 13)
        if all((round(value, decimals) < level) == (value < level) for level in LEVELS.values())
    )
    return f"{value:.{next(enough, 4)}f}"


def level_of(result: Comparison) -> str:
    """Return the level of the intervals in percent."""
    return f"{100 * result.level:.10g}%"


def signed(value: float | None, form: str = "+.4f") -> str:
    """Return a number with its sign; a dash for none."""
    return NONE if value is None else format(value + 0.0, form)


# --- how it was computed -----------------------------------------------------------------------------


def legend(result: Comparison, only: Collection[str] | None = None) -> list[str]:
    """Return what the differences are, how they were computed, and why something is missing.

    Parameters
    ----------
    result : Comparison
    only : collection of str, optional
        These tests are shown, if not all.
    """
    tests = {name: test for name, test in result.rows[0].tests.items() if only is None or name in only}
    against = f"run - {result.baseline}" if result.baseline is not None else "run - against, every pair"
    random = _has_intervals(result) or any(is_random(result, name) for name in tests)
    seed = f"; seed {result.seed}" if random else ""
    lines = [f"Δ: {against}; {counted(result.n_queries, 'query')}{in_clusters(result)}{seed}"]
    if _has_intervals(result):
        lines.append(_about_intervals(result))
    lines += [f"{name}: {method_of(result, name)}" for name in tests if "random" in name]
    lines += _corrections(result, [name for name, test in tests.items() if not test.naive])
    if any(test.naive for test in tests.values()):
        lines.append("naive: takes the queries of a cluster as independent; not for the paper")
    rows = [row for _, each in sections(result) for row in each.rows]
    return [*lines, *_reasons(rows, tests), *result.notes]


def _about_intervals(result: Comparison) -> str:
    """Return how the intervals were computed."""
    drawn = f"{counted(result.resamples, 'resample')} of {counted(result.n_clusters, result.paired.unit)}"
    of_groups = "; of a group, from its own" if result.by else ""
    several = sum(len(each.rows) for _, each in sections(result)) > 1
    each_alone = "; the intervals are not adjusted" if several and result.correction != "none" else ""
    return f"interval: percentile bootstrap, {drawn}{of_groups}{each_alone}"


def in_clusters(result: Comparison) -> str:
    """Return how many clusters the queries are in; nothing without clusters."""
    name = result.paired.clusters
    named = f" ({name})" if name != "clusters" else ""  # those of a mapping or a function have no name
    return f" in {counted(result.n_clusters, 'cluster')}{named}" if name else ""


def method_of(result: Comparison, name: str) -> str:
    """Return how a test was computed, so that it is true of all rows and all groups."""
    rows = [row for _, each in sections(result) for row in each.rows]
    methods = {row.tests[name].method for row in rows}
    if len(methods) == 1:
        return methods.pop()
    if "randomization" in name:
        units = plural("query" if rows[0].tests[name].naive else result.paired.unit)
        return f"all sign patterns of the {units}, or {result.resamples:,} random ones where there are more"
    return {"t-test": "paired", "clustered t-test": "cluster-robust", "wilcoxon": "signed ranks"}[name]


def is_random(result: Comparison, name: str) -> bool:
    """Return whether the p-values of a test depend on the seed."""
    rows = [row for _, each in sections(result) for row in each.rows]
    return any(" random sign pattern" in row.tests[name].method for row in rows)


def _corrections(result: Comparison, names: list[str]) -> list[str]:
    """Return which p-values of these tests were adjusted together."""
    if result.correction == "none" or not names:
        return []
    sizes = {"": result.families}
    if result.groups:  # which are a family of their own
        groups = next(iter(result.groups.values())).families
        sizes = {f" of all {result.by} groups": groups, " of all queries": result.families}
    texts = [
        _sizes({name: families[name] for name in names}) + of
        for of, families in sizes.items()
        if any(families[name] for name in names)
    ]
    adjusted = f"{_HEADINGS[result.correction]}: p adjusted by {result.correction}"
    return [f"{adjusted} over {', and over '.join(texts)}"] if texts else []


def _sizes(families: dict[str, int]) -> str:
    """Return how many p-values each test has: one number if it is the same for all."""
    if len(set(families.values())) == 1:
        return counted(next(iter(families.values())), "p-value")
    return ", ".join(f"{n:,} ({name})" for name, n in families.items()) + " p-values"


def _reasons(rows: list[ComparisonRow], tests: Collection[str]) -> list[str]:
    """Return why something has no value: each reason once, with how many rows it is about."""
    found: dict[str, int] = {}
    for row in rows:
        given = {name: reason for name, reason in row.reasons.items() if "not asked" not in reason}
        given |= {name: row.tests[name].reason for name in tests if row.tests[name].reason}
        for name, reason in given.items():
            text = f"{NONE} {name.replace('_', ' ')}: {reason}"
            found[text] = found.get(text, 0) + 1
    return [f"{text} ({n:,} of {counted(len(rows), 'row')})" for text, n in found.items()]
