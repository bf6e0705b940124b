"""Runs and qrels that are computed when they are read: lazy frames of polars and relations of DuckDB."""

import os
import random
import subprocess
import sys
from functools import cache
from itertools import count

import oracle
import polars as pl
import pytest
from effort import effort
from polars.io.plugins import register_io_source

import permed_measures as pm
from permed_measures.engine import tables
from permed_measures.engine.forms import as_mapping_or_batches
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.engine.ranks import TieBreak

QRELS = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"d": 1}, "q3": {"e": 1}}
RUN = {"q1": {"a": 1.5, "x": 2.5, "b": 2.5}, "q2": {"d": 0.5, "y": -0.0}, "q9": {"z": 1.0}}


def frame_of(nested, column="score"):
    rows = [(query_id, doc_id, value) for query_id, docs in nested.items() for doc_id, value in docs.items()]
    return pl.DataFrame(rows, schema=["query_id", "doc_id", column], orient="row")


NUMBERS = count()


def written(frame, folder):
    path = folder / f"{next(NUMBERS)}.parquet"
    frame.write_parquet(path, row_group_size=5)
    return path


def lazy(frame, _):
    return frame.lazy()


def scanned(frame, folder):
    return pl.scan_parquet(written(frame, folder))


def filtered(frame, _):
    rows = frame.lazy()
    both = pl.concat([rows.with_columns(more=0), rows.with_columns(more=1)])
    return both.filter(pl.col("more") == 1)


@cache
def database():
    """Return a connection, which DuckDB closes when nothing holds it."""
    return pytest.importorskip("duckdb").connect()


def relation(frame, _):
    connection, name = database(), f"table_{next(NUMBERS)}"
    connection.register("frame", frame.to_arrow())
    connection.execute(f"CREATE TABLE {name} AS SELECT * FROM frame")
    return connection.table(name)


def derived(frame, folder):
    return relation(frame, folder).project("rowid AS more, *").filter("more >= 0")


def sql(frame, folder):
    return database().sql(f"SELECT * FROM '{written(frame, folder)}'")


LAZY = [lazy, scanned, filtered]
RELATIONS = [relation, derived, sql]
FORMS = [*LAZY, *RELATIONS]


def cases(rng):
    """Yield qrels and the frame of a run with ties: rows of a query together, scattered, and none at all."""
    scores = [0.0, -0.0, 1.0, 1.0 + 1e-9, 2.5, float("inf")]
    documents = [f"d{number}" for number in range(30)]
    qrels = {f"q{q}": {d: rng.randrange(-1, 3) for d in rng.sample(documents, 8)} for q in range(4)}
    run = {f"q{q}": {d: rng.choice(scores) for d in rng.sample(documents, 20)} for q in range(1, 6)}
    frame = frame_of(run)
    yield qrels, frame
    yield qrels, frame.sample(fraction=1, shuffle=True, seed=rng.randrange(99))
    yield qrels, frame.clear()


def nested(frame):
    """Return the rows of a frame as dicts."""
    run = {}
    for query_id, doc_id, score in frame.iter_rows():
        run.setdefault(query_id, {})[doc_id] = score
    return run


@pytest.mark.parametrize("form", FORMS)
def test_ranks_are_those_of_a_plain_sort(form, tmp_path, monkeypatch):
    rng = random.Random(7)
    for n_rows in [7, *(rng.choice([3, 16, 10**6]) for _ in range(effort(0, 5)))]:
        monkeypatch.setattr(tables, "_ROWS", n_rows)
        for qrels, frame in cases(rng):
            judgments = Judgments.of(form(frame_of(qrels, "relevance"), tmp_path))
            given, run = form(frame, tmp_path), nested(frame)
            for ties in TieBreak:
                found = JudgedRankings.of(judgments, given, ties)
                ids = [judgments.query_ids[query] for query in found.query]
                assert list(zip(ids, found.rank.tolist(), judgments.ids(found.row), strict=True)) == [
                    (query_id, rank, doc_id)
                    for query_id in sorted(qrels)
                    for rank, doc_id in enumerate(
                        oracle.rank(run.get(query_id, {}), ties.value, qrels[query_id]), 1
                    )
                    if doc_id in qrels[query_id]
                ], ties
                assert found.n_run_queries == len(run)


