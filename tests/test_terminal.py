"""Tables for a terminal: by display width, and the same with every version of rich."""

import io
import os
import sys
import time
from types import SimpleNamespace

import pytest
from reporting import STYLES, Terminal
from rich.cells import cell_len

import permed_measures as pm
from permed_measures.terminal import Styled, _width, paragraph, section, terminal_table

NAMES = ["bm25", "查询重写检索", "e\u0301te\u0301", "👩\u200d🔬"]
ROWS = [[name, f"{0.7917 + number:.4f}", "1,048,576"] for number, name in enumerate(NAMES)]


def plain(text):
    """Return a text without the codes for styles."""
    return STYLES.sub("", text)


@pytest.fixture
def terminal(monkeypatch):
    """Return a function that makes stdout a terminal of some width."""

    def of_width(width):
        monkeypatch.setattr(sys, "stdout", Terminal())
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.setenv("TERM", "xterm")

    return of_width


def test_columns_are_as_wide_as_they_are_shown():
    lines = terminal_table(["run", "P@1", "rows"], ROWS, 1).splitlines()
    assert lines[1] == "─" * 31
    assert lines[3] == "查询重写检索  1.7917  1,048,576"
    assert {cell_len(line) for line in lines} == {31}


@pytest.mark.parametrize("width", [10, 12, 17, 24, 29, 30, 36, 44])
def test_no_number_is_cut_or_folded_in_a_narrow_terminal(terminal, width):
    terminal(width)
    headings = ["the name of the run", "GradedAP(norm='ideal')@10", "rows"]
    rows = [[name, Styled(value, "bold"), Styled(count, "dim", "*")] for name, value, count in ROWS]
    text = plain(terminal_table(headings, rows, 1))
    lines = text.splitlines()
    for _, value, _ in ROWS:
        assert sum(value in line for line in lines) == 1
    assert sum(line.count("1,048,576*") for line in lines) == len(ROWS)
    if width >= 30:  # twelve for the name, and the heading
        assert max(map(cell_len, lines)) <= width


LAYOUTS = {
    "long labels are folded, and blocks are apart": (
        (20, ["name", "n"], [["a label of five words", "1"], ["b", "2"], ["c", "3"]], {"starts": [2]}),
        [
            "name               n",
            "─" * 20,
            "a label of five    1",
            "words",
            "b                  2",
            "",
            "c                  3",
        ],
    ),
    "labels are folded between parts of words": (
        (
            26,
            ["run", "P@1"],
            [["scholarloop_a_v2_no_rerank", "1.0000"], ["embeddings.v2/scholarloop", "0.5000"]],
            {},
        ),
        [
            "run                    P@1",
            "─" * 26,
            "scholarloop_a_v2_   1.0000",
            "no_rerank",
            "embeddings.v2/      0.5000",
            "scholarloop",
        ],
    ),
    "a number does not break at its point": (
        (22, ["asked", "P@1"], [["a drop up to 0.02", "1.0000"], ["bm25.trec.0.75.v2", "0.5"]], {}),
        [
            "asked              P@1",
            "─" * 22,
            "a drop up to    1.0000",
            "0.02",
            "bm25.trec.         0.5",
            "0.75.v2",
        ],
    ),
    "a word of a heading breaks where nothing else is left": (
        (14, ["run", "Unzerbrechlichkeit"], [["a", "0.5"]], {}),
        ["run  Unzerbrec", "     hlichkeit", "─" * 14, "a          0.5"],
    ),
    "columns that are left out are named": (
        (16, ["run", "P@1", "seldom asked"], [["a", "0.5000", "0.1234"]], {"droppable": ["seldom asked"]}),
        ["run     P@1", "─" * 11, "a    0.5000", "", "hidden (terminal", "too narrow):", "seldom asked"],
    ),
}


@pytest.mark.parametrize(("table", "lines"), LAYOUTS.values(), ids=LAYOUTS)
def test_a_table_is_laid_out_so(terminal, table, lines):
    width, headings, rows, options = table
    terminal(width)
    text = plain(terminal_table(headings, rows, 1, **options))
    assert [line.rstrip() for line in text.splitlines()] == lines


