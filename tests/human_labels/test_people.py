"""People's labels of a sample: agreement by hand, corrected means, and what is said of both."""

import json
import re
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from commands import run_cli
from effort import effort
from scipy import stats
from simulations import people as simulation

import permed_measures as pm
from permed_measures.comparison.findings import findings
from permed_measures.engine.judgments import Judgments
from permed_measures.human_labels.agreement import Agreement
from permed_measures.human_labels.corrected import FEW_CHANGED, Corrected, People, estimate
from permed_measures.human_labels.methods import corrected_by_people


def table(*rows):
    return Agreement(np.arange(float(len(rows))), np.array(rows, float))


def test_agreement_is_that_of_tables_worked_by_hand():
    """For 3 grades: 14 of 20 agree; by chance (6·8 + 8·7 + 6·5)/20 = 6.7 would."""
    found = table([5, 1, 0], [2, 5, 1], [1, 1, 4])
    assert (found.n, found.agreed, found.higher, found.lower) == (20, 0.7, 0.2, 0.1)
    assert found.kappa == pytest.approx((14 - 6.7) / (20 - 6.7))
    squared = 6 * 7 / 20 + 8 * 8 / 20 + 8 * 5 / 20 + 6 * 7 / 20 + 4 * (6 * 5 / 20 + 6 * 8 / 20)
    assert found.quadratic_kappa == pytest.approx(1 - (1 + 2 + 1 + 1 + 4 * 1) / squared)
    # labels: 14, 15 and 11, so 14.5, 13 and 27.5 lie between 0 and 1, 1 and 2, 0 and 2
    between = {(0, 1): 14.5**2, (1, 2): 13**2, (0, 2): 27.5**2}
    apart = 3 * between[0, 1] + 2 * between[1, 2] + 1 * between[0, 2]
    expected = (14 * 15 * between[0, 1] + 15 * 11 * between[1, 2] + 14 * 11 * between[0, 2]) / 39
    assert found.alpha == pytest.approx(1 - apart / expected)


def test_agreement_of_published_tables():
    assert table([5, 1], [3, 1]).alpha == pytest.approx(0.095, abs=5e-4)  # Krippendorff 2011, section B
    assert table([20, 5], [10, 15]).kappa == 0.4  # Wikipedia, Cohen's kappa
    assert table([0, 1], [0, 0]).kappa == table([0, 1], [0, 0]).alpha == 0
    assert table([4, 0], [0, 0]).kappa is table([4]).alpha is table([4]).quadratic_kappa is None


def test_the_estimate_is_cochrans_regression_estimator():
    rng = np.random.default_rng(0)
    ours, sampled = rng.normal(size=40), np.arange(40) % 3 == 0
    people = 0.5 * ours + rng.normal(size=40)
    slope, intercept = np.polyfit(ours[sampled], people[sampled], 1)
    found = estimate(ours, people, sampled, 0.95)
    assert found.weight == pytest.approx(slope)
    assert found.value == pytest.approx(intercept + slope * ours.mean())
    rest = people[sampled] - slope * ours[sampled]
    half = 2.178813 * np.sqrt(rest.var() * 14 / 12 * (1 / 14 - 1 / 40))  # Student's t with 12 degrees
    assert found.interval == pytest.approx((found.value - half, found.value + half), rel=1e-6)
    half = 2.160369 * np.sqrt(people[sampled].var(ddof=1) * (1 / 14 - 1 / 40))
    assert np.ptp(found.alone) == pytest.approx(2 * half, rel=1e-6)


