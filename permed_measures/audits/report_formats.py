"""Formats of the report of an audit: text, Markdown, JSON and a page."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from permed_measures.audits.answers import Answer
from permed_measures.audits.chances import Chance
from permed_measures.audits.choices import Choice
from permed_measures.audits.conventions import Setting
from permed_measures.audits.matches import ClaimAudit, Match
from permed_measures.audits.near_numbers import n_values_near
from permed_measures.audits.page import audit_page
from permed_measures.audits.reports import (
    Audit,
    as_text,
    chance_alone,
    measures_of,
    record_of,
    sections_of,
    table_of,
)
from permed_measures.audits.sentences import typed
from permed_measures.files.provenance import provenance
from permed_measures.markup import as_json, as_markdown


def _as_markdown(result: Audit, explain: bool = False, with_formulas: bool = False) -> str:
    headings, cells = table_of(result)
    verdict, *sections = (
        [
            f"**{as_markdown(heading)}**\n",
            *(f"- {as_markdown(text)}" for text in lines),
            *(f"- ${formula}$" for formula in formulas),
            "",
        ]
        for heading, lines, formulas in sections_of(result, explain, with_formulas)
    )
    rows = [[as_markdown(cell) for cell in row] for row in [headings, *cells]]
    sides = ["---"] * (len(headings) - 3) + ["---:"] * 3
    table = [f"| {' | '.join(row)} |" for row in [rows[0], sides, *rows[1:]]]
    return "\n".join([*verdict, *table, "", *(line for each in sections for line in each)])


def _as_json(result: Audit, explain: bool = True, with_formulas: bool = True) -> str:  # noqa: ARG001 (all is there)
    main = result.best[0]
    origin = provenance(measures_of(result), result.origin)
    if main.explained:  # not those of the package
        origin["conventions"] = [main.sentence()]
    content = {
        "ok": result.ok,
        "verdict": result.verdict,
        "chance": _chance_json(result.chance) if main.explained else None,
        "n_tried": result.n_tried,
        "best": [_answer_json(answer) for answer in result.best],
        "exceptions": [_answer_json(answer) for answer in result.exceptions],
        "conflicts": result.conflicts,
        "changes": result.changes,
        "notes": result.notes,
        "suggestions": result.suggestions,
        "doubtful": [_answer_json(answer) for answer in result.doubtful],
        "sentence": main.sentence() if main.explained else None,
        "latex": main.latex() if main.explained else [],
        "rows": [
            {"run": row.name, "ok": row.ok, "claims": [_claim_json(result, claim) for claim in row.claims]}
            for row in result.rows
        ],
        "provenance": origin,
    }
    return as_json(content, indent=2, default=str) + "\n"


def _claim_json(result: Audit, claim: ClaimAudit) -> dict[str, Any]:
    simplest, record, alone = claim.simplest, record_of(result, claim), chance_alone(result, claim)
    return {
        **{key: value for key, value in record.items() if key not in _NOT_SO},
        "explained": claim.explained,
        "n_tried": claim.n_tried,
        "n_matches": claim.n_matches,
        "n_values_near": n_values_near(claim),
        "chance": None if alone is None else _chance_json(alone),
        "simplest": None if simplest is None else _match_json(simplest),
        "matches": [_match_json(match) for match in claim.matches],
        "nearest": [_match_json(match) for match in claim.nearest],
    }


_NOT_SO = ("run", "match", "tried", "chance")
"""The columns of a frame that JSON has in another form."""


def _chance_json(chance: Chance) -> dict[str, Any]:
    return {**chance._asdict(), "value": chance.value}


def _match_json(match: Match) -> dict[str, Any]:
    facts = {"measure": typed(match), "value": match.value, "printed": match.printed}
    return {**facts, **_values(match.setting), **_values(match.choice)}


def _answer_json(answer: Answer) -> dict[str, Any]:
    return {
        "name": answer.named.name,
        "source": answer.named.source,
        "changes": answer.changes,
        "complete": answer.complete,
        "chance": _chance_json(answer.chance) if answer.explained else None,
        "explains": [{"run": claim.row, "claim": claim.claim.name} for claim in answer.explained],
        "setting": _values(answer.setting),
        "choices": {family: _values(choice) for family, choice in answer.choices.items()},
        "cutoffs": answer.cutoffs,
    }


def _values(value: Setting | Choice) -> dict[str, Any]:
    return {key: each.value if isinstance(each, Enum) else each for key, each in vars(value).items()}


AUDIT_FORMATS: dict[str, Callable[..., str]] = {
    "table": as_text,
    "json": _as_json,
    "markdown": _as_markdown,
    "html": audit_page,
}
"""The formats of a report, by name: each takes the audit, whether to explain, and whether to add formulas."""
