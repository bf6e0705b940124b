"""The table and the sentences of a paper: means, the best marked, and what differs significantly."""

from __future__ import annotations

from dataclasses import replace

from permed_measures.comparisons.corrections import correction_of
from permed_measures.comparisons.judged import about_judged, judged_cells, judged_headings
from permed_measures.comparisons.results import ComparisonResult, better_pairs, deciding, letters_of
from permed_measures.comparisons.wording import (
    CORRECTION_NAMES,
    LEVELS,
    families,
    in_clusters,
    is_random,
    method_of,
    of_each,
    shown,
)
from permed_measures.markup import counted
from permed_measures.measures.headings import explained, headings_of
from permed_measures.reports.tables import Cell, PaperTable, TableRow, placed
from permed_measures.results.own_columns import headings_of_texts, texts_of

_NAIVE = {"randomization": "naive randomization", "clustered t-test": "t-test"}
"""The naive counterpart of a test."""


def paper_table(result: ComparisonResult) -> PaperTable:
    """Build the table of a comparison: a row for each run, by group of queries if there are groups."""
    runs = list(result.paired.values)
    letters = letters_of(len(runs)) if result.baseline is None and _families(result) else []
    labels = [*([result.by] if result.by else []), *([""] if letters else []), "run"]
    labels += headings_of_texts(result.texts)
    by = f" by {result.by}" if result.by else ""
    footnote = "; ".join(explained(result.measures))
    return PaperTable(
        labels,
        [*headings_of(result.measures), *judged_headings(result)],
        [
            _block(result, group, replace(comparison, digits=result.digits), letters)
            for group, comparison in result.sections()
        ],
        f"Means{by} over {counted(result.n_queries, 'query')}{in_clusters(result)}",
        [_significance(result, letters), *about_judged(result), *([footnote] if footnote else [])],
        bool(letters),
        result.caption,
        judged_headings(result),
    )


def _block(
    whole: ComparisonResult, group: str, comparison: ComparisonResult, letters: list[str]
) -> list[TableRow]:
    """Return a row for each run."""
    columns = [_column(comparison, number, letters) for number in range(len(comparison.measures))]
    return [
        TableRow(
            [*([group] if whole.by else []), *letters[number : number + 1], run, *texts_of(whole.texts, run)],
            [*cells, *(Cell(*cell) for cell in judged_cells(whole, comparison, run))],
        )
        for number, (run, *cells) in enumerate(zip(comparison.paired.values, *columns, strict=True))
    ]


def _column(comparison: ComparisonResult, number: int, letters: list[str]) -> list[Cell]:
    """Return the cells of a measure."""
    texts = [shown(comparison, float(values[number].mean())) for values in comparison.paired.values.values()]
    marks = _marks(comparison, number, letters)
    return [*map(Cell, texts, placed(texts), marks)]


# --- marks -----------------------------------------------------------------------------------------


def _marks(comparison: ComparisonResult, number: int, letters: list[str]) -> list[str]:
    """Mark each run by a dagger, or by the letters of the runs that it is significantly better than."""
    name, runs = deciding_test(comparison), list(comparison.paired.values)
    n_pairs = len(comparison.paired.pairs)
    rows = comparison.rows[number * n_pairs : (number + 1) * n_pairs] if name else []
    if not letters:
        tested = [(row, p) for row in rows if (p := row.tests[name].adjusted) is not None]
        daggers = {
            row.run: next((mark for mark, level in LEVELS.items() if p < level), "") for row, p in tested
        }
        return [daggers.get(run, "") for run in runs]
    better = better_pairs(rows, name)
    named = list(zip(letters, runs, strict=True))
    worse = [[letter for letter, other in named if (run, other) in better] for run in runs]
    return [_ranges([*map(int, each)]) if letters[0].isdigit() else "".join(each) for each in worse]


def _ranges(numbers: list[int]) -> str:
    """Write ascending numbers, three or more in a row by the first and the last.

    Examples
    --------
    >>> _ranges([1, 2, 4, 5, 6, 9])
    '1,2,4-6,9'
    """
    rows: list[list[int]] = []
    for number in numbers:
        if rows and number == rows[-1][-1] + 1:
            rows[-1].append(number)
        else:
            rows.append([number])
    return ",".join(f"{row[0]}-{row[-1]}" if len(row) > 2 else ",".join(map(str, row)) for row in rows)


def deciding_test(comparison: ComparisonResult) -> str:
    """Return the test that decides the marks; empty if none was run that is valid for these clusters."""
    return deciding(comparison.rows[0].tests)


def deciding_tests(comparison: ComparisonResult) -> tuple[list[str], list[str]]:
    """Return the deciding test, if there is one, and the other tests."""
    name, made = deciding_test(comparison), list(comparison.rows[0].tests)
    first = [name] if name else made
    return first, [each for each in made if each not in first]


# --- what the marks mean ---------------------------------------------------------------------------


def _significance(result: ComparisonResult, letters: list[str]) -> str:
    """Explain the marks."""
    name = deciding_test(result)
    if not name:
        naive = "No significance marks: the tests treat the queries of a cluster as independent"
        return naive if result.rows[0].tests else "No significance test was run"
    if not _families(result):
        return f"No significance marks: no {name} has a p-value"
    if result.baseline is None:
        kind = "Number" if letters[0].isdigit() else "Letter"
        marks = f"{kind}s name the runs that a run is significantly better than, p < {LEVELS['†']}"
    else:
        shown = ", ".join(f"{mark} p < {p}" for mark, p in reversed(LEVELS.items()))
        marks = f"{shown} against {result.baseline}"
    test = {"randomization": "randomization test", "wilcoxon": "Wilcoxon's test"}.get(name, name)
    seed = f", seed {result.seed}" if is_random(result, name) else ""
    return f"{marks}: {test} ({method_of(result, name)}{seed}), {_correction(result)}"


def _correction(result: ComparisonResult) -> str:
    if result.correction == "none":
        return "uncorrected"
    each = of_each(result)
    sizes = [f"over {counted(n, 'test')}{each}{of and f' on {of}'}" for of, n in _families(result).items()]
    name = CORRECTION_NAMES[correction_of(result.correction, deciding_test(result))]
    return f"{name} correction {' and '.join(sizes)}"


def _families(result: ComparisonResult) -> dict[str, int]:
    """Return how many p-values of the deciding test were corrected together, if any."""
    name = deciding_test(result)
    return {of: sizes[name] for of, sizes in families(result).items() if sizes.get(name)}
