"""The command measures: every measure with its parameters, their values, and examples that work."""

import re

import pytest
from commands import run_cli, run_main

import permed_measures as pm
from permed_measures.datasets import SAMPLES
from permed_measures.engine.kernels import KERNELS


def test_each_measure_is_a_line_that_begins_with_its_name(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = run_cli("measures")[0].splitlines()
    assert max(map(len, lines)) <= 80
    assert [line.split()[0] for line in lines[:-2]] == list(KERNELS)
    assert all(line.endswith(".") for line in lines[:-2])
    assert lines[-2:] == ["", "Parameters of one: permed-measures measures GradedAP"]


@pytest.mark.parametrize("name", KERNELS)
def test_the_example_of_a_measure_works(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    stdout, _ = run_cli("measures", name)
    assert stdout.startswith(f"{name}: ")
    [example] = re.findall(r"Example: permed-measures evaluate QRELS RUN -m '(.*)'", stdout)
    assert name == pm.parse_measure(example).NAME
    if name != "RBP" or "rel" in example:
        pm.evaluator([example], pm.read_qrels(SAMPLES[0].qrels))
    assert all(line.startswith("  ") and len(line) <= 80 for line in stdout.splitlines()[1:])
    for parameter in pm.parse_measure(name).SUPPORTED_PARAMS:
        for value in getattr(pm.parse_measure(name).SUPPORTED_PARAMS[parameter], "meanings", ()):
            assert pm.parse_measure(f"{name}({parameter}={value})")[parameter] == value


def test_measures_are_described_as_they_are_computed():
    text = run_cli("measures")[0]
    assert "AP           The precision at each relevant document, averaged over all of them.\n" in text
    assert "SetAP        The precision among all returned documents, times the recall.\n" in text
    assert "(inclusive), which must be given" in run_cli("measures", "RBP")[0]
    with pytest.raises(pm.MeasureError, match="rel"):
        pm.calc_aggregate("RBP", {"q": {"a": 1}}, {"q": {"a": 1.0}})


def test_several_measures_stand_apart():
    one, other = (run_cli("measures", name)[0] for name in ("P", "RR"))
    assert run_cli("measures", "P", "RR")[0] == f"{one}\n{other}"


def test_a_measure_that_is_not_computed_is_said_to_be_none():
    assert run_main("measures", "Compat") == (2, "", "error: permed-measures does not compute Compat\n")
