"""pt.Experiment takes our measures: on frames, on a pipeline, with significance tests."""

import warnings

import numpy as np
import pytest
from ir_measures import AP, NumRet

import permed_measures as pm
from permed_measures.comparisons.compare import compare

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pt = pytest.importorskip("pyterrier", reason="PyTerrier (extra 'terrier') is not installed")
from pipelines import ALL_MEASURES, MEASURES, frame

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


def test_an_experiment_has_the_numbers_of_calc_aggregate(sample):
    qrels, runs, topics = sample
    frames = [frame(run, "docno", "score") for run in runs.values()]
    labels = frame(qrels, "docno", "label")
    table = pt.Experiment(frames, topics, labels, MEASURES, names=list(runs)).set_index("name")
    assert set(table.columns) == set(map(str, MEASURES))
    for name, run in runs.items():
        for measure, value in pm.calc_aggregate(MEASURES, qrels, run).items():
            assert table.loc[name, str(measure)] == pytest.approx(value, abs=1e-9)


# --- a pipeline ---

TREE = {"plan": "tree", "verbose": False}
PLANS = [{"batch_size": 7, **TREE}, *(pytest.param(each, marks=pytest.mark.thorough) for each in ({}, TREE))]


@pytest.mark.parametrize("options", PLANS, ids=str)
def test_every_measure_on_the_pipeline_is_that_of_the_frame_it_returns(systems, runs, topics, qrels, options):
    table = pt.Experiment(systems, topics, qrels, ALL_MEASURES, **options).set_index("name")
    assert set(table.columns) == set(map(str, ALL_MEASURES))
    for name, run in runs.items():
        for measure, value in pm.calc_aggregate(ALL_MEASURES, qrels, run).items():
            assert table.loc[name, str(measure)] == pytest.approx(value, abs=1e-9), measure


def test_retrieved_documents_are_counted(systems, runs, topics, qrels):
    table = pt.Experiment(systems, topics, qrels, [NumRet, AP]).set_index("name")
    for name, run in runs.items():
        assert table.loc[name, "NumRet"] == len(run) == pm.calc_aggregate([NumRet], qrels, run)[NumRet]


def test_every_measure_by_query_is_that_of_the_frame(systems, runs, topics, qrels):
    means, table = pt.Experiment(systems, topics, qrels, ALL_MEASURES, perquery="both")
    table = table.set_index(["name", "qid", "measure"])["value"]
    assert len(means) == len(systems)
    assert len(table) == len(systems) * len(topics) * len(ALL_MEASURES)
    for name, run in runs.items():
        for query_id, measure, value in pm.iter_calc(ALL_MEASURES, qrels, run):
            assert table[name, query_id, str(measure)] == pytest.approx(value, abs=1e-9), measure


# --- significance -----------------------------------------------------------------------------------


def holm(p_values):
    """Return the adjusted p-values: of the i-th smallest of m, the largest (m - j + 1)·p_j with j up to i."""
    adjusted, largest = {}, 0.0
    for place, index in enumerate(np.argsort(p_values)):
        largest = max(largest, (len(p_values) - place) * p_values[index])
        adjusted[index] = min(largest, 1.0)
    return [adjusted[index] for index in range(len(p_values))]


@pytest.fixture(scope="module")
def tested(systems, topics, qrels):
    options = {"baseline": "bm25", "correction": "holm"}
    return pt.Experiment(systems, topics, qrels, MEASURES, **options).set_index("name")


def test_p_values_wins_and_losses_are_those_of_compare(tested, runs, qrels):
    rows = compare(qrels, runs, MEASURES, baseline="bm25", clusters="none", tests=("t-test",)).rows
    assert len(rows) == 2 * len(MEASURES)
    for row in rows:
        system = tested.loc[row.run]
        assert system[f"{row.measure} p-value"] == pytest.approx(row.tests["t-test"].p, abs=1e-9)
        assert (system[f"{row.measure} +"], system[f"{row.measure} -"]) == (row.wins, row.losses)
        assert system[str(row.measure)] == pytest.approx(row.mean, abs=1e-9)


def test_compare_corrects_over_systems_and_measures_together(tested, runs, qrels):
    rows = compare(qrels, runs, MEASURES, baseline="bm25", clusters="none", tests=("t-test",)).rows
    places = [(row.run, f"{row.measure} p-value") for row in rows]
    ours = [row.tests["t-test"].adjusted for row in rows]
    assert ours == pytest.approx(holm([tested.loc[place] for place in places]), abs=1e-9)
    theirs = [tested.loc[name, f"{column} corrected"] for name, column in places]
    assert all(our >= their - 1e-9 for our, their in zip(ours, theirs, strict=True))
    graded = places.index(("rewrite", "GradedAP@10 p-value"))
    assert theirs[graded] < 0.05 < ours[graded]


def test_pyterrier_takes_the_turns_of_a_conversation_as_independent(tested, runs, dataset):
    how = {"baseline": "bm25", "tests": "t-test"}
    rows = compare(dataset, runs, MEASURES, **how).rows
    independent = compare(dataset, runs, MEASURES, clusters="none", **how).rows
    alone = {(row.run, row.measure): row.tests["t-test"].p for row in independent}
    for row in rows:
        assert alone[row.run, row.measure] == pytest.approx(
            tested.loc[row.run, f"{row.measure} p-value"], abs=1e-9
        )
    [row] = [row for row in rows if (row.run, row.measure) == ("rewrite", pm.GradedAP @ 10)]
    assert alone[row.run, row.measure] < 0.05 < row.tests["t-test"].p


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_runs_that_are_equal_have_no_p_value_and_are_called_different(runs, topics, qrels):
    same = {"bm25": runs["bm25"], "again": runs["bm25"].copy()}
    measure = pm.GradedAP @ 10
    table = pt.Experiment(same, topics, qrels, [measure], baseline="bm25", correction="holm")
    table = table.set_index("name")
    assert np.isnan(table.loc["again", f"{measure} p-value"])
    assert table.loc["again", f"{measure} reject"]
    [row] = compare(qrels, same, [measure], baseline="bm25", clusters="none", tests="t-test").rows
    assert (row.tests["t-test"].p, row.tests["t-test"].adjusted) == (1.0, 1.0)
