"""Graded MAP, Coverage and exact nDCG for MedCorpus and LitSearch, as a plugin for ir_measures.

Importing the package registers its measures and its provider with ir_measures:

>>> import ir_measures, permed_measures
>>> from permed_measures import GradedAP, Coverage
>>> qrels = {"q1": {"d1": 2, "d2": 1}, "q2": {"d3": 1}}
>>> run = {"q1": {"d2": 2.0, "d1": 1.0}, "q2": {"d4": 1.0}}
>>> ir_measures.calc_aggregate([GradedAP @ 10], qrels, run)
{GradedAP@10: 0.375}
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from permed_measures.errors import InputError, MeasureError, NoSharedQueryWarning, PermedError, PermedWarning
from permed_measures.files import from_relevance_lists, read_qrels, read_run, write_run
from permed_measures.measures import GAP, LITSEARCH, MEDCORPUS, Coverage, GradedAP, QMeasure, VariantNDCG
from permed_measures.parsing import parse_measure
from permed_measures.provider import calc, calc_aggregate, evaluator, iter_calc, provider, register

if TYPE_CHECKING:
    from permed_measures.crosschecks import crosscheck as crosscheck
    from permed_measures.engine import ceiling as ceiling

__all__ = [
    "GAP",
    "LITSEARCH",
    "MEDCORPUS",
    "Coverage",
    "GradedAP",
    "InputError",
    "MeasureError",
    "NoSharedQueryWarning",
    "PermedError",
    "PermedWarning",
    "QMeasure",
    "VariantNDCG",
    "calc",
    "calc_aggregate",
    "ceiling",
    "crosscheck",
    "evaluator",
    "from_relevance_lists",
    "iter_calc",
    "parse_measure",
    "provider",
    "read_qrels",
    "read_run",
    "register",
    "write_run",
]

__version__ = "0.1.0"

_NEEDS_NUMPY = {"ceiling": "permed_measures.engine", "crosscheck": "permed_measures.crosschecks"}


def __getattr__(name: str) -> Any:
    if name in _NEEDS_NUMPY:
        return getattr(import_module(_NEEDS_NUMPY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


register()
