"""The sentences that a page begins with, against what the JSON of the comparison has."""

import random
import re

import pytest
from reporting import loaded, made

from permed_measures.comparisons.findings import findings
from permed_measures.comparisons.means_table import means_table
from permed_measures.comparisons.plots.forest import panels_of
from permed_measures.measures.headings import headings_of

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
    assert found[2].startswith("Significantly better than old (max-T-adjusted p < 0.05): 1 of 2 runs on RR.")


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
    text = text.replace("any measure", ", ".join(measures))
    whole = re.fullmatch(r"(\d+) of (\d+) (?:other )?runs? on (.+)", text)
    parts = [whole.groups()] if whole else re.findall(r"(\d+) of (\d+) (?:other )?runs? \((.+?)\)", text)
    return {measure: (int(k), int(n)) for k, n, on in parts for measure in names(on)}


def claimed(sentences, measures):
    """Read the sentences."""
    claims = {"highest": {}, "ahead": {}}
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
            m: (
                sum(sign * each > 0 for each, sure in pairs if sure),
                sum(sure is not None for _, sure in pairs),
            )
            for m, pairs in found.items()
        }

    first, *others = highest[measures[0]]
    claims = {"highest": highest, "mean": f"{means[measures[0]][first]:.4f}", "ahead": {}}
    if baseline and not others and first != baseline:
        difference, sure = tested(measures[0], first, baseline)
        claims["above"] = f"{difference + 0.0:.4f}", sure
    if baseline:
        return {**claims, "better": share(1, baseline), "worse": share(-1, baseline)}
    alone = {run: [m for m in measures if highest[m] == {run}] for run in runs}
    return {**claims, "ahead": {run: share(-1, run, on) for run, on in alone.items() if on}}


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


def test_equal_means_are_neither_better_nor_worse_whatever_the_signed_ranks():
    old, new = [16] * 24 + [1] * 3, [8] * 24 + [2] * 3
    result = made({"old": old, "new": new}, tests="wilcoxon", baseline="old")
    assert (result.rows[0].difference, result.rows[0].tests["wilcoxon"].p < 0.01) == (0, True)
    assert findings(result)[-1] == (
        "Significantly better than old (p < 0.05): 0 of 1 run on RR. Significantly worse: 0 of 1 run on RR."
    )
    pairs = made({"old": old, "new": new}, tests="wilcoxon")  # neither has the other's letter
    assert [row[2].mark for row in means_table(pairs).rows] == ["", ""]
    assert [point.outcome for point in panels_of(result, [0])[0]] == ["open"]
