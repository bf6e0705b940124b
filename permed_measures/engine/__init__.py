"""Compute the values of measures from qrels and a run: judgments, ranks, kernels, evaluation."""
