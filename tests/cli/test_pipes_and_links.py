"""Pipes, links, folders and terminals."""

import json
import os
import stat
import subprocess
import sys
import threading

import polars as pl
import pytest

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
    with pytest.raises(pm.InputError, match=r"this is a folder\. Name a file in it"):
        pm.write_run({"q": {"a": 1.0}}, tmp_path)


def test_a_terminal_that_cannot_show_a_character_gets_it_escaped():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    result = command("demo", env=environment)
    assert result.returncode == 0, result.stderr
    assert "\\u2500" in result.stdout


def test_a_run_needs_a_name_and_a_file(tmp_path):
    (tmp_path / "q").write_text("q1 0 a 1\n")
    for argument in ("=run.trec", "run="):
        result = command("evaluate", "q", argument, cwd=tmp_path)
        assert result.returncode == 2
        assert f"a run is FILE or NAME=FILE (found '{argument}')" in result.stderr


def test_a_file_with_the_name_of_a_data_set_is_said(tmp_path):
    (tmp_path / "litsearch").write_text("q1 0 a 1\n")
    (tmp_path / "run").write_text(RUN)
    result = command("evaluate", "litsearch", "run", "-m", "P@1", cwd=tmp_path)
    assert result.returncode == 0
    assert "note: litsearch is a file here, and is used instead of the data set" in result.stderr
