"""Option values without a formula: `possible` leaves them out with a note, and never refutes them."""

from dataclasses import replace

import pytest

import permed_measures as pm
from permed_measures.conventions.named import COMMUNITY, NAMED
from permed_measures.conventions.options import SHARED, with_value
from permed_measures.conventions.per_query import (
    ALL_FOUND,
    PRECISION_AT_HIT,
    RECIPROCAL_OF_FIRST,
    Over,
    PerHit,
    one,
)
from permed_measures.conventions.records import OPTIONS

QRELS = {f"q{i}": {"a": 2, "b": 1, "c": -1} for i in range(20)}
NAMES = ("MAP@2", "nDCG@2", "P@2", "R@2", "RR@2", "hit@2")
CLAIMS = dict.fromkeys(NAMES, "0.9999")


NEEDS_RUN = {
    "denominator": {"compute": lambda of: of.returned},
    "ideal": {"compute": lambda of: of.rankings},
    "per_hit": {"compute": PerHit(PRECISION_AT_HIT.compute)},
    "tied": {"needs_ties": True},
    "pooling": {"pools": True},
    "averaging": {"pools": True},
    **{each: {"compute": Over(ALL_FOUND, one)} for each in ("precision", "recall", "success")},
    "ranks": {"compute": Over(RECIPROCAL_OF_FIRST, lambda of: of.returned)},
}
"""For each option of a measure, a value that needs a run, if the option can have one."""


def with_new_values(monkeypatch):
    """Give each option a value, and each value a named convention."""
    named = []
    for name, option in OPTIONS.items():
        if option.values and option.measures != ("F1",):  # which no claim is of: it has no bounds
            known = replace(option.values[option.default], description=f"a new {name}", any_run="")
            monkeypatch.setitem(option.values, "new", replace(known, **NEEDS_RUN.get(name, {})))
            named.append(
                COMMUNITY._replace(name=name, convention=with_value(COMMUNITY.convention, name, "new"))
            )
    monkeypatch.setattr("permed_measures.feasibility.possible.conventions_with", lambda _: (*NAMED, *named))
    return {convention.name for convention in named}


@pytest.mark.thorough
def test_a_new_value_is_left_out_where_its_numbers_need_a_run_and_bounded_where_not(monkeypatch):
    names = with_new_values(monkeypatch)
    result = pm.possible(QRELS, CLAIMS)
    [row] = result.rows
    computed = [each for limits in row.conventions for each in (limits.convention, *limits.alike)]
    bounded = {
        option
        for each in computed
        for options in each.values()
        for option, value in options.items()
        if value == "new"
    }
    assert bounded == names - {*NEEDS_RUN} - {*SHARED}
    assert bounded == {"weights", "gain", "discount", "negative"}
    text = " ".join(str(result).split())
    for name in names:
        assert (f"a new {name}" in row.not_known) == (name not in bounded)
    assert "further conventions; JSON says why." in text


def test_what_is_known_to_have_no_bounds_is_said():
    result = pm.possible(QRELS, {"nDCG@2": "0.5", "P@2": "0.5", "R@2": "0.5"})
    text = "; ".join(result.rows[0].not_known)
    assert "tied documents gain the mean over all their orders" in text
    assert "judgments of the retrieved documents only" in text
    assert "precision over the documents returned" in text
    different = "one measure with another tie rule, other queries, documents or labels than the others"
    assert different in text
    assert different not in pm.possible(QRELS, {"nDCG@2": "0.5"}).rows[0].not_known
    assert "precision and recall of all queries together" in text
    assert "linear gains" not in text  # as other conventions have
    assert "negative grades are used as they stand" not in text
    n = result.rows[0].n_skipped
    assert f"Left out, without bounds: {n} further conventions; JSON says why." in " ".join(
        str(result).split()
    )
    assert pm.possible(QRELS, {"RR@2": "0.5"}).rows[0].n_skipped < 30
