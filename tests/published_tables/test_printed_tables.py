"""Audits of tables as papers print them: names of runs, what is left out, changes from another row."""

import gzip

import pytest
from commands import run_cli
from printing import texts_in

import permed_measures as pm
from permed_measures.datasets import SAMPLES
from permed_measures.published_tables.assignment import runs_of
from permed_measures.published_tables.grim import changes_in
from permed_measures.published_tables.tables import read_claims_file

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
    """Return a function that writes a text to a file and returns its path."""

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


def test_as_few_brackets_as_can_be_are_left_out_of_a_name():
    rows = [["BM25 (k1=0.9) [ours] (tuned)"], ["BM25 (default) [5]"], ["BM25 [5]"]]
    assert runs_of(rows, ["bm25_tuned", "bm25-default"]) == ["bm25_tuned", "bm25-default", None]
    rows = [["BM25 (tuned) [5]"], ["BM25 (tuned) (k1=0.9) [5]"]]
    assert runs_of(rows, ["bm25_tuned"]) == ["bm25_tuned", None]
    assert runs_of(rows[1:], ["bm25"]) == ["bm25"]


SIDE_BY_SIDE = (
    "| Model | DL19 | DL19 | DL21 (passage) |\n|---|---|---|---|\n| | P@1 | MAP@10 | P@1 |\n"
    "| bm25 | **64.58** 🥇 | 46.65 | 43.75 |\n"
)


def test_columns_below_one_heading_are_chosen(paper):
    path = paper(SIDE_BY_SIDE)
    with pytest.raises(pm.InputError, match="the run bm25 has two numbers for P@1"):
        pm.audit(SAMPLE.qrels, RUNS, path)
    result = pm.audit(SAMPLE.qrels, RUNS, path, columns="DL 19")
    assert result.ok
    assert "43.75" not in str(result)
    for columns, claims in (
        ("DL21", {"P@1": "43.75"}),
        ("dl19", {"P@1": "64.58", "MAP@10": "46.65"}),
    ):
        assert [texts_in(row) for row in read_claims_file(path, columns).rows] == [claims]
    for columns in ("DL20", "", "@"):
        with pytest.raises(
            pm.InputError, match=r"no columns are below '.*' \(found DL19 and DL21 \(passage\)\)"
        ):
            read_claims_file(path, columns)
    with pytest.raises(pm.InputError, match="columns chooses columns of a file"):
        pm.possible(SAMPLE.qrels, {"P@1": 0.5}, columns="DL19")
    [row] = pm.possible(SAMPLE.qrels, path, columns="DL21").rows
    assert [claim.text for claim in row.claims] == ["43.75"]
    text, _ = run_cli("possible", "permed-sample", "--claims", str(path), "--columns", "DL21")
    assert "P@1 43.75" in text
    with pytest.raises(pm.InputError, match="--columns chooses columns of --claims FILE"):
        run_cli("possible", "permed-sample", "--claim", "P@1=0.5", "--columns", "DL19")


def test_what_columns_of_hits_tell_is_of_those_below_one_heading(paper):
    """DL19 has multiples of 1/750, DL20 of 1/430; only DL19 has a run. The qrels have 50 queries."""
    hits = [(230, 81), (81, 307), (307, 44), (44, 190), (190, 413), (413, 52), (52, 230)]
    lines = [f"sys{n},{a / 750:.4f},{b / 430:.4f}" for n, (a, b) in enumerate(hits)]
    path = paper("\n".join(["run,DL19,DL20", ",P@10,P@10", *lines]), "paper.csv")
    qrels, run = {f"q{n}": {"a": 1} for n in range(50)}, {f"q{n}": {"a": 1.0} for n in range(50)}
    both, first = pm.possible(qrels, path), pm.possible(qrels, path, columns="DL19")
    assert [each.partition(":")[0] for each in both.counts] == ["P@10 of DL19", "P@10 of DL20"]
    assert both.report().data()["counts"] == both.counts
    note = "rows of several parts of the file (DL19 and DL20) are all tested on these qrels; choose some by "
    assert [each.startswith(note) for each in both.notes] == [True]
    assert (first.counts, first.notes) == (both.counts[:1], [])
    assert "all 7 rows are multiples of 1/750, as P@15 over 50 topics or P@10 over 75" in first.counts[0]
    named = paper(path.read_text().replace("sys0", "ours").replace(",0.1884", ","), "named.csv")
    assert pm.audit(qrels, {"ours": run}, named).counts == first.counts
    explained = paper(named.read_text().replace("0.3067", "0.1000"), "explained.csv")
    assert pm.audit(qrels, {"ours": run}, explained).counts == []


