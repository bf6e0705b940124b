"""The tests of ranx's measures and of its `evaluate`, with our engine under both.

    python tests/simulations/peers/of_ranx.py FOLDER

FOLDER is a copy of github.com/AmenRa/ranx. An assert statement counts once; those after one that fails were
not reached, and have not passed.
"""

import ast
import sys
import types
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
import ranx
from ir_measures import AP, RBP, RR, Bpref, P, R, Rprec, SetF, SetP, SetR, Success, nDCG

import permed_measures as pm
from permed_measures import VariantNDCG

MEASURES = {
    "precision": lambda k: P @ k if k else SetP,
    "recall": lambda k: R @ k if k else SetR,
    "f1": lambda _: SetF,
    "hit_rate": lambda k: Success @ k,
    "average_precision": lambda k: AP @ k if k else AP,
    "reciprocal_rank": lambda k: RR @ k if k else RR,
    "r_precision": lambda _: Rprec,
    "bpref": lambda _: Bpref,
    "rank_biased_precision": lambda p: RBP(p=p, rel=1),
    "ndcg": lambda k: nDCG @ k if k else nDCG,
    "ndcg_burges": lambda k: VariantNDCG @ k if k else VariantNDCG,
}
NAMES = {"map": "average_precision", "mrr": "reciprocal_rank", "r-precision": "r_precision"}


def documents(rows):
    """Yield the ids of rows in their order, as ranx takes them; one that comes again only takes up a rank."""
    for rank, doc in enumerate(rows[:, 0]):
        yield f"again, {rank}" if doc in rows[:rank, 0] else str(doc)


def values(name, qrels, run, parameter=0):
    """Return the value of a measure for each query of two lists of arrays of document and number."""
    judgments = {str(i): {str(d): int(grade) for d, grade in rows} for i, rows in enumerate(qrels)}
    ranked = {str(i): {doc: -rank for rank, doc in enumerate(documents(rows))} for i, rows in enumerate(run)}
    if name == "hits":
        return values("precision", qrels, run, parameter) * parameter
    found = {m.query_id: m.value for m in pm.iter_calc([MEASURES[name](parameter)], judgments, ranked)}
    return np.array([found[query] for query in judgments])


def evaluate(qrels, run, metrics, return_std=False):
    """Evaluate as ranx does: means by name, or one mean; a `ranx.Run` keeps all values."""
    if hasattr(qrels, "keys") and set(qrels.keys()) != set(run.keys()):
        raise ValueError("Qrels and run have other queries.")
    named = [metrics] if isinstance(metrics, str) else metrics
    lists = []
    for each, kind in ((qrels, ranx.Qrels), (run, ranx.Run)):
        each = kind(each) if isinstance(each, dict) else each
        lists.append(each.to_typed_list() if isinstance(each, kind) else each)
    found = {}
    for metric in named:
        name, _, k = metric.partition("@")
        scores = values(NAMES.get(name, name), *lists, int(k or 0))
        found[metric] = {"mean": scores.mean(), "std": scores.std()} if return_std else scores.mean()
        if isinstance(run, ranx.Run):
            run.scores[metric] = dict(zip(run.get_query_ids(), scores, strict=True))
            run.std_scores[metric] = scores.std()
    return found if len(named) > 1 else found[metrics]


def install():
    """Put ours in the place of ranx's measures and of its ``evaluate``."""
    ranx.evaluate = evaluate
    for name in (*MEASURES, "hits", "dcg", "dcg_burges"):

        def function(qrels, run, parameter=0, name=name):
            return values(name, qrels, run, parameter)

        setattr(ranx.metrics, name, function)
        sys.modules[f"ranx.metrics.{name}"] = types.SimpleNamespace(**{name: function})


class Passed:
    """What pytest tells: the assert statements that passed, and why tests failed."""

    def __init__(self):
        self.lines = defaultdict(set)
        self.reasons = []

    def pytest_assertion_pass(self, item, lineno):
        self.lines[item.path].add(lineno)

    def pytest_runtest_logreport(self, report):
        if report.failed:
            message = report.longrepr.reprcrash.message
            self.reasons.append(f"{report.nodeid.rpartition('/')[2]}: {message[:100]}")


def main(folder):
    """Run the tests, and print how many assert statements pass."""
    files = [folder / "metrics_test.py", *sorted((folder / "metrics").glob("*.py"))]
    files.append(folder / "meta" / "evaluate_test.py")
    install()
    plugin = Passed()
    options = ["-q", "--noconftest", "-pno:cacheprovider", "-oenable_assertion_pass_hook=true", "-c/dev/null"]
    pytest.main([*options, "--import-mode=importlib", *map(str, files)], plugins=[plugin])
    total = sum(isinstance(n, ast.Assert) for file in files for n in ast.walk(ast.parse(file.read_text())))
    print(f"{sum(map(len, plugin.lines.values()))} of {total} passed", *plugin.reasons, sep="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) / "tests" / "unit" / "ranx")
