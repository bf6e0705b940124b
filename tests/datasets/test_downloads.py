"""Downloads from a server on this machine: kept once, checked, asked again, named when they fail."""

import contextlib
import errno
import hashlib
import os
import re
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import ir_datasets  # noqa: F401 - it registers our data sets, and loads their downloads
import pytest
from commands import run_main
from data_files import kept
from ir_datasets.formats import TrecQrels
from ir_datasets.util import Cache, Download, RequestsDownload
from urllib3.exceptions import MaxRetryError

import permed_measures as pm
from permed_measures.datasets import downloads
from permed_measures.datasets.downloads import REMOTE_FILES, RemoteFile
from permed_measures.errors import reason_of

BODY = b'{"query_id": 1, "query": "why?"}\n' * 500


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def remote(url, content=BODY):
    return RemoteFile("some/queries.jsonl", f"{url}/queries.jsonl", len(content), sha256(content))


def unused_url():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_a_file_is_downloaded_once_and_kept(server, home):
    server.files["/queries.jsonl"] = BODY
    file = remote(server.url)
    for _ in range(2):
        assert file.path() == home / "some" / "queries.jsonl"
        assert file.path().read_bytes() == BODY
    assert server.asked == ["/queries.jsonl"]
    assert kept(home) == [file.path()]


@pytest.mark.parametrize(
    ("content", "difference"),
    [
        (BODY[:-1] + b" ", f"its SHA-256 is {sha256(BODY[:-1] + b' ')} in place of {sha256(BODY)}"),
        (b"<html>please log in</html>", "it has 26 bytes in place of 16,500"),
    ],
)
def test_another_file_than_the_published_one_is_refused_and_not_kept(server, home, content, difference):
    server.files["/queries.jsonl"] = content
    with pytest.raises(pm.InputError) as error:
        remote(server.url).path()
    assert str(error.value) == (
        f"{home / 'some' / 'queries.jsonl'}: {server.url}/queries.jsonl cannot be downloaded ({difference}). "
        f"Check the network, or download it by hand and put it there (its SHA-256 is {sha256(BODY)})"
    )
    assert kept(home) == []


@pytest.mark.parametrize(
    ("status", "answer"),
    [
        (404, "404 Not Found"),
        (500, "500 Internal Server Error"),
        (503, "503 Service Unavailable"),
        (429, "429 Too Many Requests"),
        (403, "403 Forbidden"),
        (299, None),
    ],
)
def test_an_error_that_the_server_answers_is_said(server, home, monkeypatch, status, answer):
    monkeypatch.setenv("IR_DATASETS_DL_403_TRIES", "1")
    server.files["/queries.jsonl"] = BODY
    server.failing["/queries.jsonl"] = [status]
    with pytest.raises(pm.InputError) as error:
        remote(server.url).path()
    reason = "it has 9 bytes in place of 16,500" if answer is None else f"the server answers HTTP {answer}"
    advice = "Check the network" if answer is None else "Try it later"
    assert str(error.value) == (
        f"{home / 'some' / 'queries.jsonl'}: {server.url}/queries.jsonl cannot be downloaded ({reason}). "
        f"{advice}, or download it by hand and put it there (its SHA-256 is {sha256(BODY)})"
    )
    assert kept(home) == []
    assert remote(server.url).path().read_bytes() == BODY  # later


def test_an_error_of_the_server_that_passes_is_tried_again(server, home, monkeypatch):
    monkeypatch.setenv("IR_DATASETS_DL_TRIES", "3")
    server.files["/queries.jsonl"] = BODY
    server.failing["/queries.jsonl"] = [500, 502]
    assert remote(server.url).path().read_bytes() == BODY
    assert (len(server.asked), kept(home)) == (3, [remote(server.url).path()])


