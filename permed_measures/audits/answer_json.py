"""Answers, matches and chances as what JSON can hold."""

from __future__ import annotations

from enum import Enum
from typing import Any

from permed_measures.audits.answers import Answer
from permed_measures.audits.chances import Chance
from permed_measures.audits.choices import Choice
from permed_measures.audits.conventions import Setting
from permed_measures.audits.matches import Match
from permed_measures.audits.sentences import typed


def chance_json(chance: Chance) -> dict[str, Any]:
    """Return how often numbers match by chance, for JSON."""
    return {**chance._asdict(), "value": chance.value}


def match_json(match: Match) -> dict[str, Any]:
    """Return a convention that was tried for a claim, for JSON."""
    facts = {"measure": typed(match), "value": match.value, "printed": match.printed}
    return {**facts, **_values(match.setting), **_values(match.choice)}


def answer_json(answer: Answer) -> dict[str, Any]:
    """Return a convention and what it explains, for JSON."""
    return {
        "name": answer.named.name,
        "source": answer.named.source,
        "changes": answer.changes,
        "complete": answer.complete,
        "chance": chance_json(answer.chance) if answer.explained else None,
        "explains": [{"run": claim.row, "claim": claim.claim.name} for claim in answer.explained],
        "setting": _values(answer.setting),
        "choices": {family: _values(choice) for family, choice in answer.choices.items()},
        "cutoffs": answer.cutoffs,
    }


def _values(value: Setting | Choice) -> dict[str, Any]:
    return {key: each.value if isinstance(each, Enum) else each for key, each in vars(value).items()}
