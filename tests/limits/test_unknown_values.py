"""Values of options that `possible` has no formula for: they are left out, and said so; never refuted."""

from dataclasses import fields, replace

import pytest

import permed_measures as pm
from permed_measures.audits import options
from permed_measures.audits.conventions import COMMUNITY, NAMED, NamedConvention, Setting
from permed_measures.audits.tried import choices_of
from permed_measures.limits import row_conventions

QRELS = {f"q{i}": {"a": 2, "b": 1, "c": -1} for i in range(20)}
CLAIMS = {"MAP@2": "0.9999", "nDCG@2": "0.9999", "P@2": "0.9999", "R@2": "0.9999", "F1@2": "0.9999"}


def new_value(monkeypatch, option):
    """Return a value that is new to an option, as one that somebody adds to options.py and options.toml."""
    enum = type(option)
    value = object.__new__(enum)
    value._name_, value._value_, value._sort_order_ = "NEW", "new", len(enum)
    monkeypatch.setitem(enum._member_map_, "NEW", value)
    monkeypatch.setitem(enum._value2member_map_, "new", value)
    monkeypatch.setattr(enum, "_member_names_", [*enum._member_names_, "NEW"])
    return value


def of_enums(part):
    return [each.name for each in fields(part) if isinstance(getattr(part, each.name), options.Option)]


CHOICES = [(family, name) for family, choice in COMMUNITY.choices.items() for name in of_enums(choice)]


@pytest.mark.parametrize(("family", "name"), CHOICES, ids=" ".join)
def test_a_new_way_to_compute_a_measure_is_left_out(monkeypatch, family, name):
    default = COMMUNITY.choice(family)
    value = new_value(monkeypatch, getattr(default, name))
    monkeypatch.setitem(options.TEXTS[name], "new", {"description": f"a new {name}"})
    new = replace(default, **{name: value})
    monkeypatch.setattr(
        row_conventions,
        "choices_of",
        lambda f, levels: [*choices_of(f, levels), *([new] if f == family else [])],
    )
    [row] = pm.possible(QRELS, CLAIMS).rows
    computed = [each for limits in row.conventions for each in (limits.convention, *limits.alike)]
    assert computed
    assert not any(value in vars(choice).values() for each in computed for choice in each.choices.values())
    assert f"a new {name}" in row.not_known
    assert f"a new {name}" in " ".join(str(pm.possible(QRELS, CLAIMS)).split())


@pytest.mark.parametrize("name", of_enums(Setting()))
def test_a_new_setting_of_a_convention_with_a_name_is_left_out(monkeypatch, name):
    value = new_value(monkeypatch, getattr(Setting(), name))
    monkeypatch.setitem(options.TEXTS[name], "new", {"description": f"a new {name}"})
    new = NamedConvention("new", "", Setting(**{name: value}), COMMUNITY.choices)
    monkeypatch.setattr(row_conventions, "NAMED", (*NAMED, new))
    [row] = pm.possible(QRELS, {"P@1": "0.9999"}).rows
    assert f"a new {name}" in row.not_known


def test_what_is_known_to_have_no_bounds_is_said():
    text = " ".join(str(pm.possible(QRELS, {"nDCG@2": "0.5", "P@2": "0.5"})).split())
    assert "tied documents gain the mean over all their orders" in text
    assert "judgments of the retrieved documents only" in text
    assert "precision over the documents returned within the cutoff" in text
    assert pm.possible(QRELS, {"RR@2": "0.5"}).rows[0].n_skipped < 10
