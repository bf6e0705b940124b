"""What an audit found, and the report of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

from ir_measures.measures import Measure

from permed_measures.auditing.answers import ExplainingConvention
from permed_measures.auditing.false_matches import FalseMatchRate
from permed_measures.auditing.measured_claims import MeasuredClaim
from permed_measures.auditing.messages import (
    chances,
    doubts,
    elsewhere,
    equals,
    equivalents,
    made_otherwise,
    named,
    no_difference,
    not_explained,
    unexplained,
)
from permed_measures.auditing.search import nearest_to
from permed_measures.conventions.describe import measure_of
from permed_measures.conventions.named import COMMUNITY
from permed_measures.conventions.options import Convention, changes_of, describe
from permed_measures.conventions.ranking_variants import options_for
from permed_measures.escaping import pluralize
from permed_measures.provenance import Origin, provenance
from permed_measures.results.report import Report, Result, Section, how_made
from permed_measures.results.table import NONE, Cell, Table


@dataclass(frozen=True)
class Audit(Result):
    """The outcome of an audit; ``print`` shows it.

    ``to_polars`` and ``to_pandas`` give a row for each claim: ``run``, ``claim``, ``published``, ``status``
    (explained, made differently, unclear where a typo is as likely, or unexplained), ``value`` and
    ``printed`` (the mean and how it would be printed), ``measure`` (as one would type it), ``convention``
    (the name, null for unexplained claims), and ``changes`` from it. For an unexplained claim, value, measure
    and changes are those by ``nearest``, the changes from ir_measures' default.

    Attributes
    ----------
    best : list of Answer
        The named conventions that explain the most claims with the fewest changes.
    exceptions : list of Answer
        The changes from the first of these that explain the claims it leaves open, row by row; claims that
        nothing explains are in an answer that explains none.
    conflicts : list of str
        How the rows of a table, or the claims of a row, were made differently.
    doubtful : list of Answer
        Claims that only more changes explain, each alone, and that may as well be typos.
    other_names : dict of str to list of str
        By the name of claims that only changes explain, the measures that have their numbers without any,
        if that holds for all claims.
    ties : list of str
        Which claims that only rounding explains, or nothing, lie within what other orders of equal scores
        give.
    swap : str
        Which columns or rows of a table have each other's numbers; they were exchanged then.
    counts : list of str
        Columns that nothing explains: of what cutoff, or how many topics, they are whole numbers.
    origin : Origin or None
        The command and its files.
    changes : list of str
        Of the columns of changes in a printed table, whether they are points or percent.
    notes : list of str
        What of a printed table was left out.
    """

    best: list[ExplainingConvention]
    exceptions: list[ExplainingConvention]
    conflicts: list[str]
    doubtful: list[ExplainingConvention] = field(default_factory=list)
    other_names: dict[str, list[str]] = field(default_factory=dict)
    ties: list[str] = field(default_factory=list)
    swap: str = ""
    counts: list[str] = field(default_factory=list)
    origin: Origin | None = field(default=None, repr=False)
    changes: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def main(self) -> ExplainingConvention:
        """The first of the best."""
        return self.best[0]

    @property
    def trials(self) -> list[MeasuredClaim]:
        """The claims of all rows."""
        return self.main.trials

    @property
    def answers(self) -> list[ExplainingConvention]:
        """The named conventions that explain every claim with the fewest changes; empty if none does."""
        return [answer for answer in self.best if answer.complete]

    @property
    def ok(self) -> bool:
        """Whether one convention explains every claim, where it stands."""
        return bool(self.answers) and not self.swap

    @property
    def verdict(self) -> str:
        """How surely the claims were made so: ``certain``, ``likely``, ``may be chance`` or ``none``."""
        found = self.main.verdict
        or_ties = self.ties and self.main.complete
        return "likely" if found == "certain" and (self.doubtful or self.other_names or or_ties) else found

    @property
    def chance(self) -> FalseMatchRate:
        """How often other numbers in place of the claims would be explained as well."""
        return self.main.chance

    @property
    def unclear(self) -> list[MeasuredClaim]:
        """The claims that nothing explains, or only what may be chance."""
        found = (each for each in self.exceptions if not (each.explained and each.is_clear))
        return [trial for each in found for trial in each.trials]

    @cached_property
    def nearest(self) -> dict[MeasuredClaim, Convention]:
        """The convention of the other claims, or else a named one with the nearest value, by open claim."""
        left = (trial for each in self.exceptions if not each.explained for trial in each.trials)
        main = self.main
        return {
            trial: main.convention if main.explained else nearest_to(trial, main.space.conventions)
            for trial in left
        }

    def report(self) -> Report:
        """Return the verdict, the convention, the measures to type, and what else fits."""
        qrels = f"{Path(self.origin.qrels).name}: " if self.origin and self.origin.qrels else ""
        return Report(
            qrels + pluralize(len(self.trials), "claim"),
            _finding(self),
            list(_sections(self)),
            self.notes,
            data=partial(_content, self),
            rows=self._records,
            how=partial(_how, self),
        )

    def __repr__(self) -> str:
        """Say how many claims the best convention explains."""
        main, n_claims = self.main, pluralize(len(self.trials), "claim")
        found = f"{main.name} explains {len(main.explained):,} of {n_claims}"
        return f"<Audit: {found if main.explained else f'nothing explains any of {n_claims}'}>"

    def _records(self) -> list[dict[str, Any]]:
        return [claim_record(self, trial) for trial in self.trials]


class Outcome(NamedTuple):
    """What was found for a claim: its convention, or one that gives another value."""

    status: str
    convention: Convention
    name: str | None
    changes: list[str]


def outcome_of(result: Audit, trial: MeasuredClaim) -> Outcome:
    """Return what was found for a claim."""
    main = result.main
    answer = next((each for each in result.exceptions if trial in each.explained), main)
    if not trial.prints(answer.convention):
        nearest = result.nearest[trial]
        of_claim = {trial.measure: {each: nearest[trial.measure][each] for each in trial.options}}
        return Outcome("unexplained", nearest, None, changes_of(of_claim, COMMUNITY.at([trial])))
    base = main.named.at(answer.trials)
    status = "made differently" if answer.is_clear else "unclear"
    if answer is main:
        status = "unclear" if any(trial in each.trials for each in result.doubtful) else "explained"
    return Outcome(status, answer.convention, main.named.name, changes_of(answer.convention, base))


def claim_record(result: Audit, trial: MeasuredClaim) -> dict[str, Any]:
    """Return the row of a frame for a claim."""
    status, convention, name, changes = outcome_of(result, trial)
    value = trial.value(convention)
    return {
        "run": trial.row,
        "claim": trial.claim.name,
        "published": trial.cell,
        "status": status,
        "value": None if math.isnan(value) else value,
        "printed": trial.printed_value(convention),
        "measure": trial.typed(convention),
        "convention": name,
        "changes": "; ".join(changes),
    }


# --- what is said ----------------------------------------------------------------------------------

_MAX_OTHER_NAMES = 3
"""How many other names of a claim are said."""


def _finding(result: Audit) -> list[str]:
    """Say how surely one convention explains how many claims, and which it leaves open."""
    main = result.main
    if not main.explained:
        return ["No convention explains any claim.", *result.ties[:_MAX_OTHER_NAMES]]
    if main.complete:
        found = [f"{result.verdict.capitalize()}: {main.sentence()}."]
    else:
        n, of = len(main.explained), len(main.trials)
        found = [f"{n:,} of {of:,} claims, {result.verdict}: {main.sentence()}."]
        typo = _typo_in(result)
        left = f"{typo}." if typo else f"Not explained by it: {not_explained(main)}."
        found += [
            *result.ties[:_MAX_OTHER_NAMES],
            f"If that is not why, {left}" if typo and result.ties else left,
        ]
    found += [
        f"But {name} has the numbers of {' or '.join(others[:_MAX_OTHER_NAMES])}, and no change is "
        f"needed then."
        for name, others in result.other_names.items()
    ]
    found += [f"But {text}" for text in result.ties if main.complete]
    if result.swap:
        found.insert(0, f"It seems that {result.swap}. Once they are exchanged:")
    return found


def _typo_in(result: Audit) -> str:
    """Say what the claims that are left open may be besides a typo, if they are of one kind."""
    main, exceptions = result.main, result.exceptions
    if len(exceptions) == 1 and exceptions[0].complete and not exceptions[0].is_clear:
        return made_otherwise(main, exceptions[0], exceptions[0].explained)
    return ""


def _how_surely(result: Audit) -> list[str]:
    """Say how easily other numbers would be explained, and what to do where that is too easy."""
    more = ["Give another claim, or more digits."] if result.verdict == "may be chance" else []
    return [*chances(result.main, [*result.exceptions, *result.doubtful]), *more]


def _sections(result: Audit) -> Iterator[Section]:
    """Yield the parts of the report: the convention, the claims, and what else is to be said of them."""
    main = result.main
    if main.explained:
        changes = [f"change: {change}" for change in main.changes]
        yield Section("Convention", texts=[named(main), *changes])
    yield Section("Claims", tables=[_table(result)])
    found = {
        **dict.fromkeys(result.conflicts[:1], [] if _typo_in(result) else result.conflicts[1:]),
        "Fewer changes explain all claims but one": doubts(main, result.doubtful),
        "Not explained": unexplained(main, result.nearest),
        "Numbers of another measure or run": elsewhere(main, result.unclear),
        "Within ties": [] if main.complete else result.ties[_MAX_OTHER_NAMES:],
        "Whole numbers of hits": result.counts,
        "Equally good": equals(main, result.best[1:]),
        "Makes no difference on these data": no_difference(main),
        "Columns of changes": result.changes,
        "How surely": _how_surely(result),
    }
    yield from (Section(heading, texts=lines) for heading, lines in found.items() if lines)


def _table(result: Audit) -> Table:
    """Return a line for each claim: what is published, and what one would expect."""
    cells = []
    for trial, each in zip(result.trials, result._records(), strict=True):
        convention, measure = outcome_of(result, trial).convention, each["measure"]
        if each["status"] == "unexplained":
            measure = "no convention"
        elif each["status"] == "unclear":  # and may be a typo
            convention = result.main.convention
            measure = trial.typed(convention)
        value = trial.value(convention)
        expected = NONE if math.isnan(value) else Cell(trial.printed_value(convention), value=value)
        published = Cell(trial.cell, value=float(trial.in_nearer_reading(convention).claim.value))
        cells.append([each["run"], each["claim"], measure, published, expected])
    headings = ["run", "claim", "measure", "published", "expected"]
    one = len({each.row for each in result.trials}) == 1
    return Table.of(
        headings[one:],
        [row[one:] for row in cells],
        3 - one,
        caption="Published and expected numbers",
        label="audit",
    )


# --- other programs --------------------------------------------------------------------------------


def _measures_of(result: Audit) -> list[Measure]:
    """Return the measures that were found for the claims."""
    found = []
    for trial in result.trials:
        convention = outcome_of(result, trial).convention
        own = options_for(trial.measure, convention[trial.measure])
        found.append(measure_of(trial.measure, trial.cutoff(convention), own, trial.run.labels))
    return list(dict.fromkeys(filter(None, found)))


def _conventions(result: Audit) -> dict[str, Any]:
    """Return the convention that was found, in place of those of the package."""
    main = result.main
    return {"conventions": [main.sentence()]} if main.explained else {}


def _how(result: Audit) -> dict[str, Any]:
    """Say for a page how the claims were made, option by option, and all that cannot be told apart."""
    made, main = how_made(_measures_of(result), result.origin), result.main
    if not main.explained:
        return made
    options = [
        f"{setting.title}: {describe(setting.option, value)}" for setting, value in main.settings_seen.items()
    ]
    alike = [f"makes no difference: {name}: {' / '.join(each)}" for name, each in equivalents(main).items()]
    equal = [f"equally good: {each.named.name} ({each.named.source})" for each in result.best[1:]]
    return {**made, "conventions": [main.sentence(), *options, *alike, *equal]}


_PLAIN = ("ok", "verdict", "conflicts", "other_names", "ties", "swap", "changes", "notes", "counts")


def _content(result: Audit) -> dict[str, Any]:
    """Return what the JSON holds."""
    main = result.main
    return {
        **{name: getattr(result, name) for name in _PLAIN},
        "chance": {**result.chance._asdict(), "value": result.chance.value} if main.explained else None,
        "best": [
            {
                "name": each.named.name,
                "source": each.named.source,
                "changes": each.changes,
                "options": each.options,
            }
            for each in result.best
        ],
        "doubts": doubts(main, result.doubtful),
        "makes_no_difference": equivalents(main),
        "sentence": main.sentence() if main.explained else None,
        "claims": result._records(),
        "provenance": {**provenance(_measures_of(result), result.origin), **_conventions(result)},
    }
