"""What the page shows query by query: the rankings as they were evaluated, values, grades, texts, turns."""

import json
import os
import threading
from collections import namedtuple
from types import SimpleNamespace

import ir_measures
import polars as pl
from ir_measures import Qrel

from permed_measures.comparison.compare import compare
from permed_measures.comparison.queries import query_details
from permed_measures.datasets import SAMPLES, load
from permed_measures.datasets.readers import ConversationQuery
from permed_measures.inputs.write import write_run

QRELS = {"q1": {"a": 2, "b": 1, "c": 0, "far": 2, "never": 1}, "q2": {"a": 1}, "q3": {"a": 0}}
OLD = {"q1": {"x": 5.0, "b": 4.0, "c": 4.0, "y": 3.0, "far": 0.1}, "q2": {"a": 1.0}}
NEW = {"q1": {"a": 2.0, "x": 1.0, "b": 1.0}, "q2": {"z": 2.0, "a": 1.0}, "other": {"a": 1.0}}


def compared(runs, qrels=QRELS, measures=("RR", "P@1"), **options):
    return compare(qrels, runs, measures, **{"tests": "t-test", **options})


def shown(details, run):
    """Return the ranking of each query as ids; None is a document that is not known."""
    ids = details["documents"]["ids"]
    return [
        [None if each == -1 else ids[each] for each in ranking]
        for ranking in details["rankings"][details["runs"].index(run)]
    ]


def unread(details):
    """Return why the unjudged documents of runs are not known."""
    end = ": of its documents the judged ones are known."
    reasons = zip(details["runs"], details["unread"], strict=True)
    return {run: said.removeprefix(f"{run} ").removesuffix(end) for run, said in reasons if said}


ONCE = "was read from a pipe or an iterator, which is possible only once"
CHANGED, FAILED = "has changed since it was evaluated", "could not be read again"


def judged(details, query):
    """Return the grade of each judged document that is shown, and its rank in each run."""
    return {details["documents"]["ids"][place]: rest for place, *rest in details["judged"][query]}


def test_rankings_grades_and_what_all_runs_miss():
    details = query_details(compared({"old": OLD, "new": NEW}), depth=3)
    assert details["ids"] == ["q1", "q2", "q3"]
    assert details["n"] == 3
    assert shown(details, "old") == [["x", "c", "b"], ["a"], []]
    assert shown(details, "new") == [["a", "x", "b"], ["z", "a"], []]
    assert judged(details, 0) == {
        "a": [2, None, 1],
        "b": [1, 3, 3],
        "c": [0, 2, None],
        "far": [2, 5, None],
        "never": [1, None, None],
    }
    assert details["missed"] == [0, 0, 0]
    assert details["grades"] == [2, 1, 0]
    assert (details["runs"], details["measures"]) == (["old", "new"], ["RR", "P@1"])
    assert (details["baseline"], details["digits"]) == (0, 4)
    assert details["values"] == [
        [[0.333333333333, 1.0, 0.0], [0.0, 1.0, 0.0]],
        [[1.0, 0.5, 0.0], [1.0, 0.0, 0.0]],
    ]
    for empty in ("texts", "turns", "fields"):
        assert not details[empty]
    assert details["documents"]["texts"] is None
    assert not unread(details)
    json.dumps(details, allow_nan=False)


def test_judged_documents_further_down_are_known_by_their_ranks():
    shallow = query_details(compared({"old": OLD, "new": NEW}), depth=1)
    assert shown(shallow, "old") == [["x"], ["a"], []]
    assert shown(shallow, "new") == [["a"], ["z"], []]
    assert judged(shallow, 1) == {"a": [1, 1, 2]}
    assert judged(shallow, 0)["b"] == [1, 3, 3]


def records(run):
    rows = [(query, *row) for query, documents in run.items() for row in documents.items()]
    return (ir_measures.ScoredDoc(*row) for row in rows)


def test_a_run_that_can_be_read_once_has_its_judged_documents(tmp_path):
    pipe = tmp_path / "pipe.trec"
    os.mkfifo(pipe)
    write_run(OLD, tmp_path / "old.trec")
    content = (tmp_path / "old.trec").read_bytes()
    threading.Thread(target=pipe.write_bytes, args=(content,), daemon=True).start()
    for run in (records(OLD), pipe):
        details = query_details(compared({"old": run, "new": NEW}), depth=3)
        assert shown(details, "old") == [[None, "c", "b"], ["a"], []]
        assert shown(details, "new") == [["a", "x", "b"], ["z", "a"], []]
        assert unread(details) == {"old": ONCE}


