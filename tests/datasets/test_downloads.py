"""Downloads from a server on this machine: kept once, checked, asked again, named when they fail."""

import hashlib
import os
import re
import socket
import subprocess
import sys

import ir_datasets  # noqa: F401 - it registers our data sets, and loads their downloads
import pytest
from commands import run_main
from data_files import kept
from ir_datasets.formats import TrecQrels
from ir_datasets.util import Cache, Download, RequestsDownload
from urllib3.exceptions import MaxRetryError

import permed_measures as pm
from permed_measures.datasets import downloads
from permed_measures.datasets.downloads import FILES, RemoteFile
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
        (None, "it has 9 bytes in place of 16,500"),  # there is no such file
    ],
)
def test_another_file_than_the_published_one_is_refused_and_not_kept(server, home, content, difference):
    if content is not None:
        server.files["/queries.jsonl"] = content
    with pytest.raises(pm.InputError) as error:
        remote(server.url).path()
    assert str(error.value) == (
        f"{home / 'some' / 'queries.jsonl'}: {server.url}/queries.jsonl cannot be downloaded ({difference}). "
        f"Check the network, or download it by hand and put it there (its SHA-256 is {sha256(BODY)})"
    )
    assert kept(home) == []


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
    hint = "Let the environment variable IR_DATASETS_HOME name a folder in which files can be written"
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


CLPR = [file for file in FILES.values() if "kcisgroup/CLPR" in file.url]
"""The files that the folder of real data has."""


def test_each_file_has_its_size_and_hash(data):
    assert len(CLPR) == 4
    for file in CLPR:
        content = (data / file.name).read_bytes()
        assert (file.size, file.sha256) == (len(content), sha256(content))
    official = [file for file in FILES.values() if file not in CLPR]
    assert len({file.sha256 for file in official if re.fullmatch("[0-9a-f]{64}", file.sha256)}) == 7
    papers = [file.size for file in official if file.name.startswith("litsearch/corpus_clean/")]
    assert sum(papers) == 1_257_084_104  # download_size of its data set card
