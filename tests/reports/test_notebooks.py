"""Comparisons in notebooks, as frames, and with fewer or more decimals."""

import csv
import io
import json
import re
import sys

import polars as pl
import pytest
from reporting import made, pair

import permed_measures as pm
from permed_measures.reports import comparison


def test_a_cell_that_ends_in_a_comparison_says_what_it_is_in_a_line():
    result = made({"old": [2] * 9, "new": [1] * 9}, ["RR", "nDCG(dcg='exp-log2')@10"], baseline="old")
    assert repr(result) == "<Comparison of old, new (baseline old) on 9 queries: RR, nDCG-exp@10>"
    assert "(every pair)" in repr(made({"old": [2] * 9, "new": [1] * 9}))


def test_a_notebook_shows_the_table_of_a_paper_and_the_differences():
    html = pair(9)._repr_html_()
    assert "<b>1.0000</b>" in html
    assert '<u class="second">0.5000</u>' in html
    assert "<details><summary>differences and tests</summary>" in html
    assert "+0.5000" in html
    assert "<html" not in html


def test_a_notebook_shows_the_forest_plot_where_it_can_be_drawn(monkeypatch):
    result = pair(9, measures=["RR", "P@1"])
    html = result._repr_html_()
    start, end = html.index('<div style="display: flex'), html.index("<details>")
    drawn = html[start:end]
    assert html.index("</table>") < start
    assert drawn.count("<svg") == drawn.count("</svg>") == 2
    assert re.findall(r'aria-label="(new: [^"]*)" ?', drawn)
    assert re.findall(r"</svg></div></div>\n<p>(.*?)</p>", drawn)[0].startswith("Point: mean difference")
    without = html[:start] + html[end:]
    with monkeypatch.context() as patch:
        patch.setattr(comparison, "_MOST_DRAWN", 1)
        assert result._repr_html_() == without
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert result._repr_html_() == without


def test_a_plot_in_a_notebook_has_the_colours_of_the_notebook():
    drawn = pair(9)._repr_html_().partition("<details>")[0]
    assert "--ink: currentColor" in drawn
    colours = set(re.findall(r'(?:fill|stroke)="([^"]*)"', drawn))
    assert {each for each in colours if not each.startswith("var(--")} <= {"none", "transparent"}


def test_names_are_escaped_in_a_notebook():
    name = "<script>alert(1)</script>"
    html = made({"old": [2] * 9, name: [1] * 9}, {"<b>": "RR"}, baseline="old")._repr_html_()
    assert name not in html
    assert "&lt;script&gt;" in html
    assert "<b>&" not in html
    assert "&lt;b&gt;" in html


def test_a_frame_has_the_numbers_of_csv():
    result = pair(12, measures=["RR", "P@1"])
    frame = result.to_polars()
    rows = list(csv.DictReader(io.StringIO(result.to("csv"))))
    assert frame.columns == list(rows[0])
    for ours, read in zip(frame.to_dicts(), rows, strict=True):
        assert {key: "" if value is None else str(value) for key, value in ours.items()} == read
    assert frame["randomization p"].to_list() == [row.tests["randomization"].p for row in result.rows]
    assert frame.equals(pl.from_pandas(result.to_pandas()), null_equal=True)


def test_a_frame_has_a_row_for_each_group_and_for_all():
    result = pair(12, by="q.([0-9])$")
    frame = result.to_polars()
    assert frame.columns[0] == "q.([0-9])$"
    assert frame[:, 0].to_list() == [*(str(value) for value in result.groups), "(all)"]
    fields = pair(12, by=lambda query_id: query_id[-1]).to_polars()
    assert fields.columns[:2] == ["group", "measure"]


def test_a_group_that_is_called_like_a_column_keeps_both(monkeypatch):
    result = pair(12, by="q.([0-9])$")
    monkeypatch.setitem(result.__dict__, "by", "run")
    assert result.to_polars().columns[:3] == ["run (group)", "measure", "run"]


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "html"])
def test_means_and_differences_have_the_digits_that_one_asks_for(form):
    result = made({"old": [3] * 9, "new": [1] * 9}, baseline="old")
    assert "0.3333" in result.to(form)
    text = result.to(form, digits=2)
    assert "0.33 " in text or ">0.33<" in text or "0.33}" in text
    assert "0.333" not in text.split("<svg")[0]
    assert "0.333333" in result.to(form, digits=6)
    assert "p = 0.0039" in text or form == "table"
    if form in ("table", "html"):
        assert "+0.67" in text
        assert "0.0039" in text


def test_the_best_are_those_that_print_so():
    runs = {"a": [1] * 99 + [2], "b": [1] * 100, "c": [2] * 100}
    assert "**1.0000**" in made(runs).to("markdown")
    assert made(runs).to("markdown", digits=2).count("**0.99**") == 0
    assert made(runs).to("markdown", digits=1).count("**1.0**") == 2


def test_csv_is_rounded_only_if_asked_for_and_the_numbers_of_json_never():
    result = made({"old": [3] * 9, "new": [1] * 9}, baseline="old")
    [whole] = csv.DictReader(io.StringIO(result.to("csv")))
    [rounded] = csv.DictReader(io.StringIO(result.to("csv", digits=3)))
    assert (whole["baseline_mean"], rounded["baseline_mean"]) == (str(1 / 3), "0.333")
    assert (whole["randomization p"], whole["wins"]) == (rounded["randomization p"], rounded["wins"])
    first, second = json.loads(result.to("json", digits=1)), json.loads(result.to("json"))
    assert (first["rows"], first["means"]) == (second["rows"], second["means"])
    assert "(1.0 against 0.3," in first["sentences"][0]


def test_digits_are_a_whole_number():
    with pytest.raises(
        pm.InputError, match=re.escape("digits must be a whole number of at least 0 (found -1)")
    ):
        pair(9).to("table", digits=-1)
