"""Runs that are read in batches: what is wrong is named, and they serve every function."""

import gzip

import polars as pl
import pytest

import permed_measures as pm
from permed_measures.inputs import read as reading
from permed_measures.inputs import scan, sources
from permed_measures.inputs.text_reader import TextFile


@pytest.fixture(autouse=True)
def _every_file_is_large(monkeypatch):
    monkeypatch.setattr(reading, "_LARGE_FILE", 0)


def write_rows(path, rows):
    """Write rows as the kind of file that its name says."""
    if path.suffix == ".parquet":
        schema = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
        pl.DataFrame(rows, schema=schema, orient="row").write_parquet(path)
    else:
        path.write_text("".join(f"{q} Q0 {d} 0 {score!r} tag\n" for q, d, score in rows))
    return path


ROWS = [(f"q{number % 3}", f"d{number}", float(number)) for number in range(60)]


@pytest.mark.parametrize(
    ("name", "where"), [("run.trec", ":61: {}, first on line 14"), ("run.parquet", ": {}")]
)
@pytest.mark.parametrize("chunk", [30, 10**6])
def test_a_document_that_stands_twice_anywhere_is_named(tmp_path, monkeypatch, name, where, chunk):
    monkeypatch.setattr(sources, "_CHUNK", chunk)
    monkeypatch.setattr(scan, "_ROWS_PER_BATCH", max(chunk // 10, 3))
    path = write_rows(tmp_path / name, [*ROWS, ("q1", "d13", 0.5)])
    with pytest.raises(pm.InputError) as error:
        pm.calc_aggregate(["P@1"], {"q0": {"d3": 1}}, path)
    twice = where.format("document 'd13' of query 'q1' is listed twice")
    assert str(error.value).startswith(f"{path}{twice}. Remove one of the two, or keep one: --duplicates")


NAMES = {"query_id": ["q", "q"], "doc_id": ["a", "b"]}
BAD = [
    ("run", {"query_id": ["q"], "doc": ["a"], "score": [1.0]}, "doc_id is missing (found ['query_id', 'd"),
    ("run", {**NAMES, "doc_id": [1.5, 2], "score": [1, 0]}, "ids must be strings or integers (found Float64"),
    ("run", {**NAMES, "score": ["x", "y"]}, "column score must hold numbers (found String)"),
    ("run", {**NAMES, "score": [float("nan"), 1]}, "document 'a': a score must"),
    ("run", {**NAMES, "doc_id": ["a", None], "score": [1.0, 1.0]}, "row 1: query 'q', document None:"),
    ("qrels", {**NAMES, "doc_id": ["a", "a"], "label": [1, 0]}, "'a' of query 'q' is listed twice. Remove"),
    ("qrels", {**NAMES, "label": [1.0, float("inf")]}, "(found inf)"),
]


@pytest.mark.parametrize(("what", "columns", "message"), BAD)
def test_a_bad_parquet_file_is_an_error_that_names_it(tmp_path, what, columns, message):
    path = tmp_path / "file.parquet"
    pl.DataFrame(columns).write_parquet(path)
    qrels, run = ({"q": {"a": 1}}, path) if what == "run" else (path, {"q": {"a": 1.0}})
    with pytest.raises(pm.InputError) as error:
        pm.calc_aggregate(["P@1"], qrels, run)
    assert str(error.value).startswith(str(path))
    assert message in str(error.value)


def test_a_damaged_file_is_an_error_that_names_it(tmp_path):
    path, header = tmp_path / "run.parquet", b",\x15\xc8\x01\x15\x00"  # of a data page: 100 values, plain
    rows = {"query_id": "q", "doc_id": [f"d{number:03}" for number in range(100)], "score": 1.0}
    pl.DataFrame(rows).write_parquet(path, compression="uncompressed")
    content = path.read_bytes()
    assert header in content
    for damaged in (content[:-20], content.replace(header, header[:-1] + b"\x4b", 1)):  # polars panics
        path.write_bytes(damaged)
        with pytest.raises(pm.InputError, match=r"run\.parquet: cannot be read as Parquet \(.+\)$"):
            pm.read_run(path)
    (tmp_path / "run.gz").write_bytes(gzip.compress(b"q Q0 d 1 2.0 t\n" * 100_000)[:-20])
    with pytest.raises(pm.InputError, match=r"run\.gz: cannot be decompressed as gzip \("):
        pm.calc_aggregate(["P@1"], {"q": {"d": 1}}, tmp_path / "run.gz")


@pytest.mark.filterwarnings("ignore:.* in another order than the lines do")
def test_a_run_in_batches_serves_all_functions_any_number_of_times(tmp_path):
    path = write_rows(tmp_path / "run.trec", ROWS)
    qrels = {"q0": {"d57": 1, "d3": 1}, "q1": {"d1": 1}}
    run, nested = reading.read_file(path, "run"), pm.read_run(path)
    measures = [pm.parse_measure(name) for name in ("AP", "P@1")]
    for _ in range(2):
        assert pm.calc_aggregate(measures, qrels, run) == pm.calc_aggregate(measures, qrels, nested)
        assert list(pm.iter_calc(measures, qrels, run)) == list(pm.iter_calc(measures, qrels, nested))
    assert pm.crosscheck(qrels, run, measures).ok
    pm.write_run(run, tmp_path / "again")
    assert pm.read_run(tmp_path / "again") == nested


def test_a_name_is_no_pattern(tmp_path):
    path = write_rows(tmp_path / "run[1].parquet", ROWS)
    assert len(pm.read_run(path)) == 3


ODD_LINES = [
    *(b"q Q0 d 1 2.0", b"q Q0 d 1 2.0 t more", b" q Q0 d 1 2.0 t ", b"q Q0 d  1 2.0 t", b"q Q0 d  1 2.0"),
    *(b"q Q0 d 1 nan t", b"q Q0 d 1 1_0 t", b"q Q0 d 1 high t", b"q Q0 x1 2 1.0 t", b"q Q0 d\xff 1 2.0 t"),
    *(
        b"#q Q0 d 1 2.0 t",
        b"q Q0 d 1 2.0 #",
        b"",
        b"q Q0 d\v 1 2.0 t",
        b"q Q0 d\r 1 2.0 t",
        b'q Q0 "d 1 2.0 t',
    ),
    *(b"\xef\xbb\xbfq Q0 d 1 2.0 t", b"q Q0 d\xc2\xa0e 1 2.0 t", b"q Q0 d 1 2.0 t\nq Q0 e 1 2.0"),
]


@pytest.mark.parametrize("line", ODD_LINES)
@pytest.mark.parametrize("chunk", [1, 10**6])
def test_an_odd_line_of_a_large_run_is_read_or_refused_as_in_a_small_one(line, chunk, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "_CHUNK", chunk)
    path, found = tmp_path / "run", []
    path.write_bytes(b"".join(b"q Q0 x%d 1 -%d.5 t\n" % (i, i) for i in range(20)) + line)
    for large in (10**9, 0):
        monkeypatch.setattr(reading, "_LARGE_FILE", large)
        try:
            found.append(pm.read_run(path))
        except pm.InputError as error:
            found.append(str(error))
    assert found[0] == found[1]
    last = 21 + line.count(b"\n")
    assert isinstance(found[0], dict) or found[0].startswith(f"{path}:{last}: ")


@pytest.mark.parametrize("rank", ["1", "-"])
def test_regular_lines_become_frames_without_an_object_for_each(rank, tmp_path, monkeypatch):
    path = tmp_path / "run.trec"
    path.write_text(f"q Q0 a {rank} 2.5 t\nq\tQ0\tb\t2\t1.5\tt\r\n")
    monkeypatch.setattr(TextFile, "rows", None)
    assert pm.read_run(path) == {"q": {"a": 2.5, "b": 1.5}}
