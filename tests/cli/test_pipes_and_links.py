"""Pipes, links, folders and terminals."""

import gzip
import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import polars as pl
import pytest
from commands import run_main

import permed_measures as pm

RUN = "q1 Q0 a 1 2.0 t\nq1 Q0 b 2 1.0 t\n"


def command(*arguments, **options):
    whole = [sys.executable, "-m", "permed_measures", *map(str, arguments)]
    return subprocess.run(whole, capture_output=True, text=True, check=False, **options)


def through_pipe(path, content):
    """Make a named pipe that will give this content once."""
    os.mkfifo(path)
    threading.Thread(target=path.write_bytes, args=(content,), daemon=True).start()
    return path


def test_pipes_are_read_by_every_command(tmp_path):
    (tmp_path / "q").write_text("q1 0 a 1\n")
    frame = pl.DataFrame({"query_id": ["q1"], "doc_id": ["a"], "score": [1.0]})
    frame.write_parquet(tmp_path / "run.parquet")
    parquet = (tmp_path / "run.parquet").read_bytes()
    for number, content in enumerate([RUN.encode(), parquet]):
        pipe = through_pipe(tmp_path / f"evaluated{number}", content)
        result = command("evaluate", tmp_path / "q", pipe, "-m", "P@1", "--format", "tsv")
        assert result.stdout.splitlines()[1].split("\t")[1] == "1.0", result.stderr
        result = command("inspect", through_pipe(tmp_path / f"inspected{number}", content))
        assert f"rows          {2 - number}" in result.stdout, result.stderr
        target = tmp_path / f"out{number}.json"
        result = command(
            "convert", through_pipe(tmp_path / f"converted{number}", content), target, "--as", "run"
        )
        assert list(json.loads(target.read_text())) == ["q1"], result.stderr


def test_writing_goes_into_a_pipe_and_leaves_it_one(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    pm.write_run({"q": {"a": 1.0}}, pipe)
    reader.join(timeout=10)
    assert read == ["q Q0 a 1 1.0 permed-measures\n"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_writing_keeps_links_modes_and_other_files(tmp_path):
    (tmp_path / "target").write_text("before")
    (tmp_path / "target").chmod(0o600)
    (tmp_path / "link").symlink_to("target")
    (tmp_path / "target.part").write_text("somebody's")
    pm.write_run({"q": {"a": 1.0}}, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "q Q0 a 1 1.0 permed-measures\n"
    assert stat.S_IMODE((tmp_path / "target").stat().st_mode) == 0o600
    assert (tmp_path / "target.part").read_text() == "somebody's"
    with pytest.raises(IsADirectoryError):
        pm.write_run({"q": {"a": 1.0}}, tmp_path)


@pytest.mark.thorough
def test_a_terminal_that_cannot_show_a_character_gets_it_escaped():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    arguments = ["compare", "permed-sample", "permed-sample/runs", "-m", "P@1", "--resamples", "9"]
    result = command(*arguments, env=environment)
    assert result.returncode == 0, result.stderr
    assert "\\u0394" in result.stdout
    assert "\\u2500" not in result.stdout  # the line below a heading has another form


def test_a_file_with_the_name_of_a_data_set_is_said(tmp_path):
    (tmp_path / "litsearch").write_text("q1 0 a 1\n")
    (tmp_path / "run").write_text(RUN)
    result = command("evaluate", "litsearch", "run", "-m", "P@1", cwd=tmp_path)
    assert result.returncode == 0
    assert "note: litsearch is a file here, and is used instead of the data set" in result.stderr


# --- standard input, patterns, addresses -------------------------------------------------------------


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.txt").write_text("q1 0 a 1\n")
    (tmp_path / "run.trec").write_text(RUN)
    return tmp_path


def evaluated(*arguments, **options):
    """Return the names of the runs and the value of P@1, from the command's table."""
    result = command("evaluate", *arguments, "-m", "P@1", "--format", "tsv", **options)
    assert result.returncode == 0, result.stderr
    return [tuple(line.split("\t")[:2]) for line in result.stdout.splitlines()[1:]]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("compress", [bytes, pytest.param(gzip.compress, marks=pytest.mark.thorough)])
def test_a_dash_is_standard_input(compress):
    run, qrels = compress(RUN.encode()), compress(b"q1 0 a 1\n")
    with through_stdin(run) as stdin:
        assert evaluated("q.txt", "-", stdin=stdin) == [("stdin", "1.0")]
    with through_stdin(run) as stdin:
        assert evaluated("q.txt", "run.trec", "mine=-", stdin=stdin) == [("run", "1.0"), ("mine", "1.0")]
    with through_stdin(qrels) as stdin:
        assert evaluated("-", "run.trec", stdin=stdin) == [("run", "1.0")]
    with through_stdin(run) as stdin:
        assert "a TREC run" not in command("inspect", "-", stdin=stdin).stderr
    with through_stdin(run) as stdin:
        assert command("convert", "-", "out.json", stdin=stdin).returncode == 0
    assert pm.read_run("out.json") == {"q1": {"a": 2.0, "b": 1.0}}


def test_standard_input_may_be_a_file(files):
    pl.DataFrame({"query_id": ["q1"], "doc_id": ["a"], "score": [1.0]}).write_parquet("run.parquet")
    for name in ("run.trec", "run.parquet"):
        with (files / name).open() as stdin:
            assert evaluated("q.txt", "-", stdin=stdin) == [("stdin", "1.0")]


@pytest.mark.usefixtures("files")
def test_what_standard_input_cannot_give_is_said():
    with through_stdin(b"q1 0 a 1\n") as stdin:
        result = command("evaluate", "-", "-", stdin=stdin)
    message = "error: /dev/stdin: standard input is empty. Only one of qrels and runs can come from it\n"
    assert (result.returncode, result.stderr.splitlines(True)[-1]) == (2, message)
    with Path(os.devnull).open() as stdin:
        result = command("inspect", "-", stdin=stdin)
    assert result.stderr == "error: /dev/stdin: only files and pipes can be read, no device or socket\n"


def through_stdin(content):
    """Return the end of a pipe that gives this content once."""
    read, write = os.pipe()
    with os.fdopen(write, "wb") as file:
        file.write(content)
    return os.fdopen(read, "rb")


@pytest.mark.thorough
def test_a_pattern_that_no_shell_expanded_is_expanded(files):
    for name in ("b", "a"):
        (files / f"{name}.res").write_text(RUN)
    assert evaluated("q.txt", "*.res") == [("a", "1.0"), ("b", "1.0")]
    assert evaluated("q.txt", str(files / "[a]*.res")) == [("a", "1.0")]
    (files / "*.res").write_text(RUN)  # the name of a file
    assert evaluated("q.txt", "*.res") == [("*", "1.0")]
    assert run_main("evaluate", "q.txt", "*.none")[2] == "error: *.none: no file fits this pattern\n"


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    "arguments",
    [
        "evaluate {url} run.trec",
        "evaluate q.txt {url}",
        "reranking q.txt run.trec {url}",
    ],
)
def test_a_url_is_said_to_be_one(arguments):
    url = "https://example.org/run.trec"
    status, _, stderr = run_main(*arguments.format(url=url).split())
    message = "No such file or directory. Only files are read: download it first"
    assert (status, stderr.splitlines()[-1]) == (2, f"error: {url}: {message}")
