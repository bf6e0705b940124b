"""Printed differences that are said to be surely significant are so by the test on the runs.

Runs of public collections are evaluated and their means printed with four digits, as tables have them; of
each table `possible` is asked which differences are surely significant. The t-test on the runs has the same
correction for the same pairs. Then random pairs, among them those whose values exclude each other as far as
their means allow. Of the runs of TREC-8 only the means are known: their test is that of such runs.

    python tests/simulations/differences.py [pairs]

Needs PERMED_DATA for the public runs.
"""

import csv
import os
import sys
import time
from pathlib import Path

import numpy as np

import permed_measures as pm
from permed_measures.comparison.tests import t_test
from permed_measures.corrections import CORRECTIONS
from permed_measures.engine.evaluator import ideal_evaluation
from permed_measures.engine.groups import factorized
from permed_measures.engine.judgments import Judgments
from permed_measures.feasibility.differences import ALPHA, SURELY, Differences, Units
from permed_measures.published_tables.claims import parse_claims

MEASURES = ["P@1", "nDCG@10", "R@20", "R@5", "AP@10"]
PUBLISHED = ["P@10", "R@20"]
"""The columns of LitSearch's published table that have no other meaning."""
WHOLE = "P(rel=1)@10"
"""A name that says how it is computed, so that its ceilings are known."""


def values_of(measures, qrels, runs):
    """Return the values of each run by measure, queries in one order."""
    queries = {query: i for i, query in enumerate(qrels)}
    values = {name: {measure: np.zeros(len(queries)) for measure in measures} for name in runs}
    for name, path in runs.items():
        for each in pm.iter_calc(measures, qrels, pm.read_run(path)):
            values[name][str(each.measure)][queries[each.query_id]] = each.value
    return values


def tallied(values, table, qrels):
    """Count the pairs of a table whose runs have these values."""
    return tallied_by(
        lambda pair: values[pair.row][pair.measure] - values[pair.other][pair.measure], table, qrels
    )


def tallied_by(differences, table, qrels):
    """Count the pairs of a table, by measure: all, significant by the runs, certified, falsely so.

    The differences of the queries are those that a function returns of a pair.
    """
    judgments = Judgments.of(qrels)
    units, _ = Units.of(judgments, None, None)
    rows = dict(zip(table, parse_claims(table.values()), strict=True))
    found = Differences.of(rows, [""] * len(rows), judgments, units, dict.fromkeys(rows)).pairs
    apart = np.stack([differences(each) for each in found], 1)
    p = np.array([1.0 if each.p is None else each.p for each in t_test(apart, np.arange(len(apart)))])
    exact = CORRECTIONS["holm"](p)
    counts = {}
    for each, of_runs in zip(found, exact.tolist(), strict=True):
        surely, is_significant = each.verdict == SURELY, of_runs <= ALPHA
        seen = counts.setdefault(each.measure, np.zeros(4, int))
        seen += [1, is_significant, surely, surely and not is_significant]
        assert each.p_at_most is None or each.p_at_most >= of_runs - 1e-9, each
    return counts


def printed(values, digits=4):
    """Print the means of runs, as a table has them."""
    return {
        name: {measure: f"{each.mean():.{digits}f}" for measure, each in of_run.items()}
        for name, of_run in values.items()
    }


def show(name, counts):
    """Print the counts of a table, by measure and in all."""
    for measure, (n, by_runs, surely, falsely) in [*counts.items(), ("all", sum(counts.values()))]:
        print(f"{name:24} {measure:8} {n:4} pairs {by_runs:4} by runs {surely:4} surely {falsely:3} falsely")
    assert sum(counts.values())[3] == 0


def public(data):
    """Count on LitSearch's runs and published table, and on TREC Deep Learning 2019 and 2021."""
    runs = {path.stem: path for path in sorted((data / "litsearch-m040" / "runs").glob("*.jsonl"))}
    qrels = pm.read_qrels(data / "litsearch" / "query_to_texts.jsonl")
    values = values_of(MEASURES, qrels, runs)
    show("litsearch", tallied(values, printed(values), qrels))
    values = values_of(PUBLISHED, qrels, runs)
    lines = (data / "litsearch-m040" / "published.csv").read_text().splitlines()
    heads, *rows = [line.split(",") for line in lines]
    table = {row[0]: {each: row[heads.index(each)] for each in PUBLISHED} for row in rows}
    show("litsearch as published", tallied(values, table, qrels))
    values, table = (
        {
            name: {{"P@10": WHOLE}.get(measure, measure): each for measure, each in row.items()}
            for name, row in of
        }
        for of in (values.items(), table.items())
    )
    show("litsearch, P named whole", tallied(values, table, qrels))
    for folder in ("dl19", "dl21"):
        runs = {path.name: path for path in sorted((data / "outside" / folder).glob("*.trec.gz"))}
        qrels = pm.read_qrels(data / "outside" / folder / "qrels.txt.gz")
        measures = ["P@10", "nDCG@10", "AP(rel=2)@1000", "RR(rel=2)@10"]
        values = values_of(measures, qrels, runs)
        show(folder, tallied(values, printed(values), qrels))


