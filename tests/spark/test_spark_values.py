"""A PySpark frame as a run: the same numbers as in memory, without a shuffle."""

import random
import re
from itertools import pairwise

import polars as pl
import pytest
from spark_runs import assert_same, many_cases, parquet, scattered, values_of

import permed_measures as pm
from permed_measures.engine import from_spark

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),  # PySpark 4.0 leaves them open
]

QRELS, RUN, MEASURES = many_cases()


@pytest.fixture
def plans(monkeypatch):
    """Collect the physical plan of each scan, as a list of its operators from the last to the first."""
    found = []

    def noted(frame):
        plan = frame._jdf.queryExecution().executedPlan().toString()
        found.append([re.sub(r"^[ :+*()0-9-]*", "", line) for line in plan.splitlines()])
        return frame

    make = from_spark._sums
    monkeypatch.setattr(from_spark, "_sums", lambda *args: noted(make(*args)))
    return found


@pytest.mark.parametrize("n_files", [1, 7])
def test_every_measure_is_the_same_to_the_last_bit(spark, tmp_path, n_files):
    run = parquet(spark, scattered(RUN), tmp_path / "run", n_files)
    assert run.rdd.getNumPartitions() == n_files
    found = values_of(MEASURES, QRELS, run)
    assert_same(found, values_of(MEASURES, QRELS, pl.DataFrame(run.toArrow())))
    assert_same(found, values_of(MEASURES, QRELS, RUN))


def shuffled(plan):
    """Return the operators whose rows are shuffled."""
    return [below for line, below in pairwise(plan) if line.startswith("Exchange")]


def of_the_run(plan):
    """Return the operators from the file to where its rows are counted, without tables."""
    start = next(number for number, line in enumerate(plan) if line.startswith("FileScan"))
    last = next(n for n, line in enumerate(plan) if "functions=[partial_" in line)
    return plan[last : start + 1]


def test_the_run_is_scanned_twice_at_most_and_never_shuffled(spark, tmp_path, plans):
    frame = scattered(RUN).with_columns(text=pl.lit("not read"))
    run = parquet(spark, frame, tmp_path / "run", 7)
    values_of(["RR"], QRELS, run)
    assert len(plans) == 2
    for plan in plans:
        [counts] = shuffled(plan)
        assert counts.startswith("HashAggregate(keys=[")
        assert "functions=[partial_count(1)" in counts
        used = {line.partition(" ")[0].partition("(")[0] for line in of_the_run(plan)}
        assert used <= {"HashAggregate", "Project", "BroadcastHashJoin", "FileScan", "ColumnarToRow"}
        assert "BroadcastHashJoin" in used
        assert "ReadSchema: struct<query_id:string,doc_id:string,score:double>" in str(plan)
        assert sum(line.startswith("FileScan") for line in plan) == 1


def test_many_hits_of_one_score_and_ids_of_any_bytes(spark):
    """Comparing a row with a hundred hits takes seven steps; ids beyond the Basic Multilingual Plane."""
    ids = [f"{letter}{n}" for letter in ("", "z", "é", "\uffee", "\U0001f600") for n in range(60)]
    scores = [0.0, -0.0, 1 / 3, 1 / 3 + 1e-12, 1e300, -1e300]
    rows = [("q", doc_id, scores[n % 6]) for n, doc_id in enumerate(ids)]
    random.Random(0).shuffle(rows)
    run = spark.createDataFrame(rows, "query_id string, doc_id string, score double").repartition(3)
    qrels = {"q": dict.fromkeys(ids[::3], 1), "none": {"a": 1}}
    in_memory = {"q": {doc_id: score for _, doc_id, score in rows}}
    assert_same(values_of(["AP", "RR"], qrels, run), values_of(["AP", "RR"], qrels, in_memory))


@pytest.mark.parametrize(
    ("column", "kind"),
    [("score", "float"), ("score", "decimal(20, 9)"), ("query_id", "int"), ("doc_id", "bigint")],
)
def test_columns_of_other_types_give_the_numbers_that_they_give_in_memory(spark, column, kind):
    rows = [(q, d, ((q * 7 + d * 3) % 5) / 4 - 0.5) for q in range(5) for d in range(12)]
    frame = spark.createDataFrame(rows, "query_id int, doc_id int, score double").repartition(3)
    frame = frame.withColumn(column, frame[column].cast(kind))
    qrels = {str(q): {str(d): (q + d) % 3 for d in range(0, 12, 2)} for q in range(5)}
    expected = pl.DataFrame(frame.toArrow())
    assert_same(values_of(MEASURES, qrels, frame), values_of(MEASURES, qrels, expected))


def test_every_function_that_evaluates_takes_it(spark, tmp_path):
    run = parquet(spark, scattered(RUN), tmp_path / "run", 7)
    measures, other = [pm.Coverage @ 3, "RR"], {query: {"d1": 0.3} for query in RUN}
    assert pm.calc(measures, QRELS, run) == pm.calc(measures, QRELS, RUN)
    by = "^([0-9])"
    assert pm.evaluate_by(measures, QRELS, run, by=by) == pm.evaluate_by(measures, QRELS, RUN, by=by)
    on_spark, in_memory = (
        pm.compare(QRELS, {"a": each, "b": other}, measures, tests="t-test") for each in (run, RUN)
    )
    assert str(on_spark) == str(in_memory)


def test_a_run_of_other_queries_warns_and_an_empty_one_does_not(spark):
    run = spark.createDataFrame(
        [("topic_001_turn_1", "a", 1.0)], "query_id string, doc_id string, score double"
    )
    with pytest.warns(pm.NoSharedQueryWarning, match="'topic_001_turn_1', the qrels 'topic_001_1'"):
        assert list(pm.calc_aggregate("RR", {"topic_001_1": {"a": 1}}, run).values()) == [0]
    assert list(pm.calc_aggregate("RR", {"q": {"a": 1}}, run.limit(0)).values()) == [0]
