"""The judged documents of a PySpark frame, found and counted by Spark itself: no row of it comes to Python.

The first scan joins the rows with the judgments, which gives the hits. The second compares each row with the
hits of its query, and counts. Both tables go to all machines, and what is summed over partitions are counts:
one for each hit and query. The rows of the run are neither shuffled nor sorted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from permed_measures.arrays import Ints
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.matching import SOME, MatchedDocs
from permed_measures.engine.ranks import TieBreak
from permed_measures.engine.tables import location, missing_value, not_a_number, text_series
from permed_measures.errors import InputError
from permed_measures.frames import pl


def find_in_spark(judgments: Judgments, run: Any, ties: TieBreak) -> MatchedDocs:
    """Find the judged documents of a PySpark frame, in two scans.

    Parameters
    ----------
    judgments : Judgments
    run : pyspark.sql.DataFrame
        With the columns query_id, doc_id (strings) and score (doubles).
    ties : TieBreak
        Only `TieBreak.TREC` is known to it.

    Raises
    ------
    InputError
        As for any run, but an unjudged document that is listed twice is not seen; for other rules of ties;
        and if the second scan finds other rows than the first.
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
    found = first.filter(first["row"] >= 0)
    row = found["row"].to_numpy()
    if len(again := row[found["n_rows"].to_numpy() > 1]):
        where = judgments.location(int(again.min()))
        raise InputError("the document is listed twice", where=where, hint="Remove all rows but one")
    hits = _ranked(judgments, row, found["score"])
    second = _collected(counted_rows(rows, hits))
    _check_same_rows(first, second)
    return _of_run(judgments, rows, hits, second)


_CHECKSUMS = "count(1) AS n_rows", "sum(shiftright(xxhash64(query_hash, doc_hash, score), 32)) AS hash"
"""Of all rows of a scan; half of each hash, for the sum of so many must fit into 64 bits."""

_WRONG = "query_id IS NULL OR doc_id IS NULL OR score IS NULL OR isnan(score)"


def _sums(rows: Any, keys: list[str], *more: str) -> Any:
    """Sum over the rows with equal keys, which are not null: for these Spark's code is quicker."""
    from pyspark.sql.functions import expr

    return rows.groupBy(*keys).agg(*map(expr, (*_CHECKSUMS, *more)))


def _joined(rows: Any, table: pl.DataFrame, condition: str) -> Any:
    """Join the rows with a small table.

    Conditions compare hashes first: Spark finds a number several times as fast as strings. It would look for
    strings too if these were compared with ``=``, hence BETWEEN.
    """
    from pyspark.sql.functions import broadcast, expr

    small = rows.sparkSession.createDataFrame(table.to_arrow())
    return rows.join(broadcast(small), expr(condition), "left")


def judged_rows(judgments: Judgments, rows: Any) -> Any:
    """Return a PySpark frame of the hits with their scores; under row -1 are the sums of all other rows."""
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
    """The hits by query and in the order of their ranks.

    Attributes
    ----------
    row : ndarray of int64, shape (n_hits,)
    table : polars.DataFrame, n_queries rows
        of_query, the `scores` and `ids` of its hits, and its `first` slot. A query has one slot more than
        hits: that of a row is the number of hits which are not after it.
    """

    row: Ints
    table: pl.DataFrame


def _ranked(judgments: Judgments, row: Ints, score: pl.Series) -> _SparkRanking:
    with np.errstate(over="ignore"):  # beyond float32 is infinite, as it is in Spark
        value = score.to_numpy().astype(np.float32) + np.float32(0)  # -0.0 is 0.0
    columns = {"query": judgments.query[row], "scores": value, "row": row}
    ids = text_series("ids", judgments.ids(row) if len(row) else [])
    hits = pl.DataFrame(columns).with_columns(ids)
    hits = hits.sort("query", "scores", "ids", descending=[False, True, True])
    of_query = hits.group_by("query", maintain_order=True).agg("scores", "ids")
    queries = pl.DataFrame(
        [
            text_series("query_id", judgments.query_ids),
            pl.Series("query", np.arange(judgments.n_queries, dtype=np.int32)),
        ]
    )
    table = queries.join(of_query, on="query", how="left", maintain_order="left")
    lists = [pl.col(name).fill_null([]) for name in ("scores", "ids")]
    table = table.select(pl.col("query_id").alias("of_query"), *lists)
    slots = table["scores"].list.len().cast(pl.Int64) + 1
    return _SparkRanking(hits["row"].to_numpy(), table.with_columns(first=slots.cum_sum() - slots))


def counted_rows(rows: Any, hits: _SparkRanking) -> Any:
    """Return a PySpark frame of the sums of the rows with each slot, and of those of each other query."""
    from pyspark.sql.functions import expr

    same = "query_hash = xxhash64(of_query) AND query_id BETWEEN of_query AND of_query"
    joined = _joined(rows, hits.table, same).selectExpr("*", "float(score) AS value", "0 AS slot")
    n_steps = int(hits.table["scores"].list.len().to_numpy().max(initial=0)).bit_length()
    for step in (1 << power for power in reversed(range(n_steps))):
        at = f"slot + {step - 1}"  # if this hit is not after the row, so are those before it
        not_after = f"get(scores, {at}) > value OR get(scores, {at}) = value AND get(ids, {at}) >= doc_id"
        joined = joined.withColumn("slot", expr(f"CASE WHEN {not_after} THEN slot + {step} ELSE slot END"))
    keys = "coalesce(first + slot, -1L) AS slot", "IF(of_query IS NULL, query_id, '') AS name"
    return _sums(joined.selectExpr(*keys, "query_hash", "doc_hash", "score"), ["slot", "name"])


def _of_run(judgments: Judgments, rows: Any, hits: _SparkRanking, scan: pl.DataFrame) -> MatchedDocs:
    """Add up the rows of each slot."""
    judged = scan.filter(pl.col("slot") >= 0)
    first, lengths = hits.table["first"].to_numpy(), hits.table["scores"].list.len().to_numpy()
    n_rows = np.zeros(len(first) + len(hits.row), np.int64)
    n_rows[judged["slot"].to_numpy()] = judged["n_rows"].to_numpy()
    until = np.cumsum(n_rows)
    earlier = until[first] - n_rows[first]  # the rows of the queries before
    retrieved = until[first + lengths] - earlier
    slot = np.arange(len(hits.row)) + np.repeat(np.arange(len(first)), lengths)
    rank = until[slot] - np.repeat(earlier, lengths) + 1
    shared = np.flatnonzero(retrieved)
    query_ids = {
        *scan.filter(pl.col("slot") < 0)["name"],
        *(judgments.query_ids[query] for query in shared),
    }
    some_ids = sorted(query_ids)[:SOME]
    if len(shared) and not len(rank):
        some_ids = [row[0] for row in rows.select("doc_id").limit(SOME).collect()]
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
            f"the run is not the same each time that it is computed (two scans: {counts}, not the same ones)",
            hint="Write it to a table first, and evaluate that",
        )
