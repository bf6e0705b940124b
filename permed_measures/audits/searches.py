"""The search for the convention that explains the most claims with the fewest changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from permed_measures.audits.answers import Answer, RowAudit
from permed_measures.audits.choices import Choice
from permed_measures.audits.conventions import NAMED, Convention, NamedConvention, Setting, differences
from permed_measures.audits.matches import ClaimAudit
from permed_measures.audits.options import QuerySet, Rank, Rounding
from permed_measures.audits.tried import SETTINGS, changes_from

Ints = NDArray[np.int64]

_WORTH = 10**4
"""What an explained claim is worth, in changes: no change is too much to explain one more."""
_IMPOSSIBLE = 10**9
"""What a choice costs that is not tried, or means nothing on these labels: more than all claims are worth."""


def answers_to(
    claims: list[ClaimAudit],
    conventions: tuple[NamedConvention, ...] = NAMED,
    usual: dict[str, Rank] | None = None,
) -> list[Answer]:
    """Return the named conventions that explain the most claims with the fewest changes.

    Claims of one name have one cutoff; claims of one family are computed in one way.

    Parameters
    ----------
    claims : list of ClaimAudit
    conventions : tuple of NamedConvention
    usual : dict of str to Rank, optional
        By the name of the claim the cutoff that is no change; those that the names say if left out.
    """
    published = [claim.claim for claim in claims]
    if usual is None:
        usual = {claim.name: claim.cutoffs[0] for claim in published}
    able = [named for named in conventions if all(named.has(claim.family) for claim in published)]
    families = {
        family: [claim for claim in claims if claim.claim.family == family]
        for family in dict.fromkeys(claim.family for claim in published)
    }
    worth = {family: _worth(same, usual) for family, same in families.items()}
    found = [_nearest_to(named, named.of(published, usual), claims, worth) for named in able]
    least = min(cost for cost, _ in found)
    return [answer for cost, answer in found if cost == least]


def _nearest_to(
    named: NamedConvention, theirs: Convention, claims: list[ClaimAudit], worth: dict[str, Ints]
) -> tuple[int, Answer]:
    """Return the convention nearest to a named one, and its cost: each explained claim makes it cheaper."""
    total = changes_from(named.setting)
    costs, tried = {}, {claim.claim.family: claim.choices for claim in claims}
    for family, choice in theirs.choices.items():
        changes = [differences(each, choice) for each in tried[family]]
        costs[family] = worth[family] + np.array(changes, np.int64)
        total = total + costs[family].min(axis=3)
    d, s, q = np.unravel_index(total.argmin(), total.shape)
    setting = replace(SETTINGS[s], queries=list(QuerySet)[q], rounding=list(Rounding)[d])
    choices = {family: tried[family][cost[d, s, q].argmin()] for family, cost in costs.items()}
    ours = Convention(setting, choices, _best_cutoffs(claims, setting, choices, theirs.cutoffs))
    return int(total[d, s, q]), Answer(
        **vars(ours), named=named, usual=theirs.cutoffs, changes=ours.changes_from(theirs), claims=claims
    )


def _worth(claims: list[ClaimAudit], usual: dict[str, Rank]) -> Ints:
    """Return what claims of a family take off the cost: by rounding, setting, query set and choice.

    A changed cutoff costs as any other change.
    """
    n_choices = len(claims[0].choices)
    total: Ints = np.zeros((len(Rounding), len(SETTINGS), len(QuerySet), n_choices), np.int64)
    possible = np.zeros((len(SETTINGS), len(QuerySet), n_choices), bool)
    for name, same in _by_name(claims).items():
        n_printed: Ints = np.sum(
            [claim.prints[:, claim.run.of_setting] & claim.tried for claim in same], axis=0
        )
        for claim in same:
            known = np.logical_or.reduce(np.isfinite(claim.means), axis=(1, 3))[claim.run.of_setting]
            tried = np.logical_or.reduce(claim.tried, axis=1)
            possible |= known[:, None] & tried.transpose(0, 2, 1)
        changed = np.array([int(cutoff != usual[name]) for cutoff in same[0].claim.cutoffs])
        total += (changed[:, None, None] - _WORTH * n_printed).min(axis=2).transpose(0, 1, 3, 2)
    total += _IMPOSSIBLE * ~possible
    return total


def _by_name(claims: list[ClaimAudit]) -> dict[str, list[ClaimAudit]]:
    names = dict.fromkeys(claim.claim.name for claim in claims)
    return {name: [claim for claim in claims if claim.claim.name == name] for name in names}


def _best_cutoffs(
    claims: list[ClaimAudit], setting: Setting, choices: dict[str, Choice], usual: dict[str, Rank]
) -> dict[str, Rank]:
    """Return the cutoff that explains most claims of each name, the usual one if it is as good."""
    found = {}
    for name, same in _by_name(claims).items():
        choice = choices[same[0].claim.family]
        worth = {
            cutoff: (
                sum(claim.at(setting, choice, cutoff).prints_claim for claim in same),
                cutoff == usual[name],
            )
            for cutoff in same[0].claim.cutoffs
        }
        found[name] = max(worth, key=lambda cutoff: worth[cutoff])
    return found


def doubts_about(main: Answer) -> list[Answer]:
    """Return the claims without which fewer changes explain the others, each as it is explained by more.

    Where arbitrary numbers would be explained as easily, such a claim may as well be a typo.
    """
    found: list[Answer] = []
    claims = main.explained
    if not main.changes or not 1 < len(claims) <= _MOST_LEFT_OUT:
        return found
    for claim in claims:
        others = [each for each in claims if each is not claim]
        simpler = answers_to(others, usual=main.usual)[0]
        if simpler.complete and len(simpler.changes) < len(main.changes):
            theirs = {family: main.named.choice(family) for family in main.choices} | simpler.choices
            base = NamedConvention(simpler.name, "", simpler.setting, theirs)
            [answer] = answers_to([claim], (base,), main.usual | simpler.cutoffs)
            found += [] if answer.is_clear else [answer]
    return found


_MOST_LEFT_OUT = 12
"""Of more claims, one that is left out has little weight, and leaving out each takes long."""


def row_of(name: str, claims: list[ClaimAudit]) -> RowAudit:
    """Return the claims about a run with the conventions that explain all of them."""
    return RowAudit(name, claims, [answer for answer in answers_to(claims) if answer.complete])


def exceptions_to(main: Answer) -> list[Answer]:
    """Return how the claims that an answer leaves open are explained, by changes from it.

    Claims of one row that one convention explains make one exception; those of a row that nothing explains
    make one more, which explains none.
    """
    base = NamedConvention("the others", "", main.setting, main.choices)
    found = []
    left = [claim for claim in main.claims if claim not in main.explained]
    while left:
        of_row = [claim for claim in left if claim.row == left[0].row]
        [nearest] = answers_to(of_row, (base,), main.cutoffs)
        done = nearest.explained or of_row
        found += answers_to(done, (base,), main.cutoffs)
        left = [claim for claim in left if claim not in done]
    return found
