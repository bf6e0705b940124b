"""Match and rank the judged documents of a PySpark frame within Spark: no unjudged row comes to Python.

The first scan joins the rows with the judgments, and finds the matched documents ("hits"). The second
compares each row with the hits of its query, and counts the rows between them. Both small tables are
broadcast to all machines; only counts, one for each hit and query, are summed over partitions. The rows of
the run are neither shuffled nor sorted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from permed_measures.arrays import Ints
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.matching import MAX_SAMPLE_IDS, MatchedDocs
from permed_measures.engine.ranks import TieBreak
from permed_measures.engine.tables import location, missing_value, not_a_number, text_series
from permed_measures.errors import InputError
from permed_measures.frames import pl


def find_in_spark(judgments: Judgments, run: Any, ties: TieBreak) -> MatchedDocs:
    """Match and rank the judged documents of a PySpark frame, in two scans.

    Parameters
    ----------
    judgments : Judgments
    run : pyspark.sql.DataFrame
        With the columns query_id, doc_id (strings) and score (doubles).
    ties : TieBreak
        Only `TieBreak.TREC` is supported.

    Raises
    ------
    InputError
        As for any run, except that an unjudged document listed twice is not noticed; for other tie rules; and
        if the second scan finds other rows than the first.
    """
    if ties is not TieBreak.TREC:
        raise InputError(
            f"ties by {ties.value} need all rows of the run in memory (found a PySpark frame)",
            hint="Give it frame.toArrow() if that fits",
        )
    rows = run.selectExpr("*", "xxhash64(query_id) AS query_hash", "xxhash64(doc_id) AS doc_hash")
    first = _collected(judged_rows(judgments, rows))
    if first["n_wrong"].sum():
        _raise_for_wrong(rows)
    matched = first.filter(first["row"] >= 0)
    row = matched["row"].to_numpy()
    if len(duplicates := row[matched["n_rows"].to_numpy() > 1]):
        where = judgments.location(int(duplicates.min()))
        raise InputError("the document is listed twice", where=where, hint="Remove all rows but one")
    hits = _ranked(judgments, row, matched["score"])
    second = _collected(counted_rows(rows, hits))
    _check_same_rows(first, second)
    return _matched_docs(judgments, rows, hits, second)


_CHECKSUMS = "count(1) AS n_rows", "sum(shiftright(xxhash64(query_hash, doc_hash, score), 32)) AS hash"
"""Checksums over the rows of a scan; only half of each hash is used, so that the sum fits into 64 bits."""

_WRONG = "query_id IS NULL OR doc_id IS NULL OR score IS NULL OR isnan(score)"


def _sums(rows: Any, keys: list[str], *more: str) -> Any:
    """Aggregate the rows by key; keys must not be null, since Spark's code is faster then."""
    from pyspark.sql.functions import expr

    return rows.groupBy(*keys).agg(*map(expr, (*_CHECKSUMS, *more)))


def _joined(rows: Any, table: pl.DataFrame, condition: str) -> Any:
    """Join the rows with a small table.

    Conditions compare hashes first: Spark looks up a number several times as fast as strings. Strings are
    compared with BETWEEN, since Spark would look them up too if they were compared with ``=``.
    """
    from pyspark.sql.functions import broadcast, expr

    small = rows.sparkSession.createDataFrame(table.to_arrow())
    return rows.join(broadcast(small), expr(condition), "left")


def judged_rows(judgments: Judgments, rows: Any) -> Any:
    """Build a PySpark frame of the hits with their scores; row -1 has the sums of all other rows."""
    table = judgments.frame.select(
        pl.col("query_id").alias("of_query"), pl.col("doc_id").alias("judged"), "row"
    )
    same = (
        "xxhash64(query_hash, doc_hash) = xxhash64(xxhash64(of_query), xxhash64(judged)) "
        "AND query_id BETWEEN of_query AND of_query AND doc_id BETWEEN judged AND judged"
    )
    joined = _joined(rows, table, same).selectExpr(
        "coalesce(row, -1L) AS row", "query_hash", "doc_hash", "score", f"int({_WRONG}) AS wrong"
    )
    return _sums(joined, ["row"], "max(score) AS score", "sum(wrong) AS n_wrong")


class _SparkRanking(NamedTuple):
    """The hits, by query and in the order of their ranks.

    Attributes
    ----------
    row : ndarray of int64, shape (n_hits,)
        The row of each hit in the judgments.
    table : polars.DataFrame, n_queries rows
        The query id `of_query`, the `scores` and `ids` of its hits, and its `first` slot. A row's slot is the
        number of hits ranked at or above it, so a query with n hits has n + 1 slots.
    """

    row: Ints
    table: pl.DataFrame


