"""`evaluate` in the formats of papers, browsers and spreadsheets, to stdout and into files."""

import csv
import io
import json
import re
import shutil

import pytest
from commands import run_cli, run_main

from permed_measures.datasets import SAMPLES
from permed_measures.reports.comparison import COMPARISON_FORMATS
from permed_measures.reports.evaluation_formats import EVALUATION_FORMATS as FORMATS
from permed_measures.reports.tables import ENDINGS

MEDICAL = SAMPLES[0]
STARTS = {
    "table": "run ",
    "markdown": "| run | nDCG-exp@10 |",
    "latex": "% needs \\usepackage{booktabs}",
    "html": "<!DOCTYPE html>\n",
    "csv": "run,nDCG(dcg='exp-log2')@10,P@1,",
    "tsv": "run\tnDCG(dcg='exp-log2')@10\tP@1\t",
    "jsonl": '{"run": "bm25", "metrics": {',
    "json": '[\n  {\n    "run": "bm25",',
}


@pytest.fixture
def evaluated(monkeypatch, tmp_path):
    """Return what evaluates the sample in a folder with run files: stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    for name, path in MEDICAL.runs.items():
        shutil.copy(path, tmp_path / name)

    def run(line, status=0):
        measures = ("-m", "nDCG(dcg='exp-log2')@10", "-m", "P@1")
        found, *texts = run_main("evaluate", "permed-sample", *measures, *line.split())
        assert found == status, texts
        return tuple(texts)

    return run


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_ending_of_a_file_tells_the_format_that_is_printed_too(evaluated, tmp_path, ending):
    form, output = ENDINGS[ending], f"out{ending.upper()}"
    printed, _ = evaluated(f"bm25 lsa --format {form}")
    assert printed.startswith(STARTS[form])
    assert printed.endswith("\n")
    assert evaluated(f"bm25 lsa --output {output}") == ("", f"{output}: {form} of 2 runs\n")
    assert (tmp_path / output).read_text() == printed


def test_every_format_has_an_ending():
    assert {*ENDINGS.values()} == {*FORMATS} == {*STARTS} > {*COMPARISON_FORMATS}


def test_a_format_goes_before_an_ending(evaluated, tmp_path):
    evaluated("bm25 --output out.html --format csv")
    assert (tmp_path / "out.html").read_text().startswith(STARTS["csv"])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("bm25 --output out.pdf", "out.pdf: the ending '.pdf' means no format. End the name in .txt, .md,"),
        ("bm25 --output no/out.csv", "no/out.csv: there is no folder 'no' to write into"),
        ("bm25 --output bm25 --format csv", "bm25: the output would overwrite the qrels or a run"),
        ("bm25 nothing --output out.csv", "nothing"),
        ("bm25 --digits -1", "'--digits'"),
        ("bm25 --digits 99", "'--digits'"),
    ],
)
def test_what_is_refused_is_one_message_and_nothing_is_written(evaluated, tmp_path, line, message):
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    out, err = evaluated(line, status=2)
    assert out == ""
    assert message in " ".join(err.split())
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_digits(evaluated):
    assert "0.678823" in evaluated("bm25 --digits 6")[0]
    assert "| bm25 | 0.7 | 0.6 |" in evaluated("bm25 --digits 1 --format markdown")[0]
    assert "bm25 & 0.679 & 0.646 & " in evaluated("bm25 --digits 3 --format latex")[0]
    assert "<td>1</td>" in evaluated("bm25 --digits 0 --format html")[0]
    [line] = csv.DictReader(io.StringIO(evaluated("bm25 --digits 3 --format csv")[0]))
    assert (line["P@1"], line["queries_judged"]) == ("0.646", "48")
    [whole] = json.loads(evaluated("bm25 --format json")[0])
    [content] = json.loads(evaluated("bm25 --digits 2 --format json")[0])
    assert whole["metrics"]["P@1"] == 31 / 48
    assert (content["metrics"], content["ceilings"]) == (whole["metrics"], whole["ceilings"])  # JSON has all


def test_a_caption_begins_with_the_users_own(evaluated, tmp_path):
    text = evaluated("bm25 --caption A&B --format latex")[0]
    assert r"\caption{A\&B. Means over 48 judged queries" in text
    assert r"\label{tab:a-b}" in text
    evaluated("bm25 --caption Ours --output out.md")
    assert "\nOurs. Means over 48 judged queries" in (tmp_path / "out.md").read_text()
    for form in ("table", "csv", "tsv", "json", "jsonl", "html"):
        out, err = evaluated(f"bm25 --caption Ours --format {form}", 2)
        assert (out, err.splitlines()[0].split(", not")[0]) == (
            "",
            "error: --caption is for the tables of papers",
        )


def test_what_a_run_lacks_is_said(evaluated, tmp_path):
    (tmp_path / "short").write_text("sample_01_1 Q0 a 1 1.0 t\nelsewhere_1 Q0 a 1 1.0 t\n")
    for form, comment in {"markdown": "\n", "latex": "% ", "html": "<li>"}.items():
        out, _ = evaluated(f"short --format {form}")
        assert "short has 1 query without judgments" in out.replace("'", "").replace("&#39;", "")
        assert f"{comment}run " in out


def test_one_text_never_names_two_numbers(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for name in ("bm25", "lsa"):
        shutil.copy(MEDICAL.runs[name], tmp_path / name)
    given = ("permed-sample", "bm25", "lsa")
    named = {}
    for measures in (["nDCG(dcg='exp-log2')@10"], ["nDCG@10"], ["nDCG@10", "nDCG(dcg='exp-log2')@10"]):
        options = [part for measure in measures for part in ("-m", measure)]
        for command in (["evaluate"], ["compare", "--resamples", "99"]):
            lines = run_cli(*command, *given, *options, "--format", "markdown")[0].splitlines()
            headings, values = (
                [cell.strip(" *") for cell in line.split("|")] for line in (lines[0], lines[2])
            )
            for heading, value in zip(headings, values, strict=True):
                named.setdefault(heading, set()).add(re.sub("<sup>.*", "", value).strip("*"))
    for measure in ("nDCG@10", "nDCG(dcg='exp-log2')@10"):
        heading, _, values = run_cli("reranking", *given, "-m", measure)[0].partition(":")
        named.setdefault(heading, set()).add(values.split()[0])
    numbers = {heading: values for heading, values in named.items() if "nDCG" in heading}
    assert numbers["nDCG@10"] == {"0.6707"}
    assert numbers["nDCG-exp@10"] == {"0.6788"}
    assert all(len(values) == 1 for values in numbers.values())
