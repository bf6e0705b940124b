"""The hits of a run, retrieved documents that are judged: a dict is asked for each, tables are joined."""

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
from permed_measures.engine.tables import Nested, Table, first_repeated, no_dict, with_string_ids
from permed_measures.frames import pl

SOME = 1000
"""Ids of a run that warnings look at."""


class MatchedDocs(NamedTuple):
    """The hits of a whole run, in any order.

    Attributes
    ----------
    row, rank : ndarray of int64, shape (n_hits,)
        The judgment that each is, and its rank.
    retrieved : ndarray of int64, shape (n_queries,)
        How many documents were retrieved for each query of the judgments.
    query_ids : collection of str
        The queries of the run.
    some_ids : list of str
        Ids of the run for a warning: of some documents, or of queries where none is judged.
    scores_differ : bool
        Whether some query has two scores that differ; True where nobody asks: of rankings that are cut.
    may_be_grades : bool
        Whether all scores look like grades; looked at only where the grades look like scores.
    """

    row: Ints
    rank: Ints
    retrieved: Ints
    query_ids: Collection[str]
    some_ids: list[str]
    scores_differ: bool = True
    may_be_grades: bool = False


# --- of a mapping ----------------------------------------------------------------------------------


def match_dict(judgments: Judgments, run: Nested, ties: TieBreak, depth: int | None) -> MatchedDocs:
    """Find the judged documents of a run, and their ranks; a rank beyond `depth` is any such rank."""
    named = with_string_ids(run, "query ids of the run")
    query = [number for number, query_id in enumerate(judgments.query_ids) if query_id in named]
    query_ids = [judgments.query_ids[each] for each in query]
    docs = [named[query_id] for query_id in query_ids]
    some_ids: list[str] = []
    if not ({*map(type, docs)} <= {dict} and _seem_strings(docs)):
        docs = list(map(_with_string_ids, query_ids, docs))
    rows = scores_of(judgments, query, docs)
    if not len(rows.row):
        docs = list(map(_with_string_ids, query_ids, docs))
        rows = scores_of(judgments, query, docs)
        some_ids = list(map(str, islice(chain.from_iterable(docs) if query else named, SOME)))
    grades = judgments.may_be_scores and may_be_grades(run)
    ranks, retrieved = ranks_of(rows, judgments, ties, depth), rows.end - rows.start
    differ = depth is not None or scores_differ(rows)
    return MatchedDocs(rows.row, ranks, retrieved, named, some_ids, differ, grades)


def may_be_grades(run: Nested) -> bool:
    """Return whether all scores of a run look like grades."""
    scores = chain.from_iterable(documents.values() for documents in run.values())
    return any(run.values()) and all(score in USUAL_GRADES for score in scores)


def _with_string_ids(query_id: str, docs: Mapping[Any, float]) -> Mapping[str, float]:
    """Return the documents of a query with string ids."""
    if not isinstance(docs, Mapping):
        raise no_dict(query_id, docs, "score")
    return with_string_ids(docs, "document ids", query_id=query_id)


