"""A PySpark frame as a run: the same numbers as in memory, without a shuffle; what is refused."""

import math
import os
import random
import re
import shutil
import socket
import sys
import warnings
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from cases import random_case, random_measure, rows_of
from commands import run_python

import permed_measures as pm
from permed_measures.engine import from_spark
from permed_measures.engine.evaluator import PermedEvaluator
from permed_measures.engine.ranks import TieBreak
from permed_measures.inputs.door import read

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),  # PySpark 4.0 leaves them open
]

TEXT = "query_id string, doc_id string, score double"


@pytest.fixture(scope="session")
def spark():
    """Return a session with two cores, to which Spark Connect has a port; none without PySpark or Java."""
    pytest.importorskip("pyspark", reason="PySpark is not installed: pip install '.[spark]'")
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        pytest.skip("Spark needs Java 17")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.files.maxPartitionBytes": "1m",  # each of our small files is a partition of its own
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.port": str(port),
    }
    builder = SparkSession.builder.master("local[2]").appName("permed-measures")
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


SCHEMA = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}


def frame_of(spark, rows, schema=SCHEMA):
    """Return rows as a frame; of a list Spark would make one by processes of Python, in each scan again."""
    return spark.createDataFrame(pl.DataFrame(rows, schema=schema, orient="row").to_arrow())


def many_cases(n_cases=60):
    """Return qrels and a run of many queries, and a measure of each kind and more."""
    rng, qrels, run = random.Random(0), {}, {}
    for number in range(n_cases):
        for whole, part in zip((qrels, run), random_case(rng), strict=True):
            whole.update({f"{number} {query}": docs for query, docs in part.items()})
    return qrels, run, list(dict.fromkeys(random_measure(rng) for _ in range(150)))


QRELS, RUN, MEASURES = many_cases()


