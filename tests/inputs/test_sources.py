"""Files as bytes: pipes, standard input, devices and sockets."""

import contextlib
import gzip
import os
import socket
import sys
import threading
import tracemalloc
from pathlib import Path

import polars as pl
import pytest
from commands import run_cli, run_main

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

import permed_measures as pm
from permed_measures.inputs import read as files
from permed_measures.inputs import sources

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes are files on POSIX systems only")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text("q1 0 a 1\n")
    Path("run.trec").write_text("q1 Q0 a 1 2.0 t\nq1 Q0 b 2 1.0 t\n")
    frame = {"query_id": ["q1", "q1"], "doc_id": ["a", "b"], "score": [2.0, 1.0]}
    pl.DataFrame(frame).write_parquet("run.parquet")


def through_pipe(content):
    """Return the path of a named pipe that will give this content once."""
    path = Path(f"pipe{len([*Path().iterdir()])}")
    os.mkfifo(path)
    threading.Thread(target=path.write_bytes, args=(content,), daemon=True).start()
    return path


@contextlib.contextmanager
def stdin(path):
    """Let standard input be a file or a pipe."""
    before, given = os.dup(0), os.open(path, os.O_RDONLY)
    os.dup2(given, 0)
    try:
        yield
    finally:
        os.dup2(before, 0)
        os.close(before)
        os.close(given)


def evaluated(*arguments):
    """Return the names of the runs and the value of P@1, from the command's table."""
    stdout, _ = run_cli("evaluate", *arguments, "-m", "P@1", "--format", "tsv")
    return [tuple(line.split("\t")[:2]) for line in stdout.splitlines()[1:]]


@pytest.mark.parametrize("name", ["run.trec", "run.parquet"])
@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_pipes_and_standard_input_are_read_by_every_command(name, compress):
    content = Path(name).read_bytes()
    content = compress(content) if name == "run.trec" else content
    pipe = through_pipe(content)
    assert evaluated("qrels", pipe) == [(pipe.name, "1.0")]
    assert "rows          2" in run_cli("inspect", through_pipe(content))[0]
    run_cli("convert", through_pipe(content), "out.json", "--as", "run")
    assert pm.read_run("out.json") == {"q1": {"a": 2.0, "b": 1.0}}
    for path in (name, through_pipe(content)):
        with stdin(path):
            assert evaluated("qrels", "mine=-") == [("mine", "1.0")]
    with stdin(through_pipe(compress(b"q1 0 a 1\n"))):
        assert evaluated("-", name) == [("run", "1.0")]


@pytest.mark.parametrize("first", [0x50, 0x5F])
def test_a_frame_that_zstd_skips_may_stand_first(first):
    skipped = bytes([first]) + b"\x2a\x4d\x18" + b"\x03\0\0\0abc"
    Path("run.zst").write_bytes(skipped + zstd.compress(Path("run.trec").read_bytes()))
    assert pm.read_run("run.zst") == {"q1": {"a": 2.0, "b": 1.0}}


def test_what_begins_nearly_like_such_a_frame_is_text():
    Path("run").write_bytes(b"\x60\x2a\x4d\x18 Q0 a 1 2.0 t\n")
    assert pm.read_run("run") == {"`*M\x18": {"a": 2.0}}


def test_the_bounds_of_lines_are_those_of_the_messages():
    with Path("file").open("wb") as file:
        file.truncate(100 << 20)  # NULs without a line end
    with pytest.raises(pm.InputError, match=r"^file:1: a line of more than 64 MB\."):
        pm.read_run("file")
    Path("file").write_bytes((b" " * 1023 + b"\n") * 1500 + Path("run.trec").read_bytes())
    with pytest.raises(pm.InputError, match="more than 1 MB of empty lines"):
        pm.read_run("file")


@pytest.mark.filterwarnings("ignore:.* in another order than the lines do")
@pytest.mark.parametrize(("compress", "large"), [(bytes, 0), (gzip.compress, 10**9), (zstd.compress, 0)])
def test_a_pipe_may_be_read_several_times_and_leaves_no_copy(tmp_path, monkeypatch, compress, large):
    monkeypatch.setattr(files, "_LARGE_FILE", large)
    monkeypatch.setattr(sources, "_CHUNK", 1000)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    lines = [f"q{number % 7} Q0 d{number} 1 {number}.5 t\n" for number in range(999)]
    pipe = through_pipe(compress("".join(lines).encode()))
    before = {*Path().iterdir()}
    run = files.read_file(pipe, "run")
    for _ in range(2):
        found = pm.calc_aggregate(["RR", "NumRet"], {"q0": {"d7": 1}, "q6": {"d6": 1}}, run)
        assert list(found.values()) == [pytest.approx(1 / 142), 285.0]
    del run
    assert {*Path().iterdir()} == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
def test_a_full_disk_is_named_where_a_pipe_is_kept(tmp_path, monkeypatch):
    full = os.open("/dev/full", os.O_WRONLY), str(tmp_path / "copy")
    monkeypatch.setattr("tempfile.mkstemp", lambda **_: full)
    with pytest.raises(OSError, match=r"No space left on device in .*, where a pipe is copied.*pipe"):
        pm.read_run(through_pipe(b"q1 Q0 a 1 1 t\n"))


def test_what_cannot_be_read_is_said(tmp_path):
    with pytest.raises(pm.InputError, match="/dev/zero: only files and pipes can be read"):
        pm.read_run("/dev/zero")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(tmp_path / "socket"))
        with pytest.raises(pm.InputError, match="socket: only files and pipes"):
            pm.read_qrels(tmp_path / "socket")
    with pytest.raises(IsADirectoryError):
        pm.read_run(tmp_path)
    with stdin(through_pipe(b"q1 0 a 1\n")):
        _, _, stderr = run_main("evaluate", "-", "-")
    assert stderr.splitlines()[-1] == (
        "error: /dev/stdin: standard input is empty. Standard input can supply the qrels or a run, not both"
    )
    with stdin(os.devnull):
        stderr = run_main("inspect", "-")[2]
    assert stderr == "error: /dev/stdin: only files and pipes can be read, not devices or sockets\n"


def test_a_long_line_of_json_is_in_memory_three_times_at_most(tmp_path):
    """As bytes, as text, and what it holds."""
    size, path = 20_000_000, tmp_path / "run.jsonl"
    results = '"results": [{"doc_id": "d", "score": 1.5}]'
    texts = {"q1": "x" * size, "q2": ""}
    path.write_text("".join(f'{{"query_id": "{q}", "text": "{texts[q]}", {results}}}\n' for q in texts))
    del texts
    tracemalloc.start()
    run = pm.read_run(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert run == {"q1": {"d": 1.5}, "q2": {"d": 1.5}}
    assert peak < 3.3 * size
