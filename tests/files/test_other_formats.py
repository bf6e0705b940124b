"""Lists of grades, relevant documents by level, MS MARCO's files, LitSearch results before a reranking."""

import json
import re

import pytest
from commands import run_cli

import permed_measures as pm
from permed_measures.files import read as reading
from permed_measures.files import sources
from permed_measures.files.inspection import inspect_file


def written(path, lines):
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return path


# --- lists of grades -------------------------------------------------------------------------------


@pytest.mark.parametrize("as_json", [True, False])
def test_lists_of_grades_are_read_as_from_relevance_lists(as_json, tmp_path):
    lists = {"1": [1, 0, 1], "2": [0, 2], "3": [0, -1, 0, 0, 0, 0, 2]}
    rows = [" ".join(map(str, grades)) for grades in lists.values()]
    if as_json:
        lists["2"].append(None)  # not judged
        rows = [{"query_id": query_id, "relevance": grades} for query_id, grades in lists.items()]
    path = written(tmp_path / "lists", rows)
    assert (pm.read_qrels(path), pm.read_run(path)) == pm.from_relevance_lists(lists)
    stdout, stderr = run_cli("evaluate", path, path, "-m", "RR")
    assert f"{(1 + 1 / 2 + 1 / 7) / 3:.4f}" in stdout
    assert "holds relevance lists: the order of its lists is taken as the run" in stderr
    assert inspect_file(path).format == "relevance lists"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["1 0 1", "1 x 1"], ":2: not a line of relevance lists: a relevance must be a number (found 'x')"),
        (["1 0 1", "", "1 1 1"], ":3: not a line of relevance lists: no query_id, and an empty line above"),
        ([{"query_id": "q", "relevance": 1}], ":1: not a line of relevance lists: relevance must be a list"),
        ([{"query_id": "q", "relevance": ["1"]}], "a relevance must be a number (found '1')"),
        ([{"query_id": "q", "relevance": [1]}] * 2, ":2: query 'q' is listed twice, first on line 1"),
    ],
)
def test_bad_lists_of_grades_are_refused_with_their_line(lines, message, tmp_path):
    path = written(tmp_path / "lists", lines)
    for read in (pm.read_qrels, pm.read_run):
        with pytest.raises(pm.InputError) as error:
            read(path)
        assert str(error.value).startswith(str(path))
        assert message in str(error.value)


@pytest.mark.parametrize(
    ("line", "kind"),
    [("1 0 1 1", "qrels"), ("1 0 1 1 1 1", "run"), ("1 0 1 1 1 x y", "run"), ("1\t0\t1", "run")],
)
def test_lines_of_trec_and_ms_marco_are_no_lists_of_grades(line, kind, tmp_path):
    assert reading.kind_of(sources.Source(written(tmp_path / "file", [line]))) == kind


# --- relevant documents by level -------------------------------------------------------------------


def test_levels_are_grades(tmp_path):
    path = written(
        tmp_path / "truth.jsonl",
        [
            {"query_id": "q1", "highly_relevant": ["a", 5], "relevant": ["b"], "not_relevant": ["c"]},
            {"query_id": 2, "relevant": []},
        ],
    )
    assert pm.read_qrels(path) == {"q1": {"a": 2, "5": 2, "b": 1, "c": 0}, "2": {}}
    assert inspect_file(path).facts["grades"] == "2: 2, 1: 1, 0: 1"
    with pytest.raises(
        pm.InputError, match="expected a run, but this file holds relevant documents by level"
    ):
        pm.read_run(path)


def test_a_document_in_two_levels_is_refused(tmp_path):
    lines = [
        {"query_id": "q", "relevant": ["b"]},
        {"query_id": "r", "highly_relevant": ["a"], "relevant": ["a"]},
    ]
    path = written(tmp_path / "truth.jsonl", lines)
    with pytest.raises(pm.InputError, match=r"truth\.jsonl:2: document 'a' of query 'r' is listed twice"):
        pm.read_qrels(path)