def test_numbers_go_on_below_before_a_word_of_a_label_breaks(terminal):
    terminal(40)
    rows = [["a_neuralembedding", *["0.1234"] * 3]]
    text = plain(terminal_table(["run", "one", "two", "three"], rows, 1))
    assert "neuralembedding" in text
    assert max(map(len, text.splitlines())) <= 40


def test_what_is_in_cells_controls_no_terminal():
    rows = [["a\x1b[31m\nb", "\u202e1"]]
    assert terminal_table(["run", "P"], rows, 1).splitlines()[2] == "a [31m b   1"


@pytest.mark.parametrize("width", [10, 60])
def test_lines_after_the_first_hang(terminal, width):
    terminal(width)
    text = (
        "note: a sentence of several words about 查询重写检索, and a_very_long_name_that_fits_no_line_at_all"
    )
    lines = paragraph(text, hang=6).splitlines()
    assert lines[0].startswith("note: a")
    assert all(line.startswith("      ") for line in lines[1:])
    assert max(map(cell_len, lines)) <= width
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert paragraph("p: a test", hang=2) == "p: a test"


def test_the_narrowest_terminal_has_one_letter_in_a_line(terminal, monkeypatch):
    terminal(1)
    assert paragraph("p: ab", hang=2).split() == ["p:a", "b"]
    monkeypatch.delenv("COLUMNS")
    assert paragraph("x" * 81).split() == ["x" * 80, "x"]  # of a terminal that does not say


@pytest.mark.parametrize("width", [20, 120])
def test_a_section_has_a_bold_heading_and_hanging_paragraphs(terminal, width):
    terminal(width)
    words = "a b c d e f g h i j k l m n o p q r s t u v w x y z " * 4
    heading, *lines = section("What is said", [f"first: {words}", "second", "x\x1b[31m"]).splitlines()
    assert heading == "\x1b[1mWhat is said\x1b[0m"
    assert [line.split()[0] for line in lines if not line.startswith("    ")] == ["first:", "second", "x"]
    assert max(map(cell_len, lines)) <= min(width, 100)
    assert " ".join(" ".join(lines).split()) == " ".join(f"first: {words} second x [31m".split())


def test_where_there_is_no_terminal_columns_decide(monkeypatch):
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO()))
    monkeypatch.setenv("COLUMNS", "30")
    headings = ["run", "nDCG-exp@10", "GradedAP(norm='ideal')@10"]
    text = terminal_table(headings, [["bm25", "0.5000", "0.1234"]], 1)
    assert text.splitlines()[:3] == [
        "run   nDCG-exp        GradedAP",
        "           @10  (norm='ideal')",
        "                           @10",
    ]
    monkeypatch.setenv("COLUMNS", "")
    assert terminal_table(headings, [["bm25", "0.5000", "0.1234"]], 1).count("\n") == 3
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setattr(sys, "stdout", io.StringIO())  # as what is written to a file is collected
    assert terminal_table(headings, [["bm25", "0.5000", "0.1234"]], 1).count("\n") == 3


def test_a_width_gives_plain_text_whatever_the_terminal(terminal):
    result = pm.evaluate(
        {"q": {"a": 1}}, {"one run": {"q": {"a": 1.0}}, "b": {"q": {"b": 2.0, "a": 1.0}}}, ["P@1", "RR"]
    )
    terminal(200)
    report = result.report()
    on_terminal, wide, narrow = report.to(), report.to(width=200), report.to(width=20)
    assert "\x1b[1m" in on_terminal
    assert wide.splitlines()[:4] == plain(on_terminal).splitlines()[:4]
    assert "\x1b" not in wide + narrow
    assert max(map(cell_len, narrow.splitlines())) <= 20 < max(map(cell_len, wide.splitlines())) <= 100
    terminal(20)
    assert report.to(width=200) == wide


