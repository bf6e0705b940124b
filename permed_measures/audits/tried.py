"""Which conventions are tried: each common value with all others, a rare one alone, and the named ones."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from permed_measures.audits.choices import APChoice, Choice, FixedChoice, Labels, NDCGChoice
from permed_measures.audits.conventions import NAMED, Setting, differences
from permed_measures.audits.levels import FChoice, LevelChoice
from permed_measures.audits.options import (
    RARE,
    Denominator,
    Discount,
    Documents,
    FMean,
    Gain,
    Ideal,
    LabelPolicy,
    Negative,
    PrecisionBase,
    QuerySet,
    RecallBase,
    Rounding,
    SelfMatch,
    TiedGains,
    Weights,
    n_rare,
)
from permed_measures.engine.kernels.checks import MAX_EXPONENT
from permed_measures.engine.ranks import TieBreak
from permed_measures.papers.claims import Claim

Bools = NDArray[np.bool_]
Changes = NDArray[np.int8]

_PLAIN_TIES = (TieBreak.TREC, TieBreak.INPUT)
"""The tie rules of nearly all scripts; a rare value is tried with these only."""


# --- settings ----------------------------------------------------------------------------------------


def _settings() -> list[Setting]:
    """Return all settings except for query set and rounding, which do not change a ranking."""
    common = product(
        [ties for ties in TieBreak if ties not in RARE],
        [QuerySet.QRELS],
        [labels for labels in LabelPolicy if labels not in RARE],
        SelfMatch,
    )
    plain = [Setting(ties) for ties in _PLAIN_TIES]
    rare = [
        *(replace(each, labels=labels) for labels in LabelPolicy if labels in RARE for each in plain),
        *(replace(each, documents=kept) for kept in Documents if kept in RARE for each in plain),
        *(Setting(ties) for ties in TieBreak if ties in RARE),
    ]
    named = [_ranking_of(each.setting) for each in NAMED]
    return list(dict.fromkeys([*(Setting(*each) for each in common), *rare, *named]))


def _ranking_of(setting: Setting) -> Setting:
    """Return the part of a setting that makes a ranking."""
    return replace(setting, queries=QuerySet.QRELS, rounding=Rounding.EXACT)


SETTINGS = _settings()
_NUMBERS = {setting: number for number, setting in enumerate(SETTINGS)}
_QUERY_SETS = list(QuerySet)


def number_of(setting: Setting) -> int | None:
    """Return which of SETTINGS has the ranking of a setting; None if it is not tried."""
    return _NUMBERS.get(_ranking_of(setting))


@cache
def changes_from(base: Setting) -> Changes:
    """Count the changes that each setting is from another: by rounding, setting and query set."""
    changes = [
        differences(replace(setting, queries=queries, rounding=rounding), base)
        for rounding in Rounding
        for setting in SETTINGS
        for queries in QuerySet
    ]
    return np.array(changes, np.int8).reshape(len(Rounding), len(SETTINGS), len(QuerySet))


# --- choices -----------------------------------------------------------------------------------------


def choices_of(family: str, levels: tuple[float, ...]) -> list[Choice]:
    """Return all ways to compute a family of measures, the common ones first.

    With each of them, what it is with one option back to its default is there too: an answer says no more
    than the claims need.
    """
    if family not in _CHOICES:
        return [FixedChoice(family)]
    named = [each.choices[family] for each in NAMED if family in each.choices]
    return list(dict.fromkeys([*_CHOICES[family](levels), *named]))


def _ap_choices(levels: tuple[float, ...]) -> list[Choice]:
    weighted = [(Weights.BINARY, level) for level in levels]
    weighted += [(weights, 1.0) for weights in (Weights.LINEAR, Weights.HALF, Weights.EXP)]
    common = [denominator for denominator in Denominator if denominator not in RARE]
    over_k = (Weights.BINARY, Weights.LINEAR, Weights.HALF)
    return [
        *(APChoice(denominator, *each) for denominator in common for each in weighted),
        *(APChoice(Denominator.CUTOFF, weights) for weights in over_k),
        *(APChoice(denominator, Weights.CAPPED) for denominator in (Denominator.NUM_REL, Denominator.NONE)),
    ]


def _ndcg_choices(_: tuple[float, ...]) -> list[Choice]:
    ideals = [ideal for ideal in Ideal if ideal not in RARE]
    common = [NDCGChoice(*each) for each in product(Gain, Discount, ideals, Negative)]
    rare = [
        *(NDCGChoice(gain, ideal=ideal) for ideal in (Ideal.UNCUT, Ideal.RETURNED) for gain in Gain),
        *(NDCGChoice(gain, ideal=Ideal.FULL) for gain in (Gain.LINEAR, Gain.BINARY)),
        *(NDCGChoice(gain, ideal=i, tied=TiedGains.AVERAGED) for i in ideals[:2] for gain in Gain),
    ]
    # where each relevant document gains 1, negative grades gain nothing anyway
    return [each for each in [*common, *rare] if (each.gain, each.negative) != (Gain.BINARY, Negative.KEEP)]


def _level_choices(levels: tuple[float, ...]) -> list[Choice]:
    common = [base for base in RecallBase if base not in RARE]
    return [
        *(LevelChoice(level, base) for level in levels for base in common),
        *(LevelChoice(level, base) for level in levels for base in RecallBase if base in RARE),
        *(LevelChoice(level, over=over) for level in levels for over in PrecisionBase if over in RARE),
        *(LevelChoice(level, RecallBase.MICRO, PrecisionBase.MICRO) for level in levels),
    ]


def _f_choices(levels: tuple[float, ...]) -> list[Choice]:
    return [FChoice(level, mean) for level in levels for mean in FMean]


_CHOICES = {"ap": _ap_choices, "ndcg": _ndcg_choices, "level": _level_choices, "f": _f_choices}


def possible(choice: Choice, labels: Labels) -> bool:
    """Return whether a choice can be computed on these labels."""
    levels = {vars(choice).get(option, 1) for option in ("ap_level", "level", "f_level")}
    if labels.policy in (LabelPolicy.POOL, LabelPolicy.STRICT) and levels != {1}:
        return False  # where all that are relevant are alike, there is one grade
    if max(levels) > labels.top:
        return False
    weights = vars(choice).get("weights")
    if weights is Weights.HALF:
        return labels.top <= _HIGHEST_HALF
    if weights is Weights.CAPPED:
        return labels.top > _CAPPED_FROM  # else it is g/2
    exponential = Weights.EXP in vars(choice).values() or Gain.EXP in vars(choice).values()
    return not exponential or labels.top <= MAX_EXPONENT


_HIGHEST_HALF = 3
"""The highest grade that scripts for grades 0/1/2 are run on, with weights up to 1.5."""
_CAPPED_FROM = 2


# --- both together -----------------------------------------------------------------------------------


def tried_with(claim: Claim, choices: list[Choice]) -> Bools:
    """Return which conventions are tried for a claim: by setting, cutoff, choice and query set.

    Common values go with all common ones. A rare value of the setting goes with the choices that named
    conventions have, a rare choice, or an nDCG or RR whose cutoff is not the one in its name, with plain
    settings; two rare values only go together where a convention has a name for that.
    """
    rare, single, plain = _of_settings()
    off = np.array([claim.measure in _CUT_AS_NAMED and each != claim.cutoffs[0] for each in claim.cutoffs])
    off &= claim.cutoffs[0] is not None  # without a cutoff in the name, all are as good
    rare_choice = np.array([n_rare(choice) > 0 for choice in choices]) | off[:, None]
    named = {each.choice(claim.family) for each in NAMED if each.has(claim.family)}
    usual = np.array([choice in named for choice in choices]) & ~rare_choice
    lone = rare_choice & _lone(choices, off)
    found = _crossed(~rare, ~rare_choice) | _crossed(single, usual) | _crossed(plain, lone)
    for each in NAMED:
        if each.has(claim.family) and each.choice(claim.family) in choices:
            q, theirs = _QUERY_SETS.index(each.setting.queries), each.choice(claim.family)
            for choice in (theirs, _for_measure(theirs, claim.measure)):
                found[_NUMBERS[_ranking_of(each.setting)], 0, choices.index(choice), q] = True
    return found


def _for_measure(choice: Choice, measure: str) -> Choice:
    """Return a choice with the usual denominators of other measures."""
    if not isinstance(choice, LevelChoice):
        return choice
    others = {"base": "R", "over": "P"}
    usual = {option: getattr(LevelChoice(), option) for option, of in others.items() if of != measure}
    return replace(choice, **usual)


_CUT_AS_NAMED = ("nDCG", "RR")


def _crossed(settings: Bools, choices: Bools) -> Bools:
    return settings[:, None, None, :] & choices[None, :, :, None]


def _lone(choices: list[Choice], off: Bools) -> Bools:
    """Return which choices have one rare value at most, the cutoff being one."""
    alike = (RecallBase.MICRO, PrecisionBase.MICRO)  # P and R of one table: one way to average them
    counts = [1 if {*alike} <= {*vars(each).values()} else n_rare(each) for each in choices]
    return np.array(counts) + off[:, None] <= 1


@cache
def _of_settings() -> tuple[Bools, Bools, Bools]:
    """Return by setting and query set: is any value rare; one, and all else plain; is it plain."""
    every = [[replace(setting, queries=queries) for queries in QuerySet] for setting in SETTINGS]
    n = np.array([[n_rare(each) for each in row] for row in every])
    plain = np.array([[_is_plain(each) for each in row] for row in every])
    return n > 0, (n == 1) & plain, (n == 0) & plain


def _is_plain(setting: Setting) -> bool:
    """Return whether all values that are not rare are those of nearly all scripts."""
    usual = (*_PLAIN_TIES, LabelPolicy.GRADES, SelfMatch.KEPT, Documents.ALL)
    values = (getattr(setting, each.name) for each in fields(setting))
    return all(v in usual or v in RARE or isinstance(v, (QuerySet, Rounding)) for v in values)