def parquet(spark, folder, n_files):
    """Write the run in an order without order as so many files; return it as Spark reads them."""
    rows = random.Random(0).sample(rows_of(RUN), sum(map(len, RUN.values())))
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row").with_columns(text=pl.lit("not read"))
    folder.mkdir()
    cuts = [len(frame) * number // n_files for number in range(n_files + 1)]
    for number, (start, end) in enumerate(pairwise(cuts)):
        frame[start:end].write_parquet(folder / f"part-{number:03}.parquet")
    return spark.read.parquet(str(folder))


def values_of(measures, qrels, run):
    """Return all values, whatever is warned of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pm.PermedWarning)
        return PermedEvaluator(measures, qrels, read=read).evaluate(run)


def assert_same(found, expected):
    """Assert that two evaluations are the same to the last bit, and know the same of the run."""
    np.testing.assert_array_equal(found.values, expected.values)
    ours, theirs = found.rankings, expected.rankings
    np.testing.assert_array_equal(ours.rank, theirs.rank)
    np.testing.assert_array_equal(ours.row, theirs.row)
    np.testing.assert_array_equal(ours.retrieved, theirs.retrieved)
    assert (ours.n_run_queries, ours.n_shared) == (theirs.n_run_queries, theirs.n_shared)


# --- values ---


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


def shuffled(plan):
    """Return the operators whose rows are shuffled."""
    return [below for line, below in pairwise(plan) if line.startswith("Exchange")]


def of_the_run(plan):
    """Return the operators from the file to where its rows are counted, without tables."""
    start = next(number for number, line in enumerate(plan) if line.startswith("FileScan"))
    last = next(n for n, line in enumerate(plan) if "functions=[partial_" in line)
    return plan[last : start + 1]


@pytest.mark.parametrize("n_files", [1, 7])
def test_every_measure_is_the_same_to_the_last_bit_by_two_scans_without_a_shuffle(
    spark, tmp_path, plans, n_files
):
    run = parquet(spark, tmp_path / "run", n_files)
    assert run.rdd.getNumPartitions() == n_files
    found = values_of(MEASURES, QRELS, run)
    assert_same(found, values_of(MEASURES, QRELS, pl.DataFrame(run.toArrow())))
    assert_same(found, values_of(MEASURES, QRELS, RUN))
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
    run = frame_of(spark, rows).repartition(3)
    qrels = {"q": dict.fromkeys(ids[::3], 1), "none": {"a": 1}}
    in_memory = {"q": {doc_id: score for _, doc_id, score in rows}}
    assert_same(values_of(["AP", "RR"], qrels, run), values_of(["AP", "RR"], qrels, in_memory))


@pytest.mark.parametrize("kinds", [("int", "bigint", "float"), ("string", "smallint", "decimal(20, 9)")])
def test_columns_of_other_types_give_the_numbers_that_they_give_in_memory(spark, kinds):
    rows = [(q, d, ((q * 7 + d * 3) % 5) / 4 - 0.5) for q in range(5) for d in range(12)]
    frame = frame_of(spark, rows, list(SCHEMA)).repartition(3)
    frame = frame.select(*(frame[name].cast(kind) for name, kind in zip(frame.columns, kinds, strict=True)))
    qrels = {str(q): {str(d): (q + d) % 3 for d in range(0, 12, 2)} for q in range(5)}
    expected = pl.DataFrame(frame.toArrow())
    assert_same(values_of(MEASURES, qrels, frame), values_of(MEASURES, qrels, expected))


def test_every_function_that_evaluates_takes_it(spark, tmp_path):
    run = parquet(spark, tmp_path / "run", 2)
    measures, other = [pm.Coverage @ 3, "RR"], {query: {"d1": 0.3} for query in RUN}
    assert pm.calc(measures, QRELS, run) == pm.calc(measures, QRELS, RUN)
    by = "^([0-9])"
    assert pm.evaluate_by(measures, QRELS, run, by=by) == pm.evaluate_by(measures, QRELS, RUN, by=by)
    on_spark, in_memory = (
        pm.compare(QRELS, {"a": each, "b": other}, measures, tests="t-test") for each in (run, RUN)
    )
    assert str(on_spark) == str(in_memory)


def test_a_run_of_other_queries_warns_and_an_empty_one_does_not(spark):
    run = frame_of(spark, [("topic_001_turn_1", "a", 1.0)])
    with pytest.warns(pm.NoSharedQueryWarning, match="'topic_001_turn_1', the qrels 'topic_001_1'"):
        assert list(pm.calc_aggregate("RR", {"topic_001_1": {"a": 1}}, run).values()) == [0]
    assert list(pm.calc_aggregate("RR", {"q": {"a": 1}}, run.limit(0)).values()) == [0]


# --- qrels that are frames as well, and values ---


def test_values_per_query_are_a_frame_and_qrels_may_have_any_form(spark, tmp_path):
    run, judged = parquet(spark, tmp_path / "run", 2), {query: docs for query, docs in QRELS.items() if docs}
    rows = [(query_id, doc_id, float(grade)) for query_id, doc_id, grade in rows_of(QRELS)]
    qrels = frame_of(spark, rows, ["query_id", "doc_id", "relevance"]).repartition(3)
    measures = {"MAP `10`": "AP@10", "RR": "RR"}
    found = pm.spark.evaluate(measures, qrels, run)
    assert found.columns == ["query_id", *measures]
    values = {row[0]: list(row[1:]) for row in found.collect()}
    assert values == dict(values_of(measures, judged, RUN).per_query())
    assert sorted(pm.spark.evaluate(measures, judged, run).collect()) == sorted(found.collect())
    with pytest.raises(pm.InputError, match=r"expected a PySpark frame \(found dict"):
        pm.spark.evaluate("RR", qrels, RUN)
    with pytest.raises(pm.InputError, match="two columns would be named 'query_id'"):
        pm.spark.evaluate({"query_id": "P@1"}, QRELS, run)
    with pytest.raises(pm.InputError, match="relevance is missing"):
        pm.spark.evaluate("RR", run, run)
    half = {**QRELS, "q\ud800": {"d\ud800": 1}}
    assert list(pm.calc_aggregate("NumQ", half, run).values()) == [len(half)]


def test_the_guide_runs(spark, monkeypatch, capsys):
    """In this session, which it must not stop: another takes twenty seconds."""
    page = (Path(__file__).parents[2] / "notebooks" / "guide" / "spark.md").read_text(encoding="utf-8")
    [code] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    monkeypatch.setattr(type(spark), "stop", lambda _: None)
    exec(code, {})
    assert re.search(
        r"\{GradedAP@10: 0\.25, nDCG@10: 0\.31\d+\}.*\|GradedAP@10\|", capsys.readouterr().out, re.S
    )


CONNECT = """
import sys
from pyspark.sql import SparkSession
import permed_measures as pm

spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
rows = [(f"q{n % 5}", f"d{n}", float(n % 7)) for n in range(200)]
run = spark.createDataFrame(rows, "query_id string, doc_id string, score double").repartition(4)
assert "connect" in type(run).__module__
judged = [(query, doc, int(score) % 3) for query, doc, score in rows]
frame = spark.createDataFrame(judged, "query_id string, doc_id string, relevance int")
found = {row[0]: list(row)[1:] for row in pm.spark.evaluate(["nDCG@10", "RR"], frame, run).collect()}
assert found == dict(pm.evaluator(["nDCG@10", "RR"], frame).evaluate(run.toArrow()).per_query())
print("the same")
"""


@pytest.mark.skipif(
    find_spec("grpc") is None, reason="Spark Connect needs grpcio: pip install 'pyspark[connect]'"
)
def test_frames_of_spark_connect_are_taken_as_well(spark):
    """From another process: one cannot have both kinds of session."""
    port = spark.conf.get("spark.connect.grpc.binding.port")
    assert run_python(CONNECT, f"sc://127.0.0.1:{port}") == "the same\n"


# --- what is refused ---

FEW = {"q1": {"a": 1}, "q2": {"ü": 2}}
BAD = [
    (("?", "x", math.nan), TEXT, "query '?', document 'x': a score must be a number (found nan)"),
    (("q1", None, 1.0), TEXT, "query 'q1', document None: missing value in column doc_id"),
    (("q1", "a", 2.0), TEXT, "query 'q1', document 'a': the document is listed twice"),
    (("q1", "a", 1.0), TEXT.replace("doc_id", "d"), "doc_id is missing (found ['query_id', 'd', 'score'])"),
    (("q1", "a", 1.0, 2.0), f"{TEXT}, score double", "the frame has two columns score"),
    ((1.5, "a", 1.0), TEXT.replace("string", "double", 1), "(found double in column query_id)"),
    (("q1", "a", "1"), TEXT.replace("double", "string"), "column score must hold numbers (found string)"),
]


@pytest.mark.parametrize(("row", "schema", "message"), BAD)
def test_a_bad_run_is_an_error_that_says_where(spark, row, schema, message):
    run = frame_of(spark, [row, row]) if schema == TEXT else spark.createDataFrame([row, row], schema)
    with pytest.raises(pm.InputError, match=re.escape(message)) as error:
        pm.calc_aggregate("RR", FEW, run)
    assert "row 0" not in str(error.value)


def test_an_unjudged_document_that_is_listed_twice_takes_up_two_ranks(spark):
    """The one exception: to see it, Spark would have to shuffle the run."""
    run = frame_of(spark, [("q1", "a", 1.0), ("q1", "x", 2.0), ("q1", "x", 2.0)]).repartition(3)
    assert pm.calc_aggregate("RR", {"q1": FEW["q1"]}, run) == {pm.parse_measure("RR"): 1 / 3}


def test_a_run_that_changes_from_scan_to_scan_is_an_error(spark):
    run = frame_of(spark, [("q1", f"d{n}", 1.0) for n in range(99)] + [("q1", "a", 1.0)])
    changing = run.selectExpr(
        "query_id", "doc_id", "double(reflect('java.lang.System', 'nanoTime')) AS score"
    )
    message = r"Spark computes a different run each time \(two scans: 100 rows and then 100 rows"
    with pytest.raises(pm.InputError, match=message):
        pm.calc_aggregate("RR", FEW, changing)


def test_what_needs_all_rows_says_so(spark):
    run = frame_of(spark, [("q1", "a", 1.0)])
    with pytest.raises(pm.InputError, match=r"needs all rows of the run in memory .* frame\.toArrow\(\)"):
        pm.audit(FEW, run, {"RR": 1.0})
    with pytest.raises(pm.InputError, match=r"ties by trec10 need all rows .* frame\.toArrow\(\)"):
        PermedEvaluator(["RR"], FEW, TieBreak.TREC10, read=read).evaluate(run)