def test_means_of_trec_eval_leave_nothing_out(paper):
    read = read_claims_file(paper("runid\tall\tbm25\nmap\tall\t0.2300\nP_10\tall\t0.4400\n", "bm25.txt"))
    assert ([texts_in(row) for row in read.rows], read.notes) == ([{"map": "0.2300", "P_10": "0.4400"}], [])


PASTED = ["Model nDCG@10 MAP P@10", "BM25 0.5058 0.3013 0.4120", "ANCE 0.6480* .3710 0.5800"]
OF_PASTED = {
    "BM25": {"nDCG@10": "0.5058", "MAP": "0.3013", "P@10": "0.4120"},
    "ANCE": {"nDCG@10": "0.6480", "MAP": "0.3710", "P@10": "0.5800"},
}


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (PASTED, OF_PASTED),
        (["Table 2: Results, on DL19.", "", *PASTED], OF_PASTED),
        ([*PASTED[:1], "------------------", *PASTED[1:]], OF_PASTED),
        (
            ["nDCG@10 MAP", "BM25 + RM3 50,6 30,1", "ANCE 3 64,8 37,1"],
            {"BM25 + RM3": {"nDCG@10": "50.6", "MAP": "30.1"}, "ANCE 3": {"nDCG@10": "64.8", "MAP": "37.1"}},
        ),
        (["Method  MAP@10", "BM25    0.4665", "LSA     0.3981"], {"BM25": {"MAP@10": "0.4665"}, "LSA": ...}),
        (
            [
                "Method            nDCG@10     MAP",
                "BM25 (k1 = 0.9)     0.506   0.301",
                "DPR  3B              0.72",
            ],
            {"BM25 (k1 = 0.9)": {"nDCG@10": "0.506", "MAP": "0.301"}, "DPR 3B": {"nDCG@10": "0.72"}},
        ),
        (["Model P@10 MAP", "BM25 (1994) 45 0.31", "DPR 33 -"], {"DPR": {"P@10": "33"}, "BM25 (1994)": ...}),
        (
            ["Model nDCG@10 MAP", "BM25 (2009) .453±.02 .331 ± .01", "DPR 0.502 (0.02) 0.4 (+0.069)"],
            {"BM25 (2009)": {"nDCG@10": "0.453", "MAP": "0.331"}, "DPR": {"nDCG@10": "0.502", "MAP": "0.4"}},
        ),
        (
            ["runid                 all bm25", "map                   all 0.23"],
            {"bm25": {"map": "0.23"}},
        ),
        (
            ["runid all bm25", "map all 0.2300", "P_10 all 0.4400"],
            {"bm25": {"map": "0.2300", "P_10": "0.4400"}},
        ),
    ],
)
def test_text_pasted_from_a_pdf_is_read_by_its_columns(paper, lines, expected):
    found = {row.label: texts_in(row) for row in read_claims_file(paper("\n".join(lines), "paper.txt")).rows}
    assert {*found} == {*expected}
    for name, claims in expected.items():
        assert claims in (..., found[name])


