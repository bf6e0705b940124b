"""The command measures explains every measure with its parameters, and its examples work."""

import math
import re
from pathlib import Path

import pytest
from commands import run_cli, run_main

import permed_measures as pm
from permed_measures.cli.measures import EXAMPLE
from permed_measures.datasets import SAMPLES
from permed_measures.engine.kernels import KERNELS
from permed_measures.measures.specs import SPECS


def test_each_measure_is_a_line_that_begins_with_its_name(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = run_cli("measures")[0].splitlines()
    assert max(map(len, lines)) <= 80
    assert [line.split()[0] for line in lines[:-2]] == list(KERNELS)
    assert all(line.endswith(".") for line in lines[:-2])
    assert lines[-2:] == ["", "Explain one: permed-measures measures GradedAP"]


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


@pytest.mark.parametrize("name", KERNELS)
def test_the_formula_of_a_measure_is_worked_out(name):
    """The arithmetic gives the printed value, which is also the engine's value."""
    stdout = " ".join(run_cli("measures", name)[0].split())
    [typed, example] = re.search(
        r"and the ranking b, x, a, d: (\S+) = (.*?)(?: = [0-9.]+)? \w+: ", stdout
    ).groups()
    for sign, other in (("·", "*"), ("\N{MINUS SIGN}", "-"), ("²", "**2")):
        example = example.replace(sign, other)
    value = eval(example, {"log2": math.log2})
    assert pm.calc_aggregate([typed], *EXAMPLE)[pm.parse_measure(typed)] == pytest.approx(value, abs=2e-5)
    if not example.isdecimal():
        assert f" = {value:.4f} " in stdout


def test_the_formulas_are_those_of_the_guide():
    guide = (Path(__file__).parents[2] / "notebooks" / "guide" / "measures.md").read_text(encoding="utf-8")
    table = guide.partition("\n## ")[0]
    rows = re.findall(r"^\| `([A-Za-z0-9]+)[^`]*`.*?\| (.*?) \|", table, re.MULTILINE)
    formulas = {name: spec.formula for name, spec in SPECS.items()}
    told = {name: text for name, text in rows if name in formulas and text != "as everywhere"}
    assert len(told) > 15
    assert told == {name: formulas[name] for name in told}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Coverage@2", "Success@2"),
        ("QMeasure(beta=0)", "AP"),
        ("infAP", "AP"),
        ("VariantNDCG@2", "nDCG(dcg='exp-log2')@2"),
        ("SetF", "F1@4"),
    ],
)
def test_measures_that_are_said_to_be_equal_are(one, other):
    first, second = (pm.calc_aggregate([each], *EXAMPLE).popitem()[1] for each in (one, other))
    assert first == pytest.approx(second, abs=2e-5)


def test_with_qrels_the_ceiling_on_them_is_printed():
    stdout, _ = run_cli("measures", "GradedAP@10", "P@1", "--qrels", "permed-sample")
    for measure in ("GradedAP@10", "P@1"):
        assert (
            f"Ceiling of {measure} on permed-sample: {pm.ceiling(measure, SAMPLES[0].qrels):.4f}\n" in stdout
        )
    assert "Ceiling" not in run_cli("measures", "P")[0]
    status, stdout, stderr = run_main("measures", "--qrels", "permed-sample")
    assert (status, stdout, "Name one: " in stderr) == (2, "", True)
    status, stdout, stderr = run_main("measures", "P@1", "NumRet", "--qrels", "permed-sample")
    assert (status, stdout, "NumRet has no ceiling" in stderr) == (2, "", True)


def test_several_measures_stand_apart():
    one, other = (run_cli("measures", name)[0] for name in ("P", "RR"))
    assert run_cli("measures", "P", "RR")[0] == f"{one}\n{other}"


def test_a_measure_that_is_not_computed_is_said_to_be_none():
    assert run_main("measures", "Compat") == (2, "", "error: permed-measures does not compute Compat\n")
