"""The data sets are registered with ir_datasets whatever is imported when, and never break its import."""

import sys
from types import ModuleType, SimpleNamespace
from unittest import mock

import ir_datasets
import pytest
from commands import STRICT, run_python

import permed_measures as pm
from permed_measures import datasets
from permed_measures.datasets import DATASET_IDS, catalogue

LOADED = f"""
import sys
names = set(ir_datasets.registry)
print(ir_datasets.load('permed-sample').queries_count(), len(names & set({DATASET_IDS!r})))
"""
ALL_LOADED = f"48 {len(DATASET_IDS)}\n"


ORDERS = [
    "import ir_datasets, permed_measures",
    "import permed_measures, ir_datasets",
    "import permed_measures.datasets.catalogue, ir_datasets",
    "import permed_measures.datasets.downloads, ir_datasets",
    "import permed_measures, importlib.util; importlib.util.find_spec('ir_datasets'); import ir_datasets",
]


@pytest.mark.parametrize(
    "imports",
    [*ORDERS[-2:], *(pytest.param(imports, marks=pytest.mark.thorough) for imports in ORDERS[:-2])],
)
def test_the_data_sets_are_registered_in_whichever_order_things_are_imported(imports):
    assert run_python(f"{STRICT}{imports}{LOADED}") == ALL_LOADED


BROKEN = """
import sys, warnings
class Broken:
    def find_spec(self, name, path, target=None):
        if name == 'permed_measures.datasets.catalogue':
            raise ImportError('broken on purpose')
sys.meta_path.insert(0, Broken())
warnings.simplefilter('always')
"""


def test_data_sets_that_cannot_be_registered_are_a_warning_and_by_hand_an_error():
    code = f"""{BROKEN}
with warnings.catch_warnings(record=True) as caught:
    import permed_measures, ir_datasets
for warning in caught:
    if issubclass(warning.category, permed_measures.PermedWarning):
        print(warning.message)
print(ir_datasets.load('vaswani').has_qrels())
try:
    permed_measures.datasets.register()
except ImportError as error:
    print(error)
"""
    message = (
        "the data sets of permed-measures are not registered with ir_datasets (ImportError: broken on "
        "purpose). Call permed_measures.datasets.register() to see the whole error"
    )
    assert run_python(code) == f"{message}\nTrue\nbroken on purpose\n"


@pytest.mark.thorough
def test_an_id_that_exists_is_left_as_it_is():
    code = f"""
import ir_datasets
ir_datasets.registry.register('medcorpus', ir_datasets.Dataset())
dummy = ir_datasets.load('medcorpus')
import permed_measures
{LOADED}
print(ir_datasets.load('medcorpus') is dummy, dummy.has_qrels())
print(ir_datasets.load('medcorpus/turn/1').has_qrels())
"""
    assert run_python(code) == f"{ALL_LOADED}True False\nTrue\n"


# --- the same in this process ------------------------------------------------------------------------


def test_the_hook_registers_when_ir_datasets_itself_has_been_loaded(monkeypatch):
    done = []
    monkeypatch.setattr(datasets, "_register_or_warn", lambda: done.append("registered"))
    loader = SimpleNamespace(exec_module=lambda module: done.append(module.__name__))
    hook = datasets._ImportHook()
    monkeypatch.setattr(sys, "meta_path", [hook, Finder(loader)])
    assert hook.find_spec("ir_measures") is None
    for name in ("ir_datasets", "another"):
        execute = hook.find_spec("ir_datasets").loader.exec_module
        execute(ModuleType(name))
    assert done == ["ir_datasets", "registered", "another"]
    monkeypatch.setattr(sys, "meta_path", [hook, Finder(None)])
    assert hook.find_spec("ir_datasets") is None


class Finder:
    """A finder of Python's that has one module, or none."""

    def __init__(self, loader, name="ir_datasets"):
        self.loader, self.name, self.asked = loader, name, 0

    def find_spec(self, fullname, *_):
        self.asked += 1
        return SimpleNamespace(loader=self.loader) if self.loader and fullname == self.name else None


def test_the_hook_asks_the_finders_after_it_in_their_order():
    """A finder before it was asked already, and may itself ask all others; old ones have no find_spec."""
    first, second = (SimpleNamespace(exec_module=print) for _ in range(2))
    before, without, found, last = Finder(first), object(), Finder(first), Finder(second)
    hook, other = datasets._ImportHook(), datasets._ImportHook()
    with mock.patch.object(sys, "meta_path", [before, hook, other, without, Finder(None), found, last]):
        assert hook.find_spec("ir_datasets", None, None).loader is first
    assert (before.asked, found.asked, last.asked) == (0, 1, 0)


IN_MEMORY = """
import importlib.util, sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import PathFinder

class Elsewhere(MetaPathFinder):
    "Finds ir_datasets where the path does not lead, as finders of editable installations do."
    def find_spec(self, name, path=None, target=None):
        return PathFinder.find_spec(name, hidden) if name == "ir_datasets" else None

hidden = sys.path[:]
sys.meta_path.append(Elsewhere())
find = PathFinder.find_spec
PathFinder.find_spec = lambda name, path=None, target=None: (
    None if name == "ir_datasets" and path is None else find(name, path, target)
)
import permed_measures, ir_datasets
"""


@pytest.mark.thorough
def test_data_sets_are_registered_whoever_finds_ir_datasets():
    assert run_python(IN_MEMORY + LOADED) == ALL_LOADED


def test_a_module_that_is_not_yet_whole_is_waited_for(monkeypatch):
    registered, before = [], list(sys.meta_path)
    monkeypatch.setattr(datasets, "_register_or_warn", lambda: registered.append(1))
    monkeypatch.setattr(sys, "meta_path", finders := list(before))
    datasets.register_when_imported()
    assert (finders, registered) == (before, [1])
    for module in (ModuleType("ir_datasets"), None):
        monkeypatch.setitem(sys.modules, "ir_datasets", module)
        datasets.register_when_imported()
        assert isinstance(finders.pop(0), datasets._ImportHook)
    assert (finders, registered) == (before, [1])


def test_what_fails_is_warned_of_and_a_folder_that_cannot_be_made_is_an_error(monkeypatch):
    def fail():
        raise OSError("read-only")

    monkeypatch.setattr(datasets, "register", fail)
    with pytest.warns(
        pm.PermedWarning, match=r"not registered with ir_datasets \(OSError: read-only\)\. Call"
    ):
        datasets._register_or_warn()
    with pytest.raises(pm.InputError, match=r"ir_datasets cannot write into its folder \(read-only\)"):
        datasets.load("medcorpus")


def test_what_is_missing_is_registered_with_its_texts():
    before = ir_datasets.load("permed-sample/literature")
    ir_datasets.registry._registered.pop("permed-sample/literature")
    catalogue._register()
    after = ir_datasets.load("permed-sample/literature")
    assert after is not before
    assert after.documentation() == before.documentation()
    assert after.documentation()["pretty_name"] == "permed-sample"
