"""Orders of runs by two sets of labels: against scipy, plain loops and TREC's labels; what is said."""

import json
from itertools import combinations, pairwise, permutations, product

import numpy as np
import pytest
from scipy import stats

import permed_measures as pm
from permed_measures.human_labels.agreement import OrderAgreement, tau_ap, tau_b


@pytest.mark.parametrize("seed", range(20))
def test_tau_b_is_that_of_scipy(seed):
    rng = np.random.default_rng(seed)
    x, y = (rng.integers(0, top, 8) / 7 for top in (4, 9))
    assert tau_b(x, y) == pytest.approx(stats.kendalltau(x, y).statistic)
    assert tau_b(x, y + 1e-14 * rng.random(8)) == pytest.approx(tau_b(x, y))


def plain_tau_ap(order, truth):
    """Return the coefficient of an order without equal values, as the paper has it."""
    correct = [
        sum(truth[j] > truth[i] for j in order[:place]) / place for place, i in enumerate(order) if place
    ]
    return 2 / (len(order) - 1) * sum(correct) - 1


def orders_of(values):
    """Yield all orders from the highest value to the lowest."""
    for order in permutations(range(len(values))):
        if all(values[a] >= values[b] for a, b in pairwise(order)):
            yield order


@pytest.mark.parametrize("seed", range(15))
def test_tau_ap_is_the_mean_over_the_orders_of_equal_runs(seed):
    rng = np.random.default_rng(seed)
    x, truth = (rng.integers(0, top, 5) / 7.0 for top in (3, 4))
    if len(set(x)) == 1 or len(set(truth)) == 1:
        assert tau_ap(x, truth) is None
        return
    found = []
    for order, true in product(orders_of(x), orders_of(truth)):
        found.append(plain_tau_ap(order, {item: -place for place, item in enumerate(true)}))
    assert tau_ap(x, truth) == pytest.approx(np.mean(found))


def test_tau_ap_is_that_of_the_r_package_ircor():
    """The examples of its documentation: without equal values, and with some in the order that is judged."""
    truth = np.array([0.67, 0.45, 0.29, 0.12, 0.57, 0.24, 0.94, 0.75, 0.08, 0.54])
    x = np.array([0.48, 0.68, 0.32, 0.09, 0.06, 0.61, 0.87, 0.22, 0.44, 0.84])
    assert tau_ap(x, truth) == pytest.approx(0.3928571, abs=5e-8)
    assert tau_ap(x.round(1), truth) == pytest.approx(0.39903, abs=5e-6)


def test_of_equal_runs_there_is_no_correlation():
    equal = {"a": 0.5, "b": 0.5, "c": 0.5}
    for means, people in ((equal, {"a": 1.0, "b": 2.0, "c": 3.0}), ({"a": 1.0, "b": 2.0, "c": 3.0}, equal)):
        assert OrderAgreement.of(means, people, {}, {}) == OrderAgreement(None, None, [], 3, [], 0)


# --- on the labels of TREC RAG 2025, which people and a model gave ------------------------------------

MEASURES = ["nDCG@10", "P(rel=2)@5"]


@pytest.fixture
def rag25(data):
    """Return people's labels of 15 queries, a model's of all, and five runs that follow both."""
    folder = data / "outside" / "rag25"
    if not folder.exists():
        pytest.skip(f"{folder} is not there")
    people, model = (pm.read_qrels(folder / f"{name}.qrels.gz") for name in ("human", "llm"))
    people, rng = {query: people[query] for query in [*people][:15]}, np.random.default_rng(0)
    runs = {
        f"r{i}": {
            q: {d: (i % 2) * g + noise * rng.normal() + people.get(q, docs)[d] for d, g in docs.items()}
            for q, docs in model.items()
        }
        for i, noise in enumerate((1.0, 1.2, 1.6, 2.4, 2.4))
    }
    return people, model, runs


def exchanged(ours, theirs):
    """Return the pairs of runs whose means are the other way round, the higher by ours first."""
    pairs = [(a, b) if ours[a] > ours[b] else (b, a) for a, b in combinations(ours, 2)]
    return {(a, b) for a, b in pairs if (ours[a] - ours[b]) * (theirs[a] - theirs[b]) < 0}


def verdicts(result, number):
    """Return the verdict on each pair of runs."""
    words = {1: "better", 0: "open", -1: "worse"}
    tests = {(row.run, row.baseline): row.tests["randomization"] for row in result.rows_of(number)}
    return {pair: words[test.direction * (test.adjusted < 0.05)] for pair, test in tests.items()}


