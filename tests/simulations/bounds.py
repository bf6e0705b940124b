"""Measures that a row does not print lie within the bounds that are said of them.

Rows are made from random runs and from public ones: each measure in turn is hidden, and bounded from some of
the others, which are printed with two to four digits. Counted are the bounds that miss the true mean (none
may), how wide they are, and how often the order of two rows is sure, and right.

    python tests/simulations/bounds.py [rows]

Needs PERMED_DATA for the public runs.
"""

import csv
import os
import random
import sys
import time
from itertools import combinations
from pathlib import Path

import permed_measures as pm

sys.path.append(str(Path(__file__).parents[1]))  # where this is not imported by a test
from simulations.possible import random_qrels, random_run

WRITTEN = {"P@10": "P(rel=1)@10", "nDCG@10": "nDCG(dcg='log2')@10", "AP@10": "AP(rel=1)@10"}
"""How a row names a measure so that it has no other meaning."""
RANDOM = [
    *("P@1", "P@5", "P@10", "R@5", "R@20", "RR", "RR@10", "AP", "AP@10", "nDCG", "nDCG@5", "nDCG@10"),
    *("Success@5", "P(rel=2)@5", "GradedAP@10", "nDCG(dcg='exp-log2')@10"),
]


class Tally:
    """What was found of bounds and of the order of rows."""

    def __init__(self):
        self.n = self.missed = self.pairs = self.sure = self.wrong = 0
        self.widths = []

    def add(self, bounds, true):
        """Count the bounds of one measure, of which the true means are known by row."""
        for each in bounds.found:
            assert each.low is not None, each
            self.n += 1
            self.missed += not each.low - 1e-9 <= true[each.row] <= each.high + 1e-9
            self.widths.append(each.high - each.low)
        orders = [*bounds.orders()]
        sure = [each for each in orders if each.verdict == "surely above"]
        self.pairs, self.sure = self.pairs + len(orders), self.sure + len(sure)
        self.wrong += sum(true[each.row] <= true[each.other] for each in sure)

    def __str__(self):
        """Say what was counted."""
        width = sum(self.widths) / max(len(self.widths), 1)
        return (
            f"{self.missed} of {self.n} bounds missed, mean width {width:.3f}; "
            f"order sure for {self.sure} of {self.pairs} pairs, {self.wrong} wrong"
        )


def bounded(qrels, means, printed, hidden, digits=4, depth=None):
    """Bound a measure of rows that print others."""
    rows = {
        name: {WRITTEN.get(each, each): f"{of_run[each]:.{digits}f}" for each in printed}
        for name, of_run in means.items()
    }
    return pm.possible(qrels, rows, bound=hidden, depth=depth).bounds


def means_of(qrels, runs, measures):
    """Return the means of each run, by the names of the measures."""
    parsed = {pm.parse_measure(name): name for name in measures}
    return {
        name: {parsed[each]: value for each, value in pm.calc_aggregate([*parsed], qrels, run).items()}
        for name, run in runs.items()
    }


def at_random(rng, n_rows):
    """Return what is found of rows of random runs, three to a table."""
    tally = Tally()
    while tally.n < n_rows:
        qrels = random_qrels(rng, rng.choice([1, 5, 20, 60]), rng.choice([1, 2, 3]), rng.choice([3, 8, 20]))
        graded = max(grade for docs in qrels.values() for grade in docs.values())
        names = [name for name in RANDOM if graded <= 2 or not name.startswith("GradedAP")]
        runs = {f"run{i}": random_run(rng, qrels) for i in range(3)}
        hidden, *printed = rng.sample(names, rng.randint(2, 5))
        means, depth = means_of(qrels, runs, [hidden, *printed]), rng.choice([None, 20, 50])
        found = bounded(qrels, means, printed, hidden, rng.randint(2, 4), depth)
        tally.add(found, {name: of_run[hidden] for name, of_run in means.items()})
    return tally


