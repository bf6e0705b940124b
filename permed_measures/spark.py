"""Values per query as a PySpark frame. All functions that evaluate also accept a PySpark frame as a run."""

from __future__ import annotations

from typing import Any

from permed_measures.errors import InputError, short_repr
from permed_measures.inputs.conversion import is_spark_frame
from permed_measures.inputs.door import read
from permed_measures.measures.headings import check_headings
from permed_measures.measures.parameters import alias_of
from permed_measures.measures.parsing import MeasuresLike, measures_of


def evaluate(measures: MeasuresLike, qrels: Any, run: Any, rel: float | None = None) -> Any:
    """Compute the value of each measure for each query, as a PySpark frame.

    Parameters
    ----------
    measures, rel
        As in `calc_aggregate`.
    qrels : pyspark.sql.DataFrame, or any other form of qrels
        Qrels are collected: the judgments must fit into memory.
    run : pyspark.sql.DataFrame
        With the columns query_id, doc_id and score, or PyTerrier's names for them. Spark neither collects nor
        shuffles its rows.

    Returns
    -------
    pyspark.sql.DataFrame
        A row for each query of the qrels: query_id, and a column for each measure.

    Raises
    ------
    MeasureError, InputError
        As for any qrels and run. A document that is listed twice is an error only if it is judged: to find
        unjudged duplicates, Spark would have to shuffle the run.
    """
    import pyarrow as pa

    from permed_measures.engine.evaluator import PermedEvaluator

    if not is_spark_frame(run):
        raise InputError(f"expected a PySpark frame (found {type(run).__name__} {short_repr(run)})")
    parsed = measures_of(measures, rel)
    check_headings(["query_id"], parsed)
    evaluator = PermedEvaluator(parsed, qrels, read=read)
    evaluation = evaluator.evaluate(run)
    columns = {"query_id": pa.array(evaluation.rankings.judgments.query_ids, pa.string())}
    for measure, values in zip(evaluator.measures, evaluation.values, strict=True):
        columns[alias_of(measure) or str(measure)] = pa.array(values, pa.float64())
    return run.sparkSession.createDataFrame(pa.table(columns))