def test_a_connection_that_is_cut_is_tried_again_and_leaves_no_half_file(server, home, monkeypatch):
    server.files["/queries.jsonl"] = BODY
    server.cut["/queries.jsonl"] = [len(BODY) // 2] * 2
    with pytest.raises(pm.InputError, match="cannot be downloaded"):
        remote(server.url).path()
    assert kept(home) == []
    monkeypatch.setenv("IR_DATASETS_DL_TRIES", "2")
    assert remote(server.url).path().read_bytes() == BODY
    assert server.asked == ["/queries.jsonl"] * 3


def test_a_home_that_cannot_be_written_is_named_with_its_variable(server, home, tmp_path):
    hint = "Set the environment variable IR_DATASETS_HOME to a folder in which files can be written"
    home.mkdir()
    (home / "some").write_text("no folder")
    with pytest.raises(pm.InputError, match=hint) as error:
        remote(server.url).path()
    assert (str(home / "some") in str(error.value), server.asked) == (True, [])
    (tmp_path / "file").touch()
    line = "-m permed_measures evaluate permed-sample permed-sample/runs/bm25"
    there = {**os.environ, "IR_DATASETS_HOME": str(tmp_path / "file" / "home")}
    command = [sys.executable, *line.split()]
    done = subprocess.run(command, env=there, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ir_datasets cannot write into its folder (")
    assert done.stderr.endswith(f"{tmp_path}/file/home'). {hint}\n")


# --- several processes at once -------------------------------------------------------------------------

READ = """
import sys
from permed_measures.datasets.downloads import RemoteFile
from permed_measures.inputs.sources import Source

import ir_datasets
url, size, sha256 = sys.argv[1:4]
print(flush=True)
sys.stdin.readline()
for _ in range(20):
    source = Source(RemoteFile("some/queries.jsonl", url + "/queries.jsonl", int(size), sha256).path())
    for _ in source.chunks(1000):
        pass  # "the file has changed" if another process replaces it
"""


def start(server, code=READ):
    """Return a process that needs the file, as soon as a line comes to its stdin."""
    command = [sys.executable, "-c", code, server.url, str(len(BODY)), sha256(BODY)]
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(command, text=True, **streams)


def let_go(processes):
    """Let processes go on at once, when all of them are there; return the status and messages of each."""
    for each in processes:
        each.stdout.readline()
    for each in processes:
        each.stdin.write("\n")
        each.stdin.flush()
    return [(each.communicate(timeout=60)[1], each.returncode) for each in processes]


@pytest.mark.thorough
@pytest.mark.parametrize("locks", [True, False])
def test_four_processes_that_need_a_file_at_once_all_get_it(server, home, locks):
    server.files["/queries.jsonl"] = BODY
    server.pause, server.gathered = 0.3, 1 if locks else 4
    without = "import fcntl\ndef flock(*_): raise OSError\nfcntl.flock = flock\n"  # as on some file systems
    ended = let_go([start(server, READ if locks else without + READ) for _ in range(4)])
    assert [status for _, status in ended] == [0] * 4, ended
    assert kept(home) == [home / "some" / "queries.jsonl"]
    assert len(server.asked) == (1 if locks else 4)


@pytest.mark.thorough
@pytest.mark.skipif(os.name != "posix", reason="only POSIX systems have SIGKILL")
def test_a_process_that_is_killed_while_it_downloads_blocks_nobody(server, home):
    server.files["/queries.jsonl"] = BODY
    server.pause = 60
    killed = start(server)
    killed.stdin.write("\n")
    killed.stdin.flush()
    while not server.asked:
        time.sleep(0.02)
    assert (home / "some" / ".queries.jsonl.lock").exists()
    server.pause = 0.0
    killed.kill()
    killed.communicate(timeout=60)
    began = time.monotonic()
    [(_, status)] = let_go([start(server)])
    assert (status, time.monotonic() - began < 10, len(server.asked)) == (0, True, 2)
    assert not (home / "some" / ".queries.jsonl.lock").exists()


@contextlib.contextmanager
def another_has_the_lock(path):
    """Hold the lock of a file as another process would."""
    path.parent.mkdir(parents=True)
    descriptor = downloads._lock(path.with_name(f".{path.name}.lock"))
    try:
        yield
    finally:
        os.close(descriptor)


WITH_LOCKS = pytest.mark.skipif(os.name != "posix", reason="there are no locks")


@WITH_LOCKS
def test_who_waits_says_so_and_takes_what_the_other_one_has_put_there(server, home, monkeypatch):
    monkeypatch.setattr(downloads, "DELAY", 0.1)
    path = home / "some" / "queries.jsonl"
    message = re.escape(f"{path}: another process downloads this file; waiting for it, at most 10 minutes")
    with another_has_the_lock(path), ThreadPoolExecutor() as pool:
        waiting = pool.submit(remote(server.url).path)
        with pytest.warns(pm.PermedWarning, match=f"^{message}$") as warnings:
            time.sleep(0.5)
        assert (waiting.done(), len(warnings)) == (False, 1)
        path.write_bytes(BODY)
        (path.parent / ".queries.jsonl.lock").unlink()  # as the other one does at its end
        assert waiting.result(timeout=5) == path
    assert (server.asked, kept(home)) == ([], [path])


@WITH_LOCKS
def test_who_waits_less_than_two_seconds_says_nothing(server, home):
    server.files["/queries.jsonl"] = BODY
    path = home / "some" / "queries.jsonl"
    with ThreadPoolExecutor() as pool:
        with another_has_the_lock(path):
            waiting = pool.submit(remote(server.url).path)
            time.sleep(0.3)
            assert not waiting.done()
        assert waiting.result(timeout=5) == path  # that process has ended, and left its lock file there
    assert (len(server.asked), kept(home)) == (1, [path])


@WITH_LOCKS
def test_nobody_waits_longer_than_the_limit(server, home, monkeypatch):
    monkeypatch.setattr(downloads, "_LONGEST_WAIT", 0.2)
    server.files["/queries.jsonl"] = BODY
    path = home / "some" / "queries.jsonl"
    with another_has_the_lock(path):
        assert remote(server.url).path() == path
    assert path.read_bytes() == BODY
    assert len(server.asked) == 1


@pytest.mark.parametrize("there", [b"the first", None])
@pytest.mark.parametrize("links", [True, False])
def test_a_file_that_is_there_stays_the_one_that_it_is(tmp_path, monkeypatch, there, links):
    def fail(*_):
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    if not links:
        monkeypatch.setattr(os, "link", fail)
    part, path = tmp_path / "part", tmp_path / "path"
    part.write_bytes(b"the second")
    if there is not None:
        path.write_bytes(there)
        before = path.stat().st_ino
    downloads._put(part, path)
    assert path.read_bytes() == (there or b"the second")
    assert there is None or path.stat().st_ino == before


# --- what failed -----------------------------------------------------------------------------------------

LONG = "HTTPSConnectionPool(host='a.org', port=443): "


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OSError(5, "gone"), "[Errno 5] gone"),
        (RuntimeError(), "RuntimeError"),
        (RuntimeError("All failed", []), "All failed"),
        (RuntimeError("All failed", [("a", OSError("no a")), ("b", OSError("no b"))]), "no a"),
        (ConnectionError(OSError(f"{LONG}Read timed out.")), "Read timed out."),
        (MaxRetryError(None, "/file", OSError("refused")), "refused"),
        (OSError("x" * 200), "x" * 200),
        (OSError("x" * 201), f"{'x' * 199}…"),
    ],
)
def test_the_reason_of_a_failed_download_is_short(error, reason):
    assert reason_of(error) == reason


