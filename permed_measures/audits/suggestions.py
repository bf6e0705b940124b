"""What to try next for claims that nothing explains: whatever is quickly computed has been."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from permed_measures.audits.answers import Answer
from permed_measures.audits.run_tables import table_of
from permed_measures.audits.swaps import other_measures
from permed_measures.audits.trials import Trial
from permed_measures.conventions.options import DEFAULT, FIRST_DIGITS
from permed_measures.engine.inputs import Batches, RunLike

_MOST_ROWS = 10**6
"""Longer runs are not read again."""
_ELSEWHERE = "another run, labels of another version, or a part of the queries (--by tries means by group)"


def open_claims(exceptions: list[Answer]) -> list[Trial]:
    """Return the claims that nothing explains, or only what is likely by chance."""
    unclear = (answer for answer in exceptions if not (answer.explained and answer.is_clear))
    return [trial for answer in unclear for trial in answer.trials]


def suggestions(main: Answer, trials: list[Trial]) -> list[str]:
    """Say which other measure or cutoff prints what nothing explains as it is named."""
    several = len({trial.row for trial in main.trials}) > 1
    how = " by the convention of the other claims" if main.explained else ""
    lines = []
    for trial in trials:
        found = [*_other_cells(main, trial), *other_measures(trial, {**DEFAULT, **main.options})]
        if found:
            name = f"{trial.row}, {trial.claim.name}" if several else trial.claim.name
            named = " or ".join(list(dict.fromkeys(found))[:_SHOWN])
            lines.append(f"{name}: {trial.claim.text} is the value of {named}{how}")
    return lines


_SHOWN = 2


def _other_cells(main: Answer, trial: Trial) -> Iterator[str]:
    """Yield the other cells of the table that have the number, as in swapped rows or columns."""
    for other in main.trials:
        if other is not trial and _is(main, trial, other.value(main.options)):
            yield other.claim.name + (f" of {other.row}" if other.row != trial.row else "")


def _is(main: Answer, trial: Trial, value: float) -> bool:
    return value in trial.claim.printed(FIRST_DIGITS[main.options["rounding"]])


def by_rows(run: RunLike) -> dict[str, dict[Any, float]] | None:
    """Return a run in the order of its rows; None if the scores have the same order, or it is long."""
    if isinstance(run, Batches):  # a file that is large, or a table: it is not read again
        return None
    table = table_of(run)
    nested = table if isinstance(table, Mapping) else Batches([table]).nested()
    if sum(map(len, nested.values())) > _MOST_ROWS:
        return None
    scores = (list(docs.values()) for docs in nested.values())
    if all(each == sorted(each, reverse=True) for each in scores):
        return None
    return {query: {doc: -float(rank) for rank, doc in enumerate(docs)} for query, docs in nested.items()}


def fits_by_rows(answer: Answer, several: bool) -> list[str]:
    """Say which claims the order of the rows explains, if that is more than chance."""
    if answer.verdict not in ("certain", "likely"):
        return []
    names = ", ".join(trial.claim.name for trial in answer.explained)
    row = f"{answer.explained[0].row}, " if several else ""
    return [f"{row}{names}: the order of the rows (--order list) fits, not that of the scores"]


def elsewhere(found: list[str]) -> str:
    """Say what cannot be tried here."""
    return f"{'Or else' if found else 'Try'} {_ELSEWHERE}"
