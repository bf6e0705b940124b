"""Files and frames as people have them: each is read to the right number, or refused by what it is."""

import bz2
import gzip
import io
import json
import lzma
import pickle
import re
import shutil
import subprocess
import tarfile
import warnings
import zipfile
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
from commands import run_cli, run_main

import permed_measures as pm
from permed_measures.inputs import read as reading

QRELS = {"q1": {"d1": 2, "d2": 1, "d3": 0}, "q2": {"d4": 1, "d5": 0}}
MARCO = {"1001": {"88": 1}, "1002": {"99": 1}}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def written(content, name="file"):
    if not isinstance(content, str | bytes):
        content = "".join(json.dumps(line) + "\n" for line in content)
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return name


def value(measure, qrels, run, **how):
    """Return the value of a measure, and the notes that were given."""
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        [mean] = pm.calc_aggregate(measure, qrels, run, **how).values()
    return mean, " ".join(str(note.message) for note in notes)


def refusal(content, read=pm.read_run, **how):
    with pytest.raises(pm.InputError) as error:
        read(written(content), **how)
    assert str(error.value).startswith("file")
    return str(error.value)


def remedied(message):
    """Do what a message says in a command from IN to OUT; return the file."""
    command = re.search(r"((awk|sed|iconv) .*?) IN > OUT", message)[1]
    done = subprocess.run(f"{command} file", shell=True, capture_output=True, check=True)
    return written(done.stdout, "remedied")


# --- ranks -------------------------------------------------------------------------------------------

MS_MARCO = "1001\t77\t1\n1001\t88\t2\n1002\t99\t1\n"


@pytest.mark.parametrize("large", [reading._LARGE_FILE, 0])
@pytest.mark.parametrize(
    "content",
    [
        MS_MARCO,
        MS_MARCO.replace("\t", " "),
        MS_MARCO.replace("\t", ","),
        MS_MARCO.replace("\t", ";"),
        MS_MARCO.replace("\n", "\r\n"),
        "1002\t99\t1\n1001\t88\t2\n1001\t55\t3\n1001\t77\t1\n",  # not in order
        "1001\t77\t0\n1001\t88\t1\n1002\t99\t0\n",
        "# words\n" + MS_MARCO,
        *(f"{header}\n{MS_MARCO}" for header in ("query_id\tdoc_id\trank", "qid\tpid\tRank")),
        f"query_id doc_id rank\n{MS_MARCO}",
        "rank,query_id,doc_id\n1,1001,77\n2,1001,88\n1,1002,99\n",
        "1001 77 1 25.5\n1001 88 2 20.25\n1002 99 1 3\n",  # ColBERT
        "1001\t77\t-1\t25.5\n1001\t88\t-1\t20.25\n1002\t99\t-1\t3.5\n",
        [
            {"qid": 1001, "pid": "77", "rank": 1},
            {"qid": 1001, "pid": 88, "rank": 2},
            {"qid": 1002, "pid": 99, "rank": 1},
        ],
        json.dumps(
            [
                {"qid": 1001, "docid": 77, "rank": 1},
                {"qid": 1001, "docid": 88, "rank": 2},
                {"qid": 1002, "docid": 99, "rank": 1},
            ]
        ),
    ],
    ids=range(16),
)
@pytest.mark.parametrize("order", ["score", "list"])
def test_what_counts_within_each_query_is_a_rank(content, order, large, monkeypatch):
    monkeypatch.setattr(reading, "_LARGE_FILE", large)
    path = written(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pm.PermedWarning)
        run = pm.read_run(path, order=order)
        assert value("RR@10", MARCO, run)[0] == value("RR@10", MARCO, path)[0] == 0.75
        assert value("RR@10", MARCO, pm.read_run(path, ignore_self=True))[0] == 0.75


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_compressed_file_is_read_as_it_is(pack):
    mean, said = value("RR@10", MARCO, written(pack(MS_MARCO.encode())))
    assert mean == 0.75
    assert "column 3 counts within each query, and is taken as the rank" in said


@pytest.mark.parametrize(
    "content", ["1001 88 0.9\n1001 77 0.8\n1002 99 .5\n", "1001\t88\t9\n1001\t77\t8\n1002\t99\t3\n"]
)
def test_a_third_column_that_does_not_count_is_a_score(content):
    mean, said = value("RR@10", MARCO, written(content))
    assert mean == 1.0
    assert "column 3 is taken as the score (the highest ranks first)" in said
    assert "rank" not in value("RR@10", MARCO, written(f"qid docno score\n{content}"))[1]


@pytest.mark.parametrize(
    "content",
    [
        "1001 88 2\n1001 77 1\n1002 99 1\n",  # falls to 1: ranks from below, or scores
        "1001 77 3\n1001 88 7\n1002 99 1\n",  # rises with gaps
        "1001,77,11\n1001,88,12\n1002,99,11\n",
    ],
)
def test_what_may_be_rank_or_score_is_refused_and_its_name_settles_it(content):
    message = refusal(content)
    rank, score = re.search(
        r"such as (\S.*) where the lowest is best, or (\S.*) where the highest", message
    ).groups()
    is_falling = content.startswith("1001 88")
    for header, mean in ((rank, 0.75), (score, 1.0)):
        assert value("RR@10", MARCO, written(f"{header}\n{content}"))[0] == mean
    assert ("the last first" in message) == is_falling


