"""What is said of answers: how claims were made, what else they may be, what cannot be told apart."""

from __future__ import annotations

from enum import Enum
from math import floor, log10
from typing import Any

from permed_measures.audits.answers import Answer
from permed_measures.audits.chances import Chance
from permed_measures.audits.choices import APChoice, NDCGChoice
from permed_measures.audits.conventions import NAMED
from permed_measures.audits.levels import FChoice, LevelChoice
from permed_measures.audits.matches import ClaimAudit, Match
from permed_measures.audits.near_numbers import Window, n_values_near
from permed_measures.audits.options import RARE, FMean, Weights, describe, text_of, title
from permed_measures.markup import counted

_SHOWN = 3
"""How many single changes are shown for each name of a claim."""


def conflicts_of(main: Answer, exceptions: list[Answer]) -> list[str]:
    """Describe how the rows of a table, or the claims of a row, were made differently."""
    clear, unclear = [], []
    for answer in (answer for answer in exceptions if answer.explained):
        explained = answer.explained
        row = [explained[0].row] if _several(main) else []  # an exception is about one row
        names = ", ".join([*row, *(claim.claim.name for claim in explained)])
        how = f"with {'; '.join([*answer.changes, *_slips(main, explained)])}{_half(answer)}"
        if answer.is_clear:
            clear.append(f"{names}, {how}")
        else:
            unclear.append(
                f"{names}: a typo, another run's number, or made {how}. {by_chance(answer.chance)}"
            )
    if not (clear or unclear):
        return []
    what = "rows" if _several(main) else "numbers"
    made = f"The {what} were made differently" if clear else f"A typo, or {what} that were made differently"
    return [f"{made}: no single convention fits all of them", *clear, *unclear]


def doubts(main: Answer, doubtful: list[Answer]) -> list[str]:
    """Say which claims may be typos, as fewer changes explain the others."""
    texts = []
    for answer in doubtful:
        [claim] = answer.claims
        made = (
            f"{_name_of(claim, main)}: a typo, another run's number, or made with {'; '.join(answer.changes)}"
        )
        texts.append(f"{made}. {answer.named.name} explains the others. {by_chance(answer.chance)}")
    return texts


def how_surely(main: Answer) -> list[str]:
    """Say of each explained claim how many numbers near it conventions print."""
    texts = []
    for claim, alone in zip(main.explained, main.chances, strict=True):
        window = Window.of(claim.claim)
        low, high = (
            claim.claim.prints(code / 10**claim.claim.decimals) for code in (window.low, window.high)
        )
        few = counted(alone.most_changes, "change") if alone.most_changes else "no change"
        texts.append(
            f"{_name_of(claim, main)}: of the {window.size:,} numbers from {low} to {high}, "
            f"{claim.n_tried:,} conventions print {n_values_near(claim):,}; named conventions with {few} "
            f"print {alone.n_values:,}, and those are {alone.n_others:,} of {alone.n_drawn:,} numbers of "
            "resampled queries"
        )
    return texts


def by_chance(chance: Chance) -> str:
    """Say how often arbitrary numbers would be explained, and those that other runs would have."""
    text = f"Of arbitrary numbers near these, {odds(chance.of_numbers)} would be explained so"
    if chance.n_drawn:
        n = f"{chance.n_others:,}" if chance.n_others else "none"
        text += f"; of {chance.n_drawn:,} rows of resampled queries, {n}"
    return f"{text}."


def odds(chance: float) -> str:
    """Write a chance as people say it."""
    if chance > _OFTEN:
        return f"{round(chance * 10)} of 10"
    if chance < 1 / _MOST_ODDS:
        return f"fewer than 1 in {_MOST_ODDS:,}"
    n = 1 / chance
    return f"1 in {round(n, 1 - floor(log10(n))):,.0f}"


_OFTEN = 0.25
_MOST_ODDS = 1_000_000


def _slips(main: Answer, claims: list[ClaimAudit]) -> list[str]:
    """Describe the open claims that an answer prints after a slip of rounding."""
    texts = []
    for claim in claims:
        ours = main.given(claim)
        if slip := claim.claim.slip(ours.value):
            texts.append(f"or {_name_of(claim, main)} is {ours.printed}: {slip}")
    return texts


def named(main: Answer) -> str:
    """Say who computes it so, or nearly so: others may as well, and more on these data."""
    return f"On these data the same as {main.name}, among others ({main.named.source})"


def not_explained(main: Answer) -> str:
    """Name the claims that an answer leaves open."""
    left = [_name_of(claim, main) for claim in main.claims if claim not in main.explained]
    more = f" and {len(left) - _SHOWN} more" if len(left) > _SHOWN else ""
    return ("; " if _several(main) else ", ").join(left[:_SHOWN]) + more


