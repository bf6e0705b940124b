"""Runs, and judgments too, that are larger than one machine: PySpark frames.

A PySpark frame is a form of run for all functions that evaluate. Here is what says more of one, and what
takes qrels that do not fit into memory.
"""

from __future__ import annotations

import os
import pickle
import warnings
from functools import partial
from typing import Any

from permed_measures.engine.forms import is_spark_frame
from permed_measures.engine.inputs import SparkRun
from permed_measures.errors import InputError, PermedWarning, check_whole_number, shown
from permed_measures.measures.parameters import own_name
from permed_measures.measures.parsing import MeasuresLike, measures_of


def run(frame: Any, strict: bool = False, partitioned_by_query: bool = False) -> SparkRun:
    """Say more of a run that is a PySpark frame.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        With the columns query_id, doc_id and score, or PyTerrier's names of these.
    strict : bool, default False
        Whether to refuse any document that is listed twice in a query. Of judged documents this is always so;
        to see the others Spark must shuffle the run.
    partitioned_by_query : bool, default False
        Whether the rows of each query stand in one partition, as after ``repartition("query_id")``. Then the
        run is computed once. If a query turns up in two partitions it is computed a second time.

    Returns
    -------
    SparkRun
        A run for the functions that evaluate.
    """
    if not is_spark_frame(frame):
        raise InputError(f"expected a PySpark frame (found {type(frame).__name__} {shown(frame)})")
    return SparkRun(frame, strict, partitioned_by_query)


def evaluate(
    measures: MeasuresLike, qrels: Any, run: Any, rel: float | None = None, buckets: int = 200
) -> Any:
    """Return the value of each measure for each query, from qrels that do not fit into memory.

    Qrels and run are shuffled by a hash of the query id, and each bucket of queries is evaluated as a whole.

    Parameters
    ----------
    measures, rel
        As in `calc_aggregate`.
    qrels, run : pyspark.sql.DataFrame
        With the columns query_id, doc_id and relevance or score, or PyTerrier's names of these.
    buckets : int, default 200
        How many there are. All rows of a bucket must fit into the memory of a worker: take more for a run of
        more than some 10^9 rows.

    Returns
    -------
    pyspark.sql.DataFrame
        A row for each query of the qrels, in any order: query_id, and a column for each measure. Spark
        computes it when its rows are asked for, and then raises errors in the data as a PythonException.

    Raises
    ------
    MeasureError, InputError
        For measures that are not supported, and for frames without the columns.
    """
    from pyspark.sql import types

    from permed_measures.engine.evaluator import PermedEvaluator
    from permed_measures.engine.from_spark import typed_rows

    check_whole_number("buckets", buckets, 1)
    for frame in (qrels, run):
        if not is_spark_frame(frame):
            raise InputError(f"expected PySpark frames (found {type(frame).__name__} {shown(frame)})")
    asked = measures_of(measures, rel)
    names = [own_name(measure) or str(measure) for measure in PermedEvaluator(asked, {}).measures]
    schema = types.StructType([types.StructField("query_id", types.StringType())])
    for name in names:
        schema = schema.add(name, types.DoubleType())
    grouped = [
        _bucketed(typed_rows(frame, column), buckets)
        for frame, column in ((qrels, "relevance"), (run, "score"))
    ]
    work = partial(_evaluate_bucket, pickle.dumps(asked), names)
    return grouped[0].cogroup(grouped[1]).applyInArrow(work, schema)


def _bucketed(rows: Any, buckets: int) -> Any:
    from pyspark.sql import functions

    bucket = functions.pmod(functions.xxhash64(rows["query_id"]), functions.lit(buckets))
    return rows.withColumn("bucket", bucket).groupBy("bucket")


def _evaluate_bucket(packed: bytes, names: list[str], qrels: Any, run: Any) -> Any:
    """Evaluate the queries of a bucket, in a worker; all three tables are Arrow's."""
    os.environ.setdefault("POLARS_MAX_THREADS", "1")  # a task of Spark has one core
    import polars as pl
    import pyarrow as pa

    from permed_measures.engine.evaluator import PermedEvaluator
    from permed_measures.engine.forms import checked_frame

    frames = [pl.DataFrame(table.drop_columns(["bucket"])) for table in (qrels, run)]
    checked = [
        checked_frame(frame, column, first_row=None)
        for frame, column in zip(frames, ("relevance", "score"), strict=True)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", PermedWarning
        )  # of a run without judged queries, which a bucket may be
        evaluation = PermedEvaluator(pickle.loads(packed), checked[0]).evaluate(checked[1])
    values = dict(zip(names, map(pa.array, evaluation.values), strict=True))
    return pa.table({"query_id": pa.array(evaluation.rankings.judgments.query_ids, pa.string()), **values})
