"""How far the agreement of two orders of runs depends on which queries people judged.

Runs rank the documents of TREC RAG 2025 by the mean of people's and the model's grades and noise: eight runs
with more or less noise, 12 times. Printed is how far tau-b of the orders by both sets of labels on n queries,
chosen at random, is from that on all 22: the mean, and the standard deviation.

    PERMED_DATA=... python tests/simulations/orders.py
"""

import os
from pathlib import Path

import numpy as np

import permed_measures as pm
from permed_measures.human_labels.agreement import tau_b


def by_query(qrels, run):
    return [
        value
        for _, value in sorted((each.query_id, each.value) for each in pm.iter_calc(["nDCG@10"], qrels, run))
    ]


def main(repeats=12, samples=40):
    rng, folder = np.random.default_rng(0), Path(os.environ["PERMED_DATA"]) / "outside" / "rag25"
    people, model = (pm.read_qrels(folder / f"{name}.qrels.gz") for name in ("human", "llm"))
    for spread in (0.3, 1.0):
        apart = {n: [] for n in (3, 5, 8, 10, 15)}
        for _ in range(repeats):
            noises = 1.5 * np.exp(spread * rng.normal(size=8))
            runs = [
                {
                    q: {d: (g + people[q][d]) / 2 + noise * rng.normal() for d, g in docs.items()}
                    for q, docs in model.items()
                }
                for noise in noises
            ]
            found = [np.array([by_query(qrels, run) for run in runs]) for qrels in (model, people)]
            every = tau_b(*(values.mean(axis=1) for values in found))
            for n, taus in apart.items():
                for _ in range(samples):
                    chosen = rng.choice(len(people), n, replace=False)
                    taus.append(tau_b(*(values[:, chosen].mean(axis=1) for values in found)) - every)
        shown = (f"{n}: {np.mean(taus):+.2f} ({np.std(taus):.2f})" for n, taus in apart.items())
        print(f"noise spread by {spread}:", *shown, sep="  ", flush=True)


if __name__ == "__main__":
    main()
