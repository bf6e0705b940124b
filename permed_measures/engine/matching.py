"""Match a run with the judgments: find the retrieved documents that are judged, and their ranks.

In a dict each judged document is looked up; a table is joined with the judgments. In the code, `hits` are
these matched documents.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping
from functools import partial
from itertools import accumulate, chain, islice, repeat
from typing import Any, NamedTuple

import numpy as np

from permed_measures.arrays import Floats, Ints
from permed_measures.engine.judgments import USUAL_GRADES, Judgments, check_numbers, write_doubles
from permed_measures.engine.ranks import ScoredHits, TieBreak, ranks_of, scores_differ
from permed_measures.engine.tables import Nested, Table, first_duplicate, no_dict, stringify_keys
from permed_measures.frames import pl

MAX_SAMPLE_IDS = 1000
"""Maximum number of ids that are kept for warnings."""


class MatchedDocs(NamedTuple):
    """The matched documents of a whole run, in any order.

    Attributes
    ----------
    row, rank : ndarray of int64, shape (n_hits,)
        The row of each document in the judgments, and its rank.
    retrieved : ndarray of int64, shape (n_queries,)
        The number of retrieved documents for each query of the judgments.
    query_ids : collection of str
        The queries of the run.
    some_ids : list of str
        Ids of the run for a warning: of documents, or of queries if no query is judged.
    scores_differ : bool
        Whether some query has two different scores. Always True for rankings cut at a depth, where it is not
        needed.
    may_be_grades : bool
        Whether all scores look like grades; checked only if the grades look like scores.
    """

    row: Ints
    rank: Ints
    retrieved: Ints
    query_ids: Collection[str]
    some_ids: list[str]
    scores_differ: bool = True
    may_be_grades: bool = False


# --- dicts -----------------------------------------------------------------------------------------


def match_dict(judgments: Judgments, run: Nested, ties: TieBreak, depth: int | None) -> MatchedDocs:
    """Match the documents of a run in dicts; ranks beyond `depth` are not exact, only beyond it."""
    named = stringify_keys(run, "query ids of the run")
    query = [index for index, query_id in enumerate(judgments.query_ids) if query_id in named]
    query_ids = [judgments.query_ids[index] for index in query]
    docs = [named[query_id] for query_id in query_ids]
    some_ids: list[str] = []
    if not ({*map(type, docs)} <= {dict} and _seem_strings(docs)):
        docs = list(map(_stringify_keys, query_ids, docs))
    rows = scores_of(judgments, query, docs)
    if not len(rows.row):
        docs = list(map(_stringify_keys, query_ids, docs))
        rows = scores_of(judgments, query, docs)
        some_ids = list(map(str, islice(chain.from_iterable(docs) if query else named, MAX_SAMPLE_IDS)))
    grades = judgments.may_be_scores and may_be_grades(run)
    ranks, retrieved = ranks_of(rows, judgments, ties, depth), rows.end - rows.start
    differ = depth is not None or scores_differ(rows)
    return MatchedDocs(rows.row, ranks, retrieved, named, some_ids, differ, grades)


def may_be_grades(run: Nested) -> bool:
    """Check whether all scores of a run look like grades."""
    scores = chain.from_iterable(documents.values() for documents in run.values())
    return any(run.values()) and all(score in USUAL_GRADES for score in scores)


def _stringify_keys(query_id: str, docs: Mapping[Any, float]) -> Mapping[str, float]:
    """Convert the document ids of a query to strings."""
    if not isinstance(docs, Mapping):
        raise no_dict(query_id, docs, "score")
    return stringify_keys(docs, "document ids", query_id=query_id)


def _seem_strings(docs: list[Mapping[Any, float]]) -> bool:
    """Check whether a sample of the ids are strings; `RunLike` describes the sample.

    Checking all ids of a large run takes more than half as long as reading its scores.
    """
    first, last = map(next, map(iter, docs), _NO_ID), map(next, map(reversed, docs), _NO_ID)
    sample = docs[:: len(docs) // _N_QUERIES_CHECKED or 1]
    return {*map(type, chain(first, last, *sample))} <= {str}


_NO_ID = repeat("")
_N_QUERIES_CHECKED = 10
"""Number of queries (roughly) in which all ids are checked."""


def scores_of(judgments: Judgments, query: list[int], docs: list[Mapping[str, float]]) -> ScoredHits:
    """Read all scores of these queries, and look up the scores of their judged documents.

    The lookup follows the reading of the same query, while its scores are in the processor's cache. It also
    tries the integer that an id may denote: if the run has one, all its ids are converted to strings.
    """
    lengths, offsets = list(map(len, docs)), judgments.offsets.tolist()
    score = np.empty(sum(lengths))
    matched: list[float] = []
    may_be_integers = judgments.lowest < ":"  # ":" is the character after "9"
    is_integer = str.isdecimal if judgments.lowest >= "0" else _INTEGER.fullmatch  # "-" is before "0"
    for index, length, end, retrieved in zip(query, lengths, accumulate(lengths), docs, strict=True):
        write_doubles(score, end - length, retrieved.values())
        judged = judgments.source_documents[offsets[index] : offsets[index + 1]]
        matched += map(retrieved.get, judged, _NAN)
        if may_be_integers and _has_integer(retrieved, judged, is_integer):
            query_ids = map(judgments.query_ids.__getitem__, query)
            return scores_of(judgments, query, list(map(_stringify_keys, query_ids, docs)))
    if math.isnan(np.minimum.reduce(score, initial=math.inf)):
        for index, retrieved in zip(query, docs, strict=True):
            check_numbers(judgments.query_ids[index], retrieved, "score")
    n_docs, judged_score = np.array(lengths, np.int64), np.empty(len(matched))
    write_doubles(judged_score, 0, matched)
    if len(query) < judgments.n_queries:
        n_docs, judged_score = _with_absent(judgments, query, n_docs, judged_score)
    judged_score = judged_score[judgments.source_position]
    [row] = (judged_score == judged_score).nonzero()  # NaN, which equals nothing: not retrieved
    end_of: Ints = np.add.accumulate(n_docs)
    return ScoredHits(score, end_of - n_docs, end_of, partial(_ids_at, docs), row, judged_score[row])


def _has_integer(
    retrieved: Mapping[Any, float], doc_ids: list[str], is_integer: Callable[[str], object]
) -> bool:
    """Check whether the run has one of these ids as an integer."""
    try:
        return not retrieved.keys().isdisjoint(map(int, filter(is_integer, doc_ids)))
    except ValueError:  # Python refuses to convert more than 4,300 digits
        return _has_integer(retrieved, doc_ids, _INTEGER.fullmatch)


_INTEGER = re.compile("-?[0-9]{1,600}")


def _with_absent(
    judgments: Judgments, query: list[int], n_docs: Ints, judged_score: Floats
) -> tuple[Ints, Floats]:
    """Add the queries that the run lacks: 0 documents, and NaN as the score of each judged document."""
    all_n_docs, all_scores = np.zeros(judgments.n_queries, np.int64), np.full(len(judgments.query), np.nan)
    all_n_docs[query] = n_docs
    is_in_run = np.zeros(judgments.n_queries, np.bool_)
    is_in_run[query] = True
    all_scores[is_in_run[judgments.query]] = judged_score
    return all_n_docs, all_scores


_NAN = repeat(math.nan)


def _ids_at(docs: list[Mapping[str, float]], position: Ints) -> list[str]:
    """Return the document ids at ascending positions in the concatenation of these mappings."""
    n_docs = np.array(list(map(len, docs)), np.int64)
    end = n_docs.cumsum()
    start, mapping = end - n_docs, np.searchsorted(end, position, "right")
    first = np.flatnonzero(np.diff(mapping, prepend=-1))
    within = np.split(position - start[mapping], first[1:])
    parts = zip(mapping[first].tolist(), within, strict=True)
    return list(chain.from_iterable(map(list(docs[n]).__getitem__, where.tolist()) for n, where in parts))


# --- tables ----------------------------------------------------------------------------------------


def find_in_table(judgments: Judgments, run: Table, ties: TieBreak, depth: int | None) -> MatchedDocs:
    """Match the documents part by part; put all parts together if a query has rows in two of them."""
    parts, seen = [], set[str]()
    for frame in run:
        parts.append(_match_frame(judgments, run, frame, ties, depth))
        if not seen.isdisjoint(parts[-1].query_ids):
            break  # end this pass before the next one begins: DuckDB allows one reader at a time
        seen.update(parts[-1].query_ids)
    else:
        return _merged(judgments, parts)
    return _match_frame(judgments, run, run.whole(), ties, depth)


def _merged(judgments: Judgments, parts: list[MatchedDocs]) -> MatchedDocs:
    """Merge the matched documents of parts that share no query."""
    row, rank = (np.concatenate([_NO_ROWS, *(part[i] for part in parts)]) for i in (0, 1))
    retrieved = sum((part.retrieved for part in parts), np.zeros(judgments.n_queries, np.int64))
    query_ids = set().union(*(part.query_ids for part in parts))
    doc_ids = chain.from_iterable(part.some_ids for part in parts if part.retrieved.any())
    some_ids = list(islice(doc_ids, MAX_SAMPLE_IDS)) or sorted(query_ids)[:MAX_SAMPLE_IDS]
    grades = bool(parts) and all(part.may_be_grades for part in parts)
    differ = any(part.scores_differ for part in parts)
    return MatchedDocs(row, rank, retrieved, query_ids, some_ids, differ, grades)


_NO_ROWS = np.zeros(0, np.int64)


def _match_frame(
    judgments: Judgments, run: Table, frame: pl.DataFrame, ties: TieBreak, depth: int | None
) -> MatchedDocs:
    if (duplicate := first_duplicate(frame)) is not None:
        raise run.twice(*duplicate)
    frame, blocks = _by_query(frame)
    query_ids, length = blocks["value"].to_list(), blocks["len"].to_numpy().astype(np.int64)
    query = judgments.queries_of(query_ids)
    start, end = np.zeros((2, judgments.n_queries), np.int64)
    known = query >= 0
    end[query[known]] = np.cumsum(length)[known]
    start[query[known]] = end[query[known]] - length[known]
    score = frame["score"].to_numpy()
    row, hit_score = _joined(judgments, frame, query[known])
    rows = ScoredHits(score, start, end, partial(_ids_of, frame["doc_id"]), row, hit_score)
    some_ids = (
        frame["doc_id"].head(MAX_SAMPLE_IDS).to_list() if known.any() else sorted(query_ids)[:MAX_SAMPLE_IDS]
    )
    grades = judgments.may_be_scores and bool(np.isin(score, list(USUAL_GRADES)).all())
    ranks, differ = ranks_of(rows, judgments, ties, depth), depth is not None or scores_differ(rows)
    return MatchedDocs(row, ranks, end - start, set(query_ids), some_ids, differ, grades)


def _ids_of(column: pl.Series, position: Ints) -> list[str]:
    return column.gather(position).to_list()


def _by_query(frame: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Put the rows of each query together, in their order; return also the number of rows per query."""
    blocks = frame["query_id"].rle().struct.unnest()
    if blocks["value"].n_unique() < len(blocks):
        code = frame["query_id"].cast(pl.Categorical).to_physical().to_numpy()
        return _by_query(frame[np.argsort(code, kind="stable")])
    return frame, blocks


def _joined(judgments: Judgments, frame: pl.DataFrame, query: Ints) -> tuple[Ints, np.ndarray[Any, Any]]:
    """Join a frame with the judgments of its queries; return judgment row and score of each matched document.

    The first join is by document alone, which leaves few rows. Judgments of other queries are left out: with
    many frames, each would be joined with all of them.
    """
    judged = judgments.of_queries(query).lazy()
    candidates = frame.lazy().join(judged.select("doc_id"), on="doc_id", how="semi")
    matched = candidates.join(judged, on=["query_id", "doc_id"], how="inner").collect()
    return matched["row"].to_numpy(), matched["score"].to_numpy()
