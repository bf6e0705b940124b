"""Audits of tables as papers print them: names of runs, what is left out, changes from another row."""

import pytest

import permed_measures as pm
from permed_measures.datasets import SAMPLES
from permed_measures.papers.changes import changes_in
from permed_measures.papers.runs import runs_of
from permed_measures.papers.tables import read_claims_file

SAMPLE = SAMPLES[0]
RUNS = {name: pm.read_run(SAMPLE.runs[name]) for name in ("bm25", "lsa")}
TABLE = """
| system | NDCG@10 | MAP@10 | P@1 | {} |
|---|---|---|---|---|
| bm25 | 0.6788 | 0.4665 | 0.6458 | {} |
| tfidf | 0.6135 | 0.3790 | 0.4792 | {} |
| lsa | 0.6060 | 0.3981 | 0.5000 | {} |
"""


@pytest.fixture
def paper(tmp_path):
    """Return what writes a text to a file, and the path of that."""

    def written(text, name="paper.md"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return written


@pytest.mark.parametrize(
    ("label", "run"),
    [
        ("BM25", "bm25"),
        ("bm-25 (k1=0.9)", "bm25"),
        ("BM25 [12]", "bm25"),
        ("ＢＭ２５", "bm25"),  # noqa: RUF001 (wide letters)
        ("Scholar Loop A", "scholarloop_a"),
        ("检索 模型", "检索模型"),
        ("BM25+RM3", None),
        ("", None),
    ],
)
def test_names_of_rows_are_read_generously(label, run):
    assert runs_of([[label]], ["bm25", "scholarloop_a", "检索模型"]) == [run]


def test_a_row_is_about_the_run_with_its_name_only(paper):
    path = paper("run,NDCG@10\nours,0.679\n", "paper.csv")
    with pytest.raises(pm.InputError, match=r"no row is about one of the runs bm25 \(found ours\)"):
        pm.audit(SAMPLE.qrels, {"bm25": RUNS["bm25"]}, path)
    assert pm.audit(SAMPLE.qrels, {"ours": RUNS["bm25"]}, path).ok


def test_two_numbers_of_one_run_are_an_error_that_says_where(paper):
    text = "{}\n\ntext\n\n| system | NDCG@10 | MAP@10 |\n|---|---|---|\n| bm25 | 0.5555 | 0.4665 |\n"
    with pytest.raises(pm.InputError) as caught:
        pm.audit(SAMPLE.qrels, RUNS, paper(text.format(TABLE)))
    assert str(caught.value).endswith(
        "paper.md:13: the run bm25 has two numbers for NDCG@10: 0.6788 and, in the row 'bm25' of table 2, "
        "0.5555. Leave only the rows and columns about these qrels in the file"
    )
    text = "model,MedCorpus,MedCorpus,LitSearch,LitSearch\n,NDCG@10,MAP@10,NDCG@10,MAP@10\n"
    with pytest.raises(pm.InputError, match=r"0.6788 and, in the row 'bm25' of LitSearch, 0.1234"):
        pm.audit(SAMPLE.qrels, RUNS, paper(text + "bm25,0.6788,0.4665,0.1234,0.2345\n", "paper.csv"))


@pytest.mark.parametrize(
    ("title", "cells", "said"),
    [
        ("Δ", "- -0.1666 -0.1458", "points of P@1 against bm25"),
        ("Δ", "- -16.66 -14.58", "points of P@1 against bm25"),
        ("Δ%", "- -16.66% -14.58%", "points of P@1 against bm25"),
        ("Δ (%)", "\u2013 \u221225.8 \u221222.6", "percent of P@1 against bm25"),
        ("Δ NDCG@10 vs tfidf", "+10.64% - \u22121.22%", "percent of NDCG@10 against tfidf"),
        ("Δ P@10", "+0.1 - +0.1", "neither points nor percent of one row of the table"),
        ("Improv. MAP@10", "↑23.1% - ↑9.0%", "neither points nor percent of one row of the table"),
        ("提升 (%)", "- 12.3 34.5", "neither points nor percent of one row of the table"),
    ],
)
def test_a_column_of_changes_is_points_or_percent(paper, title, cells, said):
    rows = read_claims_file(paper(TABLE.format(title, *cells.split()))).rows
    assert list(changes_in(rows)) == [f"{title} (2 numbers): {said}"]


def test_changes_beside_numbers_do_not_matter_and_rows_of_changes_are_no_claims(paper):
    text = "run,NDCG@10,MAP@10\ntfidf,0.6135,0.3790\nbm25,0.6788 (+10.6%),0.4665 ↑23.1%\nΔ,+0.0653,0.0875\n"
    read = read_claims_file(paper(text, "paper.csv"))
    assert [row.claims["MAP@10"] for row in read.rows] == ["0.3790", "0.4665"]
    assert read.notes == ["no value, left out: +0.0653 (Δ, NDCG@10), 0.0875 (Δ, MAP@10)"]
    assert list(changes_in(read.rows)) == []


def test_intervals_and_p_values_are_no_measures(paper):
    text = 'run,NDCG@10,95% CI,p\nlsa,"0.6060 [0.51, 0.72]","[0.51, 0.72]",0.01\nbm25,0.6788,-,< 0.05\n'
    result = pm.audit(SAMPLE.qrels, RUNS, paper(text, "paper.csv"))
    assert result.ok
    assert result.notes == ["2 columns that are no measures left out: 95% CI, p"]
    below = "<table><tr><th rowspan=2>run<th colspan=3>NDCG@10<tr><th>mean<th>CI<th>p-value"
    below += "<tr><td>bm25<td>0.6788<td>0.56<td>0.01</table>"
    assert [row.claims for row in read_claims_file(paper(below, "below.html")).rows] == [
        {"NDCG@10": "0.6788"}
    ]


@pytest.mark.parametrize(("n", "end"), [(10, "x (9, P@1)"), (11, "x (9, P@1), ...")])
def test_cells_without_a_number_are_named_up_to_ten(paper, n, end):
    path = paper("run,P@1,P@2\n" + "".join(f"{row},x,0.5\n" for row in range(n)), "paper.csv")
    [note] = read_claims_file(path).notes
    assert note.startswith("no value, left out: x (0, P@1), ")
    assert note.endswith(end)
