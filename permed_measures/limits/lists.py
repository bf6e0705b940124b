"""Lists of queries, as the grade at each rank: what they measure, and the run that they make."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

import numpy as np
from numpy.typing import NDArray

from permed_measures.engine.judgments import Ints, Judgments
from permed_measures.limits.formulas import Formula, States
from permed_measures.limits.query_classes import Cases

Floats = NDArray[np.float64]
Lists = NDArray[np.int8]
"""The place in `grades` of the document at each rank, -1 for one that changes no measure; a row a list."""
UNJUDGED = -1


def used_by(lists: Lists, n_grades: int) -> Ints:
    """Return how many documents of each grade stand in each list."""
    return np.stack([(lists == g).sum(axis=1) for g in range(n_grades)], axis=1)


def measured(lists: Lists, formulas: Sequence[Formula], cases: Cases) -> Floats:
    """Return the measures of lists that end where the array does; `cases` has the query of each."""
    n_grades = len(cases.grades)
    sums = np.zeros((len(lists), len(formulas)))
    used = np.zeros((len(lists), n_grades), np.int64)
    for rank, grade in enumerate(lists.T.astype(np.int64), start=1):
        hit = np.flatnonzero(grade != UNJUDGED)
        states = States(cases.grades, used[hit], cases.counts[hit] - used[hit])
        for j, formula in enumerate(formulas):
            if formula.cutoff is None or rank <= formula.cutoff:
                sums[hit, j] += formula.gains(states, rank)[np.arange(len(hit)), grade[hit]]
        used[hit, grade[hit]] += 1
    for j, formula in enumerate(formulas):
        found = used_by(lists[:, : formula.cutoff], n_grades)
        scale = formula.scales(cases._replace(found=found))
        if len(scale) > 1:  # of a whole run, which ends here
            scale = formula.scales(cases._replace(found=used))
        sums[:, j] *= scale[0]
    return sums


def as_run(lists: Lists, queries: Ints, judgments: Judgments, grades: Floats) -> dict[str, dict[str, float]]:
    """Return a run with these lists of some queries: judged documents by their ids, others with new ones."""
    run: dict[str, dict[str, float]] = {}
    offsets = judgments.offsets
    for query, ranked in zip(queries.tolist(), lists.tolist(), strict=True):
        rows = np.arange(offsets[query], offsets[query + 1])
        judged = set(judgments.ids(rows))
        of_grade: list[Iterator[str]] = [
            iter(judgments.ids(rows[judgments.grade[rows] == grade])) for grade in grades
        ]
        of_grade.append(name for n in count(1) if (name := f"unjudged-{n}") not in judged)  # at -1
        while ranked and ranked[-1] == UNJUDGED:
            ranked.pop()
        run[judgments.query_ids[query]] = {next(of_grade[g]): -float(n) for n, g in enumerate(ranked)}
    return run
