"""Tables in the styles of papers: each number is read under its run and measure, or a note says why not."""

import random
from collections import Counter

import pytest
from effort import effort
from printed_styles import FORMATS, STYLES, written
from printing import texts_in

import permed_measures as pm
from permed_measures.published_tables.measure_names import meaning_of, strip_heading
from permed_measures.published_tables.tables import read_claims_file


def measure_of(name):
    measure, cutoffs = meaning_of(strip_heading(name)[0])
    return measure, cutoffs[0]


def counted(path, known):
    """Count the cells of a file that are read right, refused with a reason, wrong, or left out in silence."""
    expected = {(run, at, measure_of(name)): number for (run, at, name), number in known.items()}
    try:
        claims = read_claims_file(path)
    except pm.PermedError as error:
        return Counter(refused=len(expected)) if error.problem else Counter(silent=len(expected))
    read = {
        (row.label, row.part, measure_of(name)): number
        for row in claims.rows
        for name, number in texts_in(row).items()
    }
    columns = " ".join(note for note in claims.notes if "left out, not" in note and "column" in note)
    cells = " ".join(note for note in claims.notes if "not values" in note)
    count = Counter("right" if expected.get(key) == number else "wrong" for key, number in read.items())
    for run, _, name in (key for key in known if (*key[:2], measure_of(key[2])) not in read):
        count["refused" if name in columns or f"({run}, {name})" in cells else "silent"] += 1
    return count


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("style", STYLES)
def test_each_cell_is_read(tmp_path, style, form):
    path = tmp_path / f"paper.{form}"
    for seed in range(effort(2, 20)):
        table = STYLES[style](random.Random(seed))
        path.write_text(written(table, form))
        assert counted(path, table.known) == Counter(right=len(table.known)), path.read_text()


def test_the_count_of_cells_sees_each_kind(tmp_path):
    """Two numbers are swapped, one is not a number, one is missing, and a run has no row."""
    path = tmp_path / "paper.csv"
    path.write_text("run,P@1,R@5,MAP@5\na,0.2,0.1,0.3\nb,0.4,n.s.,\n")
    measures = {"P@1": "0.1", "R@5": "0.2", "MAP@5": "0.3"}
    known = {("a", "", name): number for name, number in measures.items()}
    known |= {("b", "", "P@1"): "0.4", ("b", "", "R@5"): "0.5", ("b", "", "MAP@5"): "0.6"}
    assert counted(path, known | {("c", "", "P@1"): "0.7"}) == Counter(right=2, wrong=2, refused=1, silent=2)


CUT = {
    "another number of them": (
        "Model;MAP@1/3/5\na;0.5 / 0.4\nb;0.1/0.2/0.3\n",
        {"b": {"MAP@1": "0.1", "MAP@3": "0.2", "MAP@5": "0.3"}},
        "cells left out, not values: 0.5 / 0.4 (a, MAP@1), 0.5 / 0.4 (a, MAP@3), 0.5 / 0.4 (a, MAP@5)",
    ),
    "one number": (
        "Model;P@1/5\na;0.5\nb;0.1/0.2\n",
        {"b": {"P@1": "0.1", "P@5": "0.2"}},
        "cells left out, not values: 0.5 (a, P@1), 0.5 (a, P@5)",
    ),
    "one missing": ("Model;P@{1,5}\na;0.5 / -\nb;\n", {"a": {"P@1": "0.5"}}, None),
    "measures": ("Model;P@1/R@5 (%)\na;50 / 40\n", {"a": {"P@1 (%)": "50", "R@5 (%)": "40"}}, None),
    "two cutoffs of F1": ("Model;F1@10/20\na;0.5\n", {"a": {"F1@10/20": "0.5"}}, None),
    "names with a stroke": ("Model;P@{1;5}\n".replace(";5", ",5") + "a / b;0.5 / 0.4\n",
        {"a / b": {"P@1": "0.5", "P@5": "0.4"}}, None),
    "rows": ("Metric;a;b\nMAP@{1,3};0.5 / 0.4;0.3/0.2\n",
        {"a": {"MAP@1": "0.5", "MAP@3": "0.4"}, "b": {"MAP@1": "0.3", "MAP@3": "0.2"}}, None),
    "decimal commas": ("Model;P@{1,5}\na;0,5 / 0,4\n", {"a": {"P@1": "0.5", "P@5": "0.4"}}, None),
    "below the measure": ("Model;MAP\n;@{1,5}\na;0.5 / 0.4\n",
        {"a": {"MAP @1": "0.5", "MAP @5": "0.4"}}, None),
    "more commas than columns": ("Model;P@{1,2,3,4,5}\na;.1/.2/.3/.4/.5\n",
        {"a": {"P@1": "0.1", "P@2": "0.2", "P@3": "0.3", "P@4": "0.4", "P@5": "0.5"}}, None),
}  # fmt: skip


