"""Draw the picture of the README: one ranking, one set of labels, many numbers called MAP@10.

    python notebooks/picture.py query_to_texts.jsonl

The argument is the file of MedCorpus labels, which is also the published run.
"""

import sys
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

import permed_measures as pm

BARS = {
    "AP@10": "relevant from grade 1 on · trec_eval, pytrec_eval, ranx",
    "AP(rel=2)@10": "relevant from grade 2 on",
    "GradedAP@10": "grade 1 counts half, over all relevant documents · PerMed, as published",
    "GradedAP(norm='ideal')@10": "grade 1 counts half, over the best possible",
}


def main(labels: str) -> None:
    """Write the picture beside this file."""
    qrels, run = pm.read_qrels(labels), pm.read_run(labels)
    values = pm.calc_aggregate([pm.parse_measure(name) for name in BARS], qrels, run)
    matplotlib.rcParams.update(
        {"svg.fonttype": "none", "svg.hashsalt": "permed", "font.family": "sans-serif"}
    )
    figure = Figure(figsize=(8, 3.0), layout="constrained")
    axes = figure.subplots()
    for place, (measure, value) in enumerate(values.items()):
        axes.barh(place, value, height=0.42, color="#2f6f9f")
        axes.text(value + 0.01, place, f"{value:.4f}", va="center", weight="bold")
        axes.text(0, place - 0.26, f"{measure}: {BARS[str(measure)]}", va="bottom", fontsize=8.5)
    axes.set(xlim=(0, 1), ylim=(len(values) - 0.5, -0.75), yticks=[])
    axes.set_title("MedCorpus, one ranking, one set of labels: “MAP@10”", loc="left", fontsize=11)
    axes.spines[["top", "right", "left"]].set_visible(False)
    figure.savefig(Path(__file__).with_name("map_at_10.svg"), metadata={"Date": None})


if __name__ == "__main__":
    main(sys.argv[1])
