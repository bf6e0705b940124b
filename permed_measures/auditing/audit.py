"""Audit published numbers: compute them by every convention, and compare digit by digit."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from permed_measures.auditing.answers import ExplainingConvention
from permed_measures.auditing.measured_claims import MeasuredClaim, sample_rows
from permed_measures.auditing.messages import better_names, conflicts_of, within_ties
from permed_measures.auditing.reports import Audit
from permed_measures.auditing.search import answers_apart, answers_to, doubts_about, exceptions_to, swap_in
from permed_measures.conventions.evaluate import sees_unjudged
from permed_measures.conventions.named import NAMED, NamedConvention, conventions_with
from permed_measures.conventions.per_query import LabelPolicy
from permed_measures.conventions.ranking_variants import RunVariants, label_policies
from permed_measures.engine.evaluator import PermedEvaluator
from permed_measures.engine.judgments import Judgments
from permed_measures.errors import InputError
from permed_measures.inputs.columns import QrelsLike, RunLike
from permed_measures.inputs.door import read
from permed_measures.inputs.runs import runs_by_name
from permed_measures.measures.parameters import precision_recall_cutoffs
from permed_measures.provenance import Origin
from permed_measures.published_tables.assignment import assigned
from permed_measures.published_tables.claims import Claim, claims_by_row, parse_claims
from permed_measures.published_tables.grim import changes_in, wholes_by_part
from permed_measures.published_tables.tables import ClaimRow, PrintedClaims, claims_of
from permed_measures.run_notes import no_deeper
from permed_measures.wording import grouped, join_names

_SINGLE_RUN = "run"
"""The name of a single run."""
_MAX_NAMED_RUNS_IN_MESSAGE = 10
"""The maximum number of runs to name in a message."""


def audit(
    qrels: QrelsLike,
    run: RunLike | Mapping[str, RunLike],
    claims: Mapping[str, Any] | str | os.PathLike[str] | PrintedClaims,
    *,
    conventions: str | os.PathLike[str] | None = None,
    columns: str | None = None,
) -> Audit:
    """Find the convention that gives published numbers, and the places where a table mixes conventions.

    Parameters
    ----------
    qrels : any form of qrels
    run : any form of a run, or mapping of str to runs
        A run; for several rows of claims, the runs by name. A run without claims is ignored.
    claims : mapping of str to number or str, mapping of str to such mappings, or path
        ``{"NDCG@10": 0.9044, "MAP@10": "0.5357"}``. For several runs, such a row for each run, by its name.

        Many ways to write a name are understood (``ndcg``, ``NDCG_cut_10``, ``nDCG (10)``, ``mrr``,
        ``hit@10``, ``R-Prec``, ``MAP ↑``). A measure written with its parameters is taken as it is, and so is
        a measure of this package as it prints (``GradedAP@10``).

        A number is in percent if it is above 1, or if it or its name ends in %. Marks beside it are ignored
        (``0.5357*``, ``0.53 ± 0.01``). Write a number as text to keep trailing zeros: a float gets as many
        digits as the longest float of the table. A number above 1 is also tried as it stands if the measure
        can be above 1. If any number of a table is in percent, the others are tried in percent too.

        A path names a Markdown, LaTeX, HTML or CSV file with tables as a paper prints them. Columns that are
        not measures, and rows without a run, are left out; ``notes`` of the result list them.
    conventions : path, optional
        A TOML file with your own conventions, to be tried besides those of the package.
    columns : str, optional
        The heading above the columns to read in a file, such as a data set: ``"DL19"``.

    Returns
    -------
    Audit
        ``best`` has the named conventions that explain the most claims with the fewest changes, rounded half
        up or half to even. ``ok`` is true if they explain all claims. ``exceptions`` explain the other claims
        by changes from the first of ``best``, and ``conflicts`` describes how the rows, or the claims of a
        row, were computed differently. ``print`` shows a report.

    Raises
    ------
    MeasureError
        If a name is not a measure, or lacks the cutoff that its measure needs.
    InputError
        If a claim is not a number, if a run of the claims is missing, and as for an evaluation.

    Notes
    -----
    The audit tries the named conventions, and those that differ from one in at most two options. The options
    are the tie rule, the query set, the label policy, which documents are ranked, whether means are rounded
    to five digits before they are printed, and the options of each measure: weights, denominator and
    relevance level of AP; gain, discount, ideal list, negative grades and tied scores of nDCG; relevance
    level, denominator and averaging of P, R, RR, Success and F1. A claim about AP, nDCG or RR is tried
    without its cutoff too.

    Examples
    --------
    >>> import permed_measures as pm
    >>> qrels = {"q1": {"a": 2, "b": 1, "c": 1}, "q2": {"a": 1, "b": 0}}
    >>> run = {"q1": {"b": 3.0, "x": 2.0, "a": 1.0}, "q2": {"b": 2.0, "a": 1.0}}
    >>> result = pm.audit(qrels, run, {"MAP@10": 0.3194})
    >>> result.ok, result.answers[0].name
    (True, 'PerMed standard')
    >>> result.answers[0].sentence()
    'AP@10 with weights g/2, divided by R; averaged over all 2 queries of the qrels'
    """
    claims = claims_of(claims, columns)
    runs = _runs_of(claims, run)
    origin = Origin.of(qrels, runs_by_name(runs))
    judgments = Judgments.of(read(qrels, "relevance"))
    if not judgments.n_queries:
        raise InputError("the qrels have no query")
    policies = label_policies(judgments)
    known_conventions = conventions_with(conventions)
    if isinstance(claims, PrintedClaims):
        table, rows, notes = assigned(claims, list(runs))
        changes = list(changes_in(claims.rows))
        printed = [(row.part, row.topics, [*row.claims.values()]) for row in rows]
        notes = [*notes, *_other_query_counts(rows, judgments.n_queries)]
    else:
        table, notes, changes, printed = claims_by_row(claims, _SINGLE_RUN), [], [], []
    parsed = dict(zip(table, parse_claims(table.values()), strict=True))
    printed = printed or [("", None, row) for row in parsed.values()]
    variants = {name: _variants(policies, runs[name], row) for name, row in parsed.items()}
    if len(variants) > 1:
        in_all_runs = np.logical_and.reduce([run_variants.in_run for run_variants in variants.values()])
        for run_variants in variants.values():
            run_variants.in_all_runs = in_all_runs
    trials = [MeasuredClaim(name, claim, variants[name]) for name, row in parsed.items() for claim in row]
    result = audit_of(trials, known_conventions)
    counts = list(_counted(result, printed, judgments.n_queries))
    notes = [*notes, *_cut_lists(variants, parsed)]
    return replace(result, origin=origin, notes=notes, changes=changes, counts=counts)


def audit_of(trials: list[MeasuredClaim], conventions: Sequence[NamedConvention] = NAMED) -> Audit:
    """Find the conventions that explain the most claims, and exceptions for the others."""
    [main, *_] = best = answers_to(trials, conventions)
    if not main.complete and (swap := swap_in(trials, _to_swap(main, conventions))):
        [exchanged, *_] = again = answers_to(swap.trials, conventions)
        if len(exchanged.explained) > len(main.explained) and exchanged.verdict in ("certain", "likely"):
            return replace(_audit(again), swap=swap.text)
    return _audit(answers_apart(best))


def _to_swap(main: ExplainingConvention, conventions: Sequence[NamedConvention]) -> Sequence[NamedConvention]:
    """Choose the conventions under which to look for swapped columns or rows: in a large table, the best."""
    is_large = len(sample_rows(main.trials)) < len(main.trials)
    return [main.named] if is_large else conventions


def _audit(best: list[ExplainingConvention]) -> Audit:
    [main, *_] = best
    doubts = doubts_about(main)
    typo = next((each for each in doubts if each.is_typo), None)
    if typo is not None:
        [main, *_] = best = typo.simple
        exceptions, doubtful = [typo.other], []
    else:
        exceptions = [] if main.complete else exceptions_to(main)
        doubtful = [each.other for each in doubts]
    conflicts = conflicts_of(main, exceptions)
    return Audit(best, exceptions, conflicts, doubtful, better_names(main), within_ties(main))


def _counted(
    result: Audit, printed: Sequence[tuple[str, int | None, Sequence[Claim]]], n_queries: int
) -> Iterator[str]:
    """Describe of what the numbers of a column are whole numbers, if one of them is unexplained."""
    left = {trial.claim.name for trial in result.unclear}
    for whole in wholes_by_part(printed, n_queries):
        if whole.name in left and not whole.matches_heading:
            yield str(whole)


def _other_query_counts(rows: list[ClaimRow], n_queries: int) -> Iterator[str]:
    """Name the rows whose number of queries differs from the qrels."""
    by_count = grouped((row.topics, row.label) for row in rows if row.topics not in (None, n_queries))
    for topics, labels in by_count.items():
        names = join_names(dict.fromkeys(labels), _MAX_NAMED_RUNS_IN_MESSAGE)
        yield f"the table says {topics:,} queries for {names}; the qrels have {n_queries:,}"


def _cut_lists(variants: Mapping[str, RunVariants], claims: Mapping[str, list[Claim]]) -> Iterator[str]:
    """Name the runs whose lists end above the cutoffs of their claims."""
    for run, row in claims.items():
        cutoffs = {
            claim.name: max(filter(None, precision_recall_cutoffs(claim.cutoffs[0])), default=0)
            for claim in row
        }
        if problem := no_deeper(variants[run].list_lengths, cutoffs):
            yield f"run {run!r}: {problem}" if run != _SINGLE_RUN else f"the run: {problem}"


def _runs_of(claims: Mapping[str, Any] | PrintedClaims, run: Any) -> Mapping[str, Any]:
    """Return the runs by name, and check that each row of claims has one."""
    if isinstance(claims, PrintedClaims):
        return runs_by_name(run)
    rows = claims_by_row(claims, _SINGLE_RUN)
    return {_SINGLE_RUN: run} if rows.get(_SINGLE_RUN) is claims else _runs_named(list(rows), run)


def _runs_named(names: list[str], runs: Any) -> Mapping[str, Any]:
    """Check that the runs have each name of a row of claims, and return them."""
    if not isinstance(runs, Mapping):
        problem = f"several rows of claims need a mapping of runs by name (found {type(runs).__name__})"
        raise InputError(problem)
    unknown = next((name for name in names if name not in runs), None)
    if unknown is not None:
        known = ", ".join(map(repr, islice(runs, _MAX_NAMED_RUNS_IN_MESSAGE))) + (
            ", ..." if len(runs) > _MAX_NAMED_RUNS_IN_MESSAGE else ""
        )
        raise InputError(f"no run has the name of the row of claims {unknown!r}; the runs are {known}")
    return runs


def _variants(policies: list[LabelPolicy], run: RunLike, claims: list[Claim]) -> RunVariants:
    written_out = [claim.measure for claim in claims if claim.is_fully_specified]
    for measure in written_out:
        PermedEvaluator([measure], policies[0].judgments)  # raises an error if it is not supported
    return RunVariants(policies, run, all_ties=any(map(sees_unjudged, written_out)))
