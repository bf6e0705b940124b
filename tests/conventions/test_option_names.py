"""The name of an option stands in one place, and elsewhere only as something else."""

import ast
from pathlib import Path

import permed_measures
from permed_measures.conventions import per_query, records
from permed_measures.conventions.records import OPTIONS

PACKAGE = Path(permed_measures.__file__).parent
OTHERS = {
    "formulas.py": {"precision"},  # what a document adds to a sum
    "differences.py": {"queries"},  # what is counted, or conversations
    "forms.py": {"depth"},  # the name of an argument
    "unprinted.py": {"depth"},  # the name of an argument
    "reports.py": {"labels", "queries", "ties", "depth"},  # keys of JSON
}
"""By file the names that are not those of options there."""


def test_the_name_of_an_option_is_written_once():
    found = []
    for room in ("conventions", "auditing", "identification", "feasibility"):
        for path in sorted((PACKAGE / room).glob("*.py")):
            if path not in (Path(records.__file__), Path(per_query.__file__)):
                nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
                texts = {each.value for each in nodes if isinstance(each, ast.Constant)}
                found += [(path.name, name) for name in texts & {*OPTIONS} - OTHERS.get(path.name, set())]
    assert found == []
    defined = {**vars(per_query), **vars(records)}
    assert {*OPTIONS} <= {
        value for name, value in defined.items() if name.isupper() and isinstance(value, str)
    }