def test_what_ranks_nothing_is_refused():
    assert "column 3 is -1 in all rows: neither a score nor a rank" in refusal("1001\t77\t-1\n1001\t88\t-1\n")
    assert "a rank must be a number from 0 or 1 (found '-1')" in refusal("qid,docno,rank\n1,7,-1\n")
    assert "a rank must be a number from 0 or 1 (found -1)" in refusal(
        [{"qid": "1", "docno": "7", "rank": -1}]
    )
    message = refusal("1001 77 5 25.5\n1001 88 9 20.25\n")
    header = message.partition("such as ")[2]
    assert value("RR", MARCO, written(f"{header}\n1001 77 5 25.5\n1001 88 9 20.25\n"))[0] == 0.25


def test_runs_in_the_place_of_qrels_are_said_to_be_runs():
    assert "as the ranks of a run do" in refusal(MS_MARCO, pm.read_qrels)
    header = refusal("q a 1\nq b 2\n", pm.read_qrels).rpartition("first line: ")[2]
    assert pm.read_qrels(written(f"{header}\nq a 1\nq b 2\n")) == {"q": {"a": 1, "b": 2}}
    assert "holds a three-column run (query document score)" in refusal("q a 0.5\n", pm.read_qrels)
    assert "holds a ColBERT run (query document rank score)" in refusal("q a 1 25.5\n", pm.read_qrels)


RANKED = {"qid": ["1001", "1001", "1002"], "pid": ["77", "88", "99"], "rank": [1, 2, 1]}


@pytest.mark.parametrize(
    "make", [pl.DataFrame, pl.LazyFrame, pd.DataFrame, lambda rows: pl.DataFrame(rows).to_arrow()]
)
def test_frames_have_ranks_and_other_names_too(make):
    assert value("RR@10", MARCO, make(RANKED)) == (0.75, "")
    scored = {
        "caseId": RANKED["qid"],
        "corpus_id": RANKED["pid"],
        "score": [1.0, 2.0, 3.0],
        "text": ["x"] * 3,
    }
    assert value("RR@10", MARCO, make(scored)) == (1.0, "")
    rated = {"query": ["1001", "1002"], "docid": ["88", "99"], "rating": [1, 1]}
    assert value("RR@10", make(rated), make(RANKED)) == (0.75, "")
    with pytest.raises(pm.InputError, match=r"a rank must be a number from 0 or 1 \(found -1.0\)"):
        pm.calc_aggregate("RR", MARCO, make(RANKED | {"rank": [-1, -1, -1]}))
    with pytest.raises(
        pm.InputError, match=r"row 1: .*: qid and q_id may both be meant, and differ \(found '1001' and 'x'"
    ):
        pm.calc_aggregate("RR", MARCO, make(RANKED | {"q_id": ["1001", "x", "1002"]}))
    assert value("RR", MARCO, make(RANKED | {"q_id": RANKED["qid"], "id": ["a", "b", "c"]})) == (0.75, "")
    with pytest.raises(pm.InputError, match="these are the names of BEIR's qrels"):
        pm.calc_aggregate("RR", MARCO, make({"query-id": ["q"], "corpus-id": ["d"], "score": [0.5]}))


def test_ranks_in_parquet_and_a_rank_beside_scores():
    pl.DataFrame(RANKED).write_parquet("run.parquet")
    assert value("RR@10", MARCO, "run.parquet")[0] == 0.75
    assert pm.read_run("run.parquet", order="list")["1001"] == {"77": -1.0, "88": -2.0}
    pl.DataFrame(RANKED | {"score": [1.0, 2.0, 3.0]}).write_parquet("run.parquet")
    assert "another order than the rank column does" in value("RR@10", MARCO, "run.parquet")[1]


# --- qrels -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        *("1001\t88\n1002\t99\n", "1001 88\n1002 99\n", "1001,88\n1002,99\n", "qid,pid\n1001,88\n1002,99\n"),
        [{"qid": 1001, "pid": 88}, {"qid": 1002, "pid": 99}],
        [
            {"qid": 1001, "positive_passages": [{"docid": 88, "title": "x"}]},
            {"qid": 1002, "positive_passages": [{"docid": 99}]},
        ],
        '{"1001": ["88"], "1002": ["99"]}',
        '{\n "1001": [\n  88\n ],\n "1002": [99]}',
        '{"queries": {"1001": "x"}, "relevant_docs": {"1001": ["88"], "1002": ["99"]}, "mode": "t"}',
    ],
    ids=range(9),
)
def test_relevant_documents_without_grades_are_qrels(content):
    mean, said = value("RR@10", written(content), {"1001": {"77": 2.0, "88": 1.0}, "1002": {"99": 1.0}})
    assert mean == 0.75
    assert ("taken as relevant, with grade 1" in said) == ("positive_passages" not in str(content))


