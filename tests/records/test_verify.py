"""Verification: whatever changes in a record, a run or the qrels is found, and said."""

import json
import random
import shutil

import pytest
from commands import run_main
from effort import effort
from recorded import at, changed, leaves, put, resealed

import permed_measures as pm
from permed_measures.records.record import read_record

N_CHANGES = effort(40, 150)

COMPUTED = ("measures", "conventions", "runs", "query_ids")
"""Fields that are computed again: a change is found in them even if the hash is put right."""


@pytest.mark.parametrize("seed", range(N_CHANGES))
def test_a_changed_record_is_found(seed, made):
    rng = random.Random(seed)
    places = [place for place in leaves(made) if place[0] not in ("created", "sha256")]
    place = rng.choice(places)
    edited = put(made, place, changed(at(made, place), rng))
    assert edited["sha256"] != edited.seal
    if place[0] not in COMPUTED:
        return
    try:
        findings = pm.verify(resealed(edited)).findings
    except pm.PermedError:  # a run by another name, or no measure any more
        return
    assert [each.what for each in findings if each.what != "record"]


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
    assert found.findings[0].what == "file"
    assert name.partition(".")[0] in found.findings[0].text


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
    with pytest.raises(pm.InputError, match="cannot find the run 'bm25' of this record"):
        pm.verify("eval.json", folder / "qrels.jsonl")
    runs = {"bm25": folder / "bm25.jsonl", "lsa": "lsa.jsonl"}
    assert pm.verify("eval.json", folder / "qrels.jsonl", runs).ok
    assert pm.verify("eval.json", pm.read_qrels(folder / "qrels.jsonl"), runs).findings[0].what == "file"
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


def test_it_says_what_differs(made):
    values = made["runs"][1]["values"]["nDCG@10"]
    edited = put(made, ("runs", 1, "values", "nDCG@10", 3), values[3] + 0.25)
    edited["runs"][0]["metrics"]["GradedAP@10"] = 0.5
    edited["measures"][0]["parameters"]["cutoff"] = 20
    findings = {each.what: each.text for each in pm.verify(edited).findings}
    true = made["runs"][0]["metrics"]["GradedAP@10"]
    assert findings == {
        "record": "it was edited after it was written: its SHA-256 is not that of its content",
        "convention": "nDCG@10 parameters cutoff: recorded 20, computed 10",
        "number": f"GradedAP@10 of bm25: recorded 0.5, computed {true!r}",
        "query": f"nDCG@10 of lsa: 1 of 48 queries differ (first {made['query_ids'][3]!r}: "
        f"recorded {values[3] + 0.25!s}, computed {values[3]!s})",
    }


def test_numbers_of_another_version_may_differ_in_the_last_digits(made):
    [ours] = [each for each in leaves(made["platform"]) if "permed-measures" in at(made["platform"], each)]
    other = put(made, ("platform", *ours), "permed-measures==0.0.9")
    other["runs"][0]["metrics"]["nDCG@10"] += 1e-12
    other["conventions"] = ["They were worded otherwise."]
    found = pm.verify(resealed(other))
    assert found.ok
    assert found.notes[0].startswith("made by permed-measures 0.0.9, and this is")
    other["runs"][0]["metrics"]["nDCG@10"] += 1e-6
    assert [each.what for each in pm.verify(resealed(other)).findings] == ["number"]


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
    assert found.findings[0].text.startswith("P@1, lsa against bm25, tests randomization p: recorded 0.001, ")
    assert not pm.verify(resealed(put(made, ("options", "comparison", "seed"), 4))).ok
    unknown = resealed(put(made, ("options", "comparison", "colour"), "red"))
    assert "options of a comparison that are not known here: colour" in str(pm.verify(unknown))


def test_a_folder_gives_a_table(made, folder):
    made.write("b.json")
    (folder / "a.json").write_text((folder / "b.json").read_text().replace('"bytes": ', '"bytes": 1'))
    shutil.copy("b.json", "c.json")
    gone = read_record("c.json")
    gone["inputs"][1]["path"] = "gone.jsonl"
    resealed(gone).write("c.json")
    status, out, _ = run_main("verify", ".")
    lines = [line.split() for line in out.splitlines()[2:]]
    assert (status, [line[:2] for line in lines]) == (
        1,
        [["a.json", "no"], ["b.json", "yes"], ["c.json", "no"]],
    )
    assert "cannot find the run 'bm25'" in out
    assert "edited after it was written" in out
    status, out, _ = run_main("verify", "a.json", "b.json", "--format", "json")
    assert (status, [each["reproduced"] for each in json.loads(out)]) == (1, [False, True])
    (folder / "empty").mkdir()
    assert "there is no record in this folder" in run_main("verify", "empty")[2]


def test_a_run_that_is_no_run_any_more(made, folder):
    made.write("eval.json")
    (folder / "bm25.jsonl").write_text("nothing\n")
    status, out, _ = run_main("verify", "eval.json")
    assert status == 1
    assert "file: run bm25 has changed" in out
    assert "number: cannot be computed: bm25.jsonl" in " ".join(out.split())


def test_of_many_differences_the_first_are_printed(made):
    edited = json.loads(json.dumps(made))
    for measure in edited["measures"]:
        measure["parameters"] |= {f"p{number}": 1 for number in range(20)}
    found = pm.verify(resealed(edited))
    assert len(found.findings) == 40
    lines = str(found).splitlines()
    assert (len(lines), lines[-1]) == (14, "  and 28 more differences: --format json has all")
    assert len(found.content()["findings"]) == 40
