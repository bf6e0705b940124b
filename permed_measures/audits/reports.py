"""What an audit found, and its report: as text, Markdown and JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from permed_measures.audits.answers import Answer, RowAudit, Told, changes_of_match
from permed_measures.audits.choices import APChoice, Choice, NDCGChoice
from permed_measures.audits.conventions import NAMED, Setting
from permed_measures.audits.matches import ClaimAudit, Match
from permed_measures.audits.options import RecallBase, Weights, says, title
from permed_measures.markup import as_markdown, one_line
from permed_measures.terminal import aligned

__all__ = ["FORMATS", "Audit", "conflicts_of"]

_SHOWN = 3
"""So many single changes are shown for each name of a claim."""
_HEADER = ["claim", "published", "computed", "measure", "conventions"]


@dataclass(frozen=True)
class Audit:
    """The outcome of an audit; ``print`` shows it.

    Attributes
    ----------
    rows : list of RowAudit
        One for each run.
    best : list of Answer
        The named conventions that explain the most claims with the fewest changes.
    exceptions : list of Answer
        What it takes beyond the first of these for the claims that it leaves open, row by row; claims that
        nothing explains stand in an answer that explains none.
    conflicts : list of str
        In what the rows of a table, or the claims of a row, were made differently.
    """

    rows: list[RowAudit]
    best: list[Answer]
    exceptions: list[Answer]
    conflicts: list[str]

    @property
    def answers(self) -> list[Answer]:
        """The named conventions that explain every claim with the fewest changes; empty if none does."""
        return [answer for answer in self.best if answer.complete]

    @property
    def ok(self) -> bool:
        """Whether one convention explains every claim."""
        return bool(self.answers)

    @property
    def n_tried(self) -> int:
        """How many conventions were computed."""
        return sum(claim.n_tried for row in self.rows for claim in row.claims)

    def __str__(self) -> str:
        """Return the report as text."""
        return _as_text(self)


# --- what is said ----------------------------------------------------------------------------------


def conflicts_of(main: Answer, exceptions: list[Answer]) -> list[str]:
    """Return in what the rows of a table, or the claims of a row, were made differently."""
    texts = []
    for answer in exceptions:
        explained = answer.explained
        if explained:
            row = [explained[0].row.name] if _several(main) else []  # an exception is about one row
            names = ", ".join([*row, *(told.claim.claim.name for told in explained)])
            how = [*answer.changes, *_slips(main, explained)]
            texts.append(f"{names}: made differently, by {'; '.join(how)}{_half(answer)}")
    if not texts:
        return []
    what = "The rows were made differently" if _several(main) else "The numbers were made differently"
    return [f"{what}: no single convention fits all of them", *texts]


def _slips(main: Answer, claims: list[Told]) -> list[str]:
    """Return how claims that an answer leaves open would come about by a slip of rounding."""
    texts = []
    for told in claims:
        ours = main.given(told)
        if slip := told.claim.claim.slip(ours.value):
            texts.append(f"or {_name_of(told, main)} is {ours.printed}: {slip}")
    return texts


def _several(main: Answer) -> bool:
    """Return whether the claims are of several rows."""
    return len({told.row.name for told in main.claims}) > 1


def _name_of(told: Told, main: Answer) -> str:
    """Return what a claim is called, with its row if there are several."""
    return f"{told.row.name}, {told.claim.claim.name}" if _several(main) else told.claim.claim.name


def _half(answer: Answer) -> str:
    """Return the remark on the weight g/2 where labels are binary, which happens in practice."""
    ap = answer.choices.get("ap")
    top = max(told.claim.run.ranked[0].labelled.top for told in answer.claims)
    if isinstance(ap, APChoice) and ap.weights is Weights.HALF and top == 1:
        return " (on binary labels that is half of AP: GradedAP takes max_rel=1 there)"
    return ""


def _typed(match: Match) -> str:
    """Return the measure as one would type it."""
    if match.measure is not None:
        return str(match.measure)
    cutoff = "" if match.cutoff is None else f"@{match.cutoff}"
    parts = [f"{match.claim.measure}{cutoff}"]
    if getattr(match.choice, "base", None) is RecallBase.MIN:
        parts.append("over min(R, k)")
    if isinstance(match.choice, NDCGChoice):
        parts.append(
            f"with {match.choice.gain.says}, {match.choice.discount.says}, {match.choice.ideal.says}"
        )
    level = getattr(match.choice, "level", 1)
    return " ".join(parts) + (f", {says(level)}" if level != 1 else "")


def _table(result: Audit) -> list[list[str]]:
    """Return the cells: claim, published, computed, measure, and how many conventions print the claim."""
    several = len(result.rows) > 1
    cells = [["run", *_HEADER] if several else _HEADER]
    explained = {told.claim: answer for answer in result.exceptions for told in answer.explained}
    for told in result.best[0].claims:
        answer = explained.get(told.claim, result.best[0])
        match, claim = answer.given(told), told.claim
        if match.prints_claim:
            shown = [match.printed, _typed(match)]
        else:
            near = [f"nearest: {each.printed} {_typed(each)}" for each in claim.nearest[:1]]
            shown = ["none", *(near or [""])]
        count = f"{claim.n_matches:,} of {claim.n_tried:,}"
        row = [claim.claim.name, claim.claim.text, *shown, count]
        cells.append([told.row.name, *row] if several else row)
    return cells


def _said(result: Audit) -> list[str]:
    """Return what is to be said after the numbers; what is indented belongs to the line before."""
    main, others = result.best[0], result.best[1:]
    lines: list[str] = []
    if main.explained:
        n, of = len(main.explained), len(main.claims)
        what = "all claims" if n == of else f"{n} of {of} claims"
        lines += [f"One convention explains {what}: {main.name}", f"  ({main.named.source})"]
        lines += [f"  change: {change}" for change in main.changes]
        lines += _equals(main, others)
    lines += result.conflicts[:1] + [f"  {text}" for text in result.conflicts[1:]]
    lines += _open(main, result.exceptions)
    if main.explained:
        differences = main.differences_from_default()
        lines += ["Against ir_measures' default", *(f"  {d}" for d in differences)] if differences else []
        lines += ["For the paper", f"  {main.sentence()}", *(f"  ${each}$" for each in main.latex())]
        lines += [*_otherwise(main), *_alike(main)]
    return lines


def _equals(main: Answer, others: list[Answer]) -> list[str]:
    """Return which conventions with a name do as well."""
    if not others:
        return []
    able = [named for named in NAMED if all(named.has(family) for family in main.choices)]
    if len(others) + 1 == len(able):
        return [f"So do all {len(able)} conventions with a name"]
    return ["So do", f"  {'; '.join(other.name for other in others)}"]


def _open(main: Answer, exceptions: list[Answer]) -> list[str]:
    """Return the claims that nothing explains, and what is nearest."""
    lines = []
    for told in (told for answer in exceptions if not answer.explained for told in answer.claims):
        lines.append(f"No convention prints {_name_of(told, main)} as {told.claim.claim.text}; nearest")
        ours = main.given(told)
        near = [
            (match, "; ".join(changes_of_match(match)) or "as by default") for match in told.claim.nearest
        ]
        if main.explained and ours.printed not in {match.printed for match, _ in near}:
            near.append((ours, "by the convention of the others"))
        for match, how in near:
            slip = told.claim.claim.slip(match.value)
            lines.append(f"  {match.printed}, {_typed(match)}: {how}{slip and '; '}{slip}")
    return lines


def _otherwise(main: Answer) -> list[str]:
    """Return which single changes print something else, those first that would hardly be noticed."""
    changes = sorted(main.otherwise(), key=lambda each: abs(each[3].value - float(each[3].claim.value)))
    lines = []
    for name in dict.fromkeys(told.claim.claim.name for told in main.explained):
        said: set[tuple[str, Any]] = set()
        shown: dict[tuple[str, str, float], str] = {}  # values of an axis that print the same share a line
        for axis, value, told, match in changes:
            if told.claim.claim.name == name and (axis, value) not in said:
                said.add((axis, value))
                start = f"  {match.printed} for {_name_of(told, main)}, with {title(axis)}: "
                line = shown.get(same := (axis, told.row.name, match.value))
                shown[same] = f"{line} / {says(value)}" if line else start + says(value)
        lines += list(shown.values())[:_SHOWN]
    return ["It would print", *lines] if lines else []


def _alike(main: Answer) -> list[str]:
    """Return what makes no difference to any claim."""
    lines, plain = [], main.plain()
    for axis, values in main.alike().items():
        everything = isinstance(values[0], Enum) and len(values) == len(type(values[0]))
        names = "any" if everything else " / ".join(says(value) for value in values)
        takes = dict.fromkeys(text for value in values[1:] for text in plain.tells(axis, value))
        lines.append(f"  {title(axis)}: {names}; to tell, it takes {'; or '.join(takes)}")
    return ["Makes no difference on these data", *lines] if lines else []


# --- how it is printed -----------------------------------------------------------------------------


def _as_text(result: Audit) -> str:
    """Return the report as text."""
    table = aligned(_table(result), ("run", "claim", "measure"))
    tried = f"{result.n_tried:,} conventions were computed."
    return "\n".join(map(one_line, [*table, "", *_said(result), "", tried]))


def _as_markdown(result: Audit) -> str:
    header, *cells = [[as_markdown(cell) for cell in row] for row in _table(result)]
    lines = [f"| {' | '.join(row)} |" for row in [header, ["---"] * len(header), *cells]]
    for line in _said(result):
        text = line.strip() if line.startswith("  $") else as_markdown(line)
        lines += [f"- {text}" if line.startswith("  ") else f"\n**{text}**\n"]
    return "\n".join(lines) + "\n"


def _as_json(result: Audit) -> str:
    main = result.best[0]
    content = {
        "ok": result.ok,
        "n_tried": result.n_tried,
        "best": [_answer_json(answer) for answer in result.best],
        "exceptions": [_answer_json(answer) for answer in result.exceptions],
        "conflicts": result.conflicts,
        "sentence": main.sentence() if main.explained else None,
        "latex": main.latex() if main.explained else [],
        "rows": [
            {"run": row.name, "ok": row.ok, "claims": [_claim_json(claim) for claim in row.claims]}
            for row in result.rows
        ],
    }
    return json.dumps(content, ensure_ascii=False, indent=2, default=str) + "\n"


def _claim_json(claim: ClaimAudit) -> dict[str, Any]:
    simplest = claim.simplest
    return {
        "claim": claim.claim.name,
        "published": claim.claim.text,
        "explained": claim.explained,
        "n_tried": claim.n_tried,
        "n_matches": claim.n_matches,
        "simplest": None if simplest is None else _match_json(simplest),
        "matches": [_match_json(match) for match in claim.matches],
        "nearest": [_match_json(match) for match in claim.nearest],
    }


def _match_json(match: Match) -> dict[str, Any]:
    facts = {"measure": _typed(match), "value": match.value, "printed": match.printed}
    return {**facts, **_plain(match.setting), **_plain(match.choice)}


def _answer_json(answer: Answer) -> dict[str, Any]:
    return {
        "name": answer.named.name,
        "source": answer.named.source,
        "changes": answer.changes,
        "complete": answer.complete,
        "explains": [{"run": told.row.name, "claim": told.claim.claim.name} for told in answer.explained],
        "setting": _plain(answer.setting),
        "choices": {family: _plain(choice) for family, choice in answer.choices.items()},
        "cutoffs": answer.cutoffs,
    }


def _plain(value: Setting | Choice) -> dict[str, Any]:
    return {key: each.value if isinstance(each, Enum) else each for key, each in vars(value).items()}


FORMATS: dict[str, Callable[[Audit], str]] = {
    "table": lambda result: f"{result}\n",
    "json": _as_json,
    "markdown": _as_markdown,
}
"""How an audit can be printed."""
