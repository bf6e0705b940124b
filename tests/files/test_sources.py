"""Files as bytes: marks, compression, files that change, lines without end, pipes and devices."""

import gc
import gzip
import os
import socket
import sys
import threading
from pathlib import Path

import pytest

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

import permed_measures as pm
from permed_measures.files import read as files
from permed_measures.files import sources


@pytest.mark.skipif(os.name != "posix", reason="devices are files on POSIX systems only")
def test_devices_and_sockets_are_refused_by_name(tmp_path):
    with pytest.raises(pm.InputError, match="/dev/zero: only files and pipes can be read"):
        pm.read_run("/dev/zero")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(tmp_path / "socket"))
        with pytest.raises(pm.InputError, match="socket: only files and pipes"):
            pm.read_qrels(tmp_path / "socket")
    with pytest.raises(IsADirectoryError):
        pm.read_run(tmp_path)


@pytest.fixture
def pipe(tmp_path):
    """Return a named pipe that is fed with the parts of an iterable until its reader goes."""
    path, writers = tmp_path / "pipe", []
    os.mkfifo(path)

    def feed(parts):
        def write():
            try:
                with path.open("wb", buffering=0) as file:
                    for part in parts:
                        file.write(part)
            except BrokenPipeError:
                pass

        writers.append(threading.Thread(target=write))
        writers[0].start()
        return path

    yield feed
    gc.collect()  # of what a traceback still holds
    for writer in writers:
        writer.join(10)
        assert not writer.is_alive()


@pytest.mark.skipif(os.name != "posix", reason="named pipes are files on POSIX systems only")
@pytest.mark.filterwarnings("ignore:.* in another order than the lines do")
@pytest.mark.parametrize(("compress", "large"), [(bytes, 0), (gzip.compress, 10**9), (zstd.compress, 0)])
def test_a_pipe_may_be_read_several_times(pipe, monkeypatch, compress, large):
    monkeypatch.setattr(files, "_LARGE", large)
    monkeypatch.setattr(sources, "_CHUNK", 1000)
    lines = [f"q{number % 7} Q0 d{number} 1 {number}.5 t\n" for number in range(999)]
    content = compress("".join(lines).encode())
    parts = [content[start : start + 700] for start in range(0, len(content), 700)]
    run = files.load(pipe(parts), "run").table
    qrels = {"q0": {"d7": 1}, "q6": {"d6": 1}}
    for _ in range(2):
        found = pm.calc_aggregate(["RR", "NumRet"], qrels, run)
        assert list(found.values()) == [pytest.approx(1 / 142), 285.0]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
def test_a_full_disk_is_named_where_a_pipe_is_kept(pipe, tmp_path, monkeypatch):
    def full(**_):
        return os.open("/dev/full", os.O_WRONLY), str(tmp_path / "copy")

    monkeypatch.setattr("tempfile.mkstemp", full)
    with pytest.raises(OSError, match=r"No space left on device in .*, where a pipe is kept.*pipe'$"):
        pm.read_run(pipe([b"q1 Q0 a 1 1 t\n"]))


def test_a_pipe_leaves_no_copy(pipe, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert pm.read_run(pipe([b"q1 Q0 a 1 1 t\n"])) == {"q1": {"a": 1.0}}
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]
