"""Tables: any name comes back from every format, and a table is what was put in."""

import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from reporting import Page

from permed_measures.escaping import as_cell, one_line
from permed_measures.published_tables.read import read_tables
from permed_measures.results.table import TABLE_FORMATS, Cell, Table, best_two


def of_markdown(text):
    return of_html(MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(text))


def of_html(text):
    page = Page(text)
    known = {"div", "table", "thead", "tbody", "tr", "th", "td", "b", "strong", "u", "sup", "p"}
    assert {tag for tag, _ in page.tags} <= known
    return page.rows[1][0], page.paragraphs


LETTERS = {
    r"\textbackslash{}": "\\",
    r"\textasciicircum{}": "^",
    r"\textasciitilde{}": "~",
    r"\textasciigrave{}": "`",
    r"\textless{}": "<",
    r"\textgreater{}": ">",
    r"\textbar{}": "|",
    r"\textemdash{}": "—",
    r"{\char34}": '"',
    r"$^{\dagger}$": "†",
    r"$^{\ddagger}$": "‡",
    r"$\Delta$": "Δ",
    "$d_z$": "d_z",
    "$p$": "p",
    "$-$": "-",
    "$+$": "+",
    "{}": "",  # between what would be a ligature
    **{f"\\{letter}": letter for letter in "{}$&#_%"},
    **{f"{{{letter}}}": letter for letter in "[]*"},
}
IN_LATEX = re.compile("|".join(map(re.escape, LETTERS)))


def of_latex(text):
    """Read a table as LaTeX prints it; what is not known stays, and fails."""
    [row] = re.findall(r"\\midrule\n(.*) \\\\\n\\bottomrule", text)
    [caption] = re.findall(r"\\caption\{(.*)\}\n", text)
    caption = re.sub(r"\\texttt\{((?:[^{}]|\{[^{}]*\})*)\}", r"\1", caption)
    caption = re.sub(r"\$p<([0-9.]+)\$", r"p < \1", caption)
    name, *_ = re.split(r"(?<!\\)&", row)
    label, caption = (IN_LATEX.sub(lambda found: LETTERS[found[0]], each) for each in (name, caption))
    return label, [caption]


READERS = {"markdown": of_markdown, "html": of_html, "latex": of_latex}
ANY = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).map(one_line).filter(str.strip)


@pytest.mark.parametrize("form", READERS)
@given(name=ANY)
def test_any_name_comes_back_from_text(form, name):
    table = Table.of(["run", "P@1", "x"], [[name, Cell("0.5", 1, "†"), "1"]], caption=f"Means against {name}")
    label, [caption] = READERS[form](table.to(form))
    blanks = re.compile(r"\s+")
    name = blanks.sub(" ", name).strip()
    assert blanks.sub(" ", label).strip() == name
    assert name.rstrip(".") in blanks.sub(" ", caption)


@pytest.mark.parametrize(("form", "delimiter"), [("csv", ","), ("tsv", "\t")])
@given(name=ANY)
def test_any_name_comes_back_from_delimited_text(form, delimiter, name):
    table = Table.of(["run", "P@1"], [[name, "0.5"]])
    _, [label, value] = csv.reader(io.StringIO(table.to(form), newline=""), delimiter=delimiter)
    assert (label, value) == (as_cell(name), "0.5")
    assert label in (name, f"'{name}")


@given(name=ANY)
def test_any_name_comes_back_from_a_terminal(name):
    assert one_line(name).rstrip() in Table.of(["run", "P@1"], [[name, "0.5"]]).to("table")


@pytest.mark.parametrize("form", TABLE_FORMATS)
def test_a_table_without_rows_has_its_headings(form):
    assert "run" in Table.of(["run", "P@1"], []).to(form)


