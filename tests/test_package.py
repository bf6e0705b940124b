"""The package as a whole: what it exports, what imports what, what an import loads, and that examples run."""

import ast
import doctest
import importlib.util
import pkgutil
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

import permed_measures as pm

FOLDER = Path(pm.__file__).parent
ROOT = Path(__file__).parents[1]

LAYERS = """
arrays tolerances progress errors wording escaping terminal frames
measures: parameters definitions formulas pytrec specs headings aliases parsing descriptions
engine: tables judgments query_ids
engine: ranks matching from_spark rankings tied_rankings
engine/kernels: binary graded expected checks __init__
engine: evaluator ties groups
provenance
inputs: columns conversion sources formats rank_check text_reader recognition scan
inputs: read door runs inspection write
datasets: __init__ readers downloads catalogue pyterrier
datasets/sample: script
evaluation
intervals corrections run_notes experiment
results: latex prose methods table page report evaluations evaluation_report collections
spark
plots: savefig panels
human_labels: agreement corrected tables methods
comparison: overlap paired tests results rows tables methods findings plots queries compare reranking
published_tables: cells latex read
published_tables: measure_names headings claims columns layout tables assignment grim
crosschecks
conventions: per_query aggregate rankings shown records options evaluate named describe
conventions: ranking_variants search_space
auditing: measured_claims matrix false_matches answers search messages reports audit
identification: forms files cases user_function processes script program elimination detection identify suite
feasibility: formulas bounds candidates rows differences unprinted
feasibility: reports possible
uncertainty_sources: labels results uncertainty
records: record metadata verify limit_intervals gate leaderboard
evaluated
cli: messages signals parsing arguments inputs output driver
cli: collections evaluate demo crosscheck audit identify possible compare reranking uncertainty
cli: verify gate leaderboard convert inspect measures commands __init__
__main__
"""
"""Each file may import those before it only, from left to right and from top to bottom."""


def order_of_files():
    """Yield the modules in their order."""
    for line in LAYERS.split("\n"):
        folder, colon, files = line.rpartition(":")
        for file in files.split():
            yield ".".join([*folder.replace("/", ".").split("."), file]) if colon else file


ORDER = list(order_of_files())

PUBLIC = """
F1 GAP QMeasure LITSEARCH MEDCORPUS Coverage GradedAP GradedMAP InputError MeasureError NoSharedQueryWarning
PermedError PermedWarning VariantNDCG assert_no_regression audit calc calc_aggregate ceiling compare
crosscheck evaluate evaluate_by evaluator from_relevance_lists gate identify iter_calc leaderboard
match_query_ids parse_measure plot_forest plot_means plot_queries possible provider read_qrels read_run
record register reranking save_plot uncertainty verify write_qrels write_run
"""

MODULES = sorted(
    info.name
    for info in pkgutil.walk_packages(pm.__path__, "permed_measures.")
    if not info.name.endswith("__main__")
)


def test_the_public_names_are_these():
    public = set(PUBLIC.split())
    assert set(pm.__all__) == public
    assert all(hasattr(pm, name) for name in public)
    assert set(dir(pm)) == {*public, "datasets", "spark"}
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = pm.nothing


def test_type_checkers_see_the_names_that_are_loaded_when_they_are_used():
    tree = ast.parse((FOLDER / "__init__.py").read_text())
    [block] = [node for node in tree.body if isinstance(node, ast.If) and isinstance(node.test, ast.Name)]
    imported = {
        alias.name: node.module.removeprefix("permed_measures.")
        for node in block.body
        for alias in node.names
    }
    assert imported == pm._LAZY


def module_of(path):
    """Return the name of a file in `ORDER`."""
    return ".".join(path.relative_to(FOLDER).with_suffix("").parts)


@cache
def imported_by(path):
    """Return the pairs of module and name that a file imports, wherever in it."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    of_modules = [
        (node.module, alias.name)
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    return of_modules + [
        (alias.name, "") for node in nodes if isinstance(node, ast.Import) for alias in node.names
    ]


def imports_of(path):
    """Return the modules of the package that a file imports, as `ORDER` names them."""
    for module, imported in imported_by(path):
        package, _, inside = module.partition(".")
        if package == "permed_measures":
            names = [f"{inside}.{imported}".strip("."), inside, f"{inside}.__init__".strip(".")]
            if name := next((name for name in names if name in ORDER), None):
                yield name
            elif imported != "__version__":
                raise AssertionError(f"{path} imports {imported} from the package as a whole")


def test_polars_is_had_in_one_way_which_checks_the_fork():
    for path in set(FOLDER.rglob("*.py")) - {FOLDER / "frames.py"}:
        assert "polars" not in [module.partition(".")[0] for module, _ in imported_by(path)], path


def test_folders_import_one_way():
    folders = [name.partition(".")[0] for name in ORDER]
    turns = [folder for folder, before in zip(folders, ["", *folders], strict=False) if folder != before]
    assert len(turns) == len(set(turns))


UPWARDS = {"inputs.door": {"datasets.__init__"}}
"""The one way up: a name may be that of a data set, whose readers read files of `inputs`."""


def test_imports_go_one_way():
    for place, name in enumerate(ORDER):
        later = set(imports_of(FOLDER.joinpath(*name.split(".")).with_suffix(".py"))) - set(ORDER[:place])
        assert later == UPWARDS.get(name, set()), name


NEIGHBOURS = {
    **dict.fromkeys(
        ("auditing", "comparison", "crosschecks", "identification", "feasibility", "uncertainty_sources"), ()
    ),
    "records": ("comparison",),
}
"""The rooms of commands, and which other room each may import: records hold comparisons."""


def test_neighbours_never_import_each_other():
    for name in ORDER:
        room = name.partition(".")[0]
        path = FOLDER.joinpath(*name.split(".")).with_suffix(".py")
        others = {each.partition(".")[0] for each in imports_of(path)} & (NEIGHBOURS.keys() - {room})
        assert room not in NEIGHBOURS or others <= {*NEIGHBOURS[room]}, name


CORE = ("arrays", "tolerances", "progress", "errors", "wording", "escaping", "frames", "measures", "engine")
"""What computes values from dicts and tables: it opens nothing, and imports nothing that does."""


def test_the_core_imports_only_itself():
    for name in (each for each in ORDER if each.partition(".")[0] in CORE):
        path = FOLDER.joinpath(*name.split(".")).with_suffix(".py")
        assert {each.partition(".")[0] for each in imports_of(path)} <= set(CORE), name


def python(code):
    """Return the words that a fresh interpreter prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("run", ["run", "pl.DataFrame({'query_id': ['q'], 'doc_id': ['d'], 'score': [1.0]})"])
