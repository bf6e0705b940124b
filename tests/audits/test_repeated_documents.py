"""Runs that list a document twice: audits read them, say so, and name how scripts count it once."""

import json

import polars as pl
import pytest
from audit_helpers import audit_cli
from commands import run_cli

import permed_measures as pm

QRELS = {"q1": {"a": 1, "b": 1, "c": 0, "z": 1}, "q2": {"d": 1, "e": 1}, "q3": {"f": 1}}
LISTS = {"q1": ["x", "x", "a", "x", "b", "a", "y"], "q2": ["e", "e", "v", "d", "e"], "q3": ["w", "w", "f"]}
"""Some that are listed again are judged, some are not."""


def average_precision(query, ranked):
    """Return AP as a script has it that remembers what it found; None is a place without a document."""
    found, total = set(), 0.0
    for rank, doc in enumerate(ranked, 1):
        if QRELS[query].get(doc, 0) and doc not in found:
            found.add(doc)
            total += len(found) / rank
    return total / sum(QRELS[query].values())


WAYS = {
    "all": lambda ranked: list(dict.fromkeys(ranked)),
    "in_place": lambda ranked: ranked,
    "last": lambda ranked: list(dict.fromkeys(ranked[::-1]))[::-1],
}


def expected(way):
    return sum(average_precision(query, WAYS[way](ranked)) for query, ranked in LISTS.items()) / len(LISTS)


@pytest.fixture
def repeating(tmp_path, monkeypatch):
    """Write the run in three formats; return their names."""
    lines = [
        f"{query} Q0 {doc} {rank} {10 - rank} t"
        for query, ranked in LISTS.items()
        for rank, doc in enumerate(ranked, 1)
    ]
    (tmp_path / "run.trec").write_text("\n".join(lines) + "\n")
    listed = [
        {"query_id": q, "ranked_results": [{"text_id": doc} for doc in ranked]} for q, ranked in LISTS.items()
    ]
    (tmp_path / "run.jsonl").write_text("".join(json.dumps(each) + "\n" for each in listed))
    frame().write_parquet(tmp_path / "run.parquet")
    pm_qrels = [f"{q} 0 {doc} {grade}" for q, docs in QRELS.items() for doc, grade in docs.items()]
    (tmp_path / "qrels").write_text("\n".join(pm_qrels) + "\n")
    monkeypatch.chdir(tmp_path)
    return ["run.trec", "run.jsonl", "run.parquet"]


def frame():
    rows = [(q, doc, 10.0 - rank) for q, ranked in LISTS.items() for rank, doc in enumerate(ranked, 1)]
    return pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")


def assert_named(run, way):
    with pytest.warns(pm.PermedWarning, match="6 rows of documents that are listed again in their query"):
        result = pm.audit(QRELS, run, {"MAP": f"{expected(way):.6f}"})
    assert result.ok
    assert result.best[0].options["documents"] == way


@pytest.mark.parametrize("way", WAYS)
def test_scripts_that_count_a_document_once_are_named(repeating, way, monkeypatch):
    assert len({round(expected(each), 6) for each in WAYS}) == 3
    for path in repeating:
        assert_named(path, way)
    assert_named(frame(), way)
    monkeypatch.setattr("permed_measures.files.read._LARGE", 0)
    assert_named("run.trec", way)


def test_the_command_says_it_and_what_a_paper_would_write(repeating):
    for path in repeating:
        claim = f"MAP={expected('in_place'):.6f}"
        stdout, stderr = run_cli("audit", "qrels", path, "--claim", claim)
        assert "note: " in stderr
        assert "6 rows of documents that are listed again" in stderr
        assert "takes up its rank, but does not count again" in " ".join(stdout.split())


def test_other_commands_refuse_them_as_before(repeating):
    for path in repeating:
        with pytest.raises(pm.InputError, match="listed"):
            pm.calc_aggregate(["AP"], QRELS, path)
        with pytest.raises(pm.InputError, match="listed"):
            pm.read_run(path)


def test_a_query_that_is_listed_twice_stays_an_error(repeating):  # noqa: ARG001
    with open("run.jsonl", "a") as file:  # noqa: PTH123
        file.write(json.dumps({"query_id": "q1", "ranked_results": [{"text_id": "a"}]}) + "\n")
    with pytest.raises(pm.InputError, match="query 'q1' is listed twice"):
        pm.audit(QRELS, "run.jsonl", {"MAP": "0.5"})


def test_a_run_without_repeats_has_none_of_these_conventions():
    run = {
        query: {doc: -rank for rank, doc in enumerate(dict.fromkeys(docs))} for query, docs in LISTS.items()
    }
    [trial] = pm.audit(QRELS, run, {"MAP": "0.5"}).rows[0].trials
    assert not {*trial.run.offers("documents")} & {"in_place", "last"}


def test_the_order_of_a_list_may_be_asked_for(repeating):  # noqa: ARG001
    claim = f"MAP={expected('all'):.6f}"
    assert "AP" in audit_cli("qrels", "run.trec", "--claim", claim, "--order", "list")
