"""The data sets of ir_datasets, their files wherever they come from, folders as data sets, means by group."""

import contextlib
import functools
import gzip
import hashlib
import http.server
import json
import math
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import threading
import warnings
from collections import Counter, defaultdict

import ir_datasets
import ir_measures
import oracle
import polars as pl
import pytest
from cases import random_case
from ir_measures import P
from typer.testing import CliRunner

import permed_measures as pm
from permed_measures import cli
from permed_measures.datasets import NAMES, SAMPLES, catalogue, downloads, from_folder, load, qrels_of
from permed_measures.datasets.downloads import RemoteFile
from permed_measures.datasets.records import ConversationQuery, LitSearchDoc, LitSearchQuery, TitledDoc
from permed_measures.engine.groups import Groups

PUBLISHED = {
    "GradedAP@10": 0.535731969113,
    "P@1": 0.927906976744,
    "nDCG(dcg='exp-log2')@10": 0.904480022705,
}
MEASURES = [pm.GradedAP @ 10, ir_measures.P @ 1, ir_measures.nDCG(dcg="exp-log2") @ 10]
BY_TURN = {  # grade: labels, of each turn
    1: {-1: 16, 0: 1530, 1: 4212, 2: 2241},
    2: {0: 2910, 1: 3892, 2: 1192},
    3: {0: 2217, 1: 4610, 2: 1165},
    4: {0: 1934, 1: 3636, 2: 430},
    5: {0: 1511, 1: 1937, 2: 152},
    6: {0: 341, 1: 402, 2: 57},
}
REMOTE = (
    downloads.MEDCORPUS_QUERIES,
    downloads.MEDCORPUS_LABELS,
    downloads.LITSEARCH_QUERIES,
    downloads.LITSEARCH_LABELS,
)


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """Return an empty folder of ir_datasets."""
    folder = tmp_path / "home"
    monkeypatch.setenv("IR_DATASETS_HOME", str(folder))
    monkeypatch.setenv("IR_DATASETS_TMP", str(tmp_path / "tmp"))
    monkeypatch.setenv("IR_DATASETS_DL_DISABLE_PBAR", "true")
    monkeypatch.setenv("IR_DATASETS_DL_TRIES", "1")
    monkeypatch.setenv("IR_DATASETS_DL_TIMEOUT", "5")
    monkeypatch.delenv("PERMED_LITSEARCH_DIR", raising=False)
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "127.0.0.1,localhost")
    return folder


@pytest.fixture
def offline(monkeypatch):
    """Let a test fail that asks the network."""

    def get(*_, **options):
        pytest.fail(f"the network was asked: {options}")

    monkeypatch.setattr("requests.get", get)


@pytest.fixture(scope="module")
def copied(data, tmp_path_factory):
    """Return a folder of ir_datasets with the real files."""
    folder = tmp_path_factory.mktemp("real")
    for remote in REMOTE:
        (folder / remote.name).parent.mkdir(exist_ok=True)
        shutil.copyfile(data / remote.name, folder / remote.name)
    return folder


@pytest.fixture
def real(copied, monkeypatch, offline):  # noqa: ARG001
    """Let ir_datasets have the real files, and no network."""
    monkeypatch.setenv("IR_DATASETS_HOME", str(copied))
    return copied