MEASURES = ["RR", "P@1", "GradedAP@10"]
FUNCTIONS = {
    "calc_aggregate": lambda qrels, run: pm.calc_aggregate(MEASURES, qrels, run),
    "calc": lambda qrels, run: pm.calc(MEASURES, qrels, run),
    "iter_calc": lambda qrels, run: list(pm.iter_calc(MEASURES, qrels, run)),
    "evaluator": lambda qrels, run: [pm.evaluator(MEASURES, qrels).calc_aggregate(run) for _ in range(2)],
    "provider": lambda qrels, run: pm.provider.calc_aggregate([pm.GradedAP @ 10], qrels, run),
    "evaluate_by": lambda qrels, run: pm.evaluate_by("RR", qrels, run, by="(.)$"),
    "compare": lambda qrels, run: str(pm.compare(qrels, {"a": run, "b": run}, "RR", tests=[])),
    "ceiling": lambda qrels, _: pm.ceiling("GradedAP@10", qrels),
    "crosscheck": lambda qrels, run: str(pm.crosscheck(qrels, run, ["RR", "AP"])),
    "audit": lambda qrels, run: str(pm.audit(qrels, run, {"MRR": 0.5})),
    "reranking": lambda qrels, run: str(pm.reranking(qrels, run, run, measure="RR")),
    "judged": lambda qrels, run: str(pm.reranking(qrels, run, run, measure="RR", judged_only=True)),
    "match_query_ids": lambda qrels, run: pm.calc_aggregate(
        "RR", qrels, pm.match_query_ids(run, qrels, "permed")
    ),
}


@pytest.mark.parametrize("form", [scanned, relation])
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_every_function_takes_them_as_it_takes_dicts(function, form, tmp_path):
    qrels, run = form(frame_of(QRELS, "relevance"), tmp_path), form(frame_of(RUN), tmp_path)
    assert function(qrels, run) == function(QRELS, RUN)


@pytest.mark.parametrize("form", [scanned, relation])
@pytest.mark.parametrize("name", ["run.trec", "run.parquet"])
def test_they_are_written_as_dicts_are(form, name, tmp_path):
    (tmp_path / "parts").mkdir()
    pm.write_run(form(frame_of(RUN), tmp_path / "parts"), tmp_path / name)
    assert pm.read_run(tmp_path / name) == RUN
    pm.write_qrels(form(frame_of(QRELS, "relevance"), tmp_path / "parts"), tmp_path / name)
    assert pm.read_qrels(tmp_path / name) == QRELS


