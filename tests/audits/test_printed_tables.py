"""Audits of tables as papers print them: names of runs, what is left out, numbers that come from others."""

import pytest

import permed_measures as pm
from permed_measures.datasets import SAMPLES
from permed_measures.papers.changes import changes_in
from permed_measures.papers.runs import runs_of
from permed_measures.papers.tables import read_claims_file

SAMPLE = SAMPLES[0]
MEASURES = {"NDCG@10": "nDCG(dcg='exp-log2')@10", "MAP@10": "GradedAP@10", "P@1": "P@1"}
NUMBERS = {
    "bm25": ("0.6788", "0.4665", "0.6458"),
    "tfidf": ("0.6135", "0.3790", "0.4792"),
    "lsa": ("0.6060", "0.3981", "0.5000"),
}


@pytest.fixture(scope="module")
def runs():
    return {name: pm.read_run(path) for name, path in SAMPLE.runs.items()}


@pytest.fixture
def audit(runs, tmp_path):
    """Return what audits a text as a file of the sample."""

    def audited(text, suffix="md", **given):
        path = tmp_path / f"paper.{suffix}"
        path.write_text(text)
        return pm.audit(SAMPLE.qrels, given or runs, path)

    return audited


def markdown(*rows):
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def main_table(*more, names=None):
    """Return the table of the sample, with more columns; names of rows if they differ."""
    titles, *cells = more or [[]]
    cells = cells or [[] for _ in NUMBERS]
    rows = zip(names or NUMBERS, NUMBERS.values(), cells, strict=True)
    return markdown(["system", *MEASURES, *titles], *([name, *texts, *extra] for name, texts, extra in rows))


# --- rows and runs -----------------------------------------------------------------------------------


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


def test_a_row_is_about_the_run_with_its_name_only(audit, runs):
    text = markdown(["", "NDCG@10"], ["ours", "0.679"])
    with pytest.raises(pm.InputError, match=r"no row is about one of the runs bm25 \(found ours\)"):
        audit(text, bm25=runs["bm25"])
    assert audit(text, ours=runs["bm25"]).ok


def test_two_numbers_of_one_run_are_an_error_that_says_where(audit):
    other = markdown(["system", "NDCG@10", "MAP@10"], ["bm25", "0.5555", "0.4665"])
    with pytest.raises(pm.InputError) as caught:
        audit(f"{main_table()}\n\ntext\n\n{other}")
    assert str(caught.value).endswith(
        "paper.md:11: the run bm25 has two numbers for NDCG@10: 0.6788 and, in the row 'bm25' of table 2, "
        "0.5555. Leave only the rows and columns about these qrels in the file"
    )
    text = "model,MedCorpus,MedCorpus,LitSearch,LitSearch\n,NDCG@10,MAP@10,NDCG@10,MAP@10\n"
    with pytest.raises(pm.InputError, match=r"0.6788 and, in the row 'bm25' of LitSearch, 0.1234"):
        audit(text + "bm25,0.6788,0.4665,0.1234,0.2345\n", "csv")


def changes_in_text(text, folder):
    """Return what is said of the changes in a table; that takes no run."""
    path = folder / "paper.md"
    path.write_text(text)
    return list(changes_in(read_claims_file(path).rows))


# --- changes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("title", "cells", "said"),
    [
        ("Δ", ["-", "-0.1666", "-0.1458"], "Δ (2 numbers): points of P@1 against bm25"),
        ("Δ", ["-", "-16.66", "-14.58"], "Δ (2 numbers): points of P@1 against bm25"),
        ("Δ%", ["-", "-16.66%", "-14.58%"], "Δ% (2 numbers): points of P@1 against bm25"),
        ("Δ (%)", ["\u2013", "\u221225.8", "\u221222.6"], "Δ (%) (2 numbers): percent of P@1 against bm25"),
        ("NDCG@10 vs tfidf", ["+10.64%", "", "\u22121.22%"], None),
        (
            "Δ NDCG@10 vs tfidf",
            ["+10.64%", "", "\u22121.22%"],
            "Δ NDCG@10 vs tfidf (2 numbers): percent of NDCG@10 against tfidf",
        ),
        (
            "Improv. MAP@10",
            ["↑23.1%", "-", "↑9.0%"],
            "Improv. MAP@10 (2 numbers): neither points nor percent of one row of the table",
        ),
        (
            "提升 (%)",
            ["", "12.3", "34.5"],
            "提升 (%) (2 numbers): neither points nor percent of one row of the table",
        ),
    ],
)
def test_a_column_of_changes_is_points_or_percent(tmp_path, title, cells, said):
    text = main_table([title], *([cell] for cell in cells))
    assert changes_in_text(text, tmp_path) == ([said] if said else [])


def test_changes_beside_numbers_do_not_matter_and_rows_of_changes_are_no_claims(tmp_path):
    text = markdown(
        ["", "NDCG@10", "MAP@10"],
        ["tfidf", "0.6135", "0.3790"],
        ["bm25", "0.6788 (+10.6%)", "0.4665 ↑23.1%"],
        ["lsa", "0.6060", "0.3981"],
        ["Δ", "+0.0653", "0.0875"],
    )
    assert changes_in_text(text, tmp_path) == []
    read = read_claims_file(tmp_path / "paper.md")
    assert [row.claims["MAP@10"] for row in read.rows] == ["0.3790", "0.4665", "0.3981"]
    assert read.notes == ["no value, left out: +0.0653 (Δ, NDCG@10), 0.0875 (Δ, MAP@10)"]


def test_intervals_and_p_values_are_no_measures(tmp_path, audit):
    text = markdown(
        ["", "NDCG@10", "95% CI", "p"],
        ["tfidf", "0.6135 [0.51, 0.72]", "[0.51, 0.72]", "0.01"],
        ["bm25", "0.6788", "[0.56, 0.79]", "< 0.05"],
    )
    result = audit(text)
    assert result.ok
    assert "2 columns that are no measures left out: 95% CI, p" in result.notes
    below = "<table><tr><th rowspan=2>run<th colspan=3>NDCG@10<tr><th>mean<th>CI<th>p-value"
    below += "<tr><td>bm25<td>0.6788<td>0.56<td>0.01</table>"
    (tmp_path / "below.html").write_text(below)
    assert [row.claims for row in read_claims_file(tmp_path / "below.html").rows] == [{"NDCG@10": "0.6788"}]


@pytest.mark.parametrize(("n", "end"), [(10, "x (9, P@1)"), (11, "x (9, P@1), ...")])
def test_cells_without_a_number_are_named_up_to_ten(tmp_path, n, end):
    path = tmp_path / "paper.csv"
    path.write_text("run,P@1,P@2\n" + "".join(f"{row},x,0.5\n" for row in range(n)))
    [note] = read_claims_file(path).notes
    assert note.startswith("no value, left out: x (0, P@1), ")
    assert note.endswith(end)
