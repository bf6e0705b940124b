"""What PyTerrier itself does with measures: pins what `notebooks/pyterrier.ipynb` says it does not do.

Where one of these tests fails with a newer PyTerrier, the notebook is out of date.
"""

import warnings

import numpy as np
import pytest
from ir_measures import P

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


@pytest.mark.parametrize("text", ["GradedAP@10", "nDCG@10"])
def test_measures_as_text_have_trec_evals_names(systems, topics, qrels, text):
    with pytest.raises(ValueError, match=f"measure {text}"):
        pt.Experiment(systems, topics, qrels, [text])
    measure = pm.parse_measure(text)
    assert text in pt.Experiment(systems, topics, qrels, [measure]).columns


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


# --- saved runs, tuning --------------------------------------------------------------


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
