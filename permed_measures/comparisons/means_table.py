"""The table of means: the best marked, and which runs are significantly better than which."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from string import ascii_lowercase

from permed_measures.comparisons.corrections import correction_of
from permed_measures.comparisons.judged import about_judged, judged_cells, judged_headings
from permed_measures.comparisons.results import LEVEL, MARKS, ComparisonResult, better_pairs, deciding
from permed_measures.comparisons.wording import (
    CORRECTION_NAMES,
    families,
    in_clusters,
    is_random,
    method_of,
    shown,
    test_name,
)
from permed_measures.markup import counted
from permed_measures.measures.headings import explained, headings_of
from permed_measures.results.table import Cell, Table, ranked


def means_table(result: ComparisonResult) -> Table:
    """Build the table of means: a row for each run, by group of queries if there are groups."""
    letters = _letters(result)
    labels = [*([result.by] if result.by else []), *([""] if letters else []), "run"]
    by = f" by {result.by}" if result.by else ""
    about = f"Means{by} over {counted(result.n_queries, 'query')}{in_clusters(result)}"
    return Table(
        [*labels, *headings_of(result.measures), *judged_headings(result)],
        [
            list(_block(result, group, replace(part, digits=result.digits), letters))
            for group, part in result.sections()
        ],
        len(labels),
        about,
        [_significance(result, letters), *about_judged(result), *explained(result.measures)],
        judged_headings(result)[::-1],
        "comparison",
    )


def _letters(result: ComparisonResult) -> list[str]:
    """Return the letters of the runs, where every pair is tested and there are letters for all."""
    n_runs = len(result.paired.values)
    tested = result.baseline is None and families_of(result) and n_runs <= len(ascii_lowercase)
    return list(ascii_lowercase[:n_runs]) if tested else []


def _block(
    whole: ComparisonResult, group: str, part: ComparisonResult, letters: list[str]
) -> Iterator[list[Cell]]:
    """Yield a row for each run."""
    columns = [_column(part, number, letters) for number in range(len(part.measures))]
    for number, (run, *cells) in enumerate(zip(part.paired.values, *columns, strict=True)):
        labels = [*([group] if whole.by else []), *letters[number : number + 1], run]
        yield [*map(Cell, labels), *cells, *judged_cells(whole, part, run)]


def _column(part: ComparisonResult, number: int, letters: list[str]) -> list[Cell]:
    """Return the cells of a measure."""
    means = [float(values[number].mean()) for values in part.paired.values.values()]
    texts = [shown(part, mean) for mean in means]
    return [*map(Cell, texts, ranked(means), _marks(part, number, letters), means)]


# --- marks -----------------------------------------------------------------------------------------


def _marks(part: ComparisonResult, number: int, letters: list[str]) -> list[str]:
    """Mark each run by a dagger, or by the letters of the runs that it is significantly better than."""
    name, runs = deciding(part.rows[0].tests), list(part.paired.values)
    rows = part.rows_of(number) if name else []
    if part.baseline is not None:
        tested = [(row, p) for row in rows if (p := row.tests[name].adjusted) is not None]
        daggers = {
            row.run: next((mark for mark, level in MARKS.items() if p < level), "") for row, p in tested
        }
        return [daggers.get(run, "") for run in runs]
    better, named = better_pairs(rows), list(zip(letters, runs, strict=False))
    return ["".join(letter for letter, other in named if (run, other) in better) for run in runs]


# --- what the marks mean ---------------------------------------------------------------------------


def _significance(result: ComparisonResult, letters: list[str]) -> str:
    """Explain the marks."""
    name = deciding(result.rows[0].tests)
    if not name:
        naive = "No significance marks: the tests treat the queries of a cluster as independent"
        return naive if result.rows[0].tests else "No significance test was run"
    if not families_of(result):
        return f"No significance marks: no {name} has a p-value"
    if result.baseline is None and not letters:
        return f"No significance marks: more runs than {len(ascii_lowercase)} letters"
    if result.baseline is None:
        marks = f"Letters name the runs that a run is significantly better than, p < {LEVEL}"
    else:
        shown = ", ".join(f"{mark} p < {p}" for mark, p in reversed(MARKS.items()))
        marks = f"{shown} against {result.baseline}"
    seed = f", seed {result.seed}" if is_random(result, name) else ""
    return f"{marks}: {test_name(name)} ({method_of(result, name)}{seed}), {_correction(result)}"


def _correction(result: ComparisonResult) -> str:
    if result.correction == "none":
        return "uncorrected"
    sizes = [f"over {counted(n, 'test')}{of and f' on {of}'}" for of, n in families_of(result).items()]
    name = CORRECTION_NAMES[correction_of(result.correction, deciding(result.rows[0].tests))]
    return f"{name} correction {' and '.join(sizes)}"


def families_of(result: ComparisonResult) -> dict[str, int]:
    """Return how many p-values of the deciding test were corrected together, if any."""
    name = deciding(result.rows[0].tests)
    return {of: sizes[name] for of, sizes in families(result).items() if sizes.get(name)}
