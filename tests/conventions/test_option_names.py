"""The names of options and values are written in the records; other places need a reason."""

import ast
from collections import Counter
from pathlib import Path

import permed_measures
from permed_measures.conventions import per_query, records
from permed_measures.conventions.records import OPTIONS

PACKAGE = Path(permed_measures.__file__).parent
ROOMS = ("conventions", "auditing", "identification", "feasibility")
DEFINED = "the name of an option is defined here"
KERNEL = "a name in the tables of the kernels, from which the value comes"
TYPED = "how ir_measures types the value"
KEY = "a column of results, in JSON or in a table"
PARAMETER = "the name of a parameter of measures or functions"
SHAPE = "what functions take, or programs read"
WORD = "a word of a sentence, or of other people's output"
REASONS = {
    (
        "conventions/per_query.py",
        DEFINED,
    ): "level weights denominator per_hit tied gain discount ideal negative precision recall ranks success",
    ("conventions/per_query.py", KERNEL): "zipf run cutoff",
    ("conventions/describe.py", TYPED): "log2 linear exp binary binary",
    ("conventions/rankings.py", "the labels that it makes have this policy"): "listed",
    ("conventions/options.py", WORD): "none",
    ("feasibility/candidates.py", PARAMETER): "cutoff",
    ("feasibility/candidates.py", "the one query set that is tried beside the usual one"): "with_relevant",
    ("feasibility/reports.py", KEY): "labels queries depth",
    ("feasibility/reports.py", WORD): "all",
    ("feasibility/differences.py", WORD): "queries",
    ("feasibility/unprinted.py", PARAMETER): "depth",
    ("identification/forms.py", SHAPE): "relevant relevant relevant relevant relevant grades grades",
    ("identification/forms.py", PARAMETER): "cutoff depth",
    ("identification/identify.py", "the value of ideal by which nDCG is DCG"): "none",
    ("identification/identify.py", WORD): "any",
    ("identification/identify.py", PARAMETER): "qrels run qrels run",
    ("identification/program.py", SHAPE): "trec",
    ("identification/program.py", WORD): "all",
    ("identification/suite.py", KEY): "qrels run",
    ("identification/files.py", SHAPE): "trec",
    ("auditing/reports.py", KEY): "ties run run best",
    ("auditing/answers.py", "a verdict"): "none",
    ("auditing/messages.py", WORD): "none",
    ("auditing/audit.py", "the name of a run that has none"): "run",
}
"""The texts that equal a name of an option or value, by file and reason."""
MOST = 59


def test_options_and_values_are_named_in_their_records():
    names = {*OPTIONS} | {value for option in OPTIONS.values() for value in option.values}
    found = Counter()
    for room in ROOMS:
        for path in sorted((PACKAGE / room).glob("*.py")):
            if path != Path(records.__file__):
                texts = texts_of(ast.parse(path.read_text(encoding="utf-8")))
                found.update((f"{room}/{path.name}", text) for text in texts if text in names)
    expected = Counter((file, text) for (file, _), texts in REASONS.items() for text in texts.split())
    assert found == expected
    assert found.total() <= MOST


def texts_of(tree):
    """Yield the strings of a module except docstrings."""
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


def test_the_name_of_each_option_is_a_constant():
    defined = {**vars(per_query), **vars(records)}
    assert {*OPTIONS} <= {
        value for name, value in defined.items() if name.isupper() and isinstance(value, str)
    }
