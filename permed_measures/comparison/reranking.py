"""Compare a run before and after reranking: moves of relevant documents, pairs in order, and queries."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict, astuple, dataclass, field, replace
from functools import partial
from itertools import chain, pairwise
from numbers import Real
from typing import Any

import numpy as np
from ir_measures.measures import Measure

from permed_measures.arrays import Bools, Floats, Ints
from permed_measures.comparison.overlap import (
    PERSISTENCE,
    check_persistence,
    depth_looked_at,
    rank_biased_overlap,
)
from permed_measures.comparison.queries import first_documents, texts_of
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.engine.tables import Nested, stringify_keys
from permed_measures.errors import InputError, check_int, short_repr, warnings_about
from permed_measures.experiment import Experiment
from permed_measures.inputs.columns import QrelsLike, RunLike
from permed_measures.inputs.door import read_nested
from permed_measures.measures.formulas import number
from permed_measures.measures.headings import heading_notes, headings_of, name_of
from permed_measures.measures.parameters import cutoff_of
from permed_measures.measures.parsing import MeasuresLike, measures_of
from permed_measures.provenance import Origin, provenance
from permed_measures.results.methods import Methods, means_over_queries, methods_of
from permed_measures.results.prose import literal
from permed_measures.results.report import DescribedResult, Report, Section, how_made, titled
from permed_measures.run_notes import notes_of
from permed_measures.wording import pluralize, shortened


@dataclass(frozen=True)
class RankMoves:
    """Moves of relevant documents from the run before to the run after.

    Attributes
    ----------
    up, down, unchanged : int
        Documents that both runs retrieve.
    entered, left : int
        Documents that only the run after, or only the run before, retrieves.
    absent : int
        Documents that neither run retrieves.
    mean, median : float or None
        Mean and median of the rank before minus the rank after (above 0 is up), over the documents that both
        runs retrieve; None if there are none.
    """

    up: int
    down: int
    unchanged: int
    entered: int
    left: int
    absent: int
    mean: float | None
    median: float | None


@dataclass(frozen=True)
class PairCounts:
    """Counts of pairs of documents with different grades that both runs retrieve.

    A pair is right if the document with the higher grade has the better rank.

    Attributes
    ----------
    put_right, broken : int
        Wrong before and right after; right before and wrong after.
    still_right, still_wrong : int
    """

    put_right: int
    broken: int
    still_right: int
    still_wrong: int

    @property
    def total(self) -> int:
        """Number of pairs."""
        return self.put_right + self.broken + self.still_right + self.still_wrong

    @property
    def improvement(self) -> float | None:
        """Put right minus broken, as a share of all pairs; None without pairs."""
        return (self.put_right - self.broken) / self.total if self.total else None

    @property
    def share_put_right(self) -> float | None:
        """Put right, as a share of all pairs; None without pairs."""
        return self.put_right / self.total if self.total else None


def sum_pairs(counts: Iterable[PairCounts]) -> PairCounts:
    """Add the counts of several queries."""
    return PairCounts(*map(sum, zip(*map(astuple, counts), strict=True)))


def rank_of_judgments(rankings: JudgedRankings) -> Ints:
    """Return the rank of each judged document, in the order of the judgments; 0 if it was not retrieved."""
    rank = np.zeros(len(rankings.judgments.grade), np.int64)
    rank[rankings.row] = rankings.rank
    return rank


def moves_of(before: Ints, after: Ints, relevant: Bools) -> RankMoves:
    """Count the rank changes of relevant documents; rank 0 means not retrieved."""
    before, after = before[relevant], after[relevant]
    both = (before > 0) & (after > 0)
    up = (before - after)[both]
    return RankMoves(
        up=int((up > 0).sum()),
        down=int((up < 0).sum()),
        unchanged=int((up == 0).sum()),
        entered=int(((before == 0) & (after > 0)).sum()),
        left=int(((before > 0) & (after == 0)).sum()),
        absent=int(((before == 0) & (after == 0)).sum()),
        mean=float(up.mean()) if len(up) else None,
        median=float(np.median(up)) if len(up) else None,
    )


def count_pairs(grade: Floats, before: Ints, after: Ints) -> PairCounts:
    """Count the pairs of documents of a query by whether they are right before and after.

    Rank 0 means not retrieved. Grades below 0 count as 0.

    Examples
    --------
    >>> count_pairs(np.array([2.0, 1.0, 0.0]), np.array([3, 2, 1]), np.array([1, 3, 2]))
    PairCounts(put_right=2, broken=0, still_right=0, still_wrong=1)
    """
    in_both = (before > 0) & (after > 0)
    grade, before, after = np.maximum(grade[in_both], 0), before[in_both], after[in_both]
    higher = np.flatnonzero(grade > 0)  # only these documents can be the higher one of a pair
    n_rows = max(_PAIRS_PER_BLOCK // max(len(grade), 1), 1)
    counts = np.zeros(4, np.int64)
    for start in range(0, len(higher), n_rows):
        rows = higher[start : start + n_rows, None]
        differs = grade[rows] > grade
        was_right, is_right = before[rows] < before, after[rows] < after
        kinds = (~was_right & is_right, was_right & ~is_right, was_right & is_right, ~was_right & ~is_right)
        counts += [int((differs & kind).sum()) for kind in kinds]
    return PairCounts(*counts.tolist())


_PAIRS_PER_BLOCK = 1_000_000
"""Number of pairs of documents in memory at a time."""


def with_unjudged(judgments: Judgments, before: Nested, after: Nested) -> Judgments:
    """Add the unjudged documents that both runs retrieve to the judgments, with grade 0."""
    documents, grades, qrels = judgments.documents, judgments.grade.tolist(), {}
    for query_id, bounds in zip(judgments.query_ids, pairwise(judgments.offsets.tolist()), strict=True):
        rows = slice(*bounds)
        docs_after = after.get(query_id, {})
        in_both = (doc for doc in before.get(query_id, {}) if doc in docs_after)
        judged = zip(documents[rows], grades[rows], strict=True)
        qrels[query_id] = {**dict.fromkeys(map(str, in_both), 0.0), **dict(judged)}
    return Judgments.of(qrels)


# --- the result ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class QueryChange:
    """The changes on a query.

    Attributes
    ----------
    query_id : str
    text : str or None
        None if the data set has no text of this query.
    before, after : float
        The value of the measure.
    pairs : PairCounts
    overlap : float or None
        The rank-biased overlap of the two rankings; None if both are empty.
    """

    query_id: str
    text: str | None
    before: float
    after: float
    pairs: PairCounts
    overlap: float | None

    @property
    def difference(self) -> float:
        """After minus before."""
        return self.after - self.before

    def record(self) -> dict[str, Any]:
        """Return the row of CSV, JSON and frames."""
        values = {"query_id": self.query_id, "text": self.text, "before": self.before, "after": self.after}
        return {**values, "difference": self.difference, **asdict(self.pairs), "overlap": self.overlap}


@dataclass(frozen=True, repr=False)
class Reranking(DescribedResult):
    """The changes by a reranking; ``print`` shows them.

    ``to_polars`` and ``to_pandas`` give a row for each query of the qrels, as do CSV and JSONL.

    Attributes
    ----------
    measure : Measure
    before, after : float
        The mean of the measure over all queries of the qrels.
    moves : RankMoves
    early : PairCounts
        The pairs of all queries whose two documents are within the cutoff in both runs.
    cutoff : int or None
    queries : list of QueryChange
        All queries of the qrels, in ascending order of the ids.
    persistence : float
        The p of the rank-biased overlap.
    top : int
        The largest number of queries in `gained` and in `lost`.
    notes : list of str
        Notes on the runs: queries that they lack, or that have no judgments.
    names : (str, str)
        The names of the two runs.
    origin : Origin or None
        The sources of the qrels and the runs.
    rel : float
        The grade from which a document is relevant.
    judged_only : bool
        Whether pairs are of judged documents only.
    """

    measure: Measure
    before: float
    after: float
    moves: RankMoves
    early: PairCounts
    cutoff: int | None
    queries: list[QueryChange]
    persistence: float
    top: int
    notes: list[str]
    names: tuple[str, str] = ("before", "after")
    origin: Origin | None = field(default=None)
    rel: float = 1
    judged_only: bool = False

    @property
    def pairs(self) -> PairCounts:
        """The pairs of all queries."""
        return sum_pairs(query.pairs for query in self.queries)

    @property
    def overlap(self) -> float | None:
        """The mean of the overlaps; None if no query has documents."""
        known = [query.overlap for query in self.queries if query.overlap is not None]
        return sum(known) / len(known) if known else None

    def _changed(self, sign: int) -> list[QueryChange]:
        """List the queries that gained, or lost, the largest change first; equal up to rounding is equal."""
        changes = [(sign * round(query.difference, 12), query) for query in self.queries]
        ordered = sorted(changes, key=lambda change: -change[0])
        return [query for change, query in ordered if change > 0]

    @property
    def gained(self) -> list[QueryChange]:
        """The queries that gained most, the largest change first."""
        return self._changed(1)[: self.top]

    @property
    def lost(self) -> list[QueryChange]:
        """The queries that lost most, the largest change first."""
        return self._changed(-1)[: self.top]

    @property
    def n_gained(self) -> int:
        """Number of queries on which the measure rose by more than 1e-12."""
        return len(self._changed(1))

    @property
    def n_lost(self) -> int:
        """Number of queries on which the measure fell by more than 1e-12."""
        return len(self._changed(-1))

    @property
    def n_unchanged(self) -> int:
        """Number of the other queries."""
        return len(self.queries) - self.n_gained - self.n_lost

    def __repr__(self) -> str:
        """Name the measure and its values."""
        return f"<Reranking: {_means(self)}, {pluralize(len(self.queries), 'query')}>"

    def report(self) -> Report:
        """Build the report of the changes."""
        return Report(
            titled(self.origin, 2, len(self.queries)),
            [f"{_means(self)}; {_queries(self)}.", *(f"{each}." for each in heading_notes([self.measure]))],
            [
                *_overlap(self),
                Section("relevant documents", texts=_documents(self.moves)),
                Section("pairs of documents with different grades", texts=[*_pairs(self)]),
                *_most(self),
            ],
            self.notes,
            self._content,
            self._rows,
            partial(how_made, [self.measure], self.origin),
            methods=partial(reranking_methods, self),
        )

    def _rows(self) -> list[dict[str, Any]]:
        return [query.record() for query in self.queries]

    def _content(self) -> dict[str, Any]:
        return {
            "measure": name_of(self.measure),
            "names": self.names,
            "before": self.before,
            "after": self.after,
            "gained": self.n_gained,
            "lost": self.n_lost,
            "unchanged": self.n_unchanged,
            "moves": asdict(self.moves),
            "pairs": asdict(self.pairs) | {"improvement": self.pairs.improvement},
            "p_imp": {
                "cutoff": self.cutoff,
                "put_right": self.early.put_right,
                "pairs": self.early.total,
                "share": self.early.share_put_right,
            },
            "rank_biased_overlap": {"p": self.persistence, "mean": self.overlap},
            "by_query": self._rows(),
            "notes": self.notes,
            "provenance": provenance([self.measure], self.origin),
        }


def _means(result: Reranking) -> str:
    [heading], (before, after) = headings_of([result.measure]), result.names
    difference = f"{result.after - result.before:+.4f}"
    return f"{heading}: {result.before:.4f} {before}, {result.after:.4f} {after} ({difference})"


def _queries(result: Reranking) -> str:
    gained = pluralize(result.n_gained, "query")
    return f"{gained} gained, {result.n_lost:,} lost, {result.n_unchanged:,} unchanged"


def _overlap(result: Reranking) -> Iterator[Section]:
    """Yield the section on the rank-biased overlap, unless all rankings are empty."""
    if result.overlap is not None:
        text = f"rank-biased overlap: {result.overlap:.4f} on average (p = {result.persistence:g})"
        yield Section("all documents", texts=[text])


def _documents(moves: RankMoves) -> list[str]:
    counts = (
        f"{moves.up:,} up, {moves.down:,} down, {moves.unchanged:,} unchanged, {moves.entered:,} entered, "
        f"{moves.left:,} left, {moves.absent:,} in neither"
    )
    if moves.mean is None:
        return [counts, "no relevant document is in both runs"]
    mean, median = _direction(moves.mean, ".2f"), _direction(moves.median or 0, "g")
    return [counts, f"ranks: {mean} on average, {median} in the median"]


def _direction(ranks_up: float, form: str) -> str:
    if not float(f"{ranks_up:{form}}"):  # a value that prints as 0 has no direction
        return "0"
    return f"{abs(ranks_up):{form}} {'up' if ranks_up > 0 else 'down'}"


def _pairs(result: Reranking) -> Iterator[str]:
    """Write the counts of pairs, and P-imp@k if the measure has a cutoff k."""
    pairs, early, k = result.pairs, result.early, result.cutoff
    share = "" if pairs.improvement is None else f"; net {pairs.improvement:+.1%} of {pairs.total:,}"
    yield (
        f"{pairs.put_right:,} put right, {pairs.broken:,} broken, {pairs.still_right:,} still right, "
        f"{pairs.still_wrong:,} still wrong{share}"
    )
    if k is not None and early.share_put_right is not None:
        counts = (
            f"{early.put_right:,} of {pluralize(early.total, 'pair')} within the first {k:,} of both runs"
        )
        yield f"P-imp@{k}: {early.share_put_right:.4f} ({counts} put right)"


def _most(result: Reranking) -> Iterator[Section]:
    """Yield the sections with the queries that gained and lost most, if there are any."""
    lists = {"queries that gained most": result.gained, "queries that lost most": result.lost}
    for heading, changes in lists.items():
        if changes:
            yield Section(heading, texts=[*map(_line, changes)])


_MAX_TEXT_LENGTH = 100
"""The number of characters shown of a query's text; JSON and CSV have the whole text."""


