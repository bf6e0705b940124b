"""Joint answers: the conventions that explain several claims at once, and those that nearly do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from permed_measures.conventions import AXES, NAMED, Choice, NamedConvention, QuerySet, Setting, says
from permed_measures.trials import (
    COMMUNITY,
    SAME,
    SETTINGS,
    ClaimAudit,
    Match,
    Table,
    TriedRun,
    differences,
    named_choice,
    place_of,
)

__all__ = ["Answer", "Fit", "RowAudit", "answers_to", "both", "changes_from", "conflicts_of", "fit_of"]

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Answer:
    """One convention that explains all claims.

    Attributes
    ----------
    named : NamedConvention
        The convention with a name that is nearest.
    changes : list of str
        In what it differs from that; empty if it is that.
    setting : Setting
    choices : dict of str to Choice
        By the family of measures.
    """

    named: NamedConvention
    changes: list[str]
    setting: Setting
    choices: dict[str, Choice]

    @property
    def name(self) -> str:
        """The name, and how many changes it takes."""
        n = len(self.changes)
        return self.named.name + (f" with {n} change{'s' if n > 1 else ''}" if n else "")

    @property
    def parts(self) -> list[Any]:
        """The setting and the choices."""
        return [self.setting, *self.choices.values()]

    def differences_from_default(self) -> list[str]:
        """Return in what it differs from ir_measures' default."""
        return changes_from(COMMUNITY, self.setting, self.choices)


def changes_from(named: NamedConvention, setting: Setting, choices: dict[str, Choice]) -> list[str]:
    """Return in what a convention differs from one with a name."""
    pairs: list[tuple[Any, Any]] = [(setting, named.setting)]
    pairs += [(choice, named_choice(named, family)) for family, choice in choices.items()]
    return [
        f"{AXES[each.name][0]}: {says(getattr(ours, each.name))} (not: {says(getattr(theirs, each.name))})"
        for ours, theirs in pairs
        for each in fields(ours)
        if getattr(ours, each.name) != getattr(theirs, each.name)
    ]


# --- joint answers ---------------------------------------------------------------------------------


class Fit(NamedTuple):
    """Which choices of a family fit all its claims: by setting, query set and choice; and at what cost."""

    choices: list[Choice]
    fits: Bools
    cost: NDArray[np.int64]


def fit_of(run: TriedRun, tables: list[Table]) -> Fit:
    """Combine the claims of one family; a cutoff that is not the claimed one costs a change."""
    fits = np.logical_and.reduce([table.prints.any(axis=1) for table in tables])
    cost = np.sum([~table.prints[:, 0] & table.prints.any(axis=1) for table in tables], axis=0)
    order = (run.of_setting, slice(None), slice(None))
    return Fit(tables[0].choices, fits.transpose(0, 2, 1)[order], cost.transpose(0, 2, 1)[order])


def both(a: Fit, b: Fit) -> Fit:
    """Return which choices fit two rows."""
    return Fit(a.choices, a.fits & b.fits, a.cost + b.cost)


def answers_to(fits: dict[str, Fit]) -> list[Answer]:
    """Return the named conventions that explain all with the fewest changes."""
    if not fits:
        return []
    found: list[tuple[int, Answer]] = []
    for named in NAMED:
        total = np.array(
            [[differences(replace(s, queries=q), named.setting) for q in QuerySet] for s in SETTINGS]
        )
        best: dict[str, NDArray[np.int64]] = {}
        for family, fit in fits.items():
            distance = np.array([differences(choice, named_choice(named, family)) for choice in fit.choices])
            each = np.where(fit.fits, distance + fit.cost, _NEVER)
            best[family] = each.argmin(axis=2)
            total = total + each.min(axis=2)
        s, q = np.unravel_index(total.argmin(), total.shape)
        if total[s, q] < _NEVER:
            setting = replace(SETTINGS[s], queries=list(QuerySet)[q])
            choices = {family: fit.choices[best[family][s, q]] for family, fit in fits.items()}
            found.append(
                (int(total[s, q]), Answer(named, changes_from(named, setting, choices), setting, choices))
            )
    least = min((n for n, _ in found), default=0)
    return [answer for n, answer in found if n == least]


_NEVER = 10**6


def _admissible(fits: dict[str, Fit]) -> dict[str, list[Any]]:
    """Return what occurs in any convention that explains all, by axis of the setting and by family."""
    possible = np.logical_and.reduce([fit.fits.any(axis=2) for fit in fits.values()])
    settings = [replace(SETTINGS[s], queries=list(QuerySet)[q]) for s, q in np.argwhere(possible)]
    found: dict[str, list[Any]] = {
        each.name: list(dict.fromkeys(getattr(setting, each.name) for setting in settings))
        for each in fields(Setting)
    }
    for family, fit in fits.items():
        here = np.flatnonzero((fit.fits & possible[:, :, None]).any(axis=(0, 1)))
        found[family] = sorted((fit.choices[c] for c in here), key=partial(_distance, family))
    return found


def _distance(family: str, choice: Choice) -> int:
    return differences(choice, named_choice(COMMUNITY, family))


