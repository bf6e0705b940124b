"""From qrels and a run to the values of measures: judgments, ranks, kernels, evaluation."""
