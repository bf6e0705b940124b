"""What a function takes, found by trial: it is called in each form on a few small collections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from permed_measures.conventions.named import NamedConvention
from permed_measures.conventions.options import OPTIONS_OF, with_n_changes
from permed_measures.conventions.records import OPTIONS
from permed_measures.conventions.search_space import ConventionSpace
from permed_measures.identification.cases import Case, cutoffs_of, lengthened, small_case
from permed_measures.identification.elimination import GRADES, Asked, Claimed, ask, convention_value
from permed_measures.identification.forms import SIGNATURES, Arguments, Function, FunctionSignature, variants
from permed_measures.identification.script import Script
from permed_measures.tolerances import SINGLE_PRECISION

_LENGTH_OF_LONG_TRIALS = 30
"""How many documents long lists have, on which functions are tried that raise on short ones."""


def form_taken(
    function: Function | Script, claimed: Claimed, named: Sequence[NamedConvention], form: str | None = None
) -> FunctionSignature:
    """Return in which form a function takes qrels and a run: of all, or of the variants of one.

    It is called in each form on small collections, on the last of which it may raise, as nothing is found
    there. Of the forms in which it returns a number on each, it is the one in which its numbers are those of
    a named convention, or of ir_measures' with one option of the measure changed, or else nearest to those of
    a named one; the first of several.

    Parameters
    ----------
    function : callable or Script
    claimed : Claimed
        What it is said to compute.
    named : sequence of NamedConvention
    form : str, optional
        One of `SIGNATURES`.

    Returns
    -------
    Form
        Where it returns a number in none, the first that it may take.
    """
    k = cutoffs_of(claimed.cutoffs)[0]
    arguments = function.arguments if isinstance(function, Script) else Arguments.of(function)
    tried = [*variants(arguments, None if claimed.cutoffs[0] is None else k, form)]
    for is_long in (False, True):
        trial = _Trial(claimed, named, k, is_long)
        found = [(trial.distance(function, each), each) for each in tried]
        nearest = min((distance for distance, _ in found), default=np.inf)
        if np.isfinite(nearest):
            return next(each for distance, each in found if distance == nearest)
    return next(iter(tried), SIGNATURES[form or "dicts"])


class _Trial:
    """What conventions give on the small collections: the named ones, and ir_measures' with one change."""

    def __init__(self, claimed: Claimed, named: Sequence[NamedConvention], k: int, is_long: bool) -> None:
        self._claimed, self._k, self._is_long = claimed, k, is_long
        space = ConventionSpace([claimed.of(GRADES)], named)
        own = {option: [*OPTIONS[option].values] for option in OPTIONS_OF.get(claimed.measure, ())}
        self._n_named = len(space.bases)
        self._conventions = [*(base for _, base in space.bases), *with_n_changes(claimed.default, own, 1)]
        self._known: dict[tuple[bool, bool, int], list[float]] = {}

    def distance(self, function: Function | Script, form: FunctionSignature) -> float:
        """Return how far the numbers of a function are from those of the nearest convention, or infinity."""
        theirs, ours = [], []
        for place, case in enumerate(_cases(self._k, form.one_query)):
            asked = ask(
                function,
                form,
                lengthened(case, _LENGTH_OF_LONG_TRIALS) if self._is_long else case,
                self._claimed,
            )
            if asked.error is None:
                theirs.append(asked.value)
                ours.append(self._values(form, place, asked))
            elif place < _N_NEEDED:
                return float("inf")
        values = np.array(theirs)
        scales = (1, 100) if values.max() > 1 else (1,)
        each_off = [np.abs(np.array(ours) - values[:, None] / scale).sum(axis=0) for scale in scales]
        is_exact = any(off.min() < SINGLE_PRECISION for off in each_off)
        distance = 0.0 if is_exact else min(off[: self._n_named].min() for off in each_off)
        is_constant = np.ptp(values) == 0  # which tells nothing, however near it is
        return round(float(distance), 6) + (_FAR * len(theirs) if is_constant else 0.0)

    def _values(self, form: FunctionSignature, place: int, asked: Asked) -> list[float]:
        """Return what each convention gives on a case as a form shows it; 10 where that is nothing."""
        key = (form.grades, form.one_query, place)
        if key not in self._known:
            found = [convention_value(asked.quantity, each) for each in self._conventions]
            self._known[key] = np.nan_to_num(found, nan=_FAR).tolist()
        return self._known[key]


_FAR = 10.0
_N_NEEDED = 4
"""On how many collections a function must return a number; nothing is found on the last one."""


def _cases(k: int, one_query: bool) -> Iterator[Case]:
    """Yield small collections that hardly any two forms read alike; nothing is found on the last one."""
    yield small_case([0, 1, 0, 3])
    yield small_case([3, 0, 0], [1])
    yield small_case([1, 0, 3, *[0] * (k - 2), 1], [1, 3])
    last = small_case([0, 0, 1, 1], [3])
    if not one_query:
        [first] = small_case([3, 0]).qrels.values()
        renamed = {f"e{doc[1:]}": grade for doc, grade in first.items()}
        last.qrels["c_2"], last.run["c_2"] = renamed, {doc: 2.0 - n for n, doc in enumerate(renamed)}
    yield last
    yield small_case([0, 0], [1])
