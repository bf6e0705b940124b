"""LaTeX tables: what fits a column, what fits the text, and what stands before and below."""

import random
import shutil
import string
import subprocess

import pytest
from reporting import assert_compiles, latex_rows, made, needed, run_of

from permed_measures.comparisons.compare import compare
from permed_measures.errors import InputError
from permed_measures.papers.read import read_tables
from permed_measures.reports.latex import latex
from permed_measures.reports.tables import Cell, PaperTable, TableRow, placed

NAMES = ["scholarloop_a_v2_rrf", "ConversationalQR-T5x", "neural-embedding-768", "MEDMMWWM-QWEN3-LARGE"]
FOUR = ["nDCG-exp@10", "GradedAP@10", "P@1", "Coverage@10"]
SIX = ["nDCG-exp@10", "AP@10", "P@1", "R@5", "R@20", "Coverage@10"]
JUDGED = ["Judged@1", "Judged@10"]
DAGGERS, LETTERS = ("", "†", "‡", "†"), ("", "a", "ab", "abc")


def table(headings, names=NAMES, marks=DAGGERS, labels=("run",), spare=(), digits=4, blocks=1, **options):
    """Return a table of numbers, some of them bold, whose letters are one label more."""
    rng, n_groups = random.Random(0), len(labels) - 1

    def block(number):
        columns = []
        for _ in headings:
            texts = [f"{rng.random():.{digits}f}" for _ in names]
            chosen = rng.choices(marks, k=len(names))
            columns.append([*map(Cell, texts, placed(texts), chosen)])
        before = [str(number)] * n_groups
        letters = [[f"{place}"] if marks is LETTERS else [] for place in range(len(names))]
        rows = zip(names, letters, *columns, strict=True)
        return [TableRow([*before, *letter, name], cells) for name, letter, *cells in rows]

    labels = [*labels[:-1], *([""] if marks is LETTERS else []), labels[-1]]
    made = [block(number) for number in range(blocks)]
    lettered = any(mark.strip("†‡") for mark in marks)
    return PaperTable(
        labels, [*headings], made, "Means over 9 queries", [], lettered, spare=[*spare], **options
    )


def with_texts(text):
    made = table(FOUR)
    rows = [row._replace(labels=[*row.labels, text]) for row in made.rows]
    return PaperTable([*made.labels, "what it does"], made.headings, [rows], made.about)


LONG = ["an_extremely_long_name_of_a_run_that_goes_on_and_on", "x" * 60, "bm25", "sha256:" + "deadbeef" * 8]
ODD = ["GradedAP(rel=2)@10", "nDCG-exp", "VariantNDCG@10", "GAP(max_rel=3)@5"]
NUMBERS = ("", "1-9,12,14,17,19-23,30,32,35-37,40,44,46-50", "2,5")
TABLES = {
    "table": [
        table(FOUR),
        table(FOUR, marks=LETTERS),
        table([*FOUR, *JUDGED], spare=JUDGED),
        table([*FOUR, *JUDGED], ["bm25", "tfidf"], digits=2),
        table(FOUR, LONG),
        table(ODD),
        table(["P@1"], ["bm25", "rm3"]),
    ],
    "table*": [
        table(SIX),
        table(SIX, marks=LETTERS),
        table([*FOUR, *JUDGED]),
        table(FOUR, labels=("turn_number", "run"), blocks=3, digits=6),
        with_texts("A dense retriever with rewritten queries, fused with BM25"),
        table(FOUR, [f"run{i}" for i in range(60)], NUMBERS),
    ],
}


@pytest.mark.parametrize("layout", ["", "twocolumn"])
def test_tables_fit_the_column_or_the_text(layout, tmp_path):
    texts = []
    for environment, tables in TABLES.items():
        of_environment = [latex(each, "means") for each in tables]
        assert {text.count(rf"\begin{{{environment}}}[t]") > 0 for text in of_environment} == {True}
        texts += of_environment
    assert not any("wider than" in text for text in texts)
    assert_compiles(texts, tmp_path, layout)


