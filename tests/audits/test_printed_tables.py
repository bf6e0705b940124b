"""Audits of tables as papers print them: names of runs, what is left out, numbers that come from others."""

import json

import numpy as np
import pytest
from audit_helpers import audit_cli

import permed_measures as pm
from permed_measures.audits.changes import Changes
from permed_measures.audits.claim_files import read_claims_file
from permed_measures.audits.claim_runs import assigned
from permed_measures.audits.run_names import run_named, runs_like
from permed_measures.datasets import SAMPLES

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
    assert (result.ok, len(result.best[0].claims)) == (True, 9)


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
    assert run_named([label], ["bm25", "scholarloop_a", "检索模型"]) == run


def test_a_similar_name_must_be_clearly_more_similar_than_others():
    names = ["scholarloop_a_v1", "scholarloop_a_v2", "scholarloop_a_v2_no_rerank"]
    assert runs_like([["A-v2"], ["A-v2 w/o rerank"], ["A"], ["x"]], names)[0] == "scholarloop_a_v2"
    assert runs_like([["A"]], names) == [None]
    assert runs_like([["A-v2"], ["A v2"]], names[:2]) == [None, None]


def test_rows_with_other_names_are_found_by_their_numbers(audit):
    result = audit(main_table(names=["Sparse A", "Sparse B", "Dense"]))
    assert result.ok
    assert [row.name for row in result.rows] == ["bm25", "tfidf", "lsa"]
    assert result.notes == [
        f"the row {label!r} is taken as the run {run}: it has its numbers"
        for label, run in zip(["Sparse A", "Sparse B", "Dense"], NUMBERS, strict=True)
    ]


@pytest.mark.thorough
def test_a_row_with_numbers_of_no_run_is_left_out(audit):
    text = main_table() + "\n| GPT-5 | 0.7123 | 0.5012 | 0.7031 |"
    result = audit(text)
    assert (result.ok, result.notes) == (True, ["1 row without a run left out: GPT-5"])


def test_one_row_about_one_run_needs_no_name(audit, runs):
    text = markdown(["", "NDCG@10"], ["ours", "0.679"])
    result = audit(text, bm25=runs["bm25"])
    assert (result.ok, result.notes) == (True, ["the row 'ours' is taken as the run bm25: there is no other"])


@pytest.mark.thorough
def test_of_two_tables_with_other_numbers_the_one_of_these_runs_is_taken(audit):
    other = markdown(
        ["system", "NDCG@10", "MAP@10"], ["bm25", "0.5555", "0.4444"], ["lsa", "0.3333", "0.2222"]
    )
    for text in (f"{other}\n\ntext\n\n{main_table()}", f"{main_table()}\n\ntext\n\n{other}"):
        result = audit(text)
        assert result.ok
        assert len(result.best[0].claims) == 9
        assert sum("is left out: other numbers of" in note for note in result.notes) == 2


@pytest.mark.thorough
def test_of_two_data_sets_in_a_table_the_one_of_these_runs_is_taken(audit):
    text = "model,MedCorpus,MedCorpus,LitSearch,LitSearch\n,NDCG@10,MAP@10,NDCG@10,MAP@10\n"
    text += "bm25,0.6788,0.4665,0.1234,0.2345\ntfidf,0.6135,0.3790,0.3456,0.4567\n"
    result = audit(text, "csv")
    assert (result.ok, len(result.best[0].claims)) == (True, 4)
    assert "the row 'bm25' of LitSearch is left out: other numbers of bm25 are there" in result.notes


def changes_in(text, folder):
    """Return what is said of the changes in a table; that takes no run."""
    path = folder / "paper.md"
    path.write_text(text)
    printed = read_claims_file(path)
    found = assigned(printed, list(NUMBERS), lambda *_: pytest.fail("names say all"))
    of_run = {found.run_of[id(row)]: row for row in printed.rows if id(row) in found.run_of}
    return list(Changes(printed.rows, found, of_run).lines())


# --- changes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("title", "cells", "said"),
    [
        ("Δ", ["-", "-0.1666", "-0.1458"], "Δ (2 numbers): difference of P@1 against bm25"),
        (
            "Δ",
            ["-", "-16.66", "-14.58"],
            "Δ (2 numbers): difference in percentage points of P@1 against bm25",
        ),
        (
            "Δ%",
            ["-", "-16.66%", "-14.58%"],
            "Δ% (2 numbers): difference in percentage points of P@1 against bm25, not relative",
        ),
        (
            "Δ (%)",
            ["\u2013", "\u221225.8", "\u221222.6"],
            "Δ (%) (2 numbers): relative change in percent of P@1 against bm25",
        ),
        (
            "NDCG@10 vs tfidf",
            ["+10.64%", "", "\u22121.22%"],
            None,
        ),
        (
            "Δ NDCG@10 vs tfidf",
            ["+10.64%", "", "\u22121.22%"],
            "Δ NDCG@10 vs tfidf (2 numbers): relative change in percent of NDCG@10 against tfidf",
        ),
        (
            "Improv. MAP@10",
            ["↑23.1%", "-", "↑9.0%"],
            "Improv. MAP@10 (2 numbers): relative change in percent of MAP@10 against tfidf; "
            "but lsa has ↑9.0% (+1.91 points, +5.04% relative)",
        ),
        (
            "提升 (%)",
            ["", "12.3", "34.5"],
            "提升 (%) (2 numbers): no relative change in percent from any row of the table",
        ),
    ],
)
def test_a_column_of_changes_is_said_to_be_what_it_is(tmp_path, title, cells, said):
    text = main_table([title], *([cell] for cell in cells))
    assert changes_in(text, tmp_path) == ([said] if said else [])