@pytest.mark.parametrize(("n", "more"), [(3, 1), (5, 5), (14, 13), (39, 1), (40, 0)])
def test_to_halve_an_interval_takes_the_first_number_of_units_of_which_it_has_half_the_width(n, more):
    """Student's t of a few units falls faster than their root: of three, one more is enough."""
    rng = np.random.default_rng(0)
    ours = rng.normal(size=40)
    people, sampled = 0.5 * ours + rng.normal(size=40), np.arange(40) < n
    found = estimate(ours, people, sampled, 0.95)
    widths = [stats.t.ppf(0.975, m - 2) * np.sqrt(1 / m - 1 / 40) for m in range(n, 41)]
    assert found.more == next(m for m, width in enumerate(widths) if width <= widths[0] / 2) == more


def test_to_halve_the_interval_of_a_proportion_takes_its_two_added_units_into_account():
    people = np.array([0.0, 1] * 100)
    found = estimate(np.full(200, 0.5) * people, people * 0.5, np.arange(200) < 20, 0.95)
    widths = [np.sqrt(2 * 0.25 / (m + 2) ** 2 * (1 - m / 200)) for m in range(20, 201)]
    assert found.more == next(m for m, width in enumerate(widths) if width <= widths[0] / 2)


@pytest.mark.parametrize("sign", [1, -1])
def test_labels_that_say_nothing_or_the_opposite_do_not_count(sign):
    people = np.array([0.1, 0.5, 0.3, 0.9, 0.2, 0.4])
    ours = np.full(6, 0.5) if sign > 0 else 1 - people
    found = estimate(ours, people, np.arange(6) < 4, 0.95)
    assert (found.weight, found.value) == (0, pytest.approx(people[:4].mean()))


def test_without_disagreement_a_proportion_has_an_interval_and_other_values_have_none():
    ours, sampled = np.array([0.0, 1] * 10), np.arange(20) < 8
    found = estimate(ours, ours, sampled, 0.95)
    assert found.interval[0] < found.value == 0.5 < found.interval[1]
    found = estimate(ours / 2 + 0.1, ours / 2 + 0.1, sampled, 0.95)
    assert (found.interval, found.more, found.reason) == (None, None, "no variance in the sample")
    assert estimate(ours, ours, np.arange(20) < 2, 0.95).reason == "too few labels of people: 2"


@pytest.mark.parametrize("signed", [False, True])
def test_proportions_and_their_differences_have_bonett_and_prices_interval(signed):
    rng = np.random.default_rng(2)
    ours, people = (0.5 * rng.integers(-signed, 2, 60) for _ in range(2))
    found = estimate(ours, people, np.arange(60) < 20, 0.95)
    rest = (people - found.weight * ours)[:20]
    square = ((rest - rest.mean()) ** 2).sum() + 2 * 0.5**2  # one unit too high, one too low
    half = 1.959964 * np.sqrt(square / 22 / 22 * (1 - 20 / 60))
    assert found.interval == pytest.approx((found.value - half, found.value + half), rel=1e-6)


@pytest.mark.parametrize("first", range(0, effort(200, 2000), 100))
def test_estimates_and_intervals_are_values_that_some_labels_give(first):
    """By all labels of the others the mean is between two ends; beyond these there is no estimate."""
    for seed in range(first, first + 100):
        assert_estimated_within_the_possible(seed)


def assert_estimated_within_the_possible(seed):
    rng = np.random.default_rng(seed)
    n, total, signed = rng.integers(3, 12), 12, seed % 2
    values = rng.random((2, total)) if seed % 3 else rng.integers(0, 2, (2, total)) * 1.0
    ours, people = values[0] ** 0.3, values[1] ** 3
    sampled = np.isin(np.arange(total), np.argsort(ours + rng.random(total))[:n])
    low, high = (people.copy() for _ in range(2))
    low[~sampled], high[~sampled] = -signed, 1
    free = estimate(ours, people, sampled, 0.95)
    found = estimate(ours, people, sampled, 0.95, -signed, 1)
    assert (found.value is None) == (not low.mean() - 1e-12 <= free.value <= high.mean() + 1e-12)
    if found.value is None:
        said = found.reason.partition("no labels of the other queries give the estimate")[2]
        width = np.ptp(free.interval) / 2 if free.interval else 0
        beyond = max(low.mean() - free.value, free.value - high.mean())
        surely = ", nor any value of its interval: the sample is not random"
        assert said == (surely if beyond > width else ": by chance, or since the sample is not random")
        assert found.interval is found.alone is found.more is None
    elif found.interval:
        for a, b in (found.interval, found.alone):
            assert low.mean() - 1e-12 <= a <= b <= high.mean() + 1e-12
        assert found.interval[0] <= found.value <= found.interval[1]
        cut = np.clip(free.interval, low.mean(), high.mean())
        assert found.interval == pytest.approx(tuple(cut))


