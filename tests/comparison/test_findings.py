"""The sentences that a page begins with, against what the JSON of the comparison has."""

import dataclasses
import random
import re

import pytest
from reporting import loaded, made

from permed_measures.comparison.compare import compare
from permed_measures.comparison.findings import findings
from permed_measures.comparison.plots import panels_of
from permed_measures.comparison.results import Display
from permed_measures.comparison.tables import differences_table, means_table
from permed_measures.measures.headings import headings_of
from permed_measures.results.table import Style

GOOD, BAD = [1] * 12, [4] * 12


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"tests": ()}, "No significance test was run."),
        (
            {"tests": "wilcoxon", "clusters": r"q(\d)"},
            "No significance test that knows of the clusters was run.",
        ),
        ({"tests": "t-test"}, "No difference has a p-value (t-test)."),
    ],
)
def test_without_p_values_no_difference_is_called_significant(options, said):
    assert findings(made({"a": GOOD, "b": BAD}, baseline="b", **options)) == [
        "a has the highest RR: 1.0000.",
        "That is 0.7500 above b.",
        said,
    ]


def test_p_values_are_named_by_their_correction():
    found = findings(made({"old": [2] * 12, "new": GOOD, "bad": BAD}, baseline="old"))
    assert found[1] == "That is 0.5000 above old, a significant difference (max-T-adjusted p < 0.001)."
    assert found[2] == (
        "Significantly better than old (max-T-adjusted p < 0.05): 1 of 2 runs on RR. "
        "Significantly worse: 1 of 2 runs on RR."
    )


def test_the_margin_has_the_interval_of_the_run_minus_the_baseline():
    ranks = {"old": [4] * 12, "new": [1, 2, 3] * 4}
    result = made(ranks, baseline="old")
    low, high = result.rows[0].interval
    assert findings(result)[1] == (
        f"That is {11 / 18 - 1 / 4:.4f} above old, a significant difference "
        f"(95% CI [{low:+.4f}, {high:+.4f}], p < 0.001)."
    )
    pairs = made({"new": ranks["new"], "old": ranks["old"]}, baseline="new")
    assert not any("CI" in sentence for sentence in findings(pairs))


# --- what each sentence claims, computed from the JSON -----------------------------------------------


def names(text):
    return set(re.split(", | and ", text))


def shares(text, measures):
    """Return (how many, of how many) by measure."""
    assert "any measure" not in text or (text[:5] == "0 of " and len(measures) > 1)
    text = text.replace("any measure", ", ".join(measures))
    whole = re.fullmatch(r"(\d+) of (\d+) (?:other )?runs? on (.+)", text)
    parts = [whole.groups()] if whole else re.findall(r"(\d+) of (\d+) (?:other )?runs? \((.+?)\)", text)
    return {measure: (int(k), int(n)) for k, n, on in parts for measure in names(on)}


def claimed(sentences, measures):
    """Read the sentences."""
    claims = {"highest": {}, "ahead": {}, "alone": {}}
    for text in sentences:
        if found := re.fullmatch(r"(.+) (?:has|have) the highest (.+): (.+)\.", text):
            claims["highest"][found[2]], claims["mean"] = names(found[1]), found[3]
        elif found := re.fullmatch(r"Highest (.+)\.", text):
            for on, runs in re.findall(r"on ([^:;]+): ([^:;]+)", found[1]):
                assert not names(on) & {*claims["highest"]}
                claims["highest"] |= dict.fromkeys(names(on), names(runs))
        elif found := re.fullmatch(r"That is (\S+) above \w(?:, (a|not a) significant .+)?\.", text):
            claims["above"] = found[1], {"a": True, "not a": False, None: None}[found[2]]
        elif found := re.fullmatch(r"Significantly better .+?: (.+)\. Significantly worse: (.+)\.", text):
            claims["better"], claims["worse"] = (shares(each, measures) for each in found.groups())
        elif found := re.fullmatch(r"No difference is significant \(.*?\)\.", text):
            claims["none"] = True
        elif found := re.fullmatch(r"On (.+) no difference of (\w) is significant \(.*?\)\.", text):
            claims["alone"][found[2]] = names(found[1])
        elif found := re.fullmatch(
            r"(\d+) of (\d+) differences? \(.*\) ha(?:s|ve) no p-value \(.*\)\.", text
        ):
            claims["untested"] = int(found[1]), int(found[2])
        else:
            found = re.fullmatch(r"(\w) is significantly better \(.*?\) than (.+)\.", text)
            claims["ahead"][found[1]] = shares(found[2], measures)
    return claims


