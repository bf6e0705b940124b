"""What an inspected file is said to hold."""

import json

import polars as pl
import pytest

import permed_measures as pm
from permed_measures.files.inspection import inspect_file


def json_lines(*contents):
    return "".join(json.dumps(content) + "\n" for content in contents)


INSPECTED = [
    (
        f"q 0 a 2\nq 0 b -1\nr 0 a 0\nq 0 a 0.5\nq 0 c {10**30}\n",
        ("TREC qrels", "qrels"),
        {
            "queries": "2",
            "rows": "5",
            "query ids": "'q' to 'q'",
            "document ids": "'a' to 'c'",
            "documents": "3 different",
            "duplicates": "1 row (first: query 'q', document 'a')",
            "grades": "1e+30: 1, 2: 1, 0.5: 1, 0: 1, -1: 1",
        },
    ),
    (
        json_lines({"query": "x", "corpusids": [1], "retrieved": [5, 6, 5]}, {"query": "y", "retrieved": []}),
        ("LitSearch results", "run"),
        {
            "queries": "2",
            "rows": "3",
            "query ids": "'1' to '2'",
            "document ids": "'5' to '5'",
            "documents": "2 different",
            "duplicates": "1 row (first: query '1', document '5')",
            "scores": "none: the order of the lists counts",
        },
    ),
    (
        json_lines({"query_id": "q", "results": [{"text_id": "a", "score": 1}, "b"]}),
        ("PerMed results", "run"),
        {
            "queries": "1",
            "rows": "2",
            "query ids": "'q' to 'q'",
            "document ids": "'a' to 'b'",
            "documents": "2 different",
            "duplicates": "0 rows",
            "scores": "1 to 1",
            "no score": "1 row",
        },
    ),
    (
        '{"q": {"a": 1, "b": 2, "a": 2}}',
        ("BEIR or MTEB JSON", "qrels or run"),
        {
            "queries": "1",
            "rows": "3",
            "query ids": "'q' to 'q'",
            "document ids": "'a' to 'a'",
            "documents": "2 different",
            "duplicates": "1 row (first: query 'q', document 'a')",
            "grades": "2: 2, 1: 1",
            "scores": "1 to 2",
        },
    ),
]


@pytest.mark.parametrize(("content", "kind", "facts"), INSPECTED)
def test_an_inspected_file_is_described_exactly(content, kind, facts, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "file").write_text(content)
    inspection = inspect_file(tmp_path / "file")
    assert (inspection.format, inspection.holds) == kind
    assert inspection.facts == facts
    lines = str(inspection).splitlines()
    assert lines[0] == str(tmp_path / "file")
    assert len(lines) == 3 + len(inspection.facts)


def test_an_inspected_parquet_file_is_described_exactly(tmp_path):
    path = tmp_path / "file"
    frame = pl.DataFrame({"qid": [1, 1, 2], "docno": ["a", "a", "b"], "label": [2, 1, 0]})
    for value, facts in (("label", {"grades": "2: 1, 1: 1, 0: 1"}), ("score", {"scores": "0 to 2"})):
        frame.rename({"label": value}).write_parquet(path)
        inspection = inspect_file(path)
        assert (inspection.format, inspection.holds) == ("Parquet", "qrels" if value == "label" else "run")
        assert inspection.facts["duplicates"] == "1 row (first: query '1', document 'a')"
        assert inspection.facts.items() >= facts.items()


def test_many_grades_are_not_all_counted(tmp_path):
    (tmp_path / "file").write_text("".join(f"q 0 d{grade} {grade}\n" for grade in range(22)))
    assert inspect_file(tmp_path / "file").facts["grades"].endswith("2: 1 and 2 others")
    (tmp_path / "file").write_text("".join(f"q 0 d{grade} {grade}\n" for grade in range(20)))
    assert inspect_file(tmp_path / "file").facts["grades"].endswith("1: 1, 0: 1")


@pytest.mark.parametrize("content", ["", '{"q": {"a": "x"}}', "a,b\n", "q Q0 a 1 x t\n"])
def test_a_bad_file_is_not_inspected(content, tmp_path):
    (tmp_path / "file").write_text(content)
    with pytest.raises(pm.InputError) as error:
        inspect_file(tmp_path / "file")
    assert str(error.value).startswith(str(tmp_path / "file"))
