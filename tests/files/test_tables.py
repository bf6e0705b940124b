"""CSV and TSV tables: of scores and labels, with quotes, blanks and empty lines."""

import pandas as pd
import pytest
from commands import run_main

import permed_measures as pm
from permed_measures.files import read as files
from permed_measures.files import sources
from permed_measures.files.inspection import inspect_file


def test_a_file_of_scores_and_labels_is_not_guessed(tmp_path):
    table = pd.DataFrame({"qid": ["q", "q"], "docno": ["a", "b"], "score": [7.5, 3.0], "label": [1, 0]})
    table.to_csv(tmp_path / "both.csv", index=False)
    table.to_parquet(tmp_path / "both.parquet")
    for name in ("both.csv", "both.parquet"):
        path = tmp_path / name
        assert files.kind_of(sources.Source(path)) is None
        facts = inspect_file(path).facts
        assert (facts["grades"], facts["scores"]) == ("1: 1, 0: 1", "3 to 7.5")
        status, _, stderr = run_main("convert", path, tmp_path / "out.trec")
        assert status == 2
        assert "can be read as qrels and as a run. Say which by --as" in stderr
        assert pm.read_run(path) == {"q": {"a": 7.5, "b": 3.0}}
        assert pm.read_qrels(path) == {"q": {"a": 1, "b": 0}}


def test_an_empty_line_does_not_shift_the_ids_that_count_lines(tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_text('{"query": "x", "retrieved": ["a"]}\n\n{"query": "y", "retrieved": ["b"]}\n')
    with pytest.raises(pm.InputError, match=r"results.jsonl:3: .*line numbers are the query ids"):
        pm.read_run(path)
    path.write_text('{"query_id": 1, "retrieved": ["a"]}\n\n{"query_id": 2, "retrieved": ["b"]}\n')
    assert list(pm.read_run(path)) == ["1", "2"]


@pytest.mark.parametrize("large", [0, 10**9])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_table_with_ranks_and_no_scores_is_ranked_by_them_and_that_is_said(
    ending, large, tmp_path, monkeypatch
):
    monkeypatch.setattr(files, "_LARGE", large)
    path = tmp_path / f"run.{ending}"
    table = pd.DataFrame({"qid": ["q", "q"], "docno": ["a", "b"], "rank": [2, 1]})
    (table.to_csv if ending == "csv" else table.to_parquet)(path, index=False)
    with pytest.warns(pm.PermedWarning, match=rf"run\.{ending}: there are no scores: .* by the column rank$"):
        assert pm.read_run(path) == {"q": {"a": -2.0, "b": -1.0}}
    assert files.kind_of(sources.Source(path)) == "run"
    with pytest.raises(pm.InputError):
        pm.read_qrels(path)
    table.assign(score=[1.0, 2.0]).to_csv(path, index=False)
    assert pm.read_run(path) == {"q": {"a": 1.0, "b": 2.0}}  # without a warning, which would be an error