def expected(content):
    """Compute the same from the JSON, plainly."""
    runs, test, baseline = content["means"], content["deciding_test"], content["baseline"]
    measures = list(runs[next(iter(runs))])
    means = {m: {run: round(each[m], 12) for run, each in runs.items()} for m in measures}
    highest = {m: {run for run in runs if means[m][run] == max(means[m].values())} for m in measures}

    def tested(measure, run, other):
        """Return the difference run - other, and whether it is significant; None where it is not tested."""
        for row in content["rows"]:
            if row["measure"] == measure and {row["run"], row["baseline"]} == {run, other}:
                p = row["tests"][test]["adjusted"]
                sign = 1 if row["run"] == run else -1
                return sign * row["difference"], None if p is None else p < 0.05
        return 0.0, None

    def share(sign, run, measures=measures):
        """Return of how many others the difference to a run has this sign significantly, by measure."""
        found = {m: [tested(m, other, run) for other in runs if other != run] for m in measures}
        return {
            m: (sum(sign * each > 0 for each, sure in pairs if sure), len(pairs))
            for m, pairs in found.items()
        }

    first, *others = highest[measures[0]]
    claims = {"highest": highest, "mean": f"{means[measures[0]][first]:.4f}", "ahead": {}, "alone": {}}
    p_values = [row["tests"][test]["adjusted"] for row in content["rows"]]
    if None in p_values:
        claims["untested"] = p_values.count(None), len(p_values)
    if baseline and not others and first != baseline:
        difference, sure = tested(measures[0], first, baseline)
        claims["above"] = f"{difference + 0.0:.4f}", sure
    if not any(p is not None and p < 0.05 for p in p_values):
        return {**claims, "none": True}
    if baseline:
        return {**claims, "better": share(1, baseline), "worse": share(-1, baseline)}
    for run in runs:
        if on := [m for m in measures if highest[m] == {run}]:
            found = share(-1, run, on)
            some = any(k for of_sign in (found, share(1, run, on)) for k, _ in of_sign.values())
            claims["ahead" if some else "alone"][run] = found if some else set(on)
    return claims


@pytest.mark.parametrize("seed", range(40))
def test_what_findings_claim_is_what_the_json_has(seed):
    draw = random.Random(seed)
    n_queries, runs = draw.choice([3, 8, 20]), "abcde"[: draw.choice([2, 3, 5])]
    worst = {run: draw.choice([1, 2, 5]) for run in runs}
    result = made(
        {run: [draw.randint(1, worst[run]) for _ in range(n_queries)] for run in runs},
        draw.choice([["RR"], ["RR", "P@1"], ["P@1", "RR", "P@2", "Success@3", "P@5"]]),
        baseline=draw.choice([None, runs[0], runs[-1]]),
        resamples=999,
        tests=draw.choice(["randomization", "t-test"]),
        correction=draw.choice([None, "none"]),
    )
    assert claimed(findings(result), headings_of(result.measures)) == expected(loaded(result))


def test_that_the_highest_is_not_significantly_so_is_said_where_other_differences_are():
    ranks = {"a": [1] * 5 + [2] * 15, "b": [1] * 4 + [2] * 16, "c": [1] * 10 + [5] * 10}
    result = made(ranks, ["RR", "Success@3"])
    assert "On RR no difference of a is significant (max-T-adjusted p < 0.05)." in findings(result)
    assert claimed(findings(result), headings_of(result.measures)) == expected(loaded(result))


# --- a verdict is that of its test -------------------------------------------------------------------


def by_differences(differences, **options):
    """Compare two runs whose values of NumRet differ by these whole numbers, by Wilcoxon's test."""
    old = {f"q{i:02}": {f"d{j}": 1.0 for j in range(20)} for i in range(len(differences))}
    new = {q: {f"d{j}": 1.0 for j in range(20 + n)} for q, n in zip(old, differences, strict=True)}
    qrels = {q: {"d0": 1} for q in old}
    return compare(qrels, {"old": old, "new": new}, "NumRet", **{"tests": "wilcoxon", **options})


RANKS = (
    "Wilcoxon's test compares ranks, not means: it favours the run whose mean is not higher for new against "
    "old on NumRet"
)


