"""The data sets are registered with ir_datasets whatever is imported when, and never break its import."""

import pytest
from commands import run_python

from permed_measures.datasets import NAMES

LOADED = f"""
import sys
print(ir_datasets.load('permed-sample').queries_count(), len(set(ir_datasets.registry) & set({NAMES!r})))
"""
ALL_LOADED = f"48 {len(NAMES)}\n"


ORDERS = [
    "import ir_datasets, permed_measures",
    "import permed_measures, ir_datasets",
    "import permed_measures.datasets.catalogue, ir_datasets",
    "import permed_measures, importlib.util; importlib.util.find_spec('ir_datasets'); import ir_datasets",
]


@pytest.mark.parametrize(
    "imports", [ORDERS[0], *(pytest.param(imports, marks=pytest.mark.thorough) for imports in ORDERS[1:])]
)
def test_the_data_sets_are_registered_in_whichever_order_things_are_imported(imports):
    assert run_python(imports + LOADED) == ALL_LOADED


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
