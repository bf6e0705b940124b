"""What an inspected file is said to hold."""

import json
from pathlib import Path

import polars as pl
import pytest
from commands import run_cli, run_main

import permed_measures as pm
from permed_measures.datasets import SAMPLES
from permed_measures.inputs.inspection import inspect_file

GOLDEN = Path(__file__).parents[1] / "golden" / "inspect.txt"
LISTS = [{"query": "x", "corpusids": [1], "retrieved": [5, 6, 5]}, {"query": "y", "retrieved": []}]
FILES = {
    "twice.trec": "q1 Q0 a 1 2.0 t\nq1 Q0 b 2 2.0 t\nq1 Q0 a 3 1.0 t\nq2 Q0 c 1 0.1 t\n",
    "ranks.trec": "q1 Q0 a 2 2.0 t\nq1 Q0 b 1 1.0 t\n",
    "grades.trec": f"q 0 a 2\nq 0 b -1\nr 0 a 0\nq 0 a 0.5\nq 0 c {10**30}\n",
    "20grades.trec": "".join(f"q 0 d{grade} {grade}\n" for grade in range(20)),
    "21grades.trec": "".join(f"q 0 d{grade} {grade}\n" for grade in range(21)),
    "22grades.trec": "".join(f"q 0 d{grade} {grade}\n" for grade in range(22)),
    "lists.jsonl": "".join(json.dumps(content) + "\n" for content in LISTS),
    "scored.jsonl": '{"query_id": "q", "results": [{"text_id": "a", "score": 1}, "b"]}\n',
    "either.json": '{"q": {"a": 1, "b": 2, "a": 2}}',
    "either.csv": "qid,docno,score,label\nq,a,7.5,1\nq,b,3.0,0\n",
}


def test_inspected_files_are_described(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        Path(name).write_text(content)
    frame = pl.DataFrame({"qid": [1, 1, 2], "docno": ["a", "a", "b"], "label": [2, 1, 0]})
    frame.write_parquet("labels.parquet")
    frame.rename({"label": "score"}).write_parquet("scores.parquet")
    Path("sample.jsonl").write_bytes(Path(SAMPLES[0].qrels).read_bytes())
    stdout, stderr = run_cli("inspect", *FILES, "labels.parquet", "scores.parquet", "sample.jsonl")
    assert stdout == GOLDEN.read_text()
    assert stderr == ""


@pytest.mark.parametrize("content", ["", '{"q": {"a": "x"}}', "a,b,c\n", "q Q0 a 1 x t\n"])
def test_a_bad_file_is_not_inspected(content, tmp_path):
    (tmp_path / "file").write_text(content)
    with pytest.raises(pm.InputError) as error:
        inspect_file(tmp_path / "file")
    assert str(error.value).startswith(str(tmp_path / "file"))


@pytest.mark.parametrize("name", ["either.csv", "either.json", "either.parquet"])
def test_a_file_that_can_be_both_is_not_guessed(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if name in FILES:
        Path(name).write_text(FILES[name].replace(', "a": 2', ""))
    else:
        pl.read_csv(FILES["either.csv"].encode()).write_parquet(name)
    status, _, stderr = run_main("convert", name, "out.trec")
    assert (status, Path("out.trec").exists()) == (2, False)
    assert "this file can be qrels or a run. Choose by --as" in stderr
    run_cli("convert", name, "out.trec", "--as", "qrels")
    assert list(pm.read_qrels("out.trec")) == ["q"]