def lines_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_lines(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def run_cli(*arguments, status=0):
    """Return stdout and stderr of the command line in this process."""
    result = CliRunner().invoke(cli.app, [str(argument) for argument in arguments])
    error = result.exception
    if error is not None and not isinstance(error, SystemExit):
        raise error
    assert result.exit_code == status, result.output
    return result.stdout, result.stderr


def python(code, **environment):
    """Return what a fresh interpreter prints."""
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def nested(qrels):
    found = defaultdict(dict)
    for query_id, doc_id, relevance in qrels:
        found[query_id][doc_id] = relevance
    return dict(found)


def grades_of(dataset):
    return Counter(qrel.relevance for qrel in dataset.qrels_iter())


# --- the real files ----------------------------------------------------------------------------------


@pytest.mark.usefixtures("real")
def test_medcorpus_has_its_turns_and_labels():
    dataset = ir_datasets.load("medcorpus")
    queries, qrels = list(dataset.queries_iter()), list(dataset.qrels_iter())
    assert len(queries) == len({query.query_id for query in queries}) == 3440
    assert len({query.conversation_id for query in queries}) == 800
    assert len(qrels) == 34387
    assert grades_of(dataset) == {2: 5237, 1: 18689, 0: 10443, -1: 18}
    assert {qrel.query_id for qrel in qrels} == {query.query_id for query in queries}


def test_each_turn_of_medcorpus_is_as_the_file_has_it(real):
    expected = [
        (
            f"{conversation['conversation_id']}_{turn['turn_id']}",
            turn["text"],
            conversation["conversation_id"],
            turn["turn_id"],
            tuple(earlier["text"] for earlier in conversation["turns"][:place]),
        )
        for conversation in lines_of(real / "medcorpus" / "queries.jsonl")
        for place, turn in enumerate(conversation["turns"])
    ]
    queries = list(ir_datasets.load("medcorpus").queries_iter())
    for place in (0, len(queries) // 2, -1):
        assert queries[place] == expected[place]
    assert queries == expected
    assert queries[0].history == ()
    assert queries[2].history == (queries[0].text, queries[1].text)
    assert queries[2].default_text() == queries[2].text


def test_each_label_of_medcorpus_is_as_the_file_has_it(real):
    expected = [
        (f"{line['conversation_id']}_{line['turn_id']}", line["doc_id"], line["rel"])
        for line in lines_of(real / "medcorpus" / "query_to_texts.jsonl")
    ]
    qrels = list(ir_datasets.load("medcorpus").qrels_iter())
    for place in (0, len(qrels) // 2, -1):
        assert tuple(qrels[place]) == expected[place]
    assert list(map(tuple, qrels)) == expected
    assert {type(qrel.relevance) for qrel in qrels} == {int}


@pytest.mark.usefixtures("real")
def test_the_turns_are_a_partition_of_medcorpus():
    whole = ir_datasets.load("medcorpus")
    parts = [ir_datasets.load(f"medcorpus/turn/{turn}") for turn in range(1, 7)]
    for turn, part in enumerate(parts, start=1):
        assert (
            grades_of(part).items() >= {0: BY_TURN[turn][0], 1: BY_TURN[turn][1], 2: BY_TURN[turn][2]}.items()
        )
        queries = list(part.queries_iter())
        assert {query.turn_number for query in queries} == {turn}
        assert {qrel.query_id for qrel in part.qrels_iter()} == {query.query_id for query in queries}
        assert part.queries_count() == len(queries)
        assert part.qrels_count() == grades_of(part).total()
    assert sum((grades_of(part) for part in parts), Counter()) == grades_of(whole)
    assert sorted(qrel for part in parts for qrel in part.qrels_iter()) == sorted(whole.qrels_iter())
    assert sorted(query for part in parts for query in part.queries_iter()) == sorted(whole.queries_iter())


@pytest.mark.usefixtures("real")
def test_the_first_turns_of_medcorpus_have_their_labels():
    first = ir_datasets.load("medcorpus/turn/1")
    assert first.queries_count() == 800
    assert first.qrels_count() == 7999
    assert grades_of(first) == BY_TURN[1]


def test_litsearch_is_as_the_files_have_it(real):
    dataset = ir_datasets.load("litsearch")
    queries, qrels = list(dataset.queries_iter()), list(dataset.qrels_iter())
    texts = [
        (str(line["query_id"]), line["query"]) for line in lines_of(real / "litsearch" / "queries.jsonl")
    ]
    labels = [
        (str(line["query_id"]), str(doc_id), 1)
        for line in lines_of(real / "litsearch" / "query_to_texts.jsonl")
        for doc_id in line["relevant_texts"]
    ]
    assert [query.query_id for query in queries] == [str(number) for number in range(1, 598)]
    assert [query[:2] for query in queries] == texts
    assert {query[2:] for query in queries} == {(None, None, None)}
    assert list(map(tuple, qrels)) == labels
    assert len(qrels) == 639
    assert {type(qrel.relevance) for qrel in qrels} == {int}


@pytest.mark.usefixtures("offline")
def test_types_of_records_and_meanings_of_grades_are_told():
    medcorpus, litsearch = ir_datasets.load("medcorpus/turn/3"), ir_datasets.load("litsearch/broad")
    conversation = ("query_id", "text", "conversation_id", "turn_number", "history")
    assert medcorpus.queries_cls() is ConversationQuery
    assert medcorpus.queries_cls()._fields == conversation
    assert litsearch.queries_cls() is LitSearchQuery
    assert litsearch.queries_cls()._fields == ("query_id", "text", "query_set", "specificity", "quality")
    assert medcorpus.docs_cls() is TitledDoc
    assert litsearch.docs_cls() is LitSearchDoc
    assert set(medcorpus.qrels_defs()) == {2, 1, 0, -1}
    assert "failed" in medcorpus.qrels_defs()[-1]
    assert set(litsearch.qrels_defs()) == {1}
    assert (
        medcorpus.qrels_cls()._fields == litsearch.qrels_cls()._fields == ("query_id", "doc_id", "relevance")
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("offline")
def test_each_data_set_is_documented(name):
    dataset = ir_datasets.load(name)
    assert dataset.dataset_id() == name
    assert {"pretty_name", "desc", "citation", "license", "data_access"} <= dataset.documentation().keys()
    assert all(isinstance(text, str) and text for text in dataset.documentation().values())
    assert dataset.queries_lang() == "en"
    assert dataset.docs_lang() in ("en", None)
    assert dataset.has_docs()
    assert dataset.has_queries()
    assert dataset.has_qrels()
    assert dataset.docs_namespace() == name.partition("/")[0]


@pytest.mark.usefixtures("offline")
def test_counts_are_known_without_any_file(home):
    medcorpus, litsearch = ir_datasets.load("medcorpus"), ir_datasets.load("litsearch")
    assert (medcorpus.queries_count(), medcorpus.qrels_count(), medcorpus.docs_count()) == (
        3440,
        34387,
        92703,
    )
    assert (litsearch.queries_count(), litsearch.qrels_count(), litsearch.docs_count()) == (597, 639, 64183)
    assert ir_datasets.load("medcorpus/turn/4").docs_count() == 92703
    assert ir_datasets.load("litsearch/author").docs_count() == 64183
    assert medcorpus.metadata() == {
        "docs": {"count": 92703},
        "queries": {"count": 3440},
        "qrels": {"count": 34387},
    }
    assert not list(home.rglob("*"))


@pytest.mark.usefixtures("offline")
def test_the_documents_of_a_part_are_those_of_the_whole():
    for name in NAMES:
        assert ir_datasets.docs_parent_id(name) == name.partition("/")[0]


@pytest.mark.parametrize("calc_aggregate", [ir_measures.calc_aggregate, pm.calc_aggregate])
@pytest.mark.usefixtures("real")
def test_medcorpus_labels_in_their_order_have_the_published_numbers(data, calc_aggregate):
    run = pm.read_run(data / "medcorpus" / "query_to_texts.jsonl")
    values = calc_aggregate(MEASURES, ir_datasets.load("medcorpus").qrels_iter(), run)
    assert {str(measure): value for measure, value in values.items()} == pytest.approx(PUBLISHED, abs=1e-9)


@pytest.mark.usefixtures("real")
def test_a_data_set_serves_as_qrels(data):
    run = pm.read_run(data / "medcorpus" / "query_to_texts.jsonl")
    values = pm.calc_aggregate(MEASURES, ir_datasets.load("medcorpus"), run)
    assert {str(measure): value for measure, value in values.items()} == pytest.approx(PUBLISHED, abs=1e-9)
    litsearch = ir_datasets.load("litsearch")
    run = pm.read_run(data / "litsearch" / "runs" / "bm25.jsonl")
    values = pm.calc_aggregate([P @ 10], litsearch, run)
    assert values == pm.calc_aggregate([P @ 10], litsearch.qrels_iter(), run)


def evaluate(*arguments):
    stdout, stderr = run_cli("evaluate", *arguments, "--format", "json")
    [content] = json.loads(stdout)
    return content, stderr


@pytest.mark.usefixtures("real")
def test_medcorpus_by_the_command_line_has_the_published_numbers(data):
    options = [part for text in PUBLISHED for part in ("-m", text)]
    content, _ = evaluate("medcorpus", data / "medcorpus" / "query_to_texts.jsonl", *options)
    assert content["metrics"] == pytest.approx(PUBLISHED, abs=1e-9)
    assert content["queries"] == {"judged": 3440, "in_run": 3440, "without_relevant": 27, "ignored": 0}


def plain_groups(real, group_of):
    """Return the mean P@1 and the number of turns of each group, by reading the files."""
    first = {}
    for line in lines_of(real / "medcorpus" / "query_to_texts.jsonl"):
        first.setdefault((line["conversation_id"], line["turn_id"]), line["rel"])
    groups = defaultdict(list)
    for key, grade in first.items():
        groups[str(group_of(*key))].append(grade >= 1)
    return {group: (sum(hits) / len(hits), len(hits)) for group, hits in groups.items()}


@pytest.mark.parametrize(
    ("by", "group_of"),
    [
        ("turn_number", lambda _, turn: turn),
        ("conversation_id", lambda conversation, _: conversation),
        ("_([0-9]+)$", lambda _, turn: turn),
    ],
)
def test_medcorpus_by_group_is_the_mean_over_the_turns_of_the_group(real, data, by, group_of):
    labels = data / "medcorpus" / "query_to_texts.jsonl"
    content, stderr = evaluate("medcorpus", labels, "-m", "P@1", "-m", "GradedAP@10", "--by", by)
    expected = plain_groups(real, group_of)
    rows = {str(row["group"]): row for row in content["groups"]}
    assert content["by"] == by
    assert {group: row["queries"] for group, row in rows.items()} == {g: n for g, (_, n) in expected.items()}
    for group, (precision, _) in expected.items():
        assert rows[group]["metrics"]["P@1"] == pytest.approx(precision, abs=1e-12)
    per_query = defaultdict(list)
    for metric in pm.iter_calc([pm.GradedAP @ 10], pm.read_qrels(labels), pm.read_run(labels)):
        per_query[str(group_of(*metric.query_id.rsplit("_", 1)))].append(metric.value)
    for group, values in per_query.items():
        assert rows[group]["metrics"]["GradedAP@10"] == pytest.approx(
            math.fsum(values) / len(values), abs=1e-12
        )
    assert list(rows) == sorted(rows)
    assert content["metrics"]["P@1"] == pytest.approx(PUBLISHED["P@1"], abs=1e-9)
    assert "in no group" not in stderr


def test_medcorpus_by_turn_as_a_table_and_as_lines(real, data):
    labels = data / "medcorpus" / "query_to_texts.jsonl"
    table, _ = run_cli("evaluate", "medcorpus", labels, "-m", "P@1", "--by", "turn_number")
    lines, _ = run_cli(
        "evaluate", "medcorpus", labels, "-m", "P@1", "--by", "turn_number", "--format", "jsonl"
    )
    expected = plain_groups(real, lambda _, turn: turn)
    for turn, (precision, size) in expected.items():
        assert re.search(rf"^query_to_texts +{turn} .*{precision:.4f}.* {size}\b", table, re.M), table
    records = [json.loads(line) for line in lines.splitlines()]
    assert [record["queries"] for record in records] == [n for _, n in expected.values()]


# --- downloads ---------------------------------------------------------------------------------------

BODY = b'{"query_id": 1, "query": "why?"}\n' * 500


class Server:
    """Serves what is put into it, and remembers what was asked for."""

    def __init__(self):
        self.files, self.asked, self.cut, self.ranges, self.together = {}, [], {}, False, None
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                server.asked.append(self.path)
                body = server.files.get(self.path)
                if body is None:
                    self.send_error(404)
                    return
                start = 0
                if server.ranges and "Range" in self.headers:
                    start = int(self.headers["Range"].removeprefix("bytes=").removesuffix("-"))
                self.send_response(206 if start else 200)
                self.send_header("Content-Length", str(len(body) - start))
                if server.ranges:
                    self.send_header("Accept-Ranges", "bytes")
                self.end_headers()
                cuts = server.cut.get(self.path)
                if server.together is not None:
                    with contextlib.suppress(threading.BrokenBarrierError):  # one may wait for the other
                        server.together.wait(1)
                sent = body[start : cuts.pop(0)] if cuts else body[start:]
                self.wfile.write(sent)

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def server():
    with Server() as running:
        yield running


def md5(content):
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


def remote(url, content=BODY):
    return RemoteFile("some/queries.jsonl", f"{url}/queries.jsonl", md5(content) if content else None)


def kept(home):
    return [path for path in home.rglob("*") if path.is_file()]


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
    server.files["/queries.jsonl"] = BODY + b"\n"
    with pytest.raises(pm.InputError) as error:
        remote(server.url).path()
    message = str(error.value)
    assert f"{server.url}/queries.jsonl cannot be downloaded" in message
    assert str(home / "some" / "queries.jsonl") in message
    assert md5(BODY) in message
    assert md5(BODY + b"\n") in message
    assert kept(home) == []


@pytest.mark.parametrize("hashed", [True, False])
def test_a_connection_that_is_cut_leaves_no_file(server, home, hashed):
    body = BODY if hashed else b"PAR1" + BODY + b"PAR1"
    server.files["/queries.jsonl"] = body
    server.cut["/queries.jsonl"] = [len(body) // 2]
    file = remote(server.url, body if hashed else None)
    with pytest.raises(pm.InputError, match="cannot be downloaded"):
        file.path()
    assert kept(home) == []
    assert file.path().read_bytes() == body


@pytest.mark.parametrize("ranges", [True, False])
def test_a_connection_that_is_cut_is_tried_again(server, monkeypatch, ranges):
    monkeypatch.setenv("IR_DATASETS_DL_TRIES", "2")
    server.ranges = ranges
    server.files["/queries.jsonl"] = BODY
    server.cut["/queries.jsonl"] = [len(BODY) // 2]
    assert remote(server.url).path().read_bytes() == BODY
    assert server.asked == ["/queries.jsonl"] * 2


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
    assert kept(home) == [file.place()]


def test_a_file_that_the_server_does_not_have_is_an_error(server, home):
    with pytest.raises(pm.InputError) as error:
        remote(server.url).path()
    assert f"{server.url}/queries.jsonl cannot be downloaded" in str(error.value)
    assert kept(home) == []


def test_a_page_instead_of_parquet_is_refused_and_not_kept(server, home):
    server.files["/queries.jsonl"] = b"<html>please log in</html>"
    with pytest.raises(pm.InputError, match="a Parquet file must begin and end with PAR1"):
        remote(server.url, None).path()
    assert kept(home) == []


def test_without_a_network_the_message_says_what_to_put_where(home):
    url = unused_url()
    with pytest.raises(pm.InputError) as error:
        remote(url).path()
    place = home / "some" / "queries.jsonl"
    message = str(error.value)
    assert message.startswith(f"{place}: {url}/queries.jsonl cannot be downloaded (")
    assert message.endswith(
        f"Check the network, or download it by hand and put it at {place} (its md5 is {md5(BODY)})"
    )
    assert kept(home) == []


def test_a_corrupt_file_is_said_and_the_right_one_in_its_place_is_used(server, home):
    place = home / "some" / "queries.jsonl"
    place.parent.mkdir(parents=True)
    place.write_bytes(BODY[:-1])
    file = remote(server.url)
    with pytest.raises(pm.InputError) as error:
        file.path()
    message = str(error.value)
    assert message.startswith(f"{place}: the md5 must be {md5(BODY)} (found {md5(BODY[:-1])})")
    assert "not the file that was published, or not all of it" in message
    assert f"{server.url}/queries.jsonl" in message
    assert place.exists()
    place.write_bytes(BODY)
    assert file.path() == place
    place.unlink()
    server.files["/queries.jsonl"] = BODY
    assert file.path().read_bytes() == BODY


@pytest.mark.parametrize("content", [b"", b"PAR", b"PAR1 and no end", b"no begin PAR1"])
def test_part_of_a_parquet_file_is_refused(home, content):
    place = home / "some" / "queries.jsonl"
    place.parent.mkdir(parents=True)
    place.write_bytes(content)
    with pytest.raises(pm.InputError, match="must begin and end with PAR1"):
        remote("http://127.0.0.1:9", None).path()


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
    place = home / "medcorpus" / "query_to_texts.jsonl"
    with served_from(unused_url()):
        with pytest.raises(pm.InputError) as error:
            list(ir_datasets.load("medcorpus").qrels_iter())
        assert str(error.value).startswith(f"{place}: http://127.0.0.1")
        assert downloads.MEDCORPUS_LABELS.md5 in str(error.value)
        with pytest.raises(pm.InputError, match="cannot be downloaded"):
            pm.calc_aggregate([P @ 1], ir_datasets.load("medcorpus"), {"topic_001_1": {"permed-1": 1.0}})
        with pytest.raises(pm.InputError, match="cannot be downloaded"):
            list(ir_datasets.load("litsearch").queries_iter())
    assert kept(home) == []


# --- LitSearch's Parquet files -----------------------------------------------------------------------

SETS = ("inline_acl", "inline_nonacl", "manual_acl", "manual_iclr")
PAPERS = [
    {
        "corpusid": number,
        "title": f"Title {number}",
        "abstract": f"Abstract {number}" if number != 13 else None,
        "citations": [number + 1, number + 2] if number != 12 else [],
        "full_paper": f"Everything about {number}",
    }
    for number in range(10, 22)
]


def attributes_of(query_id):
    """Return query set, specificity and quality, as the made Parquet file has them."""
    number = int(query_id)
    return SETS[number % 4], number // 4 % 2, 1 + number // 8 % 2


@functools.cache
def question_rows(path):
    rows = []
    for line in lines_of(path):
        query_set, specificity, quality = attributes_of(line["query_id"])
        rows.append(
            {
                "query_set": query_set,
                "query": line["query"],
                "specificity": specificity,
                "quality": quality,
                "corpusids": [line["query_id"]],
            }
        )
    random.Random(5).shuffle(rows)
    return rows


def write_official(folder, rows=None, papers=None, layout="folders"):
    """Write Parquet files with the names and columns of princeton-nlp/LitSearch."""
    for name in ("query", "corpus_clean") if layout == "folders" else (".",):
        (folder / name).mkdir(parents=True, exist_ok=True)
    if rows is not None:
        name = "query/full-00000-of-00001.parquet" if layout == "folders" else "query.parquet"
        pl.DataFrame(rows).write_parquet(folder / name)
    if papers is not None:
        parts = [papers[2 * part : 2 * part + 2] for part in range(6)] if layout == "folders" else [papers]
        for part, content in enumerate(parts):
            name = (
                f"corpus_clean/full-{part:05}-of-00006.parquet"
                if layout == "folders"
                else "corpus_clean.parquet"
            )
            schema = {
                "corpusid": pl.Int64,
                "title": pl.String,
                "abstract": pl.String,
                "citations": pl.List(pl.Int64),
                "full_paper": pl.String,
            }
            pl.DataFrame(content, schema=schema).write_parquet(folder / name)
    return folder


@pytest.fixture
def rows(real):
    return [dict(row) for row in question_rows(real / "litsearch" / "queries.jsonl")]


def check_attributes():
    queries = list(ir_datasets.load("litsearch").queries_iter())
    assert len(queries) == 597
    for query in queries:
        assert query[2:] == attributes_of(query.query_id)


@pytest.mark.parametrize("layout", ["folders", "files"])
def test_official_files_give_each_question_its_attributes(rows, tmp_path, monkeypatch, layout):
    monkeypatch.setenv(
        "PERMED_LITSEARCH_DIR", str(write_official(tmp_path / "official", rows, PAPERS, layout))
    )
    check_attributes()
    assert [doc.doc_id for doc in ir_datasets.load("litsearch").docs_iter()] == [
        str(paper["corpusid"]) for paper in PAPERS
    ]


def test_official_files_are_downloaded_when_they_are_needed(rows, data, home, server, tmp_path, monkeypatch):
    monkeypatch.undo()  # the real home and no network
    monkeypatch.setenv("IR_DATASETS_HOME", str(home))
    monkeypatch.setenv("IR_DATASETS_DL_DISABLE_PBAR", "true")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("PERMED_LITSEARCH_DIR", f"{server.url}/main/")
    shutil.copytree(data / "litsearch", home / "litsearch", ignore=lambda *_: ["runs"])
    official = write_official(tmp_path / "official", rows, PAPERS)
    for path in official.rglob("*.parquet"):
        server.files[f"/main/{path.relative_to(official)}"] = path.read_bytes()
    litsearch = ir_datasets.load("litsearch")
    assert {query[2:] for query in litsearch.queries_iter()} == {(None, None, None)}
    assert server.asked == []
    broad = list(ir_datasets.load("litsearch/broad").queries_iter())
    assert broad
    assert all(attributes_of(query.query_id)[1] == 0 for query in broad)
    assert server.asked == ["/main/query/full-00000-of-00001.parquet"]
    check_attributes()
    assert [doc.doc_id for doc in litsearch.docs_iter()] == [str(paper["corpusid"]) for paper in PAPERS]
    assert server.asked[1:] == [f"/main/corpus_clean/full-{part:05}-of-00006.parquet" for part in range(6)]
    assert litsearch.docs_store().get("13").title == "Title 13"
    assert len(server.asked) == 7


@pytest.mark.parametrize(
    ("names", "keeps"),
    [
        (("broad", "specific"), (lambda a: a[1] == 0, lambda a: a[1] == 1)),
        (("inline", "author"), (lambda a: a[0].startswith("inline"), lambda a: a[0].startswith("manual"))),
    ],
)
def test_the_parts_of_litsearch_are_partitions(rows, tmp_path, monkeypatch, names, keeps):
    monkeypatch.setenv("PERMED_LITSEARCH_DIR", str(write_official(tmp_path, rows)))
    whole = ir_datasets.load("litsearch")
    parts = [ir_datasets.load(f"litsearch/{name}") for name in names]
    for part, keep in zip(parts, keeps, strict=True):
        ids = [query.query_id for query in whole.queries_iter() if keep(attributes_of(query.query_id))]
        assert [query.query_id for query in part.queries_iter()] == ids
        assert list(dict.fromkeys(qrel.query_id for qrel in part.qrels_iter())) == ids
        assert part.queries_count() == len(ids)
    assert sum(part.queries_count() for part in parts) == 597
    assert sorted(qrel for part in parts for qrel in part.qrels_iter()) == sorted(whole.qrels_iter())


def test_litsearch_by_specificity(rows, data, tmp_path, monkeypatch):
    monkeypatch.setenv("PERMED_LITSEARCH_DIR", str(write_official(tmp_path, rows)))
    path = data / "litsearch" / "runs" / "bm25.jsonl"
    run, dataset = pm.read_run(path), ir_datasets.load("litsearch")
    found = pm.evaluate_by([P @ 10, "R@20"], dataset, run, by="specificity")
    assert list(map(str, found)) == ["broad", "specific"]
    content, _ = evaluate("litsearch", path, "-m", "P@10", "-m", "R@20", "--by", "specificity")
    for value, row in zip(found, content["groups"], strict=True):
        part = ir_datasets.load(f"litsearch/{value}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pm.PermedWarning)
            expected = pm.calc_aggregate([P @ 10, "R@20"], part, run)
        assert found[value] == pytest.approx(expected, abs=1e-12)
        assert row["group"] == str(value)
        assert row["queries"] == part.queries_count()
        for measure, mean in expected.items():
            assert row["metrics"][str(measure)] == pytest.approx(mean, abs=1e-12)


@pytest.mark.usefixtures("real")
def test_litsearch_by_specificity_downloads_what_it_needs(monkeypatch):
    def no_network(*_, **__):
        raise OSError("no network here")

    monkeypatch.setattr("requests.get", no_network)
    with pytest.raises(
        pm.InputError, match=r"full-00000-of-00001\.parquet cannot be downloaded \(no network h"
    ):
        pm.evaluate_by("P@10", ir_datasets.load("litsearch"), {"1": {"202719327": 1.0}}, by="specificity")
    assert pm.calc_aggregate(["P@10"], ir_datasets.load("litsearch"), {"1": {"202719327": 1.0}}) == {
        P @ 10: 0.1 / 597
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[7].update(query="Another question?"), "596 of 597 meet"),
        (lambda rows: rows.pop(7), "596 of 597 meet"),
        (lambda rows: rows.append({**rows[7], "query": "One more?"}), "597 of 597 meet"),
        (lambda rows: rows.append(dict(rows[7])), "each query may stand once"),
        (
            lambda rows: [row.pop("quality") for row in rows],
            "(found query_set, query, specificity, corpusids)",
        ),
        (lambda rows: rows[7].update(specificity=2), "a specificity of 0 or 1"),
        (lambda rows: rows[7].update(specificity=None), "a specificity of 0 or 1"),
        (lambda rows: rows[7].update(quality=None), "a specificity of 0 or 1 and a quality"),
        (lambda rows: rows[7].update(query_set=None), "a text must be a string"),
    ],
)
def test_official_questions_that_are_not_those_of_litsearch_are_refused(
    rows, tmp_path, monkeypatch, change, message
):
    text = rows[7]["query"]
    change(rows)
    folder = write_official(tmp_path, rows)
    monkeypatch.setenv("PERMED_LITSEARCH_DIR", str(folder))
    with pytest.raises(pm.InputError) as error:
        list(ir_datasets.load("litsearch").queries_iter())
    found = str(error.value)
    assert found.startswith(f"{folder / 'query' / 'full-00000-of-00001.parquet'}: ")
    assert message in found
    if message == "596 of 597 meet":
        assert f"the file lacks {text!r:.100}" in found
    if message == "597 of 597 meet":
        assert "the file has, but LitSearch lacks, 'One more?'" in found
    if "may stand once" in message:
        assert f"{text!r:.80}" in found


@pytest.mark.usefixtures("real")
def test_a_text_file_instead_of_parquet_is_refused(tmp_path, monkeypatch):
    (tmp_path / "query.parquet").write_text("query_set,query\n")
    (tmp_path / "corpus_clean.parquet").write_text("corpusid,title\n")
    monkeypatch.setenv("PERMED_LITSEARCH_DIR", str(tmp_path))
    for read in ("queries_iter", "docs_iter"):
        with pytest.raises(pm.InputError, match=r"\.parquet: cannot be read as Parquet"):
            list(getattr(ir_datasets.load("litsearch"), read)())


@pytest.mark.parametrize("exists", [True, False])
@pytest.mark.usefixtures("real")
def test_a_folder_without_official_files_is_refused(tmp_path, monkeypatch, exists):
    folder = tmp_path if exists else tmp_path / "nothing"
    monkeypatch.setenv("PERMED_LITSEARCH_DIR", str(folder))
    for read, name in (("queries_iter", "query"), ("docs_iter", "corpus_clean")):
        with pytest.raises(pm.InputError) as error:
            getattr(ir_datasets.load("litsearch"), read)()
        assert str(error.value).startswith(f"{folder}: there must be Parquet files {name}/*.parquet")
        assert "PERMED_LITSEARCH_DIR" in str(error.value)
    assert sum(1 for _ in ir_datasets.load("litsearch").qrels_iter()) == 639


@pytest.mark.parametrize("layout", ["folders", "files"])
@pytest.mark.usefixtures("offline")
def test_the_papers_of_litsearch_are_read_and_looked_up(home, tmp_path, monkeypatch, layout):
    monkeypatch.setenv("PERMED_LITSEARCH_DIR", str(write_official(tmp_path / "a", None, PAPERS, layout)))
    expected = [
        LitSearchDoc(
            str(paper["corpusid"]),
            paper["title"],
            paper["abstract"] or "",
            tuple(map(str, paper["citations"])),
            paper["full_paper"],
        )
        for paper in PAPERS
    ]
    dataset = ir_datasets.load("litsearch")
    assert list(dataset.docs_iter()) == expected
    assert not kept(home)
    assert list(dataset.docs_iter()[1:3]) == expected[1:3]
    assert list(dataset.docs_iter()) == expected
    assert dataset.docs_store().get("13") == expected[3]
    assert dataset.docs_store().get_many(["10", "21", "99"]) == {"10": expected[0], "21": expected[-1]}
    with pytest.raises(KeyError):
        dataset.docs_store().get("99")
    assert expected[0].default_text() == "Title 10 Abstract 10"
    assert kept(home / "litsearch")


@pytest.mark.usefixtures("offline")
def test_other_papers_in_another_folder_do_not_get_the_index_of_the_first(tmp_path, monkeypatch):
    dataset = ir_datasets.load("litsearch")
    others = [{**paper, "title": f"Other {paper['corpusid']}"} for paper in PAPERS]
    for name, papers, title in (("a", PAPERS, "Title"), ("b", others, "Other"), ("a", None, "Title")):
        monkeypatch.setenv("PERMED_LITSEARCH_DIR", str(write_official(tmp_path / name, None, papers)))
        assert dataset.docs_store().get("12").title == f"{title} 12"
        assert [doc.title for doc in dataset.docs_iter()[1:3]] == [f"{title} 11", f"{title} 12"]


@pytest.mark.usefixtures("offline")
def test_papers_without_a_column_are_refused(tmp_path, monkeypatch):
    pl.DataFrame(PAPERS).drop("citations").write_parquet(tmp_path / "corpus_clean.parquet")
    monkeypatch.setenv("PERMED_LITSEARCH_DIR", str(tmp_path))
    with pytest.raises(
        pm.InputError, match=r"corpus_clean\.parquet: .*\(found corpusid, title, abstract, full_paper\)"
    ):
        list(ir_datasets.load("litsearch").docs_iter())


# --- the documents of MedCorpus ----------------------------------------------------------------------


@pytest.mark.usefixtures("offline")
def test_the_documents_of_medcorpus_are_said_not_to_be_public(home):
    place = home / "medcorpus" / "corpus.jsonl"
    for name in ("medcorpus", "medcorpus/turn/2"):
        for read in ("docs_iter", "docs_store"):
            with pytest.raises(pm.InputError) as error:
                getattr(ir_datasets.load(name), read)()
            assert str(error.value).startswith(f"{place}: the documents of MedCorpus are not public")
            assert "can put them there" in str(error.value)


@pytest.mark.usefixtures("offline")
def test_the_documents_of_medcorpus_are_read_from_where_they_were_put(home):
    documents = [{"text_id": f"permed-{n}", "title": f"T{n}", "text": f"über {n}"} for n in range(5)]
    place = write_lines(home / "medcorpus" / "corpus.jsonl", documents)
    dataset = ir_datasets.load("medcorpus/turn/2")
    expected = [TitledDoc(f"permed-{n}", f"T{n}", f"über {n}") for n in range(5)]
    assert list(dataset.docs_iter()) == expected
    assert list(dataset.docs_iter()[1:3]) == expected[1:3]
    assert dataset.docs_store().get("permed-4") == expected[4]
    assert expected[0].default_text() == "T0 über 0"
    write_lines(place, [*documents[::-1], {"text_id": 7, "text": "without a title"}])
    assert next(iter(dataset.docs_iter())) == expected[4]
    assert dataset.docs_store().get("7") == TitledDoc("7", "", "without a title")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"title": "T", "text": "t"}', "'text_id' is missing"),
        ('{"text_id": "d", "title": "T"}', "'text' is missing"),
        ('{"text_id": "d", "text": null}', "a text must be a string (found None)"),
        ("[1]", "found "),
        ("{", "found "),
    ],
)
@pytest.mark.usefixtures("offline")
def test_a_broken_line_of_the_documents_is_named(home, line, reason):
    place = write_lines(home / "medcorpus" / "corpus.jsonl", [{"text_id": "a", "text": "t"}])
    place.write_text(f"{place.read_text()}{line}\n")
    with pytest.raises(pm.InputError) as error:
        list(ir_datasets.load("medcorpus").docs_iter())
    assert str(error.value).startswith(f"{place}:2: a line of this file reads ")
    assert reason in str(error.value)


# --- folders -----------------------------------------------------------------------------------------

CONVERSATIONS = [
    {"conversation_id": "c1", "turns": [{"turn_id": 1, "text": "erste"}, {"turn_id": 2, "text": "zweite?"}]},
    {"conversation_id": 2, "turns": [{"turn_id": 1, "text": "third"}]},
]
CONVERSATION_LABELS = [
    {"conversation_id": "c1", "turn_id": 1, "doc_id": "d1", "rel": 2},
    {"conversation_id": "c1", "turn_id": 2, "doc_id": "d2", "rel": -1},
    {"conversation_id": 2, "turn_id": 1, "doc_id": "d1", "rel": 0},
]
DOCUMENTS = [{"text_id": "d1", "title": "One", "text": "first"}, {"doc_id": "d2", "text": "second"}]
SINGLE = [
    {
        "query_id": "topic_001_turn_1",
        "conversation_id": "topic_001",
        "turn_id": 1,
        "query": "why?",
        "history": [],
        "ground_truth": ["permed-1"],
    },
    {
        "query_id": "topic_001_turn_2",
        "conversation_id": "topic_001",
        "turn_id": 2,
        "query": "why not?",
        "history": ["why?"],
        "ground_truth": ["permed-1", "permed-2"],
    },
]


@pytest.fixture
def new_id():
    """Return an id that no data set has; it is forgotten afterwards."""
    name = "test/folder"
    yield name
    ir_datasets.registry._registered.pop(name, None)
    catalogue._FOLDERS.pop(name, None)


def write_folder(folder, queries, labels=None, corpus=None, suffix=""):
    files = {"queries": queries, "query_to_texts": labels, "corpus": corpus}
    for name, lines in files.items():
        if lines is not None:
            write_lines(folder / f"{name}.jsonl{suffix}", lines)
    return folder


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("corpus", [None, DOCUMENTS])
@pytest.mark.usefixtures("offline")
def test_a_folder_like_medcorpus_is_a_data_set(tmp_path, new_id, suffix, corpus):
    folder = write_folder(tmp_path / "mine", CONVERSATIONS, CONVERSATION_LABELS, corpus, suffix)
    dataset = from_folder(folder, new_id)
    assert ir_datasets.load(new_id) is dataset
    assert dataset.dataset_id() == new_id
    assert list(dataset.queries_iter()) == [
        ("c1_1", "erste", "c1", 1, ()),
        ("c1_2", "zweite?", "c1", 2, ("erste",)),
        ("2_1", "third", "2", 1, ()),
    ]
    assert list(dataset.qrels_iter()) == [("c1_1", "d1", 2), ("c1_2", "d2", -1), ("2_1", "d1", 0)]
    assert (dataset.queries_count(), dataset.qrels_count()) == (3, 3)
    assert dataset.has_docs() == (corpus is not None)
    assert dataset.documentation()["pretty_name"] == new_id
    if corpus:
        assert list(dataset.docs_iter()) == [("d1", "One", "first"), ("d2", "", "second")]
        assert list(dataset.docs_iter()[1:2]) == [("d2", "", "second")]
        assert dataset.docs_store().get("d1").title == "One"
        assert dataset.docs_count() == 2


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("labelled", [True, False])
@pytest.mark.usefixtures("offline")
def test_a_folder_with_a_query_per_line_is_a_data_set(tmp_path, new_id, suffix, labelled):
    labels = [{"query_id": "topic_001_turn_2", "relevant_texts": ["permed-7", 8]}] if labelled else None
    dataset = from_folder(str(write_folder(tmp_path, SINGLE, labels, suffix=suffix)), new_id)
    assert list(dataset.queries_iter()) == [
        ("topic_001_turn_1", "why?", "topic_001", 1, ()),
        ("topic_001_turn_2", "why not?", "topic_001", 2, ("why?",)),
    ]
    expected = (
        [("topic_001_turn_2", "permed-7", 1), ("topic_001_turn_2", "8", 1)]
        if labelled
        else [
            ("topic_001_turn_1", "permed-1", 1),
            ("topic_001_turn_2", "permed-1", 1),
            ("topic_001_turn_2", "permed-2", 1),
        ]
    )
    assert list(dataset.qrels_iter()) == expected


def test_conversation_and_turn_come_from_the_id_where_the_line_does_not_say_them(tmp_path, new_id):
    lines = [
        {"query_id": "a_turn_3", "query": "x", "history": ["u"], "ground_truth": []},
        {"query_id": "b", "text": "y", "history": ["u", "v"], "ground_truth": ["d"]},
        {"query_id": 5, "query": "z"},
    ]
    dataset = from_folder(write_folder(tmp_path, lines), new_id)
    assert [query[2:] for query in dataset.queries_iter()] == [
        ("a", 3, ("u",)),
        ("b", 3, ("u", "v")),
        ("5", 1, ()),
    ]
    assert list(dataset.qrels_iter()) == [("b", "d", 1)]


def test_the_same_folder_again_is_the_same_data_set(tmp_path, new_id, monkeypatch):
    folder = write_folder(tmp_path / "mine", SINGLE)
    dataset = from_folder(folder, new_id)
    monkeypatch.chdir(tmp_path)
    assert from_folder("mine", new_id) is dataset
    assert from_folder(str(folder), new_id) is dataset


def test_an_id_is_given_to_one_folder_only(tmp_path, new_id):
    first, second = write_folder(tmp_path / "a", SINGLE), write_folder(tmp_path / "b", SINGLE)
    dataset = from_folder(first, new_id)
    for taken in (new_id, "medcorpus", "permed-sample/literature", "cranfield"):
        with pytest.raises(pm.InputError) as error:
            from_folder(second, taken)
        assert str(error.value) == f"the id of a data set must be new (found {taken!r}). Choose another one"
    assert ir_datasets.load(new_id) is dataset


BAD_FOLDERS = [
    (None, None, "{folder}: a folder of a data set must have a file queries.jsonl (found none)"),
    (
        CONVERSATIONS,
        None,
        "{folder}/queries.jsonl: there is neither a file query_to_texts.jsonl beside the queries nor a",
    ),
    (
        [{key: line[key] for key in ("query_id", "query")} for line in SINGLE],
        None,
        "{folder}/queries.jsonl: there is neither a file query_to_texts.jsonl beside the queries nor a",
    ),
    ([*SINGLE, {"query": "x"}], None, "{folder}/queries.jsonl:3: a line of this file reads "),
    ([*SINGLE, {"query": "x"}], None, '(found \'query_id\' is missing: \'{{"query": "x"}}'),
    ([SINGLE[0], {"query_id": "x", "query": 5}], None, "/queries.jsonl:2: "),
    ([SINGLE[0], {"query_id": "x", "query": 5}], None, "a text must be a string (found 5)"),
    ([SINGLE[0], {"query_id": "x", "query": "y", "turn_id": "two"}], None, "a turn_id must be an integer"),
    ([SINGLE[0], ["list"]], None, "/queries.jsonl:2: a line of this file reads "),
    (
        [CONVERSATIONS[0], {"conversation_id": "x", "turns": [{"text": "y"}]}],
        CONVERSATION_LABELS,
        "/queries.jsonl:2: a line of this file reads ",
    ),
    (
        [*SINGLE, SINGLE[0]],
        None,
        "{folder}/queries.jsonl: each query may stand once (found 'topic_001_turn_1' again)",
    ),
    (
        CONVERSATIONS[:1],
        CONVERSATION_LABELS,
        "{folder}/query_to_texts.jsonl: each judged query must be among the queries (found '2_1' in the",
    ),
    (CONVERSATIONS, [*CONVERSATION_LABELS, {"conversation_id": "c1"}], "{folder}/query_to_texts.jsonl:4: "),
    ([], CONVERSATION_LABELS, "each judged query must be among the queries (found 'c1_1' in the labels"),
]


@pytest.mark.parametrize(("queries", "labels", "message"), BAD_FOLDERS)
def test_a_folder_that_is_no_data_set_is_refused(tmp_path, new_id, queries, labels, message):
    folder = write_folder(tmp_path / "mine", queries, labels)
    with pytest.raises(pm.InputError) as error:
        from_folder(folder, new_id)
    assert message.format(folder=folder) in str(error.value)
    assert new_id not in set(ir_datasets.registry)
    write_folder(folder, SINGLE, [{"query_id": "topic_001_turn_1", "relevant_texts": ["d"]}])
    assert list(from_folder(folder, new_id).qrels_iter()) == [("topic_001_turn_1", "d", 1)]


def test_a_line_that_is_not_json_is_named(tmp_path, new_id):
    folder = write_folder(tmp_path, SINGLE)
    path = folder / "queries.jsonl"
    path.write_text(path.read_text() + "\n{not json\n")
    with pytest.raises(pm.InputError, match=r"queries\.jsonl:4: a line of this file reads .*not json"):
        from_folder(folder, new_id)


@pytest.mark.parametrize(
    ("field", "value"),
    [("ground_truth", "permed-1"), ("history", "permed-1"), ("ground_truth", {"permed-1": 2, "permed-2": 0})],
)
def test_what_is_no_list_where_a_list_belongs_is_refused_not_taken_apart(tmp_path, new_id, field, value):
    folder = write_folder(tmp_path, [SINGLE[0], {**SINGLE[1], field: value}])
    with pytest.raises(pm.InputError, match=r"queries\.jsonl:2: "):
        from_folder(folder, new_id)


def test_a_turn_and_a_conversation_that_are_0_are_kept(tmp_path, new_id):
    lines = [
        {"query_id": f"a{n}", "conversation_id": 0, "turn_id": n, "query": "x", "ground_truth": ["d"]}
        for n in range(2)
    ]
    dataset = from_folder(write_folder(tmp_path, lines), new_id)
    assert [query[2:4] for query in dataset.queries_iter()] == [("0", 0), ("0", 1)]


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("queries.jsonl", lambda content: content.decode().encode("utf-16"), ":1: must be UTF-8 text"),
        ("queries.jsonl.gz", lambda content: gzip.compress(content)[:-9], ": cannot be decompressed as gzip"),
    ],
)
def test_queries_that_are_no_text_are_refused(tmp_path, new_id, name, change, message):
    path = write_folder(tmp_path, SINGLE) / "queries.jsonl"
    content = path.read_bytes()
    path.unlink()
    (tmp_path / name).write_bytes(change(content))
    with pytest.raises(pm.InputError) as error:
        from_folder(tmp_path, new_id)
    assert str(error.value).startswith(f"{tmp_path / name}{message}")


