"""Runs in batches: the same ranks from every form, in any order of the rows and any size of a batch."""

import gzip
import os
import random
import threading

import oracle
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from effort import effort

import permed_measures as pm
from permed_measures.engine.inputs import Batches
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.engine.ranks import TieBreak
from permed_measures.files import parquet, sources
from permed_measures.files import read as files


def tied_case(rng):
    """Return qrels and the rows of a run: shuffled, queries interleaved, ties, float32 collisions."""
    queries = rng.sample(["q1", "q2", "10", "ü", "日本", "x"], rng.randint(2, 6))
    documents = [f"d{number:02}" for number in range(40)]
    score = rng.choice(
        [
            lambda: float(rng.randrange(4)),
            lambda: 1 + rng.randrange(6) * 1e-9,
            lambda: rng.choice([0.0, -0.0, 1e-50, -3.5, 1e39, float("inf")]),
            rng.random,
        ]
    )
    qrels = {
        query_id: {d: rng.choice([-1, 0, 1, 2]) for d in rng.sample(documents, rng.randint(1, 25))}
        for query_id in queries[:-1]
    }
    rows = [(q, d, score()) for q in queries for d in rng.sample(documents, rng.randint(1, len(documents)))]
    if rng.random() < 0.7:
        rng.shuffle(rows)
    return qrels, rows


def expected(qrels, rows, ties):
    """Return (query_id, rank, grade) of each judged document, from sorting each query in plain Python."""
    found = []
    for query_id, judged in qrels.items():
        ranking = oracle.rank({row[1]: row[2] for row in rows if row[0] == query_id}, ties.value, judged)
        found += [(query_id, rank, judged[d]) for rank, d in enumerate(ranking, start=1) if d in judged]
    return sorted(found)


def forms_of(rows, folder):
    """Return the run in every form."""
    columns = {name: [row[i] for row in rows] for i, name in enumerate(("query_id", "doc_id", "score"))}
    nested = {}
    for query_id, doc_id, score in rows:
        nested.setdefault(query_id, {})[doc_id] = score
    text = "".join(f"{q} Q0 {d} 0 {score!r} tag\n" for q, d, score in rows).encode()
    (folder / "run").write_bytes(text)
    (folder / "tabs").write_bytes(b"# a comment\n\n" + text.replace(b" ", b"\t ") + b"#")
    (folder / "run.gz").write_bytes(gzip.compress(text))
    (folder / "run.zst").write_bytes(pa.compress(text, codec="zstd", asbytes=True))
    frame = pl.DataFrame(columns)
    frame.write_parquet(folder / "run.parquet", row_group_size=7)
    names = {"query_id": "qid", "doc_id": "docno"}
    pq.write_table(frame.rename(names).to_arrow(), folder / "pyterrier.parquet")
    return {
        "dict": nested,
        "pandas": pd.DataFrame(columns),
        "polars": frame,
        "pyarrow": frame.to_arrow(),
        "batches": Batches([frame[start : start + 17] for start in range(0, len(frame), 17)]),
        **{name: pm.scan_run(folder / name) for name in ("run", "tabs", "run.gz", "run.zst", "run.parquet")},
        "pyterrier.parquet": pm.scan_run(folder / "pyterrier.parquet"),
    }


@pytest.mark.parametrize("ties", list(TieBreak))
@pytest.mark.filterwarnings("ignore::permed_measures.PermedWarning")
def test_every_form_and_every_batch_size_gives_the_ranks_of_a_plain_sort(ties, tmp_path, monkeypatch):
    rng = random.Random(ties.value)
    for _ in range(effort(1, 8)):
        qrels, rows = tied_case(rng)
        judgments = Judgments.of(qrels)
        monkeypatch.setattr(sources, "_CHUNK", rng.choice([200, 1000, 10**6]))
        monkeypatch.setattr(parquet, "_ROWS", rng.choice([10, 40, 10**6]))
        counts = {q: sum(row[0] == q for row in rows) for q in judgments.query_ids}
        for name, run in forms_of(rows, tmp_path).items():
            found = JudgedRankings.of(judgments, run, ties)
            triples = zip(found.query.tolist(), found.rank.tolist(), found.grade.tolist(), strict=True)
            named = sorted((judgments.query_ids[q], rank, grade) for q, rank, grade in triples)
            assert named == expected(qrels, rows, ties), name
            assert dict(zip(judgments.query_ids, found.retrieved.tolist(), strict=True)) == counts, name
            assert found.n_run_queries == len({row[0] for row in rows}), name
            assert found.n_shared == sum(count > 0 for count in counts.values()), name


