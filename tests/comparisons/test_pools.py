"""Runs that differ in what is judged of them: what a comparison says."""

import json
import re

import numpy as np
import pytest

import permed_measures as pm
from permed_measures.statistics.pools import UNEQUAL

MEASURES = ["nDCG@5", "P@1"]


@pytest.fixture(scope="module")
def renamed():
    """Return qrels, a run all of whose documents are judged, and the same with half of them renamed."""
    rng = np.random.default_rng(0)
    qrels = {f"q{n:02}": {f"d{i}": int(rng.integers(0, 3)) for i in range(8)} for n in range(40)}
    run = {
        q: {d: float(grade) - i / 100 for i, (d, grade) in enumerate(docs.items())}
        for q, docs in qrels.items()
    }
    other = {
        q: {(d if rng.random() < 0.5 else f"new {d}"): s for d, s in docs.items()} for q, docs in run.items()
    }
    return qrels, {"whole": run, "half": other}


@pytest.fixture(scope="module")
def compared(renamed):
    return pm.compare(*renamed, MEASURES, baseline="whole", resamples=500)


def test_judged_stands_beside_the_means(compared):
    shares = json.loads(compared.to("json"))["judged"]
    assert shares["whole"] == {"Judged@1": 1, "Judged@5": 1}
    half = shares["half"]
    assert 0.3 < half["Judged@5"] < 0.7
    for form in ("table", "markdown", "latex"):
        text = compared.to(form).replace(r"\\*", "")  # where a heading goes on in the next line
        assert re.search(r"P@1\W.*Judged@1\W.*Judged@5", text, re.DOTALL), form
        assert f"{half['Judged@5']:.4f}" in text, form


def test_what_could_be_the_pool_s_is_said_in_all_formats(compared):
    rows = json.loads(compared.to("json"))["pool"]
    assert [row["measure"] for row in rows] == MEASURES
    for row, found in zip(rows, compared.pool, strict=True):
        assert row["difference"] < 0
        assert row["low"] <= row["difference"] <= row["high"]
        assert row["could_be_the_pools"] is found.could_be_the_pools is True
        assert row["condensed"] > row["difference"]
    [note] = [note for note in compared.notes if "pool" in note]
    assert note.endswith("the difference in nDCG@5, P@1 could be the pool's")
    for form in ("table", "markdown", "latex", "notebook"):
        text = " ".join((compared._repr_html_() if form == "notebook" else compared.to(form)).split())
        assert "could be the pool" in text, form
        assert f"{compared.pool[0].high:+.4f}" in text or form == "latex"


def test_condensed_lists_are_those_of_judged_documents(renamed, compared):
    qrels, runs = renamed
    measures = ["nDCG(judged_only=True)@5", "P(judged_only=True)@1"]
    means = {name: list(pm.calc_aggregate(measures, qrels, run).values()) for name, run in runs.items()}
    found = [row.condensed for row in compared.pool]
    assert found == pytest.approx(np.subtract(means["half"], means["whole"]))


def test_a_difference_that_no_grades_undo_is_not_the_pool_s(renamed):
    qrels, runs = renamed
    nothing = {q: {f"x{i}": float(-i) for i in range(1, 6)} | {"d0": 9.0, "d1": 8.0} for q in qrels}
    worse = {q: {**docs, min(docs, key=lambda d: qrels[q][d]): 99.0} for q, docs in runs["whole"].items()}
    three = {"worse": worse, "whole": runs["whole"], "nothing": nothing}
    how = {"baseline": "worse", "tests": "randomization", "resamples": 99}
    result = pm.compare(qrels, three, ["P@1", "Success@5"], **how)
    verdicts = {(row.run, str(row.measure)): row.could_be_the_pools for row in result.pool}
    assert ("whole", "P@1") not in verdicts  # both are judged
    assert verdicts[("nothing", "Success@5")] is True


def test_nothing_is_said_where_runs_are_judged_alike(renamed):
    qrels, runs = renamed
    alike = pm.compare(
        qrels, {"a": runs["half"], "b": runs["half"]}, MEASURES, tests="randomization", resamples=9
    )
    assert alike.pool == []
    assert "Judged@5" in alike.to("markdown")
    whole = pm.compare(qrels, {"a": runs["whole"], "b": runs["whole"]}, MEASURES, resamples=9)
    assert "Judged" not in whole.to("table")


def test_nothing_is_said_where_every_label_is_relevant(renamed):
    _, runs = renamed
    binary = {q: {"d1": 1, "d2": 1} for q in runs["whole"]}
    result = pm.compare(binary, runs, MEASURES, resamples=9)
    assert (result.pool, "Judged" in result.to("table")) == ([], False)


def test_groups_have_their_own_shares(renamed):
    result = pm.compare(*renamed, MEASURES, by="(.)$", resamples=9)
    content = json.loads(result.to("json"))
    shares = [each["judged"]["half"]["Judged@5"] for each in content["groups"]]
    assert np.mean(shares) == pytest.approx(content["judged"]["half"]["Judged@5"])
    assert len({*shares}) > 1


def test_what_has_no_bounds_says_so(renamed):
    qrels, runs = renamed
    result = pm.compare(qrels, runs, ["AP", "P@5"], baseline="whole", tests="randomization", resamples=9)
    assert [row.high is None for row in result.pool] == [True, False]
    assert any("the difference in AP was not bounded" in note for note in result.notes)
    large = {q: {d: grade * 100 for d, grade in docs.items()} for q, docs in qrels.items()}
    result = pm.compare(large, runs, "P@5", baseline="whole", tests="randomization", resamples=9)
    assert result.pool[0].could_be_the_pools is None


def test_many_pairs_have_few_notes(renamed):
    qrels, runs = renamed
    many = {"whole": runs["whole"], **{f"half {n}": runs["half"] for n in range(8)}}
    notes = pm.compare(qrels, many, "P@1", baseline="whole", tests="randomization", resamples=9).notes
    assert f"3 more pairs differ by {UNEQUAL} or more in Judged@k: a difference could be the pool's" in notes