LITSEARCH = {
    ("P@10", "R@20", "nDCG@20"): ["nDCG@10", "AP@10", "RR@10", "P@1", "R@5"],
    ("P@1", "nDCG@10"): ["AP@10", "RR@10", "R@5"],
}
"""Which measures are bounded from which others."""
DEEP_LEARNING = ["nDCG@10", "P@10", "RR(rel=2)@10", "AP(rel=2)@100", "R(rel=2)@100"]
TREC8 = {
    "map": "AP(rel=1)",
    "Rprec": "Rprec",
    "P_10": "P(rel=1)@15",
    "P_100": "P(rel=1)@100",
    "P_1000": "P(rel=1)@1000",
}
"""The columns of the summaries, of which P_10 is precision at 15, as it was computed."""


def litsearch(data, runs=None):
    """Yield what is found of the public runs on LitSearch: all, or some by their names."""
    qrels = pm.read_qrels(data / "litsearch" / "query_to_texts.jsonl")
    paths = sorted((data / "litsearch-m040" / "runs").glob("*.jsonl"))
    read = {path.stem: pm.read_run(path) for path in paths if runs is None or path.stem in runs}
    names = {name for printed, hidden in LITSEARCH.items() for name in (*printed, *hidden)}
    means = means_of(qrels, read, sorted(names))
    for printed, hidden in LITSEARCH.items():
        for each in hidden:
            tally = Tally()
            tally.add(
                bounded(qrels, means, printed, each),
                {name: of_run[each] for name, of_run in means.items()},
            )
            yield f"litsearch {each} from {', '.join(printed)}", tally


def deep_learning(data, name):
    """Yield what is found of two public runs, with each measure hidden in turn."""
    folder = data / "outside" / name
    qrels = pm.read_qrels(folder / "qrels.txt.gz")
    runs = {path.name: pm.read_run(path) for path in sorted(folder.glob("BM25*"))}
    means = means_of(qrels, runs, DEEP_LEARNING)
    for hidden in DEEP_LEARNING:
        printed = [each for each in DEEP_LEARNING if each != hidden]
        tally = Tally()
        tally.add(
            bounded(qrels, means, printed, hidden),
            {run: of_run[hidden] for run, of_run in means.items()},
        )
        yield f"{name} {hidden}", tally


def trec8(data, every=16):
    """Yield what is found of some summaries of TREC-8, each of these columns hidden in turn.

    A run of TREC has up to 1,000 documents for each query. Of the true mean only four digits are known.
    """
    folder = data / "outside" / "trec8"
    qrels = pm.read_qrels(folder / "qrels.txt.gz")
    with (folder / "summaries.csv").open() as lines:
        rows = [*csv.DictReader(lines)][::every]
    for hidden, measure in TREC8.items():
        table = {row["run"]: {TREC8[each]: row[each] for each in TREC8 if each != hidden} for row in rows}
        found = pm.possible(qrels, table, bound=measure, depth=1000).bounds
        true = {row["run"]: float(row[hidden]) for row in rows}
        known = [each for each in found.found if each.low is not None]
        missed = [each for each in known if not each.low - 5e-5 <= true[each.row] <= each.high + 5e-5]
        width = sum(each.high - each.low for each in known) / len(known)
        sure = [each for each in found.orders() if each.verdict == "surely above"]
        wrong = [each for each in sure if true[each.row] < true[each.other]]
        n = len([*combinations(rows, 2)])
        yield (
            f"trec8 {measure}",
            f"{len(missed)} of {len(known)} bounds missed ({len(found.found) - len(known)} without), "
            f"mean width {width:.3f}; order sure for {len(sure)} of {n} pairs, {len(wrong)} wrong",
        )
        assert not missed, missed
        assert not wrong, wrong


def main(n_rows=300):
    """Print what is found of random rows and of public ones."""
    print("random:", tally := at_random(random.Random(56), n_rows), flush=True)
    assert not tally.missed + tally.wrong
    if "PERMED_DATA" not in os.environ:
        return
    data = Path(os.environ["PERMED_DATA"])
    for name, tally in [*litsearch(data), *deep_learning(data, "dl19"), *deep_learning(data, "dl21")]:
        print(f"{name}:", tally, flush=True)
        assert not tally.missed + tally.wrong
    for name, text in trec8(data):
        print(f"{name}:", text, flush=True)


if __name__ == "__main__":
    start = time.perf_counter()
    main(*map(int, sys.argv[1:]))
    print(f"{time.perf_counter() - start:.0f} s")
