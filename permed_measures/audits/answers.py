"""One convention for several claims: what it explains, and what is said of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from permed_measures.audits.choices import Choice, FixedChoice
from permed_measures.audits.conventions import COMMUNITY, NamedConvention, Setting, asides, to_tell
from permed_measures.audits.matches import ClaimAudit, Match, Table
from permed_measures.audits.options import Cutoff, Labels, QuerySet, says, title, who
from permed_measures.audits.run_variants import SETTINGS, place_of

__all__ = [
    "Answer",
    "Cutoffs",
    "RowAudit",
    "Told",
    "by_axis",
    "changes_of",
    "changes_of_match",
    "claimed",
    "given_by",
    "table_of",
]

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


class Told(NamedTuple):
    """A claim, and the row that it is in."""

    row: RowAudit
    claim: ClaimAudit


@dataclass(frozen=True)
class Answer:
    """One convention, and the claims that it was looked for.

    Attributes
    ----------
    named : NamedConvention
        The convention with a name that is nearest.
    changes : list of str
        In what it differs from that; empty if it is that.
    setting : Setting
    choices : dict of str to Choice
        By the family of measures.
    cutoffs : dict of str to (int or None)
        By the name of the claim.
    claims : list of Told
        All claims that were to be explained.
    """

    named: NamedConvention
    changes: list[str]
    setting: Setting
    choices: dict[str, Choice]
    cutoffs: dict[str, int | None]
    claims: list[Told] = field(repr=False)

    @property
    def name(self) -> str:
        """The name, and how many changes it takes."""
        n = len(self.changes)
        return self.named.name + (f" with {n} change{'s' if n > 1 else ''}" if n else "")

    def given(self, told: Told) -> Match:
        """Return what a claim is under this convention."""
        return given_by(told.claim, self.setting, self.choices, self.cutoffs)

    def explains(self, told: Told) -> bool:
        """Return whether a claim is printed under this convention."""
        return self.given(told).prints_claim

    @cached_property
    def explained(self) -> list[Told]:
        """The claims that this convention prints."""
        return [told for told in self.claims if self.explains(told)]

    @property
    def complete(self) -> bool:
        """Whether all claims are explained."""
        return len(self.explained) == len(self.claims)

    def plain(self) -> Answer:
        """Return the same with all that makes no difference to the explained claims as by default."""
        answer = self
        for axis, default in by_axis(*_usual(COMMUNITY, self.choices, self.claims)).items():
            other = _with(answer, axis, default)
            if other is not None and _alike(answer, other):
                answer = other
        return answer

    def differences_from_default(self) -> list[str]:
        """Return in what it differs from ir_measures' default, where that makes a difference."""
        answer = self.plain()
        default = _usual(COMMUNITY, answer.choices, answer.claims)
        return changes_of(answer._settled, by_axis(*default))

    def sentence(self) -> str:
        """Return what a paper says in the setup of its experiments."""
        answer = self.plain()
        pooled = answer.setting.labels is Labels.POOL
        texts = [choice.sentence(self._measures, pooled) for choice in answer._settled_choices.values()]
        queries = says(answer.setting.queries)
        if answer.setting.queries is QuerySet.QRELS:
            queries = f"all {self.claims[0].row.n_queries:,} queries of the qrels"
        text = "; ".join(text for text in texts if text)
        sentences = [text, f"the mean is taken over {queries}", *asides(answer.setting)]
        sentences += answer._on_cutoffs()
        return " ".join(f"{_capitalised(each)}." for each in sentences if each)

    def latex(self) -> list[str]:
        """Return the formulas."""
        return [text for choice in self.plain()._settled_choices.values() if (text := choice.latex())]

    def alike(self) -> dict[str, list[Any]]:
        """Return by axis all values that give the same numbers on these data, where there are several.

        The first value is the convention's own; the other ones are each tried alone.
        """
        answer = self.plain()
        ours = answer._settled
        found: dict[str, list[Any]] = {}
        for axis, value, other in _neighbours(answer):
            if axis in ours and answer.tells(axis, value) and _alike(answer, other):
                found.setdefault(axis, []).append(value)
        return {axis: [ours[axis], *values] for axis, values in found.items()}

    def tells(self, axis: str, value: Any) -> tuple[str, ...]:
        """Return what in the data would tell this value of an axis from the one of this convention."""
        return to_tell(axis, value, self._measures, self.setting, self.choices)

    def otherwise(self) -> list[tuple[str, Any, Told, Match]]:
        """Return what would be printed otherwise: axis, its other value, the claim and what it would be."""
        answer = self.plain()
        return [
            (axis, value, told, match)
            for axis, value, other in _neighbours(answer)
            for told in self.explained
            if not (match := other.given(told)).prints_claim and not np.isnan(match.value)
        ]

    @property
    def _measures(self) -> set[str]:
        """What is measured by the claims that are explained."""
        return {told.claim.claim.measure for told in self.explained}

    @property
    def _settled_choices(self) -> dict[str, Choice]:
        """The choices that an explained claim tells of."""
        families = {told.claim.claim.family for told in self.explained}
        return {family: choice for family, choice in self.choices.items() if family in families}

    @property
    def _settled(self) -> dict[str, Any]:
        """The value of each axis that an explained claim tells of."""
        names = {told.claim.claim.name for told in self.explained}
        cutoffs = {name: cutoff for name, cutoff in self.cutoffs.items() if name in names}
        return by_axis(self.setting, self._settled_choices, cutoffs)

    def _on_cutoffs(self) -> list[str]:
        """Return the sentences on cutoffs that are not as the name of the measure says."""
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


