"""The command `permed-measures audit`."""

import json
import re

import pytest
from audit_helpers import audit_cli, unwrapped

import permed_measures as pm
from permed_measures.datasets import SAMPLES
from permed_measures.results.report import FORMATS

MEDICAL, LITERATURE = SAMPLES


ONE, TWO = {"P@1": "0.3333", "RR": "0.3333"}, {"P@1": "0.6667", "RR": "0.6667"}


def test_claims_are_given_one_by_one(files):  # noqa: ARG001
    stdout = audit_cli("qrels", "one.trec", "--claim", "P@1=0.3333", "--claim", "RR = 0.3333")
    assert stdout.startswith(
        "May be chance: P@1; RR; averaged over all 3 queries of the qrels.\n"
    )  # of three queries
    assert "On these data the same as ir_measures, among others (ir-measur.es" in unwrapped(stdout)
    assert "\nGive another claim, or more digits.\n" in stdout
    headings, _, row, *_ = stdout.split("\n\n")[3].splitlines()
    assert headings.split() == ["claim", "measure", "published", "computed"]
    assert re.fullmatch(r"P@1 +P@1 +0\.3333 +0\.3333", row)
    stdout = audit_cli("qrels", "one.trec", "--claim", "P@1=0.3334", status=1)
    assert stdout.startswith("No convention explains any claim.\n")
    assert "nearest value\n  P@1 as 0.3334: 0.3333, P@1: by default" in stdout


def test_claims_are_given_in_a_file(files):
    table = files / "claims.csv"
    text = "run,P@1,RR\none,0.3333,0.3333\n\ntwo, 0.6667 ,\n"
    for content in (text.encode(), b"\xef\xbb\xbf" + text.encode(), text.replace("\n", "\r\n").encode()):
        table.write_bytes(content)
        stdout = audit_cli("qrels", "one.trec", "two.trec", "--claims", table, "--format", "json")
        claims = json.loads(stdout)["claims"]
        shown = [(claim["run"], claim["claim"], claim["published"]) for claim in claims]
        assert shown == [("one", "P@1", "0.3333"), ("one", "RR", "0.3333"), ("two", "P@1", "0.6667")]
    stdout = audit_cli("qrels", "x=one.trec", "--claim", "P@1=0.3333")
    table.write_text("run,P@1\n1,0.3333\n")
    assert "ir_measures" in audit_cli("qrels", "1=one.trec", "--claims", table)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *(
            (text, "claims.csv: there is no table whose header names the runs and then the measures")
            for text in ("", "run\none\n", "run,P@1\n")
        ),
        (
            "run,P@1\nthree,0.123\nfour,\n",
            "claims.csv: no row is about one of the runs one and two (found three). Name the runs as",
        ),
        ("run,P@1\none,\ntwo,-\n", "claims.csv: no row has a claim"),
        (
            "run,P@1\none,0.3333\none,0.4\ntwo,0.6667\n",
            "claims.csv:3: the run one has two numbers for P@1: 0.3333 and, in the row 'one', 0.4. Leave",
        ),
        (
            "run,P@1\none,0.3333,0.5\n",
            "claims.csv:2: the row has 3 cells, but the header has 2",
        ),
        ("run,P@1\none,0.5\ntwo,5000\n", "claims.csv:3, claim 'P@1': a value is at most 1, or 100 percent"),
        ("run,PP@1\none,0.5\ntwo,0.5\n", "claims.csv:1: no measure is known by the name 'PP@1'"),
        ("run,SDCG@1\none,0.5\ntwo,0.5\n", "claims.csv:1: permed-measures does not compute SDCG@1"),
        ('run,P@1\n"one,0.3333\ntwo,0.5\n', "claims.csv"),
        ("run,P@1\nönè,0.3333\n".encode("latin-1"), "claims.csv"),
    ],
)
def test_what_is_wrong_with_a_file_of_claims_is_said(files, refused, text, message):
    (files / "claims.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    stderr = refused("qrels", "one.trec", "two.trec", "--claims", "claims.csv")
    assert message in stderr
    assert stderr.startswith("error: ")


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        ("run,P@1\none,0.3333\ntwo,\n", ["1 run without a row left out: two"]),
        ("run;P@1\none;0,3333\ntwo;0,6667\n", []),
        ("run\tP@1\none\t33.33%\ntwo\t0.6667\n", []),
        ("run,P@1\none,0.3333\nthree,0.51\ntwo,0.6667\n", ["1 row without a run left out: three"]),
        ("run,P@1,RR\none,0.3333,0.3333\ntwo,OOM,0.6667\n", ["no value, left out: OOM (two, P@1)"]),
        ("run,P@1,SDCG@1,kB\none,0.3333,0.5,1\ntwo,0.6667,,2\n", ["2 columns that are no measures left out"]),
    ],
)
def test_what_is_no_claim_is_said_in_a_line_and_left_out(files, text, notes):
    (files / "claims.csv").write_text(text)
    arguments = ["qrels", "one.trec", "two.trec", "--claims", "claims.csv"]
    content = json.loads(audit_cli(*arguments, "--format", "json"))
    assert len(content["notes"]) == len(notes)
    assert all(said.startswith(note) for said, note in zip(content["notes"], notes, strict=True))
    shown = audit_cli(*arguments)
    assert ("\nNote: " in shown) == bool(notes)


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
def test_what_is_wrong_is_one_message_and_status_2(files, refused, arguments, message):
    (files / "foreign").write_text("x1 Q0 d1 1 2.5 t\n")
    (files / "claims.csv").write_text("run,P@1\none,0.3333\n")
    assert message in refused("qrels", *arguments)


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


def test_query_ids_are_rewritten_if_asked_for(files, refused):
    (files / "labels").write_text("topic_001_1 0 a 1\n")
    (files / "ranked").write_text("topic_001_turn_1 Q0 a 1 1 t\n")
    arguments = ["labels", "ranked", "--claim", "P@1=1.0"]
    assert "--query-ids permed" in refused(*arguments)
    assert "ir_measures" in audit_cli(*arguments, "--query-ids", "permed")
