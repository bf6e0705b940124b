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

import sys

try:
    from importlib import import_module
    from typing import TYPE_CHECKING, Any

    # ir_measures comes before our own modules: a version that finds providers by entry points imports ours
    # during its own import, and a module of ours that waits for ir_measures would be half loaded then.
    import ir_measures  # noqa: F401

    from permed_measures.datasets import register_when_imported
    from permed_measures.errors import (
        InputError,
        MeasureError,
        NoSharedQueryWarning,
        PermedError,
        PermedWarning,
    )
    from permed_measures.evaluation import (
        calc,
        calc_aggregate,
        ceiling,
        evaluate_by,
        evaluator,
        iter_calc,
        match_query_ids,
        provider,
        register,
    )
    from permed_measures.measures.definitions import (
        F1,
        GAP,
        LITSEARCH,
        MEDCORPUS,
        Coverage,
        GradedAP,
        QMeasure,
        VariantNDCG,
    )
    from permed_measures.measures.parsing import parse_measure
except KeyboardInterrupt:
    # The import takes the first second of each command; Ctrl-C ends it without a traceback too.
    program = "".join(sys.argv[:1]).removesuffix(".exe")
    if program.endswith("permed-measures") or (program == "-m" and "permed_measures" in sys.orig_argv):
        exec("")  # as in the command line
        sys.exit(130)
    raise

if TYPE_CHECKING:
    from permed_measures.auditing.audit import audit as audit
    from permed_measures.comparison.compare import compare as compare
    from permed_measures.comparison.plots import plot_forest as plot_forest
    from permed_measures.comparison.plots import plot_queries as plot_queries
    from permed_measures.comparison.reranking import reranking as reranking
    from permed_measures.crosschecks import crosscheck as crosscheck
    from permed_measures.evaluated import evaluate as evaluate
    from permed_measures.feasibility.possible import possible as possible
    from permed_measures.identification.identify import identify as identify
    from permed_measures.inputs.door import read_qrels as read_qrels
    from permed_measures.inputs.door import read_run as read_run
    from permed_measures.inputs.read import from_relevance_lists as from_relevance_lists
    from permed_measures.inputs.write import write_qrels as write_qrels
    from permed_measures.inputs.write import write_run as write_run
    from permed_measures.plots.panels import plot_means as plot_means
    from permed_measures.plots.savefig import save_plot as save_plot
    from permed_measures.records.gate import assert_no_regression as assert_no_regression
    from permed_measures.records.gate import gate as gate
    from permed_measures.records.leaderboard import leaderboard as leaderboard
    from permed_measures.records.record import record as record
    from permed_measures.records.verify import verify as verify
    from permed_measures.uncertainty_sources.uncertainty import uncertainty as uncertainty

__version__ = "0.2.0"

GradedMAP = GradedAP
"""Another name for GradedAP, after the PerMed papers' MAP; ``str`` gives GradedAP."""

_LAZY = {
    "assert_no_regression": "records.gate",
    "audit": "auditing.audit",
    "compare": "comparison.compare",
    "crosscheck": "crosschecks",
    "evaluate": "evaluated",
    "from_relevance_lists": "inputs.read",
    "gate": "records.gate",
    "identify": "identification.identify",
    "leaderboard": "records.leaderboard",
    "plot_forest": "comparison.plots",
    "plot_means": "plots.panels",
    "plot_queries": "comparison.plots",
    "possible": "feasibility.possible",
    "read_qrels": "inputs.door",
    "read_run": "inputs.door",
    "record": "records.record",
    "reranking": "comparison.reranking",
    "save_plot": "plots.savefig",
    "uncertainty": "uncertainty_sources.uncertainty",
    "verify": "records.verify",
    "write_qrels": "inputs.write",
    "write_run": "inputs.write",
}
"""Functions that need numpy, and their modules; loaded on first use, so that the import stays fast."""

__all__ = [
    "F1",
    "GAP",
    "LITSEARCH",
    "MEDCORPUS",
    "Coverage",
    "GradedAP",
    "GradedMAP",
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
    "evaluate_by",
    "evaluator",
    "iter_calc",
    "match_query_ids",
    "parse_measure",
    "provider",
    "register",
]
__all__ += _LAZY


def __getattr__(name: str) -> Any:
    if name == "spark":
        return import_module("permed_measures.spark")
    if name in _LAZY:
        return getattr(import_module(f"permed_measures.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "datasets", "spark"])


register()
register_when_imported()
