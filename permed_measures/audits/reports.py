"""What an audit found, and its report: as text, Markdown, JSON and HTML, and as frames."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

from permed_measures.audits.answers import Answer, RowAudit
from permed_measures.audits.choices import Choice
from permed_measures.audits.conventions import Setting
from permed_measures.audits.matches import ClaimAudit, Match
from permed_measures.audits.sentences import alternatives, equals, equivalents, typed, unexplained
from permed_measures.files.provenance import Origin, provenance
from permed_measures.frames import Tabular
from permed_measures.markup import as_json, as_markdown, counted, html_section, html_table
from permed_measures.terminal import section, terminal_table


@dataclass(frozen=True)
class Audit(Tabular):
    """The outcome of an audit; ``print`` shows it.

    ``to_polars`` and ``to_pandas`` give a row for each claim: ``run``, ``claim``, ``published``, ``status``
    (explained, made differently, or unexplained), ``value`` and ``printed`` (the mean and how it would be
    printed), ``measure`` (as one would type it), ``convention`` (the name, null for unexplained claims),
    ``changes`` from it, and how many conventions ``match`` of those ``tried``. For an unexplained claim,
    value, measure and changes are those of the nearest value, the changes from ir_measures' default.

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
    origin : Origin or None
        The command and its files.
    """

    rows: list[RowAudit]
    best: list[Answer]
    exceptions: list[Answer]
    conflicts: list[str]
    origin: Origin | None = field(default=None, repr=False)

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
        return _as_text(self).rstrip("\n")

    def __repr__(self) -> str:
        """Say how many claims the best convention explains."""
        main, n_claims = self.best[0], counted(len(self.best[0].claims), "claim")
        found = f"{main.name} explains {len(main.explained):,} of {n_claims}"
        found = found if main.explained else f"nothing explains any of {n_claims}"
        return f"<Audit: {found}; {self.n_tried:,} conventions computed>"

    def _repr_html_(self) -> str:
        """Return the report for a notebook."""
        headings, cells = _table(self)
        verdict, *others = _sections(self)
        parts = [html_section(verdict.heading, verdict.lines, is_open=True)]
        parts.append(html_table(headings, cells, len(headings) - 3))
        return "".join([*parts, *(html_section(each.heading, each.lines) for each in others)])

    def _records(self) -> list[dict[str, Any]]:
        return [_record(self, claim) for claim in self.best[0].claims]


class _Outcome(NamedTuple):
    """What was found for a claim."""

    status: str
    match: Match
    convention: str | None
    changes: list[str]


def _outcome(result: Audit, claim: ClaimAudit) -> _Outcome:
    main = result.best[0]
    answer = next((each for each in result.exceptions if claim in each.explained), main)
    match = answer.given(claim)
    if not match.prints_claim:
        match = claim.nearest[0] if claim.nearest else match
        return _Outcome("unexplained", match, None, match.changes_from_default())
    changes = answer.changes_from(main.named.of(each.claim for each in answer.claims))
    return _Outcome("explained" if answer is main else "made differently", match, main.named.name, changes)


def _record(result: Audit, claim: ClaimAudit) -> dict[str, Any]:
    status, match, convention, changes = _outcome(result, claim)
    return {
        "run": claim.row,
        "claim": claim.claim.name,
        "published": claim.claim.text,
        "status": status,
        "value": None if math.isnan(match.value) else match.value,
        "printed": match.printed,
        "measure": typed(match),
        "convention": convention,
        "changes": "; ".join(changes),
        "match": claim.n_matches,
        "tried": claim.n_tried,
    }


# --- what is said ----------------------------------------------------------------------------------


def _table(result: Audit) -> tuple[list[str], list[list[str]]]:
    """Return the headings and the cells; the last three columns hold numbers."""
    cells = []
    for each in result._records():
        shown = [each["measure"], each["published"], each["printed"]]
        if each["status"] == "unexplained":
            shown = [f"nearest: {each['printed']} {each['measure']}", each["published"], "none"]
        row = [each["claim"], *shown, f"{each['match']:,} of {each['tried']:,}"]
        cells.append([each["run"], *row] if len(result.rows) > 1 else row)
    headings = ["claim", "measure", "published", "computed", "conventions"]
    return ["run", *headings] if len(result.rows) > 1 else headings, cells


class _Section(NamedTuple):
    """A part of the report: a heading, the lines below it, and formulas in LaTeX."""

    heading: str
    lines: list[str]
    formulas: list[str] = []  # noqa: RUF012 (nothing is appended to it)


def _sections(result: Audit, with_formulas: bool = False) -> Iterator[_Section]:
    """Yield the parts of the report: the verdict, then what stands below the table."""
    main, others = result.best[0], result.best[1:]
    if not main.explained:
        yield _Section("No convention explains any claim", [])
    else:
        n, of = len(main.explained), len(main.claims)
        what = "all claims" if n == of else f"{n} of {of} claims"
        lines = [f"({main.named.source})", *(f"change: {change}" for change in main.changes)]
        yield _Section(f"One convention explains {what}: {main.name}", lines)
    found = {
        "Equally good": equals(main, others) if main.explained else [],
        **dict.fromkeys(result.conflicts[:1], result.conflicts[1:]),
        **unexplained(main, result.exceptions),
    }
    if main.explained:
        found["Against ir_measures' default"] = main.differences_from_default()
        found["For the paper"] = [main.sentence()]
        found["One change more would print"] = alternatives(main)
        found["Makes no difference on these data"] = equivalents(main)
    for heading, lines in found.items():
        formulas = main.latex() if with_formulas and heading == "For the paper" else []
        if lines:
            yield _Section(heading, lines, formulas)


# --- how it is printed -----------------------------------------------------------------------------


def _as_text(result: Audit, with_formulas: bool = False) -> str:
    headings, cells = _table(result)
    verdict, *sections = (
        section(heading, [*lines, *(f"${formula}$" for formula in formulas)])
        for heading, lines, formulas in _sections(result, with_formulas)
    )
    table = terminal_table(headings, cells, len(headings) - 3, spare=["conventions"])
    return "\n".join([verdict, table, "".join(sections), f"{result.n_tried:,} conventions were computed.\n"])


def _as_markdown(result: Audit, with_formulas: bool = False) -> str:
    headings, cells = _table(result)
    verdict, *sections = (
        [
            f"**{as_markdown(heading)}**\n",
            *(f"- {as_markdown(text)}" for text in lines),
            *(f"- ${formula}$" for formula in formulas),
            "",
        ]
        for heading, lines, formulas in _sections(result, with_formulas)
    )
    rows = [[as_markdown(cell) for cell in row] for row in [headings, *cells]]
    sides = ["---"] * (len(headings) - 3) + ["---:"] * 3
    table = [f"| {' | '.join(row)} |" for row in [rows[0], sides, *rows[1:]]]
    return "\n".join([*verdict, *table, "", *(line for each in sections for line in each)])


def _as_json(result: Audit, with_formulas: bool = True) -> str:  # noqa: ARG001 (they are always there)
    main = result.best[0]
    measures = [_outcome(result, claim).match.measure for claim in main.claims]
    origin = provenance(dict.fromkeys(filter(None, measures)), result.origin)
    if main.explained:  # not those of the package
        origin["conventions"] = [main.sentence()]
    content = {
        "ok": result.ok,
        "n_tried": result.n_tried,
        "best": [_answer_json(answer) for answer in result.best],
        "exceptions": [_answer_json(answer) for answer in result.exceptions],
        "conflicts": result.conflicts,
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
    simplest, record = claim.simplest, _record(result, claim)
    return {
        **{key: value for key, value in record.items() if key not in ("run", "match", "tried")},
        "explained": claim.explained,
        "n_tried": claim.n_tried,
        "n_matches": claim.n_matches,
        "simplest": None if simplest is None else _match_json(simplest),
        "matches": [_match_json(match) for match in claim.matches],
        "nearest": [_match_json(match) for match in claim.nearest],
    }


def _match_json(match: Match) -> dict[str, Any]:
    facts = {"measure": typed(match), "value": match.value, "printed": match.printed}
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


AUDIT_FORMATS: dict[str, Callable[..., str]] = {
    "table": _as_text,
    "json": _as_json,
    "markdown": _as_markdown,
}
"""The formats of a report, by name: each takes the audit, and whether formulas are wanted."""
