"""Answers, chances and nearest values as what JSON can hold."""

from __future__ import annotations

from typing import Any

from permed_measures.audits.answers import Answer
from permed_measures.audits.chance import Chance
from permed_measures.audits.search import Nearest
from permed_measures.audits.trials import Trial


def chance_json(chance: Chance) -> dict[str, Any]:
    """Return how often numbers match by chance."""
    return {**chance._asdict(), "value": chance.value}


def near_json(trial: Trial, near: Nearest) -> dict[str, Any]:
    """Return a value near a claim, and the convention that gives it."""
    facts = {
        "measure": trial.measure(near.options),
        "value": near.value,
        "printed": trial.shown(near.options),
    }
    return {**facts, "options": {option: near.options[option] for option in trial.options}}


def answer_json(answer: Answer) -> dict[str, Any]:
    """Return a convention and what it explains."""
    return {
        "name": answer.named.name,
        "source": answer.named.source,
        "changes": answer.changes,
        "complete": answer.complete,
        "chance": chance_json(answer.chance) if answer.explained else None,
        "explains": [{"run": trial.row, "claim": trial.claim.name} for trial in answer.explained],
        "options": dict(answer.options),
    }
