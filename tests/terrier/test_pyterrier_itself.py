"""What PyTerrier itself does with measures: pins what `notebooks/pyterrier.ipynb` says it does not do.

Where one of these tests fails with a newer PyTerrier, the notebook is out of date.
"""

import os
import subprocess
import sys
import warnings

import ir_measures
import numpy as np
import pandas as pd
import pytest
from ir_measures import (
    ERR,
    RBP,
    RR,
    Judged,
    P,
)

import permed_measures as pm
from permed_measures.comparisons.compare import compare

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pt = pytest.importorskip("pyterrier", reason="PyTerrier (extra 'terrier') is not installed")
from pipelines import ALL_MEASURES, MEASURES, History

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
]


# --- what PyTerrier does not do: measures -----------------------------------------------------------


@pytest.mark.parametrize("text", ["GradedAP@10", "Coverage@10", "nDCG@10", "AP@10", "P@1"])
def test_measures_as_text_have_trec_evals_names(systems, topics, qrels, text):
    with pytest.raises(ValueError, match=f"measure {text}"):
        pt.Experiment(systems, topics, qrels, [text])
    measure = pm.parse_measure(text)
    assert text in pt.Experiment(systems, topics, qrels, [measure]).columns


_COLUMNS = """
import pandas as pd, pyterrier as pt, permed_measures as pm
run = pd.DataFrame([["1", "a", 1.0]], columns=["qid", "docno", "score"])
qrels = pd.DataFrame([["1", "a", 1]], columns=["qid", "docno", "label"])
measures = [pm.GradedAP @ k for k in range(1, 13)]
columns = list(pt.Experiment([run], qrels[["qid"]].assign(query="x"), qrels, measures, names=["x"]).columns)
"""


def test_the_order_of_the_columns_changes_between_processes():
    here = {}
    exec(_COLUMNS, here)
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    command = [sys.executable, "-W", "ignore", "-c", f"{_COLUMNS}print(*columns)"]
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    there = done.stdout.split()
    assert here["columns"] != there
    assert sorted(here["columns"]) == sorted(there) == sorted(["name", *map(str, here["measures"])])


@pytest.mark.skipif(not ir_measures.gdeval.is_available(), reason="gdeval needs Perl, which is not here")
def test_err_goes_to_gdeval_which_takes_numeric_ids_only(systems, runs, topics, qrels, capfd):
    with pytest.raises(subprocess.CalledProcessError):
        pt.Experiment(systems, topics, qrels, [ERR @ 10])
    assert "format error" in capfd.readouterr().err
    assert 0 < pm.calc_aggregate([ERR @ 10], qrels, runs["bm25"])[ERR @ 10] < 1


def test_rbp_judged_and_reciprocal_rank_at_k_break_ties_in_ways_of_their_own():
    pytest.importorskip("cwl", reason="cwl_eval, to which RBP goes, is not installed")
    tied = pd.DataFrame([["q", each, 1.0] for each in "maz"], columns=["qid", "docno", "score"])
    topics = pd.DataFrame([["q", "x"]], columns=["qid", "query"])
    measures = [RBP(rel=1), Judged @ 1, RR @ 1, P @ 1, pm.GradedAP @ 1]
    firsts = {}
    for docno in "maz":
        qrels = pd.DataFrame([["q", docno, 2]], columns=["qid", "docno", "label"])
        [row] = pt.Experiment([tied], topics, qrels, measures).to_dict("records")
        best = pm.calc_aggregate(measures, qrels, tied[tied["docno"] == docno])
        firsts[docno] = [measure for measure in measures if row[str(measure)] == pytest.approx(best[measure])]
        ours = pm.calc_aggregate(measures, qrels, tied)
        assert [measure for measure in measures if ours[measure] == best[measure]] == measures * (
            docno == "z"
        )
    assert firsts == {"m": [RBP(rel=1)], "a": [Judged @ 1, RR @ 1], "z": [P @ 1, pm.GradedAP @ 1]}


