"""Names of rows in printed tables: never a column or row of numbers; counts of queries are used."""

import pytest
from commands import run_cli
from printing import texts_in

import permed_measures as pm
from permed_measures.datasets import SAMPLES
from permed_measures.published_tables.assignment import assigned
from permed_measures.published_tables.tables import read_claims_file

QRELS = SAMPLES[0].qrels
RUNS = {name: pm.read_run(SAMPLES[0].runs[name]) for name in ("bm25", "lsa")}


def read(tmp_path, text, name="paper.csv"):
    """Read the claims by label and part, and the notes."""
    path = tmp_path / name
    path.write_text(text)
    claims = read_claims_file(path)
    return {(row.label, row.part): texts_in(row) for row in claims.rows}, claims.notes


def in_markdown(*lines):
    head, *rows = (f"| {' | '.join(line.split(','))} |" for line in lines)
    return "\n".join([head, "|" + "---|" * (head.count("|") - 1), *rows]) + "\n"


OF_GPT_4 = {("GPT-4", ""): {"P@1": "0.96", "MAP@5": "0.94"}, ("Ours", ""): {"P@1": "0.95", "MAP@5": "0.92"}}
TURNED = {
    "text in a column of changes": (["Metric,GPT-4,Ours,Change", "P@1,0.96,0.95,up", "MAP@5,0.94,0.92,up"],
        "cells left out, not values: up (Change, P@1), up (Change, MAP@5)"),
    "text before the numbers": (["Metric,Note,GPT-4,Ours", "P@1,main,0.96,0.95", "MAP@5,too,0.94,0.92"],
        "cells left out, not values: main (Note, P@1), too (Note, MAP@5)"),
    "text between the numbers": (["Metric,GPT-4,Better,Ours", "P@1,0.96,yes,0.95", "MAP@5,0.94,yes,0.92"],
        "cells left out, not values: yes (Better, P@1), yes (Better, MAP@5)"),
    "the measures at the right": (["GPT-4,Ours,Metric", "0.96,0.95,P@1", "0.94,0.92,MAP@5"], None),
    "the measures in the middle": (["GPT-4,Metric,Ours", "0.96,P@1,0.95", "0.94,MAP@5,0.92"], None),
    "marks": ([" ,**GPT-4**,Ours†", "P@1,**0.96**†,0.95*", "MAP@5,0.94,0.92 ± 0.1"], None),
    "differences": (["Metric,GPT-4,Ours,Δ", "P@1,0.96,0.95,-1%", "MAP@5,0.94,0.92,-2%"],
        "cells left out, not values: -1% (Δ, P@1), -2% (Δ, MAP@5)"),
    "other rows": (["Metric,GPT-4,Ours", "P@1,0.96,0.95", "Latency,12 ms,9", "MAP@5,0.94,0.92"],
        "1 column left out, not a measure: Latency"),
    "two columns of measures": ([" , ,GPT-4,Ours", "P,@1,0.96,0.95", "MAP,@5,0.94,0.92"], None),
}  # fmt: skip


@pytest.mark.parametrize(("lines", "note"), TURNED.values(), ids=TURNED)
def test_runs_above_columns_name_the_rows(tmp_path, lines, note):
    found, notes = read(tmp_path, in_markdown(*lines), "paper.md")
    found = {key: {"".join(name.split()): text for name, text in row.items()} for key, row in found.items()}
    assert (found, notes) == (OF_GPT_4, [note] if note else [])


OF_BM25 = {("bm25", ""): {"MAP@10": "0.46", "P@1": "0.64"}, ("lsa", ""): {"MAP@10": "0.39", "P@1": "0.50"}}
ANYWHERE = {
    "at the right": ("MAP@10,P@1,run\n0.46,0.64,bm25\n0.39,0.50,lsa", None),
    "in the middle": ("MAP@10,run,P@1\n0.46,bm25,0.64\n0.39,lsa,0.50", None),
    "at the right without a title": ("MAP@10,P@1,\n0.46,0.64,bm25\n0.39,0.50,lsa", None),
    "at the right with another title": ("MAP@10,P@1,name\n0.46,0.64,bm25\n0.39,0.50,lsa", None),
    "before other text": ("MAP@10,P@1,run,notes\n0.46,0.64,bm25,ours\n0.39,0.50,lsa,", None),
    "behind years": ("Year,Model,MAP@10,P@1\n1994,bm25,0.46,0.64\n1990,lsa,0.39,0.50", "Year"),
    "before years": ("MAP@10,P@1,run,Year\n0.46,0.64,bm25,1994\n0.39,0.50,lsa,1990", "Year"),
    "behind ranks": ("#,MAP@10,P@1,run\n1,**0.46**†,0.64,bm25\n2,0.39*,0.50,lsa", "#"),
    "behind sizes": ("Model,Params,MAP@10,P@1\nbm25,,0.46,0.64\nlsa,7.5,0.39,0.50", "Params"),
    "before p-values": ("MAP@10,P@1,p-value,run\n0.46,0.64,0.01,bm25\n0.39,0.50,-,lsa", "p-value"),
    "sizes with a unit": ("Model,MAP@10,P@1,Params\nbm25,0.46,0.64,\nlsa,0.39,0.50,110M", "Params"),
    "behind counts of documents": ("Docs,run,MAP@10,P@1\n10,bm25,0.46,0.64\n10,lsa,0.39,0.50", "Docs"),
}