@pytest.mark.parametrize(
    "line", ["0001 clueweb-1 L2\n0001 clueweb-2 L0\n", "0001 0 clueweb-1 L2\n0001 0 clueweb-2 L0\n"]
)
def test_levels_are_grades(line):
    with pytest.warns(pm.PermedWarning, match="the levels L0, L1, L2, … are taken as the grades 0, 1, 2"):
        assert pm.read_qrels(written(line)) == {"0001": {"clueweb-1": 2, "clueweb-2": 0}}


@pytest.mark.parametrize("content", ["q1 d1 2\nq1 d2 0\n", "q1,d1,2\nq1,d2,0\n", "q1\td1\t2\nq1\td2\t0\n"])
def test_three_columns_are_qrels(content):
    with pytest.warns(pm.PermedWarning, match="column 3 is taken as the relevance"):
        assert pm.read_qrels(written(content)) == {"q1": {"d1": 2, "d2": 0}}


def test_a_header_of_pairs_is_no_pair():
    message = refusal("question passage\nq1 d1\nq2 d2\n", pm.read_qrels)
    header = message.partition("If it is one, change it to ")[2]
    with pytest.warns(pm.PermedWarning, match="taken as relevant"):
        assert pm.read_qrels(written(f"{header}\nq1 d1\nq2 d2\n")) == {"q1": {"d1": 1}, "q2": {"d2": 1}}


@pytest.mark.parametrize(
    ("content", "said", "expected"),
    [
        (
            "51 1 d1 1\n51 2 d1 0\n51 1 d2 0\n51 2 d2 1\n",
            "judgments of subtopics",
            {"51": {"d1": 1, "d2": 1}},
        ),
        ("101 0 d1 2 1 0\n101 0 d2 1 -1 1\n", "three labels of each document", {"101": {"d1": 2, "d2": 1}}),
        ("51 d1 1 1 0.5\n51 d2 0 1 1.0\n", "judgments of a sample", {"51": {"d1": 1, "d2": 0}}),
        (
            "2 qid:1 1:0.3 2:0.5 #docid = G1\n0 qid:1 1:0.1 2:0 #docid = G2\n",
            "learning to rank",
            {"1": {"G1": 2, "G2": 0}},
        ),
        ("q 0 a 1\nq 0 é 2\n".encode("latin-1"), "not UTF-8 text", {"q": {"a": 1, "é": 2}}),
        ("q 0 a 1\n".encode("utf-16"), "UTF-16 in place of UTF-8", {"q": {"a": 1}}),
    ],
)
@pytest.mark.skipif(
    shutil.which("awk") is None or shutil.which("iconv") is None, reason="the remedies are commands"
)
def test_other_judgments_are_refused_by_what_they_are_and_the_remedy_reads_them(content, said, expected):
    message = refusal(content, pm.read_qrels)
    assert said in message
    assert pm.read_qrels(remedied(message)) == expected


def test_labels_in_the_place_of_a_run_are_refused_and_a_run_of_digits_is_read():
    assert "three labels" in refusal("101 0 d1 2 1 0\n101 0 d2 1 -1 1\n")
    assert pm.read_run(written("101 0 d1 1 2 1\n101 0 d2 2 1 1\n")) == {"101": {"d1": 2.0, "d2": 1.0}}


def test_the_same_pair_in_one_subtopic_is_listed_twice():
    message = refusal("51 1 d1 1\n51 1 d1 0\n", pm.read_qrels)
    assert "subtopics" not in message
    assert "listed twice, first on line 1. Remove one of the two" in message


# --- JSON --------------------------------------------------------------------------------------------

LISTS = [
    [
        {
            "query_id": "q1",
            "query": "who",
            "results": [{"corpus_id": "d2", "score": 0.9}, {"corpus_id": "d1", "score": 0.5}],
        }
    ],
    [{"query_id": "q1", "ranked_results": [{"doc_id": "d2"}, {"doc_id": "d1"}]}],
    [{"query_id": "q1", "reranked_results": ["d2", "d1"]}],
    [{"caseId": "q1", "retrievedCorpusIds": ["d2", "d1"]}],
    [
        {
            "query": {"text": "who", "qid": "q1"},
            "candidates": [{"docid": "d2", "score": 9}, {"docid": "d1", "score": 8}],
        }
    ],
    [
        {
            "query": "who",
            "hits": [{"qid": "q1", "docid": "d2", "rank": 1}, {"qid": "q1", "docid": "d1", "rank": 2}],
        }
    ],
    [{"_id": "q1", "ranking": [{"_id": "d2"}, {"_id": "d1"}]}],
    [{"conversation_id": "q", "turn_id": 1, "results": ["d2", "d1"]}],
    [{"query": "q1", "retrieved_ids": ["d2", "d1"]}],
    [
        {"topic_id": "q1", "document_id": "d1", "Score": 0.8},
        {"topic_id": "q1", "document_id": "d2", "Score": 0.9},
    ],
    [{"id": "q1", "pid": "d2", "score": 2}, {"id": "q1", "pid": "d1", "score": 1}],
    [{"query": "q1", "id": "d2", "score": 2}, {"query": "q1", "id": "d1", "score": 1}],
]


