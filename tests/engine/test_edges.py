"""What users run into: pipes, links, terminals, tables of two kinds, data sets in other tools."""

import json
import math
import os
import stat
import subprocess
import sys
import threading
import warnings

import ir_datasets
import pandas as pd
import polars as pl
import pytest

import permed_measures as pm
from permed_measures.files import read as files
from permed_measures.files import sources
from permed_measures.files import streams as scans
from permed_measures.files.inspection import inspect_file

RUN = "q1 Q0 a 1 2.0 t\nq1 Q0 b 2 1.0 t\n"


def command(*arguments, **options):
    whole = [sys.executable, "-m", "permed_measures", *map(str, arguments)]
    return subprocess.run(whole, capture_output=True, text=True, check=False, **options)


def through_pipe(path, content):
    """Make a named pipe that will give this content once."""
    os.mkfifo(path)
    threading.Thread(target=path.write_bytes, args=(content,), daemon=True).start()
    return path


# --- pipes, links, folders, terminals --------------------------------------------------------------


def test_pipes_are_read_by_every_command(tmp_path):
    (tmp_path / "q").write_text("q1 0 a 1\n")
    frame = pl.DataFrame({"query_id": ["q1"], "doc_id": ["a"], "score": [1.0]})
    frame.write_parquet(tmp_path / "run.parquet")
    parquet = (tmp_path / "run.parquet").read_bytes()
    for number, content in enumerate([RUN.encode(), parquet]):
        pipe = through_pipe(tmp_path / f"evaluated{number}", content)
        result = command("evaluate", tmp_path / "q", pipe, "-m", "P@1", "--format", "tsv")
        assert result.stdout.splitlines()[1].split("\t")[1] == "1.0", result.stderr
        result = command("inspect", through_pipe(tmp_path / f"inspected{number}", content))
        assert f"rows          {2 - number}" in result.stdout, result.stderr
        target = tmp_path / f"out{number}.json"
        result = command(
            "convert", through_pipe(tmp_path / f"converted{number}", content), target, "--as", "run"
        )
        assert list(json.loads(target.read_text())) == ["q1"], result.stderr