def chosen_queries():
    """Return labels of 40 queries by a model and by people, and a run: the model is low on the first 12."""
    docs = [f"d{number}" for number in range(10)]
    n_relevant = {f"q{i:02}": (3 if i < 12 else 9) + i % 2 for i in range(40)}
    model = {q: {d: int(k < n) for k, d in enumerate(docs)} for q, n in n_relevant.items()}
    people = {q: {d: int(k < 10 - n % 2) for k, d in enumerate(docs)} for q, n in n_relevant.items()}
    run = {q: {d: -float(k) for k, d in enumerate(docs)} for q in model}
    return model, people, run


NOT_RANDOM = (
    "no labels of the other queries give the estimate, nor any value of its interval: "
    "the sample is not random"
)


@pytest.mark.parametrize(("queries", "is_random"), [(range(12), False), (range(0, 40, 3), True)])
def test_labels_of_chosen_queries_give_no_impossible_number(queries, is_random):
    model, people, run = chosen_queries()
    sample = {f"q{i:02}": people[f"q{i:02}"] for i in queries}
    result = pm.uncertainty(model, {"mine": run}, "P@10", human=sample)
    [row] = result.rows
    text = " ".join(str(result).split())
    assert (f"—: {NOT_RANDOM}." in text) == (row.people.value is None) == (not is_random)
    assert ("Corrected by people's labels, P@10" in text) == is_random
    if is_random:
        assert row.people.interval[0] < 0.95 < row.people.interval[1]
    runs = {"mine": run, "none": {"q00": {"d9": 1.0}}}
    [row] = pm.compare(model, runs, "P@10", "none", human=sample).rows
    assert (row.people.reason == NOT_RANDOM) == (row.people.interval is None) == (not is_random)


@pytest.mark.parametrize(("judged", "is_random"), [("a", False), ("ab", True)])
def test_documents_of_one_run_alone_give_no_impossible_difference(judged, is_random):
    """Each document of a found relevant counts 1/10: as all 20 of a query were so, it would be 2 in all."""
    documents = {run: {f"{run}{n}": float(-n) for n in range(10)} for run in "ab"}
    queries = [f"q{i:02}" for i in range(8)]
    model = {q: dict.fromkeys([*documents["a"], *documents["b"]], 0) for q in queries}
    numbers = {q: range(i % 5, 10, 5) for i, q in enumerate(queries)}
    sample = {q: {f"{run}{n}": 1 for run in judged for n in numbers[q]} for q in queries}
    runs = {run: dict.fromkeys(queries, docs) for run, docs in documents.items()}
    [row] = pm.compare(model, runs, "P@10", "b", human=sample).rows
    assert (row.people.unit, row.people.units) == ("document", 160)
    assert (row.people.reason, row.people.value) == (
        ("", pytest.approx(0)) if is_random else (NOT_RANDOM.replace("queries", "documents"), None)
    )


# --- of qrels and runs ---


def made(n_queries=6, n_documents=4):
    """Return qrels by people and by a model, and two runs: one that follows people, and its reverse."""
    people, model, scores = simulation.made(np.random.default_rng(1), "biased", n_queries, n_documents)
    runs = {"a": simulation.as_run(scores), "b": simulation.as_run(-scores)}
    return simulation.as_qrels(people), simulation.as_qrels(model), runs


