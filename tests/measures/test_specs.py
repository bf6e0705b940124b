"""A measure is one row and one kernel: everything that lists or computes measures takes it up."""

import json
import os
import shutil
import subprocess
import sys
from inspect import signature
from pathlib import Path

import ir_measures
import pytest
from ir_measures.measures import SumAgg

import permed_measures as pm
from permed_measures.engine.kernels import EXPECTED, KERNELS
from permed_measures.measures.parameters import values_of
from permed_measures.measures.specs import SPECS

FOLDER = Path(pm.__file__).parent

MEASURE = """
class _Hit(CheckedMeasure):
    __name__ = "Hit"
    NAME = __name__
    SUPPORTED_PARAMS = {"cutoff": NEEDED_CUTOFF, "rel": REL}


Hit: Measure = _Hit()
"""
KERNEL = """

def hit(rankings: JudgedRankings, *, cutoff: int, rel: float) -> Floats:
    return (precision(rankings, cutoff=cutoff, rel=rel, judged_only=False) > 0).astype(np.float64)
"""
ROW = """
    MeasureSpec(
        measure=Hit,
        kernel="binary.hit",
        description="Whether the user is served.",
        formula="1 if the user is served within k, else 0",
        unlike="It is Success under another name.",
        source="this test",
        example=("Hit@4", "1"),
        latex=formulas.constant_latex(r"h_k"),
        aliases="served user_served",
        pytrec=pytrec.as_success,
        rises_with_grades=True,
    ),
"""
SCRIPT = """
import contextlib
import json
import sys
import ir_measures
import permed_measures as pm
from permed_measures.cli.commands import main
from permed_measures.measures.specs import range_of

qrels = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}
run = {"q1": {"b": 2.0, "a": 1.0}, "q2": {"x": 2.0, "y": 1.0, "c": 0.5}}
hit = pm.parse_measure("user served@2")
checked = pm.crosscheck(qrels, run, [hit])
uncertain = pm.uncertainty(qrels, run, [hit])
json.dump(
    {
        "parsed": str(hit),
        "value": pm.calc_aggregate([hit], qrels, run)[hit],
        "of ir_measures": ir_measures.calc_aggregate([hit], qrels, run)[hit],
        "methods": pm.evaluate(qrels, {"mine": run}, [hit]).methods("latex"),
        "crosscheck": [checked.rows[0].verdict, checked.rows[0].pytrec_eval],
        "ceiling": pm.ceiling(hit, {**qrels, "q3": {"d": 0}}),
        "range": range_of(hit),
        "unjudged": uncertain.rows[0].unjudged,
    },
    open("facts.json", "w"),
)
for arguments in ([], ["Hit"], ["Hit@2", "--format", "latex"]):
    sys.argv = ["permed-measures", "measures", *arguments]
    with contextlib.suppress(SystemExit):
        main()
"""


@pytest.fixture
def package(tmp_path):
    """Copy the package, and return a function that inserts text behind a text of a file."""
    shutil.copytree(FOLDER, tmp_path / "permed_measures", ignore=shutil.ignore_patterns("__pycache__"))

    def insert(file, after, text):
        path = tmp_path / "permed_measures" / file
        whole = path.read_text(encoding="utf-8")
        assert whole.count(after) == 1
        path.write_text(whole.replace(after, after + text), encoding="utf-8")

    return insert


def test_a_measure_is_added_by_one_row_and_one_kernel(package, tmp_path):
    package("measures/definitions.py", "F1: Measure = _F1()\n", MEASURE)
    package("measures/specs.py", "_ROWS = (\n", ROW.lstrip("\n"))
    package("measures/specs.py", "definitions import F1, GAP, ", "Hit, ")
    package("engine/kernels/binary.py", "\n    return rankings.num_rel_ret(rel)\n", KERNEL)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "COLUMNS": "80"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    facts = json.loads((tmp_path / "facts.json").read_text(encoding="utf-8"))
    assert (facts["parsed"], facts["value"], facts["of ir_measures"]) == ("Hit@2", 0.5, 0.5)
    assert "The value of \\texttt{Hit@2} is" in facts["methods"]
    assert "h_k" in facts["methods"]
    assert facts["crosscheck"] == ["agrees", 0.5]
    assert facts["ceiling"] == pytest.approx(2 / 3)
    assert facts["range"] == [0, 1]
    assert facts["unjudged"] == [0.5, 1]  # of q2 the two documents are unjudged
    first, *_ = done.stdout.splitlines()
    assert first == "Hit          Whether the user is served."
    explained = " ".join(done.stdout.split())
    assert (
        "Hit: Whether the user is served. For a query: 1 if the user is served within k, else 0" in explained
    )
    for text in ("Hit@4 = 1", "Also: served, user_served", "h_k"):
        assert text in explained


def test_a_row_names_a_kernel_that_takes_the_parameters_of_its_measure():
    assert list(KERNELS) == list(SPECS)
    for name, spec in SPECS.items():
        for function in filter(None, (KERNELS[name], EXPECTED.get(name))):
            signature(function).bind("rankings", **values_of(spec.measure))


def test_every_name_is_that_of_one_measure():
    words = [word for spec in SPECS.values() for word in f"{spec.aliases} {spec.chinese}".split()]
    assert len(words) == len(set(words)) > 90
    assert {*SPECS} <= {str(each.NAME) for each in ir_measures.measures.registry.values()}


def test_counts_are_the_measures_that_ir_measures_sums():
    counts = {name for name, spec in SPECS.items() if isinstance(spec.measure.aggregator(), SumAgg)}
    assert counts == {name for name, spec in SPECS.items() if spec.is_count} == {"NumQ", "NumRet", "NumRel"}
