"""Hold the result of an audit, and write its report."""

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
from permed_measures.provenance import Origin, provenance
from permed_measures.results.report import Report, Result, Section, how_made
from permed_measures.results.table import NONE, Cell, Table
from permed_measures.wording import pluralize


@dataclass(frozen=True)
class Audit(Result):
    """The result of an audit; ``print`` shows it.

    ``to_polars`` and ``to_pandas`` give a row for each claim: ``run``, ``claim``, ``published``, ``status``
    (explained, made differently, unclear if a typo is as likely, or unexplained), ``value`` and ``printed``
    (the mean, and as it would be printed), ``measure`` (as one would type it), ``convention`` (its name, null
    for unexplained claims), and ``changes`` from it. For an unexplained claim, value and measure are by the
    convention in ``nearest``, and the changes are from ir_measures' default.

    Attributes
    ----------
    best : list of ExplainingConvention
        The named conventions that explain the most claims with the fewest changes.
    exceptions : list of ExplainingConvention
        For claims that the first of these does not explain: the changes that explain them, row by row. Claims
        that nothing explains are in exceptions that explain none.
    conflicts : list of str
        How the rows of a table, or the claims of a row, were computed differently.
    doubtful : list of ExplainingConvention
        Claims that may be typos: each alone needs more changes than all others.
    other_names : dict of str to list of str
        For claims that need changes, the other measures that have their numbers without any. Empty unless
        every such claim has one.
    ties : list of str
        Claims within the range over orders of equal scores, if nothing else or only rounding explains them.
    swap : str
        The columns or rows that have each other's numbers, if any. The claims were then exchanged.
    counts : list of str
        For columns that nothing explains: the cutoff or number of topics of which they are whole numbers.
    origin : Origin or None
        The command and its files.
    changes : list of str
        For the columns of changes in a printed table: whether they are points or percent.
    notes : list of str
        The parts of a printed table that were left out.
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
        """Whether one convention explains every claim, without an exchange of columns or rows."""
        return bool(self.answers) and not self.swap

    @property
    def verdict(self) -> str:
        """How surely the claims were computed so: ``certain``, ``likely``, ``may be chance`` or ``none``."""
        verdict = self.main.verdict
        or_ties = self.ties and self.main.complete
        return (
            "likely" if verdict == "certain" and (self.doubtful or self.other_names or or_ties) else verdict
        )

    @property
    def chance(self) -> FalseMatchRate:
        """How often other numbers in place of the explained claims would be explained as well."""
        return self.main.chance

    @property
    def unclear(self) -> list[MeasuredClaim]:
        """The claims that nothing explains, or that may be explained by chance."""
        unclear = (each for each in self.exceptions if not (each.explained and each.is_clear))
        return [trial for each in unclear for trial in each.trials]

    @cached_property
    def nearest(self) -> dict[MeasuredClaim, Convention]:
        """The convention of the other claims for each unexplained one; if none, the nearest named one."""
        left = (trial for each in self.exceptions if not each.explained for trial in each.trials)
        main = self.main
        return {
            trial: main.convention if main.explained else nearest_to(trial, main.matrix.conventions)
            for trial in left
        }

    def report(self) -> Report:
        """Build the report: the verdict, the convention, the claims, and what else fits."""
        qrels = f"{Path(self.origin.qrels).name}: " if self.origin and self.origin.qrels else ""
        return Report(
            qrels + pluralize(len(self.trials), "claim"),
            _finding(self),
            list(_sections(self)),
            self.notes,
            data=partial(_content, self),
            rows=self._records,
            provenance=partial(_how, self),
        )

    def __repr__(self) -> str:
        """Show how many claims the best convention explains."""
        main, n_claims = self.main, pluralize(len(self.trials), "claim")
        explained = f"{main.name} explains {len(main.explained):,} of {n_claims}"
        return f"<Audit: {explained if main.explained else f'nothing explains any of {n_claims}'}>"

    def _records(self) -> list[dict[str, Any]]:
        return [claim_record(self, trial) for trial in self.trials]


class Outcome(NamedTuple):
    """The status of a claim, and the convention that explains it or gives its expected value."""

    status: str
    convention: Convention
    name: str | None
    changes: list[str]


def outcome_of(result: Audit, trial: MeasuredClaim) -> Outcome:
    """Find the status and the convention of a claim."""
    main = result.main
    answer = next((each for each in result.exceptions if trial in each.explained), main)
    if not trial.prints(answer.convention):
        nearest = result.nearest[trial]
        of_claim = {trial.measure: {each: nearest[trial.measure][each] for each in trial.options}}
        return Outcome("unexplained", nearest, None, changes_of(of_claim, COMMUNITY.with_cutoffs([trial])))
    base = main.named.with_cutoffs(answer.trials)
    status = "made differently" if answer.is_clear else "unclear"
    if answer is main:
        status = "unclear" if any(trial in each.trials for each in result.doubtful) else "explained"
    return Outcome(status, answer.convention, main.named.name, changes_of(answer.convention, base))


def claim_record(result: Audit, trial: MeasuredClaim) -> dict[str, Any]:
    """Build the row of a frame for a claim."""
    status, convention, name, changes = outcome_of(result, trial)
    value = trial.value(convention)
    return {
        "run": trial.row,
        "claim": trial.claim.name,
        "published": trial.cell,
        "status": status,
        "value": None if math.isnan(value) else value,
        "printed": trial.printed_value(convention),
        "measure": trial.measure_string(convention),
        "convention": name,
        "changes": "; ".join(changes),
    }


# --- the report ------------------------------------------------------------------------------------

_MAX_OTHER_NAMES = 3
"""The maximum number of other measures to name for a claim."""


def _finding(result: Audit) -> list[str]:
    """Write the finding: how many claims one convention explains, how surely, and which are left."""
    main = result.main
    if not main.explained:
        return ["No convention explains any claim.", *result.ties[:_MAX_OTHER_NAMES]]
    if main.complete:
        sentences = [f"{result.verdict.capitalize()}: {main.sentence()}."]
    else:
        n, total = len(main.explained), len(main.trials)
        sentences = [f"{n:,} of {total:,} claims, {result.verdict}: {main.sentence()}."]
        typo = _typo_in(result)
        left = f"{typo}." if typo else f"Not explained by it: {not_explained(main)}."
        sentences += [
            *result.ties[:_MAX_OTHER_NAMES],
            f"Otherwise, {left}" if typo and result.ties else left,
        ]
    sentences += [
        f"But {name} has the numbers of {' or '.join(others[:_MAX_OTHER_NAMES])} without any change."
        for name, others in result.other_names.items()
    ]
    sentences += [f"But {text}" for text in result.ties if main.complete]
    if result.swap:
        sentences.insert(0, f"It seems that {result.swap}. Once they are exchanged:")
    return sentences


def _typo_in(result: Audit) -> str:
    """Describe the unexplained claims as typos, if one unclear exception explains all of them."""
    main, exceptions = result.main, result.exceptions
    if len(exceptions) == 1 and exceptions[0].complete and not exceptions[0].is_clear:
        return made_otherwise(main, exceptions[0], exceptions[0].explained)
    return ""


def _how_surely(result: Audit) -> list[str]:
    """Write how easily other numbers would be explained, and what to do if that is too easy."""
    more = ["Give another claim, or more digits."] if result.verdict == "may be chance" else []
    return [*chances(result.main, [*result.exceptions, *result.doubtful]), *more]


def _sections(result: Audit) -> Iterator[Section]:
    """Yield the sections of the report: the convention, the claims, and what else fits."""
    main = result.main
    if main.explained:
        changes = [f"change: {change}" for change in main.changes]
        yield Section("Convention", texts=[named(main), *changes])
    yield Section("Claims", tables=[_table(result)])
    lists = {
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
    yield from (Section(heading, texts=lines) for heading, lines in lists.items() if lines)


def _table(result: Audit) -> Table:
    """Build a table with the published and the expected number of each claim."""
    several = len({trial.row for trial in result.trials}) > 1
    rows: list[dict[str, str | Cell]] = []
    for trial in result.trials:
        status, convention, *_ = outcome_of(result, trial)
        if status == "unclear":  # and may be a typo
            convention = result.main.convention
        value, published = trial.value(convention), trial.in_nearer_reading(convention).claim.value
        rows.append(
            {
                **({"run": trial.row} if several else {}),
                "claim": trial.claim.name,
                "measure": "no convention" if status == "unexplained" else trial.measure_string(convention),
                "published": Cell(trial.cell, value=float(published)),
                "expected": NONE if math.isnan(value) else Cell(trial.printed_value(convention), value=value),
            }
        )
    return Table.by_heading(rows, 2 + several, caption="Published and expected numbers", label="audit")


# --- other programs --------------------------------------------------------------------------------


def _measures_of(result: Audit) -> list[Measure]:
    """List the measures that explain the claims, as other programs have them."""
    measures = []
    for trial in result.trials:
        convention = outcome_of(result, trial).convention
        own = options_for(trial.measure, convention[trial.measure])
        measures.append(measure_of(trial.measure, trial.cutoff(convention), own, trial.run.labels))
    return list(dict.fromkeys(filter(None, measures)))


def _conventions(result: Audit) -> dict[str, Any]:
    """Return the convention of the claims for the provenance, in place of those of the package."""
    main = result.main
    return {"conventions": [main.sentence()]} if main.explained else {}


def _how(result: Audit) -> dict[str, Any]:
    """Describe for a page how the claims were computed, option by option, and what makes no difference."""
    made, main = how_made(_measures_of(result), result.origin), result.main
    if not main.explained:
        return made
    options = [
        f"{setting.title}: {describe(setting.option, value)}" for setting, value in main.settings_seen.items()
    ]
    no_effect = [
        f"makes no difference: {name}: {' / '.join(values)}" for name, values in equivalents(main).items()
    ]
    equal = [f"equally good: {each.named.name} ({each.named.source})" for each in result.best[1:]]
    return {**made, "conventions": [main.sentence(), *options, *no_effect, *equal]}


_PLAIN = ("ok", "verdict", "conflicts", "other_names", "ties", "swap", "changes", "notes", "counts")


def _content(result: Audit) -> dict[str, Any]:
    """Build the content of the JSON."""
    main = result.main
    return {
        **{name: getattr(result, name) for name in _PLAIN},
        "chance": {**result.chance._asdict(), "value": result.chance.value} if main.explained else None,
        "best": [
            {
                "name": answer.named.name,
                "source": answer.named.source,
                "changes": answer.changes,
                "options": answer.options,
            }
            for answer in result.best
        ],
        "doubts": doubts(main, result.doubtful),
        "makes_no_difference": equivalents(main),
        "sentence": main.sentence() if main.explained else None,
        "claims": result._records(),
        "provenance": {**provenance(_measures_of(result), result.origin), **_conventions(result)},
    }
