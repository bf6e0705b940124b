"""Files are written whole or not at all, and as ``cp`` does: links, modes, pipes, what may not be written."""

import errno
import os
import socket
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


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="descriptors have no paths")
@pytest.mark.parametrize("folder", ["/dev/fd", "/proc/self/fd", "/proc/thread-self/fd", "links"])
@pytest.mark.parametrize("mode", [os.O_APPEND, os.O_TRUNC])
def test_an_open_descriptor_is_written_into_where_it_stands(tmp_path, monkeypatch, folder, mode):
    monkeypatch.chdir(tmp_path)
    Path("log").write_text("old\n")
    opened = os.open("log", os.O_WRONLY | mode)
    path = Path(folder, str(opened))
    if folder == "links":
        Path("links").mkdir()
        Path("links", "first").symlink_to(f"/dev/fd/{opened}")
        path.symlink_to("first")
    elif not Path(folder).exists():
        pytest.skip(f"there is no {folder}")
    with os.fdopen(opened, "wb", buffering=0) as file:
        file.write(b"before\n")
        for _ in range(2):
            pm.write_run(RUN, path, to="trec")
        file.write(b"after\n")
    old = "old\n" if mode == os.O_APPEND else ""
    assert Path("log").read_text() == f"{old}before\n{TEXT * 2}after\n"
    assert path.is_symlink() == (folder == "links")
    with pytest.raises(OSError, match="Bad file descriptor") as caught:  # it is closed now
        pm.write_run(RUN, path, to="trec")
    assert caught.value.filename == str(path)
    assert sorted(map(str, Path().iterdir())) == ["links", "log"][folder != "links" :]


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="descriptors have no paths")
def test_sockets_and_files_without_a_name_are_written_into(tmp_path):
    ours, other = socket.socketpair()
    with ours, other:
        pm.write_run(RUN, f"/dev/fd/{ours.fileno()}", to="trec")
        assert other.recv(100).decode() == TEXT
    with (tmp_path / "log").open("w+") as file:
        (tmp_path / "log").unlink()
        pm.write_run(RUN, f"/dev/fd/{file.fileno()}", to="trec")
        assert os.pread(file.fileno(), 100, 0).decode() == TEXT
    assert [*tmp_path.iterdir()] == []
    with (tmp_path / "read").open("w") as file:
        file.write("before")
    with (tmp_path / "read").open() as file, pytest.raises(OSError, match="Bad file descriptor"):
        pm.write_run(RUN, f"/dev/fd/{file.fileno()}", to="trec")
    assert (tmp_path / "read").read_text() == "before"


def test_a_number_is_a_name_elsewhere_and_a_circle_of_links_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("fd").mkdir()
    pm.write_run(RUN, "fd/1")
    assert Path("fd/1").read_text() == TEXT
    Path("one").symlink_to("two")
    Path("two").symlink_to("one")
    with pytest.raises(OSError, match="Too many levels of symbolic links"):
        pm.write_run(RUN, "one")


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
