"""Verification finds and reports any change in a record, a run or the qrels."""

import copy
import functools
import itertools
import json
import operator
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import ir_datasets
import pytest
from commands import run_main, run_python
from effort import effort, seeds
from ir_datasets.util import DownloadConfig, RequestsDownload

import permed_measures as pm
from permed_measures.records.record import Record, read_record, record

VALUES = (None, True, 7, -1, 10**30, 0.5, "", "x", [], {}, ["x"], {"x": 1}, "delete", "add")
STEP = effort(41, 2)
"""The step between the mutants to try; with all of them the test takes minutes."""


EDITED = "record: it was edited after it was written: its sha256 does not match its content"


def resealed(content):
    """Give a record the hash of its content, as someone who edits it on purpose could."""
    edited = Record(json.loads(json.dumps(content)))
    edited["sha256"] = edited.content_hash
    return edited


def texts(found):
    return list(map(str, found.differences))


@pytest.mark.parametrize("name", ["qrels.jsonl", "bm25.jsonl"])
@pytest.mark.parametrize("seed", seeds(5, 40))
def test_a_changed_file_is_found(name, seed, made, folder):
    rng = random.Random(seed)
    text = (folder / name).read_text()
    place = rng.choice([place for place, character in enumerate(text) if character.isdigit()])
    digit = rng.choice([each for each in "0123456789" if each != text[place]])
    (folder / name).write_text(text[:place] + digit + text[place + 1 :])
    try:
        parts = [each.part for each in pm.verify(made).differences]
    except pm.PermedError:  # a document is listed twice now, or a grade is above the others
        parts = ["refused"]
    assert {"refused", "qrels" if name == "qrels.jsonl" else "run bm25"} & {*parts}


def test_an_untouched_record_is_reproduced_wherever_its_files_are(
    made, folder, tmp_path_factory, monkeypatch
):
    (folder / "records").mkdir()
    made.write("records/eval.json")
    again = "records/eval.json\n  reproduced: 192 values computed again, none differs\n"
    for options in ((), ("--folder", ".")):
        assert run_main("verify", "records/eval.json", *options) == (0, again, "")
    made.write("eval.json")
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.chdir(elsewhere)
    assert pm.verify(folder / "records" / "eval.json", folder=folder).ok
    assert pm.verify(folder / "records" / "eval.json").ok  # by their hashes
    assert pm.verify(folder / "eval.json").ok  # the files stand beside it
    for name in ("eval.json", "lsa.jsonl"):
        shutil.move(folder / name, elsewhere / name)
    qrels, bm25 = folder / "qrels.jsonl", folder / "bm25.jsonl"
    with pytest.raises(pm.InputError, match=r"eval.json: there is no file 'bm25.jsonl' for the run 'bm25'"):
        pm.verify("eval.json", qrels)
    assert pm.verify("eval.json", pm.read_qrels(qrels), {"bm25": bm25, "lsa": "lsa.jsonl"}).ok
    line = ("verify", "eval.json", "--qrels", qrels, "--run", "lsa.jsonl")
    assert run_main(*line, "--run", f"bm25={bm25}")[0] == 0
    status, _, err = run_main(*line)
    assert (status, "the record has the runs 'bm25', 'lsa'" in err) == (2, True)


def test_paths_begin_in_the_folder_of_the_record(folder, tmp_path_factory, monkeypatch):
    for name in ("data", "out", "other"):
        (folder / name).mkdir()
    shutil.move(folder / "qrels.jsonl", folder / "data" / "q.jsonl")
    shutil.move(folder / "lsa.jsonl", folder / "data" / "r.jsonl")
    line = "evaluate data/q.jsonl data/r.jsonl -m RR --record out/rec.json"
    assert run_main(*line.split())[0] == 0
    written = json.loads((folder / "out" / "rec.json").read_text())
    assert (written["qrels"]["path"], written["runs"]["r"]["path"]) == ("../data/q.jsonl", "../data/r.jsonl")
    assert run_main("verify", "out/rec.json")[0] == 0
    read_record("out/rec.json").write("other/rec.json")
    line = line.replace("data/", f"{folder}/data/").replace("out", "other").replace("rec.json", "again.json")
    assert run_main(*line.split())[0] == 0
    other, again = (read_record(f"other/{name}.json") for name in ("rec", "again"))
    assert (other["sha256"], other["runs"]) == (again["sha256"], again["runs"])
    (folder / "data" / "r.jsonl").write_text((folder / "bm25.jsonl").read_text())
    status, out, _ = run_main("verify", "out/rec.json")
    assert (status, "run r: the file differs from the recorded one" in out) == (1, True)
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))  # where nothing vouches for the changed file
    status, _, err = run_main("verify", folder / "out" / "rec.json")
    assert (status, "the folder where the paths begin: --folder FOLDER" in err) == (2, True)
    assert run_main("verify", folder / "out" / "rec.json", "--folder", folder)[0] == 1


