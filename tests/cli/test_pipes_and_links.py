"""Pipes and standard input."""

import contextlib
import gzip
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import polars as pl
import pytest
from commands import run_cli, run_main

import permed_measures as pm

RUN = "q1 Q0 a 1 2.0 t\nq1 Q0 b 2 1.0 t\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("q.txt").write_text("q1 0 a 1\n")
    Path("run.trec").write_text(RUN)
    pl.DataFrame({"query_id": ["q1"], "doc_id": ["a"], "score": [1.0]}).write_parquet("run.parquet")


def through_pipe(name, content):
    """Make a named pipe that will give this content once."""
    os.mkfifo(name)
    threading.Thread(target=Path(name).write_bytes, args=(content,), daemon=True).start()
    return name


def evaluated(*arguments):
    """Return the names of the runs and the value of P@1, from the command's table."""
    stdout, _ = run_cli("evaluate", *arguments, "-m", "P@1", "--format", "tsv")
    return [tuple(line.split("\t")[:2]) for line in stdout.splitlines()[1:]]


@pytest.mark.parametrize("name", ["run.trec", "run.parquet"])
def test_pipes_are_read_by_every_command(name):
    content = Path(name).read_bytes()
    assert evaluated("q.txt", through_pipe("evaluated", content)) == [("evaluated", "1.0")]
    rows = 2 if name == "run.trec" else 1
    assert f"rows          {rows}" in run_cli("inspect", through_pipe("inspected", content))[0]
    run_cli("convert", through_pipe("converted", content), "out.json", "--as", "run")
    assert list(json.loads(Path("out.json").read_text())) == ["q1"]


@pytest.mark.thorough
def test_a_terminal_that_cannot_show_a_character_gets_it_escaped():
    line = "compare permed-sample permed-sample/runs -m P@1 --resamples 9"
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "permed_measures", *line.split()]
    result = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert "\\u0394" in result.stdout
    assert "\\u2500" not in result.stdout  # the line below a heading has another form


def test_a_file_with_the_name_of_a_data_set_is_said():
    Path("litsearch").write_text("q1 0 a 1\n")
    _, stderr = run_cli("evaluate", "litsearch", "run.trec", "-m", "P@1")
    assert "note: litsearch is a file here, and is used instead of the data set" in stderr


# --- standard input ----------------------------------------------------------------------------------


@contextlib.contextmanager
def stdin(content):
    """Let standard input be a pipe with this content, or a file."""
    if isinstance(content, bytes):
        read, write = os.pipe()
        with os.fdopen(write, "wb") as file:
            file.write(content)
    else:
        read = os.open(content, os.O_RDONLY)
    before = os.dup(0)
    os.dup2(read, 0)
    try:
        yield
    finally:
        os.dup2(before, 0)
        os.close(before)
        os.close(read)


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_a_dash_is_standard_input(compress):
    run, qrels = compress(RUN.encode()), compress(b"q1 0 a 1\n")
    with stdin(run):
        assert evaluated("q.txt", "run.trec", "mine=-") == [("run", "1.0"), ("mine", "1.0")]
    with stdin(qrels):
        assert evaluated("-", "run.trec") == [("run", "1.0")]
    with stdin(run):
        assert "a TREC run" not in run_cli("inspect", "-")[1]
    with stdin(run):
        run_cli("convert", "-", "out.json")
    assert pm.read_run("out.json") == {"q1": {"a": 2.0, "b": 1.0}}
    for name in ("run.trec", "run.parquet"):
        with stdin(name):
            assert evaluated("q.txt", "-") == [("stdin", "1.0")]


def test_what_standard_input_cannot_give_is_said():
    with stdin(b"q1 0 a 1\n"):
        status, _, stderr = run_main("evaluate", "-", "-")
    message = "error: /dev/stdin: standard input is empty. Only one of qrels and runs can come from it\n"
    assert (status, stderr.splitlines(True)[-1]) == (2, message)
    with stdin(os.devnull):
        stderr = run_main("inspect", "-")[2]
    assert stderr == "error: /dev/stdin: only files and pipes can be read, no device or socket\n"
