"""Comparisons that tests of plots draw, and what they read off the plots."""

import random

import permed_measures as pm
from permed_measures.comparisons.compare import compare
from permed_measures.comparisons.plots.by_group import plot_by_group

TURN, CONVERSATION = r"_(\d+)$", r"^(.*)_"


QRELS = {f"{c}_{turn}": {"a": 1, "b": 1} for c in "uvwxyz" for turn in (1, 2, 3)}


def made_runs(names, seed=0):
    """Return runs whose scores are drawn."""
    rng = random.Random(seed)
    return {name: {q: {d: rng.random() for d in "abcdef"} for q in QRELS} for name in names}


def made(names=("old", "new"), measures=("RR", "P@1"), **options):
    options = {"baseline": names[0], "tests": (), "resamples": 200, **options}
    return compare(QRELS, made_runs(names), measures, **options)


def per_query(qrels, run, measure):
    """Return the value of each query of the qrels."""
    return {metric.query_id: metric.value for metric in pm.iter_calc([measure], qrels, run)}


def texts(ax):
    """Return what a legend says."""
    return [text.get_text() for text in ax.get_legend().get_texts()]


def labels_of_x(ax):
    return [text.get_text() for text in ax.get_xticklabels()]


def line(ax, name):
    [found] = [each for each in ax.lines if each.get_label() == name]
    return found


def grouped(by=TURN, names=("old", "new")):
    """Draw the means by group."""
    return plot_by_group(made(names, by=by))


HARD = ["cost $5$ and $x^2$", "\\alpha_{1} $", "_hidden", "two\nlines", "100% & <b>"]