def test_a_byte_order_mark_is_no_part_of_the_queries(tmp_path, new_id):
    path = write_folder(tmp_path, SINGLE) / "queries.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert from_folder(tmp_path, new_id).queries_count() == 2


def test_files_that_change_are_read_again(tmp_path, new_id):
    folder = write_folder(tmp_path, SINGLE)
    dataset = from_folder(folder, new_id)
    write_folder(folder, SINGLE[:1])
    assert [query.query_id for query in dataset.queries_iter()] == ["topic_001_turn_1"]
    assert [qrel.query_id for qrel in dataset.qrels_iter()] == ["topic_001_turn_1"]


def test_what_a_user_does_with_the_records_does_not_change_the_data_set(tmp_path, new_id):
    dataset = from_folder(write_folder(tmp_path, SINGLE), new_id)
    dataset.qrels_dict()["topic_001_turn_1"].clear()
    dataset.queries_complete()[:] = []
    dataset.qrels_defs().clear()
    dataset.documentation().clear()
    assert dataset.qrels_dict()["topic_001_turn_1"] == {"permed-1": 1}
    assert sum(1 for _ in dataset.queries_iter()) == 2
    assert dataset.qrels_defs()
    assert dataset.documentation()


def test_a_folder_serves_on_the_command_line(tmp_path, monkeypatch):
    write_folder(tmp_path / "mine", CONVERSATIONS, CONVERSATION_LABELS)
    run = tmp_path / "run.trec"
    run.write_text("c1_1 Q0 d1 1 1 t\nc1_2 Q0 d9 1 1 t\n2_1 Q0 d1 1 1 t\n")
    monkeypatch.chdir(tmp_path)
    for folder in ("mine", tmp_path / "mine"):
        content, _ = evaluate(folder, run, "-m", "P@1", "--by", "turn_number")
        assert [(str(row["group"]), row["metrics"]["P@1"]) for row in content["groups"]] == [
            ("1", 0.5),
            ("2", 0),
        ]
    assert "mine" not in set(ir_datasets.registry)
    with pytest.raises(
        pm.InputError, match=re.escape(f"{tmp_path}: a folder of a data set must have a file")
    ):
        load(str(tmp_path))


