"""Measures on the command line: what people write, names of their own, and --rel."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from commands import run_cli, run_main

import permed_measures as pm

GRADED = "q1 0 a 2\nq1 0 b 1\nq1 0 c 0\nq2 0 d 1\n"
BINARY = "q1 0 a 1\nq1 0 b 0\nq2 0 d 1\n"
RUN = "q1 Q0 b 0 3 t\nq1 Q0 x 0 2 t\nq1 Q0 a 0 1 t\nq2 Q0 d 0 1 t\n"


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    for name, text in (("graded", GRADED), ("binary", BINARY), ("run.trec", RUN)):
        (tmp_path / name).write_text(text)
    (tmp_path / "other.trec").write_text(RUN.replace("a 0 1", "a 0 4"))
    monkeypatch.chdir(tmp_path)


def metrics(*arguments):
    stdout, stderr = run_cli("evaluate", *arguments, "--format", "json")
    return json.loads(stdout)[0]["metrics"], stderr.splitlines()


def values_of(measures, qrels, **options):
    qrels = pm.read_qrels(qrels)
    return list(pm.calc_aggregate(measures, qrels, pm.read_run("run.trec"), **options).values())


def test_what_people_write_is_understood():
    names = ["map", "ndcg_cut.10", "mrr@10", "hit@1", "precision@10", "GradedAP(norm=min)@10"]
    found, _ = metrics("graded", "run.trec", *(each for name in names for each in ("-m", name)))
    assert list(found) == ["AP", "nDCG@10", "RR@10", "Success@1", "P@10", "GradedAP(norm='min')@10"]
    assert list(found.values()) == values_of(list(found), "graded")


def test_an_ambiguous_name_is_noted_on_graded_labels_only():
    _, notes = metrics("graded", "run.trec", "-m", "MAP@10", "-m", "recall@5")
    assert notes == [
        "note: MAP@10 is taken as AP@10, trec_eval's, where any grade from 1 is relevant; it may also mean "
        "GradedAP@10 or AP(rel=2)@10"
    ]
    assert metrics("binary", "run.trec", "-m", "MAP@10", "-m", "nDCG@10")[1] == []
    assert metrics("graded", "run.trec", "-m", "nDCG@10", "-m", "medcorpus")[1] == []
    _, stderr = run_cli("reranking", "graded", "run.trec", "other.trec", "-m", "map")
    assert "note: map is taken as AP, trec_eval's, " in stderr


def test_a_name_of_the_users_own_heads_every_output():
    named = ("-m", "MAP@10=GradedAP(norm=min)@10", "-m", "Hit = hit@1")
    [graded, hit] = values_of([pm.GradedAP(norm="min") @ 10, "Success@1"], "graded")
    stdout, stderr = run_cli("evaluate", "graded", "run.trec", *named)
    assert "\nrun            MAP@10     Hit" in stdout
    assert "MAP@10 is GradedAP(norm='min')@10.\n" in stdout
    assert stderr == ""
    stdout, _ = run_cli("evaluate", "graded", "run.trec", *named, "--format", "tsv")
    assert stdout.split("\t")[:3] == ["run", "MAP@10", "Hit"]
    assert metrics("graded", "run.trec", *named)[0] == {"MAP@10": graded, "Hit": hit}
    stdout, _ = run_cli("evaluate", "graded", "run.trec", "-m", "medcorpus", "-m", "MAP@10=GradedAP@10")
    assert ["run", "nDCG-exp@10", "MAP@10", "P@1", "Coverage@10"] in [
        line.split()[:5] for line in stdout.splitlines()
    ]
    stdout, _ = run_cli("crosscheck", "graded", "run.trec", *named, "--format", "json")
    assert [each["measure"] for each in json.loads(stdout)["runs"][0]["measures"]] == ["MAP@10", "Hit"]


@pytest.mark.parametrize(
    ("measures", "message"),
    [
        (
            ["X=AP", "X=P@1"],
            "error: two measures are named 'X': AP and P@1. Give one of them another name: NAME=MEASURE\n",
        ),
        (["map="], "error: a measure is MEASURE or NAME=MEASURE (found 'map=')\n"),
        (["map@10,ndcg@10"], "(found 'map@10,ndcg@10'). Name one at a time: -m P@5 -m P@10, or "),
    ],
)
def test_a_bad_measure_is_one_line(measures, message):
    options = [each for measure in measures for each in ("-m", measure)]
    status, stdout, stderr = run_main("evaluate", "graded", "run.trec", *options)
    assert (status, stdout, stderr.count("\n")) == (2, "", 1)
    assert message in stderr


README = Path(__file__).parents[2] / "README.md"


def test_the_command_line_of_ir_measures_does_what_the_readme_says():
    text = " ".join(README.read_text(encoding="utf-8").split())
    [fails] = re.findall("`(python -m ir_measures QRELS [^`]*)`", text)
    [works] = re.findall("`(python -c [^`]* QRELS [^`]*)`", text)
    outputs = []
    for command in (fails, works):
        program, *arguments = shlex.split(command.replace("QRELS RUN", "graded run.trec"))
        assert program == "python"
        outputs.append(
            subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)
        )
    assert outputs[0].returncode != 0
    assert "unknown measure: GradedAP@10" in outputs[0].stderr
    [value] = values_of("GradedAP@10", "graded")
    assert outputs[1].stdout == f"GradedAP@10\t{value:.4f}\n"


# --- rel -------------------------------------------------------------------------------------------


def test_rel_is_for_measures_that_do_not_name_their_own():
    names = ["AP", "GradedAP(rel=1)", "nDCG@10"]
    found, notes = metrics("graded", "run.trec", "--rel", 2, *(e for n in names for e in ("-m", n)))
    assert list(found) == ["AP(rel=2)", "GradedAP", "nDCG@10"]
    assert list(found.values()) == values_of(names, "graded", rel=2)
    assert len(notes) == 1  # of nDCG@10
    found, _ = metrics("graded", "run.trec", "--rel", 2, "-m", "X=AP")
    assert found == {"X": values_of("AP(rel=2)", "graded")[0]}
    found, _ = metrics("graded", "run.trec", "--rel", 2)
    assert "GradedAP(rel=2)@10" in found


def test_a_rel_that_changes_nothing_is_noted():
    _, stderr = run_cli("evaluate", "binary", "run.trec", "-m", "nDCG@10", "--rel", 2)
    assert stderr == "note: --rel changes nothing: nDCG@10 takes no rel\n"


# --- binary labels ---------------------------------------------------------------------------------


HALF = "the labels are binary, so GradedAP@10 is half of AP@10; use GradedAP(max_rel=1)@10"


def test_graded_ap_on_binary_labels_is_noted():
    assert metrics("binary", "run.trec", "-m", "GradedAP@10")[1] == [f"note: {HALF}"]
    _, stderr = run_cli("evaluate", "binary", "run.trec", "-m", "medcorpus")
    assert f"note: {HALF}\n" in stderr
    assert run_cli("crosscheck", "binary", "run.trec", "-m", "GradedAP@10")[1] == f"note: {HALF}\n"
    half, whole, same = values_of(["GradedAP@10", "AP@10", "GradedAP(max_rel=1)@10"], "binary")
    assert 2 * half == whole == same
    _, notes = metrics("binary", "run.trec", "-m", "GradedAP(max_rel=4,norm=min)@5")
    assert notes == [
        "note: the labels are binary, so GradedAP(max_rel=4,norm='min')@5 is 1/4 of "
        "GradedAP(max_rel=1,norm='min')@5; use GradedAP(max_rel=1,norm='min')@5"
    ]
    assert (
        metrics("binary", "run.trec", "-m", "GradedAP(max_rel=1)@10", "-m", "GradedAP(norm=ideal)")[1] == []
    )