# --- MS MARCO --------------------------------------------------------------------------------------

MS_MARCO = ["1185869\t0\t2", "1185869\t16\t1", "7\t16\t1"]


@pytest.mark.parametrize("large", [0, 1 << 30])
def test_a_run_of_ms_marco_is_ranked_by_its_ranks(large, tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "_LARGE", large)
    path = written(tmp_path / "run.tsv", MS_MARCO)
    expected = {"1185869": {"0": -2.0, "16": -1.0}, "7": {"16": -1.0}}
    assert pm.read_run(path) == pm.scan_run(path).nested() == expected
    assert pm.read_run(path, order="list") == expected
    qrels = written(tmp_path / "qrels.tsv", ["1185869\t0\t16\t1", "7\t0\t3\t1"])
    assert "run\t0.5\t" in run_cli("evaluate", qrels, path, "-m", "RR@10", "--format", "tsv")[0]
    assert inspect_file(path).format == "MS MARCO run"


@pytest.mark.parametrize("large", [0, 1 << 30])
@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("7\t3\tx", "a rank must be a whole number (found 'x')"),
        ("7\t3\t+1", "a rank must be a whole number (found '+1')"),
        ("7\t3\t-1", "a rank must be a whole number (found '-1')"),
        ("7\t3\t1.5", "a rank must be a whole number (found '1.5')"),
        ("7\t3", "2 columns"),
        ("7\t3\t1\t0.5", "4 columns"),
        ("7\t16\t2", "document '16' of query '7' is listed twice, first on line 3"),
    ],
)
def test_a_bad_line_of_ms_marco_is_refused(line, problem, large, tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "_LARGE", large)
    path = written(tmp_path / "run.tsv", [*MS_MARCO, line])
    with pytest.raises(pm.InputError) as error:
        pm.read_run(path)
    assert error.value.where == f"{path}:4"
    assert problem in str(error.value)


# --- LitSearch results before a reranking ----------------------------------------------------------

RERANKED = [
    {"query": "x", "corpusids": [1, 3], "retrieved": [1, 2, 3], "pre_reranked": [2, 3, 1]},
    {"query": "y", "corpusids": [5], "retrieved": [4, 5], "pre_reranked": [5, 4]},
]


def test_a_file_that_has_both_rankings_is_enough_for_a_reranking(tmp_path):
    path = written(tmp_path / "reranked.jsonl", RERANKED)
    qrels = {"1": {"1": 1, "3": 1}, "2": {"5": 1}}
    before = {"1": {"2": 3, "3": 2, "1": 1}, "2": {"5": 2, "4": 1}}
    expected = pm.reranking(qrels, before, pm.read_run(path), "RR")
    assert (expected.before, expected.after) == (0.75, 0.75)
    found = pm.reranking(path, path, measure="RR")
    assert (found.moves, found.pairs) == (expected.moves, expected.pairs)
    stdout, _ = run_cli("reranking", path, path, "-m", "RR")
    assert stdout.startswith("RR: 0.7500 pre_reranked, 0.7500 retrieved")
    assert "before reranking" in inspect_file(path).facts


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            [{"query_id": "q", "retrieved": [1]}],
            "has no lists 'pre_reranked' beside 'retrieved'. Name two runs",
        ),
        (["q Q0 a 1 1 t"], "has no lists 'pre_reranked' beside 'retrieved'. Name two runs"),
        (
            [*RERANKED, {"query": "z", "retrieved": [1]}],
            ":3: not a line of LitSearch results: 'pre_reranked' is",
        ),
    ],
)
def test_one_file_without_both_rankings_is_refused(lines, message, tmp_path):
    pm.write_qrels({"1": {"1": 1}}, tmp_path / "qrels")
    path = written(tmp_path / "run", lines)
    with pytest.raises(pm.InputError, match=re.escape(message)):
        run_cli("reranking", tmp_path / "qrels", path)
