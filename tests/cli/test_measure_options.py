"""Measures on the command line: users' names, --rel, and notes on a choice."""

import csv
import json
import re
import shlex
from pathlib import Path

import pytest
import pytrec_eval
from commands import run_cli

import permed_measures as pm

pytestmark = pytest.mark.usefixtures("files")


def evaluated(line, command="evaluate"):
    """Evaluate a run by any labels; return its metrics and the notes."""
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
    "note: --rel does not change NumRet, which counts all documents retrieved; NumRet(rel=2) counts "
    "documents with grade 2 or more"
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


@pytest.mark.parametrize(
    "path",
    [
        *("user@host/nope.trec", "bm25@100.trec", "a@b/nope", "bm25@100.trec.gz", "RR@10.jsonl", "x@y.qrels"),
        *("../AP@10x/run", "P@0.csv"),
    ],
)
@pytest.mark.parametrize("name", ["", "mine="])
def test_what_is_written_as_a_path_is_a_file(path, name):
    with pytest.raises(pm.InputError, match=f"^{re.escape(path)}: No such file or directory"):
        run_cli("evaluate", "qrels", f"{name}{path}", "-m", "P@1")


def test_a_file_with_an_at_in_its_name_is_read():
    Path("bm25@100.trec").write_text(Path("run.trec").read_text())
    Path("bm25@100").write_text(Path("run.trec").read_text())
    expected = evaluated("qrels run.trec -m P@1")[0]
    assert evaluated("qrels bm25@100.trec -m P@1")[0] == evaluated("qrels bm25@100 -m P@1")[0] == expected


@pytest.mark.parametrize("word", ["P@0", "nDCG@10.5", "x=P@0", "bm25@100", "nDCG(dcg=x)@1"])
def test_what_is_written_as_a_measure_is_no_path(word):
    with pytest.raises(pm.MeasureError):
        run_cli("evaluate", "qrels", "run.trec", word)


# --- trec_eval's and ir_measures' options --------------------------------------------------------------

SAID = {
    "-q": "-q is --by-query",
    "--by_query": "--by_query is --by-query",
    "-c": "-c is always so (leave it out)",
    "-n": "-n is always so with --by-query",
    "-M 2": "-M 2 is the cutoff of a measure, as -m AP@2",
    "-M2": "-M 2 is the cutoff of a measure, as -m AP@2",
    "-l 2": "-l 2 is --rel 2",
    "-l2": "-l 2 is --rel 2",
    "-J": "-J is judged_only=True of a measure, as -m 'AP(judged_only=True)'",
    "-m all_trec": "-m all_trec is each measure by its name, as -m AP -m nDCG -m P@10",
    "-mofficial": "-m official is each measure by its name, as -m AP -m nDCG -m P@10",
    "--measure all_trec": "-m all_trec is each measure by its name, as -m AP -m nDCG -m P@10",
    "-p 2": "-p 2 is --digits 2",
    "--places=2": "--places 2 is --digits 2",
    "--no_summary": "--no_summary is always so with --by-query",
    "--output_format jsonl": "--output_format jsonl is --format jsonl",
    "--provider ranx": "--provider is not needed: this command computes all measures itself (leave it out)",
}


OF_OTHERS = "unrecognized arguments, of trec_eval or ir_measures: "


@pytest.mark.parametrize("typed", SAID)
@pytest.mark.parametrize("place", [0, 2])
def test_options_of_other_tools_are_refused_by_what_they_are_here(typed, place):
    words = ["qrels", "run.trec"]
    with pytest.raises(pm.InputError, match=OF_OTHERS) as error:
        run_cli("evaluate", *words[:place], *shlex.split(typed), *words[place:])
    assert str(error.value).endswith(f". Here {SAID[typed]}")