def some(qrels, n):
    return {query: qrels[query] for query in [*qrels][:n]}


def test_with_all_labels_of_people_the_mean_is_theirs():
    people, model, runs = made()
    for row in pm.uncertainty(model, runs["a"], ["nDCG@3", "AP", "P@2"], human=people).rows:
        [truth] = pm.calc_aggregate([row.measure], people, runs["a"]).values()
        assert (row.people.value, *row.people.interval) == pytest.approx([truth] * 3)
        assert (row.people.sampled, row.people.units, row.people.unit) == (6, 6, "query")


def test_over_all_samples_the_mean_is_unbiased_where_labels_do_not_count():
    """All ways to judge 3 of 6 queries, by labels of the qrels that are all the same."""
    people, _, runs = made()
    model = {query: dict.fromkeys(docs, 1) for query, docs in people.items()}
    samples = [{query: people[query] for query in chosen} for chosen in combinations(people, 3)]
    found = [pm.uncertainty(model, runs["a"], "P@2", human=sample).rows[0].people for sample in samples]
    [truth] = pm.calc_aggregate(["P@2"], people, runs["a"]).values()
    assert np.mean([each.value for each in found]) == pytest.approx(truth)


def test_parts_of_queries_are_enough_for_precision_only():
    people, model, runs = made(20, 6)
    sample = {query: {"d1": docs["d1"], "d3": docs["d3"], "x": 1} for query, docs in people.items()}
    result = pm.uncertainty(model, runs, ["P@6", "nDCG@6"], human=sample)
    precision, ndcg = (row.people for row in result.rows[:2])
    assert (precision.unit, precision.sampled, precision.units) == ("document", 40, 120)
    assert precision.interval[0] < precision.value < precision.interval[1]
    assert (ndcg.value, ndcg.sampled, ndcg.units) == (None, 0, 0)
    text = " ".join(str(result).split())
    assert "—: people judged parts of queries, which is enough for P@k only." in text
    assert "a simple random sample of the documents within the cutoff." in text
    assert result.notes == ["people: 20 documents left out that the qrels do not judge"]


@pytest.mark.parametrize(
    ("up", "shares"), [(1, "50 % a higher one and 0 %"), (-1, "0 % a higher one and 50 %")]
)
def test_which_way_the_labels_lean_is_said(up, shares):
    people = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1, "b": 1}}
    model = {query: {"a": 1 + up, "b": 1} for query in people}
    text = " ".join(str(pm.uncertainty(model, {"q1": {"a": 1.0}}, "P@1", human=people)).split())
    assert f"Of 4 documents that people judged too, 50 % have the same grade in the qrels, {shares}" in text


def test_labels_below_0_are_counted_and_said():
    model = {q: {"a": 1, "b": -1, "c": -1} for q in ("q1", "q2", "q3")}
    people = {q: {"a": 1, "b": 1, "c": 0} for q in model}
    result = pm.uncertainty(model, {"q1": {"a": 1.0}}, "P@1", human=people)
    text = " ".join(str(result).split())
    assert (
        "Of 9 documents that people judged too, 6 have a grade below 0, which is left out; of the others "
        "100 % have the same grade in the qrels, 0 % a higher one and 0 % a lower one."
    ) in text
    assert json.loads(result.to("json"))["agreement"]["left_out"] == 6
    text = str(pm.uncertainty(people, {"q1": {"a": 1.0}}, "P@1", human=people))
    assert "below 0" not in text


def test_a_kappa_that_prints_as_0_has_no_sign():
    people, model, runs = made()
    found = pm.uncertainty(model, runs["a"], "P@1", human=people)
    below = table([2499, 2500], [2501, 2500])
    assert -0.0005 < below.kappa < 0
    assert "Cohen's kappa 0.000, with" in " ".join(str(replace(found, agreement=below)).split())


