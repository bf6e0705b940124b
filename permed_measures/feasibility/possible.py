"""Which conventions of a published row the qrels alone refute."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from permed_measures.conventions.named import conventions_with
from permed_measures.conventions.ranking_variants import label_policies
from permed_measures.engine.groups import By
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.tables import dataset_of
from permed_measures.errors import InputError, MeasureError
from permed_measures.escaping import grouped, join_names
from permed_measures.feasibility.differences import Differences, Units
from permed_measures.feasibility.reports import Possible
from permed_measures.feasibility.rows import Conventions
from permed_measures.feasibility.unprinted import Bounds, check_asked
from permed_measures.inputs.columns import QrelsLike
from permed_measures.inputs.door import read
from permed_measures.measures.parsing import MeasuresLike, measures_of
from permed_measures.provenance import Origin
from permed_measures.published_tables.claims import Claim, claims_by_row, parse_claims
from permed_measures.published_tables.grim import wholes_by_part
from permed_measures.published_tables.tables import ClaimRow, PrintedClaims, claims_of


def possible(
    qrels: QrelsLike,
    claims: Mapping[str, Any] | str | os.PathLike[str] | PrintedClaims,
    *,
    conventions: str | os.PathLike[str] | None = None,
    columns: str | None = None,
    differences: bool = False,
    clusters: By | None = None,
    bound: MeasuresLike = (),
    depth: int | None = None,
) -> Possible:
    """Say which conventions cannot have given published numbers, whatever the run was.

    The qrels alone limit each number given the others: with most relevant documents at rank 1, for example,
    average precision cannot be low.

    Parameters
    ----------
    qrels : any form of qrels
    claims : mapping of str to number or str, mapping of str to such mappings, or path
        As for ``audit``: ``{"P@1": "0.0687", "MAP@10": "0.0877"}``, several such rows by their names, or a
        file with tables as a paper prints them. The name of a measure of ours as it prints, such as
        ``GradedAP@10``, fixes every convention of its row but how others are computed.
    conventions : path, optional
        A TOML file with conventions of one's own, which are tried besides those of the package.
    columns : str, optional
        What stands above the columns of a file that are meant, such as a data set: ``"DL19"``.
    differences : bool, default False
        Whether to say of each two rows if their difference is significant, whatever the two runs are, by a
        paired t-test, after Holm's correction for all pairs of rows with a measure of the same name.
    clusters : str, mapping or callable, optional
        Which queries belong together in that test, as in `compare`: by default the conversations of a data
        set that has them.

    Returns
    -------
    Possible
        ``ok`` says whether for every row some convention is not refuted, be it only for runs that lack
        queries; ``possible`` (not refuted) and ``impossible`` (refuted) have the conventions, each with the
        range of every number given the others; ``ranges`` has those by the default of ir_measures;
        ``differences`` has the pairs of rows, if asked, and ``bounds`` the bounds. ``print`` shows a report.

    Raises
    ------
    MeasureError
        For a name that means no measure, one whose measure needs a cutoff, or if no claim, or a measure of
        `bound`, can be bounded.
    InputError
        For a claim that is no number, and qrels without relevant documents.

    Notes
    -----
    The conventions are those with a name, and all in which one family of measures is computed in any way that
    an audit tries, the others as usual. Bounds exist for AP and GradedAP, nDCG (but for gains averaged over
    ties), P, R, RR, Rprec and Success; what has none is left out, and ``not_known`` of a row says
    which values of options that is. What is refuted is proved to be impossible, by a linear programme and the
    best rankings for its solution; what is not may be possible, or not. By a convention that leaves out the
    queries that a run lacks, the mean may be that of any queries: where only a run that lacks some, or has
    no results for them, may have the numbers, its ``lacks_queries`` says so. Rounding half up and half to
    even, digits that were cut off, and a first rounding to five digits are allowed for. P, Success, and
    recall where few numbers of relevant documents occur, must also be whole numbers of hits.

    Examples
    --------
    >>> import permed_measures as pm
    >>> qrels = {f"q{i}": {"a": 1, "b": 1} for i in range(10)}
    >>> result = pm.possible(qrels, {"P@1": "0.9000", "MAP@10": "0.3000"})
    >>> [each.measures for each in result.impossible][:1]
    [['P@1', 'AP@10']]
    >>> low, high = result.ranges["row"]["MAP@10"]
    >>> print(f"{low:.2f} to {high:.2f}")
    0.45 to 0.96

    Two papers report different measures; their order by a third one is sure:

    >>> rows = {"one": {"P@1": "0.9000", "R@2": "0.9500"}, "other": {"MAP@10": "0.3000"}}
    >>> for each in pm.possible(qrels, rows, bound="nDCG@2").bounds.found:
    ...     print(each.row, f"{each.low:.2f} to {each.high:.2f}")
    one 0.94 to 0.94
    other 0.00 to 0.69
    """
    claims, notes = claims_of(claims, columns), []
    loaded = read(qrels, "relevance")
    judgments = Judgments.of(loaded)
    _check(judgments)
    if isinstance(claims, PrintedClaims):
        rows, of_others = _of_these(_of_table(claims), claims.path, judgments.n_queries)
        table, parts = {name: row.claims for name, row in rows.items()}, [row.part for row in rows.values()]
        topics = {name: row.topics for name, row in rows.items()}
        notes = [*claims.notes, *of_others, *_of_several(parts), *_of_some(topics, judgments.n_queries)]
    else:
        table = claims_by_row(claims, "row")
        parts, topics = [""] * len(table), dict.fromkeys(table)
    parsed = dict(zip(table, parse_claims(table.values()), strict=True))
    tried = Conventions(label_policies(judgments), conventions_with(conventions))
    by_name = {claim.name: claim for row in parsed.values() for claim in row}
    skipped = [name for name, claim in by_name.items() if not tried.can_bound(claim)]
    bounded = {name: [claim for claim in row if claim.name not in skipped] for name, row in parsed.items()}
    _check_sizes(bounded)
    if not any(bounded.values()):
        _check_level(judgments)
        raise MeasureError(f"no bounds are known for {', '.join(skipped)}", hint=_BOUNDED)
    pairs = bounds = None
    measures = measures_of(bound)
    notes = [*notes, *check_asked(measures, depth, tried, _BOUNDED)]
    if clusters is not None and not differences:
        hint = "Add --differences, or differences=True in Python"
        raise InputError("clusters are those of a test of differences", hint=hint)
    if differences:
        units, told = Units.of(judgments, clusters, dataset_of(loaded))
        pairs = Differences.of(parsed, parts, judgments, units, topics)
        notes = [*notes, *told]
    limits = tried.limits({name: row for name, row in bounded.items() if row}, topics)
    if measures:
        bounds = Bounds.of(limits, dict(zip(table, parts, strict=True)), measures, tried, depth)
    printed = zip(parts, topics.values(), parsed.values(), strict=True)
    counts = list(wholes_by_part(printed, judgments.n_queries))
    unlike = [str(each) for each in counts if not each.is_as_said]
    of_columns = list(map(str, counts)), unlike
    return Possible(
        limits, judgments.n_queries, skipped, notes, *of_columns, pairs, bounds, Origin.of(qrels, {})
    )


def _of_table(printed: PrintedClaims) -> dict[str, ClaimRow]:
    """Return the rows of a printed table by their names, each of its own."""
    rows: dict[str, ClaimRow] = {}
    for row in printed.rows:
        name = f"{row.label}, {row.part}" if row.label in rows and row.part else row.label
        rows[f"{name}, {row.where}" if name in rows else name] = row
    return {name: row for name, row in rows.items() if row.claims}


def _of_these(rows: dict[str, ClaimRow], path: str, n: int) -> tuple[dict[str, ClaimRow], list[str]]:
    """Return the rows that may be about n queries, and a note of those that say more."""
    others = {name: row.topics for name, row in rows.items() if row.topics is not None and row.topics > n}
    if not others:
        return rows, []
    more = join_names((f"{name} ({topics:,})" for name, topics in others.items()), _MAX_NAMED_PARTS)
    what = f"say that they are over more queries than the {n:,} of the qrels: {more}"
    if len(others) == len(rows):
        raise InputError(f"all rows {what}", where=path, hint="Give the qrels that the table is about")
    return {name: row for name, row in rows.items() if name not in others}, [f"rows left out, as they {what}"]


def _of_some(topics: dict[str, int | None], n: int) -> Iterator[str]:
    """Say which rows are over fewer queries than the qrels have."""
    for fewer, names in grouped((each, name) for name, each in topics.items()).items():
        if fewer is not None and fewer < n:
            rows = join_names(names, _MAX_NAMED_PARTS)
            yield f"{rows}: over {fewer:,} of the {n:,} queries, as the table says; any of them may be those"


def _of_several(parts: list[str]) -> Iterator[str]:
    """Say that rows below several headings, which may be data sets, are tested on the same qrels."""
    if len(names := dict.fromkeys(parts)) > 1:
        yield (
            f"rows of several parts of the file ({join_names(filter(None, names), _MAX_NAMED_PARTS)}) "
            f"are all tested on "
            "these qrels; choose some by --columns NAME, or columns='NAME' in Python"
        )


def _check_sizes(rows: Mapping[str, Sequence[Claim]]) -> None:
    """Refuse a row of more numbers than can be looked at together."""
    for name, row in rows.items():
        if len(row) > _MOST_NUMBERS:
            raise InputError(
                f"a row may have at most {_MOST_NUMBERS} numbers with bounds (found {len(row)})",
                where=f"row {name!r}",
                hint="Leave out some columns of the table, or give some numbers by --claim NAME=VALUE",
            )


def _check_level(judgments: Judgments) -> None:
    if not judgments.num_rel(1).any():
        top = judgments.grade.max()
        problem = (
            f"no document of the qrels has a grade of 1 or more (the highest is {top:g}): none is relevant"
        )
        raise InputError(problem, hint="Multiply the grades, so that the lowest relevant one is 1")


_MOST_GRADES = 10
_MOST_NUMBERS = 50
"""How many numbers of a row are looked at together: half a minute of a processor."""
_MAX_NAMED_PARTS = 3
"""How many parts are named."""
_BOUNDED = "Give AP, GradedAP, nDCG, P, R, RR, Rprec or Success"


def _check(judgments: Judgments) -> None:
    if not (judgments.grade > 0).any():
        raise InputError(
            "no document of the qrels is relevant: AP, nDCG, P, R, RR, Rprec and Success are 0 anyhow"
        )
    n_grades = len(np.unique(judgments.grade[judgments.grade > 0]))
    if n_grades > _MOST_GRADES:
        raise InputError(
            f"the qrels have {n_grades} relevant grades, more than {_MOST_GRADES}: too many for bounds"
        )