@pytest.mark.parametrize(
    ("differences", "mean", "margin", "contradicts"),
    [
        ([1] * 36 + [-10] * 4, "-0.1000", "", True),
        ([1] * 36 + [-6] * 6, "+0.0000", "", True),
        ([1] * 36 + [-1] * 4, "+0.8000", "That is 0.8000 above old, a significant difference", False),
    ],
)
def test_a_verdict_has_the_direction_of_its_test_and_it_is_said_where_the_mean_has_another(
    differences, mean, margin, contradicts
):
    result = by_differences(differences, baseline="old")
    found = findings(result)
    assert result.rows[0].tests["wilcoxon"].direction == 1
    better = (
        "Significantly better than old (p < 0.05): 1 of 1 run on NumRet. Significantly worse: 0 of 1 run on "
    )
    assert f"{better}NumRet." in found
    notes = means_table(result).notes
    assert [note for note in notes if "compares ranks" in note] == [RANKS] * contradicts
    assert any(each.startswith(margin) for each in found)
    assert mean in [cell.text for cell in differences_table(result).rows[0]]
    pairs = by_differences(differences)
    assert [row[2].mark for row in means_table(pairs).rows] == ["", "a"]
    assert [point.marks for point in panels_of(pairs, [0])[0] if point.label == "new"] == ["a"]
    assert [point.outcome for point in panels_of(result, [0])[0]] == ["better"]


def test_the_margin_says_where_the_test_finds_the_other_run_better():
    result = by_differences([-1] * 36 + [10] * 4, baseline="old")
    assert findings(result)[1].startswith(
        "That is 0.1000 above old, but by Wilcoxon's test old is significantly better ("
    )
    drawn = by_differences([-1] * 36 + [10] * 4, baseline="old", tests="randomization")
    assert not any("but by" in sentence for sentence in findings(drawn))
    assert not any("compares ranks" in note for note in means_table(drawn).notes)


@pytest.mark.parametrize("test", ["randomization", "t-test"])
def test_a_test_of_means_is_not_said_to_compare_ranks_however_small_the_mean(test):
    """Differences of 1e-10 are significant, and no larger than the rounding noise of a statistic."""
    qrels = {f"q{i:02}": {"a": 1} for i in range(40)}
    old = {q: {"b": 2.0, "a": 1.0} for q in qrels}
    new = {q: {"a": 1.0} if i % 4 else old[q] for i, q in enumerate(qrels)}
    result = compare(qrels, {"old": old, "new": new}, "GradedAP(gains={1:2e-10})", baseline="old", tests=test)
    assert result.rows[0].outcome == 1
    assert not any("compares ranks" in note for note in means_table(result).notes)


def test_a_contradiction_is_that_of_its_group():
    result = by_differences([1] * 36 + [-10] * 4 + [1] * 40, by=lambda query: int(query[1:]) // 40)
    assert [note for note in means_table(result).notes if "compares ranks" in note] == [f"{RANKS} (group 0)"]


# --- decisions go by values, whatever is printed -----------------------------------------------------


@pytest.mark.parametrize("digits", [None, 1])
def test_digits_decide_nothing(digits):
    """Means of 0.3333 and 0.3417: with one digit both are 0.3."""
    ranks = {"a": [1] * 40 + [2] * 80, "b": [1] * 41 + [2] * 79}
    display = Display(Style.of(digits))
    result = dataclasses.replace(made(ranks, ["P@1"], baseline="a"), display=display)
    said = findings(result)
    assert said[0] == f"b has the highest P@1: {'0.34' if digits else '0.3417'}."
    assert said[1].startswith(f"That is {'0.01' if digits else '0.0083'} above a, ")
    assert [row[1].rank for row in means_table(result).rows] == [2, 1]


def test_untested_pairs_count_and_are_said():
    ranks = {"old": [4] * 12, "all": [1] * 12, "some": [1] * 10 + [4] * 2}  # no variance between old and all
    said = findings(made(ranks, tests="t-test"))
    assert "all is significantly better (p < 0.05)" not in " ".join(said)
    assert said[-1] == "1 of 3 differences (all against old on RR) has no p-value (t-test)."
    said = findings(made(ranks, tests="t-test", baseline="old"))
    assert said[-2].startswith("Significantly better than old (p < 0.05): 1 of 2 runs on RR.")
    assert said[-1] == "1 of 2 differences (all against old on RR) has no p-value (t-test)."
    assert not any("no p-value" in each for each in findings(made(ranks)))
    many = {"old": [4] * 12, **{f"r{i}": [1] * 12 for i in range(7)}, "some": [1] * 10 + [4] * 2}
    named = ", ".join(f"r{i} against old on RR" for i in range(5))
    said = f"7 of 8 differences ({named} and 2 more) have no p-value (t-test)."
    assert findings(made(many, tests="t-test", baseline="old"))[-1] == said


def test_that_no_difference_is_significant_is_said_in_one_sentence():
    ranks = {"a": [1, 2] * 6, "b": [2, 1] * 6, "c": [1, 2, 2] * 4}
    said = findings(made(ranks))
    assert said[-1] == "No difference is significant (max-T-adjusted p < 0.05)."
    assert not any("0 of" in each for each in said)
    assert not any("No difference" in each for each in findings(made({**ranks, "d": [9] * 12})))