def test_it_is_said_which_mean_the_labels_of_people_change_most():
    people, model, runs = made()
    result = pm.uncertainty(model, runs, ["nDCG@3", "P@2"], human=some(people, 4))
    found = {f"{row.measure} of {row.run}": (row.value, row.people.value) for row in result.rows}
    most = max(found, key=lambda name: abs(found[name][0] - found[name][1]))
    said = "Corrected by people's labels, {} changes most: from {:.4f} to {:.4f}."
    assert result.report().finding[-1] == said.format(most, *found[most])
    same = pm.uncertainty(model, runs, ["nDCG@3", "P@2"], human=some(model, 4))
    assert not any("people" in each for each in same.report().finding)


@pytest.mark.parametrize(
    ("n_changed", "n_sampled", "measure", "said"),
    [
        *((9, 9, "nDCG@3", True), (9, 29, "nDCG@3", True), (10, 10, "nDCG@3", False)),
        *((10, 29, "nDCG@3", False), (9, 30, "nDCG@3", False), (3, 29, "P@1", False)),
    ],
)
@pytest.mark.parametrize("command", ["uncertainty", "compare"])
def test_intervals_of_few_changed_values_are_marked(command, n_changed, n_sampled, measure, said):
    """Not where people judged all 30 queries, nor where all values are 0 or 1."""
    queries = [f"q{i:02}" for i in range(30)]
    model = {q: {"a": 2, "b": 1, "c": i % 2} for i, q in enumerate(queries)}
    people = {q: ({**docs, "a": 0} if i < n_changed else docs) for i, (q, docs) in enumerate(model.items())}
    runs = {
        "mine": {q: {"a": 3.0, "b": 2.0 + i % 3, "c": 1.0} for i, q in enumerate(queries)},
        "none": {"q00": {"c": 1.0}},
    }
    how = {"baseline": "none"} if command == "compare" else {}
    result = getattr(pm, command)(model, runs, measure, human=some(people, n_sampled), **how)
    text = " ".join(str(result).split())
    assert ("people's labels change the values of fewer than 10 sampled queries" in text) == said
    row = next(row for row in result.rows if row.run == "mine")
    assert row.people.few_changed == said
    assert row.people.binary == (measure == "P@1")
    kind = (
        "the adjusted Wald interval" if measure == "P@1" else "Student's t with two degrees of freedom fewer"
    )
    assert [kind in result.methods(), "a finite population" in result.methods()] == [True, n_sampled < 30]
    digits = "{:+.4f} {:+.4f}" if command == "compare" else "{:.4f} {:.4f}"
    assert (digits.format(*row.people.interval) + "*" in text) == said


@pytest.mark.parametrize("command", ["uncertainty", "compare"])
def test_the_command_says_what_the_function_says(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people, model, runs = made(12)
    for name, qrels in (("people", some(people, 8)), ("model", model)):
        pm.write_qrels(qrels, name)
    for name, run in runs.items():
        pm.write_run(run, name)
    result = getattr(pm, command)("model", {"a": "a", "b": "b"}, "nDCG@3", human="people")
    arguments = (command, "model", "a", "b", "-m", "nDCG@3", "--human", "people")
    assert run_cli(*arguments)[0].rstrip("\n") == str(result)
    content = json.loads(run_cli(*arguments, "--format", "json")[0])
    assert content["agreement"]["kappa"] == result.agreement.kappa
    found = [row.people for row in result.rows]
    assert [row["people"]["interval"] for row in content["rows"]] == [list(each.interval) for each in found]
    assert result.to_polars()["people_alone_low"].to_list() == [each.alone[0] for each in found]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"human": {"q9": {"a": 1}}}, "human has no document that the qrels judge with a grade of 0 or more"),
        ({"human": {"q1": {"a": 1}}, "label_error": 0.1}, "give human or label_error, not both"),
    ],
)
def test_errors(options, message):
    with pytest.raises(pm.InputError, match=re.escape(message)):
        pm.uncertainty({"q1": {"a": 1}}, {"q1": {"a": 1.0}}, "P@1", **options)