# --- a convention by its axes ------------------------------------------------------------------------


Cutoffs = dict[str, int | None]


def by_axis(setting: Setting, choices: dict[str, Choice], cutoffs: Cutoffs) -> dict[str, Any]:
    """Return the value of each axis; each axis belongs to the setting, to one family, or to one claim."""
    parts: list[Any] = [setting, *(c for c in choices.values() if not isinstance(c, FixedChoice))]
    values = {each.name: getattr(part, each.name) for part in parts for each in fields(part)}
    return {**values, **{f"cutoff of {name}": Cutoff(cutoff) for name, cutoff in cutoffs.items()}}


def _usual(
    named: NamedConvention, choices: dict[str, Choice], claims: list[Told]
) -> tuple[Setting, dict[str, Choice], Cutoffs]:
    """Return a convention with a name as it is for these families, with the cutoffs that are claimed."""
    return named.setting, {family: named.choice(family) for family in choices}, claimed(claims)


def claimed(claims: list[Told]) -> Cutoffs:
    """Return the cutoff that the name of each claim says."""
    return {told.claim.claim.name: told.claim.claim.cutoffs[0] for told in claims}


def changes_of(ours: dict[str, Any], theirs: dict[str, Any], source: bool = True) -> list[str]:
    """Return in what a convention differs from another, both by axis, and who does it so."""
    texts = []
    for axis, value in ours.items():
        if value != theirs[axis]:
            so = f"; so in {who(value)}" if source and who(value) else ""
            texts.append(f"{title(axis)}: {says(value)} (not: {says(theirs[axis])}{so})")
    return texts


def changes_of_match(match: Match) -> list[str]:
    """Return in what a match differs from the community's default."""
    family, name = match.claim.family, match.claim.name
    ours = by_axis(match.setting, {family: match.choice}, {name: match.cutoff})
    default = by_axis(COMMUNITY.setting, {family: COMMUNITY.choice(family)}, {name: match.claim.cutoffs[0]})
    return changes_of(ours, default, source=False)


def given_by(claim: ClaimAudit, setting: Setting, choices: dict[str, Choice], cutoffs: Cutoffs) -> Match:
    """Return what a claim is under a convention."""
    r, q = place_of(claim.run, setting)
    c = claim.table.place[choices[claim.claim.family]]
    return claim.at(setting, c, claim.claim.cutoffs.index(cutoffs[claim.claim.name]), r, q)


def _with(answer: Answer, axis: str, value: Any) -> Answer | None:
    """Return the answer with another value of an axis; None if that was not tried."""
    if isinstance(value, Cutoff):
        return replace(answer, cutoffs={**answer.cutoffs, axis.removeprefix("cutoff of "): value.rank})
    if hasattr(answer.setting, axis):
        return replace(answer, setting=replace(answer.setting, **{axis: value}))
    family = next(family for family, choice in answer.choices.items() if hasattr(choice, axis))
    changed: dict[str, Any] = {axis: value}
    choice = replace(answer.choices[family], **changed)
    if choice not in table_of(answer.claims, family).place:
        return None
    return replace(answer, choices={**answer.choices, family: choice})


def table_of(claims: list[Told], family: str) -> Table:
    """Return the first table of a family, whose choices are those of all."""
    return next(told.claim.table for told in claims if told.claim.claim.family == family)


def _alike(a: Answer, b: Answer) -> bool:
    """Return whether two conventions give the claims that the first explains the same values."""
    return all(abs(a.given(told).value - b.given(told).value) <= _SAME for told in a.explained)


def _neighbours(answer: Answer) -> Iterator[tuple[str, Any, Answer]]:
    """Yield what differs from an answer in one axis: the axis, its value, and the answer."""
    tried: dict[str, set[Any]] = {"queries": set(QuerySet)}
    parts: list[Any] = list(SETTINGS)
    for family in answer.choices:
        parts += table_of(answer.claims, family).choices
    for part in parts:
        for each in fields(part):
            tried.setdefault(each.name, set()).add(getattr(part, each.name))
    for told in answer.claims:
        tried[f"cutoff of {told.claim.claim.name}"] = {Cutoff(rank) for rank in told.claim.claim.cutoffs}
    for axis, ours in by_axis(answer.setting, answer.choices, answer.cutoffs).items():
        for value in sorted(tried[axis] - {ours}, key=_order):
            if (other := _with(answer, axis, value)) is not None:
                yield axis, value, other


def _order(value: Any) -> float:
    """Return the place of a value among those of its axis."""
    if isinstance(value, Enum):
        return list(type(value)).index(value)
    if isinstance(value, Cutoff):
        return np.inf if value.rank is None else value.rank
    return float(value)
