"""Headings as papers have them: cutoffs above, below and beside the measures, long tables, several levels."""

import re
from itertools import count

import pytest
from printing import texts_in

import permed_measures as pm
from permed_measures.published_tables.cells import CellNumber, printed_in
from permed_measures.published_tables.claims import parse_claims
from permed_measures.published_tables.latex import latex_tables
from permed_measures.published_tables.measure_names import meaning_of
from permed_measures.published_tables.read import read_tables
from permed_measures.published_tables.tables import read_claims_file

KINDS = {
    "unclosed.tex": (
        r"\begin{tabular}{ll} run & P@1 \\ \midrule a{ & # \\ b\emph[ & # \\ \end{tabular}",
        "a b[",
        "P@1",
    ),
    "first-row-without-its-tag.html": (
        "<table><td>run<td>P@1<tr><td>a<td>#<sup>1</sup></table>",
        "a",
        "P@1",
    ),
    "depths-above-cutoffs.csv": (
        "run,Top-100,Top-1000\n,nDCG@10,nDCG@10\na,#,#\n",
        "a",
        "Top-100:nDCG@10 Top-1000:nDCG@10",
    ),
    "numbers-for-names.csv": (
        "run,P@1,MAP@5\n1,#,#\n2,#,#\n",
        "1 2",
        "P@1 AP@5",
    ),
    "cutoffs-below-multicolumn.tex": (
        r"\begin{tabular}{lcccc} \toprule & \multicolumn{2}{c}{NDCG} & \multicolumn{2}{c}{Recall} \\"
        r"\cmidrule(lr){2-3}\cmidrule(lr){4-5} Method & $k=5$ & $k=10$ & $k=20$ & $k=100$ \\ \midrule"
        "\nBM25 & # & # & # & # \\\\ \nLSA & # & # & # & # \\\\ \\bottomrule \\end{tabular}",
        "BM25 LSA",
        "nDCG@5 nDCG@10 R@20 R@100",
    ),
    "p-at-k-above.tex": (
        r"\begin{tabular}{lccc} \toprule \multirow{2}{*}{Model} & \multicolumn{3}{c}{P@$k$} \\"
        r" & $k=1$ & $k=5$ & $k{=}10$ \\ \midrule"
        "\nBM25 & # & # & # \\\\ \nLSA & # & # & # \\\\ \\bottomrule \\end{tabular}",
        "BM25 LSA",
        "P@1 P@5 P@10",
    ),
    "f1-of-two-cutoffs.tex": (
        r"\begin{tabular}{lccc} Model & P$_{10}$ & R$_{20}$ & F1$_{10/20}$ \\ \midrule"
        "\nBM25 & # & # & # \\\\ LSA & # & # & # \\\\ \\end{tabular}",
        "BM25 LSA",
        "P@10 R@20 F1@10/20",
    ),
    "long-of-data-sets.csv": (
        "dataset,system,metric,cutoff,mean\nMedCorpus,bm25,ndcg,10,#\nMedCorpus,bm25,recall,100,#\n"
        "LitSearch,bm25,ndcg,10,#\nLitSearch,bm25,recall,100,#\n",
        "bm25",
        "MedCorpus:nDCG@10 MedCorpus:R@100 LitSearch:nDCG@10 LitSearch:R@100",
    ),
    "k-as-a-column-name-once.md": (
        "| Method | k | P |\n|---|---|---|\n| BM25 | 5 | # |\n| | 10 | # |\n| LSA | 5 | # |\n| | 10 | # |\n",
        "BM25 LSA",
        "P@5 P@10",
    ),
    "three-levels.tex": (
        r"\begin{tabular}{lcccccccc} & \multicolumn{4}{c}{MedCorpus} & \multicolumn{4}{c}{LitSearch} \\"
        r" & \multicolumn{2}{c}{nDCG} & \multicolumn{2}{c}{P}"
        r" & \multicolumn{2}{c}{nDCG} & \multicolumn{2}{c}{P} \\"
        r" & @5 & @10 & @5 & @10 & @5 & @10 & @5 & @10 \\ \midrule"
        "\nBM25 & # & # & # & # & # & # & # & # \\\\ \\bottomrule \\end{tabular}",
        "BM25",
        "MedCorpus:nDCG@5 MedCorpus:nDCG@10 MedCorpus:P@5 MedCorpus:P@10 "
        "LitSearch:nDCG@5 LitSearch:nDCG@10 LitSearch:P@5 LitSearch:P@10",
    ),
    "k-between.html": (
        "<table><thead><tr><th rowspan=3>Model<th colspan=4>LitSearch (broad)</tr>"
        "<tr><th colspan=2>K = 5<th colspan=2>K = 20</tr><tr><th>Recall<th>MRR<th>Recall<th>MRR</tr></thead>"
        "<tbody><tr><td>BM25<td>#<td>#<td>#<td>#</tr></tbody></table>",
        "BM25",
        "R@5 RR@5 R@20 RR@20",
    ),
    "sections-of-cutoffs.tex": (
        r"\begin{tabular}{lccc} \toprule Method & P & R & nDCG \\ \midrule"
        "\n\\multicolumn{4}{c}{\\textit{$k=5$}} \\\\ \\midrule BM25 & # & # & # \\\\"
        "LSA & # & # & # \\\\ \\midrule"
        "\n\\multicolumn{4}{c}{\\textit{$k=10$}} \\\\ \\midrule BM25 & # & # & # \\\\ LSA & # & # & # \\\\"
        "\\bottomrule \\end{tabular}",
        [(run, f"{name}@{k}") for k in (5, 10) for run in ("BM25", "LSA") for name in ("P", "R", "nDCG")],
        None,
    ),
    "cutoffs-beside.md": (
        "| | nDCG (k = 10) | NDCG at 5 | nDCG, k=20 | P (@5) | Recall [100] | MRR cutoff 10 | P, top 3 |\n"
        "|---|---|---|---|---|---|---|---|\n| bm25 | # | # | # | # | # | # | # |\n",
        "bm25",
        "nDCG@10 nDCG@5 nDCG@20 P@5 R@100 RR@10 P@3",
    ),
    "lowered-maths.md": (
        "| Run | $\\mathrm{nDCG}_{10}$ | $P_5$ | $R_{100}$ | $\\text{MAP}@100$ |\n|---|---|---|---|---|\n"
        "| bm25 | # | # | # | # |\n| lsa | # | # | # | # |\n",
        "bm25 lsa",
        "nDCG@10 P@5 R@100 AP@100",
    ),
    "set-of-cutoffs.tex": (
        r"\begin{tabular}{lccc} & \multicolumn{3}{c}{Hits@\{1,3,10\}} \\ Model & 1 & 3 & 10 \\ \midrule"
        "\nBM25 & # & # & # \\\\ \\bottomrule \\end{tabular}",
        "BM25",
        "Success@1 Success@3 Success@10",
    ),
    "percent-and-cutoff.html": (
        "<table><tr><th rowspan=2>Model<th colspan=2>Accuracy (%)<th colspan=2>MRR</tr>"
        "<tr><th>Top-1<th>Top-5<th>@10<th>@100</tr><tr><td>bm25<td>#<td>#<td>#<td>#</tr></table>",
        "bm25",
        "Success@1 Success@5 RR@10 RR@100",
    ),
    "names.md": (
        "| run | Q@10 | MSnDCG@10 | Q-measure@20 | MSnDCG@0100 |\n|---|---|---|---|---|\n"
        "| bm25 | # | # | # | # |\n",
        "bm25",
        "QMeasure@10 nDCG@10 QMeasure@20 nDCG@100",
    ),
    "short-names.md": (
        "| run | R10@1 | $R_{10}@2$ | S@5 | Succ@10 | Pre@5 | F@10 | R@1,000 | Avg. nDCG@10 |\n"
        "|---|---|---|---|---|---|---|---|---|\n| bm25 | # | # | # | # | # | # | # | # |\n",
        "bm25",
        "R@1 R@2 Success@5 Success@10 P@5 F1@10 R@1000 nDCG@10",
    ),
    "a-measure-above-its-first-cutoff.md": (
        "| | P | | R | |\n|---|---|---|---|---|\n| | @5 | @10 | @5 | @10 |\n| bm25 | # | # | # | # |\n",
        "bm25",
        "P@5 P@10 R@5 R@10",
    ),
    "data-sets-above-their-first-measure.md": (
        "| | MedCorpus | | LitSearch | |\n|---|---|---|---|---|\n| | MAP | P@1 | MAP | P@1 |\n"
        "| bm25 | # | # | # | # |\n",
        "bm25",
        "MedCorpus:AP MedCorpus:P@1 LitSearch:AP LitSearch:P@1",
    ),
    "no-data-set-behind-one-that-spans-columns.tex": (
        r"\begin{tabular}{lccc} & \multicolumn{2}{c}{DL19} & \\ run & P@1 & P@5 & MAP \\ \midrule"
        "\nbm25 & # & # & # \\\\ \\end{tabular}",
        "bm25",
        "DL19:P@1 DL19:P@5 AP",
    ),
    "no-data-set-behind-what-names-rows.csv": (
        "Data set,,DL19\nModel,P@1,P@5\nbm25,#,#\n",
        "bm25",
        "P@1 DL19:P@5",
    ),
    "nothing-above-the-names.tex": (
        r"\begin{tabular}{lc} & P@1 \\ a & # \\ b & # \\ \end{tabular}",
        "a b",
        "P@1",
    ),
    "rows-of-another-file.tex": (
        "run & P@1 & MAP \\\\ \\midrule\nbm25 & # & # \\\\ % the best\nlsa & # & # \\\\\n",
        "bm25 lsa",
        "P@1 AP",
    ),
    "rows-of-another-file.txt": (
        "run & P@1 & MAP \\\\\nbm25 & # & # \\\\\n",
        "bm25",
        "P@1 AP",
    ),
    "lengths-before-rows.tex": (
        r"\begin{tabular}{lcc} run & P@1 & MAP \\ \specialrule{1pt}{2pt}{3pt}"
        r"a\rule{1pt}{2pt}b\cite{c} & # & # \\ \end{tabular}",
        "ab",
        "P@1 AP",
    ),
    "cutoffs-once-for-their-rows.md": (
        "| k | Method | P | R |\n|---|---|---|---|\n| 5 | bm25 | # | # |\n| | lsa | # | # |\n"
        "| 10 | bm25 | # | # |\n| | lsa | # | # |\n",
        [(run, f"{name}@{k}") for k in (5, 10) for run in ("bm25", "lsa") for name in "PR"],
        None,
    ),
    "a-value-left-out-below-another.md": (
        "| Metric | @k | bm25 | lsa |\n|---|---|---|---|\n| Recall | 10 | # | # |\n| | 100 | # | |\n",
        [("bm25", "R@10"), ("lsa", "R@10"), ("bm25", "R@100")],
        None,
    ),
    "a-cutoff-above-a-measure-with-a-level.csv": (
        "run,Top-5,Top-5\n,IPrec@0.1,P\na,#,#\n",
        "a",
        "Top-5:IPrec@0.1 P@5",
    ),
    "deviations-beside.csv": (
        "run,P@5 ± sd,MAP@10 (± SE),R@5 ± std. dev. (%),nDCG@10±\na,#,#,#,#\n",
        "a",
        "P@5 AP@10 R@5 nDCG@10",
    ),
    "k-behind-its-sign.csv": ("run,Recall@k=5,P@ k = 10\na,#,#\n", "a", "R@5 P@10"),
    "measures-between-rows.md": (
        "| Model | k = 1 | k = 5 |\n|---|---|---|\n| **Precision** | | |\n| bm25 | # | # |\n| lsa | # | # |\n"
        "| **Recall** | | |\n| bm25 | # | # |\n| lsa | # | # |\n",
        [(run, f"{name}@{k}") for name in "PR" for run in ("bm25", "lsa") for k in (1, 5)],
        None,
    ),
    "a-measure-once-for-its-cutoffs.md": (
        "| Metric | @k | bm25 | lsa |\n|---|---|---|---|\n| Recall | 10 | # | # |\n| | 100 | # | # |\n"
        "| F1 | 10 | # | # |\n",
        [(run, name) for name in ("R@10", "R@100", "F1@10") for run in ("bm25", "lsa")],
        None,
    ),
    "long-with-other-names.csv": (
        "query_set,run,measure,value\nall,bm25,nDCG@10,#\nall,bm25,RR@10,#\nall,lsa,nDCG@10,#\nall,lsa,RR@10,#\n",
        "bm25 lsa",
        "nDCG@10 RR@10",
    ),
}  # fmt: skip


