"""Python takes what the command line takes: qrels and runs by path, data sets by id."""

from pathlib import Path

import ir_datasets
import polars as pl
import pytest
from commands import run_cli, run_main

import permed_measures as pm
from permed_measures.datasets import SAMPLES
from permed_measures.inputs.door import read
from permed_measures.inputs.text_reader import TextFile

MEDICAL = SAMPLES[0]
MEASURES = ["GradedAP@10", "nDCG@10"]
ID = "permed-sample"

FUNCTIONS = {
    "calc_aggregate": lambda qrels, run, _: pm.calc_aggregate(MEASURES, qrels, run),
    "calc": lambda qrels, run, _: pm.calc(MEASURES, qrels, run),
    "iter_calc": lambda qrels, run, _: list(pm.iter_calc(MEASURES, qrels, run)),
    "evaluator": lambda qrels, run, other: [
        pm.evaluator(MEASURES, qrels).calc_aggregate(each) for each in (run, other)
    ],
    "compare": lambda qrels, run, other: (
        pm.compare(qrels, {"a": run, "b": other}, MEASURES, clusters="_[0-9]+_([0-9]+)$", resamples=10).rows
    ),
    "audit": lambda qrels, run, _: str(pm.audit(qrels, run, {"P@1": 0.5})),
    "audit of several": lambda qrels, run, other: str(
        pm.audit(qrels, {"a": run, "b": other}, {"a": {"P@1": 0.5}, "b": {"P@1": 0.4}})
    ),
    "crosscheck": lambda qrels, run, _: str(pm.crosscheck(qrels, run, MEASURES)),
    "reranking": lambda qrels, run, other: str(
        [query.pairs for query in pm.reranking(qrels, run, other).queries]
    ),
    "evaluate_by": lambda qrels, run, _: pm.evaluate_by(MEASURES, qrels, run, by="_([0-9]+)$"),
    "ceiling": lambda qrels, *_: pm.ceiling("GradedAP@10", qrels),
    "match_query_ids": lambda qrels, run, _: pm.match_query_ids(run, qrels, "permed"),
}


@pytest.mark.parametrize(
    "function",
    [
        pytest.param(function, id=name, marks=[pytest.mark.thorough] * (name == "audit of several"))
        for name, function in FUNCTIONS.items()
    ],
)
def test_paths_and_ids_give_what_their_content_gives(function):
    run, other = MEDICAL.runs["bm25"], MEDICAL.runs["lsa"]
    expected = function(pm.read_qrels(MEDICAL.qrels), pm.read_run(run), pm.read_run(other))
    for qrels in (MEDICAL.qrels, str(MEDICAL.qrels), ID, ir_datasets.load(ID)):
        assert function(qrels, run, str(other)) == expected


def test_the_id_of_a_data_set_brings_the_fields_of_its_queries():
    run = MEDICAL.runs["bm25"]
    assert set(pm.evaluate_by("P@1", ID, run, by="turn_number")) == {1, 2, 3, 4, 5}
    result = pm.reranking(ID, run, MEDICAL.runs["lsa"])
    assert all(change.text for change in result.gained)
    assert "12 clusters" in str(pm.compare(ID, {"a": run, "b": MEDICAL.runs["lsa"]}, "P@1", resamples=10))