def _ranked(judgments: Judgments, row: Ints, score: pl.Series) -> _SparkRanking:
    with np.errstate(over="ignore"):  # a score beyond float32 becomes infinite, as in Spark
        value = score.to_numpy().astype(np.float32) + np.float32(0)  # -0.0 is 0.0
    columns = {"query": judgments.query[row], "scores": value, "row": row}
    ids = text_series("ids", judgments.doc_ids(row) if len(row) else [])
    hits = pl.DataFrame(columns).with_columns(ids)
    hits = hits.sort("query", "scores", "ids", descending=[False, True, True])
    by_query = hits.group_by("query", maintain_order=True).agg("scores", "ids")
    queries = pl.DataFrame(
        [
            text_series("query_id", judgments.query_ids),
            pl.Series("query", np.arange(judgments.n_queries, dtype=np.int32)),
        ]
    )
    table = queries.join(by_query, on="query", how="left", maintain_order="left")
    lists = [pl.col(name).fill_null([]) for name in ("scores", "ids")]
    table = table.select(pl.col("query_id").alias("of_query"), *lists)
    slots = table["scores"].list.len().cast(pl.Int64) + 1
    return _SparkRanking(hits["row"].to_numpy(), table.with_columns(first=slots.cum_sum() - slots))


def counted_rows(rows: Any, hits: _SparkRanking) -> Any:
    """Build a PySpark frame with the number of rows in each slot, and in each query that is not judged."""
    from pyspark.sql.functions import expr

    same = "query_hash = xxhash64(of_query) AND query_id BETWEEN of_query AND of_query"
    joined = _joined(rows, hits.table, same).selectExpr("*", "float(score) AS value", "0 AS slot")
    n_steps = int(hits.table["scores"].list.len().to_numpy().max(initial=0)).bit_length()
    for step in (1 << power for power in reversed(range(n_steps))):
        index = f"slot + {step - 1}"  # if this hit is not after the row, nor are the hits before it
        score, hit_id = f"get(scores, {index})", f"get(ids, {index})"
        not_after = f"{score} > value OR {score} = value AND {hit_id} >= doc_id"
        joined = joined.withColumn("slot", expr(f"CASE WHEN {not_after} THEN slot + {step} ELSE slot END"))
    keys = "coalesce(first + slot, -1L) AS slot", "IF(of_query IS NULL, query_id, '') AS name"
    return _sums(joined.selectExpr(*keys, "query_hash", "doc_hash", "score"), ["slot", "name"])


def _matched_docs(judgments: Judgments, rows: Any, hits: _SparkRanking, scan: pl.DataFrame) -> MatchedDocs:
    """Compute the ranks of the hits by adding up the rows of the slots."""
    judged = scan.filter(pl.col("slot") >= 0)
    first, lengths = hits.table["first"].to_numpy(), hits.table["scores"].list.len().to_numpy()
    n_rows = np.zeros(len(first) + len(hits.row), np.int64)
    n_rows[judged["slot"].to_numpy()] = judged["n_rows"].to_numpy()
    until = np.cumsum(n_rows)
    earlier = until[first] - n_rows[first]  # rows of the previous queries
    retrieved = until[first + lengths] - earlier
    slot = np.arange(len(hits.row)) + np.repeat(np.arange(len(first)), lengths)
    rank = until[slot] - np.repeat(earlier, lengths) + 1
    shared = np.flatnonzero(retrieved)
    query_ids = {
        *scan.filter(pl.col("slot") < 0)["name"],
        *(judgments.query_ids[query] for query in shared),
    }
    some_ids = sorted(query_ids)[:MAX_SAMPLE_IDS]
    if len(shared) and not len(rank):
        some_ids = [row[0] for row in rows.select("doc_id").limit(MAX_SAMPLE_IDS).collect()]
    return MatchedDocs(hits.row, rank, retrieved, query_ids, some_ids)


def _collected(frame: Any) -> pl.DataFrame:
    return pl.DataFrame(frame.toArrow())


def _raise_for_wrong(rows: Any) -> None:
    """Raise InputError for a row without a number or an id."""
    wrong = rows.filter(_WRONG).select("query_id", "doc_id", "score").limit(1)
    for row in _collected(wrong).iter_rows(named=True):
        where = location(row["query_id"], row["doc_id"])
        column = next((name for name, value in row.items() if value is None), None)
        if column:
            raise missing_value(column, where=where)
        raise not_a_number(row["score"], "score", where=where)


def _check_same_rows(*scans: pl.DataFrame) -> None:
    """Raise InputError if two scans had different rows."""
    sums = [scan.select("n_rows", "hash").sum().row(0) for scan in scans]
    if sums[0] != sums[1]:
        counts = " and then ".join(f"{n_rows:,} rows" for n_rows, _ in sums)
        raise InputError(
            f"Spark computes a different run each time (two scans: {counts}, not the same ones)",
            hint="Write it to a table first, and evaluate that",
        )
