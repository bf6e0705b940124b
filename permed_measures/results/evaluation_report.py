"""The report of evaluations: a table of means or of the values of each query, and the highest runs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial

from permed_measures.measures.headings import headings_of
from permed_measures.measures.specs import is_count
from permed_measures.results.evaluations import (
    BEST,
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
from permed_measures.wording import grouped, join_names, pluralize


def evaluation_report(result: Evaluations, digits: int | None = None, in_percent: bool = False) -> Report:
    """Report evaluations.

    Parameters
    ----------
    result : Evaluations
    digits : int, optional
        Number of decimals in tables; if left out four, or two in percent.
    in_percent : bool
        Whether to write means in percent.
    """
    style = Style.of(digits, in_percent)
    n_queries = result.queries(next(iter(result.evaluations)))["judged"]
    table = _table(result, style)
    return Report(
        titled(result.origin, len(result.evaluations), n_queries),
        _finding(result, style),
        [Section(tables=[table])],
        _notes(result, table),
        partial(content_of, result),
        partial(evaluation_records, result),
        partial(how_made, result.columns, result.origin),
        cautions=result.all_notes(),
        methods=partial(evaluation_methods, result),
    )


def evaluation_methods(result: Evaluations) -> Methods:
    """Describe how the numbers of evaluations were computed, for a paper."""
    n_queries = result.queries(next(iter(result.evaluations)))["judged"]
    runs = [*result.evaluations]
    return methods_of(result.shown, result.origin, runs, n_queries, _means(result, n_queries))


def _means(result: Evaluations, n_queries: int) -> Iterator[str]:
    """Describe the means, or the values of each query."""
    if result.of_queries:
        yield "The values are those of each query."
        return
    counts = [measure for measure in result.shown if is_count(measure)]
    yield means_over_queries(n_queries, headings_of(counts))
    if result.groups is not None:
        n_groups = pluralize(len(result.groups.values), "group")
        groups = f"{n_groups} of queries by {literal(result.groups.name)}"
        if result.macro:
            yield f"The macro average is the mean over the values of the {groups}, each counting once."
        else:
            yield f"The values are also given for each of the {groups}."
    if result.ceilings:
        yield "The best possible value is that of an ideal ranking of each query."


def _finding(result: Evaluations, style: Style) -> list[str]:
    """Name the highest run on each measure, or give the values of a single run."""
    runs = {name: _overall(result, name) for name in result.evaluations}
    headings = headings_of(result.measures)
    if result.macro:
        headings = [f"{heading} {MACRO}" for heading in headings]
    if len(runs) == 1:
        [(run, values)] = runs.items()
        texts = [
            value_text(measure, value, style) + style.sign * (not is_count(measure))
            for measure, value in zip(result.measures, values, strict=True)
        ]
        return [f"{run} has {join_names(map(' '.join, zip(headings, texts, strict=True)))}."]
    counts = [
        heading for heading, measure in zip(headings, result.measures, strict=True) if is_count(measure)
    ]
    sentences = highest(headings, runs, style, counts)
    return [*sentences, "No significance test was run."] if sentences else []


def _overall(result: Evaluations, run: str) -> list[float]:
    """Return the values of a run over all queries: its means, or the means of the groups' means."""
    rows = list(result.means(run, result.evaluations[run], {}))
    values = dict(zip(result.columns, rows[0 if result.macro else -1].values, strict=True))
    return [values[measure] for measure in result.measures]


def _notes(result: Evaluations, table: Table) -> list[str]:
    """Note missing and additional queries of the runs, unless columns of the table count them."""
    if {_IN_RUN, _IGNORED} & {*table.headings}:
        return []
    return [note for run in result.evaluations for note in result.notes_on_queries(run)]


# --- the table -------------------------------------------------------------------------------------------


def _table(result: Evaluations, style: Style) -> Table:
    """Build the table: a block for each group of queries, or for each run with all its queries."""
    columns, counts = result.shown, _count_headings(result)
    order = -1 if result.groups else 1  # with groups, the group comes before the run
    blocks = {
        name: list(_lines(result, rows, counts, style))
        for name, rows in grouped((_block_name(result, row), row) for row in result.rows()).items()
    }
    for row in result.means(BEST, result.ideal, {}) if result.ceilings and not result.of_queries else ():
        values = dict(zip(result.measures, row.values, strict=True))
        best = [result.text_of_best(measure, values.get(measure), style) for measure in columns]
        if {*best} <= {"", NONE}:  # all ideal rankings of the group score 1
            continue
        cells = _count_cells(row)
        texts = [*row.labels[::order], *best, *(cells.get(heading, Cell("")).text for heading in counts)]
        blocks.setdefault(_block_name(result, row) or BEST, []).append([*map(Cell, texts)])
    return Table(
        [*result.labels[::order], *result.headings(columns), *counts],
        [*blocks.values()],
        len(result.labels),
        f"{'Values by query' if result.of_queries else 'Means'}{style.unit} over {result.about()}",
        [*result.explanations(), *([_ABOUT_IGNORED] if _IGNORED in counts else [])],
        [*result.droppable, *counts[::-1]],
        "evaluation",
    )


