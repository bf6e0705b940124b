"""Files are written whole or not at all, and as ``cp`` does: links, modes, pipes, what may not be written."""

import errno
import os
import signal
import stat
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from commands import run_cli

import permed_measures as pm
from permed_measures.files import whole

RUN = {"q": {"a": 1.0}}
TEXT = "q Q0 a 1 1.0 permed-measures\n"


@pytest.fixture
def folder():
    """Yield a folder that a user without rights can write into."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        yield Path(name)


@contextmanager
def user_without_rights():
    """Be nobody rather than root, who may write everywhere."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)


WRITER = """
import sys, time
from pathlib import Path
import permed_measures as pm
Path.replace = lambda *_: (print("written", flush=True), time.sleep(600))
pm.write_run({"q": {"a": 1.0}}, sys.argv[1])
"""


def test_a_killed_writer_leaves_nothing_that_is_taken_for_a_run(tmp_path):
    runs = tmp_path / "runs"
    runs.mkdir()
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    pm.write_run(RUN, runs / "bm25.trec")
    command = [sys.executable, "-c", WRITER, str(runs / "dense.trec")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
        assert writer.stdout.readline() == b"written\n"
        writer.send_signal(signal.SIGKILL)
    assert len(list(runs.iterdir())) == 2  # what was left is what we look for
    stdout, stderr = run_cli("evaluate", tmp_path / "qrels", runs, "-m", "P@1", "--format", "tsv")
    assert [line.split("\t")[0] for line in stdout.splitlines()] == ["run", "bm25"]
    assert stderr == ""


def test_a_read_only_file_is_refused(folder):
    target = folder / "run"
    target.write_text("before")
    target.chmod(0o444)
    with user_without_rights(), pytest.raises(PermissionError) as caught:
        pm.write_run(RUN, target)
    assert caught.value.filename == str(target)
    assert target.read_text() == "before"


def test_new_files_have_the_mode_that_the_user_set(tmp_path):
    before = os.umask(0o027)
    try:
        pm.write_run(RUN, tmp_path / "run")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "run").stat().st_mode) == 0o640


def test_errors_name_the_file_that_was_asked_for(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(FileNotFoundError) as caught:
        pm.write_run(RUN, tmp_path / "none" / "run")
    assert caught.value.filename == str(tmp_path / "none" / "run")
    monkeypatch.setattr(whole.shutil, "copymode", full)
    (tmp_path / "run").write_text("before")
    with pytest.raises(OSError, match=r"No space left on device: '.*/run'$"):
        pm.write_run(RUN, tmp_path / "run")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["before"]
