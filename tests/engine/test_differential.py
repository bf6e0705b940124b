"""The engine against pytrec_eval, pyNTCIREVAL and trec_eval's own published output."""

import math
import random

import ir_measures
import pytest
import pytrec
from cases import random_case
from effort import effort
from pyNTCIREVAL import metrics as ntcir

import permed_measures as pm

pytestmark = pytest.mark.filterwarnings("ignore::permed_measures.PermedWarning")

CASES = effort(100, 500)
CHUNKS = effort(1, 2)


def whole_case(rng):
    """Return a run, and qrels with grades that pytrec_eval takes."""
    qrels, run = random_case(rng)
    return {
        q: {doc_id: math.floor(grade) for doc_id, grade in docs.items()} for q, docs in qrels.items()
    }, run


def compared(qrels, run, rel, judged_only, beta):
    """Return how many values were compared, and those that differ by more than 1e-12."""
    names = pytrec.pairs(rel, judged_only, beta)
    theirs = pytrec.values_of(names.values(), qrels, run, rel, judged_only)
    count, wrong = 0, []
    for query_id, measure, value in pm.iter_calc(list(names), qrels, run):
        if query_id in theirs:
            reference = theirs[query_id][names[measure]]
            if pytrec.is_undefined(reference):
                assert measure.NAME == "IPrec"
                reference = 0.0
            count += 1
            if abs(value - reference) > 1e-12:
                wrong.append((query_id, measure, value, reference, qrels.get(query_id), run.get(query_id)))
        elif measure.NAME not in ("NumQ", "NumRel"):
            assert value == 0 or query_id in run, (query_id, measure)
    return count, wrong


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_every_measure_of_pytrec_eval_agrees_on_random_cases(chunk):
    rng = random.Random(1000 + chunk)
    total, mismatches = 0, []
    for _ in range(CASES // CHUNKS):
        qrels, run = whole_case(rng)
        options = rng.choice([1, 1, 2, 3]), rng.random() < 0.4, rng.choice([1.0, 0.5, 2.0])
        count, wrong = compared(qrels, run, *options)
        total += count
        mismatches += wrong
    assert total > effort(5_000, 13_000)
    assert mismatches == []


@pytest.mark.parametrize("judged_only", [False, True])
def test_gains_are_those_of_pytrec_eval_on_mapped_grades(judged_only):
    rng = random.Random(77)
    for _ in range(effort(40, 150)):
        qrels, run = whole_case(rng)
        gains = {grade: rng.choice([-1, 0, 1, 3, 8]) for grade in (-1, 0, 1, 2, 3)}
        mapped = {q: {d: gains.get(g, g) for d, g in docs.items()} for q, docs in qrels.items()}
        exponential = {
            q: {d: 2**g - 1 if g >= 0 else g for d, g in docs.items()} for q, docs in qrels.items()
        }
        for measure, labels in (
            (pm.parse_measure("nDCG")(gains=gains, judged_only=judged_only) @ 5, mapped),
            (pm.parse_measure("nDCG")(dcg="exp-log2", judged_only=judged_only) @ 5, exponential),
            (pm.VariantNDCG(judged_only=judged_only) @ 5, exponential),
        ):
            theirs = pytrec.values_of(["ndcg_cut_5"], labels, run, judged_only=judged_only)
            for query_id, _, value in pm.iter_calc([measure], qrels, run):
                if query_id in theirs:
                    assert value == pytest.approx(theirs[query_id]["ndcg_cut_5"], abs=1e-9), measure


def test_q_measure_and_ncu_agree_with_pyntcireval():
    rng = random.Random(5)
    docs, compared = [f"d{i}" for i in range(20)], 0
    for _ in range(effort(60, 400)):
        highest = rng.randint(1, 4)
        qrels = {doc_id: rng.randint(0, highest) for doc_id in rng.sample(docs, rng.randint(1, 20))}
        levels = [sum(grade == level for grade in qrels.values()) for level in range(highest + 1)]
        if not sum(levels[1:]):
            continue
        ranking = rng.sample(docs, rng.randint(1, 20))
        run = {"q": {doc_id: -float(i) for i, doc_id in enumerate(ranking)}}
        listed = [(doc_id, qrels.get(doc_id)) for doc_id in ranking]
        gains = sorted(rng.sample(range(1, 12), len(levels) - 1))
        beta, cutoff = rng.choice([0.5, 1.0, 10.0]), rng.choice([None, 1, 3, 10, 30])
        by_grade = dict(enumerate(gains, start=1))
        weights = [gain / 10 for gain in gains]
        graded = pm.GradedAP(gains=dict(enumerate(weights, start=1)), norm="gain")
        measures = {
            pm.QMeasure(beta=beta, gains=by_grade)(cutoff=cutoff): ntcir.QMeasure(
                levels, gains, beta, cutoff
            ),
            graded: ntcir.NCUguP(levels, gains, weights),
        }
        values = pm.calc_aggregate(list(measures), {"q": qrels}, run)
        for measure, reference in measures.items():
            compared += 1
            assert values[measure] == pytest.approx(reference.compute(listed), abs=1e-9), measure
    assert compared > effort(80, 600)


@pytest.mark.parametrize(
    ("provider", "texts", "off_by"),
    [
        (ir_measures.gdeval, ["ERR@3", "ERR@20"], 5e-6),  # it prints five digits
        (ir_measures.cwl_eval, ["RBP(rel=1)", "RBP(rel=2,p=0.5)", "RBP(rel=1,p=0.95)"], 1e-9),
    ],
)
def test_err_and_rbp_are_those_of_the_providers_of_ir_measures(provider, texts, off_by):
    if not provider.is_available():
        pytest.skip("gdeval needs Perl")
    rng = random.Random(9)
    qrels = {str(q): {f"d{d}": rng.randint(-1, 4) for d in range(12)} for q in range(1, 40)}
    run = {q: {f"d{d}": rng.random() for d in rng.sample(range(30), 20)} for q in qrels}
    measures = list(map(pm.parse_measure, texts))
    theirs = {metric[:2]: metric.value for metric in provider.iter_calc(measures, qrels, run)}
    for metric in pm.iter_calc(measures, qrels, run):
        assert metric.value == pytest.approx(theirs[metric[:2]], abs=off_by), metric


# --- trec_eval's own files -------------------------------------------------------------------------

OTHER_NAMES = {"set_relative_P": "SetP(relative=True)", "rbp": "RBP(p=0.9,rel=1)"}
FILES = [
    ("out.test.a", "qrels.test", "results.test", 1, "0.10 all, 0.60 all"),
    ("out.test.aq", "qrels.test", "results.test", 1, "0.10 301, 0.60 302, 0.10 all, 0.60 all"),
    ("out.test.aqc", "qrels.test", "results.trunc", 1, "0.10 301"),
    (
        *("out.test.aql", "qrels.rel_level", "results.test", 2),
        "0.10 301, 0.60 302, 0.90 303, 0.10 all, 0.60 all, 0.90 all",
    ),
]
"""The last: lines of IPrec where trec_eval 10 rounds a number of documents, and trec_eval 9 truncates it."""


def measure_of(name, rel):
    """Return our measure for trec_eval's name, or None."""
    try:
        measure = pm.parse_measure(OTHER_NAMES.get(name, name))
    except pm.MeasureError:
        return None
    if name == "rbp" and rel > 1:
        return None  # trec_eval 10 weighs by grade, ours is binary: the same on binary labels only
    return measure(rel=rel) if "rel" in measure.SUPPORTED_PARAMS and name != "num_ret" else measure


@pytest.mark.parametrize(("output", "qrels", "run", "rel", "rounded"), FILES)
def test_trec_eval_s_published_output_line_by_line(data, output, qrels, run, rel, rounded):
    folder = data / "trec_eval"
    lines = [line.split(maxsplit=2) for line in (folder / output).read_text().splitlines()]
    measures = {name: measure for name, *_ in lines if (measure := measure_of(name, rel))}
    aggregated, per_query = pm.calc(
        measures.values(), pm.read_qrels(folder / qrels), pm.read_run(folder / run)
    )
    values = {(m.query_id, m.measure): m.value for m in per_query}
    different = set()
    for name, query_id, printed in lines:
        if name in measures:
            measure = measures[name]
            value = aggregated[measure] if query_id == "all" else values[query_id, measure]
            if (f"{value:.4f}" if "." in printed else f"{value:.0f}") != printed:
                different.add(f"{name} {query_id}")
    assert len(measures) > 60
    assert different == {f"iprec_at_recall_{each}" for each in rounded.split(", ")}
