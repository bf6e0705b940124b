"""One convention for several claims: what it explains, and how it differs from others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from permed_measures.audits.choices import Choice, FixedChoice
from permed_measures.audits.claims import Claim
from permed_measures.audits.conventions import COMMUNITY, NamedConvention, Setting, evidence_needed, unusual
from permed_measures.audits.matches import ClaimAudit, Match, Table
from permed_measures.audits.options import Cutoff, LabelPolicy, QuerySet, Rounding, describe, title, users_of
from permed_measures.audits.run_variants import SETTINGS

_SAME = 1e-12
"""Means that differ by no more than this are one number."""


@dataclass(frozen=True)
class RowAudit:
    """The claims about one run.

    Attributes
    ----------
    name : str
    claims : list of ClaimAudit
    answers : list of Answer
        The named conventions that explain all claims with the fewest changes; empty if none does.
    n_queries : int
        Queries of the qrels.
    """

    name: str
    claims: list[ClaimAudit]
    n_queries: int
    answers: list[Answer] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether one convention explains all claims."""
        return bool(self.answers)


class ClaimInRow(NamedTuple):
    """A claim with its matches, and the row that it is in."""

    row: RowAudit
    claim: ClaimAudit

    @property
    def published(self) -> Claim:
        """The claim as it was published."""
        return self.claim.claim


@dataclass(frozen=True)
class Answer:
    """A convention, and the claims that it should explain.

    Attributes
    ----------
    named : NamedConvention
        The nearest named convention.
    changes : list of str
        The differences from that.
    setting : Setting
    choices : dict of str to Choice
        By the family of measures.
    cutoffs : dict of str to (int or None)
        By the name of the claim.
    claims : list of ClaimInRow
        All claims, explained or not.
    """

    named: NamedConvention
    changes: list[str]
    setting: Setting
    choices: dict[str, Choice]
    cutoffs: dict[str, int | None]
    claims: list[ClaimInRow] = field(repr=False)

    @property
    def name(self) -> str:
        """The name, and the number of changes."""
        n = len(self.changes)
        return self.named.name + (f" with {n} change{'s' if n > 1 else ''}" if n else "")

    def given(self, claim: ClaimInRow) -> Match:
        """Compute a claim by this convention."""
        return given_by(claim.claim, self.setting, self.choices, self.cutoffs)

    @cached_property
    def explained(self) -> list[ClaimInRow]:
        """The claims that this convention prints."""
        return [claim for claim in self.claims if self.given(claim).prints_claim]

    @property
    def complete(self) -> bool:
        """Whether all claims are explained."""
        return len(self.explained) == len(self.claims)

    @cached_property
    def simplified(self) -> Answer:
        """The same, with the default of each option that makes no difference to the explained claims."""
        answer = self
        for option, default in by_option(*_usual(COMMUNITY, self.choices, self.claims)).items():
            other = _with(answer, option, default)
            if other is not None and _same(answer, other):
                answer = other
        return answer

    def differences_from_default(self) -> list[str]:
        """Return the differences from ir_measures' default that matter to the explained claims."""
        answer = self.simplified
        default = _usual(COMMUNITY, answer.choices, answer.claims)
        return changes_of(answer._explained_options, by_option(*default))

    def sentence(self) -> str:
        """Describe the convention as a paper would in its experimental setup."""
        answer = self.simplified
        pooled = answer.setting.labels is LabelPolicy.POOL
        measures = self._explained_measures
        texts = [choice.sentence(measures, pooled) for choice in answer._explained_choices.values()]
        queries = describe(answer.setting.queries)
        if answer.setting.queries is QuerySet.QRELS:
            queries = f"all {self.claims[0].row.n_queries:,} queries of the qrels"
        text = "; ".join(text for text in texts if text)
        sentences = [text, f"the mean is taken over {queries}", *unusual(answer.setting)]
        sentences += answer._unusual_cutoffs()
        return " ".join(f"{_capitalised(each)}." for each in sentences if each)

    def latex(self) -> list[str]:
        """Return the formulas."""
        return [text for choice in self.simplified._explained_choices.values() if (text := choice.latex())]

    def equivalents(self) -> dict[str, list[Any]]:
        """Return by option all values that give the same numbers on these data, where there are several.

        The first value is the convention's own; each of the others was changed alone.
        """
        answer = self.simplified
        ours = answer._explained_options
        found: dict[str, list[Any]] = {}
        for option, value, other in _neighbours(answer):
            if option in ours and answer.evidence_needed(option, value) and _same(answer, other):
                found.setdefault(option, []).append(value)
        return {option: [ours[option], *values] for option, values in found.items()}

    def evidence_needed(self, option: str, value: Any) -> tuple[str, ...]:
        """Return the data that would tell this value of an option from the one of this convention."""
        return evidence_needed(option, value, self._explained_measures, self.setting, self.choices)

    def alternatives(self) -> list[tuple[str, Any, ClaimInRow, Match]]:
        """Return the single changes that print something else: option, new value, claim, and the result."""
        return [
            (option, value, claim, match)
            for option, value, other in _neighbours(self.simplified)
            for claim in self.explained
            if not (match := other.given(claim)).prints_claim and not np.isnan(match.value)
        ]

    @property
    def _explained_measures(self) -> set[str]:
        return {claim.published.measure for claim in self.explained}

    @property
    def _explained_choices(self) -> dict[str, Choice]:
        families = {claim.published.family for claim in self.explained}
        return {family: choice for family, choice in self.choices.items() if family in families}

    @property
    def _explained_options(self) -> dict[str, Any]:
        """The options that an explained claim depends on."""
        names = {claim.published.name for claim in self.explained}
        cutoffs = {name: cutoff for name, cutoff in self.cutoffs.items() if name in names}
        return by_option(self.setting, self._explained_choices, cutoffs)

    def _unusual_cutoffs(self) -> list[str]:
        """Return a sentence for each cutoff other than the one in the name of the measure."""
        usual = claimed(self.explained)
        return [
            f"{name} is computed {'without a cutoff' if cutoff is None else f'within rank {cutoff}'}"
            for name, cutoff in self.cutoffs.items()
            if cutoff != usual.get(name, cutoff)
        ]