def test_writing_goes_into_a_pipe_and_leaves_it_one(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    pm.write_run({"q": {"a": 1.0}}, pipe)
    reader.join(timeout=10)
    assert read == ["q Q0 a 1 1.0 permed-measures\n"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_writing_keeps_links_modes_and_other_files(tmp_path):
    (tmp_path / "target").write_text("before")
    (tmp_path / "target").chmod(0o600)
    (tmp_path / "link").symlink_to("target")
    (tmp_path / "target.part").write_text("somebody's")
    pm.write_run({"q": {"a": 1.0}}, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "q Q0 a 1 1.0 permed-measures\n"
    assert stat.S_IMODE((tmp_path / "target").stat().st_mode) == 0o600
    assert (tmp_path / "target.part").read_text() == "somebody's"
    with pytest.raises(pm.InputError, match=r"this is a folder\. Name a file in it"):
        pm.write_run({"q": {"a": 1.0}}, tmp_path)


def test_a_terminal_that_cannot_show_a_character_gets_it_escaped():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    result = command("demo", env=environment)
    assert result.returncode == 0, result.stderr
    assert "\\u2500" in result.stdout


def test_a_run_needs_a_name_and_a_file(tmp_path):
    (tmp_path / "q").write_text("q1 0 a 1\n")
    for argument in ("=run.trec", "run="):
        result = command("evaluate", "q", argument, cwd=tmp_path)
        assert result.returncode == 2
        assert f"a run is FILE or NAME=FILE (found '{argument}')" in result.stderr


def test_a_file_with_the_name_of_a_data_set_is_said(tmp_path):
    (tmp_path / "litsearch").write_text("q1 0 a 1\n")
    (tmp_path / "run").write_text(RUN)
    result = command("evaluate", "litsearch", "run", "-m", "P@1", cwd=tmp_path)
    assert result.returncode == 0
    assert "note: litsearch is a file here, and is used instead of the data set" in result.stderr


# --- tables of two kinds, large tables, blanks -----------------------------------------------------


def test_a_file_of_scores_and_labels_is_not_guessed(tmp_path):
    table = pd.DataFrame({"qid": ["q", "q"], "docno": ["a", "b"], "score": [7.5, 3.0], "label": [1, 0]})
    table.to_csv(tmp_path / "both.csv", index=False)
    table.to_parquet(tmp_path / "both.parquet")
    for name in ("both.csv", "both.parquet"):
        path = tmp_path / name
        assert files.kind_of(sources.Source(path)) is None
        facts = inspect_file(path).facts
        assert (facts["grades"], facts["scores"]) == ("1: 1, 0: 1", "3 to 7.5")
        result = command("convert", path, tmp_path / "out.trec")
        assert result.returncode == 2
        assert "can be read as qrels and as a run. Say which by --as" in result.stderr
        assert pm.read_run(path) == {"q": {"a": 7.5, "b": 3.0}}
        assert pm.read_qrels(path) == {"q": {"a": 1, "b": 0}}


def test_a_large_table_with_quotes_is_read_in_batches(tmp_path, monkeypatch):
    monkeypatch.setattr(scans, "_LINES", 10)
    path = tmp_path / "run.csv"
    path.write_text("query_id,doc_id,score\n" + "".join(f'"q","d{i}",{i}\n' for i in range(95)))
    sizes = [len(frame) for frame in pm.scan_run(path).rows()]
    assert sizes == [10] * 9 + [5]


def test_blanks_around_the_names_of_columns_are_not_taken_off(tmp_path):
    (tmp_path / "run.csv").write_text("query_id, doc_id, score\nq1, a, 1\n")
    with pytest.raises(pm.InputError, match="unknown format"):
        pm.read_run(tmp_path / "run.csv")


def test_an_empty_line_does_not_shift_the_ids_that_count_lines(tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_text('{"query": "x", "retrieved": ["a"]}\n\n{"query": "y", "retrieved": ["b"]}\n')
    with pytest.raises(pm.InputError, match=r"results.jsonl:3: .*line numbers are the query ids"):
        pm.read_run(path)
    path.write_text('{"query_id": 1, "retrieved": ["a"]}\n\n{"query_id": 2, "retrieved": ["b"]}\n')
    assert list(pm.read_run(path)) == ["1", "2"]


# --- data sets -------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def home(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path_factory.mktemp("home")))


def test_ir_datasets_exports_and_looks_up_the_sample():
    code = "import permed_measures, ir_datasets; ir_datasets.main_cli()"

    def output(*arguments):
        return subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
        ).stdout

    first = json.loads(output("export", "permed-sample", "queries", "--format", "jsonl").splitlines()[0])
    assert first["query_id"] == "sample_01_1"
    assert first["text"].startswith("Do SGLT2 inhibitors")
    assert output("lookup", "permed-sample", "sample-001").startswith("sample-001\tTeledermatology")


def test_pyterrier_loads_texts_and_its_data_set_is_taken_as_qrels():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pyterrier as pt
    dataset = pt.get_dataset("irds:permed-sample")
    texts = dataset.text_loader(["title", "text"])(pd.DataFrame({"docno": ["sample-001"]}))
    assert texts["title"][0].startswith("Teledermatology")
    run = pm.read_run(pm.datasets.SAMPLES[0].runs["bm25"])
    expected = pm.calc_aggregate(["AP"], ir_datasets.load("permed-sample"), run)
    assert pm.calc_aggregate(["AP"], dataset, run) == expected
    assert pm.evaluate_by("AP", dataset, run, "turn_number").keys() == {1, 2, 3, 4, 5}


@pytest.mark.parametrize("labels_file", [True, False])
def test_a_query_without_judgments_counts_in_a_data_set_as_in_its_file(tmp_path, labels_file):
    lines = [
        {"query_id": f"t_turn_{n}", "query": "?", **({} if labels_file else {"ground_truth": documents})}
        for n, documents in ((1, ["a"]), (2, []))
    ]
    (tmp_path / "queries.jsonl").write_text("\n".join(map(json.dumps, lines)))
    if labels_file:
        (tmp_path / "query_to_texts.jsonl").write_text(
            '{"query_id": "t_turn_1", "relevant_texts": ["a"]}\n'
            '{"query_id": "t_turn_2", "relevant_texts": []}\n'
        )
    dataset = pm.datasets.from_folder(tmp_path, f"edge-{labels_file}")
    run = {"t_turn_1": {"a": 1.0}, "t_turn_2": {"a": 1.0}}
    [value] = pm.calc_aggregate(["AP"], dataset, run).values()
    assert value == 0.5
    [one, two] = pm.evaluate_by("AP", dataset, run, "turn_number").values()
    assert (*one.values(), *two.values()) == (1.0, 0.0)
    (tmp_path / "run.jsonl").write_text(
        "".join(json.dumps({"query_id": q, "results": [{"text_id": "a"}]}) + "\n" for q in run)
    )
    result = command("evaluate", tmp_path, tmp_path / "run.jsonl", "-m", "AP", "--format", "json")
    assert json.loads(result.stdout)[0]["metrics"]["AP"] == 0.5


def test_a_document_that_stands_twice_in_the_ground_truth_is_refused(tmp_path):
    (tmp_path / "queries.jsonl").write_text('{"query_id": "q", "query": "?", "ground_truth": ["a", "a"]}\n')
    with pytest.raises(pm.InputError, match=r"queries.jsonl:1: document 'a' is listed twice in ground_"):
        pm.datasets.from_folder(tmp_path, "edge-twice")
    (tmp_path / "queries.jsonl").write_text(
        '{"query_id": "q", "query": "?", "query": "!", "ground_truth": ["a"]}\n'
    )
    with pytest.raises(pm.InputError, match="'query' is listed twice"):
        pm.datasets.from_folder(tmp_path, "edge-twice")
    with pytest.raises(pm.InputError, match="'' cannot be the id of a data set"):
        pm.datasets.from_folder(tmp_path, "")


def test_the_grades_of_the_literature_sample_are_binary():
    assert ir_datasets.load("permed-sample/literature").qrels_defs().keys() == {1}
    assert ir_datasets.load("permed-sample").qrels_defs().keys() == {2, 1, 0, -1}


def test_json_of_groups_has_their_own_ceilings():
    run = pm.datasets.SAMPLES[0].runs["bm25"]
    arguments = ["-m", "GradedAP@10", "--by", "turn_number", "--format"]
    whole = json.loads(command("evaluate", "permed-sample", run, *arguments, "json").stdout)[0]["groups"]
    lines = command("evaluate", "permed-sample", run, *arguments, "jsonl").stdout.splitlines()
    assert (
        [json.loads(line)["group"] for line in lines]
        == [group["group"] for group in whole]
        == [1, 2, 3, 4, 5]
    )
    qrels = pm.read_qrels(pm.datasets.SAMPLES[0].qrels)
    for group in whole:
        part = {q: docs for q, docs in qrels.items() if q.endswith(f"_{group['group']}")}
        assert math.isclose(group["ceilings"]["GradedAP@10"], pm.ceiling("GradedAP@10", part), abs_tol=1e-15)
