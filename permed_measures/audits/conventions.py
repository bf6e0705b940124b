"""Conventions: settings and choices together, the named ones, and which data tell them apart."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from importlib.resources import files
from typing import Any, Self

from permed_measures.audits.choices import APChoice, Choice, FixedChoice, NDCGChoice
from permed_measures.audits.levels import FChoice, LevelChoice
from permed_measures.audits.options import (
    TEXTS,
    Cutoff,
    Denominator,
    Documents,
    LabelPolicy,
    QuerySet,
    Rank,
    Rounding,
    SelfMatch,
    Weights,
    describe,
    text_of,
    title,
)
from permed_measures.engine.ranks import TieBreak
from permed_measures.papers.claims import FAMILIES, Claim


@dataclass(frozen=True)
class Setting:
    """The options that all measures of a row share."""

    ties: TieBreak = TieBreak.TREC
    queries: QuerySet = QuerySet.QRELS
    labels: LabelPolicy = LabelPolicy.GRADES
    self_match: SelfMatch = SelfMatch.KEPT
    documents: Documents = Documents.ALL
    rounding: Rounding = Rounding.EXACT


def differences(a: Any, b: Any) -> int:
    """Count the options in which two settings, or two choices of a family, differ."""
    return sum(getattr(a, each.name) != getattr(b, each.name) for each in fields(a))


@dataclass(frozen=True)
class Convention:
    """How claims are computed.

    Attributes
    ----------
    setting : Setting
    choices : dict of str to Choice
        By the family of measures.
    cutoffs : dict of str to Rank
        By the name of the claim.
    """

    setting: Setting
    choices: dict[str, Choice]
    cutoffs: dict[str, Rank]

    @property
    def options(self) -> dict[str, Any]:
        """The value of each option; an option belongs to the setting, to one family, or to one claim."""
        parts: list[Any] = [self.setting, *self.choices.values()]
        values = {
            each.name: getattr(part, each.name)
            for part in parts
            if not isinstance(part, FixedChoice)
            for each in fields(part)
        }
        return values | {f"cutoff of {name}": Cutoff(rank) for name, rank in self.cutoffs.items()}

    def changed(self, option: str, value: Any) -> Self:
        """Return the convention with another value of an option."""
        if isinstance(value, Cutoff):
            return replace(self, cutoffs={**self.cutoffs, option.removeprefix("cutoff of "): value.rank})
        change = {option: value}
        if hasattr(self.setting, option):
            return replace(self, setting=replace(self.setting, **change))
        family = next(family for family, choice in self.choices.items() if hasattr(choice, option))
        return replace(self, choices={**self.choices, family: replace(self.choices[family], **change)})

    def changes_from(self, other: Convention, with_users: bool = False) -> list[str]:
        """Return the differences from another convention, perhaps with those who use ours."""
        theirs, texts = other.options, []
        for option, value in self.options.items():
            if value != theirs[option]:
                users = text_of(option, value, "used_by") if with_users else ""
                not_this = describe(option, theirs[option]) + (users and f"; so in {users}")
                texts.append(f"{title(option)}: {describe(option, value)} (not: {not_this})")
        return texts

    def evidence_needed(self, option: str, value: Any) -> tuple[str, ...]:
        """Return the data, any of which would tell another value of an option from ours."""
        if option == "queries":
            ours, theirs = (text_of(option, each, "changed_by") for each in (self.setting.queries, value))
            return tuple(sorted({*ours} ^ {*theirs}))
        if option.startswith("cutoff of "):
            return ("a run with relevant documents beyond the cutoff",)
        ap = self.choices.get("ap")
        binary = isinstance(ap, APChoice) and ap.weights is Weights.BINARY
        if (
            option == "rounding"  # whether it shows depends on the digits, not on the data
            or (option in _GRADED and self.setting.labels in (LabelPolicy.POOL, LabelPolicy.STRICT))
            or (binary and value in (Denominator.GAIN, Denominator.IDEAL))  # the same: each weight is 1
        ):
            return ()
        return (text_of(option, value, "evidence") or TEXTS[option]["evidence"],)


_GRADED = ("weights", "ap_level", "level", "f_level", "gain", "negative")
"""The options that need several grades."""


@dataclass(frozen=True)
class NamedConvention:
    """A convention that people know by a name.

    Attributes
    ----------
    name, source : str
    setting : Setting
    choices : dict of str to Choice
        By the family of measures, ``ap``, ``ndcg``, ``level`` and ``f``; a family that it does not have is
        missing.
    """

    name: str
    source: str
    setting: Setting
    choices: dict[str, Choice]

    def has(self, family: str) -> bool:
        """Return whether it covers a family of measures, or a measure that is written out."""
        return family in self.choices or family not in FAMILIES

    def choice(self, family: str) -> Choice:
        """Return how a family is computed."""
        return self.choices[family] if family in FAMILIES else FixedChoice(family)

    def of(self, claims: Iterable[Claim], cutoffs: dict[str, Rank] | None = None) -> Convention:
        """Return the convention for these claims, with the cutoffs in their names unless others are given."""
        claims = list(claims)
        if cutoffs is None:
            cutoffs = {claim.name: claim.cutoffs[0] for claim in claims}
        return Convention(self.setting, {each.family: self.choice(each.family) for each in claims}, cutoffs)


_KINDS: dict[str, type[Choice]] = {"ap": APChoice, "ndcg": NDCGChoice, "level": LevelChoice, "f": FChoice}


def _read_named() -> Iterator[NamedConvention]:
    text = files("permed_measures.audits").joinpath("named.toml").read_text(encoding="utf-8")
    for each in tomllib.loads(text)["convention"]:
        if "level" in each:
            each.setdefault("f", {})  # who has P and R has F1 of them
        choices = {family: _with(kind(), each[family]) for family, kind in _KINDS.items() if family in each}
        yield NamedConvention(each["name"], each["source"], _with(Setting(), each["setting"]), choices)


def _with(usual: Any, values: dict[str, Any]) -> Any:
    """Return a setting or a choice with these values of its options."""
    options = {option: type(getattr(usual, option))(value) for option, value in values.items()}
    return replace(usual, **options)


NAMED = tuple(_read_named())
"""The named conventions, the community's first."""

COMMUNITY = NAMED[0]
"""The community's default."""
