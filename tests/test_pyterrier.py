"""pt.Experiment takes our measures, on frames of results and on a pipeline."""

import warnings

import pandas as pd
import pytest

import permed_measures as pm
from permed_measures.datasets import SAMPLES

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pt = pytest.importorskip("pyterrier", reason="PyTerrier (extra 'terrier') is not installed")

MEASURES = [*pm.MEDCORPUS, pm.GradedAP(norm="ideal") @ 10]

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


def frame(nested, doc_id, value):
    rows = [(q, d, v) for q, docs in nested.items() for d, v in docs.items()]
    return pd.DataFrame(rows, columns=["qid", doc_id, value])


@pytest.fixture(scope="module")
def sample():
    qrels = pm.read_qrels(SAMPLES[0].qrels)
    runs = {name: pm.read_run(path) for name, path in SAMPLES[0].runs.items()}
    topics = pd.DataFrame({"qid": list(qrels), "query": "x"})
    return qrels, runs, topics


def experiment(sample, systems=None, **options):
    qrels, runs, topics = sample
    systems = systems or [frame(run, "docno", "score") for run in runs.values()]
    labels = frame(qrels, "docno", "label")
    return pt.Experiment(systems, topics, labels, MEASURES, names=list(runs), **options)


def test_an_experiment_has_the_numbers_of_calc_aggregate(sample):
    qrels, runs, _ = sample
    table = experiment(sample).set_index("name")
    assert set(table.columns) == set(map(str, MEASURES))
    for name, run in runs.items():
        for measure, value in pm.calc_aggregate(MEASURES, qrels, run).items():
            assert table.loc[name, str(measure)] == pytest.approx(value, abs=1e-9)


def test_an_experiment_by_query_has_the_numbers_of_iter_calc(sample):
    qrels, runs, _ = sample
    table = experiment(sample, perquery=True).set_index(["name", "qid", "measure"])["value"]
    assert len(table) == len(runs) * len(qrels) * len(MEASURES)
    for name, run in runs.items():
        for query_id, measure, value in pm.iter_calc(MEASURES, qrels, run):
            assert table[name, query_id, str(measure)] == pytest.approx(value, abs=1e-9)


def test_an_experiment_with_a_baseline_has_differences_and_p_values(sample):
    table = experiment(sample, baseline=0).set_index("name")
    plain = experiment(sample).set_index("name")
    for measure in map(str, MEASURES):
        assert table[measure].tolist() == pytest.approx(plain[measure].tolist())
        assert table.loc[["tfidf", "lsa"], f"{measure} p-value"].between(0, 1).all()
        better = table.loc[["tfidf", "lsa"], [f"{measure} +", f"{measure} -"]].sum(axis=1)
        assert (better <= 48).all()


def test_an_experiment_on_transformers_in_batches_has_the_same_numbers(sample):
    _, runs, _ = sample
    systems = [
        pt.Transformer.from_df(frame(run, "docno", "score").assign(query="x")) for run in runs.values()
    ]
    plain = experiment(sample).set_index("name")
    for batch_size in (None, 10):
        table = experiment(sample, systems, batch_size=batch_size).set_index("name")
        assert table[plain.columns].to_numpy() == pytest.approx(plain.to_numpy(), abs=1e-9)
