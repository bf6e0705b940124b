"""Rank-biased overlap: how much two rankings of a query agree, over judged and unjudged documents."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log

import numpy as np

from permed_measures.errors import InputError
from permed_measures.tolerances import SUM_NOISE

PERSISTENCE = 0.9
"""The usual probability of going on to the next rank; about ten ranks matter."""


def check_persistence(p: float) -> float:
    """Check the persistence p and return it.

    Raises
    ------
    InputError
        If it is not above 0 and below 1.
    """
    if isinstance(p, bool) or not isinstance(p, (int, float)) or not 0 < p < 1:
        hint = "0.9 looks at about ten ranks, 0.98 at about fifty"
        raise InputError(f"the p of rank-biased overlap must be above 0 and below 1 (found {p!r})", hint=hint)
    return float(p)


def depth_looked_at(p: float) -> int:
    """Compute the number of ranks that matter: all deeper ranks together weigh less than 1e-12."""
    return ceil(log(SUM_NOISE) / log(p))


def rank_biased_overlap(first: Sequence[str], second: Sequence[str], p: float = PERSISTENCE) -> float | None:
    r"""Compute the extrapolated rank-biased overlap of two rankings.

    .. math::

        (1 - p) \sum_{d \ge 1} p^{d-1} A_d, \qquad A_d = \frac{1}{d} \begin{cases}
            X_d & d \le s \\
            X_d + X_s (d - s) / s & s < d \le l \\
            d A_l & d > l
        \end{cases}

    :math:`X_d` counts the documents that both rankings have within rank *d*; *s* and *l* are the lengths of
    the shorter and the longer ranking. Below the end of a list the agreement is assumed to stay the same.

    Parameters
    ----------
    first, second : sequence of str
        Documents in ranked order, each once, with ties broken.
    p : float, above 0 and below 1
        The probability of going on to the next rank: the first 10 ranks weigh 86 % with 0.9.

    Returns
    -------
    float or None
        From 0 (no common document) to 1 (the same ranking); 0 if one list is empty, None if both are empty.

    References
    ----------
    Webber, Moffat and Zobel. A similarity measure for indefinite rankings. TOIS 28(4), 2010, equation 32.

    Examples
    --------
    >>> round(rank_biased_overlap("12345", "23415"), 3), rank_biased_overlap("ab", "ab")
    (0.828, 1.0)
    """
    shorter, longer = sorted((first, second), key=len)
    s, l = len(shorter), len(longer)  # noqa: E741 - the names of the paper
    if not s:
        return None if not l else 0.0
    rank = {doc: n for n, doc in enumerate(shorter, start=1)}
    joins = [max(n, rank[doc]) for n, doc in enumerate(longer, start=1) if doc in rank]
    overlap = np.cumsum(np.bincount(np.array(joins, np.int64), minlength=l + 1)[1:])
    depth = np.arange(1, l + 1)
    agreement = (overlap + overlap[s - 1] * np.maximum(depth - s, 0) / s) / depth
    weights = (1 - p) * p ** (depth - 1.0)
    return float(weights @ agreement + p**l * agreement[-1])