def test_what_is_no_data_set_with_qrels_is_refused():
    with pytest.raises(
        pm.InputError, match=r"neither a file nor the id of a data set.*Did you mean 'medcorpus'"
    ):
        load("medcorpsu")
    with pytest.raises(pm.InputError, match="'msmarco-passage' of ir_datasets has no qrels"):
        load("msmarco-passage")


@pytest.mark.parametrize(
    "reason", [RuntimeError("gone"), OSError(5, "gone"), RuntimeError(), NotImplementedError()]
)
def test_qrels_that_ir_datasets_cannot_load_are_one_clear_error(reason):
    class Broken:
        def qrels_iter(self):
            raise reason

    with pytest.raises(pm.InputError, match="the qrels of 'x' cannot be loaded by ir_datasets"):
        qrels_of(Broken(), "x")


# --- registration ------------------------------------------------------------------------------------


def test_all_names_are_registered_and_no_more():
    assert set(NAMES) == set(catalogue.DATASETS)
    assert set(NAMES) <= set(ir_datasets.registry)
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.usefixtures("offline")
def test_the_sample_is_a_data_set(home):
    medical, literature = ir_datasets.load("permed-sample"), ir_datasets.load("permed-sample/literature")
    for dataset, sample in ((medical, SAMPLES[0]), (literature, SAMPLES[1])):
        assert nested(dataset.qrels_iter()) == pm.read_qrels(sample.qrels)
        assert dataset.qrels_path() == sample.qrels
        assert {query.query_id for query in dataset.queries_iter()} == set(pm.read_qrels(sample.qrels))
        documents = list(dataset.docs_iter())
        assert len(documents) == dataset.docs_count() == 157
        assert dataset.docs_store().get(documents[9].doc_id) == documents[9]
        assert {qrel.doc_id for qrel in dataset.qrels_iter()} <= {document.doc_id for document in documents}
    assert (medical.queries_count(), medical.qrels_count()) == (48, 478)
    assert literature.queries_count() == 20
    assert len({query.conversation_id for query in medical.queries_iter()}) == 12
    assert ir_datasets.docs_parent_id("permed-sample/literature") == "permed-sample"
    assert kept(home)


