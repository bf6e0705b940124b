"""Comparisons in notebooks, as frames, and with fewer or more decimals."""

import csv
import io
import re

import polars as pl
import pytest
from reporting import made, pair


def test_a_notebook_shows_the_means_and_folds_the_differences():
    html = pair(9)._repr_html_()
    assert html.startswith("<p>new has the highest RR: 1.0000.")
    assert "<b>1.0000</b>" in html
    assert '<u class="second">0.5000</u>' in html
    assert "+0.5000" in html.partition("<details><summary>Differences</summary>")[2]
    assert "<html" not in html


def test_a_frame_has_the_numbers_of_csv():
    result = pair(12, measures=["RR", "P@1"])
    frame = result.to_polars()
    rows = list(csv.DictReader(io.StringIO(result.to("csv"))))
    assert frame.columns == list(rows[0])
    for ours, read in zip(frame.to_dicts(), rows, strict=True):
        assert {key: "" if value is None else str(value) for key, value in ours.items()} == read
    assert frame["randomization p"].to_list() == [row.tests["randomization"].p for row in result.rows]
    assert frame.equals(pl.from_pandas(result.to_pandas()), null_equal=True)


def test_a_group_that_is_called_like_a_column_keeps_both(monkeypatch):
    result = pair(12, by="q.([0-9])$")
    monkeypatch.setitem(result.__dict__, "by", "run")
    assert result.to_polars().columns[:3] == ["run (group)", "measure", "run"]


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "html"])
def test_means_and_differences_have_the_digits_that_one_asks_for(form):
    result = made({"old": [3] * 9, "new": [1] * 9}, baseline="old")
    assert "0.3333" in result.to(form)
    text = result.to(form, digits=2)
    assert re.search(r"0\.33\b", text)
    assert "0.333" not in text.split("<svg")[0]
    assert "0.333333" in result.to(form, digits=6)
    assert "+0.67" in text.replace("$", "")
    assert "0.0039" in text
