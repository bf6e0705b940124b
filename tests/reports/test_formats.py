"""A comparison in every format: its numbers, its digits, and names that mean something there."""

import csv
import dataclasses
import io
import json
import re
import unicodedata

import polars as pl
import pytest
from reporting import MARKUP, STYLES, Terminal, loaded, made, pair

from permed_measures.comparison.compare import compare
from permed_measures.datasets import SAMPLES
from permed_measures.escaping import as_html, as_latex, as_markdown, one_line

# --- numbers -----------------------------------------------------------------------------------------


def rows_of(result):
    """Return the lines of the CSV."""
    return list(csv.DictReader(io.StringIO(result.to("csv"))))


NUMBERS = [
    "mean",
    "baseline_mean",
    "difference",
    "std_error",
    "relative",
    "effect_size",
    "wins",
    "ties",
    "losses",
]


def test_csv_and_json_have_every_number_as_it_was_computed():
    options = {"resamples": 499, "by": "turn_number", "tests": ("t-test", "wilcoxon", "randomization")}
    sample = compare("permed-sample", SAMPLES[0].runs, ["nDCG@10", "P@1"], **options)
    content = loaded(sample)
    objects = [each for part in [*content["groups"], content] for each in part["rows"]]
    expected = [(label, row) for label, part in sample.sections() for row in part.rows]
    how = {"clusters": "conversation_id", "correction": "max-t", "level": "0.95", "resamples": "499"}
    for line, each, (label, row) in zip(rows_of(sample), objects, expected, strict=True):
        assert each == json.loads(json.dumps(dataclasses.asdict(row), default=str))
        labels = {"turn_number": label, "measure": str(row.measure), "run": row.run, "baseline": row.baseline}
        assert line.items() >= {**labels, **how, "seed": "0"}.items()
        numbers = {name: getattr(row, name) for name in NUMBERS}
        for name, test in row.tests.items():
            numbers |= {f"{name} {of}": getattr(test, of) for of in ("p", "adjusted", "statistic")}
        bounds = {"": row.interval, **{f"{name}_": ends for name, ends in row.intervals.items()}}
        for name, ends in bounds.items():
            numbers |= dict(zip((f"{name}low", f"{name}high"), ends or (None, None), strict=True))
        assert {name: float(line[name]) if line[name] else None for name in numbers} == numbers
        missing = {**row.reasons, **{name: test.reason for name, test in row.tests.items() if test.reason}}
        assert line["reasons"] == "; ".join(f"{name}: {reason}" for name, reason in missing.items())
        assert {*line} == {*labels, *how, *numbers, "seed", "needed", "reasons"}
    assert len(expected) == 6 * 6
    reasons = rows_of(pair(4, tests="t-test", measures="P@1"))[0]["reasons"]
    assert reasons == "interval: no variance between queries; t-test: no variance between queries"


def test_a_frame_has_the_numbers_of_csv(monkeypatch):
    result = pair(12, measures=["RR", "P@1"], by="q.([0-9])$")
    frame = result.to_polars()
    texts = [
        {key: "" if each is None else str(each) for key, each in row.items()} for row in frame.to_dicts()
    ]
    assert texts == rows_of(result)
    assert frame.equals(pl.from_pandas(result.to_pandas()), null_equal=True)
    monkeypatch.setitem(result.__dict__, "by", "run")  # a group that is called like a column
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


# --- names -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "latex", "markdown", "html"), MARKUP)
def test_markup_is_as_written_by_hand(text, latex, markdown, html):
    assert (as_latex(text), as_markdown(text), as_html(text)) == (latex, markdown, html)


def test_bytes_of_a_name_that_are_no_text_are_escapes():
    assert one_line(b"a\xff.trec".decode(errors="surrogateescape")) == r"a\udcff.trec"


FORMULAS = ["=1+1", "+1+1", "-2+3", "@SUM(A1)", "\t=1+1", "\r=1+1"]
CONTROLS = ["\x1b[31mred\x07", "\x9b31m", "a\u202eb\u2066c", "d\u200fe"]


BIDIRECTIONAL = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def obeyed(text):
    """Return the characters that a terminal obeys."""
    controls = [each for each in text if unicodedata.category(each) in ("Cc", "Zl", "Zp") and each != "\n"]
    return [*controls, *({*text} & {*BIDIRECTIONAL})]


def test_csv_of_a_comparison_is_harmless():
    ranks = {name: [1 + number, 2] for number, name in enumerate([*FORMULAS, *CONTROLS])}
    result = made(ranks, by={"q00": "=1+1", "q01": "\x1b[2J"}, tests="t-test")
    assert not obeyed(result.to("csv"))
    for line in rows_of(result):
        for cell in line.values():
            assert not cell.lstrip().startswith(("=", "+", "@")), cell
            assert re.fullmatch(r"-[0-9.e-]+", cell) or not cell.startswith("-"), cell
    assert {line["group"] for line in rows_of(result)} == {"'=1+1", " [2J", "(all)"}
    first = next(line for line in rows_of(result) if line["group"] == "'=1+1")
    assert (first["run"], first["baseline"], float(first["difference"])) == ("'+1+1", "'=1+1", -0.5)


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "terminal"])
def test_control_characters_of_names_do_nothing(form, monkeypatch):
    odd = made({"\x1b[31mred\x07": [1, 1], "a\nb\r\x9bc\u2028d": [2, 2], "\u202egnp": [1, 2]})
    if form == "terminal":
        monkeypatch.setenv("TERM", "xterm-256color")
        monkeypatch.setattr("sys.stdout", Terminal())
    text = odd.to("table" if form == "terminal" else form)
    monkeypatch.undo()
    assert {*STYLES.findall(text)} == ({"\x1b[1m", "\x1b[4m", "\x1b[0m"} if form == "terminal" else set())
    assert not obeyed(STYLES.sub("", text))
    assert "a b c d" in text