def filled(text):
    """Return a text with another number in the place of each #, and the numbers."""
    numbers = (f"0.{n}" for n in count(1001, 7))
    parts = text.split("#")
    found = [next(numbers) for _ in parts[1:]]
    return parts[0] + "".join(number + part for number, part in zip(found, parts[1:], strict=True)), found


def meaning(part, name, number):
    """Return the data set, if there are several, and what a name means in one way of writing."""
    [[claim]] = parse_claims([{name: number}])
    cutoff = claim.cutoffs[0]
    if isinstance(cutoff, tuple):
        cutoff = "/".join(map(str, dict.fromkeys(cutoff)))
    measure = claim.measure if claim.is_fully_specified or cutoff is None else f"{claim.measure}@{cutoff}"
    return f"{part}:{measure}" if part else measure


def read(tmp_path, kind, text):
    """Return the numbers of a table by their row, data set and measure, and what is said of it."""
    path = tmp_path / kind
    path.write_text(text)
    claims = read_claims_file(path)
    found = {
        (row.label, meaning(row.part, name, number)): number
        for row in claims.rows
        for name, number in texts_in(row).items()
    }
    return found, claims.notes


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_of_headings_is_read(tmp_path, kind):
    template, labels, names = KINDS[kind]
    cells = labels if names is None else [(a, b) for a in labels.split() for b in names.split()]
    text, numbers = filled(template)
    assert read(tmp_path, kind, text) == (dict(zip(cells, numbers, strict=True)), [])


