"""How often columns are said to be whole numbers of a total that they do not have.

    python tests/simulations/whole_numbers.py [columns] [seed]

Columns of 2 to 129 rows with 2 to 4 digits, of arbitrary numbers (anywhere, near each other, means of
recall) and of P@k and Success@k over 10 to 597 queries.
"""

import sys
from collections import Counter

import numpy as np

from permed_measures.papers.claims import parse_claims
from permed_measures.papers.whole_numbers import wholes_in


def means_of_recall(rng, rows, n):
    return [
        np.mean([rng.integers(0, most + 1) / most for most in rng.integers(1, 30, n)]) for _ in range(rows)
    ]


def main(columns=1000, seed=0):
    rng, found, made = np.random.default_rng(seed), Counter(), Counter()
    for _ in range(columns):
        rows, digits = int(rng.choice([2, 3, 5, 8, 15, 30, 129])), int(rng.choice([2, 3, 4]))
        n, k = int(rng.choice([10, 43, 50, 100, 597])), int(rng.choice([1, 3, 5, 10, 20]))
        total, middle = n * k, rng.uniform(0.1, 0.9)
        near = np.clip(rng.normal(middle, 0.02, rows), 0, 1)
        for kind, name, values in (
            ("any number", f"P@{k}", rng.random(rows)),
            ("any number, Success", f"Success@{k}", rng.random(rows)),
            ("numbers near each other", f"P@{k}", near),
            ("means of recall", f"P@{k}", means_of_recall(rng, rows, n)),
            ("P@k", f"P@{k}", rng.integers(0, total + 1, rows) / total),
            ("P@k, near each other", f"P@{k}", (near * total).round() / total),
            ("Success@k", f"Success@{k}", rng.integers(0, n + 1, rows) / n),
        ):
            made[kind] += 1
            for whole in wholes_in(parse_claims([{name: f"{value:.{digits}f}"} for value in values]), n):
                found[kind, whole.is_as_said] += 1
    for kind, n in made.items():
        print(f"{kind:25}{n:6} columns: {found[kind, False]:4} another total, {found[kind, True]:5} as said")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