@pytest.mark.parametrize(
    ("lines", "line", "said"),
    [
        ([PASTED[0], "BM25 (Robertson, 2009) 50,58 30,13"], 2, "2 numbers at its end, and the heading"),
        ([*PASTED[:2], "ANCE (2021) 64,80 37,10"], 3, "2 numbers at its end"),
        (["DL 19 DL 20", *PASTED], 2, "0 numbers at its end"),
        (["Model P@10 MAP", "BM25 (1994) 45 0.31", "top 20 33 -"], 2, "1 number at its end"),
        (["Recall @ 10 MAP", "BM25 0.506 0.301"], 2, r"the heading \(line 1\) has 4 words"),
    ],
)
def test_columns_of_pasted_text_that_are_not_clear_are_refused_with_the_line(paper, lines, line, said):
    with pytest.raises(pm.InputError, match=rf"paper.txt:{line}: the columns.* are not clear: .*{said}"):
        read_claims_file(paper("\n".join(lines), "paper.txt"))


@pytest.mark.parametrize("lines", [["P@1 64.58", "MAP@10 46.65"], ["BM25  0.45  0.33", "DPR   0.50  0.40"]])
def test_pasted_numbers_without_headings_are_refused(paper, lines):
    with pytest.raises(pm.InputError, match=r"paper.txt:1: the first line must have headings.*found '"):
        read_claims_file(paper("\n".join(lines), "paper.txt"))
    of_runs = "BM25" in lines[0]
    heading = "System  P@1  MAP@10" if of_runs else "measure BM25"
    rows = read_claims_file(paper("\n".join([heading, *lines]), "paper.txt")).rows
    assert [row.label for row in rows] == (["BM25", "DPR"] if of_runs else ["BM25"])


def test_captions_alone_are_no_table(paper):
    with pytest.raises(pm.InputError, match=r"paper.txt: there is no table below a line of headings"):
        read_claims_file(paper("Table 1: BM25 has 0.45 0.33\nTable 2: DPR has 0.50 0.40", "paper.txt"))


def test_other_delimiters_than_blanks_are_seen_first(paper):
    for blanks in (";", "\t", " ,", ", "):
        text = "\n".join(PASTED).replace(" ", blanks)
        assert [row.label for row in read_claims_file(paper(text, "paper.txt")).rows] == ["BM25", "ANCE"]


def test_a_row_is_about_the_run_with_its_name_only(paper):
    path = paper("run,NDCG@10\nours,0.679\n", "paper.csv")
    with pytest.raises(pm.InputError, match=r"no row is named like a run \(runs: bm25; rows: ours\)"):
        pm.audit(SAMPLE.qrels, {"bm25": RUNS["bm25"]}, path)
    assert pm.audit(SAMPLE.qrels, {"ours": RUNS["bm25"]}, path).ok


