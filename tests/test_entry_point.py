"""The provider as an entry point of the group `ir_measures.provider`, and what the guide's page on it says.

A branch of ir_measures (entry-points, 221b22d) finds providers so, and version 0.4.3 does not. `imitated`
changes the installed ir_measures while Python loads it, so that it finds and sorts providers as the branch
does; `branch` is the branch itself, where PERMED_IR_MEASURES_BRANCH names the folder of its source.
"""

import json
import math
import os
import re
import shlex
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest
from commands import run_python
from effort import IR_MEASURES_PARSES

import permed_measures as pm

ROOT = Path(__file__).parents[1]
OURS = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
PAGE = (ROOT / "notebooks" / "guide" / "upstream.md").read_text(encoding="utf-8")
BRANCH = "PERMED_IR_MEASURES_BRANCH"

CHANGED = """
import sys
from importlib.machinery import PathFinder, SourceFileLoader

CHANGES = {changes!r}


class Loader(SourceFileLoader):
    def get_code(self, name):
        text = self.get_data(self.path).decode()
        for before, after in CHANGES[name]:
            assert text.count(before) == 1, before
            text = text.replace(before, after)
        return compile(text, self.path, "exec")


class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        spec = PathFinder.find_spec(name, path) if name in CHANGES else None
        if spec:
            spec.loader = Loader(name, spec.origin)
        return spec


sys.meta_path.insert(0, Finder)
"""
"""A module that Python imports when it starts; it changes texts of modules while these are loaded."""

FOUND = """
from importlib.metadata import entry_points
names = "runtime pytrec_eval cwl_eval compat pyndeval judged msmarco gdeval accuracy ranx trectools".split()
for priority, name in enumerate(names, -10):
    registry[name].PRIORITY = priority if name != "trectools" else None
registry.update({each.name: each.load()() for each in entry_points(group="ir_measures.provider")})
"""
SORTED = """
of_all = [each for each in providers.registry.values() if each.PRIORITY is not None]
DefaultPipeline = providers.FallbackProvider(sorted(of_all, key=lambda each: each.PRIORITY))
"""
BEFORE_ALL, BEFORE_METHODS = "\n__all__ = [", "\nevaluator = DefaultPipeline.evaluator"
IMITATION = {
    "ir_measures.providers": [(BEFORE_ALL, FOUND + BEFORE_ALL)],
    "ir_measures": [(BEFORE_METHODS, SORTED + BEFORE_METHODS)],
}


def declare(folder, pyproject):
    """Write what an installation writes of a project: its entry points."""
    project = tomllib.loads(pyproject)["project"]
    installed = folder / f"{project['name'].replace('-', '_')}-99.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 99\n")
    lines = []
    for group, entry_points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {target}" for name, target in entry_points.items())]
    (installed / "entry_points.txt").write_text("\n".join(lines))


def change(folder, changes):
    """Have modules changed in each Python that looks into this folder first."""
    (folder / "sitecustomize.py").write_text(CHANGED.format(changes=changes))


def environment(*folders):
    """Return the environment in which Python looks into these folders first."""
    path = [*map(str, folders), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path)}


@pytest.fixture
def without(tmp_path):
    """Return an environment in which ir_measures is as it is installed, and our entry point is declared."""
    declare(tmp_path / "installed", OURS)
    return environment(tmp_path / "installed")


@pytest.fixture(params=["imitated", "branch"])
def found(request, tmp_path):
    """Return an environment in which ir_measures finds providers by their entry points."""
    folder = tmp_path / "installed"
    declare(folder, OURS)
    if request.param == "imitated":
        change(folder, IMITATION)
        return environment(folder)
    if BRANCH not in os.environ:
        pytest.skip(f"needs {BRANCH}")
    source = Path(os.environ[BRANCH])
    declare(folder, (source / "pyproject.toml").read_text(encoding="utf-8"))
    return environment(source, folder)


