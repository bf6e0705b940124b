"""Measures on the command line: names of one's own, --rel, and what is noted of a choice."""

import csv
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
README = Path(__file__).parents[2] / "README.md"


def evaluated(line, command="evaluate"):
    """Return the metrics of a run by any labels, and the notes."""
    stdout, stderr = run_cli(command, *line.split(), "--format", "json")
    content = json.loads(stdout)
    return content[0]["metrics"] if command == "evaluate" else {}, stderr.splitlines()


def values_of(measures, qrels="qrels", **options):
    found = pm.calc_aggregate(measures, pm.read_qrels(qrels), pm.read_run("run.trec"), **options)
    return list(found.values())


AMBIGUOUS = (
    "note: {} is taken as {}, trec_eval's, where any grade from 1 is relevant; it may also mean {} or {}"
)
HALF = "note: the labels are binary, so GradedAP@10 is half of AP@10; use GradedAP(max_rel=1)@10"
FOURTH = (
    "note: the labels are binary, so GradedAP(max_rel=4,norm='min')@5 is 1/4 of "
    "GradedAP(max_rel=1,norm='min')@5; use GradedAP(max_rel=1,norm='min')@5"
)


NUM_RET = (
    "note: --rel does not change NumRet, which counts all documents retrieved; NumRet(rel=2) counts those of "
    "grade 2 or more"
)


@pytest.mark.parametrize(
    ("line", "notes"),
    [
        (
            "evaluate qrels run.trec -m MAP@10 -m recall@5",
            [AMBIGUOUS.format("MAP@10", "AP@10", "GradedAP@10", "AP(rel=2)@10")],
        ),
        (
            "reranking qrels run.trec other.trec -m map",
            [AMBIGUOUS.format("map", "AP", "GradedAP", "AP(rel=2)")],
        ),
        ("evaluate binary run.trec -m MAP@10 -m nDCG@10", []),
        ("evaluate qrels run.trec -m nDCG@10 -m medcorpus", []),
        ("evaluate binary run.trec -m medcorpus", [HALF]),
        ("crosscheck binary run.trec -m GradedAP@10", [HALF]),
        ("evaluate binary run.trec -m GradedAP(max_rel=4,norm=min)@5", [FOURTH]),
        ("evaluate binary run.trec -m GradedAP(max_rel=1)@10 -m GradedAP(norm=ideal)", []),
        (
            "evaluate binary run.trec -m nDCG@10 --rel 2",
            ["note: --rel changes nothing: nDCG@10 takes no rel"],
        ),
        (
            "evaluate binary run.trec -m nDCG@10 -m ERR@10 --rel 2",
            ["note: --rel changes nothing: nDCG@10, ERR@10 take no rel"],
        ),
        ("evaluate binary run.trec -m NumRet --rel 2", [NUM_RET]),
        ("compare qrels run.trec other.trec -m NumRet -m P@1 --rel 2", [NUM_RET]),
        (
            "evaluate binary run.trec -m NumRet -m NumQ --rel 2",
            ["note: --rel changes nothing: NumQ takes no rel", NUM_RET],
        ),
        ("evaluate qrels run.trec -m NumRet(rel=1) --rel 2", []),
        ("evaluate qrels run.trec -m NumRet", []),
    ],
)
def test_what_is_noted_of_a_measure(line, notes):
    command, rest = line.split(maxsplit=1)
    assert evaluated(rest, command)[1] == notes


def test_num_ret_with_a_level_counts_what_the_note_says():
    found, _ = evaluated("qrels run.trec -m NumRet -m NumRet(rel=2) -m NumRet(rel=1) --rel 2")
    assert found == {"NumRet": 4, "NumRet(rel=2)": 1, "NumRet(rel=1)": 3}


def test_graded_ap_on_binary_labels_is_what_the_note_says():
    half, whole, same = values_of(["GradedAP@10", "AP@10", "GradedAP(max_rel=1)@10"], "binary")
    assert 2 * half == whole == same


