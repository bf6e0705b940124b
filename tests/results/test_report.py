"""Reports: each format has all that was said, and nothing runs that is not needed."""

import json

import pytest

from permed_measures.errors import InputError
from permed_measures.results.report import FORMATS, Plot, Report, Result, Section
from permed_measures.results.table import Cell, Table

ROWS = [{"run": "=a", "P@1": 0.1 + 0.2, "p": None}, {"run": "b", "P@1": 0.25, "p": 0.5}]
TABLE = Table.of(["run", "P@1"], [["=a", Cell("0.30", 1)], ["b", "0.25"]], caption="Means")
REPORT = Report(
    "a title",
    ["=a has the highest P@1: 0.30."],
    [
        Section("", tables=[TABLE], plots=[Plot("two <points>", lambda: "<svg></svg>")]),
        Section(
            "What next", "Of all claims", texts=["Try <this>"], code=["permed-measures demo"], folded=True
        ),
    ],
    ["few queries"],
    lambda: {"means": {"=a": 0.1 + 0.2, "b": float("nan")}, "bounds": [float("-inf"), 1.0]},
    lambda: ROWS,
    cautions=["scores are <equal>"],
)


class Found(Result):
    def report(self):
        return REPORT


def unused():
    raise AssertionError


def test_a_terminal_has_all_of_it_and_print_is_the_same():
    lines = [
        *("=a has the highest P@1: 0.30.", "Note: scores are <equal>.", ""),
        *("run   P@1", "─────────", "=a   0.30", "b    0.25", "", "Means.", ""),
        *("What next", "Of all claims", "  Try <this>", "  permed-measures demo", ""),
        "Note: few queries.",
    ]
    assert REPORT.to().splitlines() == lines
    assert str(Found()) == "\n".join(lines)


def test_markdown_latex_and_notebooks_have_all_of_it():
    assert REPORT.to("markdown").splitlines() == [
        *(r"\=a has the highest P@1: 0.30.", "", "Note: scores are &lt;equal&gt;.", ""),
        *("| run | P@1 |", "| --- | ---: |", r"| \=a | **0.30** |", "| b | 0.25 |", ""),
        *("Means; best in bold.", "", "**What next**", "", "Of all claims", "", "- Try &lt;this&gt;", ""),
        *("```", "permed-measures demo", "```", "", "Note: few queries."),
    ]
    latex = REPORT.to("latex")
    assert latex.startswith("% needs")
    for comment in ("Note: scores are <equal>.", "Try <this>\n% Note: few queries."):
        escaped = comment.replace("<", r"\textless{}").replace(">", r"\textgreater{}")
        assert f"% {escaped}\n" in latex
    html = Found()._repr_html_()
    assert html.startswith("<p>=a has the highest P@1: 0.30.</p>\n<p>Note: scores are &lt;equal&gt;.</p>\n<")
    assert '<div role="img" aria-label="two &lt;points&gt;"><svg></svg></div>' in html
    assert "<details><summary>What next</summary>" in html
    assert "<li>Try &lt;this&gt;</li></ul><pre>permed-measures demo</pre></details>" in html
    assert html.endswith("<p>Note: few queries.</p>")


def test_other_programs_get_all_digits():
    assert REPORT.to("csv") == "run,P@1,p\n'=a,0.30000000000000004,\nb,0.25,0.5\n"
    assert REPORT.to("tsv").splitlines()[0] == "run\tP@1\tp"
    assert [json.loads(line) for line in REPORT.to("jsonl").splitlines()] == ROWS
    assert json.loads(REPORT.to("json")) == {"means": {"=a": 0.1 + 0.2, "b": "nan"}, "bounds": ["-inf", 1]}
    assert Found().to_polars().to_dicts() == ROWS


def test_what_a_format_does_not_show_is_not_computed():
    report = Report(data=unused, rows=unused, how=unused, queries=unused)
    assert report.to("table") == report.to("markdown") == report.to("latex") == ""


def test_a_format_that_is_none_or_missing_is_refused():
    with pytest.raises(InputError, match="form must be one of table, markdown, latex, html, csv"):
        REPORT.to("pdf")
    assert {*FORMATS} == {"table", "markdown", "latex", "html", "csv", "tsv", "json", "jsonl"}