@dataclass(frozen=True)
class RowAudit:
    """The claims about one run.

    Attributes
    ----------
    name : str
    claims : list of ClaimAudit
    answers : list of Answer
        The named conventions that explain all claims with the fewest changes.
    n_queries : int
        Queries of the qrels.
    """

    name: str
    claims: list[ClaimAudit]
    answers: list[Answer]
    n_queries: int
    fits: dict[str, Fit] = field(repr=False)

    @property
    def ok(self) -> bool:
        """Whether one convention explains all claims."""
        return bool(self.answers)

    def given(self, answer: Answer) -> list[Match]:
        """Return what each claim is under the answer."""
        return [_given(claim, answer.setting, answer.choices[claim.claim.family]) for claim in self.claims]

    def sentence(self, answer: Answer) -> str:
        """Return what a paper says in its setup; what makes no difference here is as by default."""
        alike = self.alike(answer)
        plain = {
            each.name: getattr(COMMUNITY.setting, each.name)
            for each in fields(answer.setting)
            if getattr(COMMUNITY.setting, each.name) in alike.get(each.name, [])
        }
        setting = replace(answer.setting, **plain)
        printed = [each.printed for each in self.given(answer)]
        if [each.printed for each in self.given(replace(answer, setting=setting))] != printed:
            setting = answer.setting  # each alone makes no difference, but together they do
        text = "; ".join(choice.sentence() for choice in answer.choices.values())
        queries = says(setting.queries)
        if setting.queries is QuerySet.QRELS:
            queries = queries.replace("all", f"all {self.n_queries:,}", 1)
        rest = [
            says(getattr(setting, each.name))
            for each in fields(setting)
            if each.name != "queries" and getattr(setting, each.name) != getattr(COMMUNITY.setting, each.name)
        ]
        return f"{text}. The mean is taken over {'; '.join([queries, *rest])}."

    def latex(self, answer: Answer) -> list[str]:
        """Return the formulas."""
        return [text for choice in answer.choices.values() if (text := choice.latex())]

    def otherwise(self, answer: Answer) -> list[tuple[str, Any, Match]]:
        """Return what would be printed otherwise: axis, what is changed, and what the claim would be."""
        found = []
        for axis, value, setting, choices in _neighbours(answer, self.fits):
            for claim, match in zip(self.claims, self.given(answer), strict=True):
                other = _given(claim, setting, choices[claim.claim.family])
                if other.printed != match.printed:
                    found.append((axis, value, other))
        return found

    def alike(self, answer: Answer) -> dict[str, list[Any]]:
        """Return by axis the other values that give the same numbers on these data."""
        found: dict[str, list[Any]] = {}
        given = self.given(answer)
        for axis, value, setting, choices in _neighbours(answer, self.fits):
            others = [_given(claim, setting, choices[claim.claim.family]) for claim in self.claims]
            if all(abs(a.value - b.value) <= SAME for a, b in zip(given, others, strict=True)):
                found.setdefault(axis, []).append(value)
        return found


def _given(claim: ClaimAudit, setting: Setting, choice: Choice) -> Match:
    """Return what a claim is, by the first cutoff that prints it, or by the claimed one."""
    c = claim.table.choices.index(choice)
    r, q = place_of(claim.run, setting)
    prints = np.flatnonzero(claim.table.prints[r, :, c, q])
    return claim.at(setting, c, int(prints[0]) if len(prints) else 0)


def _neighbours(
    answer: Answer, fits: dict[str, Fit]
) -> Iterator[tuple[str, Any, Setting, dict[str, Choice]]]:
    """Yield what differs from an answer in one axis: axis, value, setting and choices."""
    for setting in (replace(s, queries=queries) for s in SETTINGS for queries in QuerySet):
        if axis := _only_difference(setting, answer.setting):
            yield axis, getattr(setting, axis), setting, answer.choices
    for family, fit in fits.items():
        for choice in fit.choices:
            if axis := _only_difference(choice, answer.choices[family]):
                yield axis, getattr(choice, axis), answer.setting, {**answer.choices, family: choice}


def _only_difference(a: Any, b: Any) -> str:
    """Return the axis in which two differ, if it is one alone."""
    names = [each.name for each in fields(a) if getattr(a, each.name) != getattr(b, each.name)]
    return names[0] if len(names) == 1 else ""


_TITLES = {
    **{each.name: AXES[each.name][0] for each in fields(Setting)},
    "ap": "AP convention",
    "ndcg": "nDCG convention",
    "level": "convention of P, R and RR",
}


def conflicts_of(rows: list[RowAudit]) -> list[str]:
    """Return in what rows that are explained one by one do not agree."""
    explained = [row for row in rows if row.ok]
    admissible = {row.name: _admissible(row.fits) for row in explained}
    texts = []
    for axis, title in _TITLES.items():
        values = {name: found[axis] for name, found in admissible.items() if axis in found}
        if len(values) > 1 and not set.intersection(*map(set, values.values())):
            parts = "; ".join(f"{name}: {_said(each[0])}" for name, each in values.items())
            texts.append(f"The rows were made differently: no single {title} fits them ({parts})")
    if not texts and len(explained) > 1:
        names = ", ".join(row.name for row in explained)
        texts.append(f"The rows were made differently: no single convention fits {names} together")
    return texts


def _said(value: Any) -> str:
    return value.sentence() if isinstance(value, Choice) else says(value)
