"""Records: their schema, that they are the same for the same inputs, and what they keep."""

import hashlib
import json
import math
import os
from inspect import signature

import jsonschema
import numpy as np
import polars as pl
import pytest
from commands import run_main

import permed_measures as pm
from permed_measures.comparisons.compare import compare
from permed_measures.records.fields import schema
from permed_measures.records.record import read_record

EVALUATIONS = {
    "plain": "evaluate qrels.jsonl bm25.jsonl -m nDCG@10",
    "several": "evaluate permed-sample bm25.jsonl lsa.jsonl -m MAP@10=GradedAP@10 -m AP --by turn_number",
    "by a pattern": "evaluate qrels.jsonl bm25.jsonl -m RR --by _([0-9]+)$ --macro --order list",
    "compared": "compare qrels.jsonl bm25.jsonl lsa.jsonl -m P@1 --baseline bm25 --resamples 99 "
    "--clusters ^(.*)_",
    "compared by group": "compare permed-sample bm25.jsonl lsa.jsonl tfidf.jsonl -m P@1 --resamples 99 "
    "--by turn_number",
}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("line", EVALUATIONS.values(), ids=EVALUATIONS.keys())
def test_a_record_fits_its_schema_and_is_reproduced(line):
    status, _, err = run_main(*line.split(), "--record", "eval.json")
    assert status == 0
    assert "eval.json: record of" in err
    found = read_record("eval.json")
    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.validate(found, schema(), format_checker=jsonschema.FormatChecker())
    status, out, _ = run_main("verify", "eval.json")
    assert (status, out.split("\n")[1].split(":")[0]) == (0, "  reproduced")


def test_the_same_inputs_give_the_same_bytes(folder):
    line = EVALUATIONS["plain"].split()
    texts = []
    for name in ("one.json", "two.json"):
        run_main(*line, "--record", name)
        content = json.loads((folder / name).read_text())
        texts.append((folder / name).read_text().replace(content["created"], ""))
    assert texts[0] == texts[1]
    first, second = (pm.record("qrels.jsonl", "bm25.jsonl", "RR", created=False).to_json() for _ in range(2))
    assert first == second
    assert "created" not in json.loads(first)


def test_a_record_holds_what_an_evaluation_gives(folder):
    found = pm.record("qrels.jsonl", {"mine": "lsa.jsonl"}, {"MAP": "GradedAP@10", "n": "nDCG@10"})
    values = pm.calc(["GradedAP@10", "nDCG@10"], "qrels.jsonl", "lsa.jsonl")
    [run] = found["runs"]
    assert list(run["metrics"].values()) == list(values.aggregated.values())
    assert run["judged"] == {
        "Judged@10": pm.calc_aggregate("Judged@10", "qrels.jsonl", "lsa.jsonl").popitem()[1]
    }
    assert run["ceilings"] == {
        "MAP": pm.ceiling("GradedAP@10", "qrels.jsonl"),
        "n": pm.ceiling("nDCG@10", "qrels.jsonl"),
    }
    by_query = {(m.query_id, str(m.measure)): m.value for m in values.per_query}
    for measure in ("GradedAP@10", "nDCG@10"):
        expected = [by_query[query_id, measure] for query_id in found["query_ids"]]
        assert np.array_equal(found.values_of("mine", pm.parse_measure(measure)), expected)
    [qrels, file] = found["inputs"]
    assert qrels["sha256"] == hashlib.sha256((folder / "qrels.jsonl").read_bytes()).hexdigest()
    assert (file["bytes"], file["format"]) == ((folder / "lsa.jsonl").stat().st_size, "PerMed results")
    assert (qrels["format"], file["name"]) == ("MedCorpus labels", "mine")
    assert found["measures"][0]["heading"] == "MAP"


def test_the_ir_metadata_of_a_run_is_kept(folder):
    header = ["ir_metadata.start", "schema-version: 0.1", "platform:", "  hardware: none", "ir_metadata.end"]
    pm.write_run(pm.read_run("bm25.jsonl"), "plain.trec")
    rows = (folder / "plain.trec").read_text()
    (folder / "run.trec").write_text("# a comment\n" + "".join(f"# {line}\n" for line in header) + rows)
    (folder / "open.trec").write_text("# ir_metadata.start\n# tag: x\n" + rows)
    found = pm.record("qrels.jsonl", {"a": "run.trec", "b": "open.trec"}, ["RR"])
    assert [each.get("ir_metadata") for each in found.inputs("run")] == [header[1:-1], None]
    assert pm.verify(found).ok


