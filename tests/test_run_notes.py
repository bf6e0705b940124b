"""What stands beside the values of a run: where it must be said, and where it must not."""

import json
import random

import cases
import numpy as np
import pytest
from commands import run_main
from ir_measures import NumRel, P

import permed_measures as pm
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.inputs.door import read
from permed_measures.run_notes import every_label_is_relevant, judged_within, run_notes

QRELS = {f"q{i}": {"a": 2, "b": 0, "c": 1} for i in range(60)}
TIED = "run 'mine': all scores of each judged query are equal, so that documents are ranked by id, descending"


def notes(run, qrels=QRELS):
    return run_notes("mine", JudgedRankings.of(Judgments.of(qrels), read(run, "score")))


def ranked(*documents):
    return {query: {each: -float(rank) for rank, each in enumerate(documents)} for query in QRELS}


@pytest.mark.parametrize("form", ["dict", "PyTerrier", "polars", "polars, lazy"])
@pytest.mark.parametrize("seed", range(4))
def test_equal_scores_are_found_in_every_form(form, seed):
    draw = random.Random(seed)
    rows = [(f"q{q}", f"d{d}", float(q % 2)) for q in range(4) for d in range(draw.choice([1, 1, 3]))]
    if draw.random() < 0.5:  # an unequal one, of a query that may have one document only
        rows[-1] = (*rows[-1][:2], draw.choice([2.0, 1 + 1e-12]))
    draw.shuffle(rows)
    found = {}
    for query, _, score in rows:
        found.setdefault(query, []).append(score)
    several = any(len(each) > 1 for each in found.values())
    equal = all(abs(a - b) < 1e-9 for each in found.values() for a in each for b in each)
    qrels = {f"q{q}": {"d0": 1} for q in range(4)}
    assert notes(cases.FORMS[form](rows, "score"), qrels) == [TIED] * (several and equal)


def test_judged_is_a_share_of_what_is_retrieved_and_says_nothing_where_every_label_is_relevant():
    judgments = Judgments.of({"p": {"a": 1}, "q": {"a": 1, "b": 2}, "r": {"a": 1}})
    rankings = JudgedRankings.of(judgments, {"p": {"a": 1.0}, "q": {"x": 2.0, "a": 1.0}})
    np.testing.assert_array_equal(judged_within(rankings, 1), [1, 0, np.nan])
    np.testing.assert_array_equal(judged_within(rankings, None), [1, 0.5, np.nan])
    for rel, every in ((1, True), (2, False)):
        assert every_label_is_relevant([NumRel, P(rel=rel) @ 1], judgments) == every


def unjudged(n_queries=60, n_found=0):
    """Return a run of unjudged documents, which ends with the judged one in some of the queries."""
    found = {f"q{i}": {f"x{rank}": -float(rank) for rank in range(20)} for i in range(n_queries)}
    for query in list(found)[:n_found]:
        found[query]["a"] = 1.0
    return found


def one_judged(n_queries=60):
    return {f"q{i}": {"a": 1} for i in range(n_queries)}


FEW = (
    "run 'mine': of {} documents within the first 10, 1 is judged, and of {} judged documents, 1 is retrieved"
)
POOL = {query: {f"d{i}": i % 2 for i in range(1000)} for query in QRELS}


