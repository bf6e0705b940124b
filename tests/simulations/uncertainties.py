"""How often the intervals of `uncertainty` hold the truth, where the truth is known.

Topics: each conversation of 1 to 5 queries has a difficulty, and each document a grade of 0, 1 or 2 by it; a
run scores documents by their grade and noise. The truth is the mean over 40,000 queries; `interval`
should hold it in 95 of 100 experiments.

Labels: the true grade of a document is that of its label, or with probability 0.2 a neighbouring one,
whatever the run does. The truth is the mean over the same queries with the true grades; `labels` should hold
it.

    python tests/simulations/uncertainties.py [experiments]
"""

import sys

import numpy as np

import permed_measures as pm
from permed_measures.engine.evaluator import evaluated
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.human_labels.agreement import relabelled
from permed_measures.intervals import measure_intervals
from permed_measures.uncertainty_sources.labels import LabelErrors

MEASURES = list(map(pm.parse_measure, ["nDCG@10", "GradedAP@10", "P@1", "Coverage@3"]))
DOCUMENTS = [f"d{number}" for number in range(20)]
SIZES = (20, 50, 200)
"""Numbers of conversations."""
ERROR = 0.2


def made(rng, n_conversations):
    """Return a run's rankings, and the conversation of each query."""
    cluster = np.repeat(np.arange(n_conversations), rng.integers(1, 6, n_conversations))
    n = len(cluster)
    difficulty = rng.normal(size=n_conversations)[cluster]
    latent = rng.normal(size=(n, len(DOCUMENTS))) - 1 - 0.5 * difficulty[:, None]
    grade = (latent > 0).astype(float) + (latent > 0.8)
    score = grade + rng.normal(scale=1.2, size=grade.shape)
    qrels, run = (
        {f"q{number:06}": dict(zip(DOCUMENTS, row, strict=True)) for number, row in enumerate(each.tolist())}
        for each in (grade, score)
    )
    return JudgedRankings.of(Judgments.of(qrels), run), cluster


def held(intervals, truth):
    return [low <= value <= high for (low, high), value in zip(intervals, truth, strict=True)]


def topics(n_conversations, experiments, seed=0):
    """Return for each measure the share of the experiments whose interval holds the population's mean."""
    rng = np.random.default_rng([seed, n_conversations])
    population, cluster = made(rng, 13_000)
    truth = evaluated(MEASURES, population).values.mean(axis=1)  # conversations of all sizes alike
    hits = []
    for _ in range(experiments):
        rankings, cluster = made(rng, n_conversations)
        found = measure_intervals(MEASURES, evaluated(MEASURES, rankings).values.T, cluster)
        hits.append(held([each.value for each in found], truth))
    return np.mean(hits, axis=0)


def labels(n_conversations, experiments, seed=0, draws=300):
    """Return the same of `labels`."""
    rng = np.random.default_rng([seed, n_conversations, 0])
    known = LabelErrors.to_neighbours(ERROR, np.arange(3.0))
    hits = []
    for _ in range(experiments):
        rankings, _ = made(rng, n_conversations)
        judgments = rankings.judgments
        [grade] = known.draws(judgments, 1, int(rng.integers(2**31)))
        truth = evaluated(MEASURES, relabelled(rankings, grade)).values.mean(axis=1)
        drawn = [
            evaluated(MEASURES, relabelled(rankings, each)).values.mean(axis=1)
            for each in known.draws(judgments, draws, int(rng.integers(2**31)))
        ]
        hits.append(held(np.quantile(drawn, [0.025, 0.975], axis=0).T, truth))
    return np.mean(hits, axis=0)


def main(experiments=2000):
    """Print the table."""
    error = 1.96 * np.sqrt(0.95 * 0.05 / experiments)
    print(
        f"Share of {experiments:,} experiments (of labels, half as many) whose 95% interval holds the truth;"
    )
    print(f"by chance 0.95 ± {error:.3f}.\n")
    print("  ".join(["pair      conversations", *map(str, MEASURES)]))
    some = max(experiments // 2, 1)
    lines = {f"interval  {n:13}": (topics, n, experiments) for n in SIZES}
    lines |= {f"labels    {n:13}": (labels, n, some) for n in SIZES[:2]}
    for name, (shares, *how) in lines.items():
        found = shares(*how)
        cells = [f"{share:.3f}".rjust(len(str(m))) for share, m in zip(found, MEASURES, strict=True)]
        print("  ".join([name, *cells]), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