def test_a_file_that_has_changed_since_is_not_shown(tmp_path):
    path = tmp_path / "old.trec"
    write_run(OLD, path)
    result = compared({"old": path, "new": NEW})
    expected = [[None, "c", "b"], ["a"], []]
    for change in ({"q1": {"x": 5.0, "c": 4.0, "b": 6.0}}, {**OLD, "q3": {"x": 1.0}}):
        write_run(change, path)
        details = query_details(result, depth=3)
        assert unread(details) == {"old": CHANGED}
        assert shown(details, "old") == expected
    for spoil in (lambda: path.write_text("no run at all\n"), path.unlink):
        spoil()
        assert unread(query_details(result, depth=3)) == {"old": FAILED}


def test_a_conversation_has_the_turns_before_it_and_documents_their_titles():
    runs = {name: str(path) for name, path in SAMPLES[0].runs.items()}
    result = compared(runs, "permed-sample", by="turn_number")
    details = query_details(result)
    queries = {query.query_id: query for query in load("permed-sample").queries_iter()}
    documents = {document.doc_id: document.title for document in load("permed-sample").docs_iter()}
    for place, query_id in enumerate(result.paired.query_ids):
        assert details["ids"][place] == query_id
        assert details["texts"][place] == queries[query_id].text
        before = [details["texts"][each] for each in details["turns"][place]]
        assert before == list(queries[query_id].history)
        assert details["fields"]["turn_number"][place] == str(queries[query_id].turn_number)
        assert details["fields"]["conversation_id"][place] == queries[query_id].conversation_id
    ids, texts = details["documents"]["ids"], details["documents"]["texts"]
    assert dict(zip(ids, texts, strict=True)) == {doc_id: documents[doc_id] for doc_id in ids}


def test_turns_that_are_known_by_their_texts_alone_and_turns_without_judgments():
    queries = [
        ConversationQuery("t_turn_2", "and <then>?", "t", 2, ("first\n question",)),
        ConversationQuery("u_turn_1", "one", "u", 1, ()),
        ConversationQuery("u_turn_2", "two", "u", 2, ("one",)),
    ]
    labels = [Qrel(each, "d", 1) for each in ("t_turn_2", "u_turn_2")]
    dataset = SimpleNamespace(queries_iter=lambda: iter(queries), qrels_iter=lambda: iter(labels))
    details = query_details(compared({"old": {}, "new": {}}, dataset, by={"u_turn_2": 1}, clusters="none"))
    assert details["n"] == 2
    assert details["turns"] == [[2], [3]]
    assert details["ids"] == ["t_turn_2", "u_turn_2", "", "u_turn_1"]
    assert details["texts"] == ["and <then>?", "two", "first question", "one"]


def test_groups_and_clusters_by_a_pattern_are_fields():
    qrels = {f"{topic}_{turn}": {"d": 1} for topic in "abc" for turn in "12"}
    details = query_details(compared({"o": {}, "n": {}}, qrels, by="_(.)$", clusters="^(.)"))
    assert details["fields"] == {"_(.)$": ["1", "2"] * 3, "^(.)": ["a", "a", "b", "b", "c", "c"]}


def test_more_than_ten_missed_documents_are_counted():
    qrels = {"p": {"a": 1, "b": 1}, "q": {f"d{number:02}": 1 + number % 2 for number in range(30)}}
    details = query_details(compared({"old": {"q": {"d01": 1.0}}, "new": {}}, qrels))
    assert details["missed"] == [0, 19]
    shown = judged(details, 1)
    assert shown.pop("d01") == [2, 1, None]
    assert [*shown.values()] == [[2, None, None]] * 10


def test_fields_that_tell_nothing_or_are_long_are_left_out_and_long_titles_are_cut():
    Query = namedtuple("Query", "query_id text short long same each many")
    queries = [Query(f"q{n}", "", "ab"[n % 2] * 40, "ab"[n % 2] * 41, "s", n, (n % 2,)) for n in range(4)]
    dataset = SimpleNamespace(
        queries_iter=lambda: iter(queries),
        qrels_iter=lambda: (Qrel(each.query_id, f"d{n}", 1) for n, each in enumerate(queries)),
        titles=lambda: [("d0", "t" * 200, ""), ("d1", "t " * 101, ""), ("d2", "", "a\ntext"), ("d3", "", "")],
    )
    runs = {"old": {}, "new": {f"q{n}": {f"d{n}": 1.0} for n in range(4)}}
    details = query_details(compared(runs, dataset, clusters="none"))
    assert details["fields"] == {"short": [letter * 40 for letter in "abab"]}
    assert details["documents"]["texts"] == ["t" * 200, "t " * 99 + "t…", "a text", None]


def test_the_first_of_equal_scores_are_those_of_the_ranking_in_frames_too():
    ties = {query: dict.fromkeys("aczbx", 1.0) for query in QRELS}
    frame = pl.DataFrame(
        [(query, *row) for query, documents in ties.items() for row in documents.items()],
        ["query_id", "doc_id", "score"],
        orient="row",
    )
    for run in (ties, frame):
        details = query_details(compared({"old": run, "new": NEW}), depth=3)
        assert shown(details, "old") == [["z", "x", "c"]] * len(QRELS)