@pytest.fixture
def typed(tmp_path):
    """Type a command in a folder with the files QRELS and RUN."""
    (tmp_path / "QRELS").write_text("q1 0 d1 2\nq1 0 d2 1\n")
    (tmp_path / "RUN").write_text("q1 Q0 d2 1 2.0 t\nq1 Q0 d1 2 1.0 t\nq1 Q0 d3 3 0.5 t\n")

    def run(command, variables):
        python, *arguments = shlex.split(command)
        assert python == "python"
        command = [sys.executable, *arguments]
        how = {"env": variables, "cwd": tmp_path, "capture_output": True, "text": True, "timeout": 200}
        return subprocess.run(command, check=False, **how)

    return run


@IR_MEASURES_PARSES
def test_the_command_of_ir_measures_computes_our_measure(found, typed):
    done = typed("python -m ir_measures QRELS RUN GradedAP@10", found)
    assert (done.returncode, done.stdout) == (0, "GradedAP@10\t0.7500\n"), done.stderr


@IR_MEASURES_PARSES
def test_without_the_branch_the_command_does_not_know_our_measure_and_the_guide_has_another(without, typed):
    done = typed("python -m ir_measures QRELS RUN GradedAP@10", without)
    assert (done.returncode > 0, done.stdout) == (True, "")
    assert "unknown measure" in done.stderr
    [command] = re.findall(r"`(python -c [^`]+)`", PAGE)
    done = typed(command, without)
    assert (done.returncode, done.stdout) == (0, "GradedAP@10\t0.7500\n"), done.stderr


ON_THE_SAMPLE = "python -m ir_measures permed-sample SAMPLE GradedAP@10"


@IR_MEASURES_PARSES
@pytest.mark.thorough
def test_the_command_of_ir_measures_takes_our_data_sets(found, typed, tmp_path):
    pm.write_run(pm.read_run("permed-sample/runs/bm25"), tmp_path / "SAMPLE")
    assert typed(ON_THE_SAMPLE, found).stdout == "GradedAP@10\t0.4665\n"


@IR_MEASURES_PARSES
@pytest.mark.thorough
def test_without_the_branch_the_command_does_not_know_our_data_sets(without, typed, tmp_path):
    pm.write_run(pm.read_run("permed-sample/runs/bm25"), tmp_path / "SAMPLE")
    done = typed(ON_THE_SAMPLE, without)
    assert (done.returncode > 0, done.stdout) == (True, "")
    assert "permed-sample" in done.stderr.splitlines()[-1]


@IR_MEASURES_PARSES
def test_the_provider_that_the_guide_adds_is_found(found, typed, tmp_path):
    blocks = dict(re.findall(r"(?s)```(python|toml)\n(.*?)```", PAGE))
    folder = tmp_path / "installed"
    (folder / "counting.py").write_text(blocks["python"])
    declare(folder, f"[project]\nname = 'counting'\n{blocks['toml']}")
    done = typed("python -m ir_measures QRELS RUN Unjudged@2 Unjudged@10 GradedAP@10", found)
    lines = ["GradedAP@10\t0.7500", "Unjudged@10\t1.0000", "Unjudged@2\t0.0000"]
    assert sorted(done.stdout.splitlines()) == lines, done.stderr


STATE = """
import json, sys
import ir_measures

def state():
    names = [provider.NAME for provider in ir_measures.DefaultPipeline.providers]
    return names, "permed_measures" in sys.modules, "GradedAP" in ir_measures.measures.registry

alone = state()
import permed_measures as pm
from permed_measures import GradedAP
pm.register()
qrels, run = {"q1": {"d1": 2, "d2": 1}}, {"q1": {"d2": 2.0, "d1": 1.0}}
values = [each.calc_aggregate([GradedAP @ 10], qrels, run) for each in (ir_measures, pm, pm.provider)]
print(json.dumps([alone, state(), [list(value.values()) for value in values]]))
"""
LATER = ("permed_measures.evaluation", "permed_measures.cli.commands", "ir_datasets", "pyterrier")
FIRST = [
    "ir_measures",
    "permed_measures",
    *(pytest.param(module, marks=pytest.mark.thorough) for module in LATER),
]


@pytest.mark.parametrize("first", FIRST)
def test_whatever_is_imported_first_the_provider_stands_once_before_gdeval(found, first):
    alone, after, values = json.loads(run_python(f"import {first}\n{STATE}", env=found).splitlines()[-1])
    assert alone == after
    names, ours_is_loaded, known = after
    assert (ours_is_loaded, known) == (True, True)
    assert names.count("permed") == 1
    assert names.index("permed") == names.index("gdeval") - 1 == names.index("msmarco") + 1
    assert values == [[0.75]] * 3


