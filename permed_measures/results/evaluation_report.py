"""The report of evaluations: a table of means or of the values of each query, and which runs are highest."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial

from permed_measures.escaping import grouped, join_names, pluralize
from permed_measures.measures.headings import headings_of
from permed_measures.results.evaluations import (
    BEST,
    COUNTS,
    MACRO,
    EvaluationRow,
    Evaluations,
    content_of,
    evaluation_records,
    value_text,
)
from permed_measures.results.methods import Methods, means_over_queries, methods_of
from permed_measures.results.prose import literal
from permed_measures.results.report import Report, Section, how_made, titled
from permed_measures.results.table import NONE, Cell, Style, Table, isclose


def evaluation_report(found: Evaluations, digits: int | None = None, in_percent: bool = False) -> Report:
    """Report evaluations.

    Parameters
    ----------
    found : Evaluations
    digits : int, optional
        Number of decimals in tables; if left out four, or two in percent.
    in_percent : bool
        Whether means are written in percent.
    """
    style = Style.of(digits, in_percent)
    n_queries = found.queries(next(iter(found.evaluations)))["judged"]
    table = _table(found, style)
    return Report(
        titled(found.origin, len(found.evaluations), n_queries),
        _finding(found, style),
        [Section(tables=[table])],
        _notes(found, table),
        partial(content_of, found),
        partial(evaluation_records, found),
        partial(how_made, found.columns, found.origin),
        cautions=found.all_notes(),
        methods=partial(evaluation_methods, found),
    )


def evaluation_methods(found: Evaluations) -> Methods:
    """Describe how the numbers of evaluations were made, as a paper says it."""
    n_queries = found.queries(next(iter(found.evaluations)))["judged"]
    runs = [*found.evaluations]
    return methods_of(found.shown, found.origin, runs, n_queries, _means(found, n_queries))


def _means(found: Evaluations, n_queries: int) -> Iterator[str]:
    """Say what the values are means of."""
    if found.by_query:
        yield "The values are those of each query."
        return
    counts = [measure for measure in found.shown if measure.NAME in COUNTS]
    yield means_over_queries(n_queries, headings_of(counts))
    if found.groups is not None:
        groups = f"{pluralize(len(found.groups.values), 'group')} of queries by {literal(found.groups.name)}"
        if found.macro:
            yield f"The macro average is the mean over the values of the {groups}, each counting once."
        else:
            yield f"The values are also given for each of the {groups}."
    if found.ceilings:
        yield "The best possible value is that of an ideal ranking of each query."


def _finding(found: Evaluations, style: Style) -> list[str]:
    """Say which run is highest on each measure, or what the only one scores."""
    runs = {name: _overall(found, name) for name in found.evaluations}
    headings = headings_of(found.measures)
    if found.macro:
        headings = [f"{heading} {MACRO}" for heading in headings]
    if len(runs) == 1:
        [(run, values)] = runs.items()
        texts = [
            value_text(measure, value, style) + style.sign * (measure.NAME not in COUNTS)
            for measure, value in zip(found.measures, values, strict=True)
        ]
        return [f"{run} has {join_names(map(' '.join, zip(headings, texts, strict=True)))}."]
    counts = [text for text, each in zip(headings, found.measures, strict=True) if each.NAME in COUNTS]
    said = highest(headings, runs, style, counts)
    return [*said, "No significance test was run."] if said else []


def _overall(found: Evaluations, run: str) -> list[float]:
    """Return the values of a run as a whole: its means, or the means of the groups' means."""
    rows = list(found.means(run, found.evaluations[run], {}))
    values = dict(zip(found.columns, rows[0 if found.macro else -1].values, strict=True))
    return [values[measure] for measure in found.measures]


def _notes(found: Evaluations, table: Table) -> list[str]:
    """Return what runs lack and have besides, where no columns count it."""
    if {_IN_RUN, _IGNORED} & {*table.headings}:
        return []
    return [note for run in found.evaluations for note in found.notes_on_queries(run)]


# --- the table -------------------------------------------------------------------------------------------


def _table(found: Evaluations, style: Style) -> Table:
    """Build the table: a block for each group of queries, or for each run with all its queries."""
    columns, counts = found.shown, _counted(found)
    turned = -1 if found.groups else 1  # a group, then the runs
    blocks = {
        name: list(_lines(found, rows, counts, style))
        for name, rows in grouped((_block(found, row), row) for row in found.rows()).items()
    }
    for row in found.means(BEST, found.ideal, {}) if found.ceilings and not found.by_query else ():
        values = dict(zip(found.measures, row.values, strict=True))
        best = [found.text_of_best(measure, values.get(measure), style) for measure in columns]
        if {*best} <= {"", NONE}:  # of a group whose ideal rankings all score 1
            continue
        texts = [*row.labels[::turned], *best, *(_counts(row).get(each, Cell("")).text for each in counts)]
        blocks.setdefault(_block(found, row) or BEST, []).append([*map(Cell, texts)])
    return Table(
        [*found.labels[::turned], *found.headings(columns), *counts],
        [*blocks.values()],
        len(found.labels),
        f"{'Values by query' if found.by_query else 'Means'}{style.unit} over {found.about()}",
        [*found.explanations(), *([_ABOUT_IGNORED] if _IGNORED in counts else [])],
        [*found.spare, *counts[::-1]],
        "evaluation",
    )