# --- means by group ----------------------------------------------------------------------------------

GROUPED = {
    "GradedAP(max_rel=4)@5": ("GradedAP", {"cutoff": 5, "max_rel": 4}),
    "P@3": ("P", {"cutoff": 3}),
    "RR": ("RR", {}),
    "NumQ": ("NumQ", {}),
    "NumRet": ("NumRet", {}),
}


def plain_means(qrels, run, group_of):
    """Return the means by group, by plain loops over the independent implementation."""
    groups = defaultdict(list)
    for query_id in qrels:
        if group_of(query_id) is not None:
            groups[group_of(query_id)].append(query_id)
    means = {}
    for group, query_ids in groups.items():
        part = {query_id: qrels[query_id] for query_id in query_ids}
        means[group] = {
            pm.parse_measure(text): oracle.aggregate(name, params, part, run)
            for text, (name, params) in GROUPED.items()
        }
    return means


def first_letter(query_id):
    return query_id[0]


def length(query_id):
    return len(query_id) if len(query_id) < 4 else None


@pytest.mark.parametrize(
    ("group_of", "forms"),
    [
        (first_letter, [first_letter, "^(.)"]),
        (length, [length]),
        (lambda query_id: (re.findall("[0-9]", query_id) or [None])[0], ["([0-9])"]),
    ],
)
@pytest.mark.parametrize("seed", range(25))
def test_means_by_group_are_those_of_plain_loops(seed, group_of, forms):
    rng = random.Random(seed)
    qrels, run = random_case(rng)
    expected = plain_means(qrels, run, group_of)
    for by in [*forms, {query_id: group_of(query_id) for query_id in qrels}]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pm.PermedWarning)
            if isinstance(by, str) and qrels and not expected:
                with pytest.raises(pm.InputError, match="finds nothing in any query id"):
                    pm.evaluate_by(GROUPED, qrels, run, by=by)
                continue
            found = pm.evaluate_by(GROUPED, qrels, run, by=by)
        assert list(found) == sorted(expected)
        for group, means in expected.items():
            assert found[group] == pytest.approx(means, abs=1e-9)


