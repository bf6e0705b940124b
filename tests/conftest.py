"""Fixtures that several test files use, and the choice between the quick tests and all of them."""

import ast
import gc
import os
import shutil
import signal
from contextlib import contextmanager
from functools import cache
from itertools import islice
from pathlib import Path

import pytest
from effort import ONLY_THOROUGH, THOROUGH, effort
from hypothesis import settings

settings.register_profile("permed", deadline=None, max_examples=effort(10, 40))
settings.register_profile("ci", settings.get_profile("permed"), derandomize=True, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "permed"))

for name in ("COLUMNS", "NO_COLOR"):  # which change what is printed
    os.environ.pop(name, None)
# ranx compiles for 15 s what is hardly used here.
os.environ.setdefault("NUMBA_DISABLE_JIT", "1")
# Spark's JVMs live for seconds here: without the slow compiler they need half the processor time.
os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")


def pytest_configure(config):
    config.addinivalue_line("markers", "thorough: runs only with PERMED_THOROUGH=1, as in CI")


def pytest_make_parametrize_id(config, val, argname):  # noqa: ARG001 - the names are pytest's
    """Name a case by the beginnings of its values; pytest numbers those that begin alike."""
    if not isinstance(val, (str, bytes, int, float)):
        return None
    text = ascii(val.decode("latin-1") if isinstance(val, bytes) else str(val))[1:-1]
    return text[:_LONGEST_ID] if len(text) > _LONGEST_ID else None


_LONGEST_ID = 24


def pytest_collection_modifyitems(config, items):
    """Leave out the tests that are only for thorough runs, or those that the quick run does in full."""
    if THOROUGH and not ONLY_THOROUGH:
        return
    left_out = [item for item in items if not (does_more if ONLY_THOROUGH else is_quick)(item)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in set(left_out)]


def pytest_collection_finish():
    """Tell the garbage collector that all modules and tests stay: it need not look at them again."""
    gc.collect()
    gc.freeze()


def is_quick(item):
    return not item.get_closest_marker("thorough") and item.path.suffix != ".ipynb"


def does_more(item):
    """Tell whether a test does more in a thorough run: by its mark, effort in its code, or hypothesis."""
    test = getattr(item, "obj", None)
    if not is_quick(item) or hasattr(test, "is_hypothesis_test"):
        return True
    return item.originalname in names_with_effort(item.path)


@cache
def names_with_effort(path):
    """Return the functions and constants of a file that depend on effort, by themselves or by another."""
    uses = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        inside = list(ast.walk(node))
        names = {each.id for each in inside if isinstance(each, ast.Name)}
        names |= {each.arg for each in inside if isinstance(each, ast.arg)}  # fixtures
        defined = [node.name] if isinstance(node, ast.FunctionDef) else _assigned(node)
        uses |= dict.fromkeys(defined, names)
    found, before = {"effort", "seeds"}, set()
    while found != before:
        before = found
        found = before | {name for name, names in uses.items() if names & before}
    return found


def _assigned(node):
    return [each.id for each in getattr(node, "targets", []) if isinstance(each, ast.Name)]


@pytest.fixture(autouse=True)
def sigpipe():
    """Undo what the command line does to SIGPIPE: a later test of pipes would end the process."""
    if not hasattr(signal, "SIGPIPE"):
        yield
        return
    handler = signal.getsignal(signal.SIGPIPE)
    yield
    signal.signal(signal.SIGPIPE, handler)


@pytest.fixture(scope="session")
def data() -> Path:
    """Return the folder of real label and run files, which the project does not ship."""
    folder = os.environ.get("PERMED_DATA")
    if not folder:
        pytest.skip("PERMED_DATA names no folder with the MedCorpus and LitSearch files")
    return Path(folder)


@pytest.fixture(scope="session")
def dataset_cache(data, tmp_path_factory) -> Path:
    """Return a folder for IR_DATASETS_HOME that holds the files of MedCorpus and LitSearch."""
    home = tmp_path_factory.mktemp("ir_datasets")
    for name in ("medcorpus", "litsearch"):
        shutil.copytree(data / name, home / name)
    return home


@pytest.fixture
def fewer_cases(monkeypatch):
    """Let identify call a program, which starts anew for each case, on every third case only."""
    from permed_measures.identification import elimination
    from permed_measures.identification.cases import cases

    monkeypatch.setattr(elimination, "cases", lambda *how: islice(cases(*how), 0, None, 3))
    monkeypatch.setattr(elimination, "_FRESH_OF_PROGRAMS", 20)


@pytest.fixture
def steps_of(monkeypatch):
    """Return a function that notes the steps of a module: what each is about, its total, how far it came."""

    def noted(module):
        steps = []

        @contextmanager
        def step(about, total):
            steps.append([about, total, 0])
            yield lambda by: steps[-1].__setitem__(2, steps[-1][2] + by)

        monkeypatch.setattr(f"{module}.step", step)
        return steps

    return noted
