"""Files whose order contradicts their scores: what is said, when nothing is, and what the order gives."""

import json
import math
import random
import warnings
from pathlib import Path

import polars as pl
import pytest
from commands import run_cli, run_main

import permed_measures as pm
from permed_measures.engine.tables import Table
from permed_measures.inputs import read as reading
from permed_measures.inputs.formats import NO_RANK, NOT_A_RANK, parse_rank, trec_run
from permed_measures.inputs.rank_check import contradicted, contradicted_rows
from permed_measures.inputs.recognition import recognised
from permed_measures.inputs.scan import parquet_rows, text_frames
from permed_measures.inputs.sources import Source
from permed_measures.inputs.text_reader import TextFile, table_of

QUERIES = ("q1", "q2", "q3")
DISTANCES = [(q, d, rank, rank / 10) for q in QUERIES for rank, d in enumerate("abc")]
SIMILARITIES = [(q, d, rank, -score) for q, d, rank, score in DISTANCES]
QRELS = {query_id: {"a": 1} for query_id in QUERIES}
ENDINGS = ("trec", "csv", "parquet")


@pytest.fixture(params=[reading._LARGE_FILE, 0], ids=["whole", "in batches"])
def read(request, monkeypatch):
    monkeypatch.setattr(reading, "_LARGE_FILE", request.param)
    return pm.read_run


def written(path, rows):
    """Write query, document, rank and score as the kind of file that its name says; return it."""
    frame = pl.DataFrame(rows, schema=["query_id", "doc_id", "rank", "score"], orient="row")
    if path.suffix == ".trec":
        path.write_text("".join(f"{q} Q0 {d} {rank} {score!r} t\n" for q, d, rank, score in rows))
    else:
        (frame.write_csv if path.suffix == ".csv" else frame.write_parquet)(path)
    return path


def notes_of(read, path):
    with warnings.catch_warnings(record=True, action="always") as notes:
        read(path)
    return [str(note.message) for note in notes]


@pytest.mark.parametrize("ending", ENDINGS)
def test_scores_that_contradict_the_ranks_are_said_and_the_ranks_can_be_taken(ending, read, tmp_path):
    path = written(tmp_path / f"run.{ending}", [*DISTANCES[:6], *SIMILARITIES[6:]][::-1])
    assert notes_of(read, path) == [
        f"{path}: in 2 of 3 queries the scores rank documents in another order than the rank column does "
        "(such as query 'q1', document 'b'); the scores are used; --order list takes the rank column on the "
        "command line, permed_measures.read_run(path, order='list') in Python"
    ]
    run = pm.read_run(path, order="list")
    assert pm.calc_aggregate(["RR"], QRELS, run) == {pm.parse_measure("RR"): 1.0}


SAYS_NOTHING = {
    "shuffled lines": SIMILARITIES[::-1],
    "equal as float32": [("q", d, rank, 1 + rank * 1e-9) for rank, d in enumerate("abcdefg")],
    "constant ranks": [(q, d, 1, s) for q, d, _, s in DISTANCES],
    "another query": [("q", "a", 1, 0.1), ("r", "a", 2, 0.3), ("r", "b", 3, 0.2)],
    "a document without a rank": [("q", "a", -1, 0.2), ("q", "b", 2, 0.3), ("q", "c", 3, 0.4)],
}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("case", SAYS_NOTHING)
def test_what_says_nothing_about_the_order_is_not_said(case, read, ending, tmp_path):
    assert notes_of(read, written(tmp_path / f"run.{ending}", SAYS_NOTHING[case])) == []


@pytest.mark.parametrize("is_sorted", [True, False])
def test_the_same_is_found_in_frames_and_in_dicts(is_sorted):
    rng = random.Random(1)
    for _ in range(60):
        ranks = [rng.choice("qr") + str(rng.randint(1, 3)) for _ in range(rng.randint(1, 5))]
        scores = [rng.choice([2.0, 1.0, 1 + 1e-9]) for _ in ranks]
        both = zip(sorted(ranks) if is_sorted else ranks, scores, strict=True)
        rows = [(rank[0], f"d{n}", score, int(rank[1])) for n, (rank, score) in enumerate(both)]
        frame = pl.DataFrame(rows, schema=["query_id", "doc_id", "score", "rank"], orient="row")
        assert contradicted_rows(frame) == contradicted(*table_of(enumerate(rows), pytest.fail))