def test_ids_stand_wherever_a_file_can(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    qrels = pm.read_qrels(ID)
    assert qrels == pm.read_qrels(MEDICAL.qrels)
    assert pm.read_run(f"{ID}/runs/bm25") == pm.read_run(MEDICAL.runs["bm25"])
    assert pm.calc_aggregate("RR", ID, f"{ID}/runs/bm25") == pm.calc_aggregate(
        "RR", qrels, MEDICAL.runs["bm25"]
    )
    for query_id in qrels:
        qrels[query_id].clear()
    assert pm.read_qrels(ID) == pm.read_qrels(MEDICAL.qrels)  # of each call, its own
    for line in (f"convert {ID} q.trec --as qrels", f"convert {ID} q.trec"):
        assert run_cli(*line.split())[1] == f"q.trec: qrels of {ID}\n"
        assert pm.read_qrels("q.trec") == pm.read_qrels(ID)
    described = run_cli("inspect", ID, "q.trec")[0].split("\n\n")
    assert [each.splitlines()[0] for each in described] == [ID, "q.trec"]
    assert described[0].splitlines()[2:] == described[1].rstrip().splitlines()[2:]
    Path(ID).write_text("q1 0 a 1\n")
    assert pm.read_qrels(ID) == {"q1": {"a": 1}}


def test_what_is_no_run_of_the_sample_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, hint in (
        (f"{ID}/runs", f"Name one of the runs: {ID}/runs/bm25"),
        (ID, "only qrels can be one"),
    ):
        with pytest.raises(FileNotFoundError, match=hint):
            pm.read_run(name)
    with pytest.raises(
        pm.InputError, match=r"'permed-smple' is neither a file nor.*Did you mean 'permed-sample'"
    ):
        pm.read_qrels("permed-smple")
    with pytest.raises(FileNotFoundError, match=r"qrels\.txt: No such file"):
        pm.read_qrels("qrels.txt")
    assert "only qrels can be one" in run_main("convert", ID, "x.trec", "--as", "run")[2]
    assert f"Name one of the runs: {ID}/runs/bm25" in run_main("convert", f"{ID}/runs", "x.trec")[2]
    for option in ("--tag mine", "--order list"):
        assert "--order list, --duplicates" in run_main("convert", ID, "x.trec", *option.split())[2]


def test_a_file_that_is_qrels_and_run_is_read_once(tmp_path, monkeypatch):
    read, entries = [], TextFile.entries
    monkeypatch.setattr(TextFile, "entries", lambda self, *args: (read.append(self), entries(self, *args))[1])
    path = tmp_path / "labels.jsonl"
    path.write_bytes(MEDICAL.qrels.read_bytes())
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(MEDICAL.qrels.read_bytes())
    found = []
    for run, n_times in ((path, 1), (str(path), 1), (copy, 2)):
        read.clear()
        with pytest.warns(pm.PermedWarning, match="the order of its lines is taken as the run"):
            found.append(pm.calc_aggregate(MEASURES, path, run))
        assert len(read) == n_times
    assert found[0] == found[1] == found[2]


def test_each_run_of_a_comparison_is_read_when_its_turn_comes(tmp_path):
    path = tmp_path / "run.trec"
    path.write_text("q1 Q0 a 1 x t\n")
    with pytest.raises(pm.InputError, match="the baseline must be one of the runs"):
        pm.compare({"q1": {"a": 1}}, {"a": path, "b": path}, "P@1", baseline="c")
    with pytest.raises(pm.InputError, match=r"run\.trec:1: not a line of a TREC run"):
        pm.compare({"q1": {"a": 1}}, {"a": path, "b": path}, "P@1")


# --- errors and warnings -----------------------------------------------------------------------------


def test_warnings_and_errors_name_the_file(tmp_path):
    qrels, run = {"q1": {"a": 1}}, tmp_path / "run.trec"
    run.write_text("q9 Q0 a 1 1 t\n")
    with pytest.warns(pm.NoSharedQueryWarning, match=r"run\.trec: the run and the qrels share no query"):
        pm.calc_aggregate("P@1", qrels, run)
    run.write_text("q1 Q0 a 1 1 t\nq1 Q0 a 2 1 t\n")
    with pytest.raises(pm.InputError, match=r"run\.trec:2: document 'a' of query 'q1' is listed twice"):
        pm.calc_aggregate("P@1", qrels, str(run))


def test_qrels_in_the_place_of_a_run_are_said_to_be_qrels(tmp_path):
    path = tmp_path / "qrels.jsonl"
    line = '{{"conversation_id": "q", "turn_id": 1, "doc_id": "{}", "rel": {}}}\n'
    path.write_text(line.format("b", 0) + line.format("a", 1))
    with pytest.warns(pm.PermedWarning, match=r"qrels\.jsonl holds MedCorpus labels: the order of its lines"):
        assert pm.calc_aggregate("RR", path, path) == {pm.parse_measure("RR"): 0.5}


ABSENT = "No such file or directory"
NEITHER = "neither a file nor the id of a data set of ir_datasets"
URL = "https://example.org/qrels"


@pytest.mark.parametrize("as_path", [str, Path])
def test_what_is_neither_a_file_nor_an_id_is_named_with_what_may_have_been_meant(
    tmp_path, monkeypatch, as_path
):
    """That is a typo away by its name, whatever its ending."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\n")
    (tmp_path / "run.trec").write_text("q1 Q0 a 1 1 t\n")
    (tmp_path / "thor.sh").write_text("#!/bin/sh\n")
    pl.DataFrame({"query_id": ["q1"], "doc_id": ["a"], "label": [1]}).write_parquet("parts.parquet")
    (tmp_path / "whole.json").write_text('{"q1": {"a": 1.5}}')
    for qrels, run, message in [
        ("qrel.txt", "run.trec", f"qrel.txt: {ABSENT}. Did you mean 'qrels.txt'?"),
        ("part.parquet", "run.trec", f"part.parquet: {ABSENT}. Did you mean 'parts.parquet'?"),
        ("medcorpsu", "run.trec", f"'medcorpsu' is {NEITHER}. Did you mean 'medcorpus'?"),
        ("permed", "run.trec", f"'permed' is {NEITHER}. Ours are medcorpus, litsearch, permed-sample"),
        ("qrels.txt", "run.tre", f"run.tre: {ABSENT}. Did you mean 'run.trec'?"),
        ("qrels.txt", "whol.json", f"whol.json: {ABSENT}. Did you mean 'whole.json'?"),
        ("qrels.txt", f"{ID}/runs/bm52", f"{ID}/runs/bm52: {ABSENT}. Did you mean '{ID}/runs/bm25'?"),
        ("qrels.txt", ID, f"{ID}: {ABSENT}. This is the id of a data set, and only qrels can be one"),
        (URL, "run.trec", f"{URL}: {ABSENT}. Only files are read: download"),
        ("qrels.txt", URL, f"{URL}: {ABSENT}. Only files are read: download"),
    ]:
        with pytest.raises(pm.InputError) as error:
            pm.calc_aggregate("P@1", as_path(qrels), as_path(run))
        assert str(error.value).startswith(message)
    for qrels, run in [
        ("nothere.qrels", "run.trec"),  # as like as one half to thor.sh
        ("qrels.txt", "other.trec"),
    ]:
        with pytest.raises(FileNotFoundError) as error:
            pm.calc_aggregate("P@1", as_path(qrels), as_path(run))
        assert str(error.value) == f"{run if qrels == 'qrels.txt' else qrels}: {ABSENT}"
    status, out, err = run_main("inspect", "run.tre")
    assert (status, out, err) == (2, "", f"error: run.tre: {ABSENT}. Did you mean 'run.trec'?\n")


def test_ids_that_cannot_be_rewritten_are_an_error_that_names_the_file(tmp_path):
    path = tmp_path / "run.trec"
    path.write_text("q9 Q0 a 1 1 t\n")
    with pytest.raises(pm.InputError, match=r"run\.trec: no query id of the run matches the qrels"):
        read(path, "score", rewriting="permed", qrels={"q1": {"a": 1}})
    path.write_text("t_turn_1 Q0 a 1 1 t\n")
    run = read(path, "score", rewriting="permed", qrels={"t_1": {"a": 1}})
    assert (run, run.name) == ({"t_1": {"a": 1.0}}, path)
