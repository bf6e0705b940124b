"""What PyTerrier itself does with measures: pins what `notebooks/pyterrier.ipynb` says it does not do.

Where one of these tests fails with a newer PyTerrier, the notebook is out of date.
"""

import gzip
import os
import subprocess
import sys
import warnings

import ir_measures
import numpy as np
import pandas as pd
import pytest
from ir_measures import (
    AP,
    ERR,
    RBP,
    RR,
    Judged,
    NumRet,
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


def test_a_measure_that_is_asked_for_twice_has_one_column(systems, topics, qrels):
    twice = [pm.GradedAP @ 10, pm.parse_measure("GradedMAP@10"), pm.GradedAP(rel=1, max_rel=2) @ 10]
    assert list(pt.Experiment(systems, topics, qrels, twice).columns) == ["name", "GradedAP@10"]
    mixed = pt.Experiment(systems, topics, qrels, ["map_cut_10", AP @ 10])
    assert list(mixed.columns) == ["name", "map_cut_10"]


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


def test_counts_of_an_experiment_are_summed_by_name_only(systems, runs, topics, qrels):
    measures = [NumRet, NumRet(rel=1)]
    [row] = pt.Experiment([systems["bm25"]], topics, qrels, measures).to_dict("records")
    expected = pm.calc_aggregate(measures, qrels, runs["bm25"])
    assert row["NumRet"] == expected[NumRet]
    assert row["NumRet(rel=1)"] == pytest.approx(expected[NumRet(rel=1)] / len(topics))
    assert pt.Evaluate(runs["bm25"], qrels, measures) == {str(m): v for m, v in expected.items()}


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


def test_a_run_or_a_batch_without_results_is_an_error(runs, topics, qrels):
    measure, bm25 = pm.GradedAP @ 10, runs["bm25"]
    nothing = pt.Transformer.from_df(bm25.head(0))
    late = pt.Transformer.from_df(bm25[~bm25["qid"].isin(topics["qid"].head(10))])
    with pytest.raises(ValueError, match="48 topics, but no results"):
        pt.Experiment([nothing], topics, qrels, [measure])
    with pytest.raises(ValueError, match="No results for evaluation"):
        pt.Evaluate(bm25.head(0), qrels, [measure])
    with pytest.raises(ValueError, match="batch of 5 topics, but no results received in batch 0"):
        pt.Experiment([late], topics, qrels, [measure], batch_size=5)
    assert pm.calc_aggregate([measure], qrels, bm25.head(0)) == {measure: 0.0}
    [row] = pt.Experiment([late], topics, qrels, [measure], batch_size=20).to_dict("records")
    assert row[str(measure)] == pytest.approx(pm.calc_aggregate([measure], qrels, late(topics))[measure])


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


# --- what PyTerrier does not do: options ------------------------------------------------------------


def test_values_by_query_and_a_baseline_are_two_calls_or_a_folder(systems, topics, qrels, tmp_path):
    for perquery in (True, "both"):
        with pytest.raises(AssertionError):
            pt.Experiment(systems, topics, qrels, MEASURES, perquery=perquery, baseline=0)
    tested = pt.Experiment(systems, topics, qrels, MEASURES, baseline=0, save_dir=str(tmp_path))
    by_query = pt.Experiment(systems, topics, qrels, MEASURES, perquery=True)
    saved = pd.read_csv(tmp_path / "perquery.csv", float_precision="round_trip")  # pandas 2
    keys = ["name", "qid", "measure"]
    assert saved.set_index(keys)["value"].to_dict() == by_query.set_index(keys)["value"].to_dict()
    assert "GradedAP@10 p-value" in tested.columns


def test_both_tables_cannot_be_highlighted(systems, topics, qrels):
    with pytest.raises(AttributeError, match="style"):
        pt.Experiment(systems, topics, qrels, MEASURES, perquery="both", highlight="bold")


def test_rounding_by_measure_goes_by_its_name(systems, topics, qrels):
    measure = pm.GradedAP @ 10
    exact, by_object, by_name = (
        pt.Experiment(systems, topics, qrels, [measure], round=how)[str(measure)].tolist()
        for how in (None, {measure: 2}, {str(measure): 2})
    )
    assert by_object == exact
    assert by_name == [round(value, 2) for value in exact] != exact


def test_saved_runs_are_exact_and_saved_tables_are_rounded(systems, runs, topics, qrels, tmp_path):
    pt.Experiment(systems, topics, qrels, MEASURES, save_dir=str(tmp_path), round=2)
    assert {path.name for path in tmp_path.iterdir()} == {
        *("aggregated.csv", "perquery.csv"),
        *(f"{name}.res.gz" for name in systems),
    }
    for name, run in runs.items():
        saved = pm.read_run(tmp_path / f"{name}.res.gz")
        assert pm.calc_aggregate(ALL_MEASURES, qrels, saved) == pm.calc_aggregate(ALL_MEASURES, qrels, run)
    table = pd.read_csv(tmp_path / "aggregated.csv").set_index("name")
    exact = pm.calc_aggregate(MEASURES, qrels, runs["rerank"])[pm.GradedAP @ 10]
    assert table.loc["rerank", "GradedAP@10"] == round(exact, 2) != exact


def test_saving_in_batches_for_a_second_time_writes_every_row_twice(systems, runs, topics, qrels, tmp_path):
    options = {"save_dir": str(tmp_path), "batch_size": 10}
    bm25 = {"bm25": systems["bm25"]}

    def n_rows():
        return len(gzip.decompress((tmp_path / "bm25.res.gz").read_bytes()).splitlines())

    pt.Experiment(bm25, topics, qrels, MEASURES, **options)
    assert n_rows() == len(runs["bm25"])
    with pytest.warns(UserWarning, match="already exists"):
        pt.Experiment(bm25, topics, qrels, MEASURES, **options)
    assert n_rows() == 2 * len(runs["bm25"])
    with pytest.raises(pm.InputError, match="is listed twice"):
        pm.read_run(tmp_path / "bm25.res.gz")
    pt.Experiment(bm25, topics, qrels, MEASURES, save_mode="overwrite", **options)
    assert n_rows() == len(runs["bm25"])


def test_the_tree_plan_saves_nothing(systems, topics, qrels, tmp_path):
    with pytest.raises(ValueError, match="not yet supported for tree execution plan"):
        pt.Experiment(systems, topics, qrels, MEASURES, save_dir=str(tmp_path), plan="tree")


# --- what PyTerrier does not do: tuning, and single frames ------------------------------------------


@pytest.fixture
def tunable(systems):
    history = History(3.0)
    return systems["bm25"] >> history, history, {history: {"weight": [0.0, 3.0, 8.0]}}


def test_tuning_on_a_measure_is_a_scan_and_its_best_row(tunable, systems, runs, topics, qrels):
    pipeline, _, grid = tunable
    measure = pm.GradedAP @ 10
    with pytest.raises(KeyError, match="GradedAP@10"):
        pt.GridSearch(pipeline, grid, topics, qrels, measure)
    with pytest.raises(ValueError, match="measure GradedAP@10"):
        pt.GridSearch(pipeline, grid, topics, qrels, str(measure))
    scan = pt.GridScan(pipeline, grid, topics, qrels, [measure])
    found = {0.0: runs["bm25"], 3.0: runs["rerank"], 8.0: (systems["bm25"] >> History(8.0))(topics)}
    expected = [pm.calc_aggregate([measure], qrels, run)[measure] for run in found.values()]
    assert scan["tran_0_weight"].tolist() == list(found)
    assert scan[str(measure)].tolist() == pytest.approx(expected, abs=1e-9)
    assert scan.loc[scan[str(measure)].idxmax(), "tran_0_weight"] == 8.0


def test_folds_cannot_be_tuned_on_a_measure_of_ours(tunable, topics, qrels, capsys):
    pipeline, _, grid = tunable
    with pytest.raises(KeyError, match="GradedAP@10"):
        pt.KFoldGridSearch(pipeline, grid, [topics.head(24), topics.tail(24)], qrels, pm.GradedAP @ 10)
    assert "Fold 1" in capsys.readouterr().out


def test_a_scan_leaves_the_last_value_and_takes_a_list_of_measures(tunable, topics, qrels):
    pipeline, history, grid = tunable
    with pytest.raises(KeyError, match="0"):
        pt.GridScan(pipeline, grid, topics, qrels, pm.GradedAP @ 10)
    pt.GridScan(pipeline, grid, topics, qrels, [pm.GradedAP @ 10])
    assert history.weight == 8.0


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