def write_rows(path, rows):
    """Write rows as the kind of file that its name says."""
    if path.suffix == ".parquet":
        schema = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
        pl.DataFrame(rows, schema=schema, orient="row").write_parquet(path)
    else:
        path.write_text("".join(f"{q} Q0 {d} 0 {score!r} tag\n" for q, d, score in rows))
    return path


ROWS = [(f"q{number % 3}", f"d{number}", float(number)) for number in range(60)]


@pytest.mark.parametrize("name", ["run.trec", "run.parquet"])
@pytest.mark.parametrize("judged", ["q0", "elsewhere"])
@pytest.mark.parametrize("chunk", [30, 10**6])
def test_a_document_that_stands_twice_anywhere_is_named(tmp_path, monkeypatch, name, judged, chunk):
    monkeypatch.setattr(sources, "_CHUNK", chunk)
    monkeypatch.setattr(parquet, "_ROWS", max(chunk // 10, 3))
    path = write_rows(tmp_path / name, [*ROWS, ("q1", "d13", 0.5)])
    is_text = name == "run.trec"
    place = f"{61 if is_text else 'row 60'}: document 'd13' of query 'q1' is listed twice, first "
    with pytest.raises(pm.InputError) as error:
        pm.calc_aggregate(["P@1"], {judged: {"d3": 1}}, pm.scan_run(path))
    assert str(error.value).startswith(f"{path}:")
    assert place in str(error.value)
    assert f"first {'on line 14' if is_text else 'in row 13'}. Remove" in str(error.value)
    with pytest.raises(pm.InputError, match="'d13' of query 'q1' is listed twice, first"):
        pm.read_run(path)


@pytest.mark.parametrize("chunk", [1, 50])
@pytest.mark.parametrize(
    "bad",
    [
        "q0 Q0 d99 1 high tag",
        "q0 Q0 d99 1 2.0",
        " Q0 d99 1 2.0 tag",
        "q0 Q0 d99  2.0 tag",
        "q0 Q0 d99 1 nan tag",
    ],
)
def test_a_bad_line_in_any_chunk_is_named(tmp_path, monkeypatch, bad, chunk):
    monkeypatch.setattr(sources, "_CHUNK", chunk)
    path = write_rows(tmp_path / "run.trec", ROWS)
    lines = path.read_text().splitlines()
    lines = ["# two", "", *lines[:20], "#", *lines[20:40], bad, *lines[40:]]
    path.write_text("\n".join(lines))
    with pytest.raises(pm.InputError) as error:
        pm.calc_aggregate(["P@1"], {"q0": {"d3": 1}}, pm.scan_run(path))
    assert str(error.value).startswith(f"{path}:44: not a line of a TREC run: ")
    assert ". Expected query Q0 document rank score tag; correct" in str(error.value)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"query_id": ["q"], "docid": ["a"], "score": [1.0]},
            "doc_id is missing (found ['query_id', 'docid'",
        ),
        (
            {"query_id": ["q"], "doc_id": [1.5], "score": [1.0]},
            "ids must be strings or integers (found Float64",
        ),
        (
            {"query_id": ["q"], "doc_id": ["a"], "score": ["x"]},
            "column score must hold numbers (found String)",
        ),
        (
            {"query_id": ["q", "q"], "doc_id": ["a", None], "score": [1.0, 1.0]},
            "row 1: query 'q', document None:",
        ),
        (
            {"query_id": ["q"], "doc_id": ["a"], "score": [float("nan")]},
            "query 'q', document 'a': a score must",
        ),
    ],
)
def test_a_bad_parquet_file_is_an_error_that_names_it(tmp_path, columns, message):
    path = tmp_path / "run.parquet"
    pl.DataFrame(columns).write_parquet(path)
    with pytest.raises(pm.InputError) as error:
        pm.calc_aggregate(["P@1"], {"q": {"a": 1}}, pm.scan_run(path))
    assert str(error.value).startswith(str(path))
    assert message in str(error.value)


