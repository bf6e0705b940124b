"""Measures on the command line: what people write, names of their own, and --rel."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from commands import run_cli

import permed_measures as pm

pytestmark = pytest.mark.usefixtures("files")


def metrics(*arguments):
    stdout, stderr = run_cli("evaluate", *arguments, "--format", "json")
    return json.loads(stdout)[0]["metrics"], stderr.splitlines()


def values_of(measures, qrels, **options):
    qrels = pm.read_qrels(qrels)
    return list(pm.calc_aggregate(measures, qrels, pm.read_run("run.trec"), **options).values())


def test_an_ambiguous_name_is_noted_on_graded_labels_only():
    _, notes = metrics("qrels", "run.trec", "-m", "MAP@10", "-m", "recall@5")
    assert notes == [
        "note: MAP@10 is taken as AP@10, trec_eval's, where any grade from 1 is relevant; it may also mean "
        "GradedAP@10 or AP(rel=2)@10"
    ]
    assert metrics("binary", "run.trec", "-m", "MAP@10", "-m", "nDCG@10")[1] == []
    assert metrics("qrels", "run.trec", "-m", "nDCG@10", "-m", "medcorpus")[1] == []
    _, stderr = run_cli("reranking", "qrels", "run.trec", "other.trec", "-m", "map")
    assert "note: map is taken as AP, trec_eval's, " in stderr


def test_a_name_of_the_users_own_heads_every_output():
    named = ("-m", "MAP@10=GradedAP(norm=min)@10", "-m", "Hit = hit@1")
    [graded, hit] = values_of([pm.GradedAP(norm="min") @ 10, "Success@1"], "qrels")
    stdout, stderr = run_cli("evaluate", "qrels", "run.trec", *named)
    assert "\nrun            MAP@10     Hit" in stdout
    assert "MAP@10 is GradedAP(norm='min')@10.\n" in stdout
    assert stderr == ""
    stdout, _ = run_cli("evaluate", "qrels", "run.trec", *named, "--format", "tsv")
    assert stdout.split("\t")[:3] == ["run", "MAP@10", "Hit"]
    assert metrics("qrels", "run.trec", *named)[0] == {"MAP@10": graded, "Hit": hit}
    stdout, _ = run_cli("evaluate", "qrels", "run.trec", "-m", "medcorpus", "-m", "MAP@10=GradedAP@10")
    assert ["run", "nDCG-exp@10", "MAP@10", "P@1", "Coverage@10"] in [
        line.split()[:5] for line in stdout.splitlines()
    ]
    stdout, _ = run_cli("crosscheck", "qrels", "run.trec", *named, "--format", "json")
    assert [each["measure"] for each in json.loads(stdout)["runs"][0]["measures"]] == ["MAP@10", "Hit"]


README = Path(__file__).parents[2] / "README.md"


def test_the_command_line_of_ir_measures_does_what_the_readme_says():
    text = " ".join(README.read_text(encoding="utf-8").split())
    [fails] = re.findall("`(python -m ir_measures QRELS [^`]*)`", text)
    [works] = re.findall("`(python -c [^`]* QRELS [^`]*)`", text)
    outputs = []
    for command in (fails, works):
        program, *arguments = shlex.split(command.replace("QRELS RUN", "qrels run.trec"))
        assert program == "python"
        outputs.append(
            subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)
        )
    assert outputs[0].returncode != 0
    assert "unknown measure: GradedAP@10" in outputs[0].stderr
    [value] = values_of("GradedAP@10", "qrels")
    assert outputs[1].stdout == f"GradedAP@10\t{value:.4f}\n"


# --- rel -------------------------------------------------------------------------------------------


def test_rel_is_for_measures_that_do_not_name_their_own():
    names = ["AP", "GradedAP(rel=1)", "nDCG@10"]
    found, notes = metrics("qrels", "run.trec", "--rel", 2, *(e for n in names for e in ("-m", n)))
    assert list(found) == ["AP(rel=2)", "GradedAP", "nDCG@10"]
    assert list(found.values()) == values_of(names, "qrels", rel=2)
    assert len(notes) == 1  # of nDCG@10
    found, _ = metrics("qrels", "run.trec", "--rel", 2, "-m", "X=AP")
    assert found == {"X": values_of("AP(rel=2)", "qrels")[0]}
    found, _ = metrics("qrels", "run.trec", "--rel", 2)
    assert "GradedAP(rel=2)@10" in found
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