@pytest.mark.parametrize("lines", LISTS, ids=range(len(LISTS)))
@pytest.mark.parametrize("form", ["lines", "array", "pretty", "inside"])
def test_lists_and_rows_are_read_under_all_names_in_lines_and_in_arrays(lines, form):
    content = {
        "lines": lines,
        "array": json.dumps(lines),
        "pretty": json.dumps(lines, indent=1),
        "inside": json.dumps({"version": 1, "data": lines}, indent=1),
    }[form]
    run = pm.read_run(written(content))
    [query_id] = run
    assert query_id == ("q_1" if "turn_id" in lines[0] else "q1")
    assert value("AP", {query_id: QRELS["q1"]}, run)[0] == 1.0
    assert max(run[query_id], key=run[query_id].get) == "d2"


@pytest.mark.parametrize(
    "content",
    [
        [
            {"query_id": "q1", "doc_id": "d1", "relevance": 2},
            {"query_id": "q2", "doc_id": "d4", "relevance": 1},
        ],
        '[{"qid": "q1", "docno": "d1", "label": 2}, {"qid": "q2", "docno": "d4", "label": 1}]',
        "query,q0,docid,rel\nq1,0,d1,2\nq2,0,d4,1\n",
        "query,docid,rating\nq1,d1,2.0\nq2,d4,1.0\n",
        '{"requests": [{"id": "q1", "ratings": [{"_index": "i", "_id": "d1", "rating": 2}]}, '
        '{"id": "q2", "ratings": [{"_id": "d4", "rating": 1}]}], "metric": {"dcg": {"k": 10}}}',
        "topic_id;document_id;grade\nq1;d1;2\nq2;d4;1\n",
    ],
    ids=range(6),
)
def test_qrels_are_read_under_all_names(content):
    assert pm.read_qrels(written(content)) == {"q1": {"d1": 2}, "q2": {"d4": 1}}


def test_the_files_of_the_permed_group_are_read():
    lines = [{"query_id": "c1_turn_1", "conversation_id": "c1", "turn_id": 1, "ground_truth": ["d1", "d2"]}]
    assert pm.read_qrels(written(lines)) == {"c1_turn_1": {"d1": 1, "d2": 1}}
    mixed = [
        {"query_id": "c_1", "ranked_results": [{"doc_id": "a"}]},
        {"query_id": "c_2", "reranked_results": ["b", "a"]},
    ]
    assert pm.read_run(written(mixed)) == {"c_1": {"a": -1.0}, "c_2": {"b": -1.0, "a": -2.0}}


def test_the_export_of_ir_datasets_is_read():
    rows = [
        {"query_id": q, "doc_id": d, "relevance": g}
        for q, docs in pm.read_qrels("permed-sample").items()
        for d, g in docs.items()
    ]
    assert pm.read_qrels(written(rows)) == {
        q: docs for q, docs in pm.read_qrels("permed-sample").items() if docs
    }


@pytest.mark.parametrize("key", ["qid", "id", "query_id", "_id", "caseId", "topic"])
def test_lines_are_numbered_only_where_no_key_can_be_an_id(key):
    lines = [
        {key: 1, "retrieved": ["a", "x"]},
        {key: 3, "retrieved": ["c", "x"]},
        {key: 2, "retrieved": ["b", "x"]},
    ]
    qrels = {"1": {"a": 1}, "2": {"b": 1}, "3": {"c": 1}}
    assert value("RR", qrels, written(lines)) == (1.0, "")
    as_qrels = [{key: 3, "query": "x", "corpusids": ["c"], "retrieved": ["c"]}]
    assert pm.read_qrels(written(as_qrels)) == {"3": {"c": 1}}
    assert pm.read_run(written([{"query": "of words", "retrieved": ["a"]}])) == {"1": {"a": -1.0}}


def test_a_key_that_may_be_an_id_is_named_and_renaming_it_helps():
    message = refusal([{"turnId": 7, "retrieved": ["a"]}])
    assert "no query id (if it is 'turnId', rename it to query_id)" in message
    assert pm.read_run(written([{"query_id": 7, "retrieved": ["a"]}])) == {"7": {"a": -1.0}}
    dpr = json.dumps([{"question": "who", "answers": ["x"], "ctxs": [{"id": "d2", "score": "81.2"}]}])
    assert "no query id (known keys are query_id" in refusal(dpr)
    assert "belong to 2 queries" in refusal(
        [{"hits": [{"qid": "a", "docid": "1"}, {"qid": "b", "docid": "2"}]}]
    )


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ("query_id,qid,docno,score\na,b,d,1\n", "query_id and qid"),
        ("query_id\tqid\tdocno\tscore\na\tb\td\t1\n", "query_id and qid"),
        ([{"query_id": "a", "qid": "b", "docno": "d", "score": 1}], "query_id and qid"),
        ([{"query_id": "a", "results": [{"doc_id": "x", "docno": "y"}]}], "doc_id and docno"),
        ([{"query_id": "a", "results": ["x"], "reranked_results": ["y"]}], "results and reranked_results"),
        ([{"qid": "a", "q_id": "b", "retrieved": ["x"]}], "qid and q_id"),
    ],
)
def test_two_names_that_differ_are_refused_and_two_that_agree_are_read(content, names):
    assert f"{names} may both be meant, and differ" in refusal(content)
    if isinstance(content, str):
        agreeing = content.replace("a,b", "a,a").replace("a\tb", "a\ta")
        assert pm.read_run(written(agreeing)) == {"a": {"d": 1.0}}


