"""HTML as browsers take it: tags left out, text that is not shown, tables in tables, lines of the file."""

import contextlib
import subprocess
import sys

import pytest

import permed_measures as pm
from permed_measures.published_tables.read import html_tables, markdown_tables


def texts(page):
    return [[[cell.text for cell in row] for row in table] for table in html_tables(page)]


TABLES = {
    "no row at all": ("<td>run<td>P@1", [["run", "P@1"]]),
    "a first row without its tag": ("<td>run<td>P@1<tr><td>a<td>1", [["run", "P@1"], ["a", "1"]]),
    "a head without its row": ("<thead><th>r<th>P<tbody><tr><td>a<td>1", [["r", "P"], ["a", "1"]]),
    "a cell behind its row": ("<tr><td>a</td></tr><td>1</td>", [["a", "1"]]),
    "capitals": ("<TR><TD>a<TD>1", [["a", "1"]]),
    "raised": ("<tr><td>a<br>b<td>1<sup>2<i>k</i></sup><sub>3</sub>", [["a b", "1^{2k}_{3}"]]),
    "entities": ("<tr><td>a&nbsp;&amp;&#x2020;<td>&lt;1", [["a &†", "<1"]]),
    "a script": ("<tr><td>a<script>9<b></script><td><style>9</style>1", [["a", "1"]]),
    "a template": ("<tr><td>a<td><template>9</template>1", [["a", "1"]]),
    "a comment in a cell": ("<tr><td>a<td>0<!-- 9 -->.1<?x 9?>2", [["a", "0.12"]]),
    "maths": (r"<tr><td>$\mathbf{a}$<td>\textbf{1}$^\dagger$", [["a", "1^{†}"]]),
    "spans": ("<tr><td rowspan=2>a<td colspan=2>b<tr><td>1<td>2", [["a", "b", "b"], ["a", "1", "2"]]),
}


@pytest.mark.parametrize(("rows", "found"), TABLES.values(), ids=TABLES)
def test_tables_are_read_as_they_are_shown(rows, found):
    assert texts(f"<table>{rows}</table>") == [found]


PAGES = {
    "nothing": ("", []),
    "a comment": ("<!-- <table><tr><td>a</table> -->", []),
    "no table": ("<td>a</td>", []),
    "an empty table": ("<table></table>", [[]]),
    "XHTML": (
        "<?xml version='1.0' encoding='latin-1'?><table><tr><td>é</td><td/></tr></table>",
        [[["é", ""]]],
    ),
    "another encoding": ("<meta charset='latin-1'><table><tr><td>é<td>1</table>", [[["é", "1"]]]),
    "no end": ("<TABLE><tr><td>a<td>1", [[["a", "1"]]]),
}


@pytest.mark.parametrize(("page", "tables"), PAGES.values(), ids=PAGES)
def test_pages_of_any_kind_are_read(page, tables):
    assert texts(page) == tables


def test_a_table_in_a_cell_is_a_table_of_its_own():
    page = "<table><tr><td>a<td><table><tr><td>9<td>8</table>0.1<tr><td>b<td>2</table>"
    assert texts(page) == [[["a", "0.1"], ["b", "2"]], [["9", "8"]]]


@pytest.mark.parametrize("end", ["</td>", "\n"])
def test_lines_are_those_of_the_file_however_long_it_is(end):
    page = "\n" * 70_000 + f"<table><tr><th>run{end}<th\nclass=x>P@1<tr><td\n>a{end}</table>"
    lines = [[cell.line for cell in row] for row in html_tables(page)[0]]
    assert lines == ([[70_001, 70_002], [70_003]] if end == "\n" else [[70_001, 70_001], [70_002]])
    [table] = markdown_tables("text\n\n<div>\n<table><tr><td>a\n<td>1</table>\n</div>\n")
    assert [cell.line for cell in table[0]] == [4, 5]


def test_elements_that_are_nested_too_deep_are_refused_and_not_left_out():
    def page(depth):
        return "<table><tr><td>a<td>" + "<div>" * depth + "0.1</table>"

    assert texts(page(200)) == [[["a", "0.1"]]]
    read = []
    with contextlib.suppress(pm.InputError):  # some versions of libxml2 have no limit
        read = texts(page(3000))
    assert read in ([], [[["a", "0.1"]]])


@pytest.mark.parametrize(
    ("name", "text", "is_loaded"),
    [
        ("a.csv", "run,P@1\na,0.1\n", False),
        ("a.tex", "run & P@1 \\\\ a & 0.1 \\\\", False),
        ("a.txt", "run  P@1\na  0.1\n", False),
        ("a.html", "<table><tr><td>run<td>P@1<tr><td>a<td>0.1</table>", True),
    ],
)
def test_lxml_is_loaded_for_html_only(tmp_path, name, text, is_loaded):
    (tmp_path / name).write_text(text)
    code = (
        "import sys\nfrom permed_measures.published_tables.tables import read_claims_file\n"
        f"print(len(read_claims_file({str(tmp_path / name)!r}).rows), 'lxml' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", str(is_loaded)]