def _seem_strings(docs: list[Mapping[Any, float]]) -> bool:
    """Return whether some ids are strings; `RunLike` says which.

    To look at all ids of a large run takes more than half as long as to read its scores.
    """
    first, last = map(next, map(iter, docs), _NO_ID), map(next, map(reversed, docs), _NO_ID)
    some = docs[:: len(docs) // _N_QUERIES_LOOKED_AT or 1]
    return {*map(type, chain(first, last, *some))} <= {str}


_NO_ID = repeat("")
_N_QUERIES_LOOKED_AT = 10
"""Queries of which all ids are looked at, if there are so many."""


def scores_of(judgments: Judgments, query: list[int], docs: list[Mapping[str, float]]) -> ScoredHits:
    """Return all scores of these queries, and those of their judged documents.

    A judged document is looked up when the scores of its query have just been read: they are in the cache. So
    is the integer that its id may be the text of: where there is one, all ids of the run become strings.
    """
    lengths, offsets = list(map(len, docs)), judgments.offsets.tolist()
    score = np.empty(sum(lengths))
    found: list[float] = []
    may_be_integers = judgments.lowest < ":"  # the character after 9
    is_integer = str.isdecimal if judgments.lowest >= "0" else _INTEGER.fullmatch  # a minus is before 0
    for each, length, end, retrieved in zip(query, lengths, accumulate(lengths), docs, strict=True):
        write_doubles(score, end - length, retrieved.values())
        judged = judgments.given[offsets[each] : offsets[each + 1]]
        found += map(retrieved.get, judged, _NAN)
        if may_be_integers and _has_integer(retrieved, judged, is_integer):
            query_ids = map(judgments.query_ids.__getitem__, query)
            return scores_of(judgments, query, list(map(_with_string_ids, query_ids, docs)))
    if math.isnan(np.minimum.reduce(score, initial=math.inf)):
        for each, retrieved in zip(query, docs, strict=True):
            check_numbers(judgments.query_ids[each], retrieved, "score")
    n_docs, of_judged = np.array(lengths, np.int64), np.empty(len(found))
    write_doubles(of_judged, 0, found)
    if len(query) < judgments.n_queries:
        n_docs, of_judged = _with_absent(judgments, query, n_docs, of_judged)
    of_judged = of_judged[judgments.order]
    [row] = (of_judged == of_judged).nonzero()  # NaN equals nothing
    end_of: Ints = np.add.accumulate(n_docs)
    return ScoredHits(score, end_of - n_docs, end_of, partial(_ids_at, docs), row, of_judged[row])


def _has_integer(
    retrieved: Mapping[Any, float], doc_ids: list[str], is_integer: Callable[[str], object]
) -> bool:
    """Return whether the id of one of these documents is there as an integer."""
    try:
        return not retrieved.keys().isdisjoint(map(int, filter(is_integer, doc_ids)))
    except ValueError:  # Python makes no integers of a few thousand digits
        return _has_integer(retrieved, doc_ids, _INTEGER.fullmatch)


_INTEGER = re.compile("-?[0-9]{1,600}")


def _with_absent(
    judgments: Judgments, query: list[int], n_docs: Ints, of_judged: Floats
) -> tuple[Ints, Floats]:
    """Return documents per query and scores of the judged ones, with those of queries that the run lacks."""
    n_of_all, of_all = np.zeros(judgments.n_queries, np.int64), np.full(len(judgments.query), np.nan)
    n_of_all[query] = n_docs
    is_in_run = np.zeros(judgments.n_queries, np.bool_)
    is_in_run[query] = True
    of_all[is_in_run[judgments.query]] = of_judged
    return n_of_all, of_all


_NAN = repeat(math.nan)


def _ids_at(docs: list[Mapping[str, float]], position: Ints) -> list[str]:
    """Return the documents at these places of all documents, of which each mapping has some."""
    n_docs = np.array(list(map(len, docs)), np.int64)
    end = n_docs.cumsum()
    start, number = end - n_docs, np.searchsorted(end, position, "right")
    first = np.flatnonzero(np.diff(number, prepend=-1))
    within = np.split(position - start[number], first[1:])
    parts = zip(number[first].tolist(), within, strict=True)
    return list(chain.from_iterable(map(list(docs[n]).__getitem__, some.tolist()) for n, some in parts))


# --- of tables -------------------------------------------------------------------------------------


def find_in_table(judgments: Judgments, run: Table, ties: TieBreak, depth: int | None) -> MatchedDocs:
    """Find those of one part after the other, or of all together if a query has rows in two of them."""
    found, seen = [], set[str]()
    for frame in run:
        found.append(_of_frame(judgments, run, frame, ties, depth))
        if not seen.isdisjoint(found[-1].query_ids):
            break  # before all are read again: DuckDB reads one at a time
        seen.update(found[-1].query_ids)
    else:
        return _merged(judgments, found)
    return _of_frame(judgments, run, run.whole(), ties, depth)


def _merged(judgments: Judgments, parts: list[MatchedDocs]) -> MatchedDocs:
    """Return the hits of parts of a run that share no query."""
    row, rank = (np.concatenate([_NO_ROWS, *(part[i] for part in parts)]) for i in (0, 1))
    retrieved = sum((part.retrieved for part in parts), np.zeros(judgments.n_queries, np.int64))
    query_ids = set().union(*(part.query_ids for part in parts))
    of_documents = chain.from_iterable(part.some_ids for part in parts if part.retrieved.any())
    some_ids = list(islice(of_documents, SOME)) or sorted(query_ids)[:SOME]
    grades = bool(parts) and all(part.may_be_grades for part in parts)
    differ = any(part.scores_differ for part in parts)
    return MatchedDocs(row, rank, retrieved, query_ids, some_ids, differ, grades)


_NO_ROWS = np.zeros(0, np.int64)


def _of_frame(
    judgments: Judgments, run: Table, frame: pl.DataFrame, ties: TieBreak, depth: int | None
) -> MatchedDocs:
    if (pair := first_repeated(frame)) is not None:
        raise run.twice(*pair)
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
    some_ids = frame["doc_id"].head(SOME).to_list() if known.any() else sorted(query_ids)[:SOME]
    grades = judgments.may_be_scores and bool(np.isin(score, list(USUAL_GRADES)).all())
    ranks, differ = ranks_of(rows, judgments, ties, depth), depth is not None or scores_differ(rows)
    return MatchedDocs(row, ranks, end - start, set(query_ids), some_ids, differ, grades)


def _ids_of(column: pl.Series, position: Ints) -> list[str]:
    return column.gather(position).to_list()


def _by_query(frame: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the frame with the rows of each query together, in their order; and how many each query has."""
    blocks = frame["query_id"].rle().struct.unnest()
    if blocks["value"].n_unique() < len(blocks):
        number = frame["query_id"].cast(pl.Categorical).to_physical().to_numpy()
        return _by_query(frame[np.argsort(number, kind="stable")])
    return frame, blocks


def _joined(judgments: Judgments, frame: pl.DataFrame, query: Ints) -> tuple[Ints, np.ndarray[Any, Any]]:
    """Return judgment and score of the hits of a frame, which has these queries of the judgments.

    It is joined by document first, which leaves few rows, and with the judgments of its own queries only: of
    many frames, each would be joined with all.
    """
    judged = judgments.of_queries(query).lazy()
    candidates = frame.lazy().join(judged.select("doc_id"), on="doc_id", how="semi")
    found = candidates.join(judged, on=["query_id", "doc_id"], how="inner").collect()
    return found["row"].to_numpy(), found["score"].to_numpy()