def test_a_query_may_be_called_like_a_list():
    assert pm.read_run(written('{"results": {"a": 1.5}, "hits": {"b": 2}}')) == {
        "results": {"a": 1.5},
        "hits": {"b": 2.0},
    }


def test_ids_with_blanks_are_read_where_something_else_divides_the_columns():
    scored = "red shoes{0}d 1{0}2.5\nred shoes{0}d 2{0}0.5\nhat{0}d3{0}1.0\n"
    for delimiter in ("\t", ",", ";"):
        with pytest.warns(pm.PermedWarning, match="column 3 is taken as the score"):
            run = pm.read_run(written(scored.format(delimiter)))
        assert run == {"red shoes": {"d 1": 2.5, "d 2": 0.5}, "hat": {"d3": 1.0}}
    with pytest.warns(pm.PermedWarning, match="column 3 is taken as the relevance"):
        assert pm.read_qrels(written("red shoes\td1\t1\nred shoes\td2\t0\n")) == {
            "red shoes": {"d1": 1, "d2": 0}
        }
    with pytest.warns(pm.PermedWarning, match="pairs"):
        assert pm.read_qrels(written("red shoes\td1\nbig hat\td2\n")) == {
            "red shoes": {"d1": 1},
            "big hat": {"d2": 1},
        }
    assert pm.read_qrels(written("q1\t0 d1\t1\nq2\t0 d2\t2\n")) == {"q1": {"d1": 1}, "q2": {"d2": 2}}


def test_lists_of_objects_by_query_are_read():
    content = '{"q1": [{"doc_id": "a", "score": 1}, {"doc_id": "b", "score": 2}]}'
    with pytest.warns(pm.PermedWarning, match="another order than the list does"):
        assert pm.read_run(written(content)) == {"q1": {"a": 1.0, "b": 2.0}}
    assert pm.read_qrels(written('{"q1": [{"docid": "a", "rating": 2}]}')) == {"q1": {"a": 2}}
    assert "expected qrels, but this file holds lists of documents" in refusal(content, pm.read_qrels)


def test_lists_of_grades_are_qrels_and_run_at_once():
    path = written('{"q1": [1, 0, 1], "q2": [1, 1, 0], "q3": [0, 1, 1]}')
    expected = value("AP@3", *pm.from_relevance_lists(json.loads(Path(path).read_text())))[0]
    assert expected == pytest.approx(0.805555555556)
    mean, said = value("AP@3", path, path)
    assert mean == expected
    assert "lists of grades in ranked order are qrels and run" in said
    for order in ("score", "list"):
        stdout, _ = run_cli("evaluate", path, path, "-m", "AP@3", "--format", "csv", "--order", order)
        assert stdout.splitlines()[1].startswith(f"file,{expected!r}")
    for content in ('{"q": [true, false]}', '{"q": [1, 0]}', '{"q": [1.0, null]}', '{"q": [3, 3, 0]}'):
        lists = json.loads(content)
        with pytest.warns(pm.PermedWarning, match="lists of grades"):
            assert pm.read_qrels(written(content)) == pm.from_relevance_lists(lists)[0]
        assert pm.read_run(written(content)) == pm.from_relevance_lists(lists)[1]


def test_integers_in_lists_are_ids_or_grades_and_what_may_be_both_is_refused():
    with pytest.warns(pm.PermedWarning, match="as a ranking"):
        assert pm.read_run(written('{"q": [8841823, 12]}')) == {"q": {"8841823": -1.0, "12": -2.0}}
    message = refusal('{"q": [2, 3, 1]}')
    assert "grades in ranked order or ids of documents" in message
    assert "write ids as texts" in message
    with pytest.warns(pm.PermedWarning, match="as a ranking"):
        assert pm.read_run(written('{"q": ["2", "3"]}')) == {"q": {"2": -1.0, "3": -2.0}}


MTEB = {
    "mteb_model_meta": {"name": "m"},
    "en": {"dev": {"q1": {"d1": 0.9}}},
    "fr": {"dev": {"q1": {"d3": 0.9}}},
}