def test_an_evaluation_loads_only_the_core(run):
    loaded = python(
        f"import sys, permed_measures as pm\n{'import polars as pl' if 'pl' in run else ''}\n"
        "run = {'q': {'d': 1.0}}\n"
        f"pm.calc_aggregate([*pm.MEDCORPUS, 'AP@10'], {{'q': {{'d': 1}}}}, {run})\n"
        "print(*sys.modules)"
    )
    ours = {tuple(name.split(".")) for name in loaded if name.startswith("permed_measures.")}
    others = {".".join(name[1:]) for name in ours if name[1] not in CORE}
    # The entrance, the door, and what registers the data sets when ir_datasets is imported.
    of_frames = {"inputs.conversion"} if run != "run" else set()
    assert others == {"evaluation", "inputs", "inputs.columns", "inputs.door", "datasets"} | of_frames
    assert not loaded & {"pandas", "ir_datasets", *(["polars"] if run == "run" else [])}


def test_every_file_has_its_place():
    only_text = {path for path in FOLDER.rglob("__init__.py") if not list(imports_of(path))}
    files = {module_of(path) for path in set(FOLDER.rglob("*.py")) - only_text}
    assert files - {"__init__"} == set(ORDER)


WITH_EXAMPLES = [
    name
    for name in ["permed_measures", *MODULES]
    if ">>> " in Path(importlib.util.find_spec(name).origin).read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_run(name):
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert (failed, tried > 0) == (0, True)


def test_importing_the_package_loads_no_heavy_library_and_configures_no_logging():
    loaded = python(
        "import logging, sys\n"
        "sys.modules['cwl'] = None  # cwl-eval, if it is installed, loads numpy for ir_measures\n"
        "import ir_measures\n"
        "before, handlers = set(sys.modules), list(logging.getLogger().handlers)\n"
        "import permed_measures\n"
        "print(*set(sys.modules) - before, logging.getLogger().handlers == handlers)"
    )
    assert "True" in loaded
    assert not loaded & {"numpy", "polars", "pandas", "scipy", "matplotlib", "ir_datasets", "rich", "pyarrow"}


def test_the_version_is_the_same_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == pm.__version__


def test_no_message_tells_to_install_the_package_from_an_index():
    """No index has it; `pip install '.[plot]'` works in a checkout."""
    for path in FOLDER.rglob("*.py"):
        assert not re.search(r"install \S*permed", path.read_text()), path


KERNELS = ["engine.kernels.binary", "engine.kernels.expected"]
GRADED_KERNELS = ["engine.kernels.expected", "engine.kernels.graded"]
SAME_NAMES = {
    "T": ("a type variable belongs to its file", ["conventions.search_space", "inputs.sources", "progress"]),
    "evaluate": ("pm.evaluate and pm.spark.evaluate", ["evaluated", "spark"]),
    "main": ("the two ways to start the command line", ["__main__", "cli.commands"]),
    "register": ("with ir_measures, and with ir_datasets", ["datasets.__init__", "evaluation"]),
    "Table": ("of input, and of output: no file has both", ["engine.tables", "results.table"]),
    **dict.fromkeys(
        [
            *("average_precision", "binary_preference", "f1", "judged", "precision", "r_precision"),
            *("rank_biased_precision", "recall", "reciprocal_rank", "success"),
        ],
        ("a measure, and its mean over orders of ties", KERNELS),
    ),
    **dict.fromkeys(
        [
            *("expected_reciprocal_rank", "graded_average_precision", "ndcg", "q_measure"),
            *("relevance_weighted_average_precision", "variant_ndcg"),
        ],
        ("a measure, and its mean over orders of ties", GRADED_KERNELS),
    ),
}
"""By name the reason why it stands in two modules, and which these are."""
OF_EACH_COMMAND = {"COMMAND", "run"}
"""What the module of every command has."""


def names_of(module):
    """Yield what a module defines, without the functions that only it calls."""
    for node in ast.parse(FOLDER.joinpath(*module.split(".")).with_suffix(".py").read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names = [node.name]
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)]
        else:
            continue
        yield from (name for name in names if not (name.startswith("_") and name.islower()))


def test_a_name_stands_in_one_module_or_there_is_a_reason():
    modules = {}
    for module in ORDER:
        for name in names_of(module):
            if name not in OF_EACH_COMMAND or not module.startswith("cli."):
                modules.setdefault(name, set()).add(module)
    found = {name: sorted(places) for name, places in modules.items() if len(places) > 1}
    assert found == {name: places for name, (_, places) in SAME_NAMES.items()}
