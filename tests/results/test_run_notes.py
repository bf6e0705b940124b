"""What stands beside the values of a run: where it must be said, and where it must not."""

import html
import json
import random
import re

import pandas as pd
import polars as pl
import pytest
from commands import run_main

import permed_measures as pm
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.results.run_notes import run_notes

QRELS = {f"q{i}": {"a": 2, "b": 0, "c": 1} for i in range(60)}
TIED = "run 'mine': all scores of each judged query are equal, so that documents are ranked by id, descending"


def notes(run, qrels=QRELS):
    return run_notes("mine", JudgedRankings.of(Judgments.of(qrels), run))


def ranked(*documents):
    return {query: {each: -float(rank) for rank, each in enumerate(documents)} for query in QRELS}


FORMS = {
    "dict": lambda rows: {q: {d: s for p, d, s in rows if p == q} for q, *_ in rows},
    "polars": lambda rows: pl.DataFrame(rows, ["query_id", "doc_id", "score"], orient="row"),
    "lazy": lambda rows: pl.LazyFrame(rows, ["query_id", "doc_id", "score"], orient="row"),
    "pandas": lambda rows: pd.DataFrame(rows, columns=["qid", "docno", "score"]),
}


@pytest.mark.parametrize("form", FORMS)
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
    assert notes(FORMS[form](rows), qrels) == [TIED] * (several and equal)


@pytest.mark.parametrize(
    ("run", "said"),
    [
        ({query: dict.fromkeys("axyz", 1.0) for query in QRELS}, [TIED]),
        (ranked("x", "a"), []),  # half of what is retrieved is judged
        ({"q0": {"a": 1.0}, "q1": {"b": 0.5}}, []),  # one document in each query
        (ranked("a", "b", "c"), []),  # as the qrels
    ],
)
def test_a_run_gets_the_notes_that_it_must(run, said):
    assert [note[: len(each)] for note, each in zip(notes(run), said, strict=True)] == said


@pytest.mark.parametrize(
    ("n_found", "said"),
    [
        (
            1,
            ["of 600 documents within the first 10, 1 is judged, and of 60 judged documents, 1 is retrieved"],
        ),
        (2, []),  # one in 30 of the judged documents
    ],
)
def test_few_judged_documents_are_counted(n_found, said):
    qrels = {query: {"a": 1} for query in QRELS}
    run = {query: {f"x{i}": -float(i) for i in range(20)} for query in QRELS}
    for query in list(run)[:n_found]:
        run[query]["a"] = 1.0
    assert [note.removeprefix("run 'mine': ").partition(";")[0] for note in notes(run, qrels)] == said


@pytest.mark.parametrize(("n_queries", "few"), [(51, True), (50, False)])
def test_one_in_fifty_is_not_few(n_queries, few):
    qrels = {f"q{i}": {"a": 1} for i in range(n_queries)}
    run = {query: {f"x{i}": -float(i) for i in range(20)} for query in qrels}
    assert bool(notes({**run, "q0": run["q0"] | {"a": 1.0}}, qrels)) == few


def test_deep_pools_and_missing_queries_give_no_note():
    pool = {query: {f"d{i}": i % 2 for i in range(1000)} for query in QRELS}
    shallow = {query: {f"d{i}": -float(i) for i in range(5)} for query in QRELS}
    assert notes(shallow, pool) == []  # 1 in 200 of the judged documents, but all of the first are judged
    few = {"q0": {f"x{i}": -float(i) for i in range(9)} | {"a": -9.0}}
    assert notes(few, {query: {"a": 1} for query in QRELS}) == []  # 1 in 60, of all queries


# --- where they stand --------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "qrels").write_text("".join(f"{q} 0 {d} {g}\n" for q in QRELS for d, g in QRELS[q].items()))
    (tmp_path / "mine").write_text("".join(f"{q} Q0 {d} 1 1 t\n" for q in QRELS for d in "axyz"))
    (tmp_path / "other").write_text("".join(f"{q} Q0 {d} 1 {s} t\n" for q in QRELS for d, s in ("a1", "x2")))
    return tmp_path


@pytest.mark.usefixtures("files")
def test_notes_stand_above_the_table_and_in_the_json():
    def printed(form, *runs):
        status, out, err = run_main("evaluate", "qrels", *runs, "-m", "P@1", "--format", form)
        assert status == 0
        return out, err

    table, _ = printed("table", "mine", "other")
    assert f"Note: {TIED}. run P@1" in " ".join(table.split())
    assert "Note: " not in printed("table", "other")[0]
    mine, other = json.loads(printed("json", "mine", "other")[0])
    assert (mine["notes"], other["notes"]) == ([TIED], [])
    for form in ("markdown", "latex"):
        assert [form, TIED in printed(form, "mine")[0].replace("\\_", "_")] == [form, True]
    page = printed("html", "mine")[0]
    found = re.search(r'<p class="caution">(.*?)</p>', page, re.DOTALL)[1]
    assert html.unescape(found) == TIED
    for form in ("csv", "tsv", "jsonl"):
        out, err = printed(form, "mine")
        assert (TIED in out, f"note: {TIED}\n" in err) == (False, True)


# --- real runs ---------------------------------------------------------------------------------------


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