TREC8 = {"map": "AP(rel=1)", "Rprec": "Rprec", "P_10": "P(rel=1)@15", "P_100": "P(rel=1)@100"}
"""Columns of the summaries of TREC-8, as they were computed."""


def filled(mean, most):
    """Return values of queries with a mean, each at most so much: the first queries have what they can."""
    before = np.cumsum(most) - most
    return np.clip(mean * len(most) - before, 0, most)


def excluding(higher, lower, most):
    """Return values of two runs that exclude each other as far as their means allow.

    No query has more than `most`, which falls: the differences are large.
    """
    x = filled(higher, most)
    y = filled(lower, most - x)
    return x, y + filled(lower - y.mean(), (most - y)[::-1])[::-1]


def trec8(data, every=1):
    """Count on the summaries of TREC-8: of two rows, values that exclude each other as their means allow."""
    folder = data / "outside" / "trec8"
    qrels = pm.read_qrels(folder / "qrels.txt.gz")
    with (folder / "summaries.csv").open() as lines:
        rows = [*csv.DictReader(lines)][::every]
    table = {row["run"]: {name: row[column] for column, name in TREC8.items()} for row in rows}
    judgments = Judgments.of(qrels)
    ceilings = {
        name: np.sort(ideal_evaluation(pm.parse_measure(name), judgments).values[0])[::-1]
        for name in TREC8.values()
    }

    def differences(pair):
        low, high = sorted(float(table[name][pair.measure]) for name in (pair.row, pair.other))
        x, y = excluding(high, low, ceilings[pair.measure])
        assert np.allclose([x.mean(), y.mean()], [high, low])
        return x - y

    show("trec8", tallied_by(differences, table, qrels))


def adversarial(rng, n):
    """Return hits of two runs that exclude each other as far as their means allow."""
    first, second = np.sort(rng.integers(0, n + 1, 2))
    x, y = np.zeros(n), np.zeros(n)
    x[:first] = 1
    y[n - second :] = 1  # from the other end
    return x, y


def random_pair(rng, n):
    """Return values of two runs of any kind: hits or shares, alike or not."""
    kind = rng.integers(5)
    if kind == 0:
        return adversarial(rng, n)
    x = rng.beta(*rng.uniform(0.1, 3, 2), n)
    y = np.clip(x + rng.normal(0, 0.3, n), 0, 1) if kind < 3 else rng.beta(*rng.uniform(0.1, 3, 2), n)
    return (np.round(x), np.round(y)) if kind % 2 else (x, y)


def at_random(n_pairs):
    """Count on random pairs, half of them in clusters, with two to four digits."""
    rng, counts = np.random.default_rng(56), np.zeros(4, int)
    for number in range(n_pairs):
        n = int(rng.integers(2, 600))
        x, y = random_pair(rng, n)
        cluster = factorized(rng.integers(0, n, n)) if number % 2 else np.arange(n)
        sizes = np.bincount(cluster)
        units = Units(n, len(sizes), int(sizes.max()), "clusters" * (len(sizes) < n))
        digits = rng.integers(2, 5)
        table = {name: {"P@1": f"{each.mean():.{digits}f}"} for name, each in (("x", x), ("y", y))}
        rows = dict(zip(table, parse_claims(table.values()), strict=True))
        judgments = Judgments.of({f"q{i}": {"a": 1} for i in range(n)})
        [pair] = Differences.of(rows, ["", ""], judgments, units, dict.fromkeys(rows)).pairs
        [of_runs] = t_test((x - y)[:, None], cluster)
        p = 1.0 if of_runs.p is None and (x == y).all() else of_runs.p
        if p is not None:  # else the differences do not vary
            assert pair.p_at_most is None or pair.p_at_most >= p - 1e-9, (pair, p)
            surely = pair.verdict == SURELY
            counts += [1, p <= ALPHA, surely, surely and p > ALPHA]
    show("random", {"P@1": counts})


if __name__ == "__main__":
    start = time.perf_counter()
    at_random(int(sys.argv[1]) if len(sys.argv) > 1 else 5_000)
    if "PERMED_DATA" in os.environ:
        public(Path(os.environ["PERMED_DATA"]))
        trec8(Path(os.environ["PERMED_DATA"]))
    print(f"{time.perf_counter() - start:.0f} s")
