"""Reports: each format has all that was said, and nothing runs that is not needed."""

import json
import re

import pytest

from permed_measures.errors import InputError, PermedError
from permed_measures.results.report import FORMATS, Plot, Report, Result, Section, notebook
from permed_measures.results.table import Cell, Table

ROWS = [{"run": "=a", "P@1": 0.1 + 0.2, "p": None}, {"run": "b", "P@1": 0.25, "p": 0.5}]
TABLE = Table.of(["run", "P@1"], [["=a", Cell("0.30", 1)], ["b", "0.25"]], caption="Means")
REPORT = Report(
    "a title",
    ["=a has the highest P@1: 0.30."],
    [
        Section("", tables=[TABLE], plots=[Plot("two <points>", lambda: "<svg></svg>")]),
        Section(
            "What next", "Of all claims", texts=["Try <this>"], code=["permed-measures demo"], collapsed=True
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
    assert '<figure role="img" aria-label="two &lt;points&gt;"><svg></svg></figure>' in html
    assert "<details><summary>What next</summary>" in html
    code = '<pre tabindex="0"><code>permed-measures demo\n</code></pre>'
    assert f"<li>Try &lt;this&gt;</li></ul>{code}</details>" in html
    assert html.endswith("<p>Note: few queries.</p>")


def test_other_programs_get_all_digits():
    assert REPORT.to("csv") == "run,P@1,p\n'=a,0.30000000000000004,\nb,0.25,0.5\n"
    assert REPORT.to("tsv").splitlines()[0] == "run\tP@1\tp"
    assert [json.loads(line) for line in REPORT.to("jsonl").splitlines()] == ROWS
    assert json.loads(REPORT.to("json")) == {"means": {"=a": 0.1 + 0.2, "b": "nan"}, "bounds": ["-inf", 1]}
    assert Found().to_polars().to_dicts() == ROWS


@pytest.mark.parametrize("more", [{"Judged@1": 1.0, "run": "b", "P@1": 1.0}, {"P@1": 1.0, "run": "b"}])
def test_rows_of_one_table_have_the_same_fields(more):
    class Uneven(Result):
        def report(self):
            return Report(rows=lambda: [{"run": "a", "P@1": 0.5}, more])

    said = "Judged@1" if "Judged@1" in more else "their order"
    for write in (lambda form=form: Uneven().to(form) for form in ("csv", "tsv", "jsonl")):
        with pytest.raises(PermedError, match=rf"rows of one table have different fields \({said}\)"):
            write()
    with pytest.raises(PermedError, match="different fields"):
        Uneven().to_polars()


def test_a_section_is_written_once_for_notebook_and_page():
    inside = r"<details>.*?</details>"
    [of_notebook], [of_page] = (
        re.findall(inside, each, re.DOTALL) for each in (notebook(REPORT), REPORT.to("html"))
    )
    assert of_notebook == of_page


def test_what_a_format_does_not_show_is_not_computed():
    report = Report(data=unused, rows=unused, provenance=unused, queries=unused)
    assert report.to("table") == report.to("markdown") == report.to("latex") == ""


def test_no_page_has_what_json_cannot_hold():
    with pytest.raises(ValueError, match="JSON"):
        Report(queries=lambda: {"values": [float("nan")]}).to("html")


def test_a_format_that_is_none_or_missing_is_refused():
    with pytest.raises(InputError, match="form must be one of table, markdown, latex, html, csv"):
        REPORT.to("pdf")
    assert {*FORMATS} == {"table", "markdown", "latex", "html", "csv", "tsv", "json", "jsonl"}
