"""What an audit found, and its report: as text, Markdown and JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from permed_measures.audits.answers import Answer, RowAudit
from permed_measures.audits.choices import APChoice, Choice, NDCGChoice
from permed_measures.audits.conventions import NAMED, Setting
from permed_measures.audits.matches import ClaimAudit, Match
from permed_measures.audits.options import RecallBase, Weights, describe, title
from permed_measures.markup import as_json, as_markdown, one_line
from permed_measures.terminal import aligned

_SHOWN = 3
"""How many single changes are shown for each name of a claim."""
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
        The changes from the first of these that explain the claims it leaves open, row by row; claims that
        nothing explains are in an answer that explains none.
    conflicts : list of str
        How the rows of a table, or the claims of a row, were made differently.
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
    """Describe how the rows of a table, or the claims of a row, were made differently."""
    texts = []
    for answer in exceptions:
        explained = answer.explained
        if explained:
            row = [explained[0].row] if _several(main) else []  # an exception is about one row
            names = ", ".join([*row, *(claim.claim.name for claim in explained)])
            how = [*answer.changes, *_slips(main, explained)]
            texts.append(f"{names}: made differently, by {'; '.join(how)}{_half(answer)}")
    if not texts:
        return []
    what = "The rows were made differently" if _several(main) else "The numbers were made differently"
    return [f"{what}: no single convention fits all of them", *texts]


def _slips(main: Answer, claims: list[ClaimAudit]) -> list[str]:
    """Describe the open claims that an answer prints after a slip of rounding."""
    texts = []
    for claim in claims:
        ours = main.given(claim)
        if slip := claim.claim.slip(ours.value):
            texts.append(f"or {_name_of(claim, main)} is {ours.printed}: {slip}")
    return texts


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


def _typed(match: Match) -> str:
    """Write the measure as one would type it."""
    if match.measure is not None:
        return str(match.measure)
    cutoff = "" if match.cutoff is None else f"@{match.cutoff}"
    parts = [f"{match.claim.measure}{cutoff}"]
    if getattr(match.choice, "base", None) is RecallBase.MIN:
        parts.append("over min(R, k)")
    if isinstance(match.choice, NDCGChoice):
        options = ("gain", "discount", "ideal")
        parts.append(f"with {', '.join(describe(each, getattr(match.choice, each)) for each in options)}")
    level = getattr(match.choice, "level", 1)
    return " ".join(parts) + (f", {describe('level', level)}" if level != 1 else "")


def _table(result: Audit) -> list[list[str]]:
    """Return the cells: claim, published, computed, measure, and how many conventions print the claim."""
    several = len(result.rows) > 1
    cells = [["run", *_HEADER] if several else _HEADER]
    explained = {claim: answer for answer in result.exceptions for claim in answer.explained}
    for claim in result.best[0].claims:
        match = explained.get(claim, result.best[0]).given(claim)
        if match.prints_claim:
            shown = [match.printed, _typed(match)]
        else:
            near = [f"nearest: {each.printed} {_typed(each)}" for each in claim.nearest[:1]]
            shown = ["none", *(near or [""])]
        count = f"{claim.n_matches:,} of {claim.n_tried:,}"
        row = [claim.claim.name, claim.claim.text, *shown, count]
        cells.append([claim.row, *row] if several else row)
    return cells


class _Section(NamedTuple):
    """A part of the report: a heading, the lines below it, and formulas in LaTeX."""

    heading: str
    lines: list[str]
    formulas: list[str] = []  # noqa: RUF012 (nothing is appended to it)


def _sections(result: Audit) -> list[_Section]:
    """Return the parts of the report below the table."""
    main, others = result.best[0], result.best[1:]
    sections: list[_Section] = []
    if main.explained:
        n, of = len(main.explained), len(main.claims)
        what = "all claims" if n == of else f"{n} of {of} claims"
        lines = [f"({main.named.source})", *(f"change: {change}" for change in main.changes)]
        sections.append(_Section(f"One convention explains {what}: {main.name}", lines))
        sections.append(_Section("Equally good", _equals(main, others)))
    sections += [_Section(heading, result.conflicts[1:]) for heading in result.conflicts[:1]]
    sections += _unexplained(main, result.exceptions)
    if main.explained:
        sections += [
            _Section("Against ir_measures' default", main.differences_from_default()),
            _Section("For the paper", [main.sentence()], main.latex()),
            _Section("One change more would print", _alternatives(main)),
            _Section("Makes no difference on these data", _equivalents(main)),
        ]
    return [section for section in sections if section.lines]


def _equals(main: Answer, others: list[Answer]) -> list[str]:
    """Name the other conventions that explain as much with as few changes."""
    able = [named for named in NAMED if all(named.has(family) for family in main.choices)]
    if others and len(others) + 1 == len(able):
        return [f"all {len(able)} named conventions"]
    return ["; ".join(other.name for other in others)] if others else []


def _unexplained(main: Answer, exceptions: list[Answer]) -> list[_Section]:
    """Describe the claims that nothing explains, with the nearest values."""
    sections = []
    for claim in (claim for answer in exceptions if not answer.explained for claim in answer.claims):
        ours = main.given(claim)
        near = [(match, "; ".join(match.changes_from_default()) or "by default") for match in claim.nearest]
        if main.explained and ours.printed not in {match.printed for match, _ in near}:
            near.append((ours, "by the convention of the other claims"))
        lines = []
        for match, how in near:
            slip = claim.claim.slip(match.value)
            lines.append(f"{match.printed}, {_typed(match)}: {how}{slip and '; '}{slip}")
        text = f"No convention prints {_name_of(claim, main)} as {claim.claim.text}; nearest"
        sections.append(_Section(text, lines))
    return sections


def _alternatives(main: Answer) -> list[str]:
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


def _equivalents(main: Answer) -> list[str]:
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


# --- how it is printed -----------------------------------------------------------------------------


def _as_text(result: Audit) -> str:
    """Return the report as text."""
    lines = aligned(_table(result), ("run", "claim", "measure"))
    lines.append("")
    for heading, texts, formulas in _sections(result):
        lines += [heading, *(f"  {text}" for text in texts), *(f"  ${formula}$" for formula in formulas)]
    lines += ["", f"{result.n_tried:,} conventions were computed."]
    return "\n".join(map(one_line, lines))


def _as_markdown(result: Audit) -> str:
    header, *cells = [[as_markdown(cell) for cell in row] for row in _table(result)]
    lines = [f"| {' | '.join(row)} |" for row in [header, ["---"] * len(header), *cells]]
    for heading, texts, formulas in _sections(result):
        lines += [f"\n**{as_markdown(heading)}**\n", *(f"- {as_markdown(text)}" for text in texts)]
        lines += [f"- ${formula}$" for formula in formulas]
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
    return as_json(content, indent=2, default=str) + "\n"


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
    return {**facts, **_values(match.setting), **_values(match.choice)}


def _answer_json(answer: Answer) -> dict[str, Any]:
    return {
        "name": answer.named.name,
        "source": answer.named.source,
        "changes": answer.changes,
        "complete": answer.complete,
        "explains": [{"run": claim.row, "claim": claim.claim.name} for claim in answer.explained],
        "setting": _values(answer.setting),
        "choices": {family: _values(choice) for family, choice in answer.choices.items()},
        "cutoffs": answer.cutoffs,
    }


def _values(value: Setting | Choice) -> dict[str, Any]:
    return {key: each.value if isinstance(each, Enum) else each for key, each in vars(value).items()}


AUDIT_FORMATS: dict[str, Callable[[Audit], str]] = {
    "table": lambda result: f"{result}\n",
    "json": _as_json,
    "markdown": _as_markdown,
}
"""The formats of a report, by name."""