@pytest.mark.parametrize(
    ("content", "known", "subset"),
    [
        ({"default": {"test": {"q1": {"d2": 0.9}}}}, None, ""),
        ({"default": {"q1": {"d2": 0.9}}}, None, ""),
        ({"test": {"q1": {"d2": 0.9}}}, None, ""),
        ({"en": {"q1": {"d2": 0.9}}, "de": {"q1": {"d1": 0.9}}}, "en, de", "en"),
        ({"en": {"q1": {"d2": 0.9}}}, "en", "en"),
        ({"en": {"test": {"q1": {"d2": 0.9}}, "dev": {"q1": {"d1": 1.0}}}}, "en/test, en/dev", "en/test"),
    ],
)
def test_mteb_without_a_description_of_the_model(content, known, subset):
    text = json.dumps(content)
    if known is not None:
        message = refusal(text)
        assert f"MTEB, of which one can be read: {known}" in message
        assert f"--subset {subset} of evaluate" in message
    assert pm.read_run(written(text), subset=subset) == {"q1": {"d2": 0.9}}


def test_a_subset_of_mteb_is_named():
    pm.write_qrels(QRELS, "qrels")
    message = refusal(json.dumps(MTEB))
    assert "by subsets and splits of MTEB, of which one can be read: en/dev, fr/dev" in message
    option = re.search(r"(--subset \S+) of evaluate, compare and convert", message)[1].split()
    run_cli("convert", "file", "out.trec", *option)
    assert pm.read_run("out.trec") == {"q1": {"d1": 0.9}}
    stdout, _ = run_cli("evaluate", "qrels", "file", "-m", "P@1", "--format", "csv", *option)
    assert stdout.splitlines()[1].startswith("file,0.5,")
    assert eval(
        re.search(r"permed_measures\.(read_run\(path, \S+\))", message)[1],
        {"read_run": pm.read_run, "path": "file"},
    ) == {"q1": {"d1": 0.9}}
    for subset in ("fr", "fr/dev"):
        assert pm.read_run("file", subset=subset) == {"q1": {"d3": 0.9}}
    assert "(found 'de')" in refusal(json.dumps(MTEB), subset="de")
    two = MTEB | {"en": {"dev": {"q1": {}}, "test": {"q1": {"d2": 0.1}}}}
    assert "--subset en/dev" in refusal(json.dumps(two), subset="en")
    assert pm.read_run("file", subset="en/test") == {"q1": {"d2": 0.1}}


# --- nothing is lost in silence ----------------------------------------------------------------------


def test_an_id_with_a_blank_is_refused_with_its_line():
    rows = [f"q1 Q0 d{n} {n} {50 - n}.0 x\n" for n in range(1, 4)]
    for line in (
        "q1 Q0 annual report.pdf 4 40.5 x\n",
        "q1 Q0 report 2024 4 40.5 x\n",
        "my q Q0 d9 4 40.5 x\n",
    ):
        for place in (0, 1, 3):
            lines = [*rows[:place], line, *rows[place:]]
            what = "query" if line.startswith("my q") else "document"
            assert f"a {what} id with a blank?" in refusal("".join(lines))
    assert "an id with a blank?" in refusal("q 0 a 1\nq 0 b c 1\n", pm.read_qrels)
    tabbed = "".join(rows).replace(" ", "\t") + "q1\tQ0\tannual report.pdf\t4\t40.5\tx\n"
    assert pm.read_run(written(tabbed))["q1"]["annual report.pdf"] == 40.5
    judged = "q1\t0\td1\t1\nq1\t0\tannual report.pdf\t2\n"
    assert pm.read_qrels(written(judged)) == {"q1": {"d1": 1, "annual report.pdf": 2}}
    assert "an id with a blank?" in refusal("q1 0\td1\t1\nq1 0\tb c\t2\n", pm.read_qrels)
    assert len(pm.read_run(written("".join(rows).replace(" x", " my tag of 2024")))["q1"]) == 3


def test_ids_that_begin_with_a_hash_are_ids():
    qrels = "# judged in 2024\n#1 0 d1 1\n#2 0 d2 1\n3 0 d3 1\n"
    assert pm.read_qrels(written(qrels, "qrels")) == {"#1": {"d1": 1}, "#2": {"d2": 1}, "3": {"d3": 1}}
    run = (
        "#1 Q0 d1 1 1.0 x\n#2 Q0 d2 1 1.0 x\n3 Q0 d9 1 1.0 x\n# q1 Q0 d1 1 2.0\n#a comment of some 6 words\n"
    )
    assert value("RR", "qrels", written(run))[0] == pytest.approx(2 / 3)
    assert pm.read_qrels(written("#1 0 d1 1\n#2 0 d2 1\n")) == {"#1": {"d1": 1}, "#2": {"d2": 1}}
    run_cli("convert", "qrels", "out.trec")
    assert Path("out.trec").exists() is True
    assert pm.read_qrels("out.trec") == pm.read_qrels("qrels")


