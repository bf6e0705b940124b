"""One convention for several claims: what it explains, and how it differs from others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from enum import Enum
from functools import cached_property
from math import comb
from typing import Any

import numpy as np

from permed_measures.audits.chances import Chance, Counting, chance_of_claim, rows_near, with_others
from permed_measures.audits.conventions import COMMUNITY, NAMED, Convention, NamedConvention
from permed_measures.audits.matches import ClaimAudit, Match
from permed_measures.audits.near_numbers import reaches_of
from permed_measures.audits.options import Cutoff, LabelPolicy, QuerySet, Rank, Rounding, describe, text_of
from permed_measures.audits.other_runs import other_means
from permed_measures.audits.tried import SETTINGS

_SAME = 1e-12
"""Means that differ by no more than this are one number."""
_CERTAIN, _LIKELY = 0.001, 0.05
"""The chances up to which an answer is that."""
_DIFFERENT = 0.01
"""The chance up to which numbers count as made differently; above, a typo is as good an explanation."""
_HOPELESS = 0.05
"""Where more arbitrary numbers would be explained, what other runs would have is no matter."""
_DRAWN_FOR_ONE = 1000
"""How many numbers of other runs are drawn for a claim alone."""
_MOST_CHANGES = 2
"""With how many changes they do so at most."""


@dataclass(frozen=True)
class RowAudit:
    """The claims about one run.

    Attributes
    ----------
    name : str
    claims : list of ClaimAudit
    answers : list of Answer
        The named conventions that explain all claims with the fewest changes; empty if none does.
    """

    name: str
    claims: list[ClaimAudit]
    answers: list[Answer]

    @property
    def ok(self) -> bool:
        """Whether one convention explains all claims."""
        return bool(self.answers)


@dataclass(frozen=True)
class Answer(Convention):
    """A convention, and the claims that it should explain.

    Attributes
    ----------
    named : NamedConvention
        The nearest named convention, or that of other claims.
    usual : dict of str to Rank
        By the name of the claim the cutoff that is no change.
    changes : list of str
        The differences from that.
    claims : list of ClaimAudit
        All claims, explained or not.
    """

    named: NamedConvention
    usual: dict[str, Rank]
    changes: list[str]
    claims: list[ClaimAudit] = field(repr=False)

    @property
    def name(self) -> str:
        """The name, and the number of changes."""
        n = len(self.changes)
        return self.named.name + (f" with {n} change{'s' if n > 1 else ''}" if n else "")

    def given(self, claim: ClaimAudit) -> Match:
        """Compute a claim by this convention."""
        published = claim.claim
        return claim.at(self.setting, self.choices[published.family], self.cutoffs[published.name])

    @cached_property
    def explained(self) -> list[ClaimAudit]:
        """The claims that this convention prints."""
        return [claim for claim in self.claims if self.given(claim).prints_claim]

    @property
    def complete(self) -> bool:
        """Whether all claims are explained."""
        return len(self.explained) == len(self.claims)

    @cached_property
    def chance(self) -> Chance:
        """How often other numbers in place of the claims would be explained as well."""
        if not self.explained:
            return Chance(1, 1, len(self.changes))
        rows = rows_near(self.explained, self._counting)
        chance = rows.chance(self._counting, comb(len(self.claims), len(self.explained)))
        if chance.value > _HOPELESS:
            return chance
        drawn = other_means(self, self.claims, reaches_of(self.claims))
        every = rows if self.complete else None
        return with_others(chance, self.claims, self._counting, drawn, len(self.explained), every)

    @property
    def _counting(self) -> Counting:
        bases = NAMED if any(self.named is each for each in NAMED) else (self.named,)
        return Counting(len(self.changes), bases, self.usual)

    @cached_property
    def chances(self) -> list[Chance]:
        """For each explained claim how often another number in its place would be explained alone."""
        if not self.explained:
            return []
        others = other_means(self, self.explained, reaches_of(self.explained), _DRAWN_FOR_ONE)
        return [
            chance_of_claim(claim, None, means) for claim, means in zip(self.explained, others.T, strict=True)
        ]

    @property
    def verdict(self) -> str:
        """How surely the claims were made so: ``certain``, ``likely``, ``may be chance`` or ``none``."""
        if not self.explained:
            return "none"
        words = {"certain": _CERTAIN, "likely": _LIKELY, "may be chance": 1.0}
        return next(word for word, most in words.items() if self.chance.value <= most)

    @property
    def is_clear(self) -> bool:
        """Whether claims were made so rather than mistyped: few changes, which hardly fit by chance."""
        return len(self.changes) <= _MOST_CHANGES and self.chance.value <= _DIFFERENT

    @cached_property
    def simplified(self) -> Answer:
        """The same, with the default of each option that makes no difference to the explained claims."""
        answer = self
        for option, default in COMMUNITY.of(claim.claim for claim in self.claims).options.items():
            other = answer.changed(option, default)
            if answer._same_as(other):
                answer = other
        return answer

    def differences_from_default(self) -> list[str]:
        """Return the differences from ir_measures' default that matter to the explained claims."""
        default = COMMUNITY.of(claim.claim for claim in self.claims)
        return self.simplified._for_explained.changes_from(default, with_users=True)

    def sentence(self) -> str:
        """Describe the convention as a paper would in its experimental setup."""
        part = self.simplified._for_explained
        pooled = part.setting.labels is LabelPolicy.POOL
        texts = [choice.sentence(self._explained_measures, pooled) for choice in part.choices.values()]
        queries = describe("queries", part.setting.queries)
        if part.setting.queries is QuerySet.QRELS:
            queries = f"all {self.claims[0].run.judgments.n_queries:,} queries of the qrels"
        sentences = ["; ".join(text for text in texts if text), f"the mean is taken over {queries}"]
        for option in ("labels", "self_match", "documents", "ties", "rounding"):
            sentences.append(text_of(option, getattr(part.setting, option), "paper"))
        usual = COMMUNITY.of(claim.claim for claim in self.claims).cutoffs
        sentences += [
            f"{name} is computed {'without a cutoff' if cutoff is None else f'within rank {Cutoff(cutoff)}'}"
            for name, cutoff in part.cutoffs.items()
            if cutoff != usual[name]
        ]
        return " ".join(f"{_capitalised(each)}." for each in sentences if each)

    def latex(self) -> list[str]:
        """Return the formulas."""
        choices = self.simplified._for_explained.choices.values()
        return [text for choice in choices if (text := choice.latex())]

    def equivalents(self) -> dict[str, list[Any]]:
        """Return by option all values that give the same numbers on these data, where there are several.

        The first value is the convention's own; each of the others was changed alone.
        """
        answer = self.simplified
        ours = answer._for_explained.options
        found: dict[str, list[Any]] = {}
        for option, value, other in answer._neighbours():
            of = {"base": "R", "over": "P"}.get(option)
            seen = option in ours and (of is None or of in self._explained_measures)
            if seen and answer.evidence_needed(option, value) and answer._same_as(other):
                found.setdefault(option, [ours[option]]).append(value)
        return found

    def alternatives(self) -> list[tuple[str, Any, ClaimAudit, Match]]:
        """Return the single changes that print something else: option, new value, claim, and the result."""
        return [
            (option, value, claim, match)
            for option, value, other in self.simplified._neighbours()
            for claim in self.explained
            if not (match := other.given(claim)).prints_claim and not np.isnan(match.value)
        ]

    @property
    def _explained_measures(self) -> set[str]:
        return {claim.claim.measure for claim in self.explained}

    @property
    def _for_explained(self) -> Convention:
        """The part of the convention that an explained claim depends on."""
        families = {claim.claim.family for claim in self.explained}
        names = {claim.claim.name for claim in self.explained}
        choices = {family: choice for family, choice in self.choices.items() if family in families}
        cutoffs = {name: cutoff for name, cutoff in self.cutoffs.items() if name in names}
        return Convention(self.setting, choices, cutoffs)

    def _same_as(self, other: Answer) -> bool:
        """Return whether another answer prints the claims that this one explains, from the same values."""
        pairs = ((self.given(claim), other.given(claim)) for claim in self.explained)
        return all(abs(ours.value - theirs.value) <= _SAME and theirs.prints_claim for ours, theirs in pairs)

    def _neighbours(self) -> Iterator[tuple[str, Any, Answer]]:
        """Yield each answer that differs in one option, after the option and its new value."""
        tried: dict[str, set[Any]] = {"queries": set(QuerySet), "rounding": set(Rounding)}
        parts: set[Any] = {choice for claim in self.claims for choice in claim.choices}
        for part in (*SETTINGS, *parts):
            for each in fields(part):
                tried.setdefault(each.name, set()).add(getattr(part, each.name))
        for claim in self.claims:
            tried[f"cutoff of {claim.claim.name}"] = {Cutoff(rank) for rank in claim.claim.cutoffs}
        for option, ours in self.options.items():
            for value in sorted(tried[option] - {ours}, key=_order):
                other = self.changed(option, value)
                if parts.issuperset(other.choices.values()):
                    yield option, value, other


def _order(value: Any) -> float:
    """Return the place of a value among those of its option."""
    if isinstance(value, Enum):
        return list(type(value)).index(value)
    if isinstance(value, Cutoff):
        rank = value.rank[0] if isinstance(value.rank, tuple) else value.rank
        return np.inf if rank is None else rank
    return float(value)


def _capitalised(text: str) -> str:
    """Return a sentence with a capital, unless it begins with a name such as nDCG."""
    word = text.split()[0]
    return text[0].upper() + text[1:] if word.islower() else text