LEFT_OUT = [
    ("a column without a title", ",run,MAP@5\n0,a,0.3\n", "(no title)"),
    ("cutoffs that are none", "run,nDCG,nDCG,MAP@5\n,k≤5,k>5,\na,0.1,0.2,0.3\n", "nDCG k≤5, nDCG k>5"),
    ("two cutoffs", "run,k,P,MAP@5\n,,Top-100,\na,5,0.2,0.3\n", "@5 P Top-100"),
    ("no cutoff where one is needed", "run,P,MAP@5\na,0.2,0.3\n", "P"),
    ("a cutoff for a measure without one", "run,Rprec,MAP@5\n,k=5,\na,0.2,0.3\n", "Rprec k=5"),
    ("deviations", "run,nDCG@10,MAP@5\n,std,mean\na,0.02,0.3\n", "nDCG@10 std"),
    ("measures that are not computed", "run,nERR@9,MAR@9,MAP@R,MAP@5\na,1,1,1,.3\n", "nERR@9, MAR@9, MAP@R"),
    ("letters that may be any step", "run,S1,J2,MAP@5\na,0.2,0.2,0.3\n", "S1, J2"),
    ("other columns of a long table", "run,metric,value,std\na,MAP@5,0.3,0.01\n", "std"),
    ("other rows of a long table", "run,metric,value\na,latency,9\na,MAP@5,0.3\n", "latency"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "titles"), [each[1:] for each in LEFT_OUT], ids=[each[0] for each in LEFT_OUT]
)
def test_a_heading_that_is_not_understood_is_said_and_not_guessed(tmp_path, text, titles):
    found, [note] = read(tmp_path, "paper.csv", text)
    assert (list(found.values()), note.partition(": ")[2]) == (["0.3"], titles)