@pytest.mark.parametrize(("text", "left_out"), ANYWHERE.values(), ids=ANYWHERE)
def test_the_column_of_runs_may_stand_anywhere(tmp_path, text, left_out):
    note = [f"1 column left out, not a measure: {left_out}"] if left_out else []
    assert read(tmp_path, text) == (OF_BM25, note)


NAMELESS = {
    "a parameter": ("Layers,MAP@10\n40,0.46\n80,0.39\n", "40 and 80"),
    "no title": (",MAP@10\n1,0.46\n2,0.39\n", "1 and 2"),
    "measures alone": ("P@1,MAP@10\n0.5,0.4\n", "0.5"),
    "a column of text that tells no rows apart": ("P@1,same\n0.5,yes\n0.4,yes\n", "0.5 and 0.4"),
    "significance": ("P@1,Sig.\n0.5,yes\n0.4,no\n", "0.5 and 0.4"),
    "counts of queries": ("Queries,P@1\n10,0.5\n20,0.4\n", "10 and 20"),
    "numbers above": ("Metric,40,80\nP@1,0.46,0.39\nMAP@5,0.3,0.2\n", "40 and 80"),
    "years above": ("Metric,2019,2020\nP@1,0.46,0.39\nMAP@5,0.3,0.2\n", "2019 and 2020"),
    "cutoffs above": ("Metric,@5,@10\nP,0.46,0.39\nMAP,0.3,0.2\n", "@5 and @10"),
    "two parameters": ("k1,b,MAP@10\n0.9,0.4,0.46\n1.2,0.8,0.39\n", "0.9 and 1.2"),
}


@pytest.mark.parametrize(("text", "said"), NAMELESS.values(), ids=NAMELESS)
def test_numbers_and_cutoffs_are_no_names(tmp_path, text, said):
    with pytest.raises(pm.InputError) as caught:
        read(tmp_path, text)
    assert str(caught.value) == (
        f"{tmp_path / 'paper.csv'}:1: no text names the rows; numbers and cutoffs are not names (found "
        f'{said}). Write names with letters, such as "run 40", or the title run above the column of names'
    )


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("run,MAP@10\n40,0.46\n80,0.39\n", ["40", "80"]),
        ("Layers,MAP@10\nrun 40,0.46\nrun 80,0.39\n", ["run 40", "run 80"]),
        ("Metric,run 40,run 80\nP@1,0.46,0.39\nMAP@5,0.3,0.2\n", ["run 40", "run 80"]),
        ("run,Layers,MAP@10\na,40,0.46\nb,80,0.39\n", ["a", "b"]),
    ],
)
def test_names_that_are_numbers_can_be_written_so(tmp_path, text, names):
    found, _ = read(tmp_path, text)
    assert [label for label, _ in found] == names


def test_of_several_tables_one_without_names_is_left_out_and_said(tmp_path):
    text = in_markdown("Layers,P@1", "40,0.5") + "\n" + in_markdown("run,P@1", "a,0.5")
    found, notes = read(tmp_path, text, "paper.md")
    assert found == {("a", "table 2"): {"P@1": "0.5"}}
    assert notes == ["table 1 is left out: no text names its rows"]


# --- data sets as blocks of rows -------------------------------------------------------------------