@pytest.mark.parametrize(("text", "rows", "note"), CUT.values(), ids=CUT)
def test_several_numbers_in_a_cell_are_those_of_its_title(tmp_path, text, rows, note):
    (tmp_path / "paper.csv").write_text(text)
    claims = read_claims_file(tmp_path / "paper.csv")
    assert {row.label: texts_in(row) for row in claims.rows} == rows
    assert claims.notes == ([note] if note else [])


TURNED = {
    "cutoffs below runs": ",BM25,,DPR,\n,@1,@3,@1,@3\nMAP,.1,.2,.3,.4\nP,.5,.6,.7,.8\n",
    "cutoffs below measures": ",MAP,,P,\n,BM25,DPR,BM25,DPR\n@1,.1,.3,.5,.7\n@3,.2,.4,.6,.8\n",
    "cutoffs beside measures": ",,BM25,DPR\nMAP,@1,.1,.3\n,@3,.2,.4\nP,@1,.5,.7\n,@3,.6,.8\n",
    "measures beside runs": ",,@1,@3\nBM25,MAP,.1,.2\n,P,.5,.6\nDPR,MAP,.3,.4\n,P,.7,.8\n",
    "runs beside measures": ",,@1,@3\nMAP,BM25,.1,.2\n,DPR,.3,.4\nP,BM25,.5,.6\n,DPR,.7,.8\n",
}


@pytest.mark.parametrize("text", TURNED.values(), ids=TURNED)
def test_runs_measures_and_cutoffs_may_stand_anywhere(tmp_path, text):
    (tmp_path / "paper.csv").write_text(text)
    rows = {row.label: texts_in(row) for row in read_claims_file(tmp_path / "paper.csv").rows}
    rows = {run: {measure_of(name): text for name, text in claims.items()} for run, claims in rows.items()}
    measures = [measure_of(name) for name in ("MAP@1", "MAP@3", "P@1", "P@3")]
    assert rows == {
        "BM25": dict(zip(measures, ("0.1", "0.2", "0.5", "0.6"), strict=True)),
        "DPR": dict(zip(measures, ("0.3", "0.4", "0.7", "0.8"), strict=True)),
    }


def test_q1_is_a_query_and_q_at_1_a_measure(tmp_path):
    (tmp_path / "paper.csv").write_text("query_id,P@1,Q@1\nq1,0.1,0.3\nq2,0.2,0.4\n")
    rows = read_claims_file(tmp_path / "paper.csv").rows
    assert {row.label: texts_in(row) for row in rows} == {
        "q1": {"P@1": "0.1", "Q@1": "0.3"},
        "q2": {"P@1": "0.2", "Q@1": "0.4"},
    }


def test_what_is_left_out_of_blocks_is_said_once(tmp_path):
    (tmp_path / "paper.csv").write_text("Rank,Team,Run,MAP\n1,A,a,.1\n2,A,b,.2\n3,B,a,.3\n")
    claims = read_claims_file(tmp_path / "paper.csv")
    assert [(row.label, row.part) for row in claims.rows] == [("a", "A"), ("b", "A"), ("a", "B")]
    assert claims.notes == ["1 column left out, not a measure: Rank"]


@pytest.mark.parametrize("cell", ["0,41 (±0,02)", "0,41 ± 0,02", "0,41 (+0,02)", "0,41 (0,02)"])
def test_decimal_commas_may_have_deviations_beside(tmp_path, cell):
    (tmp_path / "paper.csv").write_text(f"run\tP@1\na\t{cell}\n")
    claims = read_claims_file(tmp_path / "paper.csv")
    assert [texts_in(row) for row in claims.rows] == [{"P@1": "0.41"}]


BESIDE = ["P@1 (std)", "std/P@1", "P@1/std", "P@1 (p-value)", "P@1 (95% CI)", "P@1 (SD)", "P@1: median"]


@pytest.mark.parametrize("title", BESIDE)
def test_what_is_beside_a_measure_is_not_read_as_it(tmp_path, title):
    (tmp_path / "paper.csv").write_text(f"run,MAP@5,{title}\na,0.1,0.2\n")
    claims = read_claims_file(tmp_path / "paper.csv")
    assert [texts_in(row) for row in claims.rows] == [{"MAP@5": "0.1"}]
    assert claims.notes == [f"1 column left out, not a measure: {title}"]


def test_a_year_is_no_cutoff(tmp_path):
    (tmp_path / "paper.csv").write_text(",2019,2019,2020,2020\nModel,MAP,P@1,MAP,P@1\na,.1,.2,.3,.4\n")
    claims = read_claims_file(tmp_path / "paper.csv")
    assert [(row.part, texts_in(row)) for row in claims.rows] == [
        ("2019", {"MAP": "0.1", "P@1": "0.2"}),
        ("2020", {"MAP": "0.3", "P@1": "0.4"}),
    ]


