"""The command `permed-measures audit`."""

import hashlib
import json

import pytest
from commands import run_cli, run_main

import permed_measures as pm
from permed_measures.results.report import FORMATS


@pytest.fixture
def files(tmp_path, monkeypatch):
    (tmp_path / "qrels").write_text("q1 0 a 2\nq1 0 b 1\nq1 0 c 0\nq2 0 d 1\nq3 0 e 0\n")
    (tmp_path / "one.trec").write_text("q1 Q0 b 1 3 t\nq1 Q0 x 2 2 t\nq1 Q0 a 3 1 t\n")
    (tmp_path / "two.trec").write_text("q1 Q0 a 1 3 t\nq2 Q0 d 1 3 t\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def audit_cli(*arguments, status=0):
    """Run the command in this process; return its stdout."""
    return run_cli("audit", *arguments, status=status)[0]


def refused(*arguments):
    """Run the command on bad input; return its message."""
    status, stdout, stderr = run_main("audit", *arguments)
    assert (status, stdout) == (2, "")
    return stderr


def test_claims_are_given_one_by_one(files):  # noqa: ARG001
    stdout = audit_cli("qrels", "one.trec", "--claim", "P@1=0.3333", "--claim", "RR = 0.3333")
    start = "May be chance: P@1; RR; averaged over all 3 queries of the qrels.\n"  # of three queries
    assert stdout.startswith(start)
    headings, _, row, *_ = stdout.split("\n\n")[3].splitlines()
    assert headings.split() == ["claim", "measure", "published", "expected"]
    assert row.split() == ["P@1", "P@1", "0.3333", "0.3333"]
    stdout = audit_cli("qrels", "one.trec", "--claim", "P@1=0.3334", "--claim", "MAP@3=0.208334", status=1)
    assert stdout.startswith("No convention explains any claim.\n")
    assert "\nNot explained\n  P@1: published 0.3334, expected 0.3333: P@1 by default\n" in stdout
    how = "weights of AP: its grade over 2 (not: 1 for each relevant document)"
    assert how in " ".join(stdout.partition("MAP@3: published 0.208334, expected ")[2].split())


@pytest.mark.parametrize("start", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_claims_are_given_in_a_file(files, start, end):
    text = f"{start}run,P@1,RR\n1,0.3333,0.3333\n\ntwo, 0.6667 ,\n"
    (files / "claims.csv").write_bytes(text.replace("\n", end).encode())
    stdout = audit_cli("qrels", "1=one.trec", "two.trec", "--claims", "claims.csv", "--format", "json")
    shown = [(each["run"], each["claim"], each["published"]) for each in json.loads(stdout)["claims"]]
    assert shown == [("1", "P@1", "0.3333"), ("1", "RR", "0.3333"), ("two", "P@1", "0.6667")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "claims.csv: there is no table whose header names the runs and then the measures"),
        ("run\none\n", "there is no table whose header names the runs and then the measures"),
        ("run,P@1\n", "there is no table whose header names the runs and then the measures"),
        (
            "run,P@1\nthree,0.123\nfour,\n",
            "no row is named like a run (runs: one and two; rows: three). Name the",
        ),
        ("run,P@1\none,\ntwo,-\n", "claims.csv: no row has a claim"),
        ("run,P@1\none,0.3333,0.5\n", "claims.csv:2: the row has 3 cells, but the header has 2"),
        ("run,P@1\none\n", "claims.csv:2: the row has 1 cell, but the header has 2"),
        ("run,P@1\none,0.5\ntwo,5000\n", "claims.csv:3, claim 'P@1': a value is at most 1, or 100 percent"),
        ("run,PP@1\none,0.5\ntwo,0.5\n", "claims.csv:1: no measure is known by the name 'PP@1'"),
        ("run,SDCG@1\none,0.5\ntwo,0.5\n", "claims.csv:1: permed-measures does not compute SDCG@1"),
        ('run,P@1\n"one,0.3333\ntwo,0.5\n', "claims.csv: cannot be read as CSV"),
        ("run,P@1\nönè,0.3333\n".encode("latin-1"), "claims.csv: cannot be read as text in UTF-8"),
    ],
)
def test_what_is_wrong_with_a_file_of_claims_is_said(files, text, message):
    (files / "claims.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    stderr = refused("qrels", "one.trec", "two.trec", "--claims", "claims.csv")
    assert stderr.startswith("error: ")
    assert message in stderr


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        ("run;P@1\none;0,3333\ntwo;0,6667\n", []),
        ("run\tP@1\none\t33.33%\ntwo\t0.6667\n", []),
        ("run,P@1\none,0.3333\nthree,0.51\n", ["1 row without a run left out: three", "1 run without a row"]),
        ("run,P@1,RR\none,0.3333,0.3333\ntwo,OOM,0.6667\n", ["cells left out, not values: OOM (two, P@1)"]),
        ("run,P@1,SDCG@1,kB\none,0.3333,0.5,1\ntwo,0.6667,,2\n", ["2 columns left out, not measures"]),
    ],
)
def test_what_is_no_claim_is_said_in_a_line_and_left_out(files, text, notes):
    (files / "claims.csv").write_text(text)
    arguments = ["qrels", "one.trec", "two.trec", "--claims", "claims.csv"]
    content = json.loads(audit_cli(*arguments, "--format", "json"))
    assert len(content["notes"]) == len(notes)
    assert all(said.startswith(note) for said, note in zip(content["notes"], notes, strict=True))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["one.trec"], "give the published numbers with either --claim or --claims"),
        (["one.trec", "--claim", "P@1=0.5", "--claims", "claims.csv"], "with either --claim or --claims"),
        (
            ["one.trec", "two.trec", "--claim", "P@1=0.5"],
            "--claim is for one run, but there are 2. Use --claims with a row",
        ),
        (["one.trec", "--claim", "P@1"], "a claim must be NAME=VALUE, each name once (found 'P@1')"),
        (["one.trec", "--claims", "none.csv"], "error: none.csv: No such file or directory"),
        (["foreign", "--claim", "P@1=0.5"], "error: foreign: the run and the qrels share no query"),
        (["one.trec", "one.trec", "--claim", "P@1=0.5"], "two runs are named 'one'"),
        (
            ["one.trec", "--claim", "GradedAP(max_rel=1)@10=0.5"],
            "error: qrels: query 'q1', document 'a': GradedAP: no grade may be above max_rel=1 (found 2)",
        ),
    ],
)
def test_what_is_wrong_is_one_message_and_status_2(files, arguments, message):
    (files / "foreign").write_text("x1 Q0 d1 1 2.5 t\n")
    (files / "claims.csv").write_text("run,P@1\none,0.3333\n")
    assert message in refused("qrels", *arguments)


