"""Leaderboards: the order, what is below the first, records in the place of runs, other columns."""

import json
from dataclasses import replace

import pytest
from commands import run_main

import permed_measures as pm

QUERIES = [f"q{number}" for number in range(10)]
QRELS = {q: {"a": 1} for q in QUERIES}


def run_with(n_wrong):
    """Return a run that is wrong on the first queries."""
    return {q: {"a": 1.0, **({"b": 2.0} if number < n_wrong else {})} for number, q in enumerate(QUERIES)}


def test_it_says_what_is_below_the_first():
    runs = {"worst": run_with(10), "best": run_with(0), "near": run_with(1)}
    board = pm.leaderboard(QRELS, runs, ["RR", "P@1"])
    assert [(each.rank, each.run) for each in board.entries] == [
        (1, "best"),
        (2, "near"),
        (3, "worst"),
    ]
    assert board.finding == "significantly below best (p < 0.05): worst"
    assert board.entries[2].values == {"RR": 0.5, "P@1": 0.0}
    assert board.entries[0].judged == {"Judged": 1.0, "Judged@1": 1.0}
    p = pm.compare(QRELS, runs, "RR", tests="randomization", correction="max-t").rows
    adjusted = {frozenset((row.run, row.baseline)): row.tests["randomization"].adjusted for row in p}
    assert [each.p for each in board.entries] == [
        None,
        adjusted[frozenset(("near", "best"))],
        adjusted[frozenset(("worst", "best"))],
    ]


def test_what_only_another_run_beats_is_not_said_to_be_below_the_first():
    def of(values):  # a run with these values of P@1
        return {q: {"a": 1.0 + value, "b": 1.5} for q, value in zip(QUERIES, values, strict=True)}

    noisy, steady, low = of([1] * 8 + [0] * 2), of([0] * 3 + [1] * 7), of([0] * 10)
    board = pm.leaderboard(QRELS, {"noisy": noisy, "steady": steady, "low": low}, "P@1")
    below = [each.run for each in board.entries if each.p is not None and each.p < 0.05]
    assert board.finding == f"significantly below noisy (p < 0.05): {', '.join(below)}"
    assert [each.run for each in board.entries if each.is_below] == below == ["low"]
    same = pm.leaderboard(QRELS, {"one": noisy, "two": noisy, "three": low}, "P@1")
    assert [each.rank for each in same.entries] == [1, 1, 3]
    assert same.finding == "significantly below one (p < 0.05): three"
    none = pm.leaderboard(QRELS, {"one": noisy, "two": noisy}, "P@1")
    assert none.finding == "significantly below one (p < 0.05): no run"


def test_too_few_queries_cannot_differ_significantly():
    qrels = {q: QRELS[q] for q in QUERIES[:5]}
    board = pm.leaderboard(qrels, {"best": run_with(0), "worst": run_with(10)}, "RR")
    assert board.finding == "no difference can be significant here: the smallest possible p is 0.0625"
    assert board.entries[1].p == 0.0625


