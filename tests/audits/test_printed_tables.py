"""Audits of tables as papers print them: names of runs, what is left out, numbers that come from others."""

import json

import pytest
from audit_helpers import audit_cli

import permed_measures as pm
from permed_measures.audits.changes import changes_in
from permed_measures.datasets import SAMPLES
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


LATEX = r"""
\begin{table}[t]
\caption{Results in 100\,\% of the turns} % & \\ not a row
\begin{tabular}{lcccr}
\toprule
\multirow{2}{*}{System} & \multicolumn{3}{c}{Sample$^*$} & \\ \cmidrule(lr){2-4}
 & NDCG@10 $\uparrow$ & MAP@10 & P@1 & Latency (ms) \\ \midrule
BM25~\cite{robertson} & \textbf{0.6788}$^{\dagger}$ & \underline{0.4665} & 64.58\% & 1{,}204 \\
TF-IDF & 0.6135$_{\pm 0.02}$ & 0.3790 & 47.92\% & -- \\[2pt]
\midrule \multicolumn{5}{l}{\textit{Dense}} \\
LSA (ours) & $0.6060 \pm 0.01$ & 0.3981 & 50.00\% & 3 \\
\bottomrule
\end{tabular}
\end{table}
"""
HTML = """<table><thead><tr><th rowspan=2>System</th><th colspan=3>Sample</th><th rowspan=2>tokens</th></tr>
<tr><th>NDCG@10</th><th>MAP@10 (%)</th><th>P@1</th></tr></thead>
<tr><td>BM25<td><b>0.6788</b><sup>&dagger;</sup><td>46.65<td>.6458<td>7
<tr><td>TF-IDF<td>0.6135&nbsp;&plusmn;&nbsp;0.01<td>37.90<td>.4792<td>8
<tr><td>LSA<td><u>0.6060</u><td>39.81<td>.5000<td>&ndash;</table>"""
TRANSPOSED = markdown(
    ["Metric", "BM25", "TF-IDF", "LSA"],
    *([title, *(NUMBERS[name][n] for name in NUMBERS)] for n, title in enumerate(MEASURES)),
    ["tokens", "7", "8", "9"],
)


@pytest.mark.parametrize(
    ("text", "suffix", "left_out"),
    [
        (LATEX, "tex", "Latency (ms)"),
        pytest.param(HTML, "html", "tokens", marks=pytest.mark.thorough),
        pytest.param(main_table(), "md", None, marks=pytest.mark.thorough),
        pytest.param(main_table(["tokens"], ["1"], ["2"], ["3"]), "md", "tokens", marks=pytest.mark.thorough),
        pytest.param(TRANSPOSED, "md", "tokens", marks=pytest.mark.thorough),
        (
            "run;NDCG@10;MAP@10;P@1\nbm25;0,6788;0,4665;0,6458\nTFIDF;0,6135;0,3790;0,4792\nLSA;0,6060;;",
            "csv",
            None,
        ),
    ],
)
def test_the_table_of_the_sample_is_explained_as_printed(audit, text, suffix, left_out):
    result = audit(text, suffix)
    assert result.ok
    assert [row.name for row in result.rows] == ["bm25", "tfidf", "lsa"]
    assert result.best[0].named.name in ("PerMed standard", "PerMed, divided by the hits found")
    assert [note.rpartition(": ")[2] for note in result.notes] == ([left_out] if left_out else [])


@pytest.mark.thorough
def test_the_command_reads_what_python_reads(tmp_path):
    (tmp_path / "paper.tex").write_text(LATEX)
    arguments = ["permed-sample", "permed-sample/runs", "--claims", tmp_path / "paper.tex"]
    content = json.loads(audit_cli(*arguments, "--format", "json"))
    assert [len(row["claims"]) for row in content["rows"]] == [3, 3, 3]
    assert content["notes"] == ["a column that is no measure left out: Latency (ms)"]


@pytest.mark.thorough
def test_all_chinese_names_are_read(audit):
    titles = ["归一化折损累计增益@10", "平均精度均值@10", "准确率@1"]
    rows = [[name, *texts] for name, texts in NUMBERS.items()]
    result = audit(markdown(["系统", *titles, "延迟 (毫秒)"], *([*row, "3"] for row in rows)))
    assert (result.ok, len(result.best[0].trials)) == (True, 9)


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


@pytest.mark.thorough
def test_a_row_with_numbers_of_no_run_is_left_out(audit):
    text = main_table() + "\n| GPT-5 | 0.7123 | 0.5012 | 0.7031 |"
    result = audit(text)
    assert (result.ok, result.notes) == (True, ["1 row without a run left out: GPT-5"])


def test_a_row_is_about_the_run_with_its_name_only(audit, runs):
    text = markdown(["", "NDCG@10"], ["ours", "0.679"])
    with pytest.raises(pm.InputError, match=r"no row is about one of the runs bm25 \(found ours\)"):
        audit(text, bm25=runs["bm25"])
    assert audit(text, ours=runs["bm25"]).ok


def test_the_row_that_writes_a_name_most_alike_is_the_one_of_the_run(audit):
    text = main_table() + "\n| BM25 (tuned) | 0.7123 | 0.5012 | 0.7031 |"
    result = audit(text)
    assert (result.ok, result.notes) == (True, ["1 row without a run left out: BM25 (tuned)"])


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


def test_changes_that_are_points_and_percent_alike_are_said_to_be_both(tmp_path):
    """Against a system with 1.00 a difference of a point is one percent."""
    text = markdown(["", "P@1", "Δ P@1"], ["a", "1.00", "-"], ["b", "0.90", "-10.0"])
    assert changes_in_text(text, tmp_path) == [
        "Δ P@1 (1 number): points of P@1 against a, or percent of P@1 against a"
    ]


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


def test_a_number_of_another_cell_is_named(audit):
    text = main_table().replace("0.3981", "0.4665")
    result = audit(text)
    assert not result.ok
    how = "by the convention of the other claims"
    assert result.suggestions[0] == f"lsa, MAP@10: 0.4665 is the value of MAP@10 of bm25 {how}"
    swapped = markdown(
        ["system", "NDCG@10", "P@1", "MAP@10"], *([name, *texts] for name, texts in NUMBERS.items())
    )
    assert audit(swapped).swap == "the columns P@1 and MAP@10 are swapped"
