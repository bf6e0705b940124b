"""What to try next for claims that nothing explains: whatever is quickly computed has been."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from permed_measures.audits.answers import Answer
from permed_measures.audits.choices import MeasureSpec
from permed_measures.audits.conventions import COMMUNITY
from permed_measures.audits.matches import ClaimAudit
from permed_measures.audits.run_tables import table_of
from permed_measures.audits.tried import number_of
from permed_measures.conventions.query_sets import place
from permed_measures.engine.inputs import Batches, RunLike
from permed_measures.papers.claims import FAMILY_OF

_CUTOFFS = (1, 3, 5, 10, 20, 50, 100, 200, 500, 1000, None)
_MOST_ROWS = 10**6
"""Longer runs are not read again."""
_ELSEWHERE = "another run, labels of another version, or a part of the queries (--by tries means by group)"


def open_claims(exceptions: list[Answer]) -> list[ClaimAudit]:
    """Return the claims that nothing explains."""
    return [claim for answer in exceptions if not answer.explained for claim in answer.claims]


def suggestions(main: Answer, claims: list[ClaimAudit]) -> list[str]:
    """Say which other measure or cutoff prints what nothing explains as it is named."""
    several = len({claim.row for claim in main.claims}) > 1
    how = " by the convention of the other claims" if main.explained else ""
    lines = []
    for claim in claims:
        found = [*_other_cells(main, claim), *_other_measures(main, claim)]
        if found:
            name = f"{claim.row}, {claim.claim.name}" if several else claim.claim.name
            named = " or ".join(list(dict.fromkeys(found))[:_SHOWN])
            lines.append(f"{name}: {claim.claim.text} is the value of {named}{how}")
    return lines


_SHOWN = 2


def _other_cells(main: Answer, claim: ClaimAudit) -> Iterator[str]:
    """Yield the other cells of the table that have the number, as in swapped rows or columns."""
    for other in main.claims:
        value = main.given(other).value
        if other is not claim and value in claim.claim.printed(main.setting.rounding.value):
            yield other.claim.name + (f" of {other.row}" if other.row != claim.row else "")


def _other_measures(main: Answer, claim: ClaimAudit) -> Iterator[str]:
    """Yield the measures that have the number by the convention of the other claims."""
    published = claim.claim
    number = claim.run.of_setting[number_of(main.setting) or 0]
    ranked, own = claim.run.ranked[number], published.cutoffs[0]
    if published.is_fixed or isinstance(own, tuple):
        return
    tried = [
        (published.measure, cutoff) for cutoff in _CUTOFFS if cutoff != own and published.measure != "F1"
    ]
    for measure, cutoff in [
        *tried,
        *((measure, own) for measure in FAMILY_OF if measure != published.measure),
    ]:
        family = FAMILY_OF[measure]
        choice = main.choices.get(family) or COMMUNITY.choice(family)
        if (cutoff is None and measure in _CUT) or (measure == "F1" and not isinstance(cutoff, int)):
            continue
        spec = MeasureSpec(measure, cutoff, ranked.labels, ranked.spans)
        means = choice.means(ranked.at(cutoff), spec, claim.run.sets_at(number, cutoff))
        if published.printed().holds(means[[place(main.setting.queries.value)]]).any():
            yield measure if cutoff is None else f"{measure}@{cutoff}"


_CUT = ("P", "R", "Success", "F1")
"""Measures that have a cutoff."""


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
    names = ", ".join(claim.claim.name for claim in answer.explained)
    row = f"{answer.explained[0].row}, " if several else ""
    return [f"{row}{names}: the order of the rows (--order list) fits, not that of the scores"]


def elsewhere(found: list[str]) -> str:
    """Say what cannot be tried here."""
    return f"{'Or else' if found else 'Try'} {_ELSEWHERE}"
