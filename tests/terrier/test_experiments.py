"""pt.Experiment takes our measures: on frames, on a pipeline, with significance tests."""

import warnings

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


# --- what is not as in the rest ---------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["GradedAP@10", "nDCG@10"])
def test_measures_as_text_have_trec_evals_names(systems, topics, qrels, text):
    with pytest.raises(ValueError, match=f"measure {text}"):
        pt.Experiment(systems, topics, qrels, [text])
    measure = pm.parse_measure(text)
    assert text in pt.Experiment(systems, topics, qrels, [measure]).columns


def test_a_batch_without_a_judged_document_warns_and_counts(runs, topics, qrels):
    measure, first = pm.GradedAP @ 10, topics["qid"][0]
    run = runs["bm25"].copy()
    run.loc[run["qid"] == first, "docno"] = "not judged " + run["docno"]
    with pytest.warns(pm.PermedWarning, match="no retrieved document is judged"):
        table = pt.Experiment([pt.Transformer.from_df(run)], topics, qrels, [measure], batch_size=1)
    whole = pt.Experiment([run], topics, qrels, [measure])
    assert table[str(measure)].tolist() == pytest.approx(whole[str(measure)].tolist(), abs=1e-12)


def test_saved_runs_are_exact(systems, runs, topics, qrels, tmp_path):
    pt.Experiment(systems, topics, qrels, MEASURES, save_dir=str(tmp_path))
    for name, run in runs.items():
        saved = pm.read_run(tmp_path / f"{name}.res.gz")
        assert pm.calc_aggregate(ALL_MEASURES, qrels, saved) == pm.calc_aggregate(ALL_MEASURES, qrels, run)
