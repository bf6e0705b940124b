"""Multiple-testing corrections of p-values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from permed_measures.arrays import Floats


def _holm(p: Floats) -> Floats:
    order = np.argsort(p, kind="stable")
    adjusted = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return np.minimum(adjusted, 1)[np.argsort(order)]


def _benjamini_hochberg(p: Floats) -> Floats:
    from scipy.stats import false_discovery_control

    adjusted: Floats = false_discovery_control(p) if len(p) else p
    return adjusted


CORRECTIONS: dict[str, Callable[[Floats], Floats]] = {
    "holm": _holm,
    "bonferroni": lambda p: np.minimum(p * len(p), 1),
    "benjamini-hochberg": _benjamini_hochberg,
    "none": lambda p: p,
}
"""Functions that adjust the p-values of a family.

Holm 1979 and Bonferroni control the probability of any false rejection; Benjamini & Hochberg 1995 control the
expected share of false rejections.
"""