def test_standard_measures_take_whole_grades_only(systems, runs, topics, qrels):
    halves, run = qrels.assign(label=qrels["label"] / 2), runs["bm25"]
    halved = pm.GradedAP(rel=0.5, max_rel=1) @ 10
    [value] = pt.Experiment([systems["bm25"]], topics, halves, [halved])[str(halved)]
    assert value == pytest.approx(pm.calc_aggregate([pm.GradedAP @ 10], qrels, run)[pm.GradedAP @ 10])
    with pytest.raises(TypeError, match="Expected relevance to be integer"):
        pt.Experiment([systems["bm25"]], topics, halves, [P @ 1])
    whole = pm.calc_aggregate([P(rel=2) @ 1], qrels, run)[P(rel=2) @ 1]
    assert pm.calc_aggregate([P @ 1], halves, run) == {P @ 1: whole}


# --- what PyTerrier does not do: queries and documents ----------------------------------------------


def test_the_mean_is_taken_over_the_topics_that_are_judged(systems, runs, topics, qrels):
    few, measure = topics.head(10), pm.GradedAP @ 10
    found = runs["bm25"][runs["bm25"]["qid"].isin(few["qid"])]
    over_all = pm.calc_aggregate([measure], qrels, found)[measure]
    over_few = pm.calc_aggregate([measure], qrels[qrels["qid"].isin(few["qid"])], found)[measure]

    def value(**options):
        [row] = pt.Experiment([systems["bm25"]], few, qrels, [measure], **options).to_dict("records")
        return row[str(measure)]

    assert over_all < over_few
    assert value() == pytest.approx(over_few, abs=1e-9)
    assert value(filter_by_topics=False) == pytest.approx(over_all, abs=1e-9)
    assert value(filter_by_topics=False, batch_size=3) == pytest.approx(over_all, abs=1e-9)


def test_topics_without_judgments_are_nan_and_spoil_the_means_of_both(systems, topics, qrels):
    few, measure = qrels[qrels["qid"].isin(topics["qid"].head(10))], pm.GradedAP @ 10
    bm25 = [systems["bm25"]]
    [plain] = pt.Experiment(bm25, topics, few, [measure])[str(measure)]
    with pytest.warns(UserWarning, match="38 topic"):
        means, table = pt.Experiment(bm25, topics, few, [measure], perquery="both")
    assert np.isnan(means[str(measure)]).all()
    assert table["value"].isna().sum() == 38
    means, table = pt.Experiment(bm25, topics, few, [measure], perquery="both", filter_by_qrels=True)
    assert means[str(measure)].tolist() == [plain]
    assert not table["value"].isna().any()


def test_a_query_without_results_is_a_silent_zero(runs, topics, qrels):
    measure, lacking = pm.GradedAP @ 10, topics["qid"].head(10)
    short = runs["bm25"][~runs["bm25"]["qid"].isin(lacking)]
    table = pt.Experiment([short], topics, qrels, [measure], perquery=True).set_index("qid")["value"]
    assert (table[lacking] == 0).all()
    assert len(table) == len(topics)
    both = {"bm25": runs["bm25"], "short": short}
    result = compare(qrels, both, [measure], baseline="bm25", clusters="none", tests="t-test")
    assert any("short" in note and "10 of 48" in note for note in result.notes)


def test_a_batch_without_a_judged_document_warns_and_counts(runs, topics, qrels):
    measure, first = pm.GradedAP @ 10, topics["qid"][0]
    run = runs["bm25"].copy()
    run.loc[run["qid"] == first, "docno"] = "not judged " + run["docno"]
    with pytest.warns(pm.PermedWarning, match="no retrieved document is judged"):
        table = pt.Experiment([pt.Transformer.from_df(run)], topics, qrels, [measure], batch_size=1)
    whole = pt.Experiment([run], topics, qrels, [measure])
    assert table[str(measure)].tolist() == pytest.approx(whole[str(measure)].tolist(), abs=1e-12)