@pytest.mark.thorough
@pytest.mark.parametrize("layout", ["", "twocolumn"])
def test_random_tables_fit(layout, tmp_path):
    rng = random.Random(7)
    headings = [*SIX, *ODD, *JUDGED, "RR", "MAP@10", "Mean average precision", "NumRet"]
    texts = []
    for _ in range(40):
        letters = rng.choice(["MW", string.ascii_letters + "_-.", string.printable[:95]])
        names = ["".join(rng.choices(letters, k=rng.randint(1, 30))).strip() for _ in range(6)]
        chosen = rng.sample(headings, rng.randint(1, 6))
        options = {"marks": rng.choice([DAGGERS, LETTERS[:2], NUMBERS, ("",)]), "digits": rng.randint(1, 4)}
        made = table(chosen, [*dict.fromkeys(name or "a" for name in names)], **options)
        texts.append(latex(made, "means"))
    assert_compiles([text for text in texts if "wider than" not in text], tmp_path, layout)
    assert sum("wider than" in text for text in texts) <= 4


def test_headings_go_on_in_the_next_line_but_stay_whole():
    text = latex(table([*FOUR, "Mean precision", "RR"]), "means")
    for stacked in (r"nDCG-\\*exp@10", r"Graded\\*AP@10", r"Coverage\\*@10", r"Mean\\precision"):
        assert rf"\begin{{tabular}}[b]{{@{{}}r@{{}}}}{stacked}\end{{tabular}} " in text
    assert latex_rows(text)[0] == ["run", *FOUR, "Mean precision", "RR"]


@pytest.mark.parametrize("headings", [FOUR, ODD, [*SIX, *JUDGED]])
@pytest.mark.parametrize("names", [NAMES, LONG])
def test_a_table_can_be_read_again(headings, names, tmp_path):
    made = table(headings, names, marks=("",))
    (tmp_path / "table.tex").write_text(latex(made, "means"))
    [found] = read_tables(tmp_path / "table.tex")
    assert [" ".join(title) for title in found.titles] == ["run", *headings]
    assert found.rows == [[*row.labels, *(cell.text for cell in row.cells)] for row in made.rows]


def test_what_is_judged_goes_into_the_caption_where_there_is_no_room():
    made = table([*FOUR, *JUDGED], spare=JUDGED)
    text = latex(made, "means")
    assert latex_rows(text)[0] == ["run", *FOUR]
    first, last = ([row.cells[place].text for row in made.rows] for place in (4, 5))
    assert f" Judged@1 {min(first)} to {max(first)}, Judged@10 {min(last)} to {max(last)}.}}" in text
    listed = ", ".join(
        f"{name.replace('_', chr(92) + '_')} {share}" for name, share in zip(NAMES, last, strict=True)
    )
    assert f"% Judged@10: {listed}\n" in text
    small = table([*FOUR, *JUDGED], ["bm25", "tfidf"], spare=JUDGED, digits=2)
    assert latex_rows(latex(small, "means"))[0] == ["run", *FOUR, *JUDGED]


def test_a_table_is_labelled_and_apart_from_its_caption():
    lines = latex(table(FOUR), "comparison").splitlines()
    assert lines[0] == r"% needs \usepackage{booktabs}, \usepackage{tabularx}"
    assert lines[4] == r"\label{tab:comparison}"
    assert lines[5].endswith(r"\setlength{\abovetopsep}{6pt}")
    assert needed(latex(table(["P@1"], ["a", "b"]), "means")) == [r"\usepackage{booktabs}"]