CLIRMATRIX = "clirmatrix/af/bi139-base/en/dev"  # of a family whose list ir_datasets downloads


@pytest.mark.parametrize(
    "dataset",
    ["medcorpus", "litsearch/specific", "nfcorpus/test", "vaswani", "natural-questions/dev", CLIRMATRIX],
)
def test_a_record_starts_no_download(dataset, folder, monkeypatch):
    content = record("permed-sample", "bm25.jsonl", "RR")
    content["qrels"]["dataset"] = dataset
    resealed(content).write("foreign.json")
    monkeypatch.setenv("IR_DATASETS_HOME", str(folder / "home"))
    asked = []
    monkeypatch.setattr(RequestsDownload, "stream", lambda self: asked.append(self.url) or 1 / 0)
    status, out, err = run_main("verify", "foreign.json")
    assert (status, out, asked) == (2, "", [])
    assert "not on this machine" in err
    assert "Allow it: --download" in err
    with pytest.raises(pm.InputError, match="not on this machine"):
        pm.verify("foreign.json")
    for line in (["--download"], ["--qrels", dataset]):  # this one somebody has asked for
        assert run_main("verify", "foreign.json", *line)[0] == 2
        assert asked
        asked.clear()
    content["qrels"]["dataset"] = "permed-sample"
    assert pm.verify(resealed(content)).ok


WITHOUT_NETWORK = """
import socket, sys, gzip, json
from pathlib import Path

def asked(*address):
    raise SystemExit(f"the network was asked: {address}")

socket.getaddrinfo = socket.create_connection = socket.socket.connect = asked

import ir_datasets
import permed_measures as pm

def said(record):
    try:
        found = pm.verify(record)
    except pm.InputError as error:
        return str(error)
    found.report().to("json")
    return found.ok

def write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress("".join(json.dumps(each) + "\\n" for each in rows).encode()))

record, home = sys.argv[1], Path(ir_datasets.util.home_path(), "clirmatrix")
print(said(record))
files = {name: {"url": "https://example.org", "cache_path": f"{name}.gz"} for name in ("docs", "qrels")}
docs, qrels = {"docs/af": files["docs"]}, {"queries/en_af/dev": files["qrels"]}
there = {"clirmatrix_docs": docs, "clirmatrix_bi139_base": qrels}
write(home / "clirmatrix_downloads.json.gz", [there])
print(said(record))
write(home / "qrels.gz", [{"src_id": "q", "src_query": "?", "tgt_results": [["a", 6], ["b", 0]]}])
print(said(record))
content = json.loads(Path(record).read_text())
for unknown in ("clirmatrix/af/no/en/dev", "clirmatrix", "no-such"):
    content["qrels"]["dataset"] = unknown
    print(said(content).partition(". ")[0])
"""


@pytest.mark.thorough
def test_a_list_of_data_sets_that_is_not_on_this_machine_is_not_asked_for(folder):
    (folder / "run").write_text("q Q0 b 1 2.0 t\nq Q0 a 2 1.0 t\n")
    content = record({"q": {"a": 6, "b": 0}}, "run", "RR")
    content["qrels"]["dataset"] = CLIRMATRIX
    resealed(content).write("foreign.json")
    environment = {**os.environ, "IR_DATASETS_HOME": str(folder / "home")}
    missing = (
        f"the data set {CLIRMATRIX!r} is not on this machine, and nothing that a record names is downloaded "
        "unasked. Allow it: --download, in Python download=True; or name the qrels: --qrels QRELS"
    )
    assert run_python(WITHOUT_NETWORK, "foreign.json", env=environment).splitlines() == [
        *[missing] * 2,
        "True",
        "'clirmatrix/af/no/en/dev' is not the id of a data set of ir_datasets",
        "the data set 'clirmatrix' of ir_datasets has no qrels",
        "'no-such' is not the id of a data set of ir_datasets",
    ]


@pytest.mark.thorough
def test_a_home_that_cannot_be_written_is_said_of_a_record_too(folder):
    record("permed-sample", "bm25.jsonl", "RR").write("eval.json")
    environment = {**os.environ, "IR_DATASETS_HOME": str(folder / "eval.json" / "home")}
    command = [sys.executable, "-m", "permed_measures", "verify", "eval.json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ir_datasets cannot write into its folder (")


