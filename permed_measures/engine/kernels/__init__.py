"""The values of a measure for every query, from the ranks and grades of the judged documents.

Each kernel takes the rankings and the parameters of its measure by their names (None: left out), and returns
a float64 array with a value per query of the judgments. No ids, no input or output, no averaging.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import ir_measures
import numpy as np
from ir_measures.measures import Measure
from numpy.typing import NDArray

from permed_measures.engine.judgments import Judgments
from permed_measures.engine.kernels import binary, checks, graded
from permed_measures.measures.definitions import F1, GAP, Coverage, GradedAP, QMeasure, VariantNDCG

Kernel = Callable[..., NDArray[np.float64]]
Check = Callable[[Judgments, dict[str, Any]], None]


class Supported(NamedTuple):
    """A measure, the kernel that computes it, and the check that refuses judgments it is not defined on."""

    measure: Measure
    kernel: Kernel
    check: Check | None = None


SUPPORTED = [
    Supported(GradedAP, graded.relevance_weighted_average_precision, checks.check_weights),
    Supported(Coverage, binary.success),
    Supported(VariantNDCG, graded.variant_ndcg, checks.check_exponent),
    Supported(GAP, graded.graded_average_precision),
    Supported(QMeasure, graded.q_measure, checks.check_gains),
    Supported(F1, binary.f1),
    Supported(ir_measures.nDCG, graded.ndcg, checks.check_exponent),
    Supported(ir_measures.ERR, graded.expected_reciprocal_rank, checks.check_err),
    Supported(ir_measures.RBP, binary.rank_biased_precision),
    Supported(ir_measures.P, binary.precision),
    Supported(ir_measures.R, binary.recall),
    Supported(ir_measures.RR, binary.reciprocal_rank),
    Supported(ir_measures.AP, binary.average_precision),
    Supported(ir_measures.Success, binary.success),
    Supported(ir_measures.Judged, binary.judged),
    Supported(ir_measures.Rprec, binary.r_precision),
    Supported(ir_measures.IPrec, binary.interpolated_precision),
    Supported(ir_measures.Bpref, binary.binary_preference),
    Supported(ir_measures.infAP, binary.inferred_average_precision),
    Supported(ir_measures.SetP, binary.set_precision),
    Supported(ir_measures.SetR, binary.set_recall),
    Supported(ir_measures.SetF, binary.set_f),
    Supported(ir_measures.SetAP, binary.set_average_precision),
    Supported(ir_measures.NumQ, binary.num_q),
    Supported(ir_measures.NumRet, binary.num_ret),
    Supported(ir_measures.NumRel, binary.num_rel),
]
"""Every measure that is computed here: its kernel, and the check of the judgments that it needs."""

KERNELS: dict[str, Kernel] = {str(each.measure.NAME): each.kernel for each in SUPPORTED}
CHECKS: dict[str, Check] = {str(each.measure.NAME): each.check for each in SUPPORTED if each.check}