def _several(main: Answer) -> bool:
    """Return whether the claims are of several rows."""
    return len({claim.row for claim in main.claims}) > 1


def _name_of(claim: ClaimAudit, main: Answer) -> str:
    """Return the name of a claim, with its row if there are several."""
    return f"{claim.row}, {claim.claim.name}" if _several(main) else claim.claim.name


def _half(answer: Answer) -> str:
    """Warn of weights g/2 on binary labels, a common mistake."""
    ap = answer.choices.get("ap")
    top = max(claim.run.ranked[0].labels.top for claim in answer.claims)
    if isinstance(ap, APChoice) and ap.weights is Weights.HALF and top == 1:
        return " (on binary labels that is half of AP; GradedAP needs max_rel=1 there)"
    return ""


def typed(match: Match) -> str:
    """Write the measure as one would type it."""
    if match.measure is not None:
        return str(match.measure)
    parts = [_with_cutoff(match)]
    if isinstance(match.choice, LevelChoice):
        denominator = match.choice.divisor(match.claim.measure)
        option = "base" if match.claim.measure == "R" else "over"
        parts += [text_of(option, denominator, "short")] if denominator else []
    if isinstance(match.choice, APChoice):
        parts.append(f"over k, {match.choice.weights.value} weights")
    if isinstance(match.choice, FChoice) and match.choice.f_mean is not FMean.QUERIES:
        parts.append(text_of("f_mean", match.choice.f_mean, "short"))
    if isinstance(match.choice, NDCGChoice):
        options = ("gain", "discount", "ideal") + (("tied",) if match.choice.tied in RARE else ())
        parts.append(f"with {', '.join(describe(each, getattr(match.choice, each)) for each in options)}")
    level = getattr(match.choice, "level", getattr(match.choice, "f_level", 1))
    return " ".join(parts) + (f", {describe('level', level)}" if level != 1 else "")


def _with_cutoff(match: Match) -> str:
    """Write the name of the measure with its cutoff, or with both that it has."""
    rank = match.cutoff
    if isinstance(rank, tuple):
        if rank[0] != rank[1]:
            return f"F1 of P@{rank[0]} and R@{rank[1]}"
        rank = rank[0]
    return match.claim.measure + ("" if rank is None else f"@{rank}")


def equals(main: Answer, others: list[Answer]) -> list[str]:
    """Name the other conventions that explain as much with as few changes."""
    able = [named for named in NAMED if all(named.has(family) for family in main.choices)]
    if others and len(others) + 1 == len(able):
        return [f"all {len(able)} named conventions"]
    return ["; ".join(other.name for other in others)] if others else []


def unexplained(main: Answer, exceptions: list[Answer]) -> dict[str, list[str]]:
    """Return the nearest values of each claim that nothing explains, below a heading."""
    sections = {}
    for claim in (claim for answer in exceptions if not answer.explained for claim in answer.claims):
        ours = main.given(claim)
        near = [(match, "; ".join(match.changes_from_default()) or "by default") for match in claim.nearest]
        if main.explained and ours.printed not in {match.printed for match, _ in near}:
            near.append((ours, "by the convention of the other claims"))
        lines = []
        for match, how in near:
            slip = claim.claim.slip(match.value)
            lines.append(f"{match.printed}, {typed(match)}: {how}{slip and '; '}{slip}")
        sections[f"No convention prints {_name_of(claim, main)} as {claim.claim.text}; nearest"] = lines
    return sections


def alternatives(main: Answer) -> list[str]:
    """Describe the single changes that print something else, the smallest differences first."""
    changes = sorted(main.alternatives(), key=lambda each: abs(each[3].value - float(each[3].claim.value)))
    lines = []
    for name in dict.fromkeys(claim.claim.name for claim in main.explained):
        seen: set[tuple[str, Any]] = set()
        shown: dict[tuple[str, str, float], str] = {}  # values of an option that print the same share a line
        for option, value, claim, match in changes:
            if claim.claim.name == name and (option, value) not in seen:
                seen.add((option, value))
                text = describe(option, value)
                start = f"{match.printed} for {_name_of(claim, main)}, with {title(option)}: "
                line = shown.get(same := (option, claim.row, match.value))
                shown[same] = f"{line} / {text}" if line else start + text
        lines += list(shown.values())[:_SHOWN]
    return lines


def equivalents(main: Answer) -> list[str]:
    """Describe the options that make no difference to any claim."""
    lines = []
    for option, values in main.equivalents().items():
        everything = isinstance(values[0], Enum) and len(values) == len(type(values[0]))
        names = "any" if everything else " / ".join(describe(option, value) for value in values)
        needed = dict.fromkeys(
            text for value in values[1:] for text in main.simplified.evidence_needed(option, value)
        )
        lines.append(f"{title(option)}: {names}; distinguishable only with {', or '.join(needed)}")
    return lines