def first_of(people, runs, depth):
    """Return people's labels of what one of the runs has within the depth, of every third query."""
    tops = {q: {d for run in runs for d in sorted(run[q], key=run[q].get)[-depth:]} for q in people}
    return {q: {d: people[q][d] for d in tops[q]} for q in [*people][::3]}


@pytest.mark.parametrize(("depth", "unit"), [(3, "query"), (2, "document")])
def test_all_documents_within_the_cutoff_and_no_deeper_are_a_sample_of_queries(depth, unit):
    people, model, runs = made(30, 8)
    sample = first_of(people, [runs["a"]], depth)
    [row] = pm.uncertainty(model, runs["a"], "P@3", human=sample).rows
    assert row.people.unit == unit
    [first] = pm.uncertainty(model, runs["a"], "P@1", human=first_of(people, [runs["a"]], 1)).rows
    assert (first.people.unit, first.people.sampled, first.people.units) == ("document", 10, 30)
    if unit == "query":
        ours, theirs = (
            np.array([value.value for value in pm.iter_calc(["P@3"], qrels, runs["a"])])
            for qrels in (model, people)
        )
        expected = estimate(ours, theirs, np.arange(30) % 3 == 0, 0.95)
        assert (row.people.value, *row.people.interval) == pytest.approx((expected.value, *expected.interval))
        assert (row.people.sampled, row.people.units) == (10, 30)


# --- with two runs ---


@pytest.mark.parametrize("left_out", [[], ["d0"]], ids=["whole queries", "documents"])
def test_with_all_labels_of_people_the_difference_is_theirs(left_out):
    """A document that both runs have within the cutoff, or neither, does not count: d0 has no label."""
    people, model, runs = made(8)
    for docs in (*runs["a"].values(), *runs["b"].values()):
        docs |= dict.fromkeys(left_out, 100.0)
    sample = {query: {d: g for d, g in docs.items() if d not in left_out} for query, docs in people.items()}
    measures = ["P@2", "P@3"] if left_out else ["P@2", "nDCG@3", "AP"]
    units = 8
    for row in pm.compare(model, runs, measures, "a", human=sample).rows:
        [theirs] = pm.compare(people, runs, [row.measure], "a").rows
        assert (row.people.value, *row.people.interval) == pytest.approx([theirs.difference] * 3)
        assert (row.people.sampled, row.people.units) == (units, units)
        assert row.difference != theirs.difference


def test_a_difference_is_estimated_by_the_differences_of_the_queries():
    people, model, runs = made(12)
    sample = some(people, 7)
    [row] = pm.compare(model, runs, "nDCG@3", human=sample).rows
    ours, theirs = (
        np.array([value.value for value in pm.iter_calc(["nDCG@3"], qrels, runs["b"])])
        - np.array([value.value for value in pm.iter_calc(["nDCG@3"], qrels, runs["a"])])
        for qrels in (model, people)
    )
    expected = estimate(ours, theirs, np.arange(12) < 7, 0.95)
    assert (row.people.value, row.people.weight) == pytest.approx((expected.value, expected.weight))
    assert row.people.interval == pytest.approx(expected.interval)


def test_intervals_of_several_differences_are_simultaneous_unless_nothing_is_corrected():
    people, model, runs = made(12)
    sample = some(people, 7)
    measures = ["nDCG@3", "AP", "RR", "P@1"]
    corrected = pm.compare(model, runs, measures, human=sample)
    alone = pm.compare(model, runs, measures, human=sample, correction="none", level=1 - 0.05 / 4)
    assert [row.people for row in corrected.rows] == [row.people for row in alone.rows]
    assert "95% CI: simultaneous (Bonferroni) for 4 differences." in " ".join(str(corrected).split())
    assert "Bonferroni" not in str(alone)


