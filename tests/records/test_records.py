"""Records are the same for the same inputs, keep all values, and other files are refused."""

import hashlib
import json
import os

import polars as pl
import pytest
from commands import run_main

import permed_measures as pm
from permed_measures.records.record import FORM, is_record, read_record


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
    assert (status, "eval.json: record of" in err) == (0, True)
    found = read_record("eval.json")
    assert found["options"] == {"order": "list" if "list" in line else "score", "query_ids": None}
    runs = {each: f"{each}.jsonl" for each in found["runs"]}
    again = pm.record(line.split()[1], runs, found.measures, **found["options"])
    assert {**again, "created": found["created"]} == found
    status, out, err = run_main("verify", "eval.json")
    assert (status, out.split("\n")[1].split(":")[0], err) == (0, "  reproduced", "")


def test_what_cannot_be_verified_is_no_record():
    with pytest.raises(pm.InputError, match="there is no measure to record"):
        pm.record({"q": {"a": 1}}, {"q": {"a": 1.0}}, [])
    with pytest.raises(pm.InputError, match=r"order must be one of score, list \(found 'x'\)"):
        pm.record({"q": {"a": 1}}, {"q": {"a": 1.0}}, "RR", order="x")


def test_no_record_has_what_json_cannot_hold():
    made = pm.record({"q": {"a": 1}}, {"q": {"a": 1.0}}, "RR")
    made["options"]["level"] = float("nan")
    with pytest.raises(ValueError, match="JSON"):
        made.to_json()


@pytest.mark.usefixtures("folder")
def test_the_same_inputs_give_the_same_bytes():
    dated = pm.record("qrels.jsonl", "bm25.jsonl", "RR")
    first, second = (pm.record("qrels.jsonl", "bm25.jsonl", "RR", created=False) for _ in range(2))
    assert first.to_json() == second.to_json()
    assert (first["created"], dated["sha256"]) == (None, first["sha256"])


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
    listed = [{"text_id": "a", "score": 1}, {"text_id": "b", "score": 2}]
    (folder / "listed.jsonl").write_text(json.dumps({"query_id": "q", "results": listed}))
    by_list = pm.record({"q": {"a": 1}}, "listed.jsonl", "RR", order="list")
    assert by_list["runs"]["listed"]["means"] == {"RR": 1.0}
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


VALUES, BEFORE = "runs.bm25.values", "permed-measures record 2"
NO_RECORDS = [
    # the text of a file, or fields of a record that are changed
    ("{}", f"this is not a {FORM} (its field 'record' is None). Records are written by evaluate"),
    ("{", "this is not a record: it is not JSON"),
    ("[" * 100_000, "this is not a record: it is not JSON"),
    (
        {"record": "permed-measures record 2"},
        f"this is not a {FORM} (its field 'record' is 'permed-measures re",
    ),
    ({"runs": [1]}, "runs must be an object (found [1.0])"),
    ({"query_ids": ["q"]}, f"{VALUES} must have one value for each of 1 query"),
    ({"measures": {"x": "nDGC@10"}}, "measures: there is no measure"),
    (
        {"options": {"order": "score", "query_ids": None, "colour": ""}},
        "options.colour is not a field of a rec",
    ),
    ({"options": {"order": "score"}}, "options.query_ids is missing"),
    (json.dumps({"record": FORM}), "created is missing"),  # and others too
    ({"sha256": None}, "sha256 must be a text (found None)"),
    ({"runs": {}}, "this record has no measure or no run"),
    ({"values": {"nDCG@10": [float("nan")]}}, f"{VALUES}.nDCG@10.0 must be a finite number (found nan)"),
    ({"means": {"nDCG@10": int("9" * 400)}}, "runs.bm25.means.nDCG@10 must be a finite number (found inf)"),
    ({"means": {"nDCG@10": 1.0}}, "runs.bm25 must have the measures ['GradedAP@10', 'nDCG@10']"),
]


def test_files_that_are_no_records_are_refused(folder, made):
    os.mkfifo(folder / "pipe")
    found = [("pipe", "this is not a record: it is not a regular file"), ("missing", "No such file")]
    for number, (damage, message) in enumerate(NO_RECORDS):
        if isinstance(damage, dict):
            of_run = {} if {*damage} <= {*made} else {"runs": {"bm25": {**made["runs"]["bm25"], **damage}}}
            damage = json.dumps({**made, **(of_run or damage)})
        (folder / f"{number}.json").write_text(damage)
        found.append((f"{number}.json", message))
    for name, message in found:
        status, out, err = run_main("verify", name)
        assert (status, out) == (2, "")
        assert err.startswith(f"error: {name}: {message}"), err


def test_what_is_larger_than_any_record_is_not_read(folder):
    with (folder / "large.json").open("wb") as file:
        file.write(b'\n {"record": "permed-measures record 4",\n')
    assert is_record(folder / "large.json")
    os.truncate(folder / "large.json", (1 << 28) + 1)
    assert not is_record(folder / "large.json")
    with pytest.raises(pm.InputError, match=r"at most 268,435,456 bytes \(found 268,435,457\)"):
        read_record("large.json")
    (folder / "run.json").write_text('[]\n{"record": "permed-measures record 4"}')
    assert not any(map(is_record, (folder / "run.json", "missing.json", folder, 5)))


def test_a_record_does_not_overwrite_what_it_is_made_from(folder):
    before = (folder / "bm25.jsonl").read_bytes()
    refused = dict.fromkeys(
        ("bm25.jsonl", "qrels.jsonl", "out.csv", "./out.csv", folder / "out.csv"), "would overwrite"
    )
    for place, message in {**refused, "no/such.json": "there is no folder 'no'"}.items():
        line = f"evaluate qrels.jsonl bm25.jsonl -m RR --output out.csv --record {place}"
        status, _, err = run_main(*line.split())
        assert (status, message in err) == (2, True)
    assert (folder / "bm25.jsonl").read_bytes() == before


def test_a_record_needs_a_query():
    with pytest.raises(pm.InputError, match="the qrels have no query"):
        pm.record({}, {"x": {}}, "RR")