def _block(found: Evaluations, row: EvaluationRow) -> str:
    """Return what a row stands together with: its group, or with values by query its run."""
    return row.labels[1] if found.groups else row.labels[0] if found.by_query else ""


def _lines(
    found: Evaluations, rows: Sequence[EvaluationRow], counts: Sequence[str], style: Style
) -> Iterator[list[Cell]]:
    """Yield the cells of a block."""
    by_column = dict(zip(found.columns, zip(*(row.values for row in rows), strict=True), strict=True))
    columns = [found.cells(measure, by_column[measure], style) for measure in found.shown]
    for row, *cells in zip(rows, *columns, strict=True):
        labels = row.labels[:: -1 if found.groups else 1]
        yield [*map(Cell, labels), *cells, *(_counts(row)[each] for each in counts)]


# --- counts of queries -----------------------------------------------------------------------------------


def _counted(found: Evaluations) -> list[str]:
    """Return the headings of the counts of queries that say something."""
    if found.groups or found.by_query:
        return [] if found.by_query else ["queries"]
    queries = [found.queries(run) for run in found.evaluations]
    says = {_IN_RUN: any(each["in_run"] < each["judged"] for each in queries)}
    says[_IGNORED] = any(each["ignored"] for each in queries)
    return [heading for heading in says if says[heading]]


def _counts(row: EvaluationRow) -> dict[str, Cell]:
    """Return the counts of queries by heading."""
    queries = row.queries
    if "in_run" in queries:
        text = f"{queries['in_run']:,} of {queries['judged']:,}"
        ignored = Cell(f"{queries['ignored']:,}", value=queries["ignored"])
        return {_IN_RUN: Cell(text, value=queries["in_run"]), _IGNORED: ignored}
    return {"queries": Cell(f"{queries['judged']:,}", value=queries["judged"])} if queries else {}


_IN_RUN, _IGNORED = "queries in run", "ignored"
_ABOUT_IGNORED = "Ignored: queries of the run that the qrels lack, which count nowhere"


# --- which runs are highest, in sentences -----------------------------------------------------------------

_MAX_NAMED_RUNS = 10
"""How many runs with equal means are named; the others are counted."""


def highest(
    headings: Sequence[str],
    means: Mapping[str, Sequence[float]],
    style: Style,
    whole: Collection[str] = (),
) -> list[str]:
    """Say which runs have the highest first measure, and which are highest on the others.

    Parameters
    ----------
    headings : sequence of str
        Of the measures.
    means : mapping of str to sequence of float
        The mean of each measure by run.
    style : Style
        Of the means in tables. The highest mean is said with more where a lower one would print like it.
    whole : collection of str
        The headings of measures that are whole numbers.

    Examples
    --------
    >>> highest(["RR", "P@1", "P@2"], {"a": [0.5, 1, 1], "b": [0.4, 0, 1]}, Style(1))
    ['a has the highest RR: 0.5.', 'Highest on P@1: a; on P@2: a and b.']
    >>> highest(["RR", "P@1"], {"a": [0.504, 0.2], "b": [0.498, 0.21]}, Style(1))
    ['a has the highest RR: 0.504.', 'Highest on P@1 (0.21): b.']
    """
    best = [best_of(means, number) for number in range(len(headings))]
    if not all(best):
        return []
    styles = [Style(0) if heading in whole else style for heading in headings]
    columns = [
        [value * own.scale for value in each]
        for each, own in zip(zip(*means.values(), strict=True), styles, strict=True)
    ]
    values = [
        format_distinguishable(each, own.decimals) + own.sign
        for each, own in zip(columns, styles, strict=True)
    ]
    usual = [f"{max(each):,.{own.decimals}f}{own.sign}" for each, own in zip(columns, styles, strict=True)]
    verb = "has" if len(best[0]) == 1 else "have"
    said = [f"{join_names(best[0], _MAX_NAMED_RUNS)} {verb} the highest {headings[0]}: {values[0]}."]
    named = [
        text if value == shown else f"{text} ({value})"
        for text, value, shown in zip(headings, values, usual, strict=True)
    ]
    measures = grouped(zip(map(tuple, best[1:]), named[1:], strict=True))  # of which runs
    on = [f"on {join_names(names)}: {join_names(runs, _MAX_NAMED_RUNS)}" for runs, names in measures.items()]
    return [*said, *([f"Highest {'; '.join(on)}."] if on else [])]


def best_of(means: Mapping[str, Sequence[float]], number: int) -> list[str]:
    """Return the runs with the highest mean of a measure; none where that is NaN."""
    values = {run: each[number] for run, each in means.items()}
    return [run for run, value in values.items() if isclose(value, max(values.values()))]


def format_distinguishable(values: Sequence[float], decimals: int) -> str:
    """Write the highest of some values, with more decimals where a lower one would print like it.

    Examples
    --------
    >>> format_distinguishable([0.504, 0.498, 0.504], 1), format_distinguishable([0.504, 0.504], 1)
    ('0.504', '0.5')
    """
    best = max(values)
    lower = [value for value in values if not isclose(value, best)]
    for places in range(decimals, max(decimals, 13) + 1):
        text = f"{best:,.{places}f}"
        if all(f"{value:,.{places}f}" != text for value in lower):
            break
    return text