QUERIES = [f"q{i:02}" for i in range(20)]
RUNS = {name: {q: {"x": -y, "y": y} for q in QUERIES} for name, y in (("new", 1.0), ("old", -1.0))}


OPPOSITE = "1 of 1 difference (old against new on P@1) has the opposite sign"
OPEN = "1 of 1 significant difference (old against new on P@1) has 0 inside the 95% CI"


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (
            [(0, 1)] * 18 + [(1, 0)] * 2,
            f"{OPPOSITE}, 1 of them surely (0 is outside the 95% CI)",
        ),
        ([(0, 1), (1, 0)] * 10, f"{OPPOSITE}, and {OPEN}"),
        ([(1, 0), (0, 1)] * 10, OPEN),
        ([(1, 0)] * 18 + [(0, 1)] * 2, ""),
    ],
    ids=["surely opposite", "opposite", "open", "the same"],
)
def test_it_is_said_where_people_turn_a_difference_round_or_leave_it_open_and_never_otherwise(labels, said):
    model = {query: {"x": 1, "y": 0} for query in QUERIES}
    people = {q: {"x": x, "y": y} for q, (x, y) in zip(QUERIES, labels, strict=True)}
    result = pm.compare(model, RUNS, "P@1", "new", human=some(people, 19))
    sentences = [each for each in result.report().finding if "people" in each]
    assert sentences == ([f"Corrected by people's labels, {said}."] if said else [])
    assert result.rows[0].difference == 1


@pytest.mark.parametrize(
    ("value", "interval", "said"),
    [
        (-0.5, (-0.9, 0.0), f"{OPPOSITE}, and {OPEN}"),
        (-0.5, None, OPPOSITE),
        (0.2, (0.0, 0.5), OPEN),
        (0.2, (0.01, 0.5), ""),
    ],
)
def test_an_interval_that_ends_at_0_has_0_inside_and_without_one_nothing_is_sure(value, interval, said):
    model = {query: {"x": 1, "y": 0} for query in QUERIES}
    result = pm.compare(model, RUNS, "P@1", "new", human=model)
    [row] = result.rows
    row = replace(row, people=replace(row.people, value=value, interval=interval))
    sentences = [each for each in findings(replace(result, rows=[row])) if "people" in each]
    assert sentences == ([f"Corrected by people's labels, {said}."] if said else [])


def test_what_was_not_significant_is_not_said_to_be_open():
    model = {query: {"x": i % 2, "y": 1 - i % 2} for i, query in enumerate(QUERIES)}
    model["q19"] = {"x": 1, "y": 0}
    result = pm.compare(model, RUNS, "P@1", "new", human=some(model, 10))
    low, high = result.rows[0].people.interval
    assert low < 0 < high
    assert not any("people" in each for each in result.report().finding)


def test_differences_by_group_are_not_corrected():
    people, model, runs = made(12)
    result = pm.compare(model, runs, "nDCG@3", human=people, by=lambda query: int(query[1:]) % 2)
    assert result.to_polars()["people_value"].to_list() == [None, None, result.rows[-1].people.value]


def test_a_difference_by_whole_queries_within_the_cutoff_is_that_of_queries():
    """A query without a document that one run alone has there adds 0, and is no unit."""
    people, model, runs = made(30, 8)
    runs["b"] |= {q: runs["a"][q] for q in [*runs["a"]][:12]}
    [row] = pm.compare(model, runs, "P@3", "a", human=first_of(people, runs.values(), 3)).rows
    assert (row.people.unit, row.people.sampled, row.people.units) == ("query", 6, 18)
    [all_] = pm.compare(model, runs, "P@3", "a", human={q: dict(docs) for q, docs in people.items()}).rows
    [theirs] = pm.compare(people, runs, "P@3", "a").rows
    assert all_.people.value == pytest.approx(theirs.difference)


# --- how often the intervals hold ---


