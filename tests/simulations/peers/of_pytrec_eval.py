"""The tests of pytrec_eval, with our engine under its `RelevanceEvaluator`.

    python tests/simulations/peers/of_pytrec_eval.py FOLDER

FOLDER is a copy of github.com/terrierteam/pytrec_eval.
"""

import sys
from collections import defaultdict
from pathlib import Path

import pytrec_eval
from checks import run_unittests
from trec_names import measures_of

import permed_measures as pm


class RelevanceEvaluator:
    """Values of the queries that have judgments and are in the run, by query and trec_eval's name."""

    def __init__(self, qrels, measures, relevance_level=1, judged_docs_only_flag=False):
        single = {each for name in measures for each in pytrec_eval.supported_nicknames.get(name, [name])}
        self.qrels = {query: docs for query, docs in qrels.items() if docs}
        self.names = defaultdict(list)
        for each in single:
            for name, measure in measures_of(each, relevance_level, judged_docs_only_flag).items():
                self.names[measure].append(name)

    def evaluate(self, run):
        """Return ``{query: {name: value}}``."""
        found = {query: {} for query in self.qrels if query in run}
        if found and self.names:
            for query, measure, value in pm.iter_calc([*self.names], self.qrels, run):
                if query in found:
                    found[query] |= dict.fromkeys(self.names[measure], value)
        return found


if __name__ == "__main__":
    pytrec_eval.RelevanceEvaluator = RelevanceEvaluator
    run_unittests(Path(sys.argv[1]) / "tests", ["pytrec_eval_tests.py"]).report()
