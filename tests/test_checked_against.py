"""Numbers that others published: the commands of the README's table give what it says."""

import csv
import json
import re
import shlex
from pathlib import Path

import pytest
from commands import run_cli

ROOT = Path(__file__).parents[1]
TABLE = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Checked against")[2].partition("##")[0]


def command_for(row):
    """Return what is typed for the row of the table that begins so."""
    [line] = [line for line in TABLE.splitlines() if line.startswith(f"| {row}")]
    return shlex.split(re.findall("`([^`]+)`", line)[-1])


@pytest.fixture
def outside(data, monkeypatch):
    """Work in the folder with the files of others."""
    monkeypatch.chdir(data / "outside")


def published(collection):
    """Return what Anserini publishes, by run and measure."""
    names = {"ndcg_cut.10": "nDCG@10", "recall.100": "R(rel=2)@100", "map": "AP(rel=2)@100"}
    names["recip_rank"] = "RR(rel=2)@100"
    with Path("published.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["collection"] == collection]
    return {(row["run"], names[row["trec_eval"].split()[-1]]): row["published"] for row in rows}


@pytest.mark.usefixtures("outside")
def test_deep_learning_2019_is_what_anserini_publishes():
    stdout, _ = run_cli(*command_for("Anserini"), "--format", "json")
    found = {
        (run["run"], name): f"{value:.4f}"
        for run in json.loads(stdout)
        for name, value in run["metrics"].items()
    }
    assert found == published("dl19")


@pytest.mark.usefixtures("outside")
def test_deep_learning_2021_is_so_but_for_a_number_within_its_ties():
    stdout, _ = run_cli(*command_for("the same of 2021"), "--format", "json")
    rows = {
        (run["run"], row["measure"]): row for run in json.loads(stdout)["runs"] for row in run["measures"]
    }
    wanted = published("dl21")
    others = {key: row for key, row in rows.items() if f"{row['value']:.4f}" != wanted[key]}
    assert len(rows) == len(wanted) == 8
    [(key, row)] = others.items()
    printed = [f"{row[name]:.4f}" for name in ("value", "ties_low", "ties_high")]
    assert (key, printed) == (("BM25", "AP(rel=2)@100"), ["0.1358", "0.1357", "0.1358"])
    assert all(row["largest_difference"] < 1e-9 for row in rows.values())


@pytest.mark.usefixtures("outside")
def test_an_audit_does_not_call_a_rounding_certain_that_ties_explain_as_well():
    row = {
        name.replace("AP", "MAP").replace("(rel=2)", ""): text
        for (run, name), text in published("dl21").items()
        if run == "BM25"
    }
    claims = [f"--claim={name}={text}" for name, text in row.items()]
    stdout, _ = run_cli("audit", "dl21/qrels.txt.gz", "dl21/BM25.trec.gz", *claims, status=1)
    text = " ".join(stdout.split())
    assert text.startswith("3 of 4 claims, certain: ")
    found, *_ = text.partition(" Convention ")
    within = "MAP@100: 0.1357 is within what the order of equal scores allows, 0.1357 to 0.1358."
    assert found.index(within) < found.index("Otherwise, MAP@100: a typo")
    claims = [claim.replace("0.1357", "0.1358") for claim in claims]
    stdout, _ = run_cli("audit", "dl21/qrels.txt.gz", "dl21/BM25.trec.gz", *claims)
    assert stdout.startswith("Certain: ")
    assert "equal scores" not in stdout


@pytest.mark.thorough
def test_p_10_of_the_trec_browser_is_p_15(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("trec8").mkdir()
    Path("trec8/qrels.txt.gz").symlink_to(data / "outside" / "trec8" / "qrels.txt.gz")
    with (data / "outside" / "trec8" / "summaries.csv").open(encoding="utf-8", newline="") as file:
        Path("trec8/p10.csv").write_text("".join(f"{row[0]},{row[3]}\n" for row in csv.reader(file)))
    stdout, _ = run_cli(*command_for("NIST"))
    text = " ".join(stdout.split())
    assert "0.0253 is 19 of 750, not a multiple of 1/500: all 129 rows are multiples of 1/750" in text
    assert "multiples of 1/750, as P@15 over 50 topics" in text
    # Over min(R, 10) the numbers of topics with few relevant documents are no tenths: that is not refuted.
    assert "over min(R, k)" in text


@pytest.mark.thorough
@pytest.mark.usefixtures("outside")
def test_average_precision_of_each_topic_of_clef_tar():
    stdout, _ = run_cli(*command_for("CLEF TAR"))
    rows = [json.loads(line) for line in stdout.splitlines()]
    found = {(row["run"], row["query_id"]): round(row["AP"], 3) for row in rows}
    wanted = {}
    for name in dict.fromkeys(run for run, _ in found):
        lines = (line.split() for line in Path(f"tar17/{name}.ap").read_text().splitlines())
        wanted |= {(name, topic): float(value) for topic, _, value in lines if topic != "ALL"}
    assert len(wanted) == 60
    assert found == wanted


@pytest.mark.thorough
def test_the_published_row_of_medcorpus(data, dataset_cache, monkeypatch):
    monkeypatch.chdir(data / "medcorpus")
    monkeypatch.setenv("IR_DATASETS_HOME", str(dataset_cache))
    stdout, _ = run_cli(*command_for("MedCorpus"))
    assert stdout.startswith("Certain: ")
    assert "averaged over all 3,440 queries of the qrels" in " ".join(stdout.split())


@pytest.mark.thorough
def test_the_published_table_of_litsearch(data, monkeypatch):
    monkeypatch.chdir(data)
    stdout, _ = run_cli(*command_for("LitSearch"), "--format", "json")
    content = json.loads(stdout)
    assert (content["ok"], len(content["claims"])) == (True, 21)
    assert content["notes"] == []


def test_the_tests_that_compare_with_other_packages_are_there():
    _, *files = command_for("scipy and statsmodels")
    assert all((ROOT / file).exists() for file in files)