def _block_name(result: Evaluations, row: EvaluationRow) -> str:
    """Name the block of a row: its group, or with values by query its run."""
    return row.labels[1] if result.groups else row.labels[0] if result.of_queries else ""


def _lines(
    result: Evaluations, rows: Sequence[EvaluationRow], counts: Sequence[str], style: Style
) -> Iterator[list[Cell]]:
    """Yield the cells of a block."""
    by_column = dict(zip(result.columns, zip(*(row.values for row in rows), strict=True), strict=True))
    columns = [result.cells(measure, by_column[measure], style) for measure in result.shown]
    for row, *cells in zip(rows, *columns, strict=True):
        labels = row.labels[:: -1 if result.groups else 1]
        yield [*map(Cell, labels), *cells, *(_count_cells(row)[heading] for heading in counts)]


# --- counts of queries -----------------------------------------------------------------------------------


def _count_headings(result: Evaluations) -> list[str]:
    """Choose the columns with counts of queries: those that are informative for some run."""
    if result.groups or result.of_queries:
        return [] if result.of_queries else ["queries"]
    queries = [result.queries(run) for run in result.evaluations]
    is_informative = {
        _IN_RUN: any(counts["in_run"] < counts["judged"] for counts in queries),
        _IGNORED: any(counts["ignored"] for counts in queries),
    }
    return [heading for heading in is_informative if is_informative[heading]]


def _count_cells(row: EvaluationRow) -> dict[str, Cell]:
    """Build the cells with counts of queries, by heading."""
    queries = row.queries
    if "in_run" in queries:
        text = f"{queries['in_run']:,} of {queries['judged']:,}"
        ignored = Cell(f"{queries['ignored']:,}", value=queries["ignored"])
        return {_IN_RUN: Cell(text, value=queries["in_run"]), _IGNORED: ignored}
    return {"queries": Cell(f"{queries['judged']:,}", value=queries["judged"])} if queries else {}


_IN_RUN, _IGNORED = "queries in run", "ignored"
_ABOUT_IGNORED = "Ignored: queries of the run that the qrels lack, which count nowhere"


# --- the highest runs, in sentences -----------------------------------------------------------------------

_MAX_NAMED_RUNS = 10
"""The largest number of runs with equal means that a sentence names; it counts the others."""


def highest(
    headings: Sequence[str],
    means: Mapping[str, Sequence[float]],
    style: Style,
    whole: Collection[str] = (),
) -> list[str]:
    """Name the runs that are highest on the first measure, and on the other measures.

    Parameters
    ----------
    headings : sequence of str
        The headings of the measures.
    means : mapping of str to sequence of float
        The means of each run, one for each measure.
    style : Style
        The format of means in tables. The highest mean has more decimals if a lower one would print like it.
    whole : collection of str
        The headings of measures that are whole numbers.

    Examples
    --------
    >>> highest(["RR", "P@1", "P@2"], {"a": [0.5, 1, 1], "b": [0.4, 0, 1]}, Style(1))
    ['a has the highest RR: 0.5.', 'Highest on P@1: a; on P@2: a and b.']
    >>> highest(["RR", "P@1"], {"a": [0.504, 0.2], "b": [0.498, 0.21]}, Style(1))
    ['a has the highest RR: 0.504.', 'Highest on P@1 (0.21): b.']
    """
    best = [best_of(means, index) for index in range(len(headings))]
    if not all(best):
        return []
    styles = [Style(0) if heading in whole else style for heading in headings]
    values, named = [], []
    for heading, column, own in zip(headings, zip(*means.values(), strict=True), styles, strict=True):
        scaled = [value * own.scale for value in column]
        values.append(format_distinguishable(scaled, own.decimals) + own.sign)
        in_table = f"{max(scaled):,.{own.decimals}f}{own.sign}"
        named.append(heading if values[-1] == in_table else f"{heading} ({values[-1]})")
    verb = "has" if len(best[0]) == 1 else "have"
    first = f"{join_names(best[0], _MAX_NAMED_RUNS)} {verb} the highest {headings[0]}: {values[0]}."
    by_runs = grouped(zip(map(tuple, best[1:]), named[1:], strict=True))
    others = [
        f"on {join_names(names)}: {join_names(runs, _MAX_NAMED_RUNS)}" for runs, names in by_runs.items()
    ]
    return [first, *([f"Highest {'; '.join(others)}."] if others else [])]


def best_of(means: Mapping[str, Sequence[float]], measure: int) -> list[str]:
    """Return the runs with the highest mean of a measure, by its number; none if that mean is NaN."""
    values = {run: of_run[measure] for run, of_run in means.items()}
    return [run for run, value in values.items() if isclose(value, max(values.values()))]


def format_distinguishable(values: Sequence[float], decimals: int) -> str:
    """Format the highest of some values, with more decimals if a lower one would print like it.

    Examples
    --------
    >>> format_distinguishable([0.504, 0.498, 0.504], 1), format_distinguishable([0.504, 0.504], 1)
    ('0.504', '0.5')
    """
    best = max(values)
    lower = [value for value in values if not isclose(value, best)]
    for n_decimals in range(decimals, max(decimals, 13) + 1):
        text = f"{best:,.{n_decimals}f}"
        if all(f"{value:,.{n_decimals}f}" != text for value in lower):
            break
    return text
