"""Runs and qrels that are computed when they are read: lazy frames of polars and relations of DuckDB."""

import random
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


WRONG = {
    "a null score": (
        {"score": [1.0, 2.0, None]},
        "row 2: query 'q1', document 'c': missing value in column score",
    ),
    "a NaN": (
        {"score": [1.0, float("nan"), 2.0]},
        r"row 1: query 'q1', document 'b': a score must be a number \(found nan\)",
    ),
    "a judged document twice": (
        {"doc_id": ["a", "a", "b"]},
        "query 'q1', document 'a': the document is listed twice",
    ),
}


@pytest.mark.parametrize("form", [scanned, relation])
@pytest.mark.parametrize(("columns", "message"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_said_as_of_a_frame(form, columns, message, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_ROWS", 2)
    right = {"query_id": ["q1"] * 3, "doc_id": ["a", "b", "c"], "score": [1.0, 2.0, 3.0]}
    run = form(pl.DataFrame(right | columns), tmp_path)
    with pytest.raises(pm.InputError, match=message):
        pm.calc_aggregate("RR", QRELS, run)


def generated(make, schema=None):
    """Return a lazy frame whose frames `make` yields each time it is read."""
    schema = schema or {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    return register_io_source(
        lambda columns, *_: (f.select(columns or f.columns) for f in make()), schema=schema
    )


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
