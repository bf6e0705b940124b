"""Values of options that `possible` has no formula for: they are left out, and said so; never refuted."""

import pytest

import permed_measures as pm
from permed_measures.conventions import options
from permed_measures.conventions.named import COMMUNITY, NAMED

QRELS = {f"q{i}": {"a": 2, "b": 1, "c": -1} for i in range(20)}
NAMES = ("MAP@2", "nDCG@2", "P@2", "R@2", "F1@2", "RR@2", "hit@2")
CLAIMS = dict.fromkeys(NAMES, "0.9999")


@pytest.fixture(params=[name for name, option in options.OPTIONS.items() if option.values])
def option_with_a_new_value(request, monkeypatch):
    """Return an option that somebody gave a value in conventions.toml, and nothing else."""
    new = options.Value(f"a new {request.param}", "nobody")
    monkeypatch.setitem(options.OPTIONS[request.param].values, "new", new)
    return request.param


def test_a_new_value_is_left_out(monkeypatch, option_with_a_new_value):
    option = option_with_a_new_value
    named = COMMUNITY._replace(name="new", options={**COMMUNITY.options, option: "new"})
    monkeypatch.setattr("permed_measures.limits.possible.conventions_with", lambda _: (*NAMED, named))
    [row] = pm.possible(QRELS, CLAIMS).rows
    computed = [each for limits in row.conventions for each in (limits.convention, *limits.alike)]
    assert computed
    assert not any(each.get(option) == "new" for each in computed)
    assert f"a new {option}" in row.not_known
    assert f"a new {option}" in " ".join(str(pm.possible(QRELS, CLAIMS)).split())


def test_what_is_known_to_have_no_bounds_is_said():
    text = " ".join(str(pm.possible(QRELS, {"nDCG@2": "0.5", "P@2": "0.5"})).split())
    assert "tied documents gain the mean over all their orders" in text
    assert "judgments of the retrieved documents only" in text
    assert "precision over the documents returned" in text
    assert pm.possible(QRELS, {"RR@2": "0.5"}).rows[0].n_skipped < 30
