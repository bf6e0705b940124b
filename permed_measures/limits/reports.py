"""Which conventions are refuted without any run, and the report of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from permed_measures.files.provenance import Origin, provenance
from permed_measures.limits.bounds import Interval
from permed_measures.limits.row_sentences import by_convention, by_measure, counted_hits, otherwise, usual
from permed_measures.limits.rows import ClaimRange, ConventionLimits, RowLimits
from permed_measures.markup import counted
from permed_measures.papers.whole_numbers import wholes_in
from permed_measures.results.how import how_made
from permed_measures.results.report import Report, Result, Section


@dataclass(frozen=True)
class Possible(Result):
    """Which conventions of published rows the qrels refute; ``print`` shows it.

    ``to_polars`` and ``to_pandas`` give a row for each claim of each convention: ``row``, ``convention`` (its
    number in the row, from 1), ``claim``, ``published``, ``measure``, ``labels`` and ``queries`` (of the
    convention), ``ceiling``, ``low`` and ``high`` (the range given the others; null if these are not possible
    together), ``possible`` (this number), and ``convention_possible`` (all of them).

    Attributes
    ----------
    rows : list of RowLimits
    n_queries : int
        How many queries the means are taken over.
    n_judged : int
        How many queries the qrels have.
    skipped : list of str
        The claims that cannot be bounded.
    notes : list of str
        What was left out of a printed table.
    origin : Origin or None
        The command and its files.
    """

    rows: list[RowLimits]
    n_queries: int
    n_judged: int
    skipped: list[str]
    notes: list[str]
    origin: Origin | None = field(default=None, repr=False)

    @property
    def ok(self) -> bool:
        """Whether some convention is not refuted for every row."""
        return all(row.ok for row in self.rows)

    @property
    def possible(self) -> list[ConventionLimits]:
        """The conventions that are not refuted: the bounds let a run have the numbers of its row."""
        return [each for row in self.rows for each in row.possible]

    @property
    def impossible(self) -> list[ConventionLimits]:
        """The conventions by which no run can have them, which is proved."""
        return [each for row in self.rows for each in row.impossible]

    @property
    def ranges(self) -> dict[str, dict[str, Interval]]:
        """By row and claim, what the number can be given the others, by the first convention.

        That is ir_measures' default, where it has all measures.
        """
        return {
            row.name: {each.claim.name: each.given for each in row.conventions[0].ranges} for row in self.rows
        }

    def __repr__(self) -> str:
        """Say how many conventions are not refuted."""
        n = len(self.possible) + len(self.impossible)
        return f"<Possible: {len(self.possible):,} of {counted(n, 'convention')} not refuted>"

    def report(self, every: bool = False) -> Report:
        """Return what is refuted and why, with every convention in a line if asked for."""
        qrels = f"{Path(self.origin.qrels).name}: " if self.origin and self.origin.qrels else ""
        return Report(
            f"{qrels}{counted(len(self.rows), 'row')} without a run",
            _finding(self.rows),
            [*_tables(self.rows, every), *_below(self)],
            _notes(self),
            data=partial(_content, self),
            rows=partial(_lines, self.rows),
            how=partial(_how, self),
        )


# --- what is said ----------------------------------------------------------------------------------


def _finding(rows: list[RowLimits]) -> list[str]:
    """Say for how many rows, or by how many conventions of the only one, the numbers are not refuted."""
    if len(rows) > 1:
        n = sum(row.ok for row in rows)
        return [f"{n} of {counted(len(rows), 'row')} not refuted for some convention."]
    lines = [f"{_verdict(rows[0])}.", *(f"{line}." for line in usual(rows[0]))]
    return [line[0].upper() + line[1:] if line.startswith(("not ", "refuted ")) else line for line in lines]


def _verdict(row: RowLimits) -> str:
    n, of = len(row.possible), counted(len(row.conventions), "convention")
    return f"not refuted for {n} of {of}" if n else f"refuted for {len(row.conventions):,} of {of}"


def _tables(rows: list[RowLimits], every: bool) -> Iterator[Section]:
    """Yield a table of the measures of the only row, of the usual conventions of several, or of each row."""
    if every:
        for row in rows:
            heading, texts = (f"{row.name}: {_verdict(row)}", usual(row)) if len(rows) > 1 else ("", [])
            yield Section(heading, tables=[by_convention([row], only_usual=False)], texts=texts)
    elif len(rows) > 1:
        yield Section(tables=[by_convention(rows, only_usual=True)])
        refuted = [f"{row.name}: {line}" for row in rows for line in usual(row, only_refuted=True)]
        yield from [Section("Why", texts=refuted)] if refuted else []
    else:
        yield Section(tables=[by_measure(rows[0])], texts=otherwise(rows[0]))


def _below(result: Possible) -> Iterator[Section]:
    """Yield what stands below the tables: counts, what is assumed."""
    wholes = list(wholes_in((row.claims for row in result.rows), result.n_queries))
    told, several = {whole.name for whole in wholes}, len(result.rows) > 1
    counts = [line for row in result.rows for line in counted_hits(row, several, told)]
    if counts or wholes:
        yield Section("Counts", texts=[*map(str, wholes), *dict.fromkeys(counts)])
    yield Section("What this says", texts=_assumed(result))


def _assumed(result: Possible) -> list[str]:
    n, of = result.n_queries, result.n_judged
    over = f"all {n:,} queries of the qrels" if n == of else f"{n:,} of their {of:,} queries"
    lines = [
        f"The mean is taken over {over}; one that the run lacks scores 0. A run may rank any documents, and "
        "return as few as it likes.",
        "What is refuted is proved: no run has these numbers. What is not refuted may be possible, or not. A "
        "range is that of the most usual convention that has one.",
    ]
    if n_skipped := max(row.n_skipped for row in result.rows):
        values = dict.fromkeys(text for row in result.rows for text in row.not_known)
        among = f", among them: {'; '.join(values)}" if values else ""
        lines.append(f"Left out, without bounds: {counted(n_skipped, 'further convention')}{among}.")
    return lines


def _notes(result: Possible) -> list[str]:
    """Return what was left out."""
    skipped = [f"No bounds are known for {', '.join(result.skipped)}."] if result.skipped else []
    return [*skipped, *result.notes]


# --- other programs --------------------------------------------------------------------------------


def _lines(rows: list[RowLimits]) -> Iterator[dict[str, Any]]:
    """Yield the numbers of each claim by each convention."""
    for row in rows:
        for number, limits in enumerate(row.conventions, start=1):
            for each in limits.ranges:
                yield {
                    "row": row.name,
                    "convention": number,
                    "claim": each.claim.name,
                    "published": each.claim.text,
                    "measure": each.measure,
                    "labels": limits.convention["labels"],
                    "queries": limits.convention["queries"],
                    "ceiling": each.alone.high,
                    "low": None if each.given.is_empty else each.given.low,
                    "high": None if each.given.is_empty else each.given.high,
                    "possible": each.possible,
                    "convention_possible": limits.possible,
                }


def _how(result: Possible) -> dict[str, Any]:
    return {**how_made([], result.origin, packages=["scipy"]), "conventions": _assumed(result)}


def _content(result: Possible) -> dict[str, Any]:
    """Return what the JSON holds."""
    origin = provenance([], result.origin, packages=["scipy"])
    return {
        "ok": result.ok,
        "n_queries": result.n_queries,
        "skipped": result.skipped,
        "notes": result.notes,
        "rows": [
            {
                "row": row.name,
                "ok": row.ok,
                "n_possible": len(row.possible),
                "n_conventions": len(row.conventions),
                "n_left_out": row.n_skipped,
                "not_known": row.not_known,
                "conventions": [_convention_json(each) for each in row.conventions],
            }
            for row in result.rows
        ],
        "provenance": {**origin, "conventions": [*_assumed(result), *_notes(result)]},
    }


def _convention_json(limits: ConventionLimits) -> dict[str, Any]:
    return {
        "possible": limits.possible,
        "only_if_cut_off": limits.possible and not limits.rounded,
        "usual": limits.usual,
        "claims": [_claim_json(each) for each in limits.ranges],
        "convention": dict(limits.convention),
        "n_alike": len(limits.alike),
    }


def _claim_json(told: ClaimRange) -> dict[str, Any]:
    counts = told.counts
    return {
        "claim": told.claim.name,
        "published": told.claim.text,
        "measure": told.measure,
        "possible": told.possible,
        "alone": list(told.alone),
        "given_the_others": None if told.given.is_empty else list(told.given),
        "counts": None if counts is None else {"of": counts.total, "rounded": _ends(counts.rounded)},
    }


def _ends(found: range) -> list[int] | None:
    return [found[0], found[-1]] if found else None