def test_counts_are_added_up_in_a_group_and_absent_queries_score_0():
    qrels = {"a_1": {"d": 1}, "a_2": {"d": 1}, "b_1": {"e": 0}}
    run = {"a_1": {"d": 2.0, "x": 1.0}, "b_1": {"e": 1.0}}
    found = pm.evaluate_by(["NumQ", "NumRet", "NumRel", "P@1"], qrels, run, by="^(.)")
    values = {group: list(means.values()) for group, means in found.items()}
    assert values == {"a": [2, 2, 2, 0.5], "b": [1, 1, 0, 0]}


def test_groups_without_judged_queries_are_left_out_with_a_warning():
    qrels, run = {"q1": {"d": 1}}, {"q1": {"d": 1.0}}
    by = {"q1": "x", **{f"q{n}": f"g{n}" for n in range(2, 9)}}
    with pytest.warns(
        pm.PermedWarning, match=r"^group: no query of 7 groups is judged \(g2, g3, g4, g5, g6, …\); left out$"
    ):
        assert pm.evaluate_by("RR", qrels, run, by=by) == {"x": {pm.parse_measure("RR"): 1}}


def test_queries_in_no_group_are_warned_about():
    qrels = {"a_1": {"d": 1}, "b": {"d": 1}, "c": {"d": 1}}
    with pytest.warns(
        pm.PermedWarning, match=r"^_\(1\): 2 judged queries are in no group, and count in none$"
    ):
        found = pm.evaluate_by("RR", qrels, {"a_1": {"d": 1.0}}, by="_(1)")
    assert list(found) == ["1"]
    with pytest.warns(pm.PermedWarning, match="^group: 1 judged query is in no group"):
        pm.evaluate_by("RR", qrels, {"a_1": {"d": 1.0}}, by={"a_1": 1, "b": 1, "c": None})


