"""An evaluation script as people have them, to try ``permed-measures identify`` on."""


def mean_ap(qrels: dict[str, dict[str, float]], run: dict[str, dict[str, float]]) -> float:
    """Return the mean over the queries of the run; documents of grade 1 count half."""
    total = 0.0
    for query, scores in run.items():
        grades = qrels.get(query, {})
        n_found, precisions = 0, 0.0
        for rank, document in enumerate(list(scores)[:10], start=1):
            if grades.get(document, 0) >= 1:
                n_found += 1
                precisions += n_found / rank * grades[document] / 2
        n_relevant = sum(grade >= 1 for grade in grades.values())
        total += precisions / min(n_relevant, 10) if n_relevant else 0.0
    return total / len(run)
