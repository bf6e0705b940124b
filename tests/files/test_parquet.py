"""Parquet files that are damaged: each is an error that names it, and none ends the process."""

import io
import os
import subprocess
import sys

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import permed_measures as pm
from permed_measures.files import parquet
from permed_measures.files.parquet_pages import is_sound

RUN = {"q": {f"d{number:03}": float(100 - number) for number in range(100)}}
ROWS = {"query_id": ["q"] * 100, "doc_id": list(RUN["q"]), "score": list(RUN["q"].values())}
DATA_PAGE = b",\x15\xc8\x01\x15\x00"
"""The header of a data page: 100 values, plain."""


@pytest.fixture
def damaged(tmp_path):
    """Return a function that writes a run with other bytes in the header of its first data page."""

    def write(header):
        path = tmp_path / "run.parquet"
        pl.DataFrame(ROWS).write_parquet(path, compression="uncompressed", use_pyarrow=False)
        content = path.read_bytes()
        assert DATA_PAGE in content
        path.write_bytes(content.replace(DATA_PAGE, header, 1))
        return path

    return write


NEGATIVE_COUNT = DATA_PAGE.replace(b"\xc8", b"\xc9")  # -101 values: polars asks for all memory and aborts
UNKNOWN_ENCODING = DATA_PAGE[:-1] + b"\x4b"  # polars panics


@pytest.mark.parametrize("header", [NEGATIVE_COUNT, UNKNOWN_ENCODING])
def test_a_damaged_page_is_an_error_that_names_the_file(damaged, header, capfd):
    path = damaged(header)
    for read in (pm.read_run, lambda path: pm.calc_aggregate(["P@1"], {"q": {"d001": 1}}, pm.scan_run(path))):
        with pytest.raises(pm.InputError, match=r"run\.parquet: cannot be read as Parquet \(.+\)$"):
            read(path)
    assert header == UNKNOWN_ENCODING or capfd.readouterr().err == ""


def test_reading_leaves_stderr_to_the_program(damaged, monkeypatch):
    path = damaged(UNKNOWN_ENCODING)
    redirected = []
    with monkeypatch.context() as patch:
        patch.setattr(os, "dup2", lambda *descriptors: redirected.append(descriptors))
        with pytest.raises(pm.InputError, match="cannot be read as Parquet"):
            pm.read_run(path)
    assert not redirected


@pytest.mark.parametrize("header", [NEGATIVE_COUNT, UNKNOWN_ENCODING])
@pytest.mark.parametrize(
    "command",
    [
        "evaluate {qrels} {run} -m P@1",
        pytest.param("inspect {run}", marks=pytest.mark.thorough),
        pytest.param("convert {run} {qrels}.trec", marks=pytest.mark.thorough),
    ],
)
def test_a_damaged_page_ends_a_command_with_one_message(damaged, tmp_path, header, command):
    qrels = tmp_path / "qrels"
    qrels.write_text("q 0 d001 1\n")
    words = command.format(qrels=qrels, run=damaged(header)).split()
    done = subprocess.run(
        [sys.executable, "-m", "permed_measures", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1


def test_a_file_that_only_looks_odd_is_read(damaged, monkeypatch):
    path = damaged(DATA_PAGE)
    monkeypatch.setattr(parquet, "is_sound", lambda _: False)
    assert pm.read_run(path) == RUN


def test_a_piped_file_is_read(tmp_path):
    pm.write_run(RUN, tmp_path / "run.parquet")
    code = "import permed_measures as pm; print(pm.read_run('/dev/stdin'))"
    with subprocess.Popen(["cat", tmp_path / "run.parquet"], stdout=subprocess.PIPE) as cat:
        printed = subprocess.check_output([sys.executable, "-c", code], stdin=cat.stdout, text=True)
    assert printed == f"{RUN}\n"


TABLE = pa.table(
    {
        **{name: column * 30 for name, column in ROWS.items()},
        "list": [[1, 2], [], None] * 1000,
        "struct": [{"a": 1, "b": "x"}, None, {"a": None, "b": "y"}] * 1000,
        "null": [None] * 3000,
        "bool": [True, False, None] * 1000,
    }
)


SMALL_PAGES = {"data_page_size": 100, "row_group_size": 700, "write_page_checksum": True}


@pytest.mark.parametrize("compression", ["NONE", "SNAPPY", "ZSTD", "GZIP", "LZ4", "BROTLI"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("options", [{}, {"use_dictionary": False, "write_page_index": True}, SMALL_PAGES])
def test_a_file_of_pyarrow_is_sound(compression, version, options):
    file = io.BytesIO()
    pq.write_table(TABLE, file, compression=compression, data_page_version=version, **options)
    assert is_sound(file)


@pytest.mark.parametrize("compression", ["uncompressed", "snappy", "zstd", "gzip", "lz4"])
@pytest.mark.parametrize("n_rows", [0, 1, 3000])
def test_a_file_of_polars_is_sound(compression, n_rows):
    file = io.BytesIO()
    pl.from_arrow(TABLE)[:n_rows].write_parquet(
        file, compression=compression, row_group_size=700, data_page_size=100
    )
    assert is_sound(file)


def test_a_changed_byte_in_a_page_with_a_checksum_is_found():
    file = io.BytesIO()
    pq.write_table(pa.table(ROWS), file, write_page_checksum=True, use_dictionary=False, compression="NONE")
    content = file.getvalue()
    assert is_sound(io.BytesIO(content))
    place = content.index(b"d050")
    assert not is_sound(io.BytesIO(content[:place] + b"e" + content[place + 1 :]))


def test_no_cut_or_changed_file_makes_the_look_fail():
    file = io.BytesIO()
    pl.DataFrame(ROWS).write_parquet(file)
    content = file.getvalue()
    n_found = 0
    for place in range(len(content)):
        assert not is_sound(io.BytesIO(content[:place]))
        for byte in (b"\x00", b"\xff", b"\x15\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"):
            n_found += not is_sound(io.BytesIO(content[:place] + byte + content[place + 1 :]))
    assert n_found > len(content)
