"""What an audit found, and its report: as text, in a notebook, and as frames."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ir_measures.measures import Measure

from permed_measures.audits.answers import Answer, RowAudit
from permed_measures.audits.chances import Chance
from permed_measures.audits.matches import ClaimAudit, Match
from permed_measures.audits.sentences import (
    alternatives,
    by_chance,
    doubts,
    equals,
    equivalents,
    how_surely,
    named,
    not_explained,
    odds,
    typed,
    unexplained,
)
from permed_measures.files.provenance import Origin
from permed_measures.frames import Tabular
from permed_measures.markup import counted, html_section, html_table
from permed_measures.terminal import section, terminal_table


@dataclass(frozen=True)
class Audit(Tabular):
    """The outcome of an audit; ``print`` shows it.

    ``to_polars`` and ``to_pandas`` give a row for each claim: ``run``, ``claim``, ``published``, ``status``
    (explained, made differently, unclear where a typo is as likely, or unexplained), ``value`` and
    ``printed`` (the mean and how it would be printed), ``measure`` (as one would type it), ``convention``
    (the name, null for unexplained claims), ``changes`` from it, how many conventions ``match`` of those
    ``tried``, and ``chance``: how often an arbitrary number near the claim, or that of another run, would be
    explained alone with as few changes. For an unexplained claim, value, measure and changes are those of the
    nearest value, the changes from ir_measures' default.

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
    doubtful : list of Answer
        Claims that only more changes explain, each alone, and that may as well be typos.
    suggestions : list of str
        What to try next for claims that nothing explains.
    origin : Origin or None
        The command and its files.
    changes : list of str
        Of the columns of changes in a printed table, whether they are points or percent.
    notes : list of str
        What of a printed table was left out.
    """

    rows: list[RowAudit]
    best: list[Answer]
    exceptions: list[Answer]
    conflicts: list[str]
    doubtful: list[Answer] = field(default_factory=list)
    suggestions: list[str] = field(default_factory=list)
    origin: Origin | None = field(default=None, repr=False)
    changes: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def answers(self) -> list[Answer]:
        """The named conventions that explain every claim with the fewest changes; empty if none does."""
        return [answer for answer in self.best if answer.complete]

    @property
    def ok(self) -> bool:
        """Whether one convention explains every claim."""
        return bool(self.answers)

    @property
    def verdict(self) -> str:
        """How surely the claims were made so: ``certain``, ``likely``, ``may be chance`` or ``none``."""
        found = self.best[0].verdict
        return "likely" if found == "certain" and self.doubtful else found

    @property
    def chance(self) -> Chance:
        """How often other numbers in place of the claims would be explained as well."""
        return self.best[0].chance

    @property
    def n_tried(self) -> int:
        """How many conventions were computed."""
        return sum(claim.n_tried for row in self.rows for claim in row.claims)

    def __str__(self) -> str:
        """Return the verdict, the measures to type and the sentence for a paper."""
        return as_text(self).rstrip("\n")

    def explain(self) -> str:
        """Return the whole report: also how surely, alternatives, and what these data cannot tell apart."""
        return as_text(self, explain=True).rstrip("\n")

    def __repr__(self) -> str:
        """Say how many claims the best convention explains."""
        main, n_claims = self.best[0], counted(len(self.best[0].claims), "claim")
        found = f"{main.name} explains {len(main.explained):,} of {n_claims}"
        found = found if main.explained else f"nothing explains any of {n_claims}"
        found += f" ({self.verdict})" if main.explained else ""
        return f"<Audit: {found}; {self.n_tried:,} conventions computed>"

    def _repr_html_(self) -> str:
        """Return the report for a notebook."""
        headings, cells = table_of(self)
        verdict, *others = sections_of(self, explain=True)
        parts = [html_section(verdict.heading, verdict.lines, is_open=True)]
        parts.append(html_table(headings, cells, len(headings) - 3))
        return "".join([*parts, *(html_section(each.heading, each.lines) for each in others)])

    def _records(self) -> list[dict[str, Any]]:
        return [record_of(self, claim) for claim in self.best[0].claims]


class Outcome(NamedTuple):
    """What was found for a claim."""

    status: str
    match: Match
    convention: str | None
    changes: list[str]


def outcome_of(result: Audit, claim: ClaimAudit) -> Outcome:
    """Return what was found for a claim."""
    main = result.best[0]
    answer = next((each for each in result.exceptions if claim in each.explained), main)
    match = answer.given(claim)
    if not match.prints_claim:
        match = claim.nearest[0] if claim.nearest else match
        return Outcome("unexplained", match, None, match.changes_from_default())
    changes = answer.changes_from(main.named.of(each.claim for each in answer.claims))
    status = "made differently" if answer.is_clear else "unclear"
    if answer is main:
        status = "unclear" if any(claim in each.claims for each in result.doubtful) else "explained"
    return Outcome(status, match, main.named.name, changes)


def record_of(result: Audit, claim: ClaimAudit) -> dict[str, Any]:
    """Return the row of a frame for a claim."""
    status, match, convention, changes = outcome_of(result, claim)
    alone = chance_alone(result, claim)
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
        "chance": None if alone is None else alone.value,
    }


def chance_alone(result: Audit, claim: ClaimAudit) -> Chance | None:
    """Return how often another number in place of a claim would be explained; None if nothing explains it."""
    for answer in (result.best[0], *result.exceptions):
        if claim in answer.explained:
            return answer.chances[answer.explained.index(claim)]
    return None


def measures_of(result: Audit) -> list[Measure]:
    """Return the measures that were found for the claims."""
    found = (outcome_of(result, claim).match.measure for claim in result.best[0].claims)
    return list(dict.fromkeys(filter(None, found)))


# --- what is said ----------------------------------------------------------------------------------


def table_of(result: Audit) -> tuple[list[str], list[list[str]]]:
    """Return the headings and the cells; the last three columns hold numbers."""
    cells = []
    for claim in result.best[0].claims:
        each = record_of(result, claim)
        shown = [each["measure"], each["published"], each["printed"]]
        chance = "" if each["chance"] is None else odds(each["chance"])
        if each["status"] == "unexplained":
            shown = [f"nearest: {each['printed']} {each['measure']}", each["published"], "none"]
        row = [each["claim"], *shown, chance]
        cells.append([each["run"], *row] if len(result.rows) > 1 else row)
    headings = ["claim", "measure", "published", "computed", "by chance"]
    return ["run", *headings] if len(result.rows) > 1 else headings, cells


class Section(NamedTuple):
    """A part of the report: a heading, the lines below it, and formulas in LaTeX."""

    heading: str
    lines: list[str]
    formulas: list[str] = []  # noqa: RUF012 (nothing is appended to it)


def sections_of(result: Audit, explain: bool = False, with_formulas: bool = False) -> Iterator[Section]:
    """Yield the parts of the report: the verdict, then what stands below the table."""
    main = result.best[0]
    yield _verdict(result)
    found = {
        **dict.fromkeys(result.conflicts[:1], result.conflicts[1:]),
        "Fewer changes explain all claims but one": doubts(main, result.doubtful),
        **unexplained(main, result.exceptions),
    }
    found["What to try next"] = result.suggestions
    if main.explained:
        found["Equally good"] = equals(main, result.best[1:])
    if main.explained and explain:
        found["How surely"] = how_surely(main)
        found["Against ir_measures' default"] = main.differences_from_default()
        found["One change more would print"] = alternatives(main)
        found["Makes no difference on these data"] = equivalents(main)
    found["Columns of changes"] = result.changes
    found["Read from the table"] = result.notes
    for heading, lines in found.items():
        if lines:
            yield Section(heading, lines)
    if main.explained and with_formulas and (formulas := main.latex()):
        yield Section("Formulas", [], formulas)


def _verdict(result: Audit) -> Section:
    main, heading = result.best[0], verdict_of(result)
    if not main.explained:
        return Section(heading, [])
    lines = [] if main.complete else [f"not explained by it: {not_explained(main)}"]
    lines += [main.sentence(), named(main), *(f"change: {change}" for change in main.changes)]
    advice = " Give another claim, or more digits." if result.verdict == "may be chance" else ""
    lines.append(by_chance(result.chance) + advice)
    return Section(heading, lines)


def verdict_of(result: Audit) -> str:
    """Say how surely one convention explains how many claims."""
    main = result.best[0]
    if not main.explained:
        return "No convention explains any claim"
    if main.complete:
        return f"{result.verdict.capitalize()}: one convention explains all claims"
    n, of = len(main.explained), len(main.claims)
    return f"{n:,} of {of:,} claims: one convention explains {'it' if n == 1 else 'them'}, {result.verdict}"


def as_text(result: Audit, explain: bool = False, with_formulas: bool = False) -> str:
    """Write the report for a terminal."""
    headings, cells = table_of(result)
    verdict, *sections = (
        section(heading, [*lines, *(f"${formula}$" for formula in formulas)])
        for heading, lines, formulas in sections_of(result, explain, with_formulas)
    )
    table = terminal_table(headings, cells, len(headings) - 3, spare=["by chance"])
    more = "" if explain or not result.best[0].explained else _MORE
    return "\n".join(
        [verdict, table, "".join(sections), f"{result.n_tried:,} conventions were computed{more}.\n"]
    )


_MORE = ". More: --explain, in Python explain()"
