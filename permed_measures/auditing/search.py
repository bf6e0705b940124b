"""The search for the convention that explains the most claims with the fewest changes; swapped columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from permed_measures.arrays import Floats
from permed_measures.auditing.answers import (
    CERTAIN,
    DIFFERENT,
    LIKELY,
    MOST_CHANGES,
    ExplainingConvention,
    simplified,
)
from permed_measures.auditing.measured_claims import ClaimValues, MeasuredClaim, sample_rows
from permed_measures.conventions.named import COMMUNITY, NAMED, NamedConvention
from permed_measures.conventions.options import (
    CUTOFF_OF,
    Convention,
    changes_of,
    measures_by_value,
    options_apart,
    options_in,
    rounding_of,
)
from permed_measures.conventions.records import ROUNDING
from permed_measures.conventions.search_space import Codes, ConventionSpace
from permed_measures.escaping import join_names
from permed_measures.measures.parameters import Cutoff
from permed_measures.progress import step


def answers_to(
    trials: Sequence[MeasuredClaim],
    conventions: Sequence[NamedConvention] = NAMED,
    usual: dict[str, Cutoff] | None = None,
) -> list[ExplainingConvention]:
    """Return the named conventions that explain the most claims with the fewest changes.

    Parameters
    ----------
    trials : sequence of Trial
    conventions : sequence of NamedConvention
    usual : dict of str to Cutoff, optional
        By the name of the claim the cutoff that is no change; those that the names say if left out.
    """
    space = ConventionSpace(trials, conventions, usual)
    return _best(space) or [ExplainingConvention(named, base, space, 0) for named, base in space.bases[:1]]


class _Found(NamedTuple):
    """Conventions, and the number of the base that each is near to."""

    codes: Codes
    base: Codes


def _best(space: ConventionSpace[MeasuredClaim], beyond: int = -1) -> list[ExplainingConvention]:
    """Return for each base that has one the convention that explains the most claims with the fewest changes.

    In a large table these are searched on some rows; of what explains more there with each change, the best
    on all rows is taken. What explains no more than so many claims of the rows that are searched is left out.
    """
    better = _best_by_changes(space, sample_rows(space.measurements), beyond)
    counts = {n: _n_explained(space, found.codes, space.measurements, 0) for n, found in better.items()}
    if not counts:
        return []
    best = max(counts, key=lambda n: counts[n].max())  # of equal ones the first, with the fewest
    is_best = np.isfinite(counts[best]) & (counts[best] == counts[best].max())
    codes, base = (each[is_best] for each in better[best])
    return [
        ExplainingConvention(space.bases[number][0], space.convention(row), space, best)
        for row, number in zip(codes, base.tolist(), strict=True)
    ]


def _best_by_changes(
    space: ConventionSpace[MeasuredClaim], trials: Sequence[MeasuredClaim], beyond: int
) -> dict[int, _Found]:
    """Return by how many changes, if more explain more, the conventions that explain the most.

    They are one for each base that has one.
    """
    most, found = beyond, dict[int, list[_Found]]()
    trials = _hardest_first(space, trials)
    with step("searching conventions", (MOST_CHANGES + 1) * len(space.bases)) as advance:
        for near in space.neighbours(MOST_CHANGES):
            n = near.n_changes
            if n not in found and most == len(trials):
                break
            counts = _n_explained(space, near.codes, trials, most + (n not in found))
            advance(len(np.unique(near.base)))
            if counts.max(initial=most) > most:
                most, found[n] = int(counts.max()), []
            if n in found:
                best = np.flatnonzero(counts == most)
                best = best[np.unique(near.base[best], return_index=True)[1]]
                found[n].append(_Found(near.codes[best], near.base[best]))
    return {n: _Found(*map(np.concatenate, zip(*each, strict=True))) for n, each in found.items()}


def _hardest_first(
    space: ConventionSpace[MeasuredClaim], trials: Sequence[MeasuredClaim]
) -> list[MeasuredClaim]:
    """Return claims, first those that the fewest named conventions print: most others fail at them."""
    bases = [near.codes for near in space.neighbours(0)]
    return sorted(
        trials, key=lambda trial: sum(int(ClaimValues.of(space, trial, b).prints.sum()) for b in bases)
    )


def _n_explained(
    space: ConventionSpace[MeasuredClaim], near: Codes, trials: Sequence[MeasuredClaim], wanted: int
) -> Floats:
    """Count the claims that each convention prints; below all numbers if too few, or if one means nothing."""
    counts, left = np.zeros(len(near)), np.arange(len(near))
    for n_more, trial in zip(reversed(range(len(trials))), trials, strict=True):
        tried = ClaimValues.of(space, trial, near[left])
        counts[left] += tried.prints
        hopeless = np.isnan(tried.values) | (counts[left] + n_more < wanted)
        counts[left[hopeless]] = -np.inf
        left = left[~hopeless]
    return counts


_MIN_CLAIMS = 2
"""So many claims at least are more than one, which may be a typo."""


def answers_apart(best: list[ExplainingConvention]) -> list[ExplainingConvention]:
    """Return answers by which one measure has an option for itself, where these explain more claims.

    Its claims alone must hardly be explained by chance, least of all where the others are explained without;
    so it is never one claim, which may as well be a typo.
    """
    [one, *_] = best
    n_claims = Counter(trial.measure for trial in one.trials)
    if one.complete or len(n_claims) == 1 or max(n_claims.values()) < _MIN_CLAIMS:
        return best
    conventions, trials = one.space.conventions, one.trials
    space = ConventionSpace(trials, conventions, per_measure=options_apart())
    if not (apart := _best(space, sum(trial in one.explained for trial in sample_rows(trials)))):
        return best
    [main, *_] = apart
    moved = _apart_from_the_others(main.convention, main.named.at(trials))
    claims = [trial for trial in main.explained if trial.measure in moved]
    if len(main.explained) <= len(one.explained) or len(claims) < _MIN_CLAIMS:
        return best
    alone = ExplainingConvention(
        main.named, main.convention, ConventionSpace(claims, conventions), main.n_changes
    )
    is_clear = one.verdict in ("certain", "likely")
    return apart if alone.chance.value <= (DIFFERENT if is_clear else LIKELY) else best


def _apart_from_the_others(ours: Convention, theirs: Convention) -> set[str]:
    """Return the measures that share a value of an option by another convention with more than by ours."""
    found = set[str]()
    for option in options_in(ours):
        for usual, shared in measures_by_value(theirs, option).items():
            parts = measures_by_value({measure: ours[measure] for measure in shared}, option)
            most = max(parts, key=lambda value: (len(parts[value]), value == usual))
            found |= {*shared} - {*parts[most]}
    return found


# --- what one convention leaves open -----------------------------------------------------------------


def exceptions_to(main: ExplainingConvention) -> list[ExplainingConvention]:
    """Return how the claims that an answer leaves open are explained, by changes from it.

    Claims of one row that one convention explains make one exception; those of a row that nothing explains
    make one more, which explains none. In a large table some rows are searched, and on the others the
    conventions are tried that were found there: what one of these explains makes one exception.
    """
    searched, found = {trial.row for trial in sample_rows(main.trials)}, list[ExplainingConvention]()
    if not searched & {trial.row for trial in main.left}:
        searched = {trial.row for trial in islice(main.left, _FEW_OPEN_CLAIMS)}
    left = [trial for trial in main.left if trial.row not in searched]
    for row in dict.fromkeys(trial.row for trial in main.left if trial.row in searched):
        found += _exceptions_in(main, [trial for trial in main.left if trial.row == row])
    for known in [each for each in found if each.explained]:
        if also := [trial for trial in left if _prints(trial, known.convention)]:
            found.append(_answer(main, known.named.name, known.convention, also, known.n_changes))
            left = [trial for trial in left if trial not in {*also}]
    return [*found, *([_answer(main, "the others", main.convention, left, 0)] if left else [])]


_FEW_OPEN_CLAIMS = 10
"""Of so many open claims the rows are searched where those that were looked at have none."""


def _exceptions_in(main: ExplainingConvention, left: list[MeasuredClaim]) -> Iterator[ExplainingConvention]:
    """Yield the exceptions in a row."""
    while left:
        nearest = _otherwise(main, "the others", left)
        if nearest.explained and not nearest.complete:
            nearest = _otherwise(main, "the others", nearest.explained)
        yield nearest
        left = [trial for trial in left if trial not in nearest.trials]


def _prints(trial: MeasuredClaim, convention: Convention) -> bool:
    """Return whether a convention, which may be about other claims, prints a claim."""
    return CUTOFF_OF + trial.name in convention.get(trial.measure, ()) and trial.prints(convention)


def _cutoffs(main: ExplainingConvention) -> dict[str, Cutoff]:
    return {trial.claim.name: trial.cutoff(main.convention) for trial in main.trials}


def _as_named(main: ExplainingConvention, name: str) -> NamedConvention:
    """Return an answer as a convention with a name, from which others differ."""
    shared = {
        option: max(groups, key=lambda value: len(groups[value]))
        for option in main.named.shared
        if (groups := measures_by_value(main.convention, option))
    }
    return NamedConvention(name, "", main.named.measures, main.convention, {**main.named.shared, **shared})


def _answer(
    main: ExplainingConvention, name: str, convention: Convention, trials: list[MeasuredClaim], n_changes: int
) -> ExplainingConvention:
    """Return a convention near an answer as that to other claims."""
    ours = _as_named(main, name)
    return ExplainingConvention(ours, convention, ConventionSpace(trials, [ours], _cutoffs(main)), n_changes)


def _otherwise(main: ExplainingConvention, name: str, trials: list[MeasuredClaim]) -> ExplainingConvention:
    """Explain claims by changes from an answer, or else as a convention with another name has them."""
    cutoffs = _cutoffs(main)
    ours = _as_named(main, name)
    [near] = answers_to(trials, [ours], cutoffs)
    if near.complete:
        return near
    others = answers_to(trials, [ours, *main.space.conventions], cutoffs)
    if len(others[0].explained) <= len(near.explained):
        return near
    base = ours.at(trials, cutoffs)
    least = min(others, key=lambda each: len(changes_of(each.convention, base)))
    return ExplainingConvention(ours, least.convention, least.space, least.n_changes)


class SimplerAlternative(NamedTuple):
    """The answers that explain all claims but one, equally good, and that to this one."""

    simple: list[ExplainingConvention]
    other: ExplainingConvention

    @property
    def is_typo(self) -> bool:
        """Whether the others are surely made so, and a typo is as good an explanation as any other."""
        return self.simple[0].verdict in ("certain", "likely") and self.other.chance.value > CERTAIN


def doubts_about(main: ExplainingConvention) -> list[SimplerAlternative]:
    """Return the claims without which fewer changes explain the others.

    Where arbitrary numbers would be explained as easily, such a claim may as well be a typo.
    """
    simpler: dict[MeasuredClaim, Convention] = {}
    n_others = len(main.trials) - 1
    if not main.n_changes or n_others < _MIN_CLAIMS or not main.complete:
        return []
    some = sample_rows(main.trials)
    for each in main.space.neighbours(main.n_changes - 1):
        near = each.codes[_n_explained(main.space, each.codes, some, len(some) - 1) >= 0]
        near = near[_n_explained(main.space, near, main.trials, n_others) == n_others]
        printed = [ClaimValues.of(main.space, trial, near).prints for trial in main.trials]
        left, first = np.unique(np.argmin(printed, axis=0), return_index=True)
        for number, row in zip(left.tolist(), first.tolist(), strict=True):
            simpler.setdefault(main.trials[number], main.space.convention(near[row]))
    simple = {trial: _nearest(main.space, convention) for trial, convention in simpler.items()}
    found = [
        SimplerAlternative(each, _otherwise(each[0], each[0].name, [trial])) for trial, each in simple.items()
    ]
    return [each for each in found if not (each.other.explained and each.other.is_clear) or each.is_typo]


def _nearest(space: ConventionSpace[MeasuredClaim], convention: Convention) -> list[ExplainingConvention]:
    """Return a convention of a space as the answers that are nearest to named ones."""
    distances = [len(changes_of(convention, base)) for _, base in space.bases]
    return [
        ExplainingConvention(named, convention, space, distance)
        for (named, _), distance in zip(space.bases, distances, strict=True)
        if distance == min(distances)
    ]


def nearest_to(trial: MeasuredClaim, conventions: Sequence[NamedConvention]) -> Convention:
    """Return the named convention whose value is nearest to a claim, without what makes no difference."""
    bases = [named.at([trial]) for named in conventions if named.has(trial.claim.measure)]
    values = [trial.value(base) for base in bases]
    distances = [np.inf if np.isnan(value) else abs(value - float(trial.claim.value)) for value in values]
    value, near = values[least := int(np.argmin(distances))], bases[least]
    return simplified(near, COMMUNITY.at([trial]), lambda other: trial.value(other) == value)


# --- swapped columns and rows --------------------------------------------------------------------------

Cells = dict[tuple[str, str], MeasuredClaim]
"""Trials by the line that they stand in, a column or a row, and their place in it."""


class Swap(NamedTuple):
    """What is swapped in a table, and its claims once that is exchanged."""

    text: str
    trials: list[MeasuredClaim]


def swap_in(trials: Sequence[MeasuredClaim], conventions: Sequence[NamedConvention]) -> Swap | None:
    """Return the columns, or else the rows, that a named convention explains if they are exchanged."""
    columns = {(trial.claim.name, trial.row): trial for trial in trials}
    rows = {(row, name): trial for (name, row), trial in columns.items()}
    if len(columns) < len({name for name, _ in columns}) * len({row for row, _ in rows}):
        return None
    for named in conventions:
        if all(named.has(trial.claim.measure) for trial in trials):
            for what, cells in (("columns", columns), ("rows", rows)):
                if moved := _moved(cells, named.at(trials)):
                    text = f"the {what} {join_names(list(moved))} are swapped"
                    return Swap(text, _exchanged(cells, moved))
    return None


def _moved(cells: Cells, convention: Convention) -> dict[str, str]:
    """Return which other line a line has the numbers of; empty if that is no permutation."""
    lines, places = (list(dict.fromkeys(each)) for each in zip(*cells, strict=True))
    values = np.array([[cells[line, at].value(convention) for at in places] for line in lines])
    moved = {}
    for line in lines:
        trials = [cells[line, at] for at in places]
        printed = [
            each.claim.printed(rounding_of(convention[each.measure][ROUNDING]).of_mean) for each in trials
        ]
        holds = [each.holds(column) for each, column in zip(printed, values.T, strict=True)]
        fits = [lines[place] for place in np.flatnonzero(np.logical_and.reduce(holds))]
        if len(fits) == 1 and fits != [line]:
            moved[line] = fits[0]
    return moved if {*moved} == {*moved.values()} else {}


def _exchanged(cells: Cells, moved: dict[str, str]) -> list[MeasuredClaim]:
    """Return the trials in their order, each with the number that stands where its own should."""
    number_of = {other: line for line, other in moved.items()}
    found = []
    for (line, at), trial in cells.items():
        other = cells[number_of.get(line, line), at].claim
        numbers = {name: getattr(other, name) for name in ("text", "value", "decimals", "percent")}
        found.append(trial.with_claim(trial.claim._replace(**numbers, other=None)))
        found[-1].cell = trial.cell
    return found
