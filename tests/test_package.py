"""The package as a whole: what it exports, what imports what, what an import loads, and that examples run."""

import ast
import doctest
import importlib
import pkgutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import permed_measures as pm

FOLDER = Path(pm.__file__).parent
ROOT = Path(__file__).parents[1]

ROOMS = [
    "errors",
    "markup",
    "terminal",
    "parameters",
    "measures",
    "parsing",
    "inputs",
    "judgments",
    "queryids",
    "hits",
    "ranks",
    "lookups",
    "joins",
    "rankings",
    "kernels",
    "engine",
    "groups",
    "provider",
    "pytrec",
    "identities",
    "crosschecks",
    "formats",
    "sources",
    "texts",
    "tables",
    "trec",
    "scans",
    "files",
    "inspections",
    "writing",
    "comparisons",
    "audits",
    "progress",
    "datasets",
    "report",
    "arguments",
    "cli",
    "__main__",
]
"""Each module may import those above it only."""

PUBLIC = {
    "GAP",
    "QMeasure",
    "LITSEARCH",
    "MEDCORPUS",
    "Coverage",
    "GradedAP",
    "InputError",
    "MeasureError",
    "NoSharedQueryWarning",
    "PermedError",
    "PermedWarning",
    "VariantNDCG",
    "audit",
    "calc",
    "calc_aggregate",
    "ceiling",
    "compare",
    "crosscheck",
    "evaluate_by",
    "evaluator",
    "from_relevance_lists",
    "iter_calc",
    "match_query_ids",
    "parse_measure",
    "plot_by_group",
    "plot_cutoffs",
    "plot_differences",
    "plot_distribution",
    "provider",
    "read_qrels",
    "read_run",
    "register",
    "reranking",
    "save_plot",
    "scan_run",
    "write_qrels",
    "write_run",
}

MODULES = sorted(
    info.name
    for info in pkgutil.walk_packages(pm.__path__, "permed_measures.")
    if not info.name.endswith("__main__")
)


def test_the_public_names_are_these():
    assert set(pm.__all__) == PUBLIC
    assert all(hasattr(pm, name) for name in PUBLIC)
    assert set(dir(pm)) == PUBLIC
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = pm.nothing


def imports_of(path):
    """Return the rooms that a module imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "permed_measures":
            room = (node.module or "").partition(".")[2].partition(".")[0]
            yield from [room] if room else [alias.name for alias in node.names if alias.name != "__version__"]


@pytest.mark.parametrize("room", ROOMS)
def test_imports_go_one_way(room):
    folder = FOLDER / room
    paths = list(folder.glob("*.py")) if folder.is_dir() else [FOLDER / f"{room}.py"]
    allowed = ROOMS[: ROOMS.index(room)] + ([room] if folder.is_dir() else [])
    assert [(path.name, name) for path in paths for name in imports_of(path) if name not in allowed] == []


def test_every_module_has_its_place():
    names = {path.stem for path in FOLDER.glob("*.py")} | {
        p.parent.name for p in FOLDER.glob("*/__init__.py")
    }
    assert names - {"__init__"} == set(ROOMS)


@pytest.mark.parametrize("name", ["permed_measures", *MODULES])
def test_examples_run(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder()
    found = [
        e for name in MODULES for test in finder.find(importlib.import_module(name)) for e in test.examples
    ]
    assert len(found) > 15


def test_importing_the_package_loads_no_heavy_library_and_configures_no_logging():
    code = (
        "import logging, sys, ir_measures\n"
        "before = set(sys.modules)\n"
        "handlers = list(logging.getLogger().handlers)\n"
        "import permed_measures\n"
        "heavy = {'numpy', 'polars', 'pandas', 'scipy', 'matplotlib', 'ir_datasets', 'typer', 'rich'}\n"
        "print(sorted(heavy & set(sys.modules) - before), logging.getLogger().handlers == handlers)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "[] True\n"


def test_a_dict_is_evaluated_without_polars_and_pandas():
    code = (
        "import sys, permed_measures as pm\n"
        "pm.calc_aggregate(pm.MEDCORPUS, {'q': {'d': 1}}, {'q': {'d': 1.0}})\n"
        "print(sorted({'polars', 'pandas', 'ir_datasets'} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"


def test_the_version_is_the_same_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == pm.__version__


def test_the_package_has_its_types_and_its_sample():
    assert (FOLDER / "py.typed").exists()
    assert (FOLDER / "datasets" / "sample" / "corpus.jsonl").exists()
