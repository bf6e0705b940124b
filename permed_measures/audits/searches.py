"""The search for the convention that explains the most claims with the fewest changes."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from permed_measures.audits.answers import (
    Answer,
    ClaimInRow,
    Cutoffs,
    by_option,
    changes_of,
    claimed,
    given_by,
    table_of,
)
from permed_measures.audits.choices import Choice
from permed_measures.audits.conventions import NAMED, NamedConvention, Setting, differences
from permed_measures.audits.matches import ClaimAudit
from permed_measures.audits.options import QuerySet, Rounding
from permed_measures.audits.run_variants import SETTINGS

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

_WORTH = 10**4
"""What an explained claim is worth, in changes: no change is too much to explain one more."""
_IMPOSSIBLE = 10**9
"""What a choice costs that means nothing on these labels: more than all claims are worth."""


def answers_to(
    claims: list[ClaimInRow], conventions: tuple[NamedConvention, ...] = NAMED, usual: Cutoffs | None = None
) -> list[Answer]:
    """Return the named conventions that explain the most claims with the fewest changes.

    Claims of one name have one cutoff; claims of one family are computed in one way.

    Parameters
    ----------
    claims : list of ClaimInRow
    conventions : tuple of NamedConvention
    usual : dict of str to (int or None), optional
        By the name of the claim the cutoff that is no change; those that the names say if left out.
    """
    families = list(dict.fromkeys(claim.published.family for claim in claims))
    usual = claimed(claims) if usual is None else usual
    found = [
        _nearest_to(named, claims, families, usual)
        for named in conventions
        if all(named.has(family) for family in families)
    ]
    least = min(cost for cost, _ in found)
    return [answer for cost, answer in found if cost == least]


def _nearest_to(
    named: NamedConvention, claims: list[ClaimInRow], families: list[str], usual: Cutoffs
) -> tuple[int, Answer]:
    """Return the convention nearest to a named one, and its cost: each explained claim makes it cheaper."""
    total = _changes_from(named.setting)
    best: dict[str, Ints] = {}
    for family in families:
        cost = _costs(named, [claim for claim in claims if claim.published.family == family], usual)
        best[family] = cost.argmin(axis=3)
        total = total + cost.min(axis=3)
    d, s, q = np.unravel_index(total.argmin(), total.shape)
    setting = replace(SETTINGS[s], queries=list(QuerySet)[q], rounding=list(Rounding)[d])
    choices = {family: table_of(claims, family).choices[best[family][d, s, q]] for family in families}
    cutoffs = _best_cutoffs(claims, setting, choices, usual)
    theirs = by_option(named.setting, {family: named.choice(family) for family in families}, usual)
    changes = changes_of(by_option(setting, choices, cutoffs), theirs, source=False)
    return int(total[d, s, q]), Answer(named, changes, setting, choices, cutoffs, claims)


@cache
def _changes_from(base: Setting) -> Ints:
    """Count the changes that each setting is from another: by rounding, setting and query set."""
    changes = [
        differences(replace(setting, queries=queries, rounding=rounding), base)
        for rounding in Rounding
        for setting in SETTINGS
        for queries in QuerySet
    ]
    return np.array(changes, np.int64).reshape(len(Rounding), len(SETTINGS), len(QuerySet))


def _costs(named: NamedConvention, claims: list[ClaimInRow], usual: Cutoffs) -> Ints:
    """Return the cost of each choice of a family, by rounding, setting, query set and choice."""
    table = claims[0].claim.table
    changes = [differences(choice, named.choice(table.claim.family)) for choice in table.choices]
    shape = (len(Rounding), len(SETTINGS), len(QuerySet), 1)
    total: Ints = np.tile(np.array(changes, np.int64), shape)
    possible: Bools = np.zeros((len(SETTINGS), len(changes)), bool)
    for name, same in _by_name(claims).items():
        n_printed: Ints = np.zeros((*shape[:2], *same[0].table.means.shape[1:]), np.int64)
        for claim in same:
            n_printed += claim.table.prints[:, claim.run.of_setting]
            known: Bools = np.logical_or.reduce(np.isfinite(claim.table.means), axis=(1, 3))
            possible |= known[claim.run.of_setting]
        changed = np.array([int(cutoff != usual[name]) for cutoff in same[0].claim.cutoffs])
        total += (changed[:, None, None] - _WORTH * n_printed).min(axis=2).transpose(0, 1, 3, 2)
    total += _IMPOSSIBLE * ~possible[:, None]
    return total


def _by_name(claims: list[ClaimInRow]) -> dict[str, list[ClaimAudit]]:
    """Return the claims under each name."""
    found: dict[str, list[ClaimAudit]] = {}
    for claim in claims:
        found.setdefault(claim.published.name, []).append(claim.claim)
    return found


def _best_cutoffs(
    claims: list[ClaimInRow], setting: Setting, choices: dict[str, Choice], usual: Cutoffs
) -> Cutoffs:
    """Return the cutoff that explains most claims of each name, the usual one if it is as good."""
    found = {}
    for name, same in _by_name(claims).items():
        worth = {}
        for cutoff in same[0].claim.cutoffs:
            given = [given_by(claim, setting, choices, {name: cutoff}) for claim in same]
            worth[cutoff] = sum(match.prints_claim for match in given), cutoff == usual[name]
        found[name] = max(worth, key=lambda cutoff: worth[cutoff])
    return found


def exceptions_to(main: Answer) -> list[Answer]:
    """Return how the claims that an answer leaves open are explained, by changes from it.

    Claims of one row that one convention explains make one exception; those of a row that nothing explains
    make one more, which explains none.
    """
    base = NamedConvention("the others", "", main.setting, main.choices)
    found = []
    left = [claim for claim in main.claims if claim not in main.explained]
    while left:
        of_row = [claim for claim in left if claim.row.name == left[0].row.name]
        [nearest] = answers_to(of_row, (base,), main.cutoffs)
        done = nearest.explained or of_row
        found += answers_to(done, (base,), main.cutoffs)
        left = [claim for claim in left if claim not in done]
    return found