def test_a_group_without_judged_queries_of_a_data_set_is_warned_about(tmp_path, new_id):
    dataset = from_folder(
        write_folder(tmp_path, SINGLE, [{"query_id": "topic_001_turn_2", "relevant_texts": [1]}]), new_id
    )
    with pytest.warns(
        pm.PermedWarning, match=r"^turn_number: no query of 1 group is judged \(1\); left out$"
    ):
        found = pm.evaluate_by("RR", dataset, {"topic_001_turn_2": {"1": 1.0}}, by="turn_number")
    assert found == {2: {pm.parse_measure("RR"): 1}}


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("turn_numbr", "Did you mean 'turn_number'?"),
        (
            "turn_numbr",
            "queries can be grouped by one of conversation_id, turn_number, or a pattern with one",
        ),
        ("turn_numbr", "(found 'turn_numbr', a pattern with 0 groups)"),
        ("text", "(found 'text', a pattern with 0 groups)"),
        ("(a)(b)", "(found '(a)(b)', a pattern with 2 groups)"),
        ("(a", "(found '(a', not a pattern: "),
        ("(nowhere)", "the pattern '(nowhere)' finds nothing in any query id (such as 'sample_01_1')"),
    ],
)
def test_what_queries_cannot_be_grouped_by_is_said(by, message):
    dataset = ir_datasets.load("permed-sample")
    with pytest.raises(pm.InputError) as error:
        pm.evaluate_by("RR", dataset, {"sample_01_1": {"sample-032": 1.0}}, by=by)
    assert message in str(error.value)