@pytest.mark.parametrize(
    ("caption", "begins", "label"),
    [
        ("Results on 50% of A&B", r"Results on 50\% of A\&B. Means over", "results-on-50-of-a-b"),
        ("Is it better?", "Is it better? Means over", "is-it-better"),
        ("}\\input{x}", r"\}\textbackslash{}input\{x\}. Means over", "input-x"),
        ("各方法的结果。", "各方法的结果。 Means over", "各方法的结果"),
        ("#1", r"\#1. Means over", "1"),
        ("…", "…. Means over", "comparison"),
        ("", "Means over", "comparison"),
    ],
)
def test_a_caption_begins_with_the_users_own(caption, begins, label):
    result = made({"old": [2] * 8, "new": [1] * 8}, baseline="old")
    text = result.to("latex", caption=caption)
    assert rf"\caption{{{begins} 8 queries" in text
    assert rf"\label{{tab:{label}}}" in text
    assert (
        result.to("markdown", caption="Ours")
        .splitlines()[-3 - len(result.notes) * 2]
        .startswith("Ours. Means")
    )


def test_what_any_latex_has_needs_no_other_program(tmp_path):
    result = made({"a \u201cquoted\u201d name\u2026": [1], "it\u2019s 2\u20133": [2]}, tests=())
    text = result.to("latex", caption="R\u00e9sultats")
    assert "XeLaTeX" not in text
    assert r"\label{tab:résultats}" in text
    assert_compiles(text, tmp_path)


def test_a_measure_that_was_asked_for_is_never_left_out():
    qrels = {f"q0{number}": {"d": 1, "x1": 0} for number in range(3)}
    runs = {name: run_of([3, 4, 9]) for name in NAMES}
    measures = ["nDCG@10", "AP@20", "P@3", "Judged@10", "Judged@5"]
    result = compare(qrels, runs, measures, NAMES[0], tests=())
    assert latex_rows(result.to("latex"))[0][1:6] == measures


def test_a_caption_is_refused_where_there_is_none():
    result = made({"old": [2], "new": [1]}, tests=())
    with pytest.raises(InputError, match="a caption is for markdown and latex, not for csv"):
        result.to("csv", caption="Ours")


def test_a_page_that_is_full_goes_on_in_another_float():
    text = latex(table(FOUR, [f"run{i:02}" for i in range(90)]), "means")
    assert text.count(r"\begin{table}") == 3
    assert text.count(r"\addtocounter{table}{-1}\caption{(continued)}") == 2
    assert text.count(r"\label") == 1
    rows = latex_rows(text)
    assert [row[0] for row in rows if row[0] != "run"] == [f"run{i:02}" for i in range(90)]
    groups = latex(table(FOUR, [*"abcd"], labels=("turn", "run"), blocks=20), "means")
    assert groups.count(r"\begin{table") == 3
    before = groups.split(r"\end{table")[0]
    assert latex_rows(before)[-1][1] == "d"  # a group is not torn


def test_a_table_that_fits_nowhere_says_so():
    assert "% wider than the text of an article: " in latex(
        table([*SIX, *FOUR, *ODD][:12], digits=6), "means"
    )


@pytest.mark.thorough
@pytest.mark.parametrize("layout", ["", "twocolumn"])
def test_chinese_compiles_with_what_it_says(layout, tmp_path):
    found = shutil.which("xelatex") and shutil.which("kpsewhich")
    if not found or not subprocess.run(["kpsewhich", "ctex.sty"], capture_output=True, check=False).stdout:
        pytest.skip("needs xelatex and ctex (texlive-xetex, texlive-lang-chinese)")
    names = ["查询重写与对话历史融合的稠密检索模型", "医学文献检索基线", "bm25 基线"]
    result = made(
        {name: [place + 1] * 8 for place, name in enumerate(names)}, ["RR", "P@1", "AP@10", "nDCG@10"]
    )
    text = result.to("latex", caption="各方法在多轮医学检索上的结果。")
    assert text.splitlines()[1].startswith("% compile it with XeLaTeX: ")
    assert [row[1] for row in latex_rows(text)[1:]] == names
    assert_compiles(text, tmp_path, layout, "xelatex")
