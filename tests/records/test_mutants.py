"""Records that were changed by hand: each field, in many ways, with the hash put right."""

import copy
import json
import math
import os

import jsonschema
import pytest
from commands import run_main
from effort import effort
from recorded import at, nodes, resealed

import permed_measures as pm
from permed_measures.records.fields import check_fields, schema
from permed_measures.records.record import FORM, read_record, record
from permed_measures.records.verify import verify_all

VALUES = (
    None,
    True,
    7,
    -1,
    10**12,
    10**30,
    0.5,
    math.nan,
    math.inf,
    "",
    "x",
    [],
    {},
    ["x"],
    {"x": 1},
    "delete",
    "add",
)
FIELDS = schema()["properties"]
STEP = effort(41, 2)
"""Every so many mutants are tried; with all of them the test takes minutes."""


def mutants(content):
    """Yield each record that differs in one place, with that place and what stands there now."""
    for place in nodes(content):
        for value in VALUES:
            mutant = copy.deepcopy(content)
            parent = at(mutant, place[:-1])
            if value == "delete":
                del parent[place[-1]]
            elif value != "add":
                parent[place[-1]] = value
            elif isinstance(parent, dict):
                parent["added"] = 1
            else:
                parent.append(1)
            if json.dumps(mutant) != json.dumps(content):
                yield place, value, mutant


@pytest.fixture
def records(folder):
    """Return a record of an evaluation by group, and one of a comparison, of few queries."""
    lines = (folder / "qrels.jsonl").read_text().splitlines(keepends=True)
    (folder / "qrels.jsonl").write_text("".join(each for each in lines if '"sample_01' in each))
    runs = {"bm25": "bm25.jsonl", "lsa": "lsa.jsonl"}
    how = {"baseline": "bm25", "resamples": 50, "tests": ["randomization"]}
    return [
        record("qrels.jsonl", "bm25.jsonl", {"mine": "nDCG@10"}, by="_([0-9]+)$"),
        record("qrels.jsonl", runs, ["P@1"], comparison=how),
    ]


def outcome(path, place):
    """Verify a mutant; return whether it was refused, found, or its place is one that is not checked."""
    [found] = verify_all([path], None, None, None)
    if not found.is_read:
        assert found.error.split()[0].partition(".")[0].rstrip(":") in {
            *FIELDS,
            "this",
            "there",
            "the",
            "added",
        }
        return "refused"
    if found.error:
        return "not computed"
    if found.differences:
        assert any(each.key != "sha256" for each in found.differences) or place[0] == "sha256"
        return "found"
    if place[0] == "options":
        return "the same numbers"
    if place == ("created",):
        return "not checked"  # or deleted
    names = {"path": "paths", "dataset": "paths"}
    said = names.get(str(place[-1]), str(place[0]))
    assert any(each.startswith(said) for each in found.not_checked), (place, found)
    return "not checked"


def test_every_mutant_is_refused_or_found_or_said_not_to_be_checked(records, folder):
    outcomes = set()
    for content in records:
        content["created"] = "2026-01-01"
        for number, (place, _, mutant) in enumerate(mutants(content)):
            if number % STEP:
                continue
            try:
                edited = resealed(mutant) if place[0] != "sha256" else mutant
            except ValueError:  # JSON has no NaN
                edited = mutant
            (folder / "mutant.json").write_text(json.dumps(edited))
            outcomes.add(outcome(folder / "mutant.json", place))
    assert outcomes >= {"refused", "found", "not checked"}


def test_the_check_refuses_what_the_schema_does(records):
    validator = jsonschema.Draft202012Validator(schema())
    for content in records:
        for place, value, mutant in list(mutants(content))[::STEP]:
            try:
                check_fields(mutant, schema())
            except pm.InputError:
                stricter = isinstance(value, (int, float)) and not abs(value) < 10**20
                assert stricter or not validator.is_valid(mutant), place
            else:
                assert validator.is_valid(mutant), place


def test_a_folder_has_a_line_for_every_file(records, folder):
    [first, second] = records
    first.write("a.json")
    (folder / "b.json").write_text(json.dumps({**second, "sha256": math.nan}))
    (folder / "c.json").write_text(json.dumps({**second, "runs": 10**30}))
    second.write("d.json")
    status, out, err = run_main("verify", ".")
    assert (status, err) == (2, "")
    heads = [line for line in out.splitlines() if line and not line.startswith(" ")]
    assert heads == ["a.json", "b.json", "c.json", "d.json"]
    assert out.count("  reproduced: ") == 2
    assert "  not computed again: sha256 must be a text (found nan)" in out
    assert "  not computed again: runs must be a list (found 1e+30)" in out
    (folder / "b.json").unlink()
    (folder / "c.json").write_text(json.dumps(resealed({**second, "conventions": []})))
    assert run_main("verify", ".")[0] == 1
    (folder / "c.json").unlink()
    assert run_main("verify", ".")[0] == 0


def test_nothing_outside_the_folder_is_read(records, folder, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    secret = elsewhere / "secret.txt"
    secret.write_text("the first line\n")
    os.mkfifo(folder / "pipe")
    (folder / "link.trec").symlink_to(secret)
    (folder / "data").mkdir()
    os.mkfifo(folder / "data" / "qrels.jsonl")
    inside = os.path.relpath(secret, folder)
    for role in ("qrels", "run"):
        for name in (
            str(secret),
            inside,
            "pipe",
            "link.trec",
            "/dev/zero",
            "-",
            "",
            "data",
            "\0",
            "x" * 5000,
        ):
            edited = copy.deepcopy(records[0])
            edited["inputs"][1]["path"] = name if role == "run" else "bm25.jsonl"
            edited["qrels"]["path"] = name if role == "qrels" else "qrels.jsonl"
            resealed(edited).write("edited.json")
            status, out, err = run_main("verify", "edited.json")
            assert (status, out) == (2, ""), name
            assert "edited.json: " in err
            assert "the first line" not in err
    edited["qrels"] = {"dataset": str(secret), "judgments": edited["qrels"]["judgments"]}
    resealed(edited).write("edited.json")
    status, out, err = run_main("verify", "edited.json")
    assert (status, out, "the first line" in err) == (2, "", False)


def test_a_record_is_checked_when_it_is_made():
    with pytest.raises(pm.InputError, match=r"comparison.resamples must be at most 10000000"):
        record({"q": {"a": 1}}, {"x": {}, "y": {}}, "RR", comparison={"resamples": 10**12})
    made = record({"q": {"a": 1}}, {"x": {"q": {"a": 1.0}}}, "RR")
    assert (made["record"], made.keys() >= {"created"}) == (FORM, True)
    made["runs"][0]["values"]["RR"][0] = math.nan
    with pytest.raises(pm.InputError, match=r"record: runs.0.values.RR.0 must be a number \(found nan\)"):
        pm.verify(made, {"q": {"a": 1}}, {"q": {"a": 1.0}})


def test_what_is_read_is_what_was_written(records, folder):
    for made in records:
        made.write("made.json")
        assert read_record(folder / "made.json") == made