@pytest.mark.parametrize("baseline", [None, "r1"])
def test_on_the_trec_rag_track_orders_are_those_of_the_means_and_verdicts_those_of_two_comparisons(
    rag25, baseline
):
    people, model, runs = rag25
    result = pm.compare(model, runs, MEASURES, baseline, human=people, resamples=2000)
    assert (result.orders.queries, result.orders.runs, result.orders.reason) == (15, 5, "")
    both = {query: model[query] for query in people}, people
    compared = [pm.compare(qrels, runs, MEASURES, baseline, resamples=2000) for qrels in both]
    means = [{run: pm.calc_aggregate(MEASURES, qrels, runs[run]) for run in runs} for qrels in both]
    for number, order in enumerate(result.orders.of_measures):
        measure = result.measures[number]
        ours, theirs = ({run: round(float(each[run][measure]), 12) for run in runs} for each in means)
        assert order.tau_b == pytest.approx(stats.kendalltau([*ours.values()], [*theirs.values()]).statistic)
        assert order.tau_ap == pytest.approx(tau_ap(*(np.array([*m.values()]) for m in (ours, theirs))))
        assert (set(order.exchanged), order.pairs) == (exchanged(ours, theirs), 10)
        before, after = (verdicts(each, number) for each in compared)
        changed = [(*pair, said, after[pair]) for pair, said in before.items() if said != after[pair]]
        assert (order.changed, order.verdicts) == (changed, len(before))
    n_exchanged = sum(len(order.exchanged) for order in result.orders.of_measures)
    assert n_exchanged > 0 < sum(len(order.changed) for order in result.orders.of_measures)
    said = f"On the 15 queries that people judged, by their labels {n_exchanged} of 20 pairs"
    assert any(each.startswith(said) for each in result.report().finding)


# --- what is said -----------------------------------------------------------------------------------

QUERIES = [f"q{i // 2}_{i % 2}" for i in range(24)]
RUNS = {first: {q: {first: 1.0} for q in QUERIES} for first in "xyz"}
"""Each run has one document, after which it is named."""


def labels(relevant, queries=QUERIES):
    """Return qrels in which of each three queries so many have x, y and z relevant."""
    return {q: {d: int(i % 3 < relevant[d]) for d in "xyz"} for i, q in enumerate(queries)}


MODEL = {"x": 3, "y": 1, "z": 0}


def compared(people, n=24, runs=RUNS, **options):
    return pm.compare(labels(MODEL), runs, "P@1", human=labels(people, QUERIES[:n]), resamples=999, **options)


def said(result):
    return [each for each in result.report().finding if "people judged" in each]


@pytest.mark.parametrize(
    ("people", "options", "expected"),
    [
        (MODEL, {}, "no pair of runs changes places, and no verdict changes."),
        (
            {"x": 1, "y": 3, "z": 0},
            {},
            "1 of 3 pairs of runs (x and y on P@1) changes places, and "
            "1 of 3 verdicts (y against x on P@1 from worse to better) changes.",
        ),
        (
            {"x": 3, "y": 0, "z": 0},
            {"baseline": "x"},
            "no pair of runs changes places, and no verdict changes.",
        ),
        (
            {"x": 0, "y": 0, "z": 3},
            {"baseline": "y"},
            "2 of 3 pairs of runs (x and z on P@1 and y and z on P@1) change places, and 2 of 2 verdicts "
            "(x against y on P@1 from better to open and z against y on P@1 from worse to better) change.",
        ),
        (MODEL, {"tests": ()}, "no pair of runs changes places."),
    ],
    ids=["the same", "exchanged", "equal by people", "both", "no test"],
)
def test_what_changes_by_the_labels_of_people_is_said_and_where_nothing_does(people, options, expected):
    found = said(compared(people, **options))
    assert found == [f"On the 24 queries that people judged, by their labels {expected}"]


def test_of_two_runs_or_without_people_nothing_is_said():
    two = compared(MODEL, runs={name: RUNS[name] for name in "xy"})
    without = pm.compare(labels(MODEL), RUNS, "P@1")
    for result in (two, without):
        assert (result.orders, said(result)) == (None, [])
        assert "Order of the runs" not in str(result)
        assert json.loads(result.to("json"))["orders"] is None


@pytest.mark.parametrize(
    ("n", "options", "units"),
    [
        (10, {}, ""),
        (9, {}, "9 queries"),
        (20, {"clusters": "(.*)_"}, ""),
        (18, {"clusters": "(.*)_"}, "18 queries (9 clusters)"),
    ],
)
def test_on_few_queries_nothing_is_said_of_the_order_but_why(n, options, units):
    result = compared(MODEL, n, **options)
    text = " ".join(str(result).split())
    assert bool(said(result)) == (not units) == ("tau-b" in text)
    why = f"are not compared: people judged all documents of {units}, and on fewer than 10 both orders"
    assert (why in text) == bool(units) == bool(json.loads(result.to("json"))["orders"]["reason"])


def test_queries_of_which_people_judged_parts_do_not_count():
    people = labels(MODEL)
    del people["q0_0"]["z"]
    result = pm.compare(labels(MODEL), RUNS, "P@1", human=people, resamples=999)
    assert (result.orders.queries, len(result.orders.of_measures)) == (23, 1)
    for docs in people.values():
        docs.pop("z", None)
    result = pm.compare(labels(MODEL), RUNS, "P@1", human=people, resamples=999)
    assert (result.orders.queries, result.orders.of_measures) == (0, [])


def test_the_table_and_the_json_have_each_measure():
    result = pm.compare(labels(MODEL), RUNS, ["P@1", "RR"], human=labels({"x": 1, "y": 3, "z": 0}))
    content = json.loads(result.to("json"))["orders"]
    assert [each["measure"] for each in content["measures"]] == ["P@1", "RR"]
    assert content["measures"][0]["exchanged"] == [["x", "y"]]
    assert content["measures"][1]["changed"] == [["y", "x", "worse", "better"]]
    rows = [line.split() for line in str(result).splitlines() if line.startswith(("P@1 ", "RR "))]
    assert ["P@1", "0.333", "0.000", "1", "of", "3", "1", "of", "3"] in rows
