"""What is said of a comparison: markup, the table and sentences of a paper, files, a page, a terminal."""

import csv
import dataclasses
import io
import itertools
import json
import math
import re
import shutil
import subprocess
import sys
import unicodedata
from html.parser import HTMLParser

import ir_datasets
import numpy as np
import pytest
from markdown_it import MarkdownIt
from rich.cells import cell_len
from scipy import stats

import permed_measures as pm
from permed_measures.comparisons.compare import compare
from permed_measures.datasets import SAMPLES
from permed_measures.engine.evaluator import PermedEvaluator
from permed_measures.engine.groups import Groups
from permed_measures.engine.judgments import Judgments
from permed_measures.markup import as_cell, as_html, as_latex, as_markdown, one_line
from permed_measures.reports.evaluation import EVALUATION_FORMATS, Report
from permed_measures.reports.paper_table import paper_table, sentences

MEDICAL = SAMPLES[0]
TURN = "_([0-9]+)$"


def run_of(ranks):
    """Return a run with the one relevant document of each query at this rank: RR is one over it."""
    return {
        f"q{i:02}": {**{f"x{j}": -float(j) for j in range(1, rank)}, "d": 0.5 - rank}
        for i, rank in enumerate(ranks)
    }


def made(ranks, measures="RR", **options):
    """Compare runs by the ranks of their relevant documents, with the randomization test alone."""
    qrels = {f"q{i:02}": {"d": 1} for i in range(len(next(iter(ranks.values()))))}
    runs = {name: run_of(each) for name, each in ranks.items()}
    return compare(qrels, runs, measures, **{"tests": "randomization", **options})


def pair(n, old=2, new=1, measures="RR", **options):
    """Compare two runs that rank alike on n queries."""
    return made({"old": [old] * n, "new": [new] * n}, measures, **{"baseline": "old", **options})


@pytest.fixture(scope="module")
def dataset():
    return ir_datasets.load("permed-sample")


@pytest.fixture(scope="module")
def sample_runs():
    return {name: pm.read_run(path) for name, path in MEDICAL.runs.items()}


@pytest.fixture(scope="module")
def sample(dataset, sample_runs):
    """Return a comparison of every pair, by turn, with conversations as clusters."""
    return compare(dataset, sample_runs, ["nDCG@10", "GradedAP@10", "P@1"], resamples=499, by="turn_number")


# --- markup ------------------------------------------------------------------------------------------

MARKUP = [
    # text, LaTeX, Markdown, HTML
    ("a_b", r"a\_b", r"a\_b", "a_b"),
    ("50%", r"50\%", "50%", "50%"),
    ("x|y", r"x\textbar{}y", r"x\|y", "x|y"),
    ("<b>", r"\textless{}b\textgreater{}", "&lt;b&gt;", "&lt;b&gt;"),
    ("$x$", r"\$x\$", r"\$x\$", "$x$"),
    ("\\", r"\textbackslash{}", r"\\", "\\"),
    ("^", r"\textasciicircum{}", "^", "^"),
    ("~~a", r"\textasciitilde{}\textasciitilde{}a", r"\~\~a", "~~a"),
    ("two\r\nlines", "two lines", "two lines", "two lines"),
    ("a\x1b[31m\u202eb", "a {[}31m b", r"a \[31m b", "a [31m b"),
    ("查询重写", "查询重写", "查询重写", "查询重写"),
    ("[a]", "{[}a{]}", r"\[a\]", "[a]"),
    ("*", "{*}", r"\*", "*"),
    ("a---b", "a-{}-{}-b", "a---b", "a---b"),
    ("- a", "- a", r"\- a", "- a"),
    ("1. a", "1. a", r"1\. a", "1. a"),
    ("2) a", "2) a", r"2\) a", "2) a"),
    ("v1. a", "v1. a", "v1. a", "v1. a"),
    ("# a", r"\# a", r"\# a", "# a"),
    ("&amp;", r"\&amp;", "&amp;amp;", "&amp;amp;"),
    ("{a}", r"\{a\}", r"\{a\}", "{a}"),
    ("`a`", r"\textasciigrave{}a\textasciigrave{}", r"\`a\`", "`a`"),
    ("''a\"", "'{}'a{\\char34}", "''a\"", "&#x27;&#x27;a&quot;"),
    ("—†‡Δ", r"\textemdash{}$^{\dagger}$$^{\ddagger}$$\Delta$", "—†‡Δ", "—†‡Δ"),
]
HOSTILE = [
    *(text for text, *_ in MARKUP),
    *("<script>alert(1)</script>", "</td></table>", "a\\|b", "]]>-->", "![a](b)", "> a", "=== a", "+ a"),
    *("https://a.b/?c=d&e", "=1+1", 'a,"b"\t;'),
]
LATIN = [name for name in HOSTILE if not re.search("[\u4e00-\u9fff]", name)]


@pytest.mark.parametrize(("text", "latex", "markdown", "html"), MARKUP)
def test_markup_is_as_written_by_hand(text, latex, markdown, html):
    assert as_latex(text) == latex
    assert as_markdown(text) == markdown
    assert as_html(text) == html