def test_changes_beside_numbers_and_in_a_row_of_their_own_are_checked(tmp_path):
    text = markdown(
        ["", "NDCG@10", "MAP@10"],
        ["tfidf", "0.6135", "0.3790"],
        ["bm25", "0.6788 (+10.6%)", "0.4665 (+23.1%)"],
        ["lsa", "0.6060", "0.3981"],
        ["Δ", "+0.0653", "+0.0875"],
    )
    assert changes_in(text, tmp_path) == [
        "NDCG@10 (1 number): relative change in percent of NDCG@10 against tfidf",
        "MAP@10 (1 number): relative change in percent of MAP@10 against tfidf",
        "Δ (2 numbers): difference of bm25 against tfidf",
    ]


# --- intervals and p-values --------------------------------------------------------------------------


def bootstrap(values, seed=42, n=10_000):
    rng = np.random.default_rng(seed)
    means = values[rng.integers(0, len(values), (n, len(values)))].mean(axis=1)
    return [f"{each:.4f}" for each in np.quantile(means, [0.025, 0.975])]


def per_query(run, measure):
    found = {}
    for metric in pm.iter_calc([measure], SAMPLE.qrels, run):
        found[metric.query_id] = metric.value
    return np.array([found[query] for query in sorted(found)])


def test_intervals_come_out_with_the_seed_they_were_made_with(audit, runs):
    of = {name: per_query(run, "GradedAP@10") for name, run in runs.items()}
    own, pair = bootstrap(of["bm25"], 42), bootstrap(of["bm25"] - of["tfidf"], 0, 1000)
    text = markdown(
        ["", "MAP@10", "NDCG@10"],
        ["tfidf", "0.3790", "0.6135"],
        ["bm25", f"0.4665 [{own[0]}, {own[1]}]", "0.6788"],
    )
    text += "\n\ntext\n\n" + markdown(
        ["comparison", "ΔMAP@10", "95% CI", "p"],
        ["BM25 vs. TF-IDF", "0.0875", f"[{pair[0]}, {pair[1]}]", "0.031"],
    )
    assert audit(text).checks == [
        "table 2: ΔMAP@10 (1 number): difference of MAP@10",
        "table 1: MAP@10 (1 interval): percentile bootstrap of 10,000 resamples, numpy's default_rng(42), "
        "of MAP@10",
        "table 2: 95% CI (1 interval): percentile bootstrap of 1,000 resamples, numpy's default_rng(0), "
        "of MAP@10 against tfidf",
        "table 2: p (1 p-value): the paired t-test, of MAP@10 against tfidf",
    ]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("interval", "said"),
    [
        ("[0.0100, 0.1650]", "as the bootstrap of MAP@10 against tfidf gives it, up to its random draws"),
        (
            "[0.0500, 0.1250]",
            "[0.0500, 0.1250] of BM25 vs TF-IDF is not that of MAP@10 against tfidf, which is",
        ),
        ("0.0875", "0.0875 of BM25 vs TF-IDF is no interval"),
    ],
)
def test_other_intervals_are_told_from_ours(audit, interval, said):
    text = (
        main_table()
        + "\n\ntext\n\n"
        + markdown(["comparison", "ΔMAP@10", "CI95"], ["BM25 vs TF-IDF", "0.0875", interval])
    )
    assert audit(text).checks[1].startswith(f"table 2: CI95 (1 interval): {said}")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("p", "said"),
    [
        ("< 0.05", "the randomization test (10,000 resamples, seed 42) and the paired t-test, of MAP@10"),
        ("0.0613", "Wilcoxon's test, of MAP@10 against tfidf"),
        ("p<0.001", "p<0.001 of BM25 vs TF-IDF is not that of MAP@10 against tfidf: 0.0"),
        ("3.14 \u00d7 10^-2", "the paired t-test, of MAP@10 against tfidf"),
        ("n.s", "n.s of BM25 vs TF-IDF is no p-value"),
    ],
)
def test_p_values_are_those_of_a_test_or_not(audit, p, said):
    text = (
        main_table()
        + "\n\ntext\n\n"
        + markdown(["comparison", "ΔMAP@10", "p-value"], ["BM25 vs TF-IDF", "0.0875", p])
    )
    assert audit(text).checks[1].startswith(f"table 2: p-value (1 p-value): {said}")
