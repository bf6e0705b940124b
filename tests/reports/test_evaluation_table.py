"""The table of an evaluation: its columns fit the terminal, and say something."""

import itertools
import json
import re

import pytest
from commands import run_cli
from rich.cells import cell_len

import permed_measures as pm

SAMPLE = ("evaluate", "permed-sample", "permed-sample/runs")
PRESETS = (
    (*SAMPLE, "--preset", "medcorpus"),
    (*SAMPLE, "--preset", "litsearch"),
    (*SAMPLE, "--preset", "medcorpus", "--by", "turn_number"),
    (*SAMPLE, "-m", "GradedAP(judged_only=True)@10", "-m", "VariantNDCG(discount='zipf')@10", "--by-query"),
    ("evaluate", "permed-sample/literature", "permed-sample/literature/runs", "--preset", "litsearch"),
)


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Work in a folder with qrels of two queries, a run that answers both, and one that answers one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text("q1 0 a 1\nq1 0 b 0\nq2 0 a 1\n")
    (tmp_path / "both").write_text("q1 Q0 a 1 2 t\nq1 Q0 b 2 1 t\nq2 Q0 a 1 1 t\n")
    (tmp_path / "mixed").write_text("q1 Q0 a 1 2 t\nq1 Q0 x 2 1 t\nq2 Q0 a 1 1 t\n")
    (tmp_path / "relevant").write_text("q1 0 a 1\nq2 0 a 1\n")
    (tmp_path / "one").write_text("q1 Q0 x 1 2 t\nq1 Q0 b 2 1 t\nq3 Q0 a 1 1 t\n")


def headings(*arguments):
    """Return the headings of a table."""
    return re.split(r"  +", run_cli("evaluate", *arguments)[0].splitlines()[0])


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("command", PRESETS, ids=lambda command: " ".join(command[3:]))
def test_a_table_fits_the_terminal_and_no_word_of_a_heading_is_broken(monkeypatch, command, width):
    monkeypatch.setenv("COLUMNS", str(width))
    text, _ = run_cli(*command)
    lines = text.splitlines()
    assert max(map(cell_len, lines)) <= width
    above = "\n".join(itertools.takewhile(lambda line: "──" not in line, lines))
    whole = r"run|query|queries|in|ignored|turn_number|nDCG-exp|nDCG-|exp|GradedAP|"
    whole += r"(judged_only=True)|VariantNDCG|(discount='zipf')|GradedAP(judged_only=True)|"
    whole += r"VariantNDCG(discount='zipf')|AP|P|R|Coverage|Judged"
    assert {part for word in above.split() for part in word.split("@")[:1] if part} <= set(whole.split("|"))
    assert {number for word in above.split() for number in word.split("@")[1:]} <= {"1", "5", "10", "20"}


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_every_column_is_in_the_table_or_named_below(monkeypatch, width):
    wide = run_cli(*SAMPLE, "--preset", "litsearch")[0].splitlines()
    monkeypatch.setenv("COLUMNS", str(width))
    text, _ = run_cli(*SAMPLE, "--preset", "litsearch")
    found = re.search(
        r"too wide for this terminal: (.*) \(--columns chooses others\)", " ".join(text.split())
    )
    gone = found[1].split(", ") if found else []
    [row] = [line for line in text.splitlines() if line.startswith("bm25")]
    every = dict(zip(wide[0].split(), wide[2].split(), strict=True))
    assert row.split() == [cell for heading, cell in every.items() if heading not in gone]
    assert {*gone} <= {*every}


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("command", PRESETS, ids=lambda command: " ".join(command[3:]))
def test_all_columns_are_shown_below_each_other(monkeypatch, command, width):
    wide = run_cli(*command, "--columns", "all")[0].splitlines()
    monkeypatch.setenv("COLUMNS", str(width))
    lines = run_cli(*command, "--columns", "all")[0].splitlines()
    assert max(map(cell_len, lines)) <= width
    if "--by-query" not in command:
        values = [word for line in lines if line.startswith("bm25 ") for word in line.split()[1:]]
        expected = [word for line in wide if line.startswith("bm25 ") for word in line.split()[1:]]
        assert set(values) == set(expected)
    for word in ("Coverage", "ignored", "queries"):
        assert any(word in re.split(r"[ @]+", line) for line in lines) == any(
            word in re.split(r"[ @]+", line) for line in wide
        )


@pytest.mark.usefixtures("files")
def test_a_column_that_says_nothing_is_not_shown():
    assert headings("qrels", "both", "-m", "P@1", "-m", "AP@2") == ["run", "P@1", "AP@2"]
    text, _ = run_cli("evaluate", "qrels", "both", "-m", "P@1")
    assert text.endswith(
        "2 judged queries, each with relevant documents; all are in the run.\n"
        "Every document that counts is judged.\n"
    )
    columns = ["run", "P@1", "Judged@1", "queries in run", "ignored"]
    assert headings("qrels", "both", "one", "-m", "P@1") == columns
    text, _ = run_cli("evaluate", "qrels", "both", "one", "-m", "P@1")
    assert "; a query without results scores 0.\n" in text