def test_rows_of_a_query_that_do_not_stand_together_are_compared(read, tmp_path):
    rows = [DISTANCES[0], *SIMILARITIES[3:6], DISTANCES[1]]
    [note] = notes_of(read, written(tmp_path / "run.trec", rows))
    assert "in 1 of 2 queries the scores rank documents in another order than the rank column does" in note


def test_the_order_of_a_list_is_its_own(tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_text(
        '{"query_id": "q", "results": [{"text_id": "a", "score": 1}, {"text_id": "b", "score": 2}]}\n'
        '{"query_id": "r", "results": [{"text_id": "a", "score": 2}, {"text_id": "b", "score": 2}]}\n'
    )
    [note] = notes_of(pm.read_run, path)
    assert "in 1 of 2 queries the scores rank documents in another order than the list does (such as" in note
    assert pm.read_run(path, order="list")["q"] == {"a": -1, "b": -2}


def test_an_object_of_json_has_no_order_unless_it_is_asked_for(tmp_path):
    path = tmp_path / "run.json"
    path.write_text('{"q": {"a": 1.5, "b": 2.5}}')
    assert notes_of(pm.read_run, path) == []
    assert pm.read_run(path, order="list") == {"q": {"a": -1.0, "b": -2.0}}


def test_a_file_of_more_than_4_mib_is_read_in_batches(tmp_path):
    path = tmp_path / "run.trec"
    for size, form in ((1 << 22, dict), ((1 << 22) + 1, Table)):
        row = "\nq Q0 a 1 2.0 t\n"
        path.write_text("#" * (size - len(row)) + row)
        assert isinstance(reading.read_file(path, "run"), form)


def test_a_large_run_on_the_command_line_is_read_once_and_said(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "_LARGE_FILE", 0)
    path = written(tmp_path / "run.trec", DISTANCES)
    pm.write_qrels(QRELS, tmp_path / "qrels")
    stdout, stderr = run_cli("evaluate", tmp_path / "qrels", path, "-m", "RR", "--format", "tsv")
    assert stderr.count("the rank column does") == 1
    assert "0.3333" in stdout
    stdout, stderr = run_cli("evaluate", tmp_path / "qrels", path, "-m", "RR", "--order", "list")
    assert "1.0000" in stdout
    assert "another order" not in stderr


def test_a_run_in_batches_says_it_once(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "_LARGE_FILE", 0)
    run = reading.read_file(written(tmp_path / "run.trec", DISTANCES), "run")
    assert [len(notes_of(list, run)) for _ in range(2)] == [1, 0]


# --- qrels as runs ---------------------------------------------------------------------------------

TRUTH = '{"query_id": "q1", "relevant_texts": ["b", "a"]}\n{"query_id": "q2", "relevant_texts": ["c"]}\n'


def test_the_order_of_labels_in_jsonl_is_a_run_and_that_of_other_qrels_is_none(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("truth.jsonl").write_text(TRUTH)
    assert pm.read_run("truth.jsonl") == {"q1": {"b": -1.0, "a": -2.0}, "q2": {"c": -1.0}}
    _, stderr = run_cli("convert", "truth.jsonl", "run.trec", "--as", "run")
    assert "the order of its lists is taken as the run" in stderr
    assert pm.read_run("run.trec") == pm.read_run("truth.jsonl")
    Path("qrels.trec").write_text("q1 0 b 0\nq1 0 a 2\n")
    Path("qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\ta\t1\nq1\tb\t0.93\n")
    pl.DataFrame({"qid": ["q1"], "docno": ["a"], "label": [1]}).write_parquet("qrels.parquet")
    for name, holds in (("trec", "TREC qrels"), ("tsv", "CSV or TSV qrels"), ("parquet", "")):
        assert pm.read_qrels(f"qrels.{name}")
        with pytest.raises(pm.InputError, match=rf"qrels\.{name}: .*{holds}.*The qrels come first"):
            pm.read_run(f"qrels.{name}")


def test_qrels_that_are_the_run_too_are_read_once(tmp_path, monkeypatch):
    read, entries = [], TextFile.entries
    monkeypatch.setattr(TextFile, "entries", lambda self, *args: (read.append(self), entries(self, *args))[1])
    path, copy = tmp_path / "qrels", tmp_path / "run" / "qrels"
    copy.parent.mkdir()
    for each in (path, copy):
        each.write_text(TRUTH)
    same, other = (run_cli("evaluate", path, run, "-m", "RR", "--format", "csv") for run in (path, copy))
    assert len(read) == 1 + 2
    assert same[0] == other[0]


# --- what stands in a column of ranks ----------------------------------------------------------------

RANKS = {
    **{"7": 7, "0": 0, "007": 7, "999999999": 999_999_999, "1000000000": 1e9, "9" * 20: 1e20},
    **{"3.0": 3, "+3": 3, "+3.0": 3, "1.5": 1.5, "1.": 1, ".5": 0.5, "2e1": 20},
    **dict.fromkeys(["-1", "-1.0", "-", "nan", "NaN"], NO_RANK),
    **dict.fromkeys(
        ["x", "-2", "-0.5", "inf", "1e999", "1_0", "²", "٣", "0x1", "1,5", "#1", "true"], NOT_A_RANK
    ),
}


@pytest.mark.parametrize("text", RANKS)
def test_a_rank_is_a_number_in_any_spelling(text, tmp_path):
    assert parse_rank(text) == trec_run(["q", "Q0", "a", text, "0.5", "x"], 1)[-1] == RANKS[text]
    (tmp_path / "run.trec").write_text(f"q Q0 a {text} 0.5 x\n")
    pl.DataFrame({"qid": "q", "docno": "a", "score": 0.5, "rank": text}).write_parquet(
        tmp_path / "run.parquet"
    )
    trec, parquet = (Source(tmp_path / f"run.{ending}") for ending in ("trec", "parquet"))
    [frame], [rows] = text_frames(recognised(trec)), parquet_rows(parquet)
    assert frame["rank"].to_list() == rows["rank"].to_list() == [RANKS[text]]


@pytest.mark.parametrize(
    ("value", "rank"),
    [
        *[
            (3, 3),
            (3.0, 3),
            (2.5, 2.5),
            ("3", 3),
            (10**400, NOT_A_RANK),
            (True, NOT_A_RANK),
            ([1], NOT_A_RANK),
        ],
        *[(None, NO_RANK), ("", NO_RANK), (" ", NO_RANK), (" 3 ", 3), (float("nan"), NO_RANK), (-1, NO_RANK)],
    ],
)
def test_a_rank_in_json_is_a_number_or_a_text(value, rank):
    assert parse_rank(value) == rank


SPELLINGS = {
    "3.0": lambda rank: f"{rank}.0",
    "+3": lambda rank: f"+{rank}",
    "averages": lambda rank: f"{rank + 0.5}",
    "03": lambda rank: f"{rank:02}",
}
QRELS_3 = "301 0 7 1\n"


def ranked_file(ending, ranks):
    """Write three documents of a query, the scores of which rank the second before the first."""
    rows = [
        (301, document, rank, score)
        for document, rank, score in zip((7, 5, 6), ranks, (1.5, 2.5, 0.5), strict=True)
    ]
    path = Path(f"run.{ending}")
    if ending == "trec":
        path.write_text("".join(f"{q} Q0 {d} {rank} {score} t\n" for q, d, rank, score in rows))
    elif ending == "csv":
        path.write_text("qid,docno,rank,score\n" + "".join(f"{q},{d},{r},{s}\n" for q, d, r, s in rows))
    elif ending == "jsonl":
        lines = ({"qid": q, "docno": d, "rank": rank, "score": score} for q, d, rank, score in rows)
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    else:
        frame = pl.DataFrame(rows, schema=["qid", "docno", "rank", "score"], orient="row")
        (
            frame.with_columns(pl.col("rank").cast(pl.Float64)) if ending == "float.parquet" else frame
        ).write_parquet(path)
    return path


@pytest.mark.parametrize("ending", ["trec", "csv", "jsonl", "parquet", "float.parquet"])
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_ranks_in_any_spelling_are_taken_and_compared_with_the_scores(
    ending, spelling, read, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text(QRELS_3)
    spelled = [SPELLINGS[spelling](rank) for rank in (10, 9, 11)]
    numbers = ranked_file(ending, map(float, spelled) if ending == "float.parquet" else spelled)
    assert read(numbers, order="list") == {"301": {"7": -2.0, "5": -1.0, "6": -3.0}}
    assert notes_of(read, numbers) == []
    spelled = [SPELLINGS[spelling](rank) for rank in (9, 10, 11)]
    path = ranked_file(ending, map(float, spelled) if ending == "float.parquet" else spelled)
    stdout, stderr = run_cli("evaluate", "qrels", path, "-m", "RR", "--format", "csv")
    assert (
        stdout.splitlines()[1].split(",")[1],
        stderr.count("in 1 of 1 query the scores rank documents in an"),
    ) == ("0.5", 1)
    stdout, stderr = run_cli("evaluate", "qrels", path, "-m", "RR", "--format", "csv", "--order", "list")
    assert (stdout.splitlines()[1].split(",")[1], "another order" in stderr) == ("1.0", False)


@pytest.mark.parametrize("ending", ["trec", "csv", "jsonl", "parquet"])
@pytest.mark.parametrize("wrong", ["x", "-2", "inf", "1_0"])
def test_a_rank_that_cannot_be_read_is_refused_where_the_ranks_are_asked_for(
    ending, wrong, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text(QRELS_3)
    for ranks in (["1", "2", wrong], [wrong] * 3):
        path = ranked_file(ending, ranks)
        assert pm.read_run(path) == {"301": {"7": 1.5, "5": 2.5, "6": 0.5}}
        status, _, stderr = run_main("evaluate", "qrels", path, "-m", "RR", "--order", "list")
        first = ranks.index(wrong)
        place = {"csv": f":{first + 2}", "parquet": ""}.get(ending, f":{first + 1}")
        assert (
            f"run.{ending}{place}: query '301', document '{(7, 5, 6)[first]}': a rank must be a number"
            in stderr
        )
        assert (status, wrong in stderr.partition("Correct it")[0]) == (2, True)
    # What the message advises: correct it, or write -1.
    assert pm.read_run(ranked_file(ending, ["2", "1", "3"]), order="list")["301"] == {
        "7": -2.0,
        "5": -1.0,
        "6": -3.0,
    }
    for ranks in (["2", "1", "-1"], ["-1"] * 3):
        assert pm.read_run(ranked_file(ending, ranks), order="list")["301"] == {
            "7": -1.0,
            "5": -2.0,
            "6": -3.0,
        }


def test_the_row_of_a_rank_that_cannot_be_read_is_found_below_comments_and_among_queries(tmp_path):
    path = tmp_path / "run.trec"
    path.write_text("# words\n\nq Q0 a 1 2.0 t\n# more\nr Q0 a 1 2.0 t\nq Q0 b two 1.0 t\n")
    with pytest.raises(
        pm.InputError, match=r"run.trec:6: query 'q', document 'b': a rank .* in 'q Q0 b two 1.0 t'"
    ):
        pm.read_run(path, order="list")


def test_ranks_that_are_no_numbers_in_parquet_are_refused(tmp_path):
    path = tmp_path / "run.parquet"
    rows = {"qid": ["q", "q"], "docno": ["a", "b"], "score": [1.0, 2.0]}
    for ranks, found in (([True, False], "True"), ([[1], [2]], r"\[1\]")):
        pl.DataFrame(rows | {"rank": ranks}).write_parquet(path)
        with pytest.raises(pm.InputError, match=rf"document 'a': a rank must be .*\(found .*{found}"):
            pm.read_run(path, order="list")
    for ranks in (pl.Series(["2", "1"], dtype=pl.Categorical), pl.Series([2, 1], dtype=pl.Decimal(9, 2))):
        pl.DataFrame(rows | {"rank": ranks}).write_parquet(path)
        assert pm.read_run(path, order="list") == {"q": {"a": -2.0, "b": -1.0}}
    for ranks in (
        pl.Series([None, None], dtype=pl.Null),
        pl.Series([None, None], dtype=pl.Float64),
        [math.nan] * 2,
    ):
        pl.DataFrame(rows | {"rank": ranks}).write_parquet(path)
        assert pm.read_run(path, order="list") == {"q": {"a": -1.0, "b": -2.0}}


@pytest.mark.parametrize("rank", ["1.0", "+1", "1.5"])
def test_a_rank_in_place_of_a_score_is_read_in_any_spelling(rank, tmp_path):
    path = tmp_path / "run.csv"
    path.write_text(f"qid,docno,rank\nq,a,2\nq,b,{rank}\n")
    assert pm.read_run(path) == {"q": {"a": -2.0, "b": -float(rank)}}
