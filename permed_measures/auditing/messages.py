"""Put answers into words: how claims were computed, what else they may be, what makes no difference."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, islice
from math import floor, log10

import numpy as np

from permed_measures.auditing.answers import ExplainingConvention
from permed_measures.auditing.false_matches import FalseMatchRate
from permed_measures.auditing.measured_claims import MeasuredClaim
from permed_measures.auditing.search import other_cells
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
    query_set_index,
    with_value,
)
from permed_measures.conventions.records import OPTIONS, QUERY_SET, ROUNDING, TIES
from permed_measures.engine.ranks import TieBreak
from permed_measures.measures.specs import needs_cutoff

_MAX_OPEN_CLAIMS = 3
"""The maximum number of unexplained claims to name."""


def conflicts_of(main: ExplainingConvention, exceptions: list[ExplainingConvention]) -> list[str]:
    """Describe how the rows of a table, or the claims of a row, were computed differently."""
    explained = [answer for answer in exceptions if answer.explained]
    explained.sort(key=lambda answer: not answer.is_clear)
    if not explained:
        return []
    noun = "rows" if _several(main) else "numbers"
    made = f"A typo, or {noun} that were made differently"
    if explained[0].is_clear:
        made = f"The {noun} were made differently"
    return [
        f"{made}: no single convention fits all of them",
        *(made_otherwise(main, each, each.explained) for each in explained),
    ]


def doubts(main: ExplainingConvention, doubtful: list[ExplainingConvention]) -> list[str]:
    """Name the claims that may be typos, because fewer changes explain the others."""
    return [
        f"{made_otherwise(main, answer, answer.trials)}. {answer.named.name} explains the others."
        for answer in doubtful
    ]


def made_otherwise(
    main: ExplainingConvention, other: ExplainingConvention, trials: list[MeasuredClaim]
) -> str:
    """Name the changes that explain claims, and a typo where that is as plausible."""
    how = f"with {'; '.join(other.changes)}"
    if other.is_clear:
        return f"{_names_of(main, trials)}, {how}"
    made = f", or made {how}" if other.explained else ""
    return f"{_names_of(main, trials)}: a typo, another run's number{made}"


def _names_of(main: ExplainingConvention, trials: list[MeasuredClaim]) -> str:
    """List the names of claims; in a table with several rows, name the row first."""
    rows = list(dict.fromkeys(trial.row for trial in trials)) if _several(main) else []
    if len(rows) > 1:
        return f"{', '.join(dict.fromkeys(trial.claim.name for trial in trials))} of {len(rows)} rows"
    return ", ".join([*rows, *(trial.claim.name for trial in trials)])


def chances(main: ExplainingConvention, others: list[ExplainingConvention]) -> list[str]:
    """Write how easily other numbers would be explained, for an answer and for claims that may be typos."""
    if not main.explained:
        return []
    unclear = [each for each in others if each.explained and not each.is_clear]
    return [
        by_chance(main.chance).capitalize(),
        *(f"{_names_of(main, each.explained)} alone: {by_chance(each.chance)}" for each in unclear),
    ]


def within_ties(main: ExplainingConvention) -> list[str]:
    """Name the claims within the range over orders of ties, if nothing else or only rounding explains them.

    The list is empty if rounding explains all claims, and one needs it in any order of ties.
    """
    texts, unrounded = [], with_value(main.convention, ROUNDING, DEFAULT[ROUNDING])
    left = [trial for trial in main.trials if not trial.prints(unrounded)]
    for trial in left:
        extremes = (TieBreak.PESSIMISTIC, TieBreak.OPTIMISTIC)
        orders = [unrounded, *(with_value(unrounded, TIES, ties.value) for ties in extremes)]
        lowest, *_, highest = sorted(orders, key=trial.value)
        ends = trial.printed_units(np.array([trial.value(lowest), trial.value(highest)]), None)
        if ends[0, 0] <= trial.nearby.claimed <= ends[1, 1]:
            texts.append(
                f"{_names_of(main, [trial])}: {trial.claim.text} is within what the order of equal scores "
                f"allows, {trial.printed_value(lowest)} to {trial.printed_value(highest)}"
                + ("; no rounding is needed then." if trial in main.explained else ".")
            )
    return [] if main.complete and len(texts) < len(left) else texts


def by_chance(chance: FalseMatchRate) -> str:
    """Write how many random numbers, and how many rows of other runs, conventions would also explain."""
    text = f"conventions would also explain {odds(chance.of_numbers)} random numbers near these"
    if chance.n_drawn:
        n = f"{chance.n_others:,}" if chance.n_others else "none"
        text += f", and {n} of {chance.n_drawn:,} rows of resampled queries"
    return f"{text}."


def odds(chance: float) -> str:
    """Write a chance as odds, such as 1 in 600."""
    if chance > _OFTEN:
        return f"{round(chance * 10)} of 10"
    if chance < 1 / _MOST_ODDS:
        return f"fewer than 1 in {_MOST_ODDS:,}"
    n = 1 / chance
    return f"1 in {round(n, 1 - floor(log10(n))):,.0f}"


_OFTEN = 0.25
_MOST_ODDS = 1_000_000


def named(main: ExplainingConvention) -> str:
    """Name the nearest named convention; others may give the same numbers on these data."""
    return f"{main.name} ({main.named.source}), or another with the same numbers on these data"


def not_explained(main: ExplainingConvention) -> str:
    """Name the claims that an answer does not explain."""
    left = [_names_of(main, [trial]) for trial in main.left]
    more = f" and {len(left) - _MAX_OPEN_CLAIMS} more" if len(left) > _MAX_OPEN_CLAIMS else ""
    return ("; " if _several(main) else ", ").join(left[:_MAX_OPEN_CLAIMS]) + more


def _several(main: ExplainingConvention) -> bool:
    """Check whether the claims are from several rows."""
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
"""The number of characters in two lines, without the margin and the final count."""


def unexplained(main: ExplainingConvention, nearest: dict[MeasuredClaim, Convention]) -> list[str]:
    """Write the expected value of each claim that nothing explains, by the convention of the others."""
    lines = []
    for trial, convention in islice(nearest.items(), _MAX_LINES):
        if np.isnan(trial.value(convention)):  # no query counts
            continue
        how = "by the convention of the other claims"
        if not main.explained:
            changes = changes_of(convention, COMMUNITY.with_cutoffs([trial]))
            how = f"with {'; '.join(changes)}" if changes else "by default"
        reason = trial.in_nearer_reading(convention).claim.rounding_error_kind(trial.value(convention))
        if trial.would_print(convention):
            reason = "any order of these lists gives it"
        numbers = f"published {trial.claim.text}, expected {trial.printed_value(convention)}"
        source = f"{trial.measure_string(convention)} {how}{reason and '; '}{reason}"
        lines.append(f"{_names_of(main, [trial])}: {numbers}: {source}")
    return [*lines, *([f"{len(nearest) - _MAX_LINES:,} more"] if len(nearest) > _MAX_LINES else [])]


_MAX_LINES = 10
"""The maximum number of unexplained claims with a line of their own."""
_MAX_OTHER_CELLS = 2
"""The maximum number of other cells and measures to name for a claim."""


def elsewhere(main: ExplainingConvention, left: list[MeasuredClaim]) -> list[str]:
    """Name the other cells or measures that have the numbers of unexplained claims."""
    by = "the convention of the other claims" if main.explained else main.named.name
    lines = []
    for trial in left[:_MAX_LINES]:
        others = other_cells(trial, main) or [*other_measures(trial, main.convention)]
        if others:
            names = " or ".join(list(dict.fromkeys(others))[:_MAX_OTHER_CELLS])
            lines.append(f"{_names_of(main, [trial])}: {trial.claim.text} is {names} by {by}")
    return lines


def no_difference(main: ExplainingConvention) -> list[str]:
    """Name the options that make no difference to any claim, in two lines.

    Options without any effect come first. For the others, the number of equal values is given.
    """
    names = []
    for setting, values in main.equivalents.items():
        n_known = len(OPTIONS[setting.option].values) if setting.option in OPTIONS else 0
        n_equal = "" if len(values) == n_known else f" ({len(values)} of {n_known})" if n_known else " (some)"
        names.append(f"{setting.title}{n_equal}")
    return in_two_lines(sorted(names, key=lambda name: name.endswith(")")))


def equivalents(main: ExplainingConvention) -> dict[str, list[str]]:
    """Describe the values of each option that give the same numbers on these data."""
    return {
        setting.title: [describe(setting.option, value) for value in values]
        for setting, values in main.equivalents.items()
    }


# --- other measures with the same number ---------------------------------------------------------------

_USUAL_CUTOFFS = (1, 3, 5, 10, 20, 50, 100, 200, 500, 1000, None)


def better_names(main: ExplainingConvention) -> dict[str, list[str]]:
    """Find other measures that have the numbers of claims by default, for claims that need changes.

    Empty if any of these claims needs a change as every other measure too.
    """
    names: dict[str, list[str]] = {}
    if not main.changes:
        return names
    default = COMMUNITY.with_cutoffs(main.trials)
    for name in dict.fromkeys(trial.claim.name for trial in main.explained):
        trials = [trial for trial in main.explained if trial.claim.name == name]
        if not all(trial.prints(default) for trial in trials):
            fitting = [set(other_measures(trial, default, len(trials) > 1)) for trial in trials]
            if not (common := set.intersection(*fitting)):
                return {}
            names[name] = sorted(common)
    return names


def other_measures(trial: MeasuredClaim, convention: Convention, both: bool = False) -> Iterator[str]:
    """Yield the measures that have the number of a claim by a convention.

    Another measure or another cutoff is tried; with `both`, also another measure at another cutoff. A measure
    that the convention does not have gets the shared options of the claim and its own defaults.
    """
    claim = trial.claim
    own = claim.cutoffs[0]
    if claim.is_fully_specified or isinstance(own, tuple):
        return
    for measure in CONVENTION_MEASURES:
        for cutoff in dict.fromkeys([own, *_USUAL_CUTOFFS]):
            if (measure == claim.measure) + (cutoff == own) == 1 or both:
                yield from _if_printed(trial, measure, cutoff, convention)


def _if_printed(
    trial: MeasuredClaim, measure: str, cutoff: int | None, convention: Convention
) -> Iterator[str]:
    if cutoff is None and needs_cutoff(measure):
        return
    cutoffs = (cutoff, cutoff) if measure == "F1" and cutoff is not None else cutoff
    shared = {option: convention[trial.measure][option] for option in SHARED}
    options = convention.get(measure, {**default_of(measure), **shared})
    means = trial.run.means(measure, cutoffs, options)
    if means is not None and trial.has_number(float(means[query_set_index(options[QUERY_SET])]), convention):
        yield with_cutoff(measure, cutoffs)