def _line(change: QueryChange) -> str:
    text = "" if change.text is None else f"  {shortened(' '.join(change.text.split()), _MAX_TEXT_LENGTH)}"
    return f"{change.difference:+.4f} ({change.before:.4f} to {change.after:.4f})  {change.query_id}{text}"


# --- for a paper -----------------------------------------------------------------------------------------


def reranking_methods(result: Reranking) -> Methods:
    """Describe how the numbers of a reranking were computed."""
    n_queries = len(result.queries)
    return methods_of(
        [result.measure],
        result.origin,
        result.names,
        n_queries,
        [means_over_queries(n_queries)],
        _of_reranking(result),
    )


def _of_reranking(result: Reranking) -> Iterator[str]:
    """Describe the comparison of the two rankings."""
    before, after = map(literal, result.names)
    yield f"The reranked run {after} is compared with {before}."
    yield "A query gains or loses if its value changes by more than $10^{-12}$."
    if result.overlap is not None:
        yield (
            "The rankings agree by their extrapolated rank-biased overlap [@webber2010similarity] with "
            f"$p = {number(result.persistence)}$, averaged over the queries for which a run retrieves "
            "something."
        )
    yield f"The moves are those of documents of grade {number(result.rel)} and above."
    unjudged = "only judged documents count" if result.judged_only else "an unjudged document has grade 0"
    yield (
        f"Pairs are of two documents of a query with different grades that both runs retrieve; {unjudged}, "
        "and a pair is right if the higher grade has the better rank."
    )
    if result.cutoff is not None and result.early.share_put_right is not None:
        yield (
            f"P-imp@{result.cutoff} is the share of pairs that the reranking puts right, of the pairs whose "
            f"documents both runs have within the first {pluralize(result.cutoff, 'rank')}."
        )


