"""pt.Experiment takes our measures: on frames, on transformers in batches, by query, with tests."""

import warnings

import pandas as pd
import pytest
from cases import rows_of
from ir_measures import AP, NumQ, NumRel, NumRet, SetP, nDCG

import permed_measures as pm
from permed_measures.comparison.compare import compare
from permed_measures.datasets import SAMPLES

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pt = pytest.importorskip("pyterrier", reason="PyTerrier (extra 'terrier') is not installed")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

MEASURES = [
    *dict.fromkeys([*pm.MEDCORPUS, *pm.LITSEARCH]),
    *(pm.GradedAP(norm="ideal") @ 10, pm.GradedAP(gains={1: 1, 2: 3}) @ 10, pm.GradedAP(judged_only=True)),
    *(pm.Coverage(rel=2) @ 3, pm.GAP @ 10, pm.GAP(g={1: 0.3, 2: 0.7}), pm.QMeasure(gains={1: 1, 2: 3}) @ 10),
    *(pm.VariantNDCG(negative="keep") @ 10, pm.VariantNDCG(gain="linear", discount="jk"), nDCG @ 10),
    *(nDCG(judged_only=True) @ 10, AP(rel=2) @ 10, SetP, NumQ, NumRel),
]
"""Without NumRet: ir_measures counts the judged documents only, where one with judged_only comes before it.

PyTerrier asks for measures in the order of their hashes, which differs by process.
"""


def frame(nested, doc_id, value):
    return pd.DataFrame(rows_of(nested), columns=["qid", doc_id, value])


QRELS = frame(pm.read_qrels(SAMPLES[0].qrels), "docno", "label")
RUNS = {name: frame(pm.read_run(path), "docno", "score") for name, path in SAMPLES[0].runs.items()}
for each in RUNS.values():
    each["rank"] = each.groupby("qid")["score"].rank(method="first", ascending=False).astype(int) - 1
TOPICS = pd.DataFrame({"qid": QRELS["qid"].unique(), "query": "x"})


@pytest.mark.parametrize(
    "options",
    [pytest.param({}, marks=pytest.mark.thorough), {"batch_size": 20, "plan": "tree", "verbose": False}],
    ids=str,
)
def test_every_measure_is_that_of_calc_aggregate(options):
    systems = [pt.Transformer.from_df(run) for run in RUNS.values()] if options else list(RUNS.values())
    table = pt.Experiment(systems, TOPICS, QRELS, [*MEASURES], names=list(RUNS), **options).set_index("name")
    assert set(table.columns) == set(map(str, MEASURES))
    for name, run in RUNS.items():
        for measure, value in pm.calc_aggregate(MEASURES, QRELS, run).items():
            assert table.loc[name, str(measure)] == pytest.approx(value, abs=1e-9), measure


def test_every_measure_by_query_is_that_of_iter_calc():
    options = {"names": list(RUNS), "perquery": True}
    table = pt.Experiment(list(RUNS.values()), TOPICS, QRELS, MEASURES, **options)
    table = table.set_index(["name", "qid", "measure"])["value"]
    assert len(table) == len(RUNS) * len(TOPICS) * len(MEASURES)
    for name, run in RUNS.items():
        for query_id, measure, value in pm.iter_calc(MEASURES, QRELS, run):
            assert table[name, query_id, str(measure)] == pytest.approx(value, abs=1e-9), measure


def test_text_is_read_with_the_names_of_trec_eval_only():
    """The guide's page upstream.md has a change of PyTerrier that ends this."""
    with pytest.raises(ValueError, match="unkonwn measure nDCG@10"):
        pt.Experiment([RUNS["bm25"]], TOPICS, QRELS, ["nDCG@10"])


def test_retrieved_documents_are_counted():
    [count] = pt.Experiment([RUNS["bm25"]], TOPICS, QRELS, [NumRet, AP])["NumRet"]
    assert count == len(RUNS["bm25"]) == pm.calc_aggregate([NumRet], QRELS, RUNS["bm25"])[NumRet]


@pytest.mark.thorough
def test_p_values_wins_and_losses_are_those_of_compare():
    options = {"names": list(RUNS), "baseline": 0, "correction": "holm"}
    tested = pt.Experiment(list(RUNS.values()), TOPICS, QRELS, list(pm.MEDCORPUS), **options).set_index(
        "name"
    )
    rows = compare(QRELS, RUNS, pm.MEDCORPUS, baseline="bm25", clusters="none", tests=("t-test",)).rows
    assert len(rows) == 2 * len(pm.MEDCORPUS)
    for row in rows:
        system = tested.loc[row.run]
        assert system[f"{row.measure} p-value"] == pytest.approx(row.tests["t-test"].p, abs=1e-9)
        assert (system[f"{row.measure} +"], system[f"{row.measure} -"]) == (row.wins, row.losses)
        assert system[str(row.measure)] == pytest.approx(row.mean, abs=1e-9)


@pytest.mark.parametrize("text", ["GradedAP@10", "nDCG@10"])
def test_measures_as_text_have_trec_evals_names(text):
    with pytest.raises(ValueError, match=f"measure {text}"):
        pt.Experiment([RUNS["bm25"]], TOPICS, QRELS, [text])
    assert text in pt.Experiment([RUNS["bm25"]], TOPICS, QRELS, [pm.parse_measure(text)]).columns


def test_a_batch_without_a_judged_document_warns_and_counts():
    measure, run = pm.GradedAP @ 10, RUNS["bm25"].copy()
    run.loc[run["qid"] == TOPICS["qid"][0], "docno"] = "not judged " + run["docno"]
    with pytest.warns(pm.PermedWarning, match="no retrieved document is judged"):
        table = pt.Experiment([pt.Transformer.from_df(run)], TOPICS, QRELS, [measure], batch_size=1)
    whole = pt.Experiment([run], TOPICS, QRELS, [measure])
    assert table[str(measure)].tolist() == pytest.approx(whole[str(measure)].tolist(), abs=1e-12)