@pytest.mark.usefixtures("files")
def test_every_document_is_said_to_be_judged_only_where_all_are():
    text, _ = run_cli("evaluate", "qrels", "mixed", "-m", "P@1", "-m", "P@3")
    assert text.splitlines()[0].split() == ["run", "P@1", "P@3", "Judged@3"]
    assert "judged." not in text


@pytest.mark.usefixtures("files")
def test_judged_is_left_out_where_all_labels_are_relevant_and_sorted_by_cutoff():
    asked = ("-m", "P@3", "-m", "AP", "-m", "P@1")
    every = ["run", "P@3", "AP", "P@1", "Judged@1", "Judged@3", "Judged"]
    assert headings("qrels", "one", *asked)[:7] == every
    text, _ = run_cli("evaluate", "relevant", "one", *asked)
    assert text.split("\n")[0].split()[:5] == ["run", "P@3", "AP", "P@1", "queries"]
    assert "\nJudged@k is left out: all labels are relevant.\n" in text
    assert "Judged@1" in headings("relevant", "one", "-m", "P@1", "--rel", "2")


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("-m", "AP"), "2 judged queries, each with relevant documents; all are"),
        (
            ("--rel", "2", "-m", "AP"),
            "2 judged queries, none with relevant documents: no label reaches 2; all",
        ),
        (("-m", "nDCG"), "2 judged queries, each with relevant documents; all are"),
    ],
)
def test_queries_without_relevant_documents_are_counted_at_the_level_of_the_measures(asked, said):
    assert said in " ".join(run_cli("evaluate", "qrels", "both", *asked)[0].split())


def test_the_level_is_named_where_it_is_not_one():
    text, _ = run_cli(*SAMPLE, "--rel", "2", "-m", "AP")
    assert " of them without relevant documents (labels of 2 or more); " in " ".join(text.split())


@pytest.mark.usefixtures("files")
def test_columns_are_chosen_by_their_headings():
    rows = run_cli("evaluate", "qrels", "both", "one", "-m", "P@1", "-m", "RR", "--columns", "ignored,rr")[0]
    assert [line.split() for line in rows.splitlines()[:4] if "─" not in line] == [
        ["run", "ignored", "RR"],
        ["both", "0", "1.0000"],
        ["one", "1", "0.0000"],
    ]
    every = ["run", "P@1", "Judged@1", "queries in run", "ignored"]
    assert headings("qrels", "both", "-m", "P@1", "--columns", "all") == every
    measures = ("-m", "GradedAP(gains={0: 0, 1: 1})@1", "-m", "RR")
    comma = "GradedAP(gains={0:0,1:1})@1"
    assert headings("qrels", "both", *measures, "--columns", comma, "--columns", "RR") == ["run", comma, "RR"]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("asked", "heading"),
    [
        ("GradedAP(norm='ideal')@10", "GradedAP(norm='ideal')@10"),
        ("gradedap(norm=ideal)@10", "GradedAP(norm='ideal')@10"),
        ("GradedAP(norm='ideal', rel=2)@10", "GradedAP(rel=2,norm='ideal')@10"),
        ("ndcg_cut_5", "nDCG@5"),
        ("P@1", "best"),
        ("MAP", "MAP"),
    ],
)
def test_columns_are_chosen_by_measure_too(asked, heading):
    measures = [
        "GradedAP(norm=ideal)@10",
        "GradedAP(rel=2,norm='ideal')@10",
        "nDCG@5",
        "best=P@1",
        "MAP=GradedAP",
        "AP",
    ]
    options = [each for measure in measures for each in ("-m", measure)]
    assert headings("qrels", "both", *options, "--columns", asked) == ["run", heading]


def test_columns_are_not_left_out_where_they_are_asked_for(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    text, _ = run_cli(*SAMPLE, "--preset", "medcorpus", "--columns", "all")
    assert "too wide" not in text
    assert "48 of 48" in text


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--columns", "P@2"], r"the table has no column 'P@2'. Did you mean 'P@1'\?"),
        (
            ["--columns", "???"],
            "the table has no column '\\?\\?\\?'. It has P@1, Judged@1, queries in run, ignored",
        ),
        (["--columns", "P@1", "--format", "tsv"], "--columns chooses the columns of a table. Leave it out"),
        (
            ["--columns", "P@1", "--output", "out.csv"],
            "--columns chooses the columns of a table. Leave it out",
        ),
    ],
)
def test_wrong_columns_are_refused(options, message):
    with pytest.raises(pm.InputError, match=message):
        run_cli("evaluate", "qrels", "both", "-m", "P@1", *options)


def test_where_there_is_no_ceiling_there_is_a_dash():
    text, _ = run_cli(*SAMPLE, "-m", "NumRet", "-m", "P@5", "-m", "NumRel")
    assert re.search(r"^best possible +— +0\.5542$", text, re.M)
    assert json.loads(run_cli(*SAMPLE, "-m", "NumRet", "--format", "json")[0])[0]["ceilings"] == {}


def test_judged_of_the_first_measure_is_left_out_last(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text, _ = run_cli(*SAMPLE, "--preset", "litsearch")  # nDCG@10 first
    assert "too wide for this terminal: Judged@5, Judged@20 (" in text
    text, _ = run_cli(*SAMPLE, "-m", "R@5", "--preset", "litsearch", "-m", "RR@20")
    assert "too wide for this terminal: Judged@5" not in text
