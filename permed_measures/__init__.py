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

from permed_measures.datasets import register_when_imported
from permed_measures.errors import InputError, MeasureError, NoSharedQueryWarning, PermedError, PermedWarning
from permed_measures.measures import GAP, LITSEARCH, MEDCORPUS, Coverage, GradedAP, QMeasure, VariantNDCG
from permed_measures.parsing import parse_measure
from permed_measures.provider import calc, calc_aggregate, evaluator, iter_calc, provider, register

if TYPE_CHECKING:
    from permed_measures.audits import audit as audit
    from permed_measures.comparisons import compare as compare
    from permed_measures.comparisons.plots import plot_by_group as plot_by_group
    from permed_measures.comparisons.plots import plot_cutoffs as plot_cutoffs
    from permed_measures.comparisons.plots import plot_differences as plot_differences
    from permed_measures.comparisons.plots import plot_distribution as plot_distribution
    from permed_measures.comparisons.reranking import reranking as reranking
    from permed_measures.comparisons.saving import save_plot as save_plot
    from permed_measures.crosschecks import crosscheck as crosscheck
    from permed_measures.engine import ceiling as ceiling
    from permed_measures.files import from_relevance_lists as from_relevance_lists
    from permed_measures.files import read_qrels as read_qrels
    from permed_measures.files import read_run as read_run
    from permed_measures.files import scan_run as scan_run
    from permed_measures.groups import evaluate_by as evaluate_by
    from permed_measures.queryids import match_query_ids as match_query_ids
    from permed_measures.writing import write_qrels as write_qrels
    from permed_measures.writing import write_run as write_run

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
]

__version__ = "0.1.0"

_MODULES = {
    "audit": "audits",
    "compare": "comparisons",
    "ceiling": "engine",
    "crosscheck": "crosschecks",
    "evaluate_by": "groups",
    "from_relevance_lists": "files",
    "match_query_ids": "queryids",
    "reranking": "comparisons.reranking",
    "plot_by_group": "comparisons.plots",
    "plot_cutoffs": "comparisons.plots",
    "plot_differences": "comparisons.plots",
    "plot_distribution": "comparisons.plots",
    "read_qrels": "files",
    "read_run": "files",
    "save_plot": "comparisons.saving",
    "scan_run": "files",
    "write_qrels": "writing",
    "write_run": "writing",
}
"""Where the functions are that load numpy: on first use, so that the import stays cheap."""


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"permed_measures.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


register()
register_when_imported()
