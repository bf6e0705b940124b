"""How many wrong ways to make AP are refuted from the qrels alone, and whether true ones ever are.

Rows of means are made from random runs, AP in one of four ways, nDCG with linear or exponential gains,
printed with four digits in one of the ways that are in use. Then each of the four is asked for; of a wrong
one, only where it would print another number.

    python tests/simulations/possible.py [rows]
"""

import random
import sys
from collections import Counter
from pathlib import Path

sys.path += [str(Path(__file__).parents[1] / folder) for folder in ("", "limits")]

from limit_rows import COLUMNS, outcomes, random_qrels

import permed_measures as pm
from permed_measures.datasets.samples import SAMPLES

QRELS = {
    "100 queries, binary, 20 documents": random_qrels(random.Random(1), 100, 1, 20),
    "300 queries, binary, 8 documents": random_qrels(random.Random(2), 300, 1, 8),
    "40 queries, grades 1 and 2, 8 documents": random_qrels(random.Random(3), 40, 2, 8),
    **{f"permed-sample, {sample.name}": pm.read_qrels(sample.qrels) for sample in SAMPLES},
}


def main(rows):
    for n_columns, columns in COLUMNS.items():
        total = Counter()
        for number, (name, qrels) in enumerate(QRELS.items()):
            counts = outcomes(qrels, rows // (len(QRELS) * len(COLUMNS)), columns, number)
            table = Counter({"true": 0, "true, refuted": 0, "wrong": 0, "wrong, refuted": 0})
            for (made, taken, possible), n in counts.items():
                kind = "true" if made == taken else "wrong"
                table[kind] += n
                table[f"{kind}, refuted"] += n * (not possible)
                if kind == "wrong":
                    total[f"{made} taken for {taken}"] += n
                    total[f"{made} taken for {taken}, refuted"] += n * (not possible)
            total.update(table)
            print(n_columns, "columns", name, dict(table), flush=True)
        print(n_columns, "columns", dict(total), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
