"""How many wrong ways to make AP are refuted from the qrels alone, and whether true ones ever are.

Rows of means are made from random runs, AP in one of four ways, nDCG with linear or exponential gains,
printed with four digits in one of the ways that are in use. Then each of the four is asked for; of a wrong
one, only where it would print another number.

    python tests/simulations/possible.py [rows] [columns]

With PERMED_DATA, rows are also made on the labels of LitSearch and MedCorpus.
"""

import os
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


for folder in ("litsearch", "medcorpus") if "PERMED_DATA" in os.environ else ():
    labels = pm.read_qrels(Path(os.environ["PERMED_DATA"]) / folder / "query_to_texts.jsonl")
    QRELS[folder] = {query: dict(docs) for query, docs in labels.items()}


def main(rows, columns):
    for n_columns in columns:
        total = Counter()
        for number, (name, qrels) in enumerate(QRELS.items()):
            counts = outcomes(qrels, rows // (len(QRELS) * len(COLUMNS)), COLUMNS[n_columns], number)
            table = Counter()
            for (made, taken, verdict), n in counts.items():
                table["true" if made == taken else "wrong", verdict] += n
                total[made, "taken for", taken, verdict] += n
            print(n_columns, "columns", name, dict(table), flush=True)
        print(n_columns, "columns", *total.items(), sep="\n  ", flush=True)


if __name__ == "__main__":
    n_rows, *chosen = map(int, sys.argv[1:] or [500])
    main(n_rows, chosen or COLUMNS)