def test_a_percent_sign_in_any_heading_is_kept_once(tmp_path):
    (tmp_path / "paper.csv").write_text("run,Accuracy (%),P@1 (%),MAP\n,Top-5,,%\na,12.5,0.5,0.7\n")
    [row] = read_claims_file(tmp_path / "paper.csv").rows
    assert texts_in(row) == {"Accuracy Top-5 (%)": "12.5", "P@1 (%)": "0.5", "MAP (%)": "0.7"}


@pytest.mark.parametrize(
    "hidden",
    [
        "<annotation>0.<i>9</i>8</annotation>",
        "<![if x]>",
        "<![x[0.9]]>",
        "<![ 0.9>",
        "<table><tr><td>9</table>",
    ],
)
def test_text_that_a_browser_does_not_show_is_not_read(tmp_path, hidden):
    text = f"<table><tr><th>run<th>P@1<tr><td>a<td>{hidden}0.1</table>"
    assert read(tmp_path, "paper.html", text)[0] == {("a", "P@1"): "0.1"}


def test_a_number_that_spans_rows_is_that_of_each(tmp_path):
    text = "<table><tr><th>run<th>P@1<th>MAP<tr><td>a<td>0.1<td rowspan=2>0.3<tr><td>b<td>0.2</table>"
    found, _ = read(tmp_path, "paper.html", text)
    assert found == {("a", "P@1"): "0.1", ("a", "AP"): "0.3", ("b", "P@1"): "0.2", ("b", "AP"): "0.3"}