def test_a_name_of_the_users_own_heads_every_output():
    named = "qrels run.trec -m MAP@10=GradedAP(norm=min)@10 -m Hit=hit@1"
    [graded, hit] = values_of([pm.GradedAP(norm="min") @ 10, "Success@1"])
    stdout, stderr = run_cli("evaluate", *named.split())
    assert "\nrun            MAP@10     Hit" in stdout
    assert "MAP@10 is GradedAP(norm='min')@10.\n" in stdout
    assert stderr == ""
    assert evaluated(named)[0] == {"MAP@10": graded, "Hit": hit}
    assert list(evaluated("qrels run.trec -m medcorpus -m MAP@10=GradedAP@10")[0])[1:2] == ["MAP@10"]
    stdout, _ = run_cli("crosscheck", *named.split(), "--format", "json")
    assert [each["measure"] for each in json.loads(stdout)["runs"][0]["measures"]] == ["MAP@10", "Hit"]


def test_rel_is_for_measures_that_do_not_name_their_own():
    names = ["AP", "GradedAP(rel=1)", "nDCG@10"]
    found, notes = evaluated(f"qrels run.trec --rel 2 -m {' -m '.join(names)}")
    assert list(found) == ["AP(rel=2)", "GradedAP", "nDCG@10"]
    assert list(found.values()) == values_of(names, rel=2)
    assert len(notes) == 1  # of nDCG@10
    assert evaluated("qrels run.trec --rel 2 -m X=AP")[0] == {"X": values_of("AP(rel=2)")[0]}
    assert "GradedAP(rel=2)@10" in evaluated("qrels run.trec --rel 2")[0]


def test_the_command_line_of_ir_measures_does_what_the_readme_says():
    text = " ".join(README.read_text(encoding="utf-8").split())
    outputs = []
    for pattern in ("`python (-m ir_measures QRELS [^`]*)`", "`python (-c [^`]* QRELS [^`]*)`"):
        [command] = re.findall(pattern, text)
        arguments = shlex.split(command.replace("QRELS RUN", "qrels run.trec"))
        outputs.append(
            subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)
        )
    assert outputs[0].returncode != 0
    assert "unknown measure: GradedAP@10" in outputs[0].stderr
    [value] = values_of("GradedAP@10")
    assert outputs[1].stdout == f"GradedAP@10\t{value:.4f}\n"


@pytest.mark.parametrize(
    "line",
    [
        "qrels run.trec nDCG@10 AP@10",  # as ir_measures has it
        "qrels run.trec -m nDCG@10 AP@10",
        "qrels nDCG@10 run.trec AP@10",
        "qrels -m nDCG@10 run.trec -m AP@10",
    ],
)
def test_names_of_measures_may_stand_among_the_files(line):
    metrics, _ = evaluated(line)
    assert list(metrics) == ["nDCG@10", "AP@10"]
    shown, _ = run_cli("compare", *line.split(), "other.trec", "--format", "csv")
    assert {row["measure"] for row in csv.DictReader(shown.splitlines())} == {"nDCG@10", "AP@10"}


def test_a_file_named_like_a_measure_is_a_file():
    Path("P@1").write_text(Path("run.trec").read_text())
    stdout, stderr = run_cli("evaluate", "qrels", "P@1", "RR", "x=P@1", "first=AP@1", "--format", "json")
    assert [(each["run"], list(each["metrics"])) for each in json.loads(stdout)] == [
        ("P@1", ["RR", "first"]),
        ("x", ["RR", "first"]),
    ]
    assert "note: P@1 is taken as a file; -m P@1 is the measure" in stderr.splitlines()


def test_a_bad_measure_among_the_files_is_no_missing_file():
    with pytest.raises(pm.MeasureError, match="P: cutoff must be a whole number"):
        run_cli("evaluate", "qrels", "run.trec", "P@0")


def test_a_reranking_has_one_measure():
    shown, _ = run_cli("reranking", "qrels", "P@1", "run.trec", "other.trec")
    assert shown.startswith("P@1: ")
    for words, problem in (
        (["run.trec", "other.trec", "P@1", "P@2"], "only one measure can be named"),
        (["run.trec", "other.trec", "-m", "RR", "P@1"], "only one measure can be named (found also P@1)"),
        (["run.trec", "P@1"], "the following arguments are required: AFTER"),
        (["run.trec", "other.trec", "third.trec"], "unrecognized arguments: third.trec"),
        (["run.trec", "other.trec", "P@1", "--typo"], "unrecognized arguments: P@1 --typo"),
    ):
        with pytest.raises(pm.InputError, match=re.escape(problem)):
            run_cli("reranking", "qrels", *words)