# --- the function --------------------------------------------------------------------------------------


def reranking(
    qrels: QrelsLike | Judgments,
    before: RunLike,
    after: RunLike,
    measure: MeasuresLike = "nDCG@10",
    top: int = 5,
    rel: float = 1,
    judged_only: bool = False,
    names: tuple[str, str] = ("before", "after"),
    persistence: float = PERSISTENCE,
) -> Reranking:
    """Compare a run before and after reranking: ranks of relevant documents, pairs of documents, queries.

    Parameters
    ----------
    qrels : QrelsLike
        Judgments in any form.
    before, after : RunLike
        The original run and the reranked run, in any form.
    measure : Measure or str, or a dict of its name to it
        The measure that decides which queries gain and lose.
    top : int, at least 0
        Number of queries to list with the largest gains, and with the largest losses.
    rel : float
        The grade from which a document is relevant, also for a measure that does not name its own.
    judged_only : bool
        Whether pairs are of judged documents only. Otherwise an unjudged document counts as grade 0 and can
        be the lower one of a pair. In LitSearch, where only relevant documents are judged, all pairs are so.
    names : (str, str)
        Names of the two runs in texts and errors.
    persistence : float, above 0 and below 1
        The p of the rank-biased overlap of the two rankings: the probability of going on to the next rank.

    Returns
    -------
    Reranking

    Raises
    ------
    MeasureError, InputError
        As for an evaluation; also if the qrels have no query, `top` is not a whole number of at least 0, or
        `rel` is nan.

    Notes
    -----
    Ranks count all retrieved documents, with ties broken as in every evaluation. In pairs a grade below 0
    counts as 0: the document is not relevant. Queries with equal changes are in ascending order of their ids.

    P-imp@k is the share of pairs put right, among the pairs whose documents are both within the first k ranks
    of both runs, where k is the cutoff of the measure. This is the measure of CLPR's memory ablation; pairs
    that are right in both runs count in its denominator too.

    Rank-biased overlap is over all documents, judged or not; `comparison.overlap` gives its formula. A query
    that a run lacks scores 0, and its relevant documents are not retrieved; the notes count such queries.

    Examples
    --------
    >>> from permed_measures.comparison.reranking import reranking
    >>> first = {"q": {"c": 3.0, "b": 2.0, "a": 1.0}}
    >>> second = {"q": {"a": 3.0, "c": 2.0, "b": 1.0}}
    >>> result = reranking({"q": {"a": 2, "b": 1, "c": 0}}, first, second, "RR")
    >>> result.moves.up, result.moves.down, result.moves.mean
    (1, 1, 0.5)
    >>> result.pairs
    PairCounts(put_right=2, broken=0, still_right=0, still_wrong=1)
    """
    top, persistence = check_int("top", top, 0), check_persistence(persistence)
    are_names = isinstance(names, (list, tuple)) and all(isinstance(name, str) for name in names)
    if not are_names or len(names) != 2:
        raise InputError(f"names must be two names (found {short_repr(names)})")
    if names[0] == names[1]:
        raise InputError(f"the two runs need different names (found {names[0]!r} twice)")
    if not isinstance(rel, Real) or math.isnan(rel):
        raise InputError(f"rel must be a number (found {rel!r})")
    measures = measures_of(measure, None if rel == 1 else rel)
    if len(measures) != 1:
        raise InputError(f"reranking takes one measure (found {len(measures)})")
    experiment = Experiment.of(qrels, {names[0]: before, names[1]: after}, measures, by_name=True)
    experiment.check_nonempty("compare by")
    judgments, [asked] = experiment.judgments, experiment.measures
    runs = dict(experiment.apply(_nested))
    evaluated = dict(replace(experiment, runs=runs).evaluate())
    values = [evaluation.values[0] for evaluation in evaluated.values()]
    judged_ranks = [rank_of_judgments(evaluation.rankings) for evaluation in evaluated.values()]
    notes = [notes_of(name, evaluation.rankings, [asked]) for name, evaluation in evaluated.items()]
    documents, ranks = judgments, judged_ranks
    if not judged_only:
        documents = with_unjudged(judgments, *runs.values())
        with warnings_about(None):  # the user has seen the warnings
            ranks = [rank_of_judgments(JudgedRankings.of(documents, run)) for run in runs.values()]
    k, texts = cutoff_of(asked), texts_of(experiment.dataset, judgments.query_ids)
    early = ranks if k is None else [np.where(rank <= k, rank, 0) for rank in ranks]
    depth = depth_looked_at(persistence)
    lists = [first_documents(run, judgments.query_ids, depth) for run in runs.values()]
    overlaps = [rank_biased_overlap(*both, persistence) for both in zip(*lists, strict=True)]
    pairs, values_of_queries = _pairs_of_queries(documents, *ranks), np.stack(values, axis=1).tolist()
    columns = zip(judgments.query_ids, values_of_queries, pairs, overlaps, strict=True)
    return Reranking(
        measure=asked,
        before=float(values[0].mean()),
        after=float(values[1].mean()),
        moves=moves_of(*judged_ranks, judgments.grade >= rel),
        early=sum_pairs(_pairs_of_queries(documents, *early)),
        cutoff=k,
        queries=[
            QueryChange(query_id, texts.get(query_id), *of_query, counts, overlap)
            for query_id, of_query, counts, overlap in columns
        ],
        persistence=persistence,
        top=top,
        notes=[*experiment.evaluator.notes(), *chain.from_iterable(notes)],
        names=names,
        origin=experiment.origin,
        rel=float(rel),
        judged_only=judged_only,
    )


def _pairs_of_queries(documents: Judgments, before: Ints, after: Ints) -> list[PairCounts]:
    """Count the pairs of each query."""
    queries = (slice(*bounds) for bounds in pairwise(documents.offsets.tolist()))
    return [count_pairs(documents.grade[rows], before[rows], after[rows]) for rows in queries]


def _nested(run: RunLike) -> Nested:
    """Load a run as a mapping, which can be read twice."""
    return stringify_keys(read_nested(run, "score"), "query ids")