@pytest.mark.parametrize("corner", ["Model", "Run ID", "Method", "系统", "k", ""])
def test_the_last_row_of_headings_is_told_by_what_stands_left_of_it(tmp_path, corner):
    found, _ = read(tmp_path, "paper.csv", f"Data set,MedCorpus,LitSearch\n{corner},P@1,R@5\nbm25,0.1,0.2\n")
    assert found == {("bm25", "MedCorpus:P@1"): "0.1", ("bm25", "LitSearch:R@5"): "0.2"}


def test_a_column_names_the_rows_if_more_than_half_of_it_is_text(tmp_path):
    found, [note] = read(tmp_path, "paper.csv", "size,name,P@1\n110,bm25,0.1\nbase,lsa,0.2\n")
    assert ({run for run, _ in found}, note.partition(": ")[2]) == ({"bm25", "lsa"}, "size")
    found, _ = read(tmp_path, "paper.csv", "size,name,P@1\n110,bm25,0.1\nbase,lsa,0.2\nlarge,tf,0.3\n")
    assert {run for run, _ in found} == {"110", "base", "large"}


def test_a_row_with_one_number_is_no_heading(tmp_path):
    found, _ = read(tmp_path, "paper.csv", "run,P@1,MAP\na,0.1,\nb,0.2,0.3\n")
    assert found == {("a", "P@1"): "0.1", ("b", "P@1"): "0.2", ("b", "AP"): "0.3"}


def test_a_comma_between_brackets_is_that_of_an_interval():
    assert (printed_in("(0,1)"), printed_in("0,1")) == (
        CellNumber("", signed=False),
        CellNumber("0.1", signed=False),
    )


@pytest.mark.parametrize(("n", "is_read"), [(3, True), (4, False)])
def test_up_to_four_rows_are_headings(tmp_path, n, is_read):
    text = "".join(f"{'run' if k == 0 else ''},{name}\n" for k, name in enumerate("stuv"[:n]))
    text += ",P@1\na,0.1\n"
    if is_read:
        assert read(tmp_path, "paper.csv", text)[0] == {("a", "P@1"): "0.1"}
    else:
        with pytest.raises(pm.PermedError):
            read(tmp_path, "paper.csv", text)


TABLES = ("tabular{@{}lc@{}}", "longtable[c]{lc}", "array{lc}", "NiceTabular{lc}", "tblr{cc}")
WIDE = (
    "tabular*{9cm}{lc}",
    "tabularx{9cm}[t]{lc}",
    "tabulary{9cm}{lc}",
    "xltabular{9cm}{lc}",
    "NiceTabular*{9cm}{lc}",
)