def test_it_says_how_p_was_computed():
    qrels = {f"q{number}": {"a": 1} for number in range(20)}
    said = "by the randomization test with max-T over all pairs of runs; "
    for clusters, patterns in (
        ("none", "50,000 random sign patterns of 20 queries, seed 3"),
        (lambda query: int(query[1:]) // 4, "all 32 sign patterns of 5 clusters"),
    ):
        board = pm.leaderboard(qrels, {"a": {}, "b": {"q1": {"a": 1.0}}}, "RR", clusters, seed=3)
        assert board.about == f"of the difference from the first run, {said}{patterns}"


def test_a_p_that_is_below_the_level_prints_so():
    board = pm.leaderboard(QRELS, {"best": run_with(0), "near": run_with(2)}, "RR")
    first, second = board.entries
    for p, printed in ((0.04996, " 0.04996 "), (0.05, " 0.0500 "), (0.00001, " <0.0001 ")):
        assert printed in str(replace(board, entries=[first, replace(second, p=p)]))


def test_one_run_is_first():
    board = pm.leaderboard(QRELS, {"only": run_with(2)}, "RR")
    assert (board.entries[0].rank, board.finding) == (1, "one run has nothing to be compared with")


def test_records_stand_for_their_runs(folder):
    both = {"bm25": "bm25.jsonl", "lsa": "lsa.jsonl", "tfidf": "tfidf.jsonl"}
    pm.record("qrels.jsonl", {"bm25": "bm25.jsonl", "lsa": "lsa.jsonl"}, ["P@1", "nDCG@10"]).write("old.json")
    (folder / "tables").mkdir()
    expected = pm.leaderboard("qrels.jsonl", both, ["nDCG@10"])
    found = pm.leaderboard("qrels.jsonl", {"old": "old.json", "tfidf": "tfidf.jsonl"}, ["nDCG@10"])
    assert [(e.run, e.rank, e.values) for e in found.entries] == [
        (e.run, e.rank, e.values) for e in expected.entries
    ]
    assert [entry.source for entry in found.entries] == ["old.json", "old.json", ""]
    (folder / "bm25.jsonl").unlink()  # it is not needed
    status, out, _ = run_main(
        *["leaderboard", "qrels.jsonl", "old.json", "tfidf.jsonl", "-m", "nDCG@10", "--format", "json"]
    )
    assert (status, [each["run"] for each in json.loads(out)["runs"]]) == (0, ["bm25", "lsa", "tfidf"])
    with pytest.raises(pm.MeasureError, match=r"old.json: this record has no RR \(it has P@1, nDCG@10\)"):
        pm.leaderboard("qrels.jsonl", {"old": "old.json"}, ["RR"])
    qrels = (folder / "qrels.jsonl").read_text()
    (folder / "qrels.jsonl").write_text(qrels.replace('"rel": 2', '"rel": 1', 1))
    with pytest.raises(
        pm.InputError, match=r"old.json: this record cannot be compared: qrels.judgments: it was"
    ):
        pm.leaderboard("qrels.jsonl", {"old": "old.json"}, ["P@1"])
    (folder / "qrels.jsonl").write_text(qrels)
    (folder / "old.json").write_text((folder / "old.json").read_text().replace("0.5", "0.6"))
    with pytest.raises(
        pm.InputError, match=r"old.json: this record cannot be compared: sha256: it was edited"
    ):
        pm.leaderboard("qrels.jsonl", {"old": "old.json"}, ["P@1"])


def test_it_has_the_columns_of_evaluate_and_formats(folder):
    qrels = {**QRELS, "r": {"a": 0, "b": 1}}
    board = pm.leaderboard(qrels, {"best": run_with(0), "near": run_with(1)}, ["P@1", "RR"])
    [section] = board.report(2, caption="Ours").sections
    [table] = section.tables
    assert table.rows[0][4] == ("0.91", 1, "")
    assert table.caption.startswith("Ours. Means over 11 judged queries")
    judged = ["Judged@1", "Judged", "queries in run"]
    assert board.report().sections[0].tables[0].headings == ["rank", "run", "p", "P@1", "RR", *judged]
    rows = [(q, d, g) for q, docs in qrels.items() for d, g in docs.items()]
    (folder / "qrels").write_text("".join(f"{q} 0 {d} {g}\n" for q, d, g in rows))
    pm.record("qrels", {"best": run_with(0)}, ["P@1", "RR"]).write("old.json")
    stored = pm.leaderboard("qrels", {"old": "old.json", "near": run_with(1)}, ["P@1", "RR"])
    lines = [line.split(",") for line in stored.to("csv").splitlines()]
    assert [[*line[:2], *line[3:]] for line in lines] == [
        line.split(",") for line in board.to("csv").splitlines()
    ]
    [table], [again] = ([*each.report().sections[0].tables] for each in (board, stored))
    assert again.headings == ["rank", "run", "record", *table.headings[2:]]
    assert [[*row[:2], *row[3:]] for row in again.rows] == table.rows


@pytest.mark.usefixtures("folder")
def test_it_says_what_evaluate_says_of_runs():
    """Of those in records too, whose rankings are not there."""
    qrels = {f"q{n}": {f"d{n}{i}": 1 for i in range(4)} for n in range(4)}
    made_of_qrels = {q: {d: 9.0 - i for i, d in enumerate(docs)} for q, docs in qrels.items()}
    partly = {"q1": {"d10": 2.0, "x": 1.0}, "else": {"x": 1.0}}
    runs = {"copied": made_of_qrels, "partly": partly}
    expected = [
        "run 'copied': all 16 documents are judged, in the order of the qrels, and all 16 with a grade "
        "above 0 are retrieved, as in a run that was made from the qrels",
        "run 'partly' retrieves nothing for 3 of 4 queries; they score 0",
        "run 'partly' has 1 query without judgments (ignored)",
    ]
    pm.record(qrels, runs, "RR").write("old.json")
    for given, first in ((runs, " (first: 'q0')"), ({"old": "old.json"}, "")):
        board = pm.leaderboard(qrels, given, "RR", clusters=lambda query: query)
        notes = [note.replace(first, "") for entry in board.entries for note in entry.notes]
        assert notes == expected
        assert f"Note: {expected[0]}." in " ".join(str(board).split())
        assert board.notes == ["clusters: no cluster has two queries; queries are treated as independent"]
        assert f"Note: {board.notes[0]}." in " ".join(str(board).split())
        assert board.report().cautions == expected[:1]
