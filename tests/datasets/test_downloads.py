"""Downloads from a server on this machine: kept once, checked, asked again, named when they fail."""

import contextlib
import hashlib
import os
import random
import re
import socket
import subprocess
import sys
import threading
from unittest.mock import Mock

import ir_datasets
import pytest
from data_files import kept
from ir_measures import P

import permed_measures as pm
from permed_measures.datasets.downloads import FILES, RemoteFile
from permed_measures.errors import reason_of

REMOTE = [file for file in FILES.values() if "kcisgroup/CLPR" in file.url]
"""The files of CLPR, which the folder of real data has."""

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


@pytest.mark.usefixtures("offline")
def test_a_file_that_is_there_needs_no_network(home):
    (home / "some").mkdir(parents=True)
    (home / "some" / "queries.jsonl").write_bytes(BODY)
    assert remote(unused_url()).path().read_bytes() == BODY


def test_another_file_than_the_published_one_is_refused_and_not_kept(server, home):
    other = server.files["/queries.jsonl"] = BODY[:-1] + b" "
    with pytest.raises(pm.InputError) as error:
        remote(server.url).path()
    message = str(error.value)
    assert f"{server.url}/queries.jsonl cannot be downloaded" in message
    assert str(home / "some" / "queries.jsonl") in message
    assert f"its SHA-256 is {sha256(other)} in place of {sha256(BODY)}" in message
    assert kept(home) == []


def test_a_connection_that_is_cut_leaves_no_file(server, home):
    server.files["/queries.jsonl"] = BODY
    server.cut["/queries.jsonl"] = [len(BODY) // 2]
    file = remote(server.url)
    with pytest.raises(pm.InputError, match="cannot be downloaded"):
        file.path()
    assert kept(home) == []
    assert file.path().read_bytes() == BODY


@pytest.fixture
def waits(monkeypatch):
    """Return the seconds between tries, which are not waited for."""
    seconds = []
    monkeypatch.setattr("permed_measures.datasets.downloads.time.sleep", seconds.append)
    return seconds


@pytest.mark.parametrize("compresses", [True, False])
def test_a_connection_that_is_cut_is_tried_again(server, monkeypatch, waits, compresses):
    body = random.Random(1).randbytes(40_000)
    monkeypatch.setenv("IR_DATASETS_DL_TRIES", "2")
    server.compresses = compresses
    server.files["/queries.jsonl"] = body
    server.cut["/queries.jsonl"] = [len(body) // 2]
    assert remote(server.url, body).path().read_bytes() == body
    assert server.asked == ["/queries.jsonl"] * 2
    assert waits == [2]


def test_a_file_that_two_ask_for_at_once_is_there_for_both(server, home):
    server.files["/queries.jsonl"] = BODY
    server.together = threading.Barrier(2)  # both have begun before either gets the content
    file, found = remote(server.url), []

    def ask():
        try:
            found.append(file.path().read_bytes())
        except pm.InputError as error:
            found.append(str(error))

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [BODY, BODY]
    assert kept(home) == [file.cache_path()]


@pytest.mark.parametrize(
    ("status", "reason"),
    [(401, "Unauthorized"), (403, "Forbidden"), (404, "Not Found"), (410, "Gone")],
)
def test_a_file_that_the_server_refuses_is_an_error_that_names_the_status(server, home, status, reason):
    server.files["/queries.jsonl"] = BODY
    server.statuses["/queries.jsonl"] = [status] * 20
    with pytest.raises(pm.InputError) as error:
        remote(server.url).path()
    assert f"{server.url}/queries.jsonl cannot be downloaded (" in str(error.value)
    assert f"{status}" in str(error.value)
    assert reason in str(error.value)
    assert kept(home) == []
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("status", "reason"),
    [(429, "Too Many Requests"), (500, "Internal Server Error"), (503, "Service Unavailable")],
)
def test_a_server_that_is_busy_is_asked_again(server, home, monkeypatch, waits, status, reason):
    monkeypatch.setenv("IR_DATASETS_DL_TRIES", "3")
    server.files["/queries.jsonl"] = BODY
    server.statuses["/queries.jsonl"] = [status] * 5
    with pytest.raises(
        pm.InputError, match=rf"cannot be downloaded \(the server answered {status} {reason}\)"
    ):
        remote(server.url).path()
    assert len(server.asked) == 3
    assert kept(home) == []
    assert remote(server.url).path().read_bytes() == BODY  # after two more errors
    assert len(server.asked) == 6
    assert waits == [2, 4] * 2


def test_a_response_larger_than_the_published_file_is_not_read_to_its_end(server, home):
    server.files["/queries.jsonl"] = bytes(1 << 16)
    server.endless = True
    with pytest.raises(pm.InputError, match="the response is larger than the published file of 16,500 bytes"):
        remote(server.url).path()
    assert kept(home) == []
    assert server.n_sent < 1 << 26  # what the system buffers


def test_a_page_instead_of_the_file_is_refused_and_not_kept(server, home):
    server.files["/queries.jsonl"] = b"<html>please log in</html>"
    with pytest.raises(pm.InputError, match="it has 26 bytes in place of 16,500"):
        remote(server.url).path()
    assert kept(home) == []


def test_without_a_network_the_message_says_what_to_put_where(home):
    url = unused_url()
    with pytest.raises(pm.InputError) as error:
        remote(url).path()
    path = home / "some" / "queries.jsonl"
    message = str(error.value)
    assert message == (
        f"{path}: {url}/queries.jsonl cannot be downloaded (Failed to establish a new connection: "
        "[Errno 111] Connection refused). Check the network, or download it by hand and put it there "
        f"(its SHA-256 is {sha256(BODY)})"
    )
    assert kept(home) == []


LONG = "HTTPSConnectionPool(host='a.org', port=443): "


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OSError(5, "gone"), "[Errno 5] gone"),
        (RuntimeError(), "RuntimeError"),
        (
            RuntimeError("All download sources failed", [("a", OSError("no a")), ("b", OSError("no b"))]),
            "no a",
        ),
        (ConnectionError(OSError(f"{LONG}Read timed out.")), "Read timed out."),
        (
            ConnectionError(Mock(spec=BaseException, reason=OSError("<urllib3 0x7f>: refused"), args=())),
            "refused",
        ),
        (OSError("x" * 999), f"{'x' * 199}…"),
    ],
)
def test_the_reason_of_a_failed_download_is_short(error, reason):
    assert reason_of(error) == reason


