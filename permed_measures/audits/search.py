"""The search for the convention that explains the most claims with the fewest changes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from permed_measures.audits.answers import MOST_CHANGES, Answer, simplified
from permed_measures.audits.trials import Trial, Tried
from permed_measures.conventions.named import COMMUNITY, NAMED, NamedConvention
from permed_measures.conventions.options import SAME, Options, changes_of
from permed_measures.conventions.spaces import Codes, Space
from permed_measures.papers.names import Rank


def answers_to(
    trials: Sequence[Trial],
    conventions: Sequence[NamedConvention] = NAMED,
    usual: dict[str, Rank] | None = None,
) -> list[Answer]:
    """Return the named conventions that explain the most claims with the fewest changes.

    Parameters
    ----------
    trials : sequence of Trial
    conventions : sequence of NamedConvention
    usual : dict of str to Rank, optional
        By the name of the claim the cutoff that is no change; those that the names say if left out.
    """
    space = Space(trials, conventions, usual)
    changes, found = _best(space)
    found = found or [space.first(base) for _, base in space.bases[:1]]  # where nothing can be computed
    answers = []
    for named, base in space.bases:
        first = space.first(base)
        near = next((each for each in found if _distance(each, first) == changes), None)
        if near is not None:
            theirs = {
                option: base[option] if first[option] == value else value for option, value in near.items()
            }
            answers.append(Answer(named, theirs, space, changes))
    return answers


def _best(space: Space[Trial]) -> tuple[int, list[Options]]:
    """Return the conventions that explain the most claims with the fewest changes, and how few these are."""
    most, level, found = -1, 0, list[Options]()
    for changes, near in space.within(MOST_CHANGES):
        if changes > level and most == len(space.trials):
            break
        counts = _n_explained(space, near, most + (changes > level))
        if counts.max(initial=-1) > most:
            most, level, found = int(counts.max()), changes, []
        if changes == level:
            found += map(space.convention, near[counts == most])
    return level, found


def _n_explained(space: Space[Trial], near: Codes, wanted: int) -> Codes:
    """Count the claims that each convention prints; -1 if too few, or if it means nothing for one."""
    counts, left = np.zeros(len(near), np.int64), np.arange(len(near))
    for n_more, trial in zip(reversed(range(len(space.trials))), space.trials, strict=True):
        tried = Tried.of(space, trial, near[left])
        counts[left] += tried.prints
        hopeless = np.isnan(tried.values) | (counts[left] + n_more < wanted)
        counts[left[hopeless]] = -1
        left = left[~hopeless]
    return counts


def _distance(ours: Options, theirs: Options) -> int:
    return sum(value != theirs.get(option, SAME) for option, value in ours.items())


# --- what one convention leaves open -----------------------------------------------------------------


def exceptions_to(main: Answer) -> list[Answer]:
    """Return how the claims that an answer leaves open are explained, by changes from it.

    Claims of one row that one convention explains make one exception; those of a row that nothing explains
    make one more, which explains none.
    """
    found = []
    left = [trial for trial in main.trials if trial not in main.explained]
    while left:
        of_row = [trial for trial in left if trial.row == left[0].row]
        nearest = _otherwise(main, "the others", of_row)
        if nearest.explained and not nearest.complete:
            nearest = _otherwise(main, "the others", nearest.explained)
        found.append(nearest)
        left = [trial for trial in left if trial not in nearest.trials]
    return found


def _otherwise(main: Answer, name: str, trials: list[Trial]) -> Answer:
    """Explain claims by changes from an answer, or else as a convention with another name has them."""
    cutoffs = {trial.claim.name: trial.cutoff(main.options) for trial in main.trials}
    ours = NamedConvention(name, "", main.named.measures, main.options)
    near = answers_to(trials, [ours], cutoffs)[0]
    if near.complete:
        return near
    others = answers_to(trials, [ours, *main.space.conventions], cutoffs)
    if len(others[0].explained) <= len(near.explained):
        return near
    least = min(others, key=lambda each: len(changes_of(each.options, ours.at(cutoffs))))
    return Answer(ours, least.options, least.space, least.n_changes)


def doubts_about(main: Answer) -> list[Answer]:
    """Return the claims without which fewer changes explain the others, each as it is explained by more.

    Where arbitrary numbers would be explained as easily, such a claim may as well be a typo.
    """
    simpler: dict[Trial, Options] = {}
    if not main.n_changes or not len(main.trials) > 1 or not main.complete:
        return []
    for _, near in main.space.within(main.n_changes - 1):
        counts = _n_explained(main.space, near, len(main.trials) - 1)
        for convention in map(main.space.convention, near[counts > 0]):
            [left] = [trial for trial in main.trials if not trial.prints(convention)]
            simpler.setdefault(left, convention)
    found = []
    for trial, convention in simpler.items():
        simple = _nearest(main.space, convention)
        other = _otherwise(simple, simple.name, [trial])
        found += [] if other.explained and other.is_clear else [other]
    return found


def _nearest(space: Space[Trial], convention: Options) -> Answer:
    """Return a convention of a space as the answer that is nearest to a named one."""
    distances = [_distance(convention, space.first(base)) for _, base in space.bases]
    return Answer(space.bases[int(np.argmin(distances))][0], convention, space, min(distances))


def nearest_to(trial: Trial, conventions: Sequence[NamedConvention]) -> Options:
    """Return the named convention whose value is nearest to a claim, without what makes no difference."""
    cutoffs = {trial.claim.name: trial.claim.cutoffs[0]}
    bases = [named.at(cutoffs) for named in conventions if named.has(trial.claim.measure)]
    values = [trial.value(base) for base in bases]
    distances = [np.inf if np.isnan(value) else abs(value - float(trial.claim.value)) for value in values]
    value, near = values[least := int(np.argmin(distances))], bases[least]
    return simplified(near, COMMUNITY.at(cutoffs), lambda other: trial.value(other) == value)