def test_without_a_data_set_the_message_says_that_fields_need_one():
    with pytest.raises(pm.InputError) as error:
        pm.evaluate_by("RR", {"q": {"d": 1}}, {"q": {"d": 1.0}}, by="turn_number")
    assert "Fields such as turn_number need a data set as qrels" in str(error.value)
    run = SAMPLES[0].runs["bm25"]
    result = CliRunner().invoke(cli.app, ["evaluate", str(SAMPLES[0].qrels), str(run), "--by", "turn_number"])
    assert isinstance(result.exception, pm.InputError)
    both = ["evaluate", "permed-sample", str(run), "--by", "turn_number", "--by-query"]
    assert "found both" in str(CliRunner().invoke(cli.app, both).exception)


@pytest.mark.filterwarnings("ignore::permed_measures.PermedWarning")
def test_a_pattern_whose_group_takes_part_nowhere_finds_nothing():
    with pytest.raises(pm.InputError, match="finds nothing in any query id"):
        pm.evaluate_by("RR", {"q": {"d": 1}}, {"q": {"d": 1.0}}, by="(z)?")


@pytest.mark.parametrize(
    "values",
    [
        ["1", "2", "10"],
        ["t2", "t10", "t10b", "u1"],
        [1, 2, 10],
        [-1, 0.5, 2],
        ["a", "b", 1, 2],
        [False, True],
        ["", "0", "a"],
        ["1", "a²", "²"],
        ["x①", "①"],
        [(1, 2), (1, 10)],
    ],
)
def test_groups_stand_in_natural_order(values):
    ids = [f"q{n}" for n in range(len(values))]
    by = dict(zip(ids, values, strict=True))
    shuffled = random.Random(1).sample(ids, len(ids))
    groups = Groups.of(shuffled, by)
    expected = values if "²" not in values and "①" not in values else groups.values
    assert groups.values == expected
    assert sorted(map(str, groups.values)) == sorted(map(str, values))
    assert groups.sizes == [1] * len(values)
    assert groups.n_outside == 0
    assert [groups.values[group] for group in groups.group] == [by[query_id] for query_id in shuffled]


def test_groups_of_a_data_set_on_the_command_line_are_those_of_the_library():
    run = SAMPLES[0].runs["bm25"]
    content, stderr = evaluate("permed-sample", run, "-m", "GradedAP@10", "--by", "conversation_id")
    expected = pm.evaluate_by(
        "GradedAP@10", ir_datasets.load("permed-sample"), pm.read_run(run), "conversation_id"
    )
    assert stderr == ""
    assert [row["group"] for row in content["groups"]] == list(expected)
    for row, means in zip(content["groups"], expected.values(), strict=True):
        assert row["metrics"].keys() == {"GradedAP@10", "Judged@10"}
        assert row["metrics"]["GradedAP@10"] == means[pm.GradedAP @ 10]
    assert sum(row["queries"] for row in content["groups"]) == 48


def test_a_group_that_is_called_all_is_a_group_like_the_others(tmp_path):
    (tmp_path / "qrels").write_text("q_all 0 d 1\nq_some 0 d 1\n")
    (tmp_path / "run.trec").write_text("q_all Q0 d 1 1 t\n")
    content, _ = evaluate(tmp_path / "qrels", tmp_path / "run.trec", "-m", "RR", "--by", "_(.+)")
    assert [(row["group"], row["metrics"]["RR"]) for row in content["groups"]] == [("all", 1), ("some", 0)]