@pytest.mark.parametrize("kind", ["biased", "blind"])
@pytest.mark.parametrize(
    ("n", "whole"), [(50, False), pytest.param(200, False, marks=pytest.mark.thorough), (50, True)]
)
@pytest.mark.parametrize("pair", [False, True], ids=["mean", "difference"])
def test_intervals_hold_what_people_would_have_found(kind, n, whole, pair):
    rng, experiments = np.random.default_rng(0), effort(50, 200)
    measures = ["nDCG@10", "AP@10"] if whole else ["P@10", "P(rel=2)@10"]
    collection = simulation.synthetic(rng, kind, measures, pair)
    held, width = collection.held(rng, n, whole, experiments)
    assert held.min() > 0.95 - 4 * (0.95 * 0.05 / experiments) ** 0.5
    assert (width < 0.95).all() if kind == "biased" else (width < 1.05).all()


@pytest.mark.parametrize("pair", [False, True], ids=["mean", "difference"])
def test_intervals_hold_where_people_judged_the_first_documents_of_some_queries(pair):
    rng, experiments = np.random.default_rng(0), effort(50, 200)
    held, _ = simulation.synthetic(rng, "biased", ["P@10"], pair).held(rng, 50, "first ten", experiments)
    assert held.min() > 0.95 - 4 * (0.95 * 0.05 / experiments) ** 0.5


def test_intervals_hold_less_often_where_few_values_are_changed():
    counts = simulation.held_by_changed(np.random.default_rng(0), 1, 8)
    few, many = (
        sum(each for changed, each in counts.items() if least <= changed <= most)
        for least, most in ((1, 1), (FEW_CHANGED, 200))
    )
    assert few[0] / few[1] < 0.9 < 0.925 < many[0] / many[1]


@pytest.mark.thorough
def test_labels_of_the_trec_rag_track_are_corrected(data):
    """People and UMBRELA judged the same 10,284 documents: the model's labels alone are far off."""
    folder = data / "outside" / "rag25"
    if not folder.exists():
        pytest.skip(f"{folder} is not there")
    rng = np.random.default_rng(0)
    collection = simulation.rag25(rng)
    assert collection.people.agreement.n == 10_284
    assert collection.people.agreement.kappa == pytest.approx(0.233, abs=5e-4)
    assert collection.people.agreement.quadratic_kappa == pytest.approx(0.492, abs=5e-4)
    held, width = collection.held(rng, 200, False, 150)
    assert held.min() > 0.85
    assert width.max() < 1.02
    assert (abs(collection.values[0].mean(axis=1) - collection.truth) > 0.04).any()
    held, _ = simulation.rag25(rng, pair=True).held(rng, 200, False, 150)
    assert held.min() > 0.85


def test_a_query_without_judgments_is_none_that_people_judged():
    qrels = {"all": {"a": 1, "b": 0}, "none": {}, "not": {"a": 1}}
    found = People.of({"all": {"a": 1, "b": 1}}, Judgments.of(qrels))
    assert (found.whole, found.queries.tolist()) == (True, [True, False, False])


@pytest.mark.parametrize(
    ("binary", "sampled", "said"),
    [
        ([False], 5, "Student's t with two degrees of freedom fewer than the sample has units."),
        ([True], 5, "the adjusted Wald interval of proportions [@bonett2012adjusted]."),
        (
            [True, False],
            3,
            "Student's t with two degrees of freedom fewer than the sample has units; the adjusted Wald "
            "interval of proportions [@bonett2012adjusted], where all values are 0 or of one size; the "
            "variance has the correction for a finite population.",
        ),
    ],
)
def test_each_kind_of_interval_is_named_where_it_was_used(binary, sampled, said):
    estimates = [Corrected(0.5, (0.4, 0.6), sampled=sampled, units=5, binary=each) for each in binary]
    assert [*corrected_by_people(estimates, "means", 0.95)][-1].endswith(f"95% confidence intervals: {said}")