def test_json_says_where_its_numbers_come_from(files):
    (files / "claims.csv").write_text("run,P@1,MAP\none,0.3333,0.98765\n")
    arguments = ["qrels", "one.trec", "--claims", "claims.csv", "--format", "json"]
    content = json.loads(audit_cli(*arguments, status=1))
    claims, origin = content["claims"], content["provenance"]
    assert [each["status"] for each in claims] == ["explained", "unexplained"]
    assert origin["versions"]["permed-measures"] == pm.__version__
    assert [each["measure"] for each in origin["measures"]] == [each["measure"] for each in claims]
    assert (origin["command"], origin["conventions"]) == ("audit", [content["sentence"]])
    hashes = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files.iterdir()}
    read = [(each["role"], each["path"], each["sha256"]) for each in origin["inputs"]]
    named = {"qrels": "qrels", "run": "one.trec", "claims": "claims.csv"}
    assert read == [(role, path, hashes[path]) for role, path in named.items()]
    in_python = pm.audit(pm.read_qrels("qrels"), pm.read_run("one.trec"), {"P@1": "0.3333"})
    assert "inputs" not in json.loads(in_python.to("json"))["provenance"]
    by_path = pm.audit("qrels", {"a": "one.trec"}, {"a": {"P@1": "0.3333"}})
    inputs = json.loads(by_path.to("json"))["provenance"]["inputs"]
    assert [each["sha256"] for each in inputs] == [hashes["qrels"], hashes["one.trec"]]


@pytest.mark.parametrize("character", ["\u202e", "\x1b"])
def test_no_format_prints_characters_that_control_a_terminal(files, character):  # noqa: ARG001
    name, run = f"a{character}[31mb", pm.read_run("one.trec")
    claims = {name: {"P@1": "0.3334"}, "two": {"P@1": "0.3333"}}
    result = pm.audit(pm.read_qrels("qrels"), {name: run, "two": run}, claims)
    for form in FORMATS:
        text = result.to(form)
        assert character not in text
        assert "31mb" in text, form
    assert [claim["run"] for claim in json.loads(result.to("json"))["claims"]] == [name, "two"]


def test_query_ids_are_rewritten_if_asked_for(files):
    (files / "labels").write_text("topic_001_1 0 a 1\n")
    (files / "ranked").write_text("topic_001_turn_1 Q0 a 1 1 t\n")
    arguments = ["labels", "ranked", "--claim", "P@1=1.0"]
    assert "--query-ids permed" in refused(*arguments)
    assert "ir_measures" in audit_cli(*arguments, "--query-ids", "permed")


@pytest.mark.parametrize(
    ("dataset", "measures", "name"),
    [
        (
            "permed-sample",
            {
                "NDCG@10": "nDCG(dcg='exp-log2')@10",
                "MAP@10": "GradedAP@10",
                "P@1": "P@1",
                "Coverage@10": "Coverage@10",
            },
            "permed-measures medcorpus",
        ),
        (
            "permed-sample/literature",
            {
                "NDCG@10": "nDCG(dcg='exp-log2')@10",
                "MAP@10": "AP@10",
                "P@1": "P@1",
                "R@5": "R@5",
                "R@20": "R@20",
            },
            "permed-measures litsearch",
        ),
    ],
)
def test_what_is_printed_without_a_measure_named_is_explained_by_a_convention_with_a_name(
    dataset, measures, name
):
    run = f"{dataset}/runs/bm25"
    [content] = json.loads(run_cli("evaluate", dataset, run, "--format", "json")[0])
    claims = {heading: f"{content['metrics'][measure]:.4f}" for heading, measure in measures.items()}
    result = pm.audit(dataset, run, claims)
    assert result.ok
    named = json.loads(result.to("json"))["best"]
    assert name in [each["name"] for each in named if not each["changes"]]