def test_the_hash_of_labels_is_that_of_query_document_and_grade(folder):
    qrels = {"q1": {"a": 1, "b": 2, "c": 0}, "q2": {"c": 1, "a": -1}}
    rows = [(query, doc, float(grade)) for query, docs in qrels.items() for doc, grade in docs.items()]
    expected = hashlib.sha256(json.dumps(sorted(rows)).encode()).hexdigest()
    (folder / "qrels.txt").write_text("".join(f"{q} 0 {doc} {int(grade)}\n" for q, doc, grade in rows[::-1]))
    frame = pl.DataFrame(rows[2:] + rows[:2], ["query_id", "doc_id", "relevance"], orient="row")
    run = {"q1": {"a": 1.0}}
    for form in (qrels, "qrels.txt", frame, frame.to_pandas()):
        assert pm.record(form, {"x": run}, "RR")["qrels"]["judgments"] == expected
    other = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"c": 1, "a": -1}}
    assert pm.record(other, {"x": run}, "RR")["qrels"]["judgments"] != expected


def test_files_that_are_no_records_are_refused(folder, made):
    (folder / "no.json").write_text("{}")
    (folder / "broken.json").write_text("{")
    os.mkfifo(folder / "pipe.json")
    for name, damage in {
        "old": {"record": "permed-measures record 1"},
        "runs": {"runs": 1},
        "values": {"query_ids": made["query_ids"][1:]},
        "measure": {"measures": [{**made["measures"][0], "measure": "nDGC@10"}]},
        "options": {"options": {**made["options"], "colour": "red"}},
        "draws": {"options": {**made["options"], "comparison": {"resamples": 10**12}}},
        "seal": {"sha256": math.nan},
        "deep": {"comparison": {"notes": json.loads("[" * 50 + "]" * 50)}},
    }.items():
        (folder / f"{name}.json").write_text(json.dumps({**made, **damage}))
    expected = {
        "no": "this is no permed-measures record 2 (its field 'record' is None)",
        "broken": "this is no record: it is no JSON",
        "pipe": "this is no record: it is no regular file",
        "old": "Another version made it",
        "runs": "runs must be a list (found 1)",
        "values": "runs.bm25.values.nDCG@10 must have one for each of 47 queries (found 48)",
        "measure": "measures: ",
        "options": "options.colour is no field that is known here",
        "draws": "options.comparison.resamples must be at most 10000000 (found 1000000000000)",
        "seal": "sha256 must be a text (found nan)",
        "deep": "stands deeper than 20 levels",
        "made/../missing": "No such file",
    }
    for name, message in expected.items():
        status, out, err = run_main("verify", f"{name}.json")
        assert (status, out) == (2, "")
        assert f"{name}.json: {message}" in err or (f"{name}.json: " in err and message in err)


def test_the_options_of_a_comparison_are_those_of_compare():
    of_records = schema()["properties"]["options"]["properties"]["comparison"]["properties"]
    apart = {"qrels", "runs", "measures", "by", "rel"}
    assert set(of_records) == set(signature(compare).parameters) - apart


def test_a_record_does_not_overwrite_what_it_is_made_from(folder):
    before = (folder / "bm25.jsonl").read_bytes()
    for place in ("bm25.jsonl", "qrels.jsonl", "out.csv"):
        line = f"evaluate qrels.jsonl bm25.jsonl -m RR --output out.csv --record {place}"
        status, _, err = run_main(*line.split())
        assert status == 2
        assert "would overwrite" in err
    assert (folder / "bm25.jsonl").read_bytes() == before
    status, _, err = run_main(
        *["evaluate", "qrels.jsonl", "bm25.jsonl", "-m", "RR", "--record", "no/such.json"]
    )
    assert (status, "there is no folder 'no'" in err) == (2, True)
