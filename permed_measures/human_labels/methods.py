"""The part of a methods paragraph on people's labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from permed_measures.human_labels.corrected import Corrected
from permed_measures.intervals import percent
from permed_measures.wording import join_names, plural


def about_people() -> Iterator[str]:
    """Name the measures of agreement of both sets of labels."""
    yield (
        "The agreement of the qrels with people's labels is Cohen's kappa, also with quadratic weights, and "
        "Krippendorff's alpha for ordinal grades."
    )


def corrected_by_people(
    estimates: Sequence[Corrected], what: str, level: float, n_together: int = 1
) -> Iterator[str]:
    """Describe how values are corrected by people's labels.

    Parameters
    ----------
    estimates : sequence of Corrected
    what : str
        ``means`` or ``differences``.
    level : float
        Level of the intervals.
    n_together : int
        Number of simultaneous intervals, by Bonferroni's correction.
    """
    known = [estimate for estimate in estimates if estimate.value is not None]
    if not known:
        return
    units = join_names(sorted({plural(estimate.unit) for estimate in known}))
    yield (
        f"The {what} are corrected by people's labels with prediction-powered inference "
        "[@angelopoulos2023prediction; @angelopoulos2023ppi], which takes these as labels of a simple random "
        f"sample of the {units}."
    )
    with_interval = [estimate for estimate in known if estimate.interval]
    if with_interval:
        together = f", simultaneous for {n_together:,} {what} by Bonferroni's correction" * (n_together > 1)
        yield (
            f"The corrected {what} have {percent(level)} confidence intervals{together}: "
            f"{'; '.join(_kinds_of_interval(with_interval))}."
        )


def _kinds_of_interval(estimates: Sequence[Corrected]) -> Iterator[str]:
    """Name the kinds of interval, and the correction for a finite population, wherever it was used."""
    is_binary = {estimate.binary for estimate in estimates}
    if False in is_binary:
        yield "Student's t with two degrees of freedom fewer than the sample has units"
    if True in is_binary:
        where = ", where all values are 0 or of one size" * (len(is_binary) > 1)
        yield f"the adjusted Wald interval of proportions [@bonett2012adjusted]{where}"
    if any(estimate.sampled < estimate.units for estimate in estimates):
        yield "the variance has the correction for a finite population"