EXP_GAIN = """
import json, ir_measures
qrels, run = {"1": {"a": 2, "b": 1}}, {"1": {"b": 2.0, "a": 1.0}}
measure = ir_measures.nDCG(dcg="exp-log2") @ 10
providers = [ir_measures, *([ir_measures.gdeval] if ir_measures.gdeval.is_available() else [])]
print(json.dumps([provider.calc_aggregate([measure], qrels, run)[measure] for provider in providers]))
"""


def test_exp_gain_ndcg_of_ir_measures_is_exact_where_we_are_installed_and_gdeval_s_is_still_there(found):
    ours, *of_gdeval = json.loads(run_python(EXP_GAIN, env=found))
    assert ours == (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))
    assert of_gdeval in ([], [round(ours, 5)])


def test_without_the_branch_nothing_is_loaded_by_the_entry_point(without):
    alone, after, values = json.loads(run_python(STATE, env=without))
    assert alone == [[name for name in after[0] if name != "permed"], False, False]
    assert after[0].index("permed") == after[0].index("gdeval") - 1
    assert values == [[0.75]] * 3


def test_ir_measures_loads_our_measures_and_no_heavy_library(found):
    code = "import sys\nsys.modules['cwl'] = None\nimport ir_measures\nprint(*sys.modules)"
    loaded = set(run_python(code, env=found).split())
    assert "permed_measures.evaluation" in loaded
    assert not loaded & {"numpy", "polars", "pandas", "scipy", "matplotlib", "ir_datasets", "rich", "pyarrow"}


# --- PyTerrier -----------------------------------------------------------------------------------------

EXPERIMENT = """
import json, warnings
warnings.simplefilter("ignore")
import pandas as pd, permed_measures, pyterrier as pt

qrels = pd.DataFrame({"qid": ["q"] * 2, "docno": ["a", "b"], "label": [2, 1]})
run = pd.DataFrame({"qid": ["q"] * 2, "docno": ["b", "a"], "score": [2.0, 1.0], "rank": [0, 1]})
topics = pd.DataFrame({"qid": ["q"], "query": ["x"]})
table = pt.Experiment([run], topics, qrels, ["GradedAP@10", "map", "P.1"], names=["run"])
print(json.dumps(table.to_dict("records")))
"""
NEEDS_PYTERRIER = pytest.mark.skipif(not find_spec("pyterrier"), reason="needs PyTerrier")


@NEEDS_PYTERRIER
@IR_MEASURES_PARSES
@pytest.mark.thorough
def test_an_experiment_reads_our_measures_as_text_with_the_change_of_the_guide(without, tmp_path):
    [diff] = re.findall(r"(?s)```diff\n(-    from ir_measures.*?)```", PAGE)
    parts = re.findall(r"(?m)((?:^-.*\n)+)((?:^\+.*\n)+)", diff)
    parts = [[re.sub("(?m)^[-+]", "", text) for text in part] for part in parts]
    assert len(parts) == 2
    change(tmp_path / "installed", {"pyterrier._evaluation._rendering": parts})
    [row] = json.loads(run_python(EXPERIMENT, env=without).splitlines()[-1])
    assert row == {"name": "run", "GradedAP@10": 0.75, "map": 1.0, "P.1": 1.0}


PYTERRIER_ALONE = """
import warnings
warnings.simplefilter("ignore")
import pyterrier as pt
print(pt.measures.GradedAP @ 10)
"""


@NEEDS_PYTERRIER
@pytest.mark.thorough
def test_pyterrier_has_our_measures_by_itself_with_the_branch(found):
    assert run_python(PYTERRIER_ALONE, env=found).split()[-1] == "GradedAP@10"


@NEEDS_PYTERRIER
@pytest.mark.thorough
def test_pyterrier_does_not_have_our_measures_by_itself_without_the_branch(without):
    with pytest.raises(AssertionError, match="no attribute 'GradedAP'"):
        run_python(PYTERRIER_ALONE, env=without)
