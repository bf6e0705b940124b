"""Files are written whole or not at all, and as ``cp`` does: links, modes, pipes, what may not be written."""

import errno
import os
import stat
import tempfile
import threading
from pathlib import Path

import pytest

import permed_measures as pm
from permed_measures.inputs import write

RUN = {"q": {"a": 1.0}}
TEXT = "q Q0 a 1 1.0 permed-measures\n"


def test_a_file_in_the_making_is_not_taken_for_a_run(tmp_path, monkeypatch):
    replaced = []
    monkeypatch.setattr(Path, "replace", lambda *paths: replaced.append(paths))
    pm.write_run(RUN, tmp_path / "run")
    [[temporary, target]] = replaced
    assert (temporary.parent, target) == (tmp_path, tmp_path / "run")
    assert temporary.name.startswith(".")  # which folders of runs leave out


def test_a_read_only_file_is_refused():
    user = os.geteuid()
    with tempfile.TemporaryDirectory() as folder:  # where another user can write too
        target = Path(folder) / "run"
        target.write_text("before")
        target.chmod(0o444)
        target.parent.chmod(0o777)
        os.seteuid(user or 65534)  # root may write everywhere
        try:
            with pytest.raises(PermissionError) as caught:
                pm.write_run(RUN, target)
        finally:
            os.seteuid(user)
        assert caught.value.filename == str(target)
        assert target.read_text() == "before"


def test_writing_goes_into_a_pipe_and_leaves_it_one(tmp_path):
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    pm.write_run(RUN, pipe)
    reader.join(timeout=10)
    assert read == [TEXT]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_writing_keeps_links_modes_and_other_files(tmp_path):
    target, link, other = (tmp_path / name for name in ("target", "link", "target.part"))
    target.write_text("before")
    target.chmod(0o600)
    link.symlink_to("target")
    other.write_text("somebody's")
    pm.write_run(RUN, link)
    assert link.is_symlink()
    assert (target.read_text(), stat.S_IMODE(target.stat().st_mode)) == (TEXT, 0o600)
    assert other.read_text() == "somebody's"
    with pytest.raises(IsADirectoryError):
        pm.write_run(RUN, tmp_path)


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
    monkeypatch.setattr(write.shutil, "copymode", full)
    (tmp_path / "run").write_text("before")
    with pytest.raises(OSError, match=r"No space left on device: '.*/run'$"):
        pm.write_run(RUN, tmp_path / "run")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["before"]
