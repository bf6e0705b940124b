"""What is said of answers: how claims were made, what else they may be, what cannot be told apart."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, islice
from math import floor, log10

import numpy as np

from permed_measures.auditing.answers import ExplainingConvention
from permed_measures.auditing.false_matches import FalseMatchRate
from permed_measures.auditing.measured_claims import MeasuredClaim
from permed_measures.conventions.describe import with_cutoff
from permed_measures.conventions.named import COMMUNITY
from permed_measures.conventions.options import (
    CONVENTION_MEASURES,
    DEFAULT,
    SHARED,
    Convention,
    changes_of,
    default_of,
    describe,
    place,
    rounding_of,
    with_value,
)
from permed_measures.conventions.records import OPTIONS, QUERY_SET, ROUNDING, TIES
from permed_measures.engine.ranks import TieBreak

_MAX_OPEN_CLAIMS = 3
"""How many claims that are left open are named."""


def conflicts_of(main: ExplainingConvention, exceptions: list[ExplainingConvention]) -> list[str]:
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
        *(made_otherwise(main, each, each.explained) for each in found),
    ]


def doubts(main: ExplainingConvention, doubtful: list[ExplainingConvention]) -> list[str]:
    """Say which claims may be typos, as fewer changes explain the others."""
    return [
        f"{made_otherwise(main, each, each.trials)}. {each.named.name} explains the others."
        for each in doubtful
    ]


def made_otherwise(
    main: ExplainingConvention, other: ExplainingConvention, trials: list[MeasuredClaim]
) -> str:
    """Say by which changes claims of a row are explained, if any are."""
    how = f"with {'; '.join(other.changes)}"
    if other.is_clear:
        return f"{_names_of(main, trials)}, {how}"
    made = f", or made {how}" if other.explained else ""
    return f"{_names_of(main, trials)}: a typo, another run's number{made}"


def _names_of(main: ExplainingConvention, trials: list[MeasuredClaim]) -> str:
    """Return the names of claims after that of their row, if there are several."""
    rows = list(dict.fromkeys(trial.row for trial in trials)) if _several(main) else []
    if len(rows) > 1:
        return f"{', '.join(dict.fromkeys(trial.claim.name for trial in trials))} of {len(rows)} rows"
    return ", ".join([*rows, *(trial.claim.name for trial in trials)])


def chances(main: ExplainingConvention, others: list[ExplainingConvention]) -> list[str]:
    """Say how easily other numbers would be explained: by an answer, and by those that may be typos."""
    if not main.explained:
        return []
    unclear = [each for each in others if each.explained and not each.is_clear]
    return [
        by_chance(main.chance).capitalize(),
        *(f"{_names_of(main, each.explained)} alone: {by_chance(each.chance)}" for each in unclear),
    ]


def within_ties(main: ExplainingConvention) -> list[str]:
    """Say which claims that only rounding explains, or nothing, lie within what other orders of ties give.

    Nothing is said where a rounding explains all claims and one needs it in any order of ties.
    """
    texts, plain = [], with_value(main.convention, ROUNDING, DEFAULT[ROUNDING])
    left = [trial for trial in main.trials if not trial.prints(plain)]
    for trial in left:
        orders = [
            plain,
            *(with_value(plain, TIES, ties.value) for ties in (TieBreak.PESSIMISTIC, TieBreak.OPTIMISTIC)),
        ]
        least, *_, most = sorted(orders, key=trial.value)
        ends = trial.printed_units(np.array([trial.value(least), trial.value(most)]), None)
        if ends[0, 0] <= trial.nearby.code <= ends[1, 1]:
            texts.append(
                f"{_names_of(main, [trial])}: {trial.claim.text} is within what the order of equal scores "
                f"allows, {trial.printed_value(least)} to {trial.printed_value(most)}"
                + ("; no rounding is needed then." if trial in main.explained else ".")
            )
    return [] if main.complete and len(texts) < len(left) else texts


def by_chance(chance: FalseMatchRate) -> str:
    """Say how often arbitrary numbers would be explained, and those that other runs would have."""
    text = f"of arbitrary numbers near these, {odds(chance.of_numbers)} would be explained so"
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


def named(main: ExplainingConvention) -> str:
    """Say who computes it so, or nearly so: others may as well, and more on these data."""
    return f"On these data the same as {main.name}, among others ({main.named.source})"


def not_explained(main: ExplainingConvention) -> str:
    """Name the claims that an answer leaves open."""
    left = [_names_of(main, [trial]) for trial in main.left]
    more = f" and {len(left) - _MAX_OPEN_CLAIMS} more" if len(left) > _MAX_OPEN_CLAIMS else ""
    return ("; " if _several(main) else ", ").join(left[:_MAX_OPEN_CLAIMS]) + more


def _several(main: ExplainingConvention) -> bool:
    """Return whether the claims are of several rows."""
    return len({trial.row for trial in main.trials}) > 1


def equals(main: ExplainingConvention, others: list[ExplainingConvention]) -> list[str]:
    """Name the other conventions that explain as much with as few changes, in two lines."""
    return in_two_lines([other.named.name for other in others] if main.explained else [])


def in_two_lines(texts: list[str]) -> list[str]:
    """Join as many texts as two lines hold, and count the rest.

    Examples
    --------
    >>> in_two_lines(["one", "two"]), in_two_lines(["a" * 100, "b" * 100])[0][100:]
    (['one; two'], '; 1 more')
    """
    lengths = accumulate(len(each) + len("; ") for each in texts)
    n = max(sum(length <= _TWO_LINES for length in lengths), 1)
    more = [f"{len(texts) - n} more"] if len(texts) > n else []
    return ["; ".join([*texts[:n], *more])] if texts else []


_TWO_LINES = 135
"""How many characters two lines hold beside their margin and what is counted."""


def unexplained(main: ExplainingConvention, nearest: dict[MeasuredClaim, Convention]) -> list[str]:
    """Say of each claim that nothing explains what its value is by the convention of the others."""
    lines = []
    for trial, near in islice(nearest.items(), _MAX_LINES):
        if np.isnan(trial.value(near)):  # there is no query
            continue
        how = "by the convention of the other claims"
        if not main.explained:
            how = "; ".join(changes_of(near, COMMUNITY.at([trial]))) or "by default"
        slip = trial.in_nearer_reading(near).claim.rounding_error_kind(trial.value(near))
        if trial.would_print(near):
            slip = "any order of these lists gives it"
        text = f"{trial.printed_value(near)}, {trial.typed(near)}: {how}{slip and '; '}{slip}"
        lines.append(f"{_names_of(main, [trial])} as {trial.claim.text}: {text}")
    return [*lines, *([f"{len(nearest) - _MAX_LINES:,} more"] if len(nearest) > _MAX_LINES else [])]


_MAX_LINES = 10
"""So many open claims have a line of their own at most."""
_MAX_OTHER_CELLS = 2
"""How many other cells and measures that have the number of a claim are named."""


def elsewhere(main: ExplainingConvention, left: list[MeasuredClaim]) -> list[str]:
    """Say of claims that are left open where else their numbers are: another cell, or another measure."""
    by = "the convention of the other claims" if main.explained else main.named.name
    lines = []
    for trial in left[:_MAX_LINES]:
        others = [*other_cells(trial, main), *other_measures(trial, main.convention)]
        if others:
            found = " or ".join(list(dict.fromkeys(others))[:_MAX_OTHER_CELLS])
            lines.append(f"{_names_of(main, [trial])}: {trial.claim.text} is {found} by {by}")
    return lines


def no_difference(main: ExplainingConvention) -> list[str]:
    """Name the options that make no difference to any claim, in two lines: those of which any value does.

    Of others it is said how many values do.
    """
    names = []
    for setting, values in main.equivalents.items():
        n_known = len(OPTIONS[setting.option].values) if setting.option in OPTIONS else 0
        some = "" if len(values) == n_known else f" ({len(values)} of {n_known})" if n_known else " (some)"
        names.append(f"{setting.title}{some}")
    return in_two_lines(sorted(names, key=lambda name: name.endswith(")")))


def equivalents(main: ExplainingConvention) -> dict[str, list[str]]:
    """Describe by the title of each option the values that give the same numbers on these data."""
    return {
        setting.title: [describe(setting.option, value) for value in values]
        for setting, values in main.equivalents.items()
    }


# --- where else numbers are ----------------------------------------------------------------------------

_USUAL_CUTOFFS = (1, 3, 5, 10, 20, 50, 100, 200, 500, 1000, None)
_MEASURES_WITH_CUTOFF = ("P", "R", "Success", "F1")
"""Measures that have a cutoff."""


def has_number(trial: MeasuredClaim, value: float, convention: Convention) -> bool:
    """Return whether a claim prints a value, rounded as a convention does."""
    return value in trial.claim.printed(rounding_of(convention[trial.measure][ROUNDING]).of_mean)


def other_cells(trial: MeasuredClaim, main: ExplainingConvention) -> list[str]:
    """Return the cells in the row and column of a claim whose values by an answer are its number."""
    cells = [
        each
        for each in main.trials
        if (each.row == trial.row) + (each.claim.name == trial.claim.name) == 1
        and has_number(trial, each.value(main.convention), main.convention)
    ]
    several = len({each.row for each in main.trials}) > 1
    return [each.claim.name + (f" of {each.row}" if several else "") for each in cells]


def better_names(main: ExplainingConvention) -> dict[str, list[str]]:
    """Return for claims that only changes explain other measures that have their numbers by default.

    Empty if any claim needs a change under each name: then other names say no less.
    """
    found: dict[str, list[str]] = {}
    if not main.changes:
        return found
    default = COMMUNITY.at(main.trials)
    for name in dict.fromkeys(trial.claim.name for trial in main.explained):
        trials = [trial for trial in main.explained if trial.claim.name == name]
        if not all(trial.prints(default) for trial in trials):
            fitting = [set(other_measures(trial, default, len(trials) > 1)) for trial in trials]
            if not (common := set.intersection(*fitting)):
                return {}
            found[name] = sorted(common)
    return found


def other_measures(trial: MeasuredClaim, convention: Convention, both: bool = False) -> Iterator[str]:
    """Yield the measures that have the number of a claim by a convention.

    They are another measure, or have another cutoff; perhaps `both`. One that the convention does not have
    shares the options of all measures with the claim.
    """
    claim = trial.claim
    own = claim.cutoffs[0]
    if claim.is_fixed or isinstance(own, tuple):
        return
    for measure in CONVENTION_MEASURES:
        for cutoff in dict.fromkeys([own, *_USUAL_CUTOFFS]):
            if (measure == claim.measure) + (cutoff == own) == 1 or both:
                yield from _if_printed(trial, measure, cutoff, convention)


def _if_printed(
    trial: MeasuredClaim, measure: str, cutoff: int | None, convention: Convention
) -> Iterator[str]:
    if cutoff is None and measure in _MEASURES_WITH_CUTOFF:
        return
    rank = (cutoff, cutoff) if measure == "F1" and cutoff is not None else cutoff
    shared = {option: convention[trial.measure][option] for option in SHARED}
    options = convention.get(measure, {**default_of(measure), **shared})
    means = trial.run.means(measure, rank, options)
    if means is not None and has_number(trial, float(means[place(options[QUERY_SET])]), convention):
        yield with_cutoff(measure, rank)