def test_of_many_or_long_titles_that_are_left_out_the_first_are_shown(tmp_path):
    titles = ["x" * 16_000, *(f"size {n}" for n in range(19))]
    (tmp_path / "paper.csv").write_text(f"run,P@1,{','.join(titles)}\na,0.5{',7' * 20}\n")
    [note] = read_claims_file(tmp_path / "paper.csv").notes
    shown = ["x" * 79 + "…", *titles[1:10], "..."]
    assert note == f"20 columns left out, not measures: {', '.join(shown)}"


NEIGHBOURS = {
    "a measure without a cutoff below one with cutoffs": (
        ",,bm25\nMAP,@1,0.1\n,@3,0.3\nMRR,,0.5\n",
        {("bm25", ""): {"MAP @1": "0.1", "MAP @3": "0.3", "MRR": "0.5"}},
    ),
    "a cutoff that spans measures": (
        "Metric,k,bm25\nMAP,5,0.1\nP,,0.2\nMAP,10,0.3\nP,,0.4\n",
        {("bm25", ""): {"MAP 5": "0.1", "P 5": "0.2", "MAP 10": "0.3", "P 10": "0.4"}},
    ),
    "whole numbers as cutoffs beside measures": (
        ",,bm25,lsa\nMAP,1,0.1,0.2\n,3,0.3,0.4\nP,1,0.5,0.6\n",
        {
            ("bm25", ""): {"MAP 1": "0.1", "MAP 3": "0.3", "P 1": "0.5"},
            ("lsa", ""): {"MAP 1": "0.2", "MAP 3": "0.4", "P 1": "0.6"},
        },
    ),
    "data sets that are repeated in each cell": (
        "Model,NDCG@10,MAP\nMedCorpus,MedCorpus,MedCorpus\nbm25,0.5,0.1\nLitSearch,LitSearch,LitSearch\n"
        "bm25,0.3,0.2\n",
        {
            ("bm25", "MedCorpus"): {"NDCG@10": "0.5", "MAP": "0.1"},
            ("bm25", "LitSearch"): {"NDCG@10": "0.3", "MAP": "0.2"},
        },
    ),
    "three decimals behind a comma": (
        "Modell;NDCG@10;P@1\nbm25;0,512;0,100\n",
        {("bm25", ""): {"NDCG@10": "0.512", "P@1": "0.100"}},
    ),
    "thousands": ("Model;NumRet;P@1\nbm25;12,000;0.5\n", {("bm25", ""): {"NumRet": "12000", "P@1": "0.5"}}),
    "dashes in each cell": ("Model,P@1,MAP\na,0.5,0.1\n-,-,-\nb,0.3,0.2\n",
        {("a", ""): {"P@1": "0.5", "MAP": "0.1"}, ("b", ""): {"P@1": "0.3", "MAP": "0.2"}}),
    "counts of documents": ("Dataset,#Docs,P@1\nA,1400,0.5\n", {("A", ""): {"P@1": "0.5"}}),
    "a column of winners": (
        "Metric,a,b,Winner\nP@1,0.9,0.8,a\nMAP,0.7,0.6,a\n",
        {("a", ""): {"P@1": "0.9", "MAP": "0.7"}, ("b", ""): {"P@1": "0.8", "MAP": "0.6"}},
    ),
    "a row of counts of queries": (
        ",a,b\nMAP,0.1,0.2\n#queries,48,48\n",
        {("a", ""): {"MAP": "0.1"}, ("b", ""): {"MAP": "0.2"}},
    ),
    "runs at the right without a title": ("P@1,MAP,\n0.5,0.1,a\n", {("a", ""): {"P@1": "0.5", "MAP": "0.1"}}),
    "a second measure in brackets": (
        "run,P@10 (R@10),P@1 (P@5)\na,0.1 (0.2),0.3 (0.4)\n",
        {("a", ""): {"P@10": "0.1", "R@10": "0.2", "P@1": "0.3", "P@5": "0.4"}},
    ),
    "another name in brackets, and a deviation": (
        "run,Recall@10 (R@10)\na,0.1 (0.02)\n",
        {("a", ""): {"Recall@10 (R@10)": "0.1"}},
    ),
    "groups beside measures": (
        ",,a\nLexical,MAP@1,0.5\n,MAP@3,0.4\nDense,MAP@1,0.1\n,MAP@3,0.15\n",
        {
            ("a", "Lexical"): {"MAP@1": "0.5", "MAP@3": "0.4"},
            ("a", "Dense"): {"MAP@1": "0.1", "MAP@3": "0.15"},
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "rows"), NEIGHBOURS.values(), ids=NEIGHBOURS)
def test_no_number_has_the_name_of_another(tmp_path, text, rows):
    (tmp_path / "paper.csv").write_text(text)
    found = read_claims_file(tmp_path / "paper.csv").rows
    assert {(row.label, row.part): texts_in(row) for row in found} == rows