def test_a_quote_between_tabs_is_a_character():
    rows = [
        "qid docno score query",
        'q1 d2 3.0 "best',
        "q1 d3 2.0 x",
        'q1 d1 1.0 x"',
        "q2 d5 2 x",
        "q2 d4 1 x",
    ]
    content = "".join(f"{row}\n" for row in rows).replace(" ", "\t")
    assert value("AP", QRELS, written(content))[0] == pytest.approx(2 / 3)
    assert pm.read_run(written('"qid"\t"docno"\t"score"\n"q ""1"""\t"d"\t1\n')) == {'q "1"': {"d": 1.0}}
    lost = content.replace("\t", ",")
    assert "a quote that ends in another line, with whole rows within it" in refusal(lost)
    assert pm.read_run(written('qid,docno,score,query\nq,d,1,"two\nlines"\n')) == {"q": {"d": 1.0}}


def test_headers_may_be_written_with_blanks_and_large_letters():
    for content in (
        "qid, DocNo ,score\nq, a, 1\n",
        "QID\tDOCNO\tSCORE\nq\ta\t1\n",
        "query_id doc_id score\nq\ta\t1\n",
        "query_id doc_id score\nq a 1\n",
    ):
        assert pm.read_run(written(content)) == {"q": {"a": 1.0}}


def packed(name):
    archive = io.BytesIO()
    if name == "zip":
        with zipfile.ZipFile(archive, "w") as file:
            file.writestr("run.trec", "q Q0 a 1 1 t\n")
            file.writestr("other", "")
    else:
        with tarfile.open(fileobj=archive, mode=f"w:{name}") as file:
            written("q Q0 a 1 1 t\n", "run.trec")
            file.add("run.trec")
    return archive.getvalue()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (lambda: packed(""), "a tar archive, which is not read. Unpack it"),
        (lambda: packed("gz"), "a tar archive, which is not read. Unpack it"),
        (lambda: packed("xz"), "a tar archive, which is not read. Unpack it"),
        (lambda: packed("zip"), "a ZIP file with 2 files; it must have one. Unpack it"),
        (lambda: pickle.dumps({"q": {"a": 1.0}}), "a pickle of Python"),
        (
            lambda: b"\x04\x22\x4d\x18\x64\x40",
            "compressed by lz4, which is not read. Decompress it, such as by unlz4",
        ),
    ],
)
def test_what_holds_a_file_is_refused_by_what_it_is(content, said):
    for read in (pm.read_run, pm.read_qrels):
        assert said in refusal(content(), read)


def test_one_file_in_a_zip_file_is_read():
    with zipfile.ZipFile("run.zip", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("run.trec", "q Q0 a 1 1 t\n" * 1)
    assert pm.read_run("run.zip") == {"q": {"a": 1.0}}


def test_five_columns_lack_a_tag():
    message = refusal("q Q0 a 1 2.0\nq Q0 b 2 1.0\n")
    assert pm.read_run(remedied(message)) == {"q": {"a": 2.0, "b": 1.0}}


def test_a_folder_in_the_place_of_qrels_names_what_is_meant():
    Path("nf/qrels").mkdir(parents=True)
    for name in ("dev", "test"):
        written("query-id\tcorpus-id\tscore\nq\ta\t1\n", f"nf/qrels/{name}.tsv")
    status, _, stderr = run_main("inspect", "nf")
    assert (status, "nf: a folder of BEIR. Name its qrels: nf/qrels/test.tsv" in stderr) == (2, True)
    assert pm.read_qrels(stderr.rpartition(": ")[2].strip()) == {"q": {"a": 1}}
    with pytest.raises(IsADirectoryError, match=r"such as nf/qrels/dev\.tsv"):
        pm.read_qrels("nf/qrels")


def test_a_name_with_the_ending_of_a_file_is_not_asked_of_ir_datasets(monkeypatch):
    monkeypatch.setattr("permed_measures.inputs.door.find", pytest.fail)
    written("q 0 a 1\n", "q.qrels")
    with pytest.raises(
        FileNotFoundError, match=r"q\.qrel: No such file or directory\. Did you mean 'q\.qrels'\?"
    ):
        pm.read_qrels("q.qrel")


# --- relevance levels --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measure", "low"), [("AP", 1 / 3), ("P@1", 0.0), ("RR", 1 / 3), ("Success@1", 0.0), ("Bpref", 0.0)]
)
def test_labels_between_0_and_1_are_said_not_to_count_and_a_level_counts_them(measure, low):
    written("q 0 a 1.0\nq 0 b 0.9\nq 0 c 0.8\n", "qrels")
    written("q Q0 b 1 3 x\nq Q0 c 2 2 x\nq Q0 a 3 1 x\n", "run")
    _, stderr = run_cli("evaluate", "qrels", "run", "-m", measure)
    assert f"labels between 0 and 1 (such as 0.9) are not relevant to {measure}" in stderr
    assert value(measure, "qrels", "run")[0] == pytest.approx(low)
    [level] = re.findall(r"--rel \S+", stderr)
    stdout, stderr = run_cli("evaluate", "qrels", "run", "-m", measure, *level.split(), "--format", "json")
    [content] = json.loads(stdout)
    assert list(content["metrics"].values()) == [1.0]
    assert "between 0 and 1" not in stderr
    assert content["provenance"]["options"]["rel"] == 0.8
    assert content["provenance"]["measures"][0]["parameters"]["rel"] == 0.8
    [name] = content["metrics"]
    assert str(pm.parse_measure(name)) == name
    assert value(name, "qrels", "run")[0] == value(measure, "qrels", "run", rel=0.5)[0] == 1.0