def test_several_of_them_are_named_at_once():
    line = "-q -c -M1000 -l 2 -J -m all_trec qrels run.trec"
    with pytest.raises(pm.InputError) as error:
        run_cli("evaluate", *line.split())
    options = "-q, -c, -M 1000, -l 2, -J, -m all_trec"
    assert str(error.value).startswith(f"{OF_OTHERS}{options}. Here -q is --by-query; -c is always so")
    assert str(error.value).count("; ") == 5


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("convert -q run.trec out.json", "unrecognized arguments: -q. See"),  # has nothing of the kind
        ("evaluate qrels run.trec --verbose", "unrecognized arguments: --verbose. See"),
        ("evaluate qrels run.trec --alpha 0.05", "unrecognized arguments: --alpha 0.05. See"),  # no intervals
        ("compare qrels run.trec other.trec -q", "unrecognized arguments: -q. See"),
        ("evaluate qrels run.trec -- -c", "-c: No such file or directory"),
        ("evaluate qrels run.trec -m all_trecs", "there is no measure 'all_trecs'. "),
    ],
)
def test_where_a_command_has_nothing_of_the_kind_nothing_is_said(line, problem):
    with pytest.raises(pm.PermedError, match=f"^{re.escape(problem)}"):
        run_cli(*line.split())


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("compare qrels run.trec other.trec --test t-test", "--test t-test. Did you mean '--tests'?"),
        ("compare qrels run.trec other.trec --cluster (q)", "--cluster (q). Did you mean '--clusters'?"),
        ("evaluate qrels run.trec --out x.json", "--out x.json. Did you mean '--output'?"),
        ("evaluate qrels run.trec --query_ids permed", "--query_ids permed. Did you mean '--query-ids'?"),
        ("evaluate qrels run.trec --by-queries", "--by-queries. Did you mean '--by-query'?"),
        ("evaluate qrels run.trec -quiet", "-quiet. Did you mean '--quiet'?"),
        (
            "compare qrels run.trec other.trec --alpha 0.05",
            "--alpha 0.05. Here it is --level, which is 1 - alpha",
        ),
        ("evaluate qrels run.trec --metrics P@1", "--metrics P@1. Here it is -m, once for each measure"),
        ("evaluate qrels run.trec --json", "--json. Here it is --format json"),
    ],
)
def test_an_option_of_another_name_has_a_hint(line, message):
    with pytest.raises(pm.InputError) as error:
        run_cli(*line.split())
    assert str(error.value) == f"unrecognized arguments: {message}"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("gate qrels run.trec other.trec --min P@1=0", "only one RUN can be named (found also other.trec)"),
        ("reranking qrels run.trec other.trec c", "only one AFTER can be named (found also c)"),
    ],
)
def test_a_run_too_many_is_said_to_be_one(line, problem):
    with pytest.raises(pm.InputError) as error:
        run_cli(*line.split())
    assert error.value.problem == problem


def test_what_is_said_of_them_gives_trec_evals_numbers():
    """Follow each remedy; pytrec_eval has the same options."""
    qrels, run = pm.read_qrels("qrels"), pm.read_run("run.trec")
    plain, level, condensed = (
        pytrec_eval.RelevanceEvaluator(qrels, {"map", "map_cut_2"}, **given).evaluate(run)
        for given in ({}, {"relevance_level": 2}, {"judged_docs_only_flag": True})
    )
    for line, found, name in (
        ("-m AP@2", plain, "map_cut_2"),
        ("--rel 2 -m AP", level, "map"),
        ("-m AP(judged_only=True)", condensed, "map"),
    ):
        stdout, _ = run_cli("evaluate", "qrels", "run.trec", *line.split(), "--by-query", "--format", "csv")
        rows = [*csv.reader(stdout.splitlines())][1:]  # of the queries alone
        assert {query: float(value) for _, query, value, *_ in rows} == {"q3": 0.0} | {
            query: pytest.approx(values[name]) for query, values in found.items()
        }
    line = "evaluate qrels run.trec -m AP -m nDCG -m P@10 --digits 2"
    stdout, _ = run_cli(*line.split())
    assert re.search(r"^run +0\.\d\d +0\.\d\d +0\.\d\d", stdout, re.MULTILINE)


def test_a_reranking_has_one_measure():
    shown, _ = run_cli("reranking", "qrels", "P@1", "run.trec", "other.trec")
    assert shown.startswith("P@1: ")
    for words, problem in (
        (["run.trec", "other.trec", "P@1", "P@2"], "only one measure can be named"),
        (["run.trec", "other.trec", "-m", "RR", "P@1"], "only one measure can be named (found also P@1)"),
        (["run.trec", "P@1"], "the following arguments are required: AFTER"),
        (["run.trec", "other.trec", "third.trec"], "only one AFTER can be named (found also third.trec)"),
        (["run.trec", "other.trec", "P@1", "--typo"], "unrecognized arguments: P@1 --typo"),
    ):
        with pytest.raises(pm.InputError, match=re.escape(problem)):
            run_cli("reranking", "qrels", *words)