BM25 = {"NDCG@10": "0.6788", "MAP@10": "0.4665"}
OTHER = {"NDCG@10": "0.1234", "MAP@10": "0.2345"}
BLOCKS = {
    "below a row": "Model,NDCG@10,MAP@10\nMedCorpus,,\nbm25,0.6788,0.4665\nLitSearch,,\nbm25,0.1234,0.2345",
    "below a text in the middle": "Model,NDCG@10,MAP@10\n,MedCorpus,\nbm25,0.6788,0.4665\n,LitSearch,\n"
    "bm25,0.1234,0.2345",
    "with their headings": "Model,NDCG@10,MAP@10\nMedCorpus,,\nbm25,0.6788,0.4665\nLitSearch,,\n"
    "Model,NDCG@10,MAP@10\nbm25,0.1234,0.2345",
    "beside": "Test set,Model,NDCG@10,MAP@10\nMedCorpus,bm25,0.6788,0.4665\nLitSearch,bm25,0.1234,0.2345",
    "beside without a title": ",,NDCG@10,MAP@10\nMedCorpus,bm25,0.6788,0.4665\n,lsa,0.1,0.2\n"
    "LitSearch,bm25,0.1234,0.2345\n,lsa,0.3,0.4",
    "in headings": "Model,MedCorpus/NDCG@10,MedCorpus/MAP@10,LitSearch/NDCG@10,LitSearch/MAP@10\n"
    "bm25,0.6788,0.4665,0.1234,0.2345",
    "measures as rows": "Metric,bm25\nMedCorpus,\nNDCG@10,0.6788\nMAP@10,0.4665\nLitSearch,\nNDCG@10,0.1234\n"
    "MAP@10,0.2345",
    "behind a colon": "Model,MedCorpus: NDCG@10,MedCorpus: MAP@10,LitSearch: NDCG@10,LitSearch: MAP@10\n"
    "bm25,0.6788,0.4665,0.1234,0.2345",
}


@pytest.mark.parametrize("text", BLOCKS.values(), ids=BLOCKS)
def test_data_sets_are_told_apart_and_chosen_as_the_hint_says(tmp_path, text):
    found, _ = read(tmp_path, text)
    assert found["bm25", "MedCorpus"] == BM25
    assert found["bm25", "LitSearch"] == OTHER
    path = tmp_path / "paper.csv"
    with pytest.raises(pm.InputError, match=r"two numbers for NDCG@10.*--columns NAME, or columns='NAME'"):
        assigned(read_claims_file(path), ["bm25"])
    for columns, claims in (("MedCorpus", BM25), ("litsearch", OTHER)):
        [(run, found)] = assigned(read_claims_file(path, columns), ["bm25"]).claims.items()
        assert (run, {name: claim.text for name, claim in found.items()}) == ("bm25", claims)


def test_rows_are_chosen_by_what_stands_beside_their_names(tmp_path):
    path = tmp_path / "paper.csv"
    path.write_text("Model,Setting,NDCG@10\nbm25,tuned,0.1234\nbm25,plain,0.6788\n")
    with pytest.raises(pm.InputError, match="--columns NAME"):
        pm.audit(QRELS, RUNS, path)
    assert pm.audit(QRELS, RUNS, path, columns="plain").ok
    text, _ = run_cli("possible", "permed-sample", "--claims", str(path), "--columns", "tuned")
    assert "NDCG@10 0.6788" not in text


def test_blocks_that_repeat_no_name_are_no_data_sets(tmp_path):
    text = "Model,NDCG@10\nSparse,\nbm25,0.6788\nDense,\nlsa,0.6060\n"
    assert {part for _, part in read(tmp_path, text)[0]} == {""}
    assert [row.label for row in read_claims_file(tmp_path / "paper.csv", "Dense").rows] == ["lsa"]


def test_where_nothing_tells_two_rows_apart_another_name_is_asked_for(tmp_path):
    path = tmp_path / "paper.csv"
    path.write_text("run,NDCG@10\nbm25,0.6788\nbm25,0.1234\n")
    with pytest.raises(pm.InputError, match=r"two numbers for NDCG@10.*Give one of the rows another name"):
        pm.audit(QRELS, RUNS, path)
    path.write_text("run,NDCG@10\nbm25,0.6788\nother,0.1234\n")
    assert pm.audit(QRELS, RUNS, path).ok


# --- counts of queries -----------------------------------------------------------------------------

COUNTS = ["Queries", "#Q", "N", "n", "Topics", "# queries", "No. of topics", "Queries (#)", "Test queries"]
COUNTS += ["|Q|", "n_queries", "#Topics", "Number of queries", "Questions", "查询数"]


