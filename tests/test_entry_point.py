"""The provider as an entry point: what happens where ir_measures finds providers by `ir_measures.provider`.

A branch of ir_measures does (entry-points, 221b22d); version 0.4.3 does not. `imitated` changes the installed
ir_measures while Python loads it, so that it finds and sorts providers as the branch does; `branch` is the
branch itself, where the environment variable PERMED_IR_MEASURES_BRANCH names a folder with its source.
"""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from commands import run_python
from effort import IR_MEASURES_PARSES

ROOT = Path(__file__).parents[1]
BRANCH = "PERMED_IR_MEASURES_BRANCH"

IMITATION = r'''
import re, sys
from importlib.machinery import PathFinder, SourceFileLoader

FOUND = """
from importlib.metadata import entry_points
names = "runtime pytrec_eval cwl_eval compat pyndeval judged msmarco gdeval accuracy ranx trectools".split()
for priority, name in enumerate(names, -10):
    registry[name].PRIORITY = priority if name != "trectools" else None
registry.update({each.name: each.load()() for each in entry_points(group="ir_measures.provider")})
"""
SORTED = """DefaultPipeline = providers.FallbackProvider(
    sorted([p for p in providers.registry.values() if p.PRIORITY is not None], key=lambda p: p.PRIORITY)
)
"""
CHANGES = {
    "ir_measures.providers": lambda text: text + FOUND,
    "ir_measures": lambda text: re.sub(r"(?s)DefaultPipeline = .*?\]\)\n", SORTED, text),
}


class Loader(SourceFileLoader):
    def get_code(self, name):
        text = self.get_data(self.path).decode()
        assert CHANGES[name](text) != text
        return compile(CHANGES[name](text), self.path, "exec")


class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        spec = PathFinder.find_spec(name, path) if name in CHANGES else None
        if spec:
            spec.loader = Loader(name, spec.origin)
        return spec


sys.meta_path.insert(0, Finder)
'''


def declare(folder, source):
    """Write what an installation writes of the project whose source is in a folder: its entry points."""
    project = tomllib.loads((source / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    installed = folder / f"{project['name'].replace('-', '_')}-99.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 99\n")
    lines = []
    for group, entry_points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {target}" for name, target in entry_points.items())]
    (installed / "entry_points.txt").write_text("\n".join(lines))


def environment(*folders):
    """Return the environment in which Python looks into these folders first."""
    path = [*map(str, folders), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path)}


@pytest.fixture
def without(tmp_path):
    """Return an environment in which ir_measures is as it is installed, and our entry point is declared."""
    declare(tmp_path / "installed", ROOT)
    return environment(tmp_path / "installed")


@pytest.fixture(params=["imitated", "branch"])
def found(request, tmp_path):
    """Return an environment in which ir_measures finds providers by their entry points."""
    folder = tmp_path / "installed"
    declare(folder, ROOT)
    if request.param == "imitated":
        (folder / "sitecustomize.py").write_text(IMITATION)
        return environment(folder)
    if BRANCH not in os.environ:
        pytest.skip(f"needs {BRANCH}")
    declare(folder, source := Path(os.environ[BRANCH]))
    return environment(source, folder)


TYPED = [sys.executable, "-m", "ir_measures", "q", "r", "GradedAP@10"]


@pytest.fixture
def typed(tmp_path):
    """Type `python -m ir_measures q r GradedAP@10` where these two files are."""
    (tmp_path / "q").write_text("q1 0 d1 2\nq1 0 d2 1\n")
    (tmp_path / "r").write_text("q1 Q0 d2 1 2.0 t\nq1 Q0 d1 2 1.0 t\n")

    def run(variables):
        return subprocess.run(
            TYPED, env=variables, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=200
        )

    return run


@IR_MEASURES_PARSES
def test_the_command_of_ir_measures_computes_our_measure(found, typed):
    done = typed(found)
    assert (done.returncode, done.stdout) == (0, "GradedAP@10\t0.7500\n"), done.stderr


@IR_MEASURES_PARSES
def test_without_the_branch_the_command_does_not_know_our_measure(without, typed):
    done = typed(without)
    assert (done.returncode > 0, done.stdout) == (True, "")
    assert "unknown measure" in done.stderr


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
