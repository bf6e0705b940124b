"""Runs in PySpark frames that are refused: each is an error of ours that says where."""

import os
import re

import pytest

import permed_measures as pm
from permed_measures.engine import from_spark_workers

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),  # PySpark 4.0 leaves them open
]

QRELS = {"q1": {"a": 1}, "q2": {"ü": 2}}
TEXT = "query_id string, doc_id string, score double"
NAN = float("nan")

BAD = {
    "NaN": (
        [("q1", "a", 1.0), ("q2", "ü", NAN)],
        TEXT,
        "query 'q2', document 'ü': a score must be a number (found nan)",
    ),
    "NaN, unjudged": (
        [("?", "x", NAN)],
        TEXT,
        "query '?', document 'x': a score must be a number (found nan)",
    ),
    "null": ([("q1", "a", None)], TEXT, "query 'q1', document 'a': missing value in column score"),
    "null id": ([("q1", None, 1.0)], TEXT, "query 'q1', document None: missing value in column doc_id"),
    "twice": (
        [("q1", "a", 1.0), ("q1", "a", 2.0)],
        TEXT,
        "query 'q1', document 'a': the document is listed 2 times",
    ),
    "a column missing": (
        [("q1", "a", 1.0)],
        "query_id string, document string, score double",
        "doc_id is missing (found ['query_id', 'document', 'score'])",
    ),
    "two columns": ([("q1", "a", 1.0, 2.0)], f"{TEXT}, score double", "the frame has two columns score"),
    "float ids": (
        [(1.5, "a", 1.0)],
        "query_id double, doc_id string, score double",
        "ids must be strings or integers (found double in column query_id)",
    ),
    "texts as scores": (
        [("q1", "a", "1")],
        "query_id string, doc_id string, score string",
        "column score must hold numbers (found string)",
    ),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("n_partitions", [1, 3])
@pytest.mark.parametrize("once", [True, False])
def test_a_bad_run_is_an_error_that_says_where(spark, name, n_partitions, once):
    rows, schema, message = BAD[name]
    frame = spark.createDataFrame(rows, schema).repartition(n_partitions)
    run = pm.spark.run(frame, partitioned_by_query=once)
    with pytest.raises(pm.InputError, match=re.escape(message)) as error:
        pm.calc_aggregate("RR", QRELS, run)
    assert "row 0" not in str(error.value)


def test_only_strict_refuses_an_unjudged_document_that_is_listed_twice(spark):
    run = spark.createDataFrame([("q1", "a", 1.0), ("q1", "x", 2.0), ("q1", "x", 2.0)], TEXT).repartition(3)
    assert pm.calc_aggregate("RR", {"q1": QRELS["q1"]}, run) == {pm.parse_measure("RR"): 1 / 3}
    message = "query 'q1', document 'x': the document is listed 2 times. Remove all rows but one"
    with pytest.raises(pm.InputError, match=message):
        pm.calc_aggregate("RR", QRELS, pm.spark.run(run, strict=True))


def test_a_run_that_changes_from_scan_to_scan_is_an_error(spark):
    def with_new_scores(batches):
        import pyarrow as pa

        for batch in batches:
            scores = [float(byte) for byte in os.urandom(batch.num_rows)]
            yield batch.set_column(2, "score", pa.array(scores, pa.float64()))

    run = spark.createDataFrame([("q1", f"d{n}", 1.0) for n in range(99)] + [("q1", "a", 1.0)], TEXT)
    run = run.repartition(4)
    changing = run.mapInArrow(with_new_scores, TEXT)
    message = r"not the same each time that it is computed \(two scans: 100 rows and then 100 rows"
    with pytest.raises(pm.InputError, match=message):
        pm.calc_aggregate("RR", QRELS, changing)
    once = pm.spark.run(changing.coalesce(1), partitioned_by_query=True)
    assert pm.calc_aggregate("RR", QRELS, once)  # one scan: whatever it was then


def test_functions_that_need_all_rows_say_so(spark):
    run = spark.createDataFrame([("q1", "a", 1.0)], TEXT)
    for given in (run, pm.spark.run(run)):
        with pytest.raises(pm.InputError, match=r"needs all rows of the run in memory .* frame\.toArrow\(\)"):
            pm.audit(QRELS, given, {"RR": 1.0})
        with pytest.raises(pm.InputError, match="needs all rows of the run in memory"):
            pm.crosscheck(QRELS, given)
    with pytest.raises(pm.InputError, match=r"expected qrels \(found a run\)"):
        pm.calc_aggregate("RR", pm.spark.run(run), {})
    with pytest.raises(pm.InputError, match=r"expected a PySpark frame \(found dict"):
        pm.spark.run({})


def test_judgments_that_spark_connect_does_not_take_are_an_error(monkeypatch):
    class Frame:
        __module__ = "pyspark.sql.connect.dataframe"

    monkeypatch.setattr(from_spark_workers, "_CONNECT_BYTES", 100)
    judgments = pm.evaluator("RR", QRELS).judgments
    with pytest.raises(pm.InputError, match=r"permed_measures\.spark\.evaluate"):
        from_spark_workers._packed(judgments, Frame())