def test_the_order_is_that_of_the_scores_and_not_of_the_ranks(runs, topics, qrels):
    run = runs["bm25"]
    backwards = run.assign(rank=-run["rank"])
    tables = [pt.Experiment([each], topics, qrels, MEASURES) for each in (run, backwards)]
    columns = list(map(str, MEASURES))
    assert tables[0][columns].equals(tables[1][columns])


def test_a_cutoff_breaks_ties_by_place_and_a_measure_by_document_id():
    run = pd.DataFrame([["q", "a", 1.0], ["q", "b", 1.0]], columns=["qid", "docno", "score"])
    run = pt.model.add_ranks(run.assign(query="x"))
    topics = pd.DataFrame([["q", "x"]], columns=["qid", "query"])
    qrels = pd.DataFrame([["q", "a", 2]], columns=["qid", "docno", "label"])
    both = {"all": run, "cut": (pt.Transformer.from_df(run) % 1)(topics)}
    table = pt.Experiment(both, topics, qrels, [P @ 1, pm.GradedAP @ 1])
    assert table[["P@1", "GradedAP@1"]].to_numpy().tolist() == [[0, 0], [1, 1]]


# --- saved runs, tuning, single frames --------------------------------------------------------------


def test_saved_runs_are_exact(systems, runs, topics, qrels, tmp_path):
    pt.Experiment(systems, topics, qrels, MEASURES, save_dir=str(tmp_path))
    for name, run in runs.items():
        saved = pm.read_run(tmp_path / f"{name}.res.gz")
        assert pm.calc_aggregate(ALL_MEASURES, qrels, saved) == pm.calc_aggregate(ALL_MEASURES, qrels, run)


def test_tuning_on_a_measure_is_a_scan_and_its_best_row(systems, runs, topics, qrels):
    history = History(3.0)
    pipeline, grid = systems["bm25"] >> history, {history: {"weight": [0.0, 3.0, 8.0]}}
    measure = pm.GradedAP @ 10
    with pytest.raises(KeyError, match="GradedAP@10"):
        pt.GridSearch(pipeline, grid, topics, qrels, measure)
    with pytest.raises(ValueError, match="measure GradedAP@10"):
        pt.GridSearch(pipeline, grid, topics, qrels, str(measure))
    scan = pt.GridScan(pipeline, grid, topics, qrels, [measure])
    assert history.weight == 8.0  # the last value tried
    found = {0.0: runs["bm25"], 3.0: runs["rerank"], 8.0: (systems["bm25"] >> History(8.0))(topics)}
    expected = [pm.calc_aggregate([measure], qrels, run)[measure] for run in found.values()]
    assert scan["tran_0_weight"].tolist() == list(found)
    assert scan[str(measure)].tolist() == pytest.approx(expected, abs=1e-9)
    assert scan.loc[scan[str(measure)].idxmax(), "tran_0_weight"] == 8.0


def test_evaluate_takes_frames_and_a_list_of_measures(runs, qrels, sample):
    labels, packaged, _ = sample
    expected = pm.calc_aggregate(MEASURES, qrels, runs["rerank"])
    found = pt.Evaluate(runs["rerank"], qrels, MEASURES)
    assert found == pytest.approx({str(measure): value for measure, value in expected.items()}, abs=1e-9)
    by_query = pt.Evaluate(runs["rerank"], qrels, MEASURES, perquery=True)
    for query_id, measure, value in pm.iter_calc(MEASURES, qrels, runs["rerank"]):
        assert by_query[query_id][str(measure)] == pytest.approx(value, abs=1e-9)
    with pytest.raises(KeyError, match="0"):
        pt.Evaluate(runs["rerank"], qrels, pm.GradedAP @ 10)
    with pytest.raises(AssertionError, match="topics must be specified"):
        pt.Evaluate(packaged["bm25"], qrels, MEASURES)
    with pytest.raises(KeyError, match="query_id"):
        pt.Evaluate(runs["rerank"], labels, MEASURES)
