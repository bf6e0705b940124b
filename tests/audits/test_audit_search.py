"""The joint answer to several claims is that of a search over all conventions."""

import math
import random
from dataclasses import replace
from functools import cache
from itertools import product

import pytest
from audit_loops import ALL_SETTINGS, Plain, choices_for, every_convention, is_off, n_changes, prints_as
from effort import effort

import permed_measures as pm
from permed_measures.audits.conventions import NAMED
from permed_measures.audits.levels import LevelChoice
from permed_measures.audits.options import RecallBase, Rounding
from permed_measures.papers.claims import parse_claims


def tiny(rng):
    """Return qrels and two runs of a few queries, with ties, missing queries and negative grades."""
    grades = rng.choice([[0, 1], [-1, 0, 1, 2]])
    queries = ["q1", "q2", "q3"]
    qrels = {query: {f"d{i}": rng.choice(grades) for i in rng.sample(range(6), 4)} for query in queries}
    qrels["q1"]["q1"], qrels["q1"]["d0"] = 1, max(grades)
    runs = {}
    for name in ("first", "second"):
        kept = rng.sample([*queries, "extra"], 3)
        runs[name] = {
            query: {doc: rng.randrange(4) / 2 for doc in rng.sample(["q1", *(f"d{i}" for i in range(6))], 5)}
            for query in kept
        }
        runs[name].setdefault("q1", {"d0": 1.0, "d1": 1.0})
    return qrels, runs


class Brute:
    """Every combination of setting, choices and cutoffs, and which claims each prints."""

    def __init__(self, plains, claims):
        first = next(iter(plains.values()))
        names = list(dict.fromkeys(name for _, name in claims))
        self.measures = {name: parse_claims([{name: "0.5"}])[0][0] for name in names}
        self.usual = {name: claim.cutoffs[0] for name, claim in self.measures.items()}
        self.plains, self.claims = plains, claims
        self.combinations = []
        tried = {}  # by setting, family and choice the cutoffs of each claim
        for name, claim in self.measures.items():
            for setting, choice, cutoff in every_convention(claim.measure, first, claim.cutoffs):
                cutoffs = tried.setdefault(setting, {}).setdefault(claim.family, {}).setdefault(choice, {})
                cutoffs.setdefault(name, []).append(cutoff)
        families = {claim.family for claim in self.measures.values()}
        for setting, of_setting in tried.items():
            if set(of_setting) == families:
                for chosen in product(*(choices.items() for choices in of_setting.values())):
                    choices = dict(zip(of_setting, (choice for choice, _ in chosen), strict=True))
                    ways = {name: ranks for _, cutoffs in chosen for name, ranks in cutoffs.items()}
                    for cutoffs in product(*(ways[name] for name in names)):
                        self.add(setting, choices, dict(zip(names, cutoffs, strict=True)))

    def add(self, setting, choices, cutoffs):
        values = {
            (row, name): self.value(self.plains[row], self.measures[name], setting, choices, cutoffs[name])
            for row, name in self.claims
        }
        for rounding in Rounding:
            printed = {key: prints_as(values[key], text, rounding) for key, text in self.claims.items()}
            self.combinations.append((replace(setting, rounding=rounding), choices, cutoffs, printed))

    @cache  # noqa: B019 (one for each test)
    def cached(self, plain, measure, setting, choice, cutoff):
        return plain.mean(measure, setting, choice, cutoff)

    def value(self, plain, claim, setting, choices, cutoff):
        choice = choices[claim.family]
        if isinstance(choice, LevelChoice) and claim.measure != "R":
            choice = replace(choice, base=RecallBase.NUM_REL)
        return self.cached(plain, claim.measure, setting, choice, cutoff)

    def best(self, claims, setting, choices, cutoffs):
        """Return the most of these claims that can be explained, and by how few changes from a convention.

        Changes are those of the measures of these claims: another measure may have to be left out or changed.
        """
        names = {name for _, name in claims}
        families = {self.measures[name].family for name in names}
        counts = [sum(printed[claim] for claim in claims) for *_, printed in self.combinations]
        most = max(counts)
        changes = (
            n_changes(s, setting)
            + sum(n_changes(choice, choices[family]) for family, choice in c.items() if family in families)
            + sum(k[name] != cutoffs[name] for name in names)
            for (s, c, k, _), count in zip(self.combinations, counts, strict=True)
            if count == most
        )
        return most, -min(changes)


TWO_CLAIMS = [{"MAP@2": "AP", "P@2": "P"}, {"nDCG@3": "nDCG", "R@2": "R"}, {"MAP@2": "AP", "MAP@1": "AP"}]


def made_somehow(rng, plains, names, alike):
    """Return the numbers of two rows, made by one setting, one choice for each name, or as each likes."""
    made, numbers, settings = {}, {}, {}
    for row, plain in plains.items():
        new = row == "first" or alike != "all"
        settings[row] = setting = rng.choice(ALL_SETTINGS) if new else settings["first"]
        for name, measure in names.items():
            if row == "first" or alike == "nothing":
                choice = rng.choice(choices_for(measure, plain, setting.labels))
                cutoffs = parse_claims([{name: "0.5"}])[0][0].cutoffs
                made[name] = choice, rng.choice([k for k in cutoffs if not is_off(measure, cutoffs, k)])
            value = plain.mean(measure, setting, *made[name])
            numbers[row, name] = 0.1234 if math.isnan(value) or abs(value) > 1 else value
    return numbers


@pytest.mark.parametrize("alike", effort(["choices"], ["all", "choices", "nothing"]))
@pytest.mark.parametrize("names", TWO_CLAIMS[: effort(1, None)], ids=" ".join)
def test_the_joint_answer_is_that_of_a_search_over_all_conventions(names, alike):
    rng = random.Random(f"{names} {alike}")
    qrels, runs = tiny(rng)
    plains = {name: Plain(qrels, run) for name, run in runs.items()}
    claims = {key: f"{value:.3f}" for key, value in made_somehow(rng, plains, names, alike).items()}
    brute = Brute(plains, claims)
    result = pm.audit(qrels, runs, {row: {name: claims[row, name] for name in names} for row in runs})
    families = {parse_claims([{name: "0.5"}])[0][0].family for name in names}
    best = {
        named.name: brute.best(list(claims), named.setting, named.choices, brute.usual)
        for named in NAMED
        if all(named.has(family) for family in families)
    }
    most = max(best.values())
    assert {answer.named.name for answer in result.best} == {
        name for name, each in best.items() if each == most
    }
    assert result.ok == (most[0] == len(claims))
    for answer in result.best:
        assert (len(answer.explained), -len(answer.changes)) == most
        [printed] = [
            printed
            for setting, choices, cutoffs, printed in brute.combinations
            if (setting, choices, cutoffs) == (answer.setting, answer.choices, answer.cutoffs)
        ]
        explained = {(claim.row, claim.claim.name) for claim in answer.explained}
        assert explained == {key for key, yes in printed.items() if yes}
    main = result.best[0]
    for exception in result.exceptions:
        keys = [(claim.row, claim.claim.name) for claim in exception.claims]
        expected = brute.best(keys, main.setting, main.choices, main.cutoffs)
        assert (len(exception.explained), -len(exception.changes)) == expected
        assert expected[0] in (0, len(keys))
    left = {key for key in claims if key not in {(t.row, t.claim.name) for t in main.explained}}
    assert {(t.row, t.claim.name) for e in result.exceptions for t in e.claims} == left
    for row in result.rows:
        keys = [(row.name, name) for name in names]
        assert row.ok == any(all(p[key] for key in keys) for *_, p in brute.combinations)
