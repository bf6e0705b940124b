"""Runs in PySpark frames that are refused: each is an error of ours that says where."""

import os
import re

import pytest

import permed_measures as pm
from permed_measures.engine.evaluator import PermedEvaluator
from permed_measures.engine.ranks import TieBreak

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),  # PySpark 4.0 leaves them open
]

QRELS = {"q1": {"a": 1}, "q2": {"ü": 2}}
TEXT = "query_id string, doc_id string, score double"
NAN = float("nan")

BAD = [
    (("?", "x", NAN), TEXT, "query '?', document 'x': a score must be a number (found nan)"),
    (("q1", None, 1.0), TEXT, "query 'q1', document None: missing value in column doc_id"),
    (("q1", "a", 2.0), TEXT, "query 'q1', document 'a': the document is listed twice"),
    (("q1", "a", 1.0), TEXT.replace("doc_id", "d"), "doc_id is missing (found ['query_id', 'd', 'score'])"),
    (("q1", "a", 1.0, 2.0), f"{TEXT}, score double", "the frame has two columns score"),
    ((1.5, "a", 1.0), TEXT.replace("string", "double", 1), "(found double in column query_id)"),
    (("q1", "a", "1"), TEXT.replace("double", "string"), "column score must hold numbers (found string)"),
]


@pytest.mark.parametrize(("row", "schema", "message"), BAD)
def test_a_bad_run_is_an_error_that_says_where(spark, row, schema, message):
    run = spark.createDataFrame([row, row], schema).repartition(3)
    with pytest.raises(pm.InputError, match=re.escape(message)) as error:
        pm.calc_aggregate("RR", QRELS, run)
    assert "row 0" not in str(error.value)


def test_an_unjudged_document_that_is_listed_twice_takes_up_two_ranks(spark):
    """The one exception: to see it, Spark would have to shuffle the run."""
    run = spark.createDataFrame([("q1", "a", 1.0), ("q1", "x", 2.0), ("q1", "x", 2.0)], TEXT).repartition(3)
    assert pm.calc_aggregate("RR", {"q1": QRELS["q1"]}, run) == {pm.parse_measure("RR"): 1 / 3}


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


def test_what_needs_all_rows_says_so(spark):
    run = spark.createDataFrame([("q1", "a", 1.0)], TEXT)
    with pytest.raises(pm.InputError, match=r"needs all rows of the run in memory .* frame\.toArrow\(\)"):
        pm.audit(QRELS, run, {"RR": 1.0})
    with pytest.raises(pm.InputError, match=r"ties by trec10 need all rows .* frame\.toArrow\(\)"):
        PermedEvaluator(["RR"], QRELS, TieBreak.TREC10).evaluate(run)