def test_a_cut_parquet_file_and_a_cut_gzip_file_are_errors(tmp_path):
    parquet = write_rows(tmp_path / "run.parquet", ROWS)
    parquet.write_bytes(parquet.read_bytes()[:-20])
    with pytest.raises(pm.InputError, match=r"run\.parquet: cannot be read as Parquet \("):
        pm.read_run(parquet)
    zipped = tmp_path / "run.gz"
    zipped.write_bytes(gzip.compress(b"q Q0 d 1 2.0 t\n" * 100_000)[:-20])
    with pytest.raises(pm.InputError, match=r"run\.gz: cannot be decompressed as gzip \("):
        pm.calc_aggregate(["P@1"], {"q": {"d": 1}}, pm.scan_run(zipped))


def test_parquet_qrels_and_runs_are_read(tmp_path):
    pl.DataFrame({"qid": [1, 1], "docno": ["a", "b"], "label": [2, 0]}).write_parquet(tmp_path / "qrels")
    qrels = pm.read_qrels(tmp_path / "qrels")
    assert qrels == {"1": {"a": 2, "b": 0}}
    assert all(type(grade) is int for docs in qrels.values() for grade in docs.values())
    pl.DataFrame({"query_id": ["1", "1"], "doc_id": ["b", "a"], "score": [1, 2]}).write_parquet(
        tmp_path / "run"
    )
    assert pm.read_run(tmp_path / "run") == {"1": {"b": 1.0, "a": 2.0}}
    assert pm.read_run(tmp_path / "run", order="list") == {"1": {"b": -1.0, "a": -2.0}}
    with pytest.raises(pm.InputError, match="relevance is missing"):
        pm.read_qrels(tmp_path / "run")


def test_only_runs_with_a_row_per_line_are_read_in_batches(tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_text('{"query_id": "q", "retrieved": ["a"]}\n')
    with pytest.raises(
        pm.InputError, match=r"run\.jsonl: .*must be a TREC, CSV or TSV run or a Parquet file.*read_run"
    ):
        pm.scan_run(path)


def test_a_pipe_is_read_once(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_LARGE", 0)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("q Q0 b 1 2.0 t\nq Q0 a 2 1.0 t\n",))
    writer.start()
    assert pm.read_run(pipe) == {"q": {"b": 2.0, "a": 1.0}}
    writer.join()


@pytest.mark.filterwarnings("ignore:.* in another order than the lines do")
def test_a_scanned_run_serves_all_functions_any_number_of_times(tmp_path):
    path = write_rows(tmp_path / "run.trec", ROWS)
    qrels = {"q0": {"d57": 1, "d3": 1}, "q1": {"d1": 1}}
    run, nested = pm.scan_run(path), pm.read_run(path)
    measures = [pm.parse_measure(name) for name in ("AP", "P@1")]
    for _ in range(2):
        assert pm.calc_aggregate(measures, qrels, run) == pm.calc_aggregate(measures, qrels, nested)
        assert list(pm.iter_calc(measures, qrels, run)) == list(pm.iter_calc(measures, qrels, nested))
    assert pm.crosscheck(qrels, run, measures).ok
    pm.write_run(run, tmp_path / "again")
    assert pm.read_run(tmp_path / "again") == nested