@pytest.mark.parametrize(("variable", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_plain_text_if_asked_for(terminal, monkeypatch, variable, value):
    terminal(80)
    monkeypatch.setenv("NO_COLOR", "")  # which is as if it were not there
    assert "\x1b[1m" in terminal_table(["run", "P"], [["a", "1"]], 1)
    monkeypatch.setenv(variable, value)
    assert "\x1b" not in terminal_table(["run", "P"], [["a", "1"]], 1)


@pytest.mark.parametrize(("encoding", "line"), [("utf-8", "──────"), ("cp1252", "------")])
def test_the_line_below_the_headings_is_of_what_can_be_printed(monkeypatch, encoding, line):
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding=encoding))
    assert terminal_table(["run", "P"], [["a", "1"]], 1).splitlines()[1] == line


@pytest.mark.parametrize("width", [34, 38, 46, 58])
def test_labels_are_folded_between_words_and_parameters(terminal, width):
    terminal(width)
    label = "VariantNDCG(discount='zipf',ideal='run',negative='keep')@100"
    text = plain(terminal_table(["measure", "P"], [[label, "0.5000"], ["a-long-name of it all", "1"]], 1))
    lines = [line.removesuffix("0.5000").strip() for line in text.splitlines()[2:]]
    ends = ("VariantNDCG", "'", ",", ")", "@100", "-", "name", "of", "it", "all", "1")
    assert all(line.endswith(ends) for line in lines), lines
    assert max(map(cell_len, text.splitlines())) <= width


@pytest.mark.parametrize("width", [22, 27, 37, 47, 56, 57])
def test_a_table_that_goes_on_breaks_no_word_and_repeats_the_labels(terminal, width):
    terminal(width)
    headings = ["run", "nDCG-exp@10", "Coverage@10", "P@1", "queries in run", "ignored"]
    rows = [["neural_embed", "0.1111", "0.2222", "0.3333", "48 of 48", "0"], ["b", *"12345"]]
    text = plain(terminal_table(headings, rows, 1))
    assert max(map(cell_len, text.splitlines())) <= width
    tables = [table.splitlines() for table in text.split("\n\n")]
    assert [table[-2].split()[0] for table in tables] == ["neural_embed"] * len(tables)
    assert [word for table in tables for word in table[-1].split()[1:]] == [*"12345"]
    words = set(text.replace("@10", " ").replace("nDCG-", " ").split())
    assert {"exp", "Coverage", "queries", "ignored", "neural_embed"} <= words
    assert (len(tables) > 1) == (width < 57)


def test_a_long_label_does_not_cost_a_column(terminal):
    terminal(60)
    rows = [["a run with a very long name that says all of how it was made", "0.5000", "0.1234"]]
    lines = plain(terminal_table(["run", "P@1", "R@1"], rows, 1, droppable=["R@1"])).splitlines()
    assert lines[2].split()[-2:] == ["0.5000", "0.1234"]
    assert max(map(cell_len, lines)) <= 60
    for digits, hidden in ((18, 0), (19, 1)):  # beside a third of the width for the label
        rows[0][1:] = ["1" * digits, "2" * digits]
        assert terminal_table(["run", "P@1", "R@1"], rows, 1, droppable=["R@1"]).count("hidden") == hidden


def test_lines_of_text_have_100_columns_at_most_and_files_no_limit(terminal):
    heading = "word " * 30
    assert section(heading, []) == f"{heading.strip()}\n"
    terminal(200)
    assert [len(plain(line)) for line in section(heading, []).splitlines()] == [99, 49]
    terminal(60)
    assert max(len(plain(line)) for line in section(heading, []).splitlines()) == 59


def test_a_table_of_many_blocks_takes_little_longer_than_one_block_of_the_same_rows():
    def seconds(starts):
        times = []
        for _ in range(2):
            start = time.process_time()
            terminal_table(["group", "P@1"], [["a", "0.5"]] * 10_000, 1, starts)
            times.append(time.process_time() - start)
        return min(times)

    assert seconds(range(10_000)) / seconds([]) < 2
    assert seconds(list(range(10_000))) / seconds([]) < 2  # 4, were each row looked for in the list


def test_a_terminal_without_a_width_is_80_columns_wide(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size((0, 0)))
    stream = SimpleNamespace(isatty=lambda: True, fileno=lambda: 1)
    assert _width(stream) == 80
