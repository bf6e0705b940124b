"""The values of a measure for every query, from the ranks and grades of the judged documents.

Each kernel takes the rankings and the parameters of its measure by their names (None: left out), and returns
a float64 array with a value per query of the judgments. No ids, no input or output, no averaging.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from permed_measures.engine.judgments import Judgments
from permed_measures.engine.kernels import binary, checks, graded

__all__ = ["CHECKS", "KERNELS"]

KERNELS: dict[str, Callable[..., NDArray[np.float64]]] = {
    "GradedAP": graded.graded_average_precision,
    "Coverage": binary.success,
    "VariantNDCG": graded.variant_ndcg,
    "GAP": graded.graded_average_precision_by_thresholds,
    "QMeasure": graded.q_measure,
    "nDCG": graded.ndcg,
    "ERR": graded.expected_reciprocal_rank,
    "RBP": binary.rank_biased_precision,
    "P": binary.precision,
    "R": binary.recall,
    "RR": binary.reciprocal_rank,
    "AP": binary.average_precision,
    "Success": binary.success,
    "Judged": binary.judged,
    "Rprec": binary.r_precision,
    "IPrec": binary.interpolated_precision,
    "Bpref": binary.binary_preference,
    "infAP": binary.inferred_average_precision,
    "SetP": binary.set_precision,
    "SetR": binary.set_recall,
    "SetF": binary.set_f,
    "SetAP": binary.set_average_precision,
    "NumQ": binary.num_q,
    "NumRet": binary.num_ret,
    "NumRel": binary.num_rel,
}
"""The kernel of each measure; it takes the measure's parameters by name."""

CHECKS: dict[str, Callable[[Judgments, dict[str, Any]], None]] = {
    "GradedAP": checks.check_weights,
    "QMeasure": checks.check_gains,
    "VariantNDCG": checks.check_exponent,
    "nDCG": checks.check_exponent,
    "ERR": checks.check_err,
}
"""What is checked on the judgments before a measure is computed; it takes the measure's parameters."""
