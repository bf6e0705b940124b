"""Values of options that `possible` has no formula for: they are left out, and said so; never refuted."""

import pytest

import permed_measures as pm
from permed_measures.conventions import options
from permed_measures.conventions.named import COMMUNITY, NAMED

QRELS = {f"q{i}": {"a": 2, "b": 1, "c": -1} for i in range(20)}
NAMES = ("MAP@2", "nDCG@2", "P@2", "R@2", "RR@2", "hit@2")
CLAIMS = dict.fromkeys(NAMES, "0.9999")


@pytest.mark.thorough
def test_a_new_value_of_any_option_is_left_out(monkeypatch):
    """Somebody gave every option a value in conventions.toml, and did nothing else."""
    named = []
    for name, option in options.OPTIONS.items():
        if option.values and option.measures != ("F1",):  # which no claim is of: it has no bounds
            monkeypatch.setitem(option.values, "new", options.Value(f"a new {name}", "nobody"))
            named.append(COMMUNITY._replace(name=name, options={**COMMUNITY.options, name: "new"}))
    monkeypatch.setattr("permed_measures.limits.possible.conventions_with", lambda _: (*NAMED, *named))
    result = pm.possible(QRELS, CLAIMS)
    [row] = result.rows
    computed = [each for limits in row.conventions for each in (limits.convention, *limits.alike)]
    assert computed
    assert not any("new" in each.values() for each in computed)
    text = " ".join(str(result).split())
    for convention in named:
        assert f"a new {convention.name}" in row.not_known
    assert "further conventions; JSON says why." in text


def test_what_is_known_to_have_no_bounds_is_said():
    result = pm.possible(QRELS, {"nDCG@2": "0.5", "P@2": "0.5", "R@2": "0.5"})
    text = "; ".join(result.rows[0].not_known)
    assert "tied documents gain the mean over all their orders" in text
    assert "judgments of the retrieved documents only" in text
    assert "precision over the documents returned" in text
    assert "precision and recall of all queries together" in text
    assert "linear gains" not in text  # as other conventions have
    assert "negative grades are used as they stand" not in text
    n = result.rows[0].n_skipped
    assert f"Left out, without bounds: {n} further conventions; JSON says why." in " ".join(
        str(result).split()
    )
    assert pm.possible(QRELS, {"RR@2": "0.5"}).rows[0].n_skipped < 30
