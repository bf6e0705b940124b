"""The tests of ir_measures, with our provider in the place of its others for every measure that we have.

    python tests/simulations/peers/of_ir_measures.py FOLDER [theirs]

FOLDER is a copy of github.com/terrierteam/ir_measures at the version that is installed. With ``theirs`` its
own providers are left where they are: what fails then is no matter of ours.
"""

import math
import sys
from pathlib import Path

import ir_measures
from checks import run_unittests
from ir_measures import Metric, Provider, providers

import permed_measures as pm

FILES = ("aggregate", "cwl_eval", "gdeval", "judged", "measures", "providers", "pytrec_eval", "ranx")
"""Those that ask for a measure that we have."""


class Ours(type(pm.provider)):
    """Our provider with ERR, which in a pipeline it leaves to gdeval."""

    supports = Provider.supports


class InsteadOf(Provider):
    """Our provider, and another for what we do not have."""

    def __init__(self, other):
        super().__init__()
        self.other = other

    def supports(self, measure):
        return OURS.supports(measure) or self.other.supports(measure)

    def _evaluator(self, measures, qrels):
        is_ours = all(map(OURS.supports, measures))
        return (OURS if is_ours else self.other).evaluator(measures, qrels)

    def iter_calc(self, measures, qrels, run):
        """Yield the metrics; NaN for a measure that is none, so that the test goes on."""
        try:
            yield from super().iter_calc(measures, qrels, run)
        except AssertionError:  # of its parameters
            yield from (Metric(query, m, math.nan) for m in measures for query in {q.query_id for q in qrels})


OURS = Ours()

if __name__ == "__main__":
    if sys.argv[2:] != ["theirs"]:
        for name in ("pytrec_eval", "cwl_eval", "judged", "msmarco", "gdeval", "ranx", "trectools"):
            setattr(ir_measures, name, InsteadOf(providers.registry[name]))
        providers.PytrecEvalProvider = lambda: ir_measures.pytrec_eval
        ir_measures.DefaultPipeline.providers.insert(0, OURS)
    del providers.registry["ranx"]  # as ir_measures calls it, it takes no frame of pandas 3
    folder = Path(sys.argv[1])
    run_unittests(folder / "tests", [f"test_{name}.py" for name in FILES], folder).report()
