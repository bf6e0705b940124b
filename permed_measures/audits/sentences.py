"""What is said of answers: how claims were made, what else they may be, what cannot be told apart."""

from __future__ import annotations

from math import floor, log10

import numpy as np

from permed_measures.audits.answers import Answer
from permed_measures.audits.chance import Chance
from permed_measures.audits.other_names import other_cells, other_measures
from permed_measures.audits.trials import Trial
from permed_measures.conventions.named import COMMUNITY
from permed_measures.conventions.options import DEFAULT, OPTIONS, Options, changes_of, describe, title
from permed_measures.engine.ranks import TieBreak

_SHOWN = 3
"""How many claims that are left open are named."""


def conflicts_of(main: Answer, exceptions: list[Answer]) -> list[str]:
    """Describe how the rows of a table, or the claims of a row, were made differently."""
    found = sorted((each for each in exceptions if each.explained), key=lambda each: not each.is_clear)
    if not found:
        return []
    what = "rows" if _several(main) else "numbers"
    made = f"A typo, or {what} that were made differently"
    if found[0].is_clear:
        made = f"The {what} were made differently"
    return [
        f"{made}: no single convention fits all of them",
        *(_made_otherwise(main, each, each.explained) for each in found),
    ]


def doubts(main: Answer, doubtful: list[Answer]) -> list[str]:
    """Say which claims may be typos, as fewer changes explain the others."""
    return [
        f"{_made_otherwise(main, each, each.trials)} {each.named.name} explains the others."
        for each in doubtful
    ]


def _made_otherwise(main: Answer, other: Answer, trials: list[Trial]) -> str:
    """Say by which changes claims of a row are explained, and how easily others would be."""
    row = [trials[0].row] if _several(main) else []
    names = ", ".join([*row, *(trial.claim.name for trial in trials)])
    how = f"with {'; '.join(other.changes)}"
    if other.is_clear:
        return f"{names}, {how}"
    return f"{names}: a typo, another run's number, or made {how}. {by_chance(other.chance)}"


def within_ties(main: Answer) -> list[str]:
    """Say which claims that only rounding explains, or nothing, lie within what other orders of ties give.

    Nothing is said where a rounding explains all claims and one needs it in any order of ties.
    """
    texts, plain = [], {**main.options, "rounding": "exact"}
    left = [trial for trial in main.trials if not trial.prints(plain)]
    for trial in left:
        orders = [
            plain,
            *({**plain, "ties": ties.value} for ties in (TieBreak.PESSIMISTIC, TieBreak.OPTIMISTIC)),
        ]
        least, *_, most = sorted(orders, key=trial.value)
        ends = trial.codes(np.array([trial.value(least), trial.value(most)]), None)
        if ends[0, 0] <= trial.window.code <= ends[1, 1]:
            texts.append(
                f"{_name_of(trial, main)}: {trial.claim.text} is within what the order of equal scores "
                f"allows, {trial.shown(least)} to {trial.shown(most)}"
                + ("; no rounding is needed then." if trial in main.explained else ".")
            )
    return [] if main.complete and len(texts) < len(left) else texts


def by_chance(chance: Chance) -> str:
    """Say how often arbitrary numbers would be explained, and those that other runs would have."""
    text = f"Of arbitrary numbers near these, {odds(chance.of_numbers)} would be explained so"
    if chance.n_drawn:
        n = f"{chance.n_others:,}" if chance.n_others else "none"
        text += f"; of {chance.n_drawn:,} rows of resampled queries, {n}"
    return f"{text}."


def odds(chance: float) -> str:
    """Write a chance as people say it."""
    if chance > _OFTEN:
        return f"{round(chance * 10)} of 10"
    if chance < 1 / _MOST_ODDS:
        return f"fewer than 1 in {_MOST_ODDS:,}"
    n = 1 / chance
    return f"1 in {round(n, 1 - floor(log10(n))):,.0f}"


_OFTEN = 0.25
_MOST_ODDS = 1_000_000


def named(main: Answer) -> str:
    """Say who computes it so, or nearly so: others may as well, and more on these data."""
    return f"On these data the same as {main.name}, among others ({main.named.source})"


def not_explained(main: Answer) -> str:
    """Name the claims that an answer leaves open."""
    left = [_name_of(claim, main) for claim in main.trials if claim not in main.explained]
    more = f" and {len(left) - _SHOWN} more" if len(left) > _SHOWN else ""
    return ("; " if _several(main) else ", ").join(left[:_SHOWN]) + more


def _several(main: Answer) -> bool:
    """Return whether the claims are of several rows."""
    return len({trial.row for trial in main.trials}) > 1


def _name_of(claim: Trial, main: Answer) -> str:
    """Return the name of a claim, with its row if there are several."""
    return f"{claim.row}, {claim.claim.name}" if _several(main) else claim.claim.name


def equals(main: Answer, others: list[Answer]) -> list[str]:
    """Name the other conventions that explain as much with as few changes."""
    names = [other.named.name for other in others] if main.explained else []
    more = [f"{len(names) - _EQUALS} more"] if len(names) > _EQUALS else []
    return ["; ".join([*names[:_EQUALS], *more])] if names else []


_EQUALS = 8
"""How many conventions are named that are equally good."""


def unexplained(main: Answer, nearest: dict[Trial, Options]) -> list[str]:
    """Say of each claim that nothing explains what its value is by the convention of the others."""
    lines = []
    for trial, near in nearest.items():
        if np.isnan(trial.value(near)):  # there is no query
            continue
        how = "by the convention of the other claims"
        if not main.explained:
            default = COMMUNITY.at({trial.claim.name: trial.claim.cutoffs[0]})
            how = "; ".join(changes_of(near, default)) or "by default"
        slip = trial.claim.slip(trial.value(near))
        text = f"{trial.shown(near)}, {trial.typed(near)}: {how}{slip and '; '}{slip}"
        lines.append(f"{_name_of(trial, main)} as {trial.claim.text}: {text}")
    return lines


_OTHERS = 2
"""How many other cells and measures that have the number of a claim are named."""


def elsewhere(main: Answer, left: list[Trial]) -> list[str]:
    """Say of claims that are left open where else their numbers are: another cell, or another measure."""
    by = "the convention of the other claims" if main.explained else main.named.name
    lines = []
    for trial in left:
        others = [*other_cells(trial, main), *other_measures(trial, {**DEFAULT, **main.options})]
        if others:
            found = " or ".join(list(dict.fromkeys(others))[:_OTHERS])
            lines.append(f"{_name_of(trial, main)}: {trial.claim.text} is {found} by {by}")
    return lines


def equivalents(main: Answer) -> list[str]:
    """Describe the options that make no difference to any claim."""
    lines = []
    for option, values in main.equivalents().items():
        everything = option in OPTIONS and len(values) == len(OPTIONS[option].values)
        names = "any" if everything else " / ".join(describe(option, value) for value in values)
        lines.append(f"{title(option)}: {names}")
    return lines