def test_whole_labels_and_levels_of_ones_own_say_nothing():
    written("q 0 a 1\nq 0 b 0.9\n", "qrels")
    written("q Q0 b 1 3 x\n", "run")
    for measure in ("AP(rel=0.9)", "AP(rel=2)", "nDCG@10"):
        assert "between 0 and 1" not in run_cli("evaluate", "qrels", "run", "-m", measure)[1]


# --- dicts -------------------------------------------------------------------------------------------


def test_ids_of_several_types_are_compared_where_the_docstring_says():
    qrels = {"q": {"a": 1}}
    with pytest.warns(pm.PermedWarning, match="the run has 'c', '7'"):
        assert pm.calc_aggregate("P@1", qrels, {"q": {"c": 3.0, 7: 2.0}}) == {pm.parse_measure("P@1"): 0.0}
    twice = "two document ids are the same as strings"
    with pytest.raises(pm.InputError, match=twice):
        pm.calc_aggregate("RR", qrels, {"q": {7: 2.5, "c": 3.0, "7": 2.0, "a": 1.0}})
    with pytest.raises(pm.InputError, match=twice):
        pm.calc_aggregate("RR", {"q": {"a": 1, "7": 0}}, {"q": {"c": 3.0, 7: 2.5, "7": 2.0, "a": 1.0}})
    with pytest.raises(pm.InputError, match=twice):
        pm.calc_aggregate("RR", qrels, {"q": {"c": 3.0, 7: 2.5, "7": 2.0, "a": 1.0}})
    assert value("RR", qrels, {"q": {"c": 3.0, 7: 2.5, "a": 1.0}}) == (pytest.approx(1 / 3), "")


@pytest.mark.parametrize("text", ["ndcg.1=0,2=0.01,3=0.1,4=1", "NDCG_rel.1=0,2=0.01,3=0.1,4=1"])
def test_the_gains_of_trec_eval_are_a_parameter(text):
    written("q1 0 d1 4\nq1 0 d2 3\nq1 0 d3 2\nq1 0 d6 1\n", "qrels")
    written("q1 Q0 d3 1 9 x\nq1 Q0 d9 2 8 x\nq1 Q0 d2 3 7 x\nq1 Q0 d1 4 6 x\nq1 Q0 d6 5 5 x\n", "run")
    status, _, stderr = run_main("evaluate", "qrels", "run", "-m", text)
    assert status == 2
    measure = re.search(r"Write (nDCG\(\S+\))", stderr)[1]
    assert value(measure, "qrels", "run")[0] == pytest.approx(0.4593949866)
    assert value(measure.replace(")", ",judged_only=True)"), "qrels", "run")[0] == pytest.approx(0.5365571992)


# --- tables of pandas, and numbers in objects --------------------------------------------------------------

FRAME = pd.DataFrame({"query_id": ["q1", "q1", "q2"], "doc_id": ["x", "d2", "d4"], "score": [3.0, 2.0, 1.0]})


@pytest.mark.parametrize("orient", ["columns", "split", "list"])
def test_a_table_by_columns_is_refused_and_by_rows_it_is_read(orient):
    content = json.dumps(FRAME.to_dict("list")) if orient == "list" else FRAME.to_json(orient=orient)
    for text in (content, json.dumps(json.loads(content), indent=1)):
        message = refusal(text)
        assert "a table in JSON by columns" in message
    orient = re.search(r"frame\.to_json\(path, orient='(\w+)'\)", message)[1]
    FRAME.to_json("rows", orient=orient)
    assert value("RR", QRELS, "rows")[0] == 0.75


@pytest.mark.parametrize("document", [{"score": 3}, {"score": 3.5, "rank": 1}, {"rank": 1}])
def test_the_number_of_a_document_stands_alone(document):
    run = {"q1": {"x": document, "d2": document}, "q2": {"d4": document}}
    message = refusal(json.dumps(run))
    assert "a document must have a number, not an object" in message
    assert "subset" not in message
    alone = {"q1": {"x": 3, "d2": 2}, "q2": {"d4": 1}}
    assert "{query_id: {doc_id: number}}" in message
    assert value("RR", QRELS, written(json.dumps(alone)))[0] == 0.75


def test_four_columns_without_a_number_at_the_end_are_no_qrels_to_a_run():
    assert "holds TREC qrels" not in refusal("q1\td1\t0.5\tmodel\n")
    assert "holds TREC qrels" in refusal("q1 0 d1 high\n")
    assert "Two columns are called score: leave one out" in refusal(
        "query_id,doc_id,score,score\nq1,d1,3,1\n"
    )
    assert value("RR", QRELS, written("query_id,doc_id,score\nq1,d1,3\nq2,d4,1\n"))[0] == 1.0