def test_bytes_of_a_name_that_are_no_text_are_escapes():
    assert one_line(b"a\xff.trec".decode(errors="surrogateescape")) == r"a\udcff.trec"


@pytest.fixture(scope="module")
def hostile():
    """Return a comparison of runs with names that mean something in one markup or the other."""
    names = dict(zip(HOSTILE, itertools.cycle([[1, 1], [2, 1], [3, 4]]), strict=False))
    return made(names, ["RR", "P@1"], baseline=HOSTILE[0], correction="none")


def latex_rows(text):
    """Return the cells of the rows of a LaTeX table, after a look at its braces and columns."""
    assert re.sub(r"\\[{}]", "", text).count("{") == re.sub(r"\\[{}]", "", text).count("}")
    columns = re.search(r"\\begin\{tabular\}\{(.*)\}", text)[1].replace("@{ }", "")
    body = text.partition("\\toprule\n")[2].partition("\\bottomrule")[0].replace("\\midrule\n", "")
    rows = [re.split(r"(?<!\\)&", line.removesuffix(r" \\")) for line in body.splitlines()]
    assert [line[-3:] for line in body.splitlines()] == [r" \\"] * len(rows)
    spans = [sum(2 if "multicolumn{2}" in cell else 1 for cell in row) for row in rows]
    assert spans == [len(columns)] * len(rows)
    return [[cell.strip() for cell in row] for row in rows]


def assert_compiles(text, folder):
    """Compile a LaTeX table where there is a LaTeX, with the packages that its first line names."""
    latex_rows(text)
    packages = "".join(re.findall(r"\\usepackage(?:\[\w+\])?\{\w+\}", text.splitlines()[0]))
    source = f"\\documentclass{{article}}{packages}\n\\begin{{document}}\n{text}\\end{{document}}\n"
    (folder / "table.tex").write_text(source)
    if shutil.which("pdflatex"):
        command = ["pdflatex", "-draftmode", "-interaction=nonstopmode", "-halt-on-error", "table"]
        done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
        log = done.stdout.decode(errors="replace")
        assert (done.returncode, re.findall("^!.*|Missing character.*", log, re.MULTILINE)) == (0, []), log


def test_latex_of_hostile_names_compiles(tmp_path):
    names = dict(zip(LATIN, itertools.cycle([[1, 1], [2, 1], [3, 4]]), strict=False))
    text = made(names, ["RR", "P@1"]).to("latex")
    assert text.startswith("% needs \\usepackage{booktabs}\n")
    assert_compiles(text, tmp_path)


@pytest.mark.parametrize(
    "options",
    [{"baseline": "bm25"}, {"baseline": None}, {"baseline": "bm25", "by": TURN}, {"by": TURN, "tests": ()}],
)
def test_latex_of_the_sample_compiles(dataset, sample_runs, tmp_path, options):
    result = compare(dataset, sample_runs, pm.MEDCORPUS, resamples=99, **options)
    assert_compiles(result.to("latex"), tmp_path)


NOT_IN_T1 = "ĦħĸĿŀŉŦŧſ"


def test_latex_of_latin_letters_compiles_with_what_it_says(tmp_path):
    letters = [chr(code) for code in range(0xA0, 0x180) if chr(code) not in NOT_IN_T1]
    text = made({"".join(letters[i : i + 40]): [1] for i in range(0, len(letters), 40)}).to("latex")
    assert text.startswith("% needs \\usepackage{booktabs}, \\usepackage[T1]{fontenc}\n")
    assert_compiles(text, tmp_path)


@pytest.mark.parametrize("letter", [*NOT_IN_T1, "查", "Ω", "🧬"])
def test_letters_beyond_pdflatex_are_said(letter):
    text = made({letter: [1], "b": [2]}).to("latex")
    assert "xelatex or lualatex with a font that has the letters" in text.splitlines()[0]
    assert latex_rows(text)[1] == ["a", letter, r"\textbf{1.0000}", ""]