@pytest.mark.parametrize("name", ["medcorpus", "vaswani"])
def test_a_data_set_without_network_is_one_line_of_the_command_line(home, tmp_path, name):
    (tmp_path / "run.trec").write_text("topic_001_1 Q0 permed-1 1 1 t\n")
    environment = {**os.environ, "IR_DATASETS_DL_TRIES": "2", "ALL_PROXY": unused_url(), "no_proxy": ""}
    command = [sys.executable, "-m", "permed_measures", "evaluate", name, str(tmp_path / "run.trec")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert (ended.returncode, ended.stdout) == (2, "")
    [message] = ended.stderr.splitlines()
    assert message.startswith("error: ")
    assert "Connection refused" in message
    assert kept(home) == []


@pytest.mark.parametrize(
    ("content", "difference"),
    [
        (b"", "it has 0 bytes in place of 16,500"),
        (BODY[:-1], "it has 16,499 bytes in place of 16,500"),
        (BODY[:-1] + b" ", f"its SHA-256 is {sha256(BODY[:-1] + b' ')} in place of {sha256(BODY)}"),
    ],
)
def test_a_broken_file_is_said_and_the_right_one_in_its_place_is_used(server, home, content, difference):
    path = home / "some" / "queries.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    file = remote(server.url)
    with pytest.raises(pm.InputError) as error:
        file.path()
    assert str(error.value) == (
        f"{path}: this is not the published file, or not all of it: {difference}. Delete it, so that it is "
        f"downloaded again, or put the file from {server.url}/queries.jsonl there"
    )
    assert path.read_bytes() == content
    path.write_bytes(BODY)
    assert file.path() == path
    path.unlink()
    server.files["/queries.jsonl"] = BODY
    assert file.path().read_bytes() == BODY


def test_a_file_that_changes_is_checked_again(home):
    path = home / "some" / "queries.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(BODY)
    file = remote(unused_url())
    assert file.path() == path
    path.write_bytes(BODY[:-1] + b" ")
    with pytest.raises(pm.InputError, match="not the published file"):
        file.path()


def test_each_file_has_its_size_and_hash(data):
    assert len(REMOTE) == 4
    for file in REMOTE:
        content = (data / file.name).read_bytes()
        assert (file.size, file.sha256) == (len(content), sha256(content))
    official = [file for file in FILES.values() if file not in REMOTE]
    assert len({file.sha256 for file in official}) == len(official) == 7
    assert all(re.fullmatch("[0-9a-f]{64}", file.sha256) for file in official)
    sizes = {
        name: sum(file.size for file in official if file.name.startswith(f"litsearch/{name}/"))
        for name in ("query", "corpus_clean")
    }
    assert sizes == {"query": 50_621, "corpus_clean": 1_257_084_104}  # download_size of its data set card


@contextlib.contextmanager
def served_from(url):
    """Let the real files come from this server."""
    urls = {file: file.url for file in REMOTE}
    try:
        for file in REMOTE:
            object.__setattr__(file, "url", f"{url}/{file.name}")
        yield
    finally:
        for file, known in zip(REMOTE, urls.values(), strict=True):
            object.__setattr__(file, "url", known)


def test_whole_data_sets_are_downloaded_when_they_are_asked_for(data, server, home):
    for file in REMOTE:
        server.files[f"/{file.name}"] = (data / file.name).read_bytes()
    with served_from(server.url):
        medcorpus, litsearch = ir_datasets.load("medcorpus"), ir_datasets.load("litsearch")
        assert server.asked == []
        for _ in range(2):
            assert sum(1 for _ in medcorpus.queries_iter()) == 3440
            assert sum(1 for _ in medcorpus.qrels_iter()) == 34387
            assert sum(1 for _ in litsearch.queries_iter()) == 597
            assert sum(1 for _ in litsearch.qrels_iter()) == 639
    assert sorted(server.asked) == sorted(f"/{file.name}" for file in REMOTE)
    assert sorted(kept(home)) == sorted(home / file.name for file in REMOTE)


def test_a_data_set_without_network_is_one_clear_error(home, tmp_path):
    (tmp_path / "run.trec").write_text("topic_001_1 Q0 permed-1 1 1 t\n")
    path = home / "medcorpus" / "query_to_texts.jsonl"
    with served_from(unused_url()):
        with pytest.raises(pm.InputError) as error:
            list(ir_datasets.load("medcorpus").qrels_iter())
        assert str(error.value).startswith(f"{path}: http://127.0.0.1")
        assert FILES["medcorpus/query_to_texts.jsonl"].sha256 in str(error.value)
        with pytest.raises(pm.InputError, match="cannot be downloaded"):
            pm.calc_aggregate([P @ 1], ir_datasets.load("medcorpus"), {"topic_001_1": {"permed-1": 1.0}})
        with pytest.raises(pm.InputError, match="cannot be downloaded"):
            list(ir_datasets.load("litsearch").queries_iter())
    assert kept(home) == []