def test_what_is_set_apart_and_marked_is_seen_in_each_format():
    block = [[Cell("a"), Cell("0.9", 1, "†")], [Cell("b"), Cell("0.7", 2)]]
    table = Table(["run", "P@1"], [block, [[Cell("c"), Cell("1.0")]]], caption="Means", notes=["† p < 0.05"])
    said = "Means; best in bold, second best underlined. † p &lt; 0.05."
    lines = ["run   P@1", "─────────", "a    0.9†", "b    0.7", "", "c    1.0", "", "Means.", "† p < 0.05."]
    assert [line.rstrip() for line in table.to("table").splitlines()] == lines
    assert "| a | **0.9**† |\n| b | <u>0.7</u> |\n| c | 1.0 |\n" in table.to("markdown")
    assert table.to("markdown").endswith(f"\n{said}\n")
    counts = {"<tbody>": 2, '<th scope="row"': 3, 'class="label run"': 4, 'class="label': 4, "<td>": 3}
    assert {each: table.to("html").count(each) for each in counts} == counts
    assert f"<p>{said}</p>" in table.to("html")
    assert r"a & \textbf{0.9}\rlap{$^{\dagger}$} \\" in table.to("latex")
    assert table.to("latex").count(r"\midrule") == 2
    assert r"\begin{tabular}{@{}lr@{}}" in table.to("latex")
    assert table.to("csv") == "run,P@1\na,0.9\nb,0.7\nc,1.0\n"


def test_ranks_are_those_of_values_and_the_caption_says_where_that_is_not_seen():
    assert best_two([1000, 999, 2]) == [1, 2, 0]
    assert best_two([0.1 + 0.2, 0.3, 0.29999]) == [1, 1, 2]
    close = [("a", 0.50004), ("b", 0.50001), ("c", 0.4)]
    ranks = best_two([value for _, value in close])
    for digits, said in (
        (4, "Best in bold, second best underlined, by all digits."),
        (5, "Best in bold, second best underlined."),
    ):
        rows = [
            [run, Cell(f"{value:.{digits}f}", rank, value=value)]
            for (run, value), rank in zip(close, ranks, strict=True)
        ]
        assert Table.of(["run", "P@1"], rows).sentences() == [said]


def test_html_has_values_beside_texts():
    cells = [
        Cell("<0.0001", value=1e-07),
        Cell("[+0.1, +0.2]", value=0.1),
        Cell("0.1234", 1, "†", 0.12345678),
    ]
    html = Table.of(["run", "p", "CI", "RR"], [["a", *cells]]).to("html")
    assert re.findall(r'data-value="(.*?)"', html) == ["1e-07", "0.1", "0.12345678"]
    assert "<td>0.5" in Table.of(["run", "RR"], [["a", "0.5"]]).to("html")


@pytest.mark.parametrize(("form", "ending"), [("latex", "tex"), ("markdown", "md"), ("csv", "csv")])
def test_a_table_is_read_again_as_one_of_a_paper(form, ending, tmp_path):
    rows = [["bm25_v2", "0.5000", "+0.1000"], ["a & b", "0.2500", "-0.1500"]]
    table = Table.of(["run", "nDCG-exp@10", "GradedAP(norm='ideal')@10"], rows)
    (tmp_path / f"table.{ending}").write_text(table.to(form))
    [found] = read_tables(tmp_path / f"table.{ending}")
    assert [" ".join(title) for title in found.titles] == table.headings
    assert [[cell.text for cell in row.cells] for row in found.rows] == rows


@pytest.mark.parametrize(
    "row", [{"run": "b"}, {"run": "b", "AP": "0.2", "RR": "0.3"}, {"run": "b", "RR": "0.2"}]
)
def test_each_row_by_heading_has_the_headings_of_the_first(row):
    with pytest.raises(ValueError, match=r"rows must have the headings \['run', 'AP'\]"):
        Table.by_heading([{"run": "a", "AP": "0.1"}, row])
    same = Table.by_heading([{"run": "a", "AP": "0.1"}, {"AP": "0.2", "run": "b"}])
    assert [[cell.text for cell in cells] for cells in same.rows] == [["a", "0.1"], ["b", "0.2"]]
