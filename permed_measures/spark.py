"""Runs, and judgments too, that are larger than one machine: PySpark frames.

A PySpark frame is a form of run for all functions that evaluate. Here is what says more of one, and what
takes qrels that do not fit into memory.
"""

from __future__ import annotations

import os
import pickle
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

from permed_measures.engine.forms import is_spark_frame
from permed_measures.engine.inputs import SparkRun
from permed_measures.errors import InputError, PermedError, PermedWarning, check_whole_number, shown
from permed_measures.measures.parameters import own_name
from permed_measures.measures.parsing import MeasuresLike, measures_of

if TYPE_CHECKING:
    from permed_measures.engine.evaluator import Evaluation


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
        A row for each query of the qrels, in any order: query_id, and a column for each measure. It has been
        computed, and is kept by Spark until ``unpersist()``.

    Raises
    ------
    MeasureError, InputError
        As for any qrels and run. Duplicates among unjudged documents are not looked for.
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
    schema = schema.add(_ERROR, types.BinaryType())
    grouped = [
        _bucketed(typed_rows(frame, column), buckets)
        for frame, column in ((qrels, "relevance"), (run, "score"))
    ]
    work = partial(_evaluate_bucket, pickle.dumps(asked), names)
    return _computed(grouped[0].cogroup(grouped[1]).applyInArrow(work, schema))


_ERROR = "_error_of_permed_measures"
"""The column of an error in a bucket: if workers raised it, Spark would try again and wrap it."""


def _computed(frame: Any) -> Any:
    """Compute a PySpark frame, raise an error that is in it, and return the other columns."""
    from pyspark.sql import Observation, functions

    seen = Observation()
    values = frame.observe(seen, functions.max(_ERROR).alias("error")).drop(_ERROR).persist()
    values.count()
    if seen.get["error"] is not None:
        values.unpersist()
        raise pickle.loads(seen.get["error"])
    return values


def _bucketed(rows: Any, buckets: int) -> Any:
    from pyspark.sql import functions

    bucket = functions.pmod(functions.xxhash64(rows["query_id"]), functions.lit(buckets))
    return rows.withColumn("bucket", bucket).groupBy("bucket")


def _evaluate_bucket(packed: bytes, names: list[str], qrels: Any, run: Any) -> Any:
    """Evaluate the queries of a bucket, in a worker; all three tables are Arrow's."""
    os.environ.setdefault("POLARS_MAX_THREADS", "1")  # a task of Spark has one core
    import pyarrow as pa

    try:
        evaluation = _evaluation(pickle.loads(packed), qrels, run)
        query_ids: list[Any] = evaluation.rankings.judgments.query_ids
        values: list[Any] = list(evaluation.values)
        error = None
    except PermedError as raised:
        query_ids, values, error = [None], [[None]] * len(names), pickle.dumps(raised)
    columns = dict(zip(names, (pa.array(row, pa.float64()) for row in values), strict=True))
    errors = pa.array([error] * len(query_ids), pa.binary())
    return pa.table({"query_id": pa.array(query_ids, pa.string()), **columns, _ERROR: errors})


def _evaluation(asked: MeasuresLike, *tables: Any) -> Evaluation:
    """Evaluate Arrow tables of qrels and run."""
    import polars as pl

    from permed_measures.engine.evaluator import PermedEvaluator
    from permed_measures.engine.forms import checked_frame

    qrels, run = (
        checked_frame(pl.DataFrame(table.drop_columns(["bucket"])), column, first_row=None)
        for table, column in zip(tables, ("relevance", "score"), strict=True)
    )
    with warnings.catch_warnings():  # of a run without judged queries, which a bucket may be
        warnings.simplefilter("ignore", PermedWarning)
        return PermedEvaluator(asked, qrels).evaluate(run)