def test_ir_datasets_loads_no_other_data_set_by_a_list_that_it_downloads():
    families = {pattern.pattern[1:].partition("/")[0] for pattern, _ in ir_datasets.registry._patterns}
    assert families == {"clirmatrix"}
    assert "downloads" in DownloadConfig.contents()["clirmatrix"]


def test_a_record_may_be_the_dict_of_its_json(made):
    assert pm.verify(json.loads(made.to_json())).ok
    edited = json.loads(made.to_json())
    edited["created"], edited["versions"]["python"] = None, "2.7"
    assert texts(pm.verify(edited)) == [EDITED]
    for wrong, message in (
        (["x"], "found list"),
        (3, "found int"),
        ({}, "this is not a permed-measures record"),
    ):
        with pytest.raises(pm.InputError, match=message):
            pm.verify(wrong)


@pytest.mark.usefixtures("folder")
def test_a_measure_with_another_name_is_named():
    made = record("qrels.jsonl", "bm25.jsonl", {"AP@10": "P@1", "RR": "RR"})
    assert repr(made) == "<Record of bm25 on 48 queries: AP@10 (P@1), RR>"
    made.write("eval.json")
    status, out, _ = run_main("verify", "eval.json")
    assert (status, out.splitlines()[2:]) == (0, ["  AP@10 is P@1"])
    provenance = json.loads(run_main("verify", "eval.json", "--format", "json")[1])["provenance"]
    assert [(each["measure"], each.get("heading")) for each in provenance["measures"]] == [
        ("P@1", "AP@10"),
        ("RR", None),
    ]
    record("qrels.jsonl", "bm25.jsonl", ["P@1"]).write("eval.json")
    assert len(run_main("verify", "eval.json")[1].splitlines()) == 2


@pytest.mark.usefixtures("folder")
def test_a_verified_record_has_a_line_in_each_format_and_goes_to_a_file(made):
    made.write("eval.json")
    again = "reproduced: 192 values computed again, none differs"
    assert run_main("verify", "eval.json", "--format", "csv")[1] == (
        f'part,text,largest\nrecord,"{again}",0.0\n'
    )
    assert run_main("verify", "eval.json", "--output", "verified.html")[:2] == (0, "")
    assert again in (Path("verified.html")).read_text()
    for name in ("eval.json", "qrels.jsonl", "lsa.jsonl"):
        before = Path(name).read_bytes()
        status, _, err = run_main("verify", "eval.json", "--output", name)
        assert (status, "would overwrite" in err, Path(name).read_bytes()) == (2, True, before)


def test_it_says_what_differs(made, folder):
    """Each change is named with its size: a mean, a value, the labels, a file."""
    edited = copy.deepcopy(made)
    values = edited["runs"]["lsa"]["values"]["nDCG@10"]
    values[3], values[5] = values[3] + 0.25, values[5] - 0.125
    edited["runs"]["bm25"]["means"]["GradedAP@10"] = 0.5
    true = made["runs"]["bm25"]["means"]["GradedAP@10"]
    expected = [
        EDITED,
        f"bm25, GradedAP@10: mean recorded 0.5, computed {true!r}",
        "lsa, nDCG@10: 2 of 48 queries differ, most 'sample_01_4': "
        f"recorded {values[3]!r}, computed {values[3] - 0.25!r}",
    ]
    assert texts(pm.verify(edited)) == expected
    edited["qrels"]["judgments"] = "0" * 64
    edited["runs"]["lsa"]["sha256"] = "0" * 64
    resealed(edited).write("edited.json")
    status, out, _ = run_main("verify", "edited.json")
    assert (status, out.splitlines()[:2]) == (1, ["edited.json", "  not reproduced"])
    status, out, _ = run_main("verify", "edited.json", "--format", "json")
    content = json.loads(out)
    expected[0] = "qrels: the labels differ from those of the record"
    expected.insert(2, "run lsa: the file differs from the recorded one")
    assert (content["differences"], content["reproduced"]) == (expected, False)
    assert (content["largest_difference"], content["values"]) == (0.25, 192)
    assert content["provenance"]["inputs"][0]["role"] == "qrels"
    lines = run_main("verify", "edited.json", "--format", "csv")[1].splitlines()
    assert (lines[0], len(lines)) == ("part,text,largest", 5)
    (folder / "bm25.jsonl").write_text("nothing\n")
    status, _, err = run_main("verify", "edited.json")
    assert (status, err.startswith("error: bm25.jsonl:1: unknown format")) == (2, True)


def test_other_queries_are_named(made, folder):
    lines = (folder / "qrels.jsonl").read_text().replace('"sample_01"', '"sample_99"')
    (folder / "qrels.jsonl").write_text(lines)
    found = texts(pm.verify(made))
    assert found[1] == (
        "queries: missing ['sample_01_1', 'sample_01_2', 'sample_01_3', 'sample_01_4'], "
        "new ['sample_99_1', 'sample_99_2', 'sample_99_3', 'sample_99_4']"
    )
    assert not any("queries differ" in each for each in found)


