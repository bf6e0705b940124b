"""Qrels and run that are both PySpark frames, and so are the values."""

import os
import sys

import pytest
from cases import rows_of
from commands import run_python
from spark_runs import many_cases, scattered, values_of

import permed_measures as pm

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),  # PySpark 4.0 leaves them open
]

QRELS, RUN, MEASURES = many_cases(30)


@pytest.fixture
def frames(spark):
    judged = [(query_id, doc_id, float(grade)) for query_id, doc_id, grade in rows_of(QRELS)]
    qrels = spark.createDataFrame(judged, "query_id string, doc_id string, relevance double")
    return qrels.repartition(3), spark.createDataFrame(scattered(RUN).to_arrow()).repartition(5)


def test_values_are_those_of_the_evaluation_in_memory(frames):
    qrels, run = frames
    found = pm.spark.evaluate(MEASURES, qrels, run)
    assert found.columns == ["query_id", *map(str, MEASURES)]
    judged = {query_id: docs for query_id, docs in QRELS.items() if docs}
    expected = values_of(MEASURES, judged, RUN).per_query()
    assert {row[0]: row[1:] for row in found.collect()} == {
        query: tuple(values) for query, values in expected
    }
    assert pm.spark.evaluate({"MAP `10`": "AP@10"}, qrels, run).columns == ["query_id", "MAP `10`"]


def test_qrels_may_have_any_form_and_a_run_may_not(frames):
    qrels, run = frames
    found = pm.spark.evaluate("RR", QRELS, run).collect()
    assert sorted(found) == sorted(pm.spark.evaluate("RR", qrels, run).collect())
    with pytest.raises(pm.InputError, match=r"expected a PySpark frame \(found dict"):
        pm.spark.evaluate("RR", qrels, RUN)
    with pytest.raises(pm.InputError, match="two columns would be named 'query_id'"):
        pm.spark.evaluate({"query_id": "P@1"}, QRELS, run)
    half = {**QRELS, "q\ud800": {"d\ud800": 1}}
    assert list(pm.calc_aggregate("NumQ", half, run).values()) == [len(half)]
    with pytest.raises(pm.InputError, match="relevance is missing"):
        pm.spark.evaluate("RR", run, run)


CONNECT = """
from pyspark.sql import SparkSession
import permed_measures as pm

spark = SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false").getOrCreate()
rows = [(f"q{n % 5}", f"d{n}", float(n % 7)) for n in range(200)]
run = spark.createDataFrame(rows, "query_id string, doc_id string, score double").repartition(4)
assert "connect" in type(run).__module__
judged = [(query, doc, int(score) % 3) for query, doc, score in rows]
frame = spark.createDataFrame(judged, "query_id string, doc_id string, relevance int")
found = {row[0]: list(row)[1:] for row in pm.spark.evaluate(["nDCG@10", "RR"], frame, run).collect()}
assert found == dict(pm.evaluator(["nDCG@10", "RR"], frame).evaluate(run.toArrow()).per_query())
print("the same")
spark.stop()
"""


def test_frames_of_spark_connect_are_taken_as_well():
    """In another process: one cannot have both kinds of session."""
    pytest.importorskip("pyspark", reason="PySpark is not installed: pip install '.[spark]'")
    pytest.importorskip("grpc", reason="Spark Connect needs grpcio: pip install 'pyspark[connect]'")
    assert run_python(CONNECT, env={**os.environ, "PYSPARK_PYTHON": sys.executable}) == "the same\n"
