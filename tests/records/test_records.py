"""Records: that they are the same for the same inputs, what they keep, and which files are none."""

import hashlib
import json
import os

import polars as pl
import pytest
from commands import run_main

import permed_measures as pm
from permed_measures.records.record import FORM, read_record


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "line",
    [
        "evaluate permed-sample bm25.jsonl lsa.jsonl -m MAP@10=GradedAP@10 -m AP --by turn_number",
        "evaluate qrels.jsonl bm25.jsonl -m RR --by-query --order list",
    ],
)
def test_the_command_writes_what_python_returns_and_verify_reproduces_it(line):
    status, _, err = run_main(*line.split(), "--record", "eval.json")
    assert status == 0
    assert "eval.json: record of" in err
    found = read_record("eval.json")
    assert found["options"] == {"order": "list" if "list" in line else "score", "query_ids": None}
    again = pm.record(
        line.split()[1], {each: f"{each}.jsonl" for each in found["runs"]}, found.measures, **found["options"]
    )
    assert {**again, "created": found["created"]} == found
    status, out, err = run_main("verify", "eval.json")
    assert (status, out.split("\n")[1].split(":")[0], err) == (0, "  reproduced", "")


@pytest.mark.usefixtures("folder")
def test_the_same_inputs_give_the_same_bytes():
    dated = pm.record("qrels.jsonl", "bm25.jsonl", "RR")
    first, second = (pm.record("qrels.jsonl", "bm25.jsonl", "RR", created=False) for _ in range(2))
    assert first.to_json() == second.to_json()
    assert (first["created"], dated["sha256"]) == (None, first["sha256"])
    dated.write("made.json")
    assert read_record("made.json") == dated


def test_a_record_holds_what_an_evaluation_gives(folder):
    found = pm.record("qrels.jsonl", {"mine": "lsa.jsonl"}, {"MAP": "GradedAP@10", "n": "nDCG@10"})
    values = pm.calc(["GradedAP@10", "nDCG@10"], "qrels.jsonl", "lsa.jsonl")
    run = found["runs"]["mine"]
    assert list(run["means"].values()) == list(values.aggregated.values())
    by_query = {(m.query_id, str(m.measure)): m.value for m in values.per_query}
    for name, measure in found["measures"].items():
        assert run["values"][name] == [by_query[query_id, measure] for query_id in found["query_ids"]]
    assert run["path"] == "lsa.jsonl"
    assert run["sha256"] == hashlib.sha256((folder / "lsa.jsonl").read_bytes()).hexdigest()
    assert found["measures"] == {"MAP": "GradedAP@10", "n": "nDCG@10"}
    assert found["qrels"].items() >= {"path": "qrels.jsonl", "dataset": None}.items()
    of_data_set = pm.record("permed-sample", {"mine": "lsa.jsonl"}, "RR")
    assert of_data_set["qrels"].items() >= {"path": None, "dataset": "permed-sample"}.items()
    assert of_data_set["qrels"]["judgments"] == found["qrels"]["judgments"]


def test_the_hash_of_labels_is_that_of_query_document_and_grade(folder):
    qrels = {"q1": {"a": 1, "b": 2, "c": 0}, "q2": {"c": 1, "a": -1}}
    rows = [(query, doc, float(grade)) for query, docs in qrels.items() for doc, grade in docs.items()]
    expected = hashlib.sha256(json.dumps(sorted(rows)).encode()).hexdigest()
    (folder / "qrels.txt").write_text("".join(f"{q} 0 {doc} {int(grade)}\n" for q, doc, grade in rows[::-1]))
    frame = pl.DataFrame(rows[2:] + rows[:2], ["query_id", "doc_id", "relevance"], orient="row")
    run = {"q1": {"a": 1.0}}
    for form in (qrels, "qrels.txt", frame):
        assert pm.record(form, {"x": run}, "RR")["qrels"]["judgments"] == expected
    other = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"c": 1, "a": -1}}
    assert pm.record(other, {"x": run}, "RR")["qrels"]["judgments"] != expected


def test_files_that_are_no_records_are_refused(folder, made):
    (folder / "no.json").write_text("{}")
    (folder / "broken.json").write_text("{")
    (folder / "nested.json").write_text("[" * 100_000)
    os.mkfifo(folder / "pipe.json")
    run = made["runs"]["bm25"]
    for name, damage in {
        "old": {"record": "permed-measures record 2"},
        "runs": {"runs": [1]},
        "long": {"query_ids": made["query_ids"][1:]},
        "measure": {"measures": {"x": "nDGC@10"}},
        "options": {"options": {**made["options"], "colour": "red"}},
        "missing": {"options": {"order": "score"}},
        "seal": {"sha256": None},
        "empty": {"runs": {}},
        "nan": {"runs": {"bm25": {**run, "values": {"nDCG@10": [float("nan")]}}}},
        "whole": {"runs": {"bm25": {**run, "means": {"nDCG@10": int("9" * 400)}}}},
        "names": {"runs": {"bm25": {**run, "means": {"nDCG@10": 1.0}}}},
    }.items():
        (folder / f"{name}.json").write_text(json.dumps({**made, **damage}))
    expected = {
        "no": f"this is no {FORM} (its field 'record' is None). Records are written by evaluate",
        "broken": "this is no record: it is no JSON",
        "nested": "this is no record: it is no JSON",
        "pipe": "this is no record: it is no regular file",
        "old": f"this is no {FORM} (its field 'record' is 'permed-measures record 2'). Another version",
        "runs": "runs must be an object (found [1.0])",
        "long": "runs.bm25.values must have one for each of 47 queries",
        "measure": "measures: there is no measure",
        "options": "options.colour is no field of a record",
        "missing": "options.query_ids is missing",
        "seal": "sha256 must be a text (found None)",
        "empty": "this record has no measure or no run",
        "nan": "runs.bm25.values.nDCG@10.0 must be a finite number (found nan)",
        "whole": "runs.bm25.means.nDCG@10 must be a finite number (found inf)",
        "names": "runs.bm25 must have the measures ['GradedAP@10', 'nDCG@10']",
        "made/../missing": "No such file",
    }
    for name, message in expected.items():
        status, out, err = run_main("verify", f"{name}.json")
        assert (status, out) == (2, "")
        assert err.startswith(f"error: {name}.json: {message}"), err


def test_a_record_does_not_overwrite_what_it_is_made_from(folder):
    before = (folder / "bm25.jsonl").read_bytes()
    refused = dict.fromkeys(("bm25.jsonl", "qrels.jsonl", "out.csv"), "would overwrite")
    for place, message in {**refused, "no/such.json": "there is no folder 'no'"}.items():
        line = f"evaluate qrels.jsonl bm25.jsonl -m RR --output out.csv --record {place}"
        status, _, err = run_main(*line.split())
        assert (status, message in err) == (2, True)
    assert (folder / "bm25.jsonl").read_bytes() == before


def test_a_record_needs_a_query():
    with pytest.raises(pm.InputError, match="the qrels have no query"):
        pm.record({}, {"x": {}}, "RR")