@pytest.mark.parametrize(
    ("qrels", "run", "said"),
    [
        (QRELS, {query: dict.fromkeys("axyz", 1.0) for query in QRELS}, [TIED]),
        (QRELS, ranked("x", "a"), []),  # half of what is retrieved is judged
        (QRELS, {"q0": {"a": 1.0}, "q1": {"b": 0.5}}, []),  # one document in each query
        (QRELS, ranked("a", "b", "c"), []),  # as the qrels
        (one_judged(), unjudged(n_found=1), [FEW.format(600, 60)]),
        (
            one_judged(100),
            unjudged(n_found=1),
            [
                FEW.format(600, 60).replace(
                    "documents, 1 is ret", "documents of the queries with results, 1 is ret"
                )
            ],
        ),
        (one_judged(), unjudged(n_found=2), []),  # one in 30 of the judged documents
        (one_judged(51), unjudged(51, 1), [FEW.format(510, 51)]),
        (one_judged(50), unjudged(50, 1), []),  # one in fifty is not few
        (
            one_judged(1),
            unjudged(1),
            [FEW.format(10, 1).replace("1 is", "0 are").replace("documents, 0", "document, 0")],
        ),
        (
            one_judged(1),
            {"q0": dict.fromkeys("bcdefghij", 1.0) | {"k": 0.0}},
            [FEW.format(10, 1).replace("1 is", "0 are").replace("documents, 0", "document, 0")],
        ),
        (one_judged(1), {"q0": {f"x{rank}": -float(rank) for rank in range(9)}}, []),  # may be by chance
        # 1 in 200 of the judged documents, but all of the first are judged
        (POOL, ranked(*(f"d{i}" for i in range(5))), []),
        (one_judged(), {"q0": unjudged(1)["q0"] | {"a": -9.0}}, []),  # 1 in 60, of all queries
    ],
)
@pytest.mark.filterwarnings("ignore:no retrieved document is judged")
def test_a_run_gets_the_notes_that_it_must(qrels, run, said):
    assert [note.partition(";")[0] for note in notes(run, qrels)] == said


def test_notes_are_in_the_json_and_beside_what_has_no_place_for_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text("".join(f"{q} 0 {d} {g}\n" for q in QRELS for d, g in QRELS[q].items()))
    (tmp_path / "mine").write_text("".join(f"{q} Q0 {d} 1 1 t\n" for q in QRELS for d in "axyz"))
    (tmp_path / "other").write_text("".join(f"{q} Q0 {d} 1 {s} t\n" for q in QRELS for d, s in ("a1", "x2")))
    line = "evaluate qrels mine other -m P@1 --format"
    mine, other = json.loads(run_main(*line.split(), "json")[1])
    assert (mine["notes"], other["notes"]) == ([TIED], [])
    for form in ("csv", "tsv", "jsonl"):
        _, out, err = run_main(*line.split(), form)
        assert (TIED in out, f"note: {TIED}\n" in err) == (False, True)


@pytest.mark.filterwarnings("ignore:no retrieved document is judged")
def test_public_runs_get_no_note(data):
    qrels = pm.read_qrels(data / "litsearch/query_to_texts.jsonl")
    judgments = Judgments.of(qrels)
    paths = sorted((data / "litsearch/runs").glob("*.jsonl"))
    assert len(paths) == 5
    for path in paths:
        run = pm.read_run(path)
        assert run_notes(path.stem, JudgedRankings.of(judgments, run)) == []
        shifted = {str(int(query) + 1): documents for query, documents in run.items()}
        [note] = run_notes(path.stem, JudgedRankings.of(judgments, shifted))
        assert "judged documents" in note


COMPARED = [
    lambda qrels, run: pm.compare(qrels, {"a": qrels, "b": run}, "RR"),
    lambda qrels, run: pm.uncertainty(qrels, {"a": qrels, "b": run}, "RR"),
    lambda qrels, run: pm.reranking(qrels, qrels, run, "RR", names=("a", "b")),
    lambda qrels, run: pm.reranking(qrels, qrels, run, "RR", names=("a", "b"), judged_only=True),
]


@pytest.mark.parametrize("call", COMPARED)
def test_an_error_about_a_run_names_its_file_or_the_run_and_stays_what_it_is(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"^none\.trec: No such file or directory"):
        call(QRELS, "none.trec")
    (tmp_path / "run.trec").write_text("q1 Q0 a 1 high t\n")
    with pytest.raises(pm.InputError, match=r"^run\.trec:1: not a line of a TREC run: a score must be"):
        call(QRELS, "run.trec")
    with pytest.raises(pm.InputError, match=r"^run 'b', query 'q1', document 'a': a score must be a number"):
        call(QRELS, {"q1": {"a": "high"}})
