"""Names that mean something in a markup, a spreadsheet or a terminal."""

import csv
import io
import itertools
import re
import unicodedata

import pytest
from reporting import (
    LATIN,
    MARKUP,
    STYLES,
    TURN,
    assert_compiles,
    made,
)

import permed_measures as pm
from permed_measures.comparisons.compare import compare
from permed_measures.markup import as_html, as_latex, as_markdown, one_line


@pytest.mark.parametrize(("text", "latex", "markdown", "html"), MARKUP)
def test_markup_is_as_written_by_hand(text, latex, markdown, html):
    assert as_latex(text) == latex
    assert as_markdown(text) == markdown
    assert as_html(text) == html


def test_bytes_of_a_name_that_are_no_text_are_escapes():
    assert one_line(b"a\xff.trec".decode(errors="surrogateescape")) == r"a\udcff.trec"


def test_latex_of_hostile_names_compiles(tmp_path):
    names = dict(zip(LATIN, itertools.cycle([[1, 1], [2, 1], [3, 4]]), strict=False))
    assert_compiles(made(names, ["RR", "P@1"]).to("latex"), tmp_path)


@pytest.mark.parametrize("layout", ["", "twocolumn"])
def test_latex_of_the_sample_compiles(dataset, sample_runs, tmp_path, layout):
    options = [{"baseline": "bm25"}, {}, {"baseline": "bm25", "by": TURN}, {"by": TURN, "tests": ()}]
    results = [compare(dataset, sample_runs, pm.MEDCORPUS, resamples=99, **each) for each in options]
    assert_compiles([result.to("latex") for result in results], tmp_path, layout)


@pytest.mark.parametrize("letter", ["Ā", "ŧ", "查", "Ω", "🧬"])
def test_letters_beyond_pdflatex_are_said(letter):
    text = made({letter: [1], "b": [2]}).to("latex")
    assert text.splitlines()[1].startswith("% compile it with XeLaTeX or LuaLaTeX")
    assert "XeLaTeX" not in made({"a \u201cquoted\u201d name\u2026": [1], "2\u20133": [2]}).to("latex")


FORMULAS = ["=1+1", "+1+1", "-2+3", "@SUM(A1)", "\t=1+1", "\r=1+1"]


CONTROLS = ["\x1b[31mred\x07", "\x9b31m", "a\u202eb\u2066c", "d\u200fe"]


def assert_harmless(text):
    """Look for what a terminal obeys, and for what a spreadsheet runs."""
    kinds = {unicodedata.category(character) for character in text.replace("\n", "").replace("\t", "")}
    assert not kinds & {"Cc", "Zl", "Zp"}
    assert not {*"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"} & {*text}
    for cell in re.split(r"[\t\n,]", text):
        assert not cell.strip('"').lstrip().startswith(("=", "+", "@")), cell
        assert re.fullmatch(r"-[0-9.e-]+", cell) or not cell.strip('"').startswith("-"), cell


def test_csv_of_a_comparison_is_harmless():
    names = [*FORMULAS, *CONTROLS]
    ranks = {name: [1 + number, 2] for number, name in enumerate(names)}
    groups = {"q00": "=1+1", "q01": "\x1b[2J"}
    text = made(ranks, by=groups, tests="t-test").to("csv")
    assert_harmless(text)
    lines = list(csv.DictReader(io.StringIO(text)))
    assert {line["group"] for line in lines} == {"'=1+1", " [2J", "(all)"}
    first = next(line for line in lines if line["group"] == "'=1+1")
    assert (first["run"], first["baseline"], float(first["difference"])) == ("'+1+1", "'=1+1", -0.5)


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "str"])
def test_control_characters_of_names_do_nothing(shown, form):
    odd = made({"\x1b[31mred\x07": [1, 1], "a\nb\r\x9bc\u2028d": [2, 2], "\u202egnp": [1, 2]})
    text = str(odd) if form == "str" else odd.to(form)
    kinds = {unicodedata.category(character) for character in text.replace("\n", "")}
    assert not kinds & {"Cc", "Cf", "Zl", "Zp"}
    assert "a b c d" in text
    assert {*STYLES.findall(shown(odd, 80)[1])} <= {"\x1b[1m", "\x1b[4m", "\x1b[0m"}
    assert "\x1b" not in "".join(shown(odd, 80)[0])
