"""Verification: whatever changes in a record, a run or the qrels is found, and said."""

import json
import random
import shutil

import pytest
from commands import run_main
from effort import effort
from recorded import at, put, resealed

import permed_measures as pm


@pytest.mark.parametrize("name", ["qrels.jsonl", "bm25.jsonl"])
@pytest.mark.parametrize("seed", range(effort(10, 125)))
def test_a_changed_file_is_found(name, seed, made, folder):
    rng = random.Random(seed)
    text = (folder / name).read_text()
    digits = [place for place, character in enumerate(text) if character.isdigit()]
    place = rng.choice(digits)
    digit = rng.choice([each for each in "0123456789" if each != text[place]])
    (folder / name).write_text(text[:place] + digit + text[place + 1 :])
    found = pm.verify(made)
    keys = [each.key for each in found.differences]
    assert any(each.startswith("inputs.") and name.partition(".")[0] in each for each in keys)


def test_an_untouched_record_is_reproduced_wherever_its_files_are(
    made, folder, tmp_path_factory, monkeypatch
):
    made.write("eval.json")
    assert pm.verify("eval.json").ok
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.chdir(elsewhere)
    assert pm.verify(folder / "eval.json").ok  # the files stand beside it
    for name in ("eval.json", "lsa.jsonl"):
        shutil.move(folder / name, elsewhere / name)
    with pytest.raises(
        pm.InputError, match=r"eval.json: there is no file 'bm25.jsonl' for the run 'bm25' in"
    ):
        pm.verify("eval.json", folder / "qrels.jsonl")
    runs = {"bm25": folder / "bm25.jsonl", "lsa": "lsa.jsonl"}
    assert pm.verify("eval.json", folder / "qrels.jsonl", runs).ok
    found = pm.verify("eval.json", pm.read_qrels(folder / "qrels.jsonl"), runs)
    assert found.ok
    assert "inputs.qrels" in found.not_checked
    options = [
        "--qrels",
        folder / "qrels.jsonl",
        "--run",
        f"bm25={folder / 'bm25.jsonl'}",
        "--run",
        "lsa.jsonl",
    ]
    assert run_main("verify", "eval.json", *options)[0] == 0
    status, _, err = run_main("verify", "eval.json", "--qrels", folder / "qrels.jsonl", "--run", "lsa.jsonl")
    assert (status, "the record has the runs 'bm25', 'lsa'" in err) == (2, True)


def test_files_are_in_the_folder_that_is_named(made, folder, tmp_path_factory, monkeypatch):
    (folder / "records").mkdir()
    made.write("records/eval.json")
    status, _, err = run_main("verify", "records")
    assert (status, err) == (2, "")
    status, _, err = run_main("verify", "records/eval.json")
    assert (status, "the folder where the paths begin: --folder FOLDER" in err) == (2, True)
    assert run_main("verify", "records", "--folder", ".")[0] == 0
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert pm.verify(folder / "records" / "eval.json", folder=folder).ok


def test_it_says_what_differs(made):
    values = made["runs"][1]["values"]["nDCG@10"]
    edited = put(made, ("runs", 1, "values", "nDCG@10", 3), values[3] + 0.25)
    edited["runs"][0]["metrics"]["GradedAP@10"] = 0.5
    edited["measures"][0]["parameters"]["cutoff"] = 20
    edited["qrels"]["judgments"] = "0" * 64
    true = made["runs"][0]["metrics"]["GradedAP@10"]
    assert list(map(str, pm.verify(edited).differences)) == [
        "sha256: it was edited after it was written, this is not the hash of its content",
        "qrels.judgments: it was made with other labels",
        "measures.nDCG@10.parameters.cutoff: recorded 20, computed 10",
        f"runs.bm25.metrics.GradedAP@10: recorded 0.5, computed {true!r}",
        f"runs.lsa.values.nDCG@10.sample_01_4: recorded {values[3] + 0.25!r}, computed {values[3]!r}",
    ]


def test_other_queries_are_named(made, folder):
    lines = (folder / "qrels.jsonl").read_text().splitlines(keepends=True)
    (folder / "qrels.jsonl").write_text("".join(lines).replace("sample_01", "sample_99"))
    texts = list(map(str, pm.verify(made).differences))
    assert texts[0] == (
        "query_ids: it was made with other queries, ['sample_01_1', 'sample_01_2', 'sample_01_3', "
        "'sample_01_4'] are gone, ['sample_99_1', 'sample_99_2', 'sample_99_3', 'sample_99_4'] are new"
    )
    assert not any(".values." in each for each in texts)


def test_numbers_of_another_version_may_differ_in_the_last_digits(made):
    other = put(made, ("versions", "permed-measures"), "0.0.9")
    other["runs"][0]["metrics"]["nDCG@10"] += 1e-12
    other["conventions"] = ["They were worded otherwise."]
    other["measures"][1]["description"] = "So was this."
    found = pm.verify(resealed(other))
    assert found.ok
    assert found.notes[0].startswith("made by version 0.0.9, this is")
    assert {"conventions", "measures.GradedAP@10.description"} <= set(found.not_checked)
    other["runs"][0]["metrics"]["nDCG@10"] += 1e-6
    assert [each.key for each in pm.verify(resealed(other)).differences] == ["runs.bm25.metrics.nDCG@10"]
    same = pm.verify(resealed(put(made, ("conventions", 0), "It was worded otherwise.")))
    assert [each.key for each in same.differences] == ["conventions.0"]


@pytest.mark.usefixtures("folder")
def test_a_comparison_is_tested_again():
    runs = {"bm25": "bm25.jsonl", "lsa": "lsa.jsonl"}
    how = {"baseline": "bm25", "resamples": 99, "seed": 3, "tests": ["randomization"]}
    made = pm.record("qrels.jsonl", runs, "P@1", comparison=how)
    assert pm.verify(made).ok
    [row] = made["comparison"]["rows"]
    place = ("comparison", "rows", 0, "tests", "randomization", "p")
    assert row["tests"]["randomization"]["p"] == at(made, place)
    found = pm.verify(resealed(put(made, place, 0.001)))
    key = "comparison.rows.lsa bm25 P@1.tests.randomization.p"
    assert (found.differences[0].key, found.differences[0].recorded) == (key, 0.001)
    assert not pm.verify(resealed(put(made, ("options", "comparison", "seed"), 4))).ok


def test_a_run_that_is_no_run_any_more(made, folder):
    made.write("eval.json")
    (folder / "bm25.jsonl").write_text("nothing\n")
    status, out, _ = run_main("verify", "eval.json")
    out = " ".join(out.split())
    assert status == 1
    assert "inputs.run bm25.sha256: recorded" in out
    assert "not computed again: bm25.jsonl" in out
    [found] = json.loads(run_main("verify", "eval.json", "--format", "json")[1])
    assert (found["reproduced"], found["values"]) == (False, 0)


def test_of_many_differences_the_first_are_printed(made):
    edited = json.loads(json.dumps(made))
    for measure in edited["measures"]:
        measure["parameters"] |= {f"p{number}": 1 for number in range(20)}
    found = pm.verify(resealed(edited))
    assert len(found.differences) == 40
    lines = str(found).splitlines()
    assert (len(lines), lines[-2]) == (16, "  and 28 more differences: --format json has all")
    assert len(found.content()["differences"]) == 40
    assert found.content()["differences"][0] == {"key": "measures.nDCG@10.parameters.p0", "recorded": 1}
