"""Runs and qrels that are computed when they are read: lazy frames of polars and relations of DuckDB."""

import random
from functools import cache
from itertools import count

import oracle
import polars as pl
import pytest
from cases import rows_of
from effort import effort
from polars.io.plugins import register_io_source

import permed_measures as pm
from permed_measures.engine import tables
from permed_measures.engine.forms import as_mapping_or_batches
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.engine.ranks import TieBreak

NUMBERS = count()


def frame_of(nested, column="score"):
    return pl.DataFrame(rows_of(nested), schema=["query_id", "doc_id", column], orient="row")


def scanned(frame, folder):
    path = folder / f"{next(NUMBERS)}.parquet"
    frame.write_parquet(path, row_group_size=5)
    return pl.scan_parquet(path)


def filtered(frame, _):
    both = [frame.lazy().with_columns(more=more) for more in (0, 1)]
    return pl.concat(both).filter(pl.col("more") == 1)


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


def cases(rng):
    """Yield qrels and the frame of a run with ties: together, in any order, and none at all."""
    scores = [0.0, -0.0, 1.0, 1.0 + 1e-9, 2.5, float("inf")]
    documents = [f"d{number}" for number in range(30)]
    qrels = {f"q{q}": {d: rng.randrange(-1, 3) for d in rng.sample(documents, 8)} for q in range(4)}
    run = {f"q{q}": {d: rng.choice(scores) for d in rng.sample(documents, 20)} for q in range(1, 6)}
    frame = frame_of(run)
    yield qrels, frame
    yield qrels, frame.sample(fraction=1, shuffle=True, seed=rng.randrange(99))
    yield qrels, frame.clear()


@pytest.mark.parametrize("form", [scanned, filtered, relation, derived])
def test_ranks_are_those_of_a_plain_sort(form, tmp_path, monkeypatch):
    rng = random.Random(7)
    for n_rows in [7, *effort([], [3, 16, 10**6])]:
        monkeypatch.setattr(tables, "_ROWS", n_rows)
        for qrels, frame in cases(rng):
            judgments = Judgments.of(form(frame_of(qrels, "relevance"), tmp_path))
            given, run = form(frame, tmp_path), {}
            for query_id, doc_id, score in frame.iter_rows():
                run.setdefault(query_id, {})[doc_id] = score
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


@pytest.mark.parametrize("form", [scanned, relation])
@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([1.0, 2.0, None], "row 2: query 'q1', document 'c': missing value in column score"),
        (
            [1.0, float("nan"), 2.0],
            r"row 1: query 'q1', document 'b': a score must be a number \(found nan\)",
        ),
    ],
)
def test_what_is_wrong_is_said_with_the_row(form, scores, message, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_ROWS", 2)
    run = form(pl.DataFrame({"query_id": ["q1"] * 3, "doc_id": ["a", "b", "c"], "score": scores}), tmp_path)
    with pytest.raises(pm.InputError, match=message):
        pm.calc_aggregate("RR", {"q1": {"a": 1}}, run)


def test_a_run_is_evaluated_while_it_is_read(monkeypatch):
    monkeypatch.setattr(tables, "_ROWS", 100)
    made = []

    def make(columns, *_):
        for number in range(500):
            made.append(number)
            frame = frame_of({f"q{number}": {f"d{d}": 1.0 for d in range(100)}})
            yield frame.select(columns or frame.columns)

    schema = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    frames = iter(as_mapping_or_batches(register_io_source(make, schema=schema), "score"))
    assert len(next(frames)) == 100
    assert len(made) < 100
    assert sum(map(len, frames)) == 49_900


def test_a_relation_that_was_read_in_part_is_read_from_its_beginning(tmp_path):
    rows = {"q1": {"a": 1.5, "x": 2.5, "b": 2.5}, "q2": {"d": 0.5, "y": -0.0}}
    run = relation(frame_of(rows), tmp_path)
    if hasattr(run, "execute"):  # before DuckDB 2
        run.execute()
        run.fetchone()
    for _ in range(2):
        assert pm.calc_aggregate("RR", {"q1": {"a": 2}, "q2": {"d": 1}}, run) == pm.calc_aggregate(
            "RR", {"q1": {"a": 2}, "q2": {"d": 1}}, rows
        )


def test_the_connection_is_free_after_an_error(monkeypatch):
    monkeypatch.setattr(tables, "_ROWS", 2048)  # then most rows are not read
    rows = "'d' || i AS doc_id, if(i = 9, 'nan', '1')::DOUBLE AS score FROM range(50000) t(i)"
    nan = database().sql(f"SELECT 'q' AS query_id, {rows}")
    with pytest.raises(pm.InputError) as error:
        pm.calc_aggregate("RR", {"q": {"a": 1}}, nan)
    assert database().sql("SELECT 1").fetchall() == [(1,)], error