@pytest.mark.parametrize("begun", [*TABLES, *WIDE])
def test_what_stands_before_the_cells_of_latex_is_no_part_of_them(begun):
    name, end, rest = re.fullmatch(r"([a-zA-Z]+\*?)([\[{])(.*)", begun).groups()
    [grid] = latex_tables(rf"\begin{{{name}}}{end}{rest}run & P@1 \\ a & 0.1 \\ \end{{{name}}}")
    assert [[cell.text for cell in row] for row in grid] == [["run", "P@1"], ["a", "0.1"]]


@pytest.mark.parametrize("end", [r" \end{tabular}", ""])
def test_the_last_row_of_latex_needs_no_end(tmp_path, end):
    text = rf"\begin{{tabular}}{{lr}} run & P@1 \\ a & 0.1 \\ b & 0.2{end}"
    assert read(tmp_path, "paper.tex", text)[0] == {("a", "P@1"): "0.1", ("b", "P@1"): "0.2"}


@pytest.mark.parametrize(("n", "names"), [(1, [""]), (2, ["table 1", "table 2"])])
def test_of_several_tables_each_has_its_number(tmp_path, n, names):
    (tmp_path / "paper.md").write_text("\n".join(["| run | P@1 |\n|---|---|\n| a | 0.1 |\n"] * n))
    assert [table.name for table in read_tables(tmp_path / "paper.md")] == names


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.md", "\n" * 12_000 + "| run | P@1 |\n|---|---|\n| a | 0.1 |\n", 12_003),
        ("a.html", "<table><tr><th>run<th>P@1\n<tr><td data-line=7>a<td data-line=7>0.1</table>", 2),
    ],
    ids=["a long file", "an attribute of other tools"],
)
def test_the_line_of_a_row_is_that_of_the_file(tmp_path, name, text, line):
    (tmp_path / name).write_text(text)
    assert [row.where for row in read_claims_file(tmp_path / name).rows] == [f"{tmp_path / name}:{line}"]


def test_why_no_column_is_read_is_said(tmp_path):
    with pytest.raises(pm.InputError, match="there is no table whose header names the runs and then"):
        read(tmp_path, "paper.md", "| run | P@1 |\n|---|---|\n")
    with pytest.raises(pm.InputError, match="no row has a claim"):
        read(tmp_path, "paper.csv", "run,P@1\na,-\n")
    with pytest.raises(pm.MeasureError, match="the cutoff of nDCG is not clear from k≤5"):
        read(tmp_path, "paper.csv", "run,nDCG\n,k≤5\na,0.1\n")
    with pytest.raises(pm.MeasureError, match="ERR divided by the ERR of the ideal list is not computed"):
        pm.audit({"q": {"a": 1}}, {"q": {"a": 1.0}}, {"nERR@10": "0.5"})


@pytest.mark.parametrize("name", ["NDCG@10%", "NDCG@10 %"])
def test_percent_behind_a_cutoff_is_asked_for(tmp_path, name):
    question = "may be a number in percent, or the measure within a share of the list"
    _, [left_out, asked] = read(tmp_path, "paper.csv", f"run,{name},MAP@5\na,0.2,0.3\n")
    assert left_out == f"1 column left out, not a measure: {name}"
    hint = "Write NDCG@10 (%) for values in percent; a share of the list cannot be a cutoff"
    assert asked == f"{name!r} {question}. {hint}"
    with pytest.raises(pm.MeasureError, match=question):
        pm.audit({"q": {"a": 1}}, {"q": {"a": 1.0}}, {name: "0.5"})
    assert parse_claims([{"NDCG@10 (%)": "0.5"}])[0][0].percent


@pytest.mark.parametrize(
    ("name", "measure"),
    [
        ("Graded MAP@10", "AP"),
        ("nDCG_burges@10", "nDCG"),
        ("Recall cap@10", "R"),
        ("Cov@10", "Success"),
        ("加权平均精度@10", "AP"),
        ("F值@10", "F1"),
    ],
)
def test_loose_names_of_our_measures_mean_a_family(name, measure):
    assert meaning_of(name)[0] == measure
