"""Which run gives the numbers of a row: how many of them come out by one convention with a name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from permed_measures.audits.claims import Claim
from permed_measures.audits.conventions import NAMED
from permed_measures.audits.matches import audit_claim
from permed_measures.audits.options import Rounding
from permed_measures.audits.run_variants import RunVariants

Values = Mapping[str, NDArray[np.float64]]
"""By the name of a claim its value by each convention with a name."""

_ROUNDED = np.array([named.setting.rounding is not Rounding.EXACT for named in NAMED])
_FIRST_TO = next(each.value for each in Rounding if each is not Rounding.EXACT)


def named_values(claims: Iterable[Claim], run: RunVariants) -> Values:
    """Compute claims by the conventions with a name; NaN for one that does not have a measure."""
    found = {}
    for claim in claims:
        choices = [named.choice(claim.family) for named in NAMED if named.has(claim.family)]
        audited = audit_claim("", claim, run, list(dict.fromkeys(choices)))
        found[claim.name] = np.array(
            [
                audited.at(named.setting, named.choice(claim.family), claim.cutoffs[0]).value
                if named.has(claim.family)
                else np.nan
                for named in NAMED
            ]
        )
    return found


def printed_by(
    claim: Claim, values: NDArray[np.float64], rounded: NDArray[np.bool_] = _ROUNDED
) -> NDArray[np.bool_]:
    """Return which values print as a claim by either of its readings; some were rounded before."""
    found = np.zeros(len(values), bool)
    for each in filter(None, (claim, claim.other)):
        found |= np.where(rounded, each.matches(values, _FIRST_TO), each.matches(values))
    return found


def fit(claims: Iterable[Claim], values: Values) -> int:
    """Return how many claims one convention with a name prints, at most."""
    return int(np.sum([printed_by(each, values[each.name]) for each in claims], axis=0).max())


def best_fits(fits: NDArray[np.int64], sizes: NDArray[np.int64]) -> list[int | None]:
    """Return the column of each row that fits clearly best: two numbers or the only one, and more than half.

    Parameters
    ----------
    fits : ndarray, shape (number of rows, number of runs)
    sizes : ndarray, shape (number of rows,)
        How many claims each row has.
    """
    found: list[int | None] = []
    for row, size in zip(fits, sizes, strict=True):
        best = int(row.argmax())
        alone = (row == row[best]).sum() == 1
        found.append(best if alone and row[best] >= min(2, size) and 2 * row[best] > size else None)
    return found
