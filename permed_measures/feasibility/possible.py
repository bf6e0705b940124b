"""Refute conventions of published rows from the qrels alone."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from permed_measures.conventions.named import conventions_with
from permed_measures.conventions.ranking_variants import label_policies
from permed_measures.engine.groups import By
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.tables import dataset_of
from permed_measures.errors import InputError, MeasureError
from permed_measures.feasibility.differences import Differences, Units
from permed_measures.feasibility.reports import Possible
from permed_measures.feasibility.rows import Conventions
from permed_measures.feasibility.unprinted import Bounds, check_asked
from permed_measures.inputs.columns import QrelsLike
from permed_measures.inputs.door import read
from permed_measures.measures.parsing import MeasuresLike, measures_of
from permed_measures.provenance import Origin
from permed_measures.published_tables.claims import claims_by_row, parse_claims
from permed_measures.published_tables.grim import wholes_by_part
from permed_measures.published_tables.tables import ClaimRow, PrintedClaims, claims_of
from permed_measures.wording import grouped, join_names


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
    """Find which conventions cannot have given published numbers, whatever the run was.

    The qrels and the other numbers of a row limit each number: P@1, for example, limits average precision
    from below.

    Parameters
    ----------
    qrels : any form of qrels
    claims : mapping of str to number or str, mapping of str to such mappings, or path
        As for ``audit``: ``{"P@1": "0.0687", "MAP@10": "0.0877"}``, a mapping of row names to such rows, or a
        file with tables as a paper prints them. The full name of a measure of this package, such as
        ``GradedAP@10``, fixes its own convention, and the options that all measures of its row share, such as
        labels and queries.
    conventions : path, optional
        A TOML file with further conventions to try.
    columns : str, optional
        The heading above the columns to read from a file, such as a data set: ``"DL19"``.
    differences : bool, default False
        Whether to check for each pair of rows that their difference is significant for any two runs. The test
        is a paired t-test, with Holm's correction for all pairs of rows with a measure of the same name.
    clusters : str, mapping or callable, optional
        Clusters of queries for that test, as in `compare`; by default the conversations of a data set that
        has them.
    bound : measure, str or list of these, optional
        Measures that the rows do not print, to bound for any run with the printed numbers.
    depth : int, optional
        For `bound`: the maximum number of documents that a run returns for each query.

    Returns
    -------
    Possible
        ``ok`` is whether every row has a convention that is not refuted, be it only for runs that lack
        queries. ``possible`` (not refuted) and ``impossible`` (refuted) have the conventions, each with the
        range of every number given the others. ``ranges`` has the ranges under the default of ir_measures.
        ``differences`` has the pairs of rows and ``bounds`` the bounds, if they were asked for. ``print``
        shows a report.

    Raises
    ------
    MeasureError
        If a name is not a measure, or needs a cutoff; if no claim can be bounded, or a measure of `bound`
        cannot.
    InputError
        If a claim is not a number, or the qrels have no relevant document.

    Notes
    -----
    Tried are the named conventions, and those that compute one family of measures in any way that an audit
    knows and the others as usual. Bounds exist for AP and GradedAP, nDCG (except with gains averaged over
    ties), P, R, RR, Rprec and Success. Conventions without bounds are left out; ``not_known`` of a row has
    their option values.

    A refuted convention is proved to be impossible, by a linear programme and the best rankings for its
    solution. One that is not refuted may be possible or not. If a convention leaves out the queries that a
    run lacks, the mean may be over any of the queries: ``lacks_queries`` marks a convention under which only
    a run that lacks queries, or has no results for some, may have the numbers.

    A printed number may be rounded half up or half to even, cut off, or rounded to five digits first. P and
    Success must also be whole numbers of hits, and so must recall if the queries have few different numbers
    of relevant documents.

    Examples
    --------
    >>> import permed_measures as pm
    >>> qrels = {f"q{i}": {"a": 1, "b": 1} for i in range(10)}
    >>> result = pm.possible(qrels, {"P@1": "0.9000", "MAP@10": "0.3000"})
    >>> [convention.measures for convention in result.impossible][:1]
    [['P@1', 'AP@10']]
    >>> low, high = result.ranges["row"]["MAP@10"]
    >>> print(f"{low:.2f} to {high:.2f}")
    0.45 to 0.96

    Two papers report different measures; a third measure surely orders them:

    >>> rows = {"one": {"P@1": "0.9000", "R@2": "0.9500"}, "other": {"MAP@10": "0.3000"}}
    >>> for bound in pm.possible(qrels, rows, bound="nDCG@2").bounds.found:
    ...     print(bound.row, f"{bound.low:.2f} to {bound.high:.2f}")
    one 0.94 to 0.94
    other 0.00 to 0.69
    """
    claims, notes = claims_of(claims, columns), []
    loaded = read(qrels, "relevance")
    judgments = Judgments.of(loaded)
    _check(judgments)
    if isinstance(claims, PrintedClaims):
        rows, too_many = _drop_larger(_rows_by_name(claims), claims.path, judgments.n_queries)
        table, parts = {name: row.claims for name, row in rows.items()}, [row.part for row in rows.values()]
        topics = {name: row.topics for name, row in rows.items()}
        notes = [*claims.notes, *too_many, *_note_parts(parts), *_note_fewer(topics, judgments.n_queries)]
    else:
        table = claims_by_row(claims, "row")
        parts, topics = [""] * len(table), dict.fromkeys(table)
    parsed = dict(zip(table, parse_claims(table.values()), strict=True))
    tried = Conventions(label_policies(judgments), conventions_with(conventions))
    by_name = {claim.name: claim for row in parsed.values() for claim in row}
    skipped = [name for name, claim in by_name.items() if not tried.can_bound(claim)]
    bounded = {name: [claim for claim in row if claim.name not in skipped] for name, row in parsed.items()}
    if not any(bounded.values()):
        _check_level(judgments)
        raise MeasureError(f"no bounds are known for {', '.join(skipped)}", hint=_BOUNDED)
    pairs = bounds = None
    measures = measures_of(bound)
    notes = [*notes, *check_asked(measures, depth, tried, _BOUNDED)]
    if clusters is not None and not differences:
        hint = "Add --differences, or differences=True in Python"
        raise InputError("clusters are only for the test of differences", hint=hint)
    if differences:
        units, cluster_notes = Units.of(judgments, clusters, dataset_of(loaded))
        pairs = Differences.of(parsed, parts, judgments, units, topics)
        notes = [*notes, *cluster_notes]
    limits = tried.limits({name: row for name, row in bounded.items() if row}, topics)
    if measures:
        bounds = Bounds.of(limits, dict(zip(table, parts, strict=True)), measures, tried, depth)
    printed = zip(parts, topics.values(), parsed.values(), strict=True)
    counts = list(wholes_by_part(printed, judgments.n_queries))
    unlike = [str(count) for count in counts if not count.matches_heading]
    count_texts = list(map(str, counts)), unlike
    return Possible(
        limits, judgments.n_queries, skipped, notes, *count_texts, pairs, bounds, Origin.of(qrels, {})
    )


def _rows_by_name(printed: PrintedClaims) -> dict[str, ClaimRow]:
    """Give each row of a printed table a unique name."""
    rows: dict[str, ClaimRow] = {}
    for row in printed.rows:
        name = f"{row.label}, {row.part}" if row.label in rows and row.part else row.label
        rows[f"{name}, {row.where}" if name in rows else name] = row
    return {name: row for name, row in rows.items() if row.claims}


def _drop_larger(rows: dict[str, ClaimRow], path: str, n: int) -> tuple[dict[str, ClaimRow], list[str]]:
    """Drop the rows that say they are over more than n queries, with a note."""
    others = {name: row.topics for name, row in rows.items() if row.topics is not None and row.topics > n}
    if not others:
        return rows, []
    more = join_names((f"{name} ({topics:,})" for name, topics in others.items()), _MAX_NAMED_PARTS)
    what = f"say that they are over more queries than the {n:,} of the qrels: {more}"
    if len(others) == len(rows):
        raise InputError(f"all rows {what}", where=path, hint="Give the qrels that the table is about")
    return {name: row for name, row in rows.items() if name not in others}, [f"rows left out, as they {what}"]


def _note_fewer(topics: dict[str, int | None], n: int) -> Iterator[str]:
    """Note the rows that are over fewer queries than the qrels have."""
    for fewer, names in grouped((n_topics, name) for name, n_topics in topics.items()).items():
        if fewer is not None and fewer < n:
            rows = join_names(names, _MAX_NAMED_PARTS)
            over = f"{rows}: means over {fewer:,} of the {n:,} queries, as the table says"
            yield f"{over}; these may be any of them"


def _note_parts(parts: list[str]) -> Iterator[str]:
    """Note that rows below several headings, which may be data sets, are tested on the same qrels."""
    if len(names := dict.fromkeys(parts)) > 1:
        yield (
            f"rows of several parts of the file ({join_names(filter(None, names), _MAX_NAMED_PARTS)}) "
            f"are all tested on "
            "these qrels; choose some by --columns NAME, or columns='NAME' in Python"
        )


def _check_level(judgments: Judgments) -> None:
    if not judgments.num_rel(1).any():
        top = judgments.grade.max()
        problem = (
            f"no document of the qrels has a grade of 1 or more (the highest is {top:g}): none is relevant"
        )
        raise InputError(problem, hint="Multiply the grades so that the lowest relevant grade is 1")


_MOST_GRADES = 10
_MAX_NAMED_PARTS = 3
"""Maximum number of parts or rows that a message names."""
_BOUNDED = "Give AP, GradedAP, nDCG, P, R, RR, Rprec or Success"


def _check(judgments: Judgments) -> None:
    if not (judgments.grade > 0).any():
        raise InputError(
            "no document of the qrels is relevant: AP, nDCG, P, R, RR, Rprec and Success are 0 for every run"
        )
    n_grades = len(np.unique(judgments.grade[judgments.grade > 0]))
    if n_grades > _MOST_GRADES:
        raise InputError(
            f"the qrels have {n_grades} relevant grades, more than {_MOST_GRADES}: too many for bounds"
        )
