"""Folders of the user's as data sets."""

import re

import ir_datasets
import pytest
from data_files import evaluate, kept, write_folder

import permed_measures as pm
from permed_measures.datasets import from_folder, load

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
        {"query_id": 5, "query": "z", "ground_truth": None},
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
        assert str(error.value) == f"there is a data set {taken!r} already. Choose another id"
    assert ir_datasets.load(new_id) is dataset


@pytest.mark.parametrize(
    "wrong_id",
    [
        *("../../outside", "a/../../b", "a/..", "..", "/absolute", "~/a", "C:\\a", "a\\b", ".hidden", "a/.b"),
        *("", " ", "a b", "a//b", "a/", "/", "a\n", "a\x00", "a\x1b[2J", "a\u202eb", None, 7, b"a"),
    ],
)
def test_an_id_that_leads_elsewhere_or_cannot_be_typed_is_refused(tmp_path, home, wrong_id):
    folder = write_folder(tmp_path / "mine", SINGLE, corpus=DOCUMENTS)
    with pytest.raises(pm.InputError) as error:
        from_folder(folder, wrong_id)
    assert str(error.value) == (
        f"{wrong_id!r} cannot be the id of a data set. Use letters, digits and . _ + - in parts separated by "
        "/, such as 'my-topics/test'"
    )
    assert wrong_id not in set(ir_datasets.registry)
    assert kept(home) == []


def test_the_index_of_a_folder_stays_in_the_folder_of_ir_datasets(tmp_path, home, new_id):
    dataset = from_folder(write_folder(tmp_path / "mine", SINGLE, corpus=DOCUMENTS), new_id)
    before = set(kept(tmp_path)) - set(kept(home))
    assert dataset.docs_store().get("d1").title == "One"
    assert set(kept(tmp_path)) - set(kept(home)) == before
    assert kept(home / new_id)


QUERIES = '{{"conversation_id": ..., "turns": [{{"turn_id": ..., "text": ...}}]}} or {{"query_id": ..., '
BAD_FOLDERS = [
    (None, None, "{folder}: this folder is no data set: it has no file queries.jsonl"),
    (CONVERSATIONS, None, "/queries.jsonl:1: not a line of queries with ground truth: 'ground_truth' is"),
    (CONVERSATIONS, None, '"ground_truth": [ids]}}, or a file query_to_texts.jsonl beside it; correct or'),
    (
        [*SINGLE, {"query": "x"}],
        None,
        "{folder}/queries.jsonl:3: not a line of queries: 'query_id'",
    ),
    (
        [*SINGLE, {"query": "x"}],
        None,
        f"'query_id' is missing in '{{{{\"query\": \"x\"}}}}'. Expected {QUERIES}",
    ),
    (
        [SINGLE[0], {"query_id": "x", "query": 5}],
        None,
        "/queries.jsonl:2: not a line of queries: 5 is n",
    ),
    (
        [SINGLE[0], {"query_id": "x", "query": "y", "turn_id": "two"}],
        None,
        "turn_id 'two' is not an integer in ",
    ),
    ([SINGLE[0], ["list"]], None, "/queries.jsonl:2: not a line of queries: no JSON object in "),
    (
        [CONVERSATIONS[0], {"conversation_id": "x", "turns": [{"text": "y"}]}],
        CONVERSATION_LABELS,
        "/queries.jsonl:2: not a line of queries: 'turn_id' is missing in ",
    ),
    ([*SINGLE, SINGLE[0]], None, "{folder}/queries.jsonl: query 'topic_001_turn_1' is listed twice"),
    (
        [{**SINGLE[0], "ground_truth": ["a", "a"]}],
        None,
        "/queries.jsonl:1: document 'a' of query 'topic_001_turn_1' is listed twice, first on line 1",
    ),
    (
        CONVERSATIONS[:1],
        CONVERSATION_LABELS,
        "{folder}/query_to_texts.jsonl: 1 of 3 judged queries are not among the queries, such as '2_1' ",
    ),
    (CONVERSATIONS, [*CONVERSATION_LABELS, {"conversation_id": "c1"}], "{folder}/query_to_texts.jsonl:4: "),
    ([], CONVERSATION_LABELS, "3 of 3 judged queries are not among the queries, such as '2_1'. "),
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


@pytest.mark.parametrize(
    ("field", "value"), [("history", "permed-1"), ("ground_truth", {"permed-1": 2, "permed-2": 0})]
)
def test_what_is_no_list_where_a_list_belongs_is_refused_not_taken_apart(tmp_path, new_id, field, value):
    folder = write_folder(tmp_path, [SINGLE[0], {**SINGLE[1], field: value}])
    with pytest.raises(pm.InputError, match=rf"queries\.jsonl:2: .*{field} is not a list"):
        from_folder(folder, new_id)


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
        pm.InputError,
        match=re.escape(f"{tmp_path}: this folder is no data set: it has no file queries.jsonl"),
    ):
        load(str(tmp_path))
