"""The conventions that a row without a run may have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from permed_measures.audits.choices import APChoice, Choice, Labels, NDCGChoice
from permed_measures.audits.conventions import NAMED, Convention, Setting, differences
from permed_measures.audits.levels import FChoice, LevelChoice
from permed_measures.audits.options import Gain, LabelPolicy, QuerySet, Rank, Weights
from permed_measures.audits.tried import choices_of, possible
from permed_measures.limits.row_formulas import unknown_values
from permed_measures.papers.claims import Claim

_USUAL: dict[str, tuple[Choice, ...]] = {
    "ap": (APChoice(), APChoice(weights=Weights.HALF)),
    "ndcg": (NDCGChoice(), NDCGChoice(Gain.EXP)),
    "level": (LevelChoice(),),
    "f": (FChoice(),),
}
"""How each family is computed nearly always; one family may be computed otherwise, the others are so."""
_LEVELS = 4
"""How many relevance levels are tried."""
_SEEN_QUERIES = {QuerySet.BOTH: QuerySet.QRELS, QuerySet.BOTH_WITH_RELEVANT: QuerySet.WITH_RELEVANT}
"""What a query set is if the run has all queries, or those that it lacks score 0."""


def conventions_of(claims: list[Claim], policies: list[Labels]) -> list[Convention]:
    """Return the conventions to try, the community's first.

    Those are the conventions with a name, and all in which one family of measures is computed in any way that
    the audit knows while the others are computed as usual. The name of a measure of ours fixes all: the
    grades are those of the qrels, and all their queries count.
    """
    found: dict[object, Convention] = {}
    as_named = any(claim.is_ours for claim in claims)
    for labels in policies:
        for each in _by_labels(claims, labels):
            key = (each.setting, tuple(each.choices.items()), tuple(each.cutoffs.items()))
            if not as_named or each.setting == Setting():
                found.setdefault(key, each)
    return list(found.values())


def named_left_out(claims: list[Claim]) -> list[list[str]]:
    """Return for each convention with a name that is not tried what is not known of its setting."""
    if any(claim.is_ours for claim in claims):
        return []
    able = (each for each in NAMED if all(each.has(claim.family) for claim in claims))
    return [unknown for each in able if (unknown := unknown_values(each.setting))]


def is_usual(convention: Convention, claims: list[Claim]) -> bool:
    """Return whether every family is computed as usual, of all queries, within the cutoffs of the names."""
    return convention.setting == Setting() and all(
        convention.choices[claim.family] in _USUAL.get(claim.family, (convention.choices[claim.family],))
        and convention.cutoffs[claim.name] == claim.cutoffs[0]
        for claim in claims
    )


def _by_labels(claims: list[Claim], labels: Labels) -> Iterator[Convention]:
    setting = Setting(labels=labels.policy)
    named = {claim.name: claim.cutoffs[0] for claim in claims}
    families = list(dict.fromkeys(claim.family for claim in claims))
    every = {family: _choices(family, labels) for family in families}
    usual = {
        family: [each for each in choices if each in _USUAL.get(family, choices)]
        for family, choices in every.items()
    }
    for choices in _crossed(usual):
        yield Convention(setting, choices, named)
    for family in families:
        for choices in _crossed({**usual, family: every[family]}):
            yield Convention(setting, choices, named)
    yield from _with_a_name(claims, labels)
    if labels.policy is LabelPolicy.GRADES:
        for choices in _crossed(usual):
            yield Convention(replace(setting, queries=QuerySet.WITH_RELEVANT), choices, named)
            yield from (Convention(setting, choices, cutoffs) for cutoffs in _cutoffs(claims))


def _with_a_name(claims: list[Claim], labels: Labels) -> Iterator[Convention]:
    """Yield the conventions with a name; a query that the run lacks scores 0."""
    for each in NAMED:
        known = each.setting.labels is labels.policy and not unknown_values(each.setting)
        if known and all(each.has(claim.family) for claim in claims):
            queries = _SEEN_QUERIES.get(each.setting.queries, each.setting.queries)
            convention = each.of(claims)
            if all(possible(choice, labels) for choice in convention.choices.values()):
                yield replace(convention, setting=Setting(labels=labels.policy, queries=queries))


def _choices(family: str, labels: Labels) -> list[Choice]:
    """Return the ways to compute a family on these labels.

    nDCG, which has the most options, has one change from the usual, and none where grades are changed.
    """
    levels = tuple(dict.fromkeys([1.0, *labels.grades]))[:_LEVELS]
    every = [choice for choice in choices_of(family, levels) if possible(choice, labels)]
    if family != "ndcg":
        return every
    most = 1 if labels.policy is LabelPolicy.GRADES else 0
    return [each for each in every if min(differences(each, other) for other in _USUAL[family]) <= most]


def _crossed(table: dict[str, list[Choice]]) -> Iterator[dict[str, Choice]]:
    for choices in product(*table.values()):
        yield dict(zip(table, choices, strict=True))


def _cutoffs(claims: list[Claim]) -> Iterator[dict[str, Rank]]:
    """Yield the cutoffs that claims may have in spite of their names, one at a time."""
    named = {claim.name: claim.cutoffs[0] for claim in claims}
    for claim in claims:
        for cutoff in claim.cutoffs[1:]:
            yield {**named, claim.name: cutoff}