WRONG = {
    "a null id": (
        {"doc_id": [None, "b", "c"]},
        "row 0: query 'q1', document None: missing value in column doc_id",
    ),
    "a null score": (
        {"score": [1.0, 2.0, None]},
        "row 2: query 'q1', document 'c': missing value in column score",
    ),
    "a NaN": (
        {"score": [1.0, float("nan"), 2.0]},
        r"row 1: query 'q1', document 'b': a score must be a number \(found nan\)",
    ),
    "a float id": ({"query_id": [1.0, 1.0, 2.0]}, "ids must be strings or integers"),
    "a text": ({"score": ["1", "2", "x"]}, "column score must hold numbers"),
    "a judged document twice": (
        {"doc_id": ["a", "a", "b"]},
        "query 'q1', document 'a': the document is listed twice",
    ),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("columns", "message"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_said_as_of_a_frame(form, columns, message, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_ROWS", 2)
    right = {"query_id": ["q1"] * 3, "doc_id": ["a", "b", "c"], "score": [1.0, 2.0, 3.0]}
    run = form(pl.DataFrame(right | columns), tmp_path)
    with pytest.raises(pm.InputError, match=message):
        pm.calc_aggregate("RR", QRELS, run)


@pytest.mark.parametrize("form", FORMS)
def test_a_missing_column_is_said_with_those_there_are(form, tmp_path):
    run = form(frame_of(RUN).rename({"score": "sim"}), tmp_path)
    with pytest.raises(
        pm.InputError, match=r"score is missing \(found \[.*'query_id', 'doc_id', 'sim'.*\]\)"
    ):
        pm.calc_aggregate("RR", QRELS, run)


@pytest.mark.parametrize("form", FORMS)
def test_qrels_and_run_in_the_wrong_order_are_said(form, tmp_path):
    qrels, run = form(frame_of(QRELS, "relevance"), tmp_path), form(frame_of(RUN), tmp_path)
    for first, second in ((run, qrels), (run, RUN), (QRELS, qrels)):
        with pytest.raises(pm.InputError, match="The qrels come first, then the run"):
            pm.calc_aggregate("RR", first, second)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [pl.Float32, pl.Decimal(10, 2), pl.Int8])
def test_numbers_of_other_types_are_taken_and_ids_that_are_integers(form, dtype, tmp_path):
    rows = {"qid": [1, 1, 2], "docno": [10, 20, 10], "score": pl.Series([1, 2, 3], dtype=dtype)}
    frame = pl.DataFrame(rows, schema_overrides={"qid": pl.Int32})
    found = pm.calc_aggregate("RR", {"1": {"10": 1}, "2": {"10": 1}}, form(frame, tmp_path))
    assert list(found.values()) == [0.75]


@pytest.mark.parametrize("form", [lazy, relation])
def test_categories_and_pyterriers_names_are_taken(form, tmp_path):
    frame = (
        frame_of(RUN)
        .rename({"query_id": "qid", "doc_id": "docno"})
        .with_columns(pl.col("qid").cast(pl.Categorical))
    )
    assert pm.calc_aggregate("RR", QRELS, form(frame, tmp_path)) == pm.calc_aggregate("RR", QRELS, RUN)


def generated(make, schema=None):
    """Return a lazy frame whose frames `make` yields each time it is read."""
    schema = schema or {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    return register_io_source(
        lambda columns, *_: (f.select(columns or f.columns) for f in make()), schema=schema
    )


def test_a_run_may_be_random():
    run = frame_of(RUN).lazy().with_columns(pl.col("score").shuffle())
    assert 0 <= next(iter(pm.calc_aggregate("RR", QRELS, run).values())) <= 1


def test_a_connection_is_no_relation():
    with pytest.raises(pm.InputError, match=r"found DuckDBPyConnection.*connection\.sql\(query\)"):
        pm.calc_aggregate("RR", QRELS, database().cursor())


def test_a_run_is_evaluated_while_it_is_read(monkeypatch):
    monkeypatch.setattr(tables, "_ROWS", 100)
    made = []

    def make():
        for number in range(500):
            made.append(number)
            yield frame_of({f"q{number}": {f"d{d}": 1.0 for d in range(100)}})

    frames = iter(as_mapping_or_batches(generated(make), "score"))
    assert len(next(frames)) == 100
    assert len(made) < 100
    assert sum(map(len, frames)) == 49_900


def test_an_error_of_the_query_is_raised():
    def make():
        yield frame_of(RUN)
        raise RuntimeError("the disk is full")

    with pytest.raises(Exception, match="the disk is full"):
        pm.calc_aggregate("RR", QRELS, generated(make))


def test_a_relation_that_was_read_in_part_is_read_from_its_beginning(tmp_path):
    run = relation(frame_of(RUN), tmp_path)
    run.limit(2).fetchall()
    if hasattr(run, "execute"):  # before DuckDB 2
        run.execute()
        run.fetchone()
    for _ in range(2):
        assert pm.calc_aggregate("RR", QRELS, run) == pm.calc_aggregate("RR", QRELS, RUN)
    assert len(run.fetchall()) == 6 or hasattr(run, "execute")


def test_the_connection_is_free_after_an_error(monkeypatch):
    monkeypatch.setattr(tables, "_ROWS", 2048)  # then most rows are not read
    rows = "'d' || i AS doc_id, if(i = 9, 'nan', '1')::DOUBLE AS score FROM range(50000) t(i)"
    nan = database().sql(f"SELECT 'topic_1_1' AS query_id, {rows}")
    same = database().sql(f"SELECT 'topic_1_' || if(i = 1, '1', 'turn_1') AS query_id, {rows}")
    qrels = {"topic_1_1": {"a": 1}}
    for evaluate in (
        lambda: pm.calc_aggregate("RR", qrels, nan),
        lambda: pm.match_query_ids(same.filter("doc_id <> 'd9'"), qrels, "permed"),
    ):
        with pytest.raises(pm.InputError) as error:
            evaluate()
        assert database().sql("SELECT 1").fetchall() == [(1,)], error


@pytest.mark.thorough  # a process of its own
def test_polars_with_one_thread_does_not_wait_for_itself(tmp_path):
    code = (
        "import polars as pl, permed_measures as pm\n"
        "from permed_measures.engine import tables\n"
        "tables._ROWS = 1000\n"
        "n = pl.int_range(200_000, eager=True)\n"
        "run = pl.DataFrame({'query_id': n % 50, 'doc_id': n, 'score': n % 7})\n"
        "run.write_parquet('run.parquet', row_group_size=1000)\n"
        "qrels = {str(q): {str(q): 1} for q in range(50)}\n"
        "print(pm.calc_aggregate('NumRet', qrels, pl.scan_parquet('run.parquet')))\n"
    )
    environment = {**os.environ, "POLARS_MAX_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == "{NumRet: 200000.0}\n", done.stderr