@pytest.mark.parametrize("title", COUNTS)
def test_a_column_of_counts_says_over_how_many_queries_a_row_is(tmp_path, title):
    path = tmp_path / "paper.csv"
    for text in (
        f'Dataset;{title};P@1;nDCG@5\nMed;1,400;0.9464;0.9\nLit;"597";0.3;0.2\n',
        f"{title};Dataset;P@1;nDCG@5\n1400;Med;0.9464;0.9\n597;Lit;0.3;0.2\n",
        f"Dataset;P@1;nDCG@5;{title}\nMed;0.9464;0.9;1400\nLit;0.3;0.2;597\n",
        f"Metric;Med;Lit\nP@1;0.9464;0.3\nnDCG@5;0.9;0.2\n{title};1,400;597\n",
    ):
        path.write_text(text)
        read = read_claims_file(path)
        assert [(row.label, row.topics, len(row.claims)) for row in read.rows] == [
            ("Med", 1400, 2),
            ("Lit", 597, 2),
        ], text
        assert read.notes == []


def test_each_data_set_may_have_its_count(tmp_path):
    path = tmp_path / "paper.csv"
    for text in (
        ",DL19,DL19,DL20,DL20\nModel,N,P@1,N,P@1\nbm25,43,0.5,54,0.4\n",
        "Model,DL19/P@1,DL20/P@1\n#Queries,43,54\nbm25,0.5,0.4\n",
        "Model,DL19/P@1,DL20/P@1\nbm25,0.5,0.4\nQueries,43,54\n",
    ):
        path.write_text(text)
        assert [(row.part, row.topics) for row in read_claims_file(path).rows] == [("DL19", 43), ("DL20", 54)]


@pytest.mark.parametrize("cell", ["1.4K", "12.5", "43/54"])
def test_what_is_no_count_of_queries_is_left_out_and_said(tmp_path, cell):
    path = tmp_path / "paper.csv"
    path.write_text(f"Model;Queries;P@1\nbm25;{cell};0.5\n")
    read = read_claims_file(path)
    assert [(row.labels, row.topics) for row in read.rows] == [(["bm25"], None)]
    assert read.notes == ["1 column left out, not a measure: Queries"]


def test_means_over_other_queries_are_tested_over_as_many(tmp_path):
    """0.3333 is a third of 48 and of 9 queries, but not of 10; 0.6458 is 31 of 48."""
    path = tmp_path / "paper.csv"
    for n, ok in ((48, True), (9, True), (10, False)):
        path.write_text(f"Dataset,Queries,P@1\nhere,{n},0.3333\n")
        result = pm.possible(QRELS, path)
        assert result.ok is ok
        text = str(result.report())
        assert ("or any as many as the table says" in text) is (n < 48)
        note = f"here: means over {n} of the 48 queries, as the table says; these may be any of them"
        assert result.notes == ([note] if n < 48 else [])
    assert "P@1 0.3333 is not a multiple of 1/10" in text


def test_rows_over_more_queries_than_the_qrels_have_are_left_out(tmp_path):
    path = tmp_path / "paper.csv"
    path.write_text("Dataset,Queries,P@1\nthere,1400,0.9464\nhere,48,0.6458\n")
    result = pm.possible(QRELS, path)
    assert [row.name for row in result.rows] == ["here"]
    what = "say that they are over more queries than the 48 of the qrels: there (1,400)"
    assert result.notes == [f"rows left out, as they {what}"]
    path.write_text("Dataset,Queries,P@1\nthere,1400,0.9464\n")
    with pytest.raises(pm.InputError, match=r"all rows say that they are over more queries.*Give the qrels"):
        pm.possible(QRELS, path)


def test_differences_of_means_over_other_queries_are_not_decided(tmp_path):
    path = tmp_path / "paper.csv"
    for n, why in ((40, "the table says 40 queries, and the qrels have 48"), (48, "")):
        path.write_text(f"run,Queries,P@1\na,{n},0.0000\nb,48,1.0000\n")
        [pair] = pm.possible(QRELS, path, differences=True).differences.pairs
        assert (pair.why, pair.verdict == "surely significant") == (why, not why)


def test_an_audit_says_which_rows_are_over_other_queries(tmp_path):
    path = tmp_path / "paper.csv"
    for n, notes in ((40, ["the table says 40 queries for bm25; the qrels have 48"]), (48, [])):
        path.write_text(f"run,Queries,MAP@10\nbm25,{n},0.4665\n")
        assert pm.audit(QRELS, {"bm25": RUNS["bm25"]}, path).notes == notes


@pytest.mark.thorough
def test_a_row_about_1400_queries_of_medcorpus_is_no_row_about_all(data, tmp_path):
    qrels, path = data / "medcorpus" / "query_to_texts.jsonl", tmp_path / "paper.md"
    for n, said in ((1400, "is 1,325 of 1,400"), (3440, "is not a multiple of 1/3,440")):
        path.write_text(in_markdown("Dataset,Queries,P@1", f"Med,{n},0.9464"))
        assert f"P@1 0.9464 {said}" in str(pm.possible(qrels, path).report())