class Page(HTMLParser):
    """What a page has; it must be well nested."""

    VOID = ("meta", "br")

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.ids, self.links, self.rows = [], [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.append((tag, given))
        self.open += [] if tag in self.VOID else [tag]
        self.ids += [given["id"]] if "id" in given else []
        self.links += [v for k, v in attrs if k.split(":")[-1] in ("src", "href") or "url(" in (v or "")]
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, (tag, self.getpos())

    def handle_data(self, data):
        if {"td", "th"} & {*self.open}:
            self.rows[-1][-1] += data


def test_markdown_of_hostile_names_shows_them_letter_for_letter(hostile):
    page = Page(MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(hostile.to("markdown")))
    assert [row[0] for row in page.rows[1:]] == [one_line(name) for name in HOSTILE]
    assert [row[1].rstrip("†‡") for row in page.rows[1:4]] == ["1.0000", "0.7500", "0.2917"]
    assert {tag for tag, _ in page.tags} == {
        *("table", "thead", "tbody", "tr", "th", "td", "strong", "u", "p"),
    }
    n_texts = 1 + len(sentences(hostile)) + len(hostile.notes)
    assert [tag for tag, _ in page.tags].count("p") == n_texts


# --- the table of a paper ------------------------------------------------------------------------------


def cells_of(result):
    return [[[tuple(cell) for cell in row.cells] for row in block] for block in paper_table(result).blocks]


@pytest.mark.parametrize(
    ("ranks", "means", "places"),
    [
        ([4, 1, 2], ["0.2500", "1.0000", "0.5000"], [0, 1, 2]),
        ([1, 1, 2], ["1.0000", "1.0000", "0.5000"], [1, 1, 2]),
        ([2, 1, 2, 4], ["0.5000", "1.0000", "0.5000", "0.2500"], [2, 1, 2, 0]),
        ([2, 2], ["0.5000", "0.5000"], [0, 0]),
        ([201, 200, 1000], ["0.0050", "0.0050", "0.0010"], [1, 1, 2]),
        ([200, 201], ["0.0050", "0.0050"], [0, 0]),
    ],
)
def test_the_best_and_the_second_are_those_that_print_so(ranks, means, places):
    result = made({f"r{i}": [rank] for i, rank in enumerate(ranks)}, tests=())
    [column] = zip(*cells_of(result)[0], strict=True)
    assert list(column) == [(text, place, "") for text, place in zip(means, places, strict=True)]
    assert ("best in bold, second best underlined" in paper_table(result).caption()) == (places != [0, 0])


@pytest.mark.parametrize(("n", "mark"), [(8, "‡"), (7, "†"), (6, "†"), (5, "")])  # p is 2 / 2^n
@pytest.mark.parametrize("ranks", [(2, 1), (1, 2)])
def test_daggers_are_those_of_the_exact_p(n, mark, ranks):
    [[[(_, _, baseline)], [(_, _, run)]]] = cells_of(pair(n, *ranks))
    assert (baseline, run) == ("", mark)


@pytest.mark.parametrize(("resamples", "mark"), [(100, "‡"), (99, "†"), (20, "†"), (19, "")])
def test_a_p_of_a_level_is_not_below_it(resamples, mark):
    result = pair(40, resamples=resamples)
    assert result.rows[0].tests["randomization"].p == 1 / (1 + resamples)
    assert cells_of(result)[0][1][0][2] == mark


def test_marks_are_of_adjusted_p_values():
    ranks = {"old": [4] * 8, "a": [1] * 8, "b": [2] * 8}  # each p is 2 / 256
    marks = {c: cells_of(made(ranks, baseline="old", correction=c))[0][1][0][2] for c in ("none", "holm")}
    assert marks == {"none": "‡", "holm": "†"}


def test_letters_are_of_the_runs_that_one_is_better_than():
    result = made({"first": [1] * 8, "second": [2] * 8, "third": [4] * 8})
    labels = [row.labels for row in paper_table(result).blocks[0]]
    assert labels == [["a", "first"], ["b", "second"], ["c", "third"]]
    assert cells_of(result) == [[[("1.0000", 1, "bc")], [("0.5000", 2, "c")], [("0.2500", 0, "")]]]
    assert latex_rows(result.to("latex"))[1:3] == [
        ["a", "first", r"\textbf{1.0000}", r"\textsuperscript{bc}"],
        ["b", "second", r"\underline{0.5000}", r"\textsuperscript{c}"],
    ]
    assert result.to("markdown").splitlines()[2:4] == [
        "| a | first | **1.0000**<sup>bc</sup> |",
        "| b | second | <u>0.5000</u><sup>c</sup> |",
    ]
    assert result.to("table").splitlines()[2].split() == ["a", "first", "1.0000", "bc"]


@pytest.mark.parametrize(("n", "last", "kind"), [(26, "z", "letter"), (27, "27", "number")])
def test_more_runs_than_letters_have_numbers(n, last, kind, tmp_path):
    result = made({f"run{i}": [i] * 8 for i in range(1, n + 1)}, correction="none")
    table = paper_table(result)
    assert table.blocks[0][-1].labels == [last, f"run{n}"]
    first = table.blocks[0][0].cells[0]
    numbers = ",".join(map(str, range(2, 28)))
    assert first.mark == {"letter": "bcdefghijklmnopqrstuvwxyz", "number": numbers}[kind]
    meaning = f"{kind.capitalize()}s name the runs that a run is significantly better than, p < 0.05"
    assert meaning in table.caption()
    assert_compiles(result.to("latex"), tmp_path)


IN_FOURS = {f"q{i:02}": i // 4 for i in range(16)}
TWO_GROUPS = {f"q{i:02}": "xxyy"[i % 4] for i in range(8)}
EXACT = "randomization test (all 256 sign patterns of 8 queries)"
DAGGERS = "† p < 0.05, ‡ p < 0.01 against old: "
LETTERS = "Letters name the runs that a run is significantly better than, p < 0.05: "
EITHER = "randomization test (all sign patterns of the queries, or 10,000 random ones where there are more)"
DRAWN = "randomization test (1,234 random sign patterns of 40 queries, seed 5)"
NONE_HOLDS = "No significance marks: the tests treat the queries of a cluster as independent."
RANKS = "Wilcoxon's test (signed ranks of 8 non-zero differences)"
VARIANT = "nDCG(dcg='exp-log2')@10"


@pytest.mark.parametrize(
    ("n", "options", "about", "marks"),
    [
        (8, {}, "8 queries", f"{DAGGERS}{EXACT}, Holm correction over 1 test."),
        (
            *(8, {"measures": ["RR", "P@1"], "correction": "bonferroni"}, "8 queries"),
            f"{DAGGERS}{EXACT}, Bonferroni correction over 2 tests.",
        ),
        (8, {"baseline": None, "correction": "none"}, "8 queries", f"{LETTERS}{EXACT}, uncorrected."),
        (40, {"resamples": 1234, "seed": 5}, "40 queries", f"{DAGGERS}{DRAWN}, Holm correction over 1 test."),
        (
            *(16, {"clusters": IN_FOURS}, "16 queries in 4 clusters"),
            f"{DAGGERS}randomization test (all 16 sign patterns of 4 clusters), Holm correction over 1 test.",
        ),
        (16, {"clusters": IN_FOURS, "tests": "wilcoxon"}, "16 queries in 4 clusters", NONE_HOLDS),
        (8, {"tests": "bootstrap"}, "8 queries", "No significance test was run."),
        (
            *(8, {"tests": "wilcoxon", "correction": "benjamini-hochberg"}, "8 queries"),
            f"{DAGGERS}{RANKS}, Benjamini-Hochberg correction over 1 test.",
        ),
        (
            *(8, {"by": TWO_GROUPS}, "8 queries"),
            f"{DAGGERS}{EITHER}, Holm correction over 2 tests on groups and over 1 test on all queries.",
        ),
        (
            *(8, {"measures": VARIANT, "tests": ()}, "8 queries"),
            f"No significance test was run. nDCG@10 is {VARIANT}.",
        ),
    ],
)
def test_a_caption_says_how_the_marks_were_made(n, options, about, marks):
    result = pair(n, **options)
    start = f"Means{' by group' if 'by' in options else ''} over {about}"
    caption = f"{start}; best in bold, second best underlined. {marks}"
    assert paper_table(result).caption() == caption
    assert f"\n{as_markdown(caption)}\n" in result.to("markdown")
    assert f"{start}. {marks}" in " ".join(result.to("table").split())  # without bold letters


@pytest.mark.parametrize("tests", ["randomization", "wilcoxon", "t-test", ()])
def test_what_only_naive_tests_find_has_no_mark(tests):
    result = pair(16, clusters=IN_FOURS, tests=tests)  # 4 clusters: p is 2 / 16, naive 2 / 2^16
    assert cells_of(result)[0][1] == [("1.0000", 1, "")]


def test_no_p_value_is_no_family():
    result = pair(1, tests="t-test", measures=["RR", "P@1"])
    caption, text = paper_table(result).caption(), str(result)
    assert caption.endswith("second best underlined. No significance marks: no t-test has a p-value.")
    assert "adjusted" not in text
    assert "1 query\n" in text
    pairs = paper_table(made({"old": [2], "new": [1]}, tests="t-test"))
    assert pairs.labels == ["run"]
    assert "t-test has a p-value" in pairs.caption()


def test_groups_without_p_values_are_no_family():
    by = {f"q{i:02}": i for i in range(3)}
    result = made({"old": [2, 2, 2], "new": [1, 3, 1]}, baseline="old", tests="t-test", by=by)
    assert "Holm correction over 1 test on all queries" in paper_table(result).caption()
    assert "Holm: p adjusted by Holm over 1 p-value of all queries" in str(result).splitlines()


@pytest.mark.parametrize(
    ("p", "printed"),
    [
        *((0.04996, "0.04996"), (0.049999, "0.049999"), (0.05, "0.0500"), (0.05004, "0.0500")),
        *((0.009996, "0.009996"), (0.01, "0.0100"), (0.0499, "0.0499"), (1.0, "1.0000")),
    ],
)
def test_a_p_that_is_below_a_level_prints_so(p, printed):
    result = pair(8, correction="none", tests="wilcoxon")
    [row] = result.rows
    test = dataclasses.replace(row.tests["wilcoxon"], p=p, adjusted=p)
    result = dataclasses.replace(result, rows=[dataclasses.replace(row, tests={"wilcoxon": test})])
    [sentence] = sentences(result)
    assert f"p = {printed})" in sentence
    assert ("is significantly better" in sentence) == (p < 0.05) == (float(printed) < 0.05)
    assert f" {printed}" in str(result)
    mark = paper_table(result).blocks[0][1].cells[0].mark
    assert mark == ("‡" if p < 0.01 else "†" if p < 0.05 else "")


@pytest.mark.parametrize(("level", "printed"), [(0.9, "90%"), (0.999, "99.9%"), (0.99999, "99.999%")])
def test_the_level_of_an_interval_is_not_rounded(level, printed):
    assert f" {printed} interval " in str(pair(8, tests="bootstrap", level=level))


@pytest.mark.parametrize("correction", ["holm", "none"])
def test_intervals_are_said_not_to_be_adjusted_where_p_values_are(correction):
    texts = [
        str(pair(12, tests=["bootstrap", "wilcoxon"], measures=measures, correction=correction))
        for measures in ("RR", ["RR", "P@1"])
    ]
    assert ["not adjusted" in text for text in texts] == [False, correction == "holm"]


def test_a_legend_counts_the_p_values():
    assert "Holm: p adjusted by Holm over 1 p-value" in str(pair(8)).splitlines()
    groups = "over 2 p-values of all group groups, and over 1 p-value of all queries"
    assert f"Holm: p adjusted by Holm {groups}" in str(pair(8, by=TWO_GROUPS)).splitlines()


def test_groups_are_blocks_with_their_own_best():
    ranks = {"old": [1, 1, 4, 4], "new": [2, 2, 2, 2]}
    table = paper_table(made(ranks, baseline="old", by={f"q{i:02}": "xxyy"[i] for i in range(4)}))
    assert table.labels == ["group", "run"]
    assert [[row.labels for row in block] for block in table.blocks] == [
        [["x", "old"], ["x", "new"]],
        [["y", "old"], ["y", "new"]],
        [["(all)", "old"], ["(all)", "new"]],
    ]
    assert [[cell[:2] for row in block for cell in row.cells] for block in table.blocks] == [
        [("1.0000", 1), ("0.5000", 2)],
        [("0.2500", 2), ("0.5000", 1)],
        [("0.6250", 1), ("0.5000", 2)],
    ]


# --- sentences -------------------------------------------------------------------------------------------


BETTER, WORSE = "significantly better", "significantly worse"
UP, SAME = "1.0000 against 0.5000, +100.0%", "0.5000 against 0.5000, +0.0%"


@pytest.mark.parametrize(
    ("arguments", "options", "sentence"),
    [
        ([8], {}, f"new is {BETTER} than old on RR ({UP}, p = 0.0078)."),
        (
            [12, 1, 2],
            {},
            f"new is {WORSE} than old on RR (0.5000 against 1.0000, -50.0%, p < 0.001).",
        ),
        ([5], {}, f"new does not differ significantly from old on RR ({UP}, p = 0.0625)."),
        ([40], {"resamples": 19}, f"new does not differ significantly from old on RR ({UP}, p = 0.0500)."),
        ([8, 2, 2], {}, f"new does not differ significantly from old on RR ({SAME}, p = 1.0000)."),
        ([8], {"tests": ()}, f"new differs from old on RR ({UP})."),
        ([8], {"tests": "t-test"}, f"new differs from old on RR ({UP}, no p-value)."),
        ([16], {"clusters": IN_FOURS, "tests": "wilcoxon"}, f"new differs from old on RR ({UP})."),
        ([8, 2, 2], {"tests": ()}, f"new is equal to old on RR ({SAME})."),
        (
            [8],
            {"measures": "P@1"},
            f"new is {BETTER} than old on P@1 (1.0000 against 0.0000, p = 0.0078).",
        ),
        (
            *([8], {"measures": ["RR", "NumRet", "P@1", "P@5"]}),
            f"new is {BETTER} than old on RR ({UP}, p = 0.0312) and P@1 (1.0000 against 0.0000, p = 0.0312); "
            f"it is {WORSE} than old on NumRet (1.0000 against 2.0000, -50.0%, p = 0.0312); "
            "it does not differ significantly from old on P@5 (0.2000 against 0.2000, +0.0%, p = 1.0000).",
        ),
    ],
)
def test_a_sentence_says_what_was_found(arguments, options, sentence):
    assert sentences(pair(*arguments, **options)) == [sentence]


def test_every_pair_has_a_sentence():
    down = "RR (0.5000 against 1.0000, -50.0%) and P@1 (0.0000 against 1.0000, -100.0%)"
    assert sentences(made({"a": [1] * 8, "b": [2] * 8, "c": [2] * 8}, ["RR", "P@1", "P@2"], tests=())) == [
        f"b differs from a on {down}; it is equal to a on P@2 ({SAME}).",
        f"c differs from a on {down}; it is equal to a on P@2 ({SAME}).",
        f"c is equal to b on RR ({SAME}), P@1 (0.0000 against 0.0000) and P@2 ({SAME}).",
    ]


# --- CSV and JSON ----------------------------------------------------------------------------------------


def values_by_turn(dataset, runs, measure):
    """Return the values of each run by the queries of each turn, then of all."""
    found = {
        name: {each.query_id: each.value for each in pm.iter_calc([measure], dataset, run)}
        for name, run in runs.items()
    }
    ids = sorted(found["bm25"])
    parts = [[q for q in ids if q.endswith(f"_{turn}")] for turn in range(1, 6)]
    return [{name: np.array([of[q] for q in part]) for name, of in found.items()} for part in [*parts, ids]]


def sections_of(result):
    return [*((str(value), part) for value, part in result.groups.items()), ("(all)", result)]


def loaded(result):
    """Return JSON that has numbers only."""
    return json.loads(result.to("json"), parse_constant=lambda name: pytest.fail(f"JSON has {name}"))


def test_csv_and_json_have_every_number_as_it_was_computed(sample):
    rows = list(csv.DictReader(io.StringIO(sample.to("csv"))))
    content = loaded(sample)
    parts = [*content["groups"], content]
    objects = [each for part in parts for each in part["rows"]]
    expected = [(label, row) for label, part in sections_of(sample) for row in part.rows]
    assert len(rows) == len(objects) == len(expected) == 6 * 9
    for line, each, (label, row) in zip(rows, objects, expected, strict=True):
        low, high = row.interval
        numbers = {
            **{"mean": row.mean, "baseline_mean": row.baseline_mean, "difference": row.difference},
            **{"relative": row.relative, "low": low, "high": high, "effect_size": row.effect_size},
            **{"wins": row.wins, "ties": row.ties, "losses": row.losses},
            **{f"{name} p": test.p for name, test in row.tests.items()},
            **{f"{name} adjusted": test.adjusted for name, test in row.tests.items()},
        }
        labels = {"turn_number": label, "measure": str(row.measure), "run": row.run, "baseline": row.baseline}
        assert line.keys() == {**labels, **numbers}.keys()
        assert {name: line[name] for name in labels} == labels
        assert {name: float(line[name]) if line[name] else None for name in numbers} == numbers
        assert each == json.loads(json.dumps(dataclasses.asdict(row), default=str))


def test_csv_and_json_have_the_numbers_of_numpy_and_scipy(sample, dataset, sample_runs):
    lines = iter(csv.DictReader(io.StringIO(sample.to("csv"))))
    content = loaded(sample)
    by_measure = [values_by_turn(dataset, sample_runs, measure) for measure in sample.measures]
    for number, part in enumerate([*content["groups"], content]):
        for measure, values in zip(sample.measures, by_measure, strict=True):
            means = {name: of[str(measure)] for name, of in part["means"].items()}
            assert means == pytest.approx({n: v.mean() for n, v in values[number].items()}, abs=1e-15)
            for (earlier, old), (later, new) in itertools.combinations(values[number].items(), 2):
                line, d = next(lines), new - old
                assert (line["run"], line["baseline"]) == (later, earlier)
                assert (float(line["mean"]), float(line["baseline_mean"])) == (means[later], means[earlier])
                assert float(line["difference"]) == pytest.approx(d.mean(), abs=1e-15)
                counts = [int(line[name]) for name in ("wins", "ties", "losses")]
                assert counts == [(d > 1e-12).sum(), (abs(d) <= 1e-12).sum(), (d < -1e-12).sum()]
                if np.ptp(d) > 1e-12:
                    assert float(line["t-test p"]) == pytest.approx(stats.ttest_rel(new, old).pvalue)


def test_json_says_how_it_was_made(sample):
    content = loaded(sample)
    names = (
        "baseline",
        "clusters",
        "correction",
        "resamples",
        "seed",
        "level",
        "by",
        "queries",
        "n_clusters",
    )
    how = [None, "conversation_id", "holm", 499, 0, 0.95, "turn_number", 48, 12]
    assert [content[name] for name in names] == how
    assert set(content["families"].values()) == {9}
    assert [group["group"] for group in content["groups"]] == [1, 2, 3, 4, 5]
    assert [group["queries"] for group in content["groups"]] == [12, 12, 12, 10, 2]
    assert content["sentences"] == sentences(sample)
    assert content["notes"] == sample.notes


def test_json_has_no_infinity(sample):
    values = {"relative": math.inf, "effect_size": -math.inf, "interval": (math.nan, 1.0)}
    odd = dataclasses.replace(sample.rows[0], **values)
    [row, *_] = loaded(dataclasses.replace(sample, rows=[odd, *sample.rows[1:]]))["rows"]
    assert (row["relative"], row["effect_size"], row["interval"]) == ("inf", "-inf", ["nan", 1.0])


def test_what_has_no_value_is_empty_in_csv_and_null_in_json():
    result = pair(4, tests="t-test", measures="P@1")
    [line] = csv.DictReader(io.StringIO(result.to("csv")))
    names = ("relative", "low", "high", "effect_size", "t-test p", "t-test adjusted")
    assert [line[name] for name in names] == [""] * len(names)
    [row] = loaded(result)["rows"]
    assert [row["relative"], row["interval"], row["effect_size"], row["tests"]["t-test"]["p"]] == [None] * 4
    assert row["tests"]["t-test"]["reason"] == "a t-test needs differences that vary between queries"


def test_names_come_back_from_csv_and_json(hostile):
    in_cells = {
        "two\r\nlines": "two lines",
        "a\x1b[31m\u202eb": "a [31m b",
        **{"- a": "'- a", "=== a": "'=== a", "+ a": "'+ a", "=1+1": "'=1+1"},
        'a,"b"\t;': 'a,"b" ;',
    }
    lines = list(csv.DictReader(io.StringIO(hostile.to("csv"), newline="")))
    assert [line["run"] for line in lines] == [in_cells.get(name, name) for name in HOSTILE[1:]] * 2
    assert {line["baseline"] for line in lines} == {HOSTILE[0]}
    assert list(loaded(hostile)["means"]) == HOSTILE


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


@pytest.mark.parametrize("form", ["tsv", "jsonl", "json"])
@pytest.mark.parametrize("kind", ["means", "queries", "groups"])
def test_values_for_other_programs_are_harmless(form, kind):
    names = [*FORMULAS, *CONTROLS]
    judgments = Judgments.of({query_id: {"d": 1} for query_id in names})
    evaluate = PermedEvaluator(["RR"], judgments).evaluate
    evaluations = {name: evaluate({name: {"d": 1.0}}) for name in names}
    groups = Groups.of(judgments.query_ids, {name: name for name in names}) if kind == "groups" else None
    text = EVALUATION_FORMATS[form](Report([pm.parse_measure("RR")], evaluations, kind == "queries", groups))
    if form == "tsv":
        assert_harmless(text)
        assert {line.partition("\t")[0] for line in text.splitlines()[1:]} == {*map(as_cell, names)}
    else:
        assert not [
            character for character in text if character in "".join(CONTROLS) and ord(character) > 126
        ]
        objects = json.loads(text) if form == "json" else [json.loads(line) for line in text.split("\n")[:-1]]
        assert {each["run"] for each in objects} == {*names}


def test_json_of_a_comparison_has_no_control_characters():
    result = made({name: [1, 2] for name in CONTROLS})
    text = result.to("json")
    assert {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")} == {"\n"}
    assert list(loaded(result)["means"]) == CONTROLS


# --- the page --------------------------------------------------------------------------------------------


def assert_stands_alone(page):
    tags = [tag for tag, _ in page.tags]
    assert [tags.count(each) for each in ("html", "head", "title", "body", "main", "h1")] == [1] * 6
    assert not {"script", "link", "img", "iframe", "object", "form"} & {*tags}
    assert [("charset", "utf-8")] in [list(given.items()) for tag, given in page.tags if tag == "meta"]
    contents = [given.get("content") for tag, given in page.tags if tag == "meta"]
    assert "width=device-width, initial-scale=1" in contents
    assert all(re.fullmatch(r"#\S+|url\(#\S+\)", link) for link in page.links)
    assert {re.sub(r"^url\(|\)$", "", link)[1:] for link in page.links} <= {*page.ids}
    assert len(page.ids) == len({*page.ids})
    assert {given.get("scope") for tag, given in page.tags if tag == "th"} == {"col", "row"}
    assert not [name for _, given in page.tags for name in given if name.startswith("on")]


def rounded(row):
    """Return the numbers of a row of JSON as a page shows them."""

    def p(value):
        return "—" if value is None else "<0.0001" if value < 0.0001 else f"{value:.4f}"

    def sign(value, form):
        return "—" if value is None else f"{value + 0.0:{form}}"

    tests = row["tests"]
    low, high = row["interval"]
    texts = [f"{row['mean']:.4f}", f"{row['baseline_mean']:.4f}", f"{row['difference']:+.4f}"]
    texts += [sign(row["relative"] and 100 * row["relative"], "+.1f"), f"[{low:+.4f}, {high:+.4f}]"]
    texts += [f"{row['wins']}/{row['ties']}/{row['losses']}", sign(row["effect_size"], "+.2f")]
    for name in ("randomization", "naive randomization", "clustered t-test", "t-test", "wilcoxon"):
        made = tests[name]
        texts += [p(made["p"])] if made["naive"] else [p(made["p"]), p(made["adjusted"])]
    return texts


def test_a_page_stands_alone_and_has_the_numbers_of_json(sample):
    text = sample.to("html")
    page, content = Page(text), loaded(sample)
    assert_stands_alone(page)
    assert not re.search(r"@import|url\((?!#)", text)
    assert len([tag for tag, _ in page.tags if tag == "svg"]) == text.count("<figcaption>") > 0
    parts = [(str(group["group"]), group) for group in content["groups"]] + [("(all)", content)]
    means = [
        [label, letter, run, *(f"{value:.4f}" for value in values.values())]
        for label, part in parts
        for letter, (run, values) in zip("abc", part["means"].items(), strict=True)
    ]
    differences = [
        [label, row["measure"], row["run"], row["baseline"], *rounded(row)]
        for label, part in parts
        for row in part["rows"]
    ]
    heading = ["turn_number", "measure", "run", "against", "mean", "base", "Δ", "Δ %", "95% interval"]
    heading += ["win/tie/loss", "d_z", "randomization", "Holm", "naive randomization"]
    heading += ["clustered t-test", "Holm", "t-test (naive)", "wilcoxon (naive)"]
    tables = [["turn_number", "", "run", "nDCG@10", "GradedAP@10", "P@1"], *means, heading, *differences]
    assert page.rows == tables


@pytest.mark.filterwarnings("ignore:no installed font")
def test_names_are_no_markup_in_a_page():
    names = ["<script>alert(1)</script>", "</td></svg></style>", 'a" onload="b', "]]>--><!--", "查询"]
    page = Page(made(dict(zip(names, [[1, 1], [2, 1], [3, 4], [1, 2], [4, 4]], strict=True))).to("html"))
    assert_stands_alone(page)
    assert [row[1] for row in page.rows[1:6]] == names


def test_a_page_without_matplotlib_says_so(hostile, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    text = hostile.to("html")
    page = Page(text)
    assert_stands_alone(page)
    assert "pip install &#x27;permed-measures[plot]&#x27;" in text
    assert [row[0] for row in page.rows[1 : len(HOSTILE) + 1]] == [one_line(name) for name in HOSTILE]


# --- a terminal ------------------------------------------------------------------------------------------

STYLES = re.compile(r"\x1b\[[0-9;]*m")


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def shown(monkeypatch):
    """Return what shows a comparison on a terminal of some width, and what of it is text."""

    def show(result, width):
        monkeypatch.setenv("TERM", "xterm-256color")
        monkeypatch.delenv("NO_COLOR", raising=False)
        monkeypatch.setenv("COLUMNS", str(width))
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", Terminal())
            text = result.to("table")
        return STYLES.sub("", text).splitlines(), text

    return show


def blocks_of(lines):
    """Return the lines between empty lines."""
    return [list(block) for some, block in itertools.groupby(lines, bool) if some]


@pytest.fixture(scope="module")
def against_bm25(dataset, sample_runs):
    return compare(dataset, sample_runs, ["nDCG@10", "GradedAP@10", "P@1"], "bm25", resamples=499)


@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_a_terminal_cuts_no_value_and_says_which_columns_it_has_no_room_for(against_bm25, shown, width):
    lines, _ = shown(against_bm25, width)
    assert max(map(cell_len, lines)) <= width
    means, _, differences, *others = blocks_of(lines)
    said = " ".join(itertools.chain(*(block for block in others if block[0].startswith("too wide"))))
    gone = said.removeprefix("too wide for this terminal: ").split(", ") if said else []
    content = loaded(against_bm25)
    assert [line.split() for line in means if re.match("bm25|lsa|tfidf", line)] == [
        [run, *(f"{value:.4f}" for value in values.values())] for run, values in content["means"].items()
    ]
    headings = ["mean", "base", "Δ", "Δ %", "95% interval", "win/tie/loss", "d_z", "p", "Holm", "naive p"]
    kept = [number for number, heading in enumerate(headings) if heading not in gone]
    assert len(kept) == len(headings) - len(gone)
    expected = [
        " ".join([row["measure"], row["run"], *(rounded(row)[number] for number in kept)]).split()
        for row in content["rows"]
    ]
    assert [line.split() for line in differences if line.startswith(("nDCG", "Graded", "P@1"))] == expected
    assert ("mean" in gone) == (width < 120)
    assert {"Δ", "p", "Holm", "naive p"}.isdisjoint(gone)


def test_a_terminal_narrower_than_the_numbers_cuts_none(against_bm25, shown):
    lines, _ = shown(against_bm25, 20)
    assert ["bm25", "0.6707", "0.4665", "0.6458"] in [line.split() for line in lines]


def test_a_file_has_every_column(against_bm25):
    text = against_bm25.to("table")
    assert "too wide" not in text
    assert "\x1b" not in text
    headings = "measure run mean base Δ Δ % 95% interval win/tie/loss d_z p Holm naive p"
    assert headings.split() in [line.split() for line in text.splitlines()]


def test_the_best_is_bold_and_the_second_underlined_on_a_terminal(shown):
    lines, text = shown(made({"a": [4], "b": [1], "c": [2]}, tests=()), 80)
    assert text.count("\x1b[1m1.0000") == 1
    assert text.count("\x1b[4m0.5000") == 1
    assert "Means over 1 query; best in bold, second best underlined." in " ".join(lines)


@pytest.mark.parametrize("width", [50, 80, 120])
def test_wide_letters_are_aligned(shown, width):
    ranks = {"查询重写检索": [1] * 8, "bm25": [2] * 8, "基忆": [3] * 8}
    lines, _ = shown(made(ranks, ["RR", "P@1"], baseline="bm25"), width)
    means, _, differences, *_ = blocks_of(lines)
    assert [cell_len(line) for line in means[2:]] == [cell_len(means[1])] * 3
    assert {cell_len(line) for line in differences[2:]} == {cell_len(differences[1])}


def test_long_names_are_folded_and_not_cut(shown):
    name = "a dense retriever that has a very long name and was trained with hard negatives"
    lines, _ = shown(made({"old": [2] * 8, name: [1] * 8}, ["RR", "P@1"], baseline="old"), 60)
    assert max(map(cell_len, lines)) <= 60
    means, _, differences, *_ = blocks_of(lines)
    folded = " ".join(re.sub(r" [01]\.\d+.?", "", line).strip() for line in means[3:])
    assert " ".join(folded.split()) == name
    words = [word for line in differences for word in line.split() if not re.match(r"[-+]?\d|─", word)]
    start = words.index("RR") + 1
    assert words[start : start + len(name.split())] == name.split()


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "str"])
def test_control_characters_of_names_do_nothing(shown, form):
    odd = made({"\x1b[31mred\x07": [1, 1], "a\nb\r\x9bc\u2028d": [2, 2], "\u202egnp": [1, 2]})
    text = str(odd) if form == "str" else odd.to(form)
    kinds = {unicodedata.category(character) for character in text.replace("\n", "")}
    assert not kinds & {"Cc", "Cf", "Zl", "Zp"}
    assert "a b c d" in text
    assert {*STYLES.findall(shown(odd, 80)[1])} <= {"\x1b[1m", "\x1b[4m", "\x1b[0m"}
    assert "\x1b" not in "".join(shown(odd, 80)[0])