def _capitalised(text: str) -> str:
    """Return a sentence with a capital, unless it begins with a name such as nDCG."""
    word = text.split()[0]
    return text[0].upper() + text[1:] if word.islower() else text


# --- a convention by its options ---------------------------------------------------------------------


Cutoffs = dict[str, int | None]


def by_option(setting: Setting, choices: dict[str, Choice], cutoffs: Cutoffs) -> dict[str, Any]:
    """Return the value of each option; an option belongs to the setting, to one family, or to one claim."""
    parts: list[Any] = [setting, *(c for c in choices.values() if not isinstance(c, FixedChoice))]
    values = {each.name: getattr(part, each.name) for part in parts for each in fields(part)}
    return {**values, **{f"cutoff of {name}": Cutoff(cutoff) for name, cutoff in cutoffs.items()}}


def _usual(
    named: NamedConvention, choices: dict[str, Choice], claims: list[ClaimInRow]
) -> tuple[Setting, dict[str, Choice], Cutoffs]:
    """Return a named convention for these families, with the cutoffs that are claimed."""
    return named.setting, {family: named.choice(family) for family in choices}, claimed(claims)


def claimed(claims: list[ClaimInRow]) -> Cutoffs:
    """Return the cutoff in the name of each claim."""
    return {claim.published.name: claim.published.cutoffs[0] for claim in claims}


def changes_of(ours: dict[str, Any], theirs: dict[str, Any], source: bool = True) -> list[str]:
    """Return the differences of a convention from another, both by option, and who uses ours."""
    texts = []
    for option, value in ours.items():
        if value != theirs[option]:
            users = f"; so in {users_of(value)}" if source and users_of(value) else ""
            texts.append(f"{title(option)}: {describe(value)} (not: {describe(theirs[option])}{users})")
    return texts


def changes_of_match(match: Match) -> list[str]:
    """Return the differences of a match from the community's default."""
    family, name = match.claim.family, match.claim.name
    ours = by_option(match.setting, {family: match.choice}, {name: match.cutoff})
    usual = {name: match.claim.cutoffs[0]}
    default = by_option(COMMUNITY.setting, {family: COMMUNITY.choice(family)}, usual)
    return changes_of(ours, default, source=False)


def given_by(claim: ClaimAudit, setting: Setting, choices: dict[str, Choice], cutoffs: Cutoffs) -> Match:
    """Compute a claim by a convention."""
    return claim.at(setting, choices[claim.claim.family], cutoffs[claim.claim.name])


def _with(answer: Answer, option: str, value: Any) -> Answer | None:
    """Return the answer with another value of an option; None if that was not tried."""
    if isinstance(value, Cutoff):
        return replace(answer, cutoffs={**answer.cutoffs, option.removeprefix("cutoff of "): value.rank})
    if hasattr(answer.setting, option):
        return replace(answer, setting=replace(answer.setting, **{option: value}))
    family = next(family for family, choice in answer.choices.items() if hasattr(choice, option))
    changed: dict[str, Any] = {option: value}
    choice = replace(answer.choices[family], **changed)
    if choice not in table_of(answer.claims, family).number:
        return None
    return replace(answer, choices={**answer.choices, family: choice})


def table_of(claims: list[ClaimInRow], family: str) -> Table:
    """Return the first table of a family; all of them have the same choices."""
    return next(claim.claim.table for claim in claims if claim.published.family == family)


def _same(a: Answer, b: Answer) -> bool:
    """Return whether the second prints the claims that the first explains, from the same values."""
    pairs = ((a.given(claim), b.given(claim)) for claim in a.explained)
    return all(abs(ours.value - theirs.value) <= _SAME and theirs.prints_claim for ours, theirs in pairs)


def _neighbours(answer: Answer) -> Iterator[tuple[str, Any, Answer]]:
    """Yield each answer that differs in one option, after the option and its new value."""
    tried: dict[str, set[Any]] = {"queries": set(QuerySet), "rounding": set(Rounding)}
    parts: list[Any] = list(SETTINGS)
    for family in answer.choices:
        parts += table_of(answer.claims, family).choices
    for part in parts:
        for each in fields(part):
            tried.setdefault(each.name, set()).add(getattr(part, each.name))
    for claim in answer.claims:
        tried[f"cutoff of {claim.published.name}"] = {Cutoff(rank) for rank in claim.published.cutoffs}
    for option, ours in by_option(answer.setting, answer.choices, answer.cutoffs).items():
        for value in sorted(tried[option] - {ours}, key=_order):
            if (other := _with(answer, option, value)) is not None:
                yield option, value, other


def _order(value: Any) -> float:
    """Return the place of a value among those of its option."""
    if isinstance(value, Enum):
        return list(type(value)).index(value)
    if isinstance(value, Cutoff):
        return np.inf if value.rank is None else value.rank
    return float(value)