def test_a_data_set_without_network_is_one_line_of_the_command_line(home, tmp_path, monkeypatch):
    (tmp_path / "run.trec").write_text("topic_001_1 Q0 permed-1 1 1 t\n")
    for name, value in (("ALL_PROXY", unused_url()), ("no_proxy", ""), ("IR_DATASETS_DL_TRIES", "2")):
        monkeypatch.setenv(name, value)
    status, stdout, stderr = run_main("evaluate", "medcorpus", tmp_path / "run.trec")
    assert (status, stdout) == (2, "")
    [message] = stderr.splitlines()
    assert message.startswith("error: ")
    assert "Connection refused" in message
    assert kept(home) == []


def test_a_file_that_is_not_the_published_one_is_said_whenever_it_is_used(home, offline):  # noqa: ARG001
    path = home / "some" / "queries.jsonl"
    path.parent.mkdir(parents=True)
    file = remote("https://example.org")
    for content, difference in [
        (BODY[:-1], "it has 16,499 bytes in place of 16,500"),
        (BODY, None),
        (BODY[:-1] + b" ", f"its SHA-256 is {sha256(BODY[:-1] + b' ')} in place of {sha256(BODY)}"),
    ]:
        path.write_bytes(content)
        if difference is None:
            assert file.path() == path
            continue
        with pytest.raises(pm.InputError) as error:
            file.path()
        assert str(error.value) == (
            f"{path}: this is not the published file, or not all of it: {difference}. Delete it, so that it "
            "is downloaded again, or put the file from https://example.org/queries.jsonl there"
        )
        assert path.read_bytes() == content


def test_a_file_that_is_kept_is_not_missing(tmp_path):
    (tmp_path / "kept").touch()
    for name, is_gone in (("kept", False), ("gone", True)):
        file = Cache(Download([RequestsDownload("https://example.org")]), str(tmp_path / name))
        assert downloads._is_missing(TrecQrels(file, {1: "relevant"}), set()) == is_gone
        assert downloads._is_missing([{}, {"a": file}, "a", None], set()) == is_gone
        circle = [file]
        circle.insert(0, circle)
        assert downloads._is_missing(circle, set()) == is_gone


CLPR = [file for file in REMOTE_FILES.values() if "kcisgroup/CLPR" in file.url]
"""The files that the folder of real data has."""


def test_each_file_has_its_size_and_hash(data):
    assert len(CLPR) == 4
    for file in CLPR:
        content = (data / file.name).read_bytes()
        assert (file.size, file.sha256) == (len(content), sha256(content))
    official = [file for file in REMOTE_FILES.values() if file not in CLPR]
    assert len({file.sha256 for file in official if re.fullmatch("[0-9a-f]{64}", file.sha256)}) == 7
    papers = [file.size for file in official if file.name.startswith("litsearch/corpus_clean/")]
    assert sum(papers) == 1_257_084_104  # download_size of its data set card
