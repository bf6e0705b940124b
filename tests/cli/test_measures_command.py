"""The command measures: every measure with its parameters, their values, and examples that work."""

import re

import pytest
from commands import run_cli, run_main

import permed_measures as pm
from permed_measures.datasets import SAMPLES
from permed_measures.engine.kernels import KERNELS


def test_one_measure_is_explained_with_what_its_values_mean(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    stdout, stderr = run_cli("measures", "gradedap")
    assert stderr == ""
    assert stdout.splitlines() == [
        "GradedAP: Average precision in which each relevant document counts by its grade.",
        "  cutoff: ranks that count; all if left out; a whole number from 1 to 2147483647",
        "  rel: lowest relevant grade; a number of at least 0 (negative grades are never",
        "    relevant); by default 1",
        "  max_rel: the grade that weighs 1; a number above 0; by default 2",
        "  gains: weight of each grade, instead of grade / max_rel; a mapping from each",
        "    relevant grade to its weight (numbers from 0 to 1e100)",
        "  norm: what the sum is divided by; one of 'num_rel', 'min', 'num_rel_ret',",
        "    'gain', 'ideal', 'none'; by default 'num_rel'",
        "    num_rel: the number of relevant documents",
        "    min: that number, or the cutoff if it is smaller",
        "    num_rel_ret: the number of relevant documents found up to the cutoff",
        "    gain: the weights of all relevant documents, summed",
        "    ideal: the sum of the ideal ranking, so that a perfect ranking scores 1",
        "    none: 1",
        "  judged_only: leave unjudged documents out of the ranking; True or False; by",
        "    default False",
        "  Also: graded_map",
        "  Example: permed-measures evaluate QRELS RUN -m 'GradedAP(norm=min)@10'",
        "  More: help(permed_measures.GradedAP) in Python",
    ]


def test_each_measure_is_a_paragraph_that_begins_with_a_sentence(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    stdout, _ = run_cli("measures")
    paragraphs = stdout.removesuffix("\n").split("\n\n")
    assert max(map(len, stdout.splitlines())) <= 80
    assert [paragraph.partition(":")[0] for paragraph in paragraphs] == list(KERNELS)
    for paragraph in paragraphs:
        assert re.split(r"\n  (?=\w)", paragraph)[0].endswith(".")


@pytest.mark.parametrize("name", KERNELS)
def test_the_example_of_a_measure_works(name):
    stdout, _ = run_cli("measures", name)
    [example] = re.findall(r"Example: permed-measures evaluate QRELS RUN -m '(.*)'", stdout)
    assert name == pm.parse_measure(example).NAME
    if name != "RBP" or "rel" in example:
        pm.evaluator([example], pm.read_qrels(SAMPLES[0].qrels))
    for parameter in pm.parse_measure(name).SUPPORTED_PARAMS:
        for value in getattr(pm.parse_measure(name).SUPPORTED_PARAMS[parameter], "meanings", ()):
            assert pm.parse_measure(f"{name}({parameter}={value})")[parameter] == value


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Compat", "error: permed-measures does not compute Compat\n"),
        ("GradedPA", "error: there is no measure 'GradedPA'. Did you mean 'GradedAP'? "),
    ],
)
def test_what_is_no_measure_is_one_line(name, message):
    status, stdout, stderr = run_main("measures", name)
    assert (status, stdout, stderr.count("\n")) == (2, "", 1)
    assert stderr.startswith(message)
