"""What an audit found, and the report of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ir_measures.measures import Measure

from permed_measures.audits.answer_json import answer_json, chance_json, match_json
from permed_measures.audits.answers import Answer, RowAudit
from permed_measures.audits.chances import Chance
from permed_measures.audits.matches import ClaimAudit, Match
from permed_measures.audits.near_numbers import n_values_near
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
from permed_measures.files.provenance import Origin, provenance
from permed_measures.markup import counted
from permed_measures.results.how import how_made
from permed_measures.results.report import Report, Result, Section
from permed_measures.results.table import NONE, Table


@dataclass(frozen=True)
class Audit(Result):
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

    def report(self, explain: bool = False) -> Report:
        """Return the verdict, the convention and the measures to type.

        With `explain` also how surely, alternatives, what these data cannot tell apart, and formulas.
        """
        qrels = f"{Path(self.origin.qrels).name}: " if self.origin and self.origin.qrels else ""
        return Report(
            qrels + counted(len(self.best[0].claims), "claim"),
            _finding(self),
            list(_sections(self, explain)),
            self.notes,
            data=partial(_content, self),
            rows=self._records,
            how=partial(_how, self),
        )

    def explain(self) -> str:
        """Return the whole report as text."""
        return self.report(explain=True).to().rstrip("\n")

    def __repr__(self) -> str:
        """Say how many claims the best convention explains."""
        main, n_claims = self.best[0], counted(len(self.best[0].claims), "claim")
        found = f"{main.name} explains {len(main.explained):,} of {n_claims}"
        found = found if main.explained else f"nothing explains any of {n_claims}"
        found += f" ({self.verdict})" if main.explained else ""
        return f"<Audit: {found}; {self.n_tried:,} conventions computed>"

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
    alone = _chance_alone(result, claim)
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


def _chance_alone(result: Audit, claim: ClaimAudit) -> Chance | None:
    """Return how often another number in place of a claim would be explained; None if nothing explains it."""
    for answer in (result.best[0], *result.exceptions):
        if claim in answer.explained:
            return answer.chances[answer.explained.index(claim)]
    return None


# --- what is said ----------------------------------------------------------------------------------


def _finding(result: Audit) -> list[str]:
    """Say how surely one convention explains how many claims, and which it leaves open."""
    main = result.best[0]
    if not main.explained:
        return ["No convention explains any claim."]
    if main.complete:
        found = [f"{result.verdict.capitalize()}: one convention explains all claims."]
    else:
        n, of = len(main.explained), len(main.claims)
        which = "it" if n == 1 else "them"
        found = [f"{n:,} of {of:,} claims: one convention explains {which}, {result.verdict}."]
        found.append(f"Not explained by it: {not_explained(main)}.")
    found.append(by_chance(result.chance))
    return [*found, *(["Give another claim, or more digits."] if result.verdict == "may be chance" else [])]


def _sections(result: Audit, explain: bool) -> Iterator[Section]:
    """Yield the parts of the report: the convention, the claims, and what else is to be said of them."""
    main = result.best[0]
    if main.explained:
        changes = [f"change: {change}" for change in main.changes]
        yield Section("Convention", texts=[main.sentence(), named(main), *changes])
    yield Section("Claims", tables=[_table(result)])
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
    yield from (Section(heading, texts=lines) for heading, lines in found.items() if lines)
    if main.explained and explain and (formulas := main.latex()):
        yield Section("Formulas", code=[f"${formula}$" for formula in formulas])


def _table(result: Audit) -> Table:
    """Return a line for each claim."""
    cells = []
    for each in result._records():
        shown = [each["measure"], each["published"], each["printed"]]
        chance = "" if each["chance"] is None else odds(each["chance"])
        if each["status"] == "unexplained":
            shown = ["no convention", each["published"], NONE]  # the nearest have a section
        cells.append([each["run"], each["claim"], *shown, chance])
    headings = ["run", "claim", "measure", "published", "computed", "by chance"]
    one = len(result.rows) == 1
    return Table.of(
        headings[one:],
        [row[one:] for row in cells],
        3 - one,
        caption=f"Published and computed numbers; {result.n_tried:,} conventions were computed",
        spare=["by chance"],
        label="audit",
    )


# --- other programs --------------------------------------------------------------------------------


def _measures_of(result: Audit) -> list[Measure]:
    """Return the measures that were found for the claims."""
    found = (outcome_of(result, claim).match.measure for claim in result.best[0].claims)
    return list(dict.fromkeys(filter(None, found)))


def _conventions(result: Audit) -> dict[str, Any]:
    """Return the convention that was found, in place of those of the package."""
    main = result.best[0]
    return {"conventions": [main.sentence()]} if main.explained else {}


def _how(result: Audit) -> dict[str, Any]:
    return {**how_made(_measures_of(result), result.origin), **_conventions(result)}


def _content(result: Audit) -> dict[str, Any]:
    """Return what the JSON holds."""
    main = result.best[0]
    return {
        "ok": result.ok,
        "verdict": result.verdict,
        "chance": chance_json(result.chance) if main.explained else None,
        "n_tried": result.n_tried,
        "best": [answer_json(answer) for answer in result.best],
        "exceptions": [answer_json(answer) for answer in result.exceptions],
        "conflicts": result.conflicts,
        "changes": result.changes,
        "notes": result.notes,
        "suggestions": result.suggestions,
        "doubtful": [answer_json(answer) for answer in result.doubtful],
        "sentence": main.sentence() if main.explained else None,
        "latex": main.latex() if main.explained else [],
        "rows": [
            {"run": row.name, "ok": row.ok, "claims": [_claim_json(result, claim) for claim in row.claims]}
            for row in result.rows
        ],
        "provenance": {**provenance(_measures_of(result), result.origin), **_conventions(result)},
    }


def _claim_json(result: Audit, claim: ClaimAudit) -> dict[str, Any]:
    simplest, record, alone = claim.simplest, record_of(result, claim), _chance_alone(result, claim)
    return {
        **{key: value for key, value in record.items() if key not in _NOT_SO},
        "explained": claim.explained,
        "n_tried": claim.n_tried,
        "n_matches": claim.n_matches,
        "n_values_near": n_values_near(claim),
        "chance": None if alone is None else chance_json(alone),
        "simplest": None if simplest is None else match_json(simplest),
        "matches": [match_json(match) for match in claim.matches],
        "nearest": [match_json(match) for match in claim.nearest],
    }


_NOT_SO = ("run", "match", "tried", "chance")
"""The columns of a frame that JSON has in another form."""