def test_two_numbers_of_one_run_are_an_error_that_says_where(paper):
    text = "{}\n\ntext\n\n| system | NDCG@10 | MAP@10 |\n|---|---|---|\n| bm25 | 0.5555 | 0.4665 |\n"
    with pytest.raises(pm.InputError) as caught:
        pm.audit(SAMPLE.qrels, RUNS, paper(text.format(TABLE)))
    assert str(caught.value).endswith(
        "paper.md:13: the run bm25 has two numbers for NDCG@10: 0.6788 and, in the row 'bm25' of table 2, "
        "0.5555. Choose the columns about these qrels: --columns NAME, or columns='NAME' in Python"
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


def test_a_change_may_be_rounded_half_up_or_half_down(paper):
    """0.64 - 0.40 may be 0.25, and so may 0.66 - 0.40."""
    text = "run,P@1,Δ\nlsa,0.40,-\nbm25,0.64,+0.3\ntf,{},+0.2\n"
    for number, said in (("0.66", "points of P@1 against lsa"), ("0.67", "neither points nor percent")):
        [line] = changes_in(read_claims_file(paper(text.format(number), "paper.csv")).rows)
        assert said in line


def test_a_text_in_a_column_of_changes_is_left_out_and_said(paper):
    read = read_claims_file(paper(TABLE.format("Δ", "-", "n.s.", "-0.1458")))
    assert read.notes == ["cells left out, not values: n.s. (tfidf, Δ)"]
    assert list(changes_in(read.rows)) == ["Δ (1 number): points of P@1 against bm25"]


def test_changes_beside_numbers_do_not_matter_and_rows_of_changes_are_no_claims(paper):
    text = "run,NDCG@10,MAP@10\ntfidf,0.6135,0.3790\nbm25,0.6788 (+10.6%),0.4665 ↑23.1%\nΔ,+0.0653,0.0875\n"
    read = read_claims_file(paper(text, "paper.csv"))
    assert [row.claims["MAP@10"].text for row in read.rows] == ["0.3790", "0.4665"]
    assert read.notes == ["cells left out, not values: +0.0653 (Δ, NDCG@10), 0.0875 (Δ, MAP@10)"]
    assert list(changes_in(read.rows)) == []


def test_changes_are_of_the_data_set_and_the_measure_before_them(paper):
    text = r"\begin{tabular}{lcccc} & \multicolumn{2}{c}{DL19} & & \multicolumn{2}{c}{DL20} & \\"
    text += r" run & MAP & P@1 & $\Delta$ & MAP & P@1 & $\Delta$ \\ \midrule"
    text += r" a & 0.1 & 0.20 & - & 0.3 & 0.50 & - \\ b & 0.2 & 0.30 & +0.10 & 0.2 & 0.90 & +0.40 \\"
    rows = read_claims_file(paper(rf"{text} \end{{tabular}}", "paper.tex")).rows
    assert list(changes_in(rows)) == [f"DL{n}: Δ (1 number): points of P@1 against a" for n in (19, 20)]


@pytest.mark.parametrize(("own", "said"), [("", True), ("0.0", True), ("0.1", False), ("+0.0%", True)])
def test_a_change_from_the_row_itself_is_nothing_but_0(paper, own, said):
    rows = read_claims_file(paper(f"run,P@1,Δ\na,0.5,{own}\nb,0.9,+0.4\n", "paper.csv")).rows
    [line] = changes_in(rows)
    assert ("points of P@1 against a" in line) == said
    assert "against b" not in line


def test_up_to_three_rows_that_a_change_may_be_from_are_named(paper):
    text = "run,P@1,Δ\n" + "".join(f"{name},0.50,\n" for name in "abcd") + "e,0.90,+0.40\n"
    [line] = changes_in(read_claims_file(paper(text, "paper.csv")).rows)
    assert line.endswith(": points of P@1 against a or P@1 against b or P@1 against c")


def test_intervals_and_p_values_are_no_measures(paper):
    text = 'run,NDCG@10,95% CI,p\nlsa,"0.6060 [0.51, 0.72]","[0.51, 0.72]",0.01\nbm25,0.6788,-,< 0.05\n'
    result = pm.audit(SAMPLE.qrels, RUNS, paper(text, "paper.csv"))
    assert result.ok
    assert result.notes == ["2 columns left out, not measures: 95% CI, p"]
    below = "<table><tr><th rowspan=2>run<th colspan=3>NDCG@10<tr><th>mean<th>CI<th>p-value"
    below += "<tr><td>bm25<td>0.6788<td>0.56<td>0.01</table>"
    assert [texts_in(row) for row in read_claims_file(paper(below, "below.html")).rows] == [
        {"NDCG@10": "0.6788"}
    ]


@pytest.mark.parametrize(("n", "end"), [(10, "x (9, P@1)"), (11, "x (9, P@1), ...")])
def test_cells_without_a_number_are_named_up_to_ten(paper, n, end):
    path = paper("run,P@1,P@2\n" + "".join(f"{row},x,0.5\n" for row in range(n)), "paper.csv")
    [note] = read_claims_file(path).notes
    assert note.startswith("cells left out, not values: x (0, P@1), ")
    assert note.endswith(end)


def test_the_ending_of_a_packed_file_says_its_format(tmp_path):
    """A file that ends in .csv has a header and a line of dashes, as in Markdown."""
    text = "run;note;P@1\n-|-;x;0.5\nbm25;| - | - |;0.25\n"
    for name in ("table.csv", "table.csv.gz"):
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        assert texts_in(read_claims_file(path).rows[-1]) == {"P@1": "0.25"}