def test_numbers_of_another_version_may_differ_in_the_last_digits(made):
    other = copy.deepcopy(made)
    other["runs"]["bm25"]["means"]["nDCG@10"] += 1e-12
    other["runs"]["bm25"]["values"]["nDCG@10"][0] += 1e-12
    assert len(texts(pm.verify(resealed(other)))) == 2
    other["versions"]["permed-measures"] = "0.0.9"
    found = pm.verify(resealed(other))
    assert found.ok
    assert found.notes[0].startswith("made by version 0.0.9, this is")
    other["runs"]["bm25"]["means"]["nDCG@10"] += 1e-6
    assert [each.part for each in pm.verify(resealed(other)).differences] == ["bm25, nDCG@10"]


# --- records that somebody else wrote --------------------------------------------------------------------


def places(content, place=()):
    """Yield the path of each value in JSON content, including lists and objects."""
    if place:
        yield place
    if isinstance(content, (dict, list)):
        for key, value in content.items() if isinstance(content, dict) else enumerate(content):
            yield from places(value, (*place, key))


def mutants(content):
    """Yield each record that differs in one value, with the path of that value."""
    for place, value in itertools.product(places(content), VALUES):
        mutant = copy.deepcopy(content)
        parent = functools.reduce(operator.getitem, place[:-1], mutant)
        if value == "delete":
            del parent[place[-1]]
        elif value != "add":
            parent[place[-1]] = value
        elif isinstance(parent, dict):
            parent["added"] = 1
        else:
            parent.append(1)
        if json.dumps(mutant) != json.dumps(content):
            yield place, mutant


def test_every_mutant_is_refused_or_found_or_of_no_number(folder):
    lines = (folder / "qrels.jsonl").read_text().splitlines(keepends=True)
    (folder / "qrels.jsonl").write_text("".join(each for each in lines if '"sample_01' in each))
    content = record("qrels.jsonl", "bm25.jsonl", {"mine": "nDCG@10"})
    outcomes = set()
    for place, mutant in list(mutants(content))[::STEP]:
        (folder / "mutant.json").write_text(json.dumps(resealed(mutant)))
        try:
            found = pm.verify(folder / "mutant.json")
        except pm.PermedError:
            outcomes.add("refused")
            continue
        outcomes.add("same" if found.ok else "found")
        assert not found.ok or place[0] in ("created", "versions", "options", "qrels") or "sha256" in place
    assert outcomes == {"refused", "found", "same"}


def test_a_run_that_had_no_file_has_to_be_given(folder):
    run = pm.read_run(folder / "bm25.jsonl")
    made = pm.record("qrels.jsonl", {"bm25": run}, "RR")
    with pytest.raises(pm.InputError, match="the record names no file for the run 'bm25'"):
        pm.verify(made)
    assert pm.verify(made, run={"bm25": run}).ok
    assert not pm.verify(made, run={}).ok


def test_a_packaged_run_is_found_by_the_record_that_names_it():
    made = pm.record("permed-sample", {"mine": "permed-sample/runs/lsa"}, "RR")
    assert made["runs"]["mine"]["sha256"] is not None
    assert pm.verify(made).ok


def test_nothing_outside_the_folder_is_read(folder, tmp_path_factory):
    content = record("qrels.jsonl", "bm25.jsonl", "RR")
    secret = tmp_path_factory.mktemp("elsewhere") / "secret.txt"
    secret.write_text("the first line\n")
    os.mkfifo(folder / "pipe")
    (folder / "link.trec").symlink_to(secret)
    (folder / "data").mkdir()
    os.mkfifo(folder / "data" / "qrels.jsonl")
    inside = os.path.relpath(secret, folder)
    names = [str(secret), inside, "pipe", "link.trec", "/dev/zero", "-", "", "data", "\0", "x" * 5000]
    for role in ("qrels", "bm25"):
        for name in names:
            edited = copy.deepcopy(content)
            (edited["qrels"] if role == "qrels" else edited["runs"][role])["path"] = name
            resealed(edited).write("edited.json")
            status, out, err = run_main("verify", "edited.json")
            assert (status, out) == (2, ""), name
            assert "edited.json: " in err
            assert "the first line" not in err
    content["qrels"] |= {"path": None, "dataset": str(secret)}
    resealed(content).write("edited.json")
    status, out, err = run_main("verify", "edited.json")
    assert (status, out, "the first line" in err) == (2, "", False)
