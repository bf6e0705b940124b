"""Find the form of a function's arguments by trial: call it in each form on a few small collections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from permed_measures.conventions.named import NamedConvention
from permed_measures.conventions.options import OPTIONS_OF, with_n_changes
from permed_measures.conventions.records import OPTIONS
from permed_measures.conventions.search_space import ConventionSpace
from permed_measures.identification.cases import Case, cutoffs_of, lengthened, small_case
from permed_measures.identification.elimination import (
    GRADES,
    FunctionCall,
    TargetMeasure,
    call_function,
    convention_value,
)
from permed_measures.identification.forms import SIGNATURES, Arguments, Function, FunctionSignature, variants
from permed_measures.identification.script import Script
from permed_measures.tolerances import SINGLE_PRECISION

_LENGTH_OF_LONG_TRIALS = 30
"""The length of the lists for a second trial, for functions that raise on short lists."""


def form_taken(
    function: Function | Script,
    target: TargetMeasure,
    named: Sequence[NamedConvention],
    form: str | None = None,
) -> FunctionSignature:
    """Find the form in which a function takes qrels and a run: among all forms, or the variants of one.

    The function is called in each form on small collections. It may raise on the last one, where no relevant
    document is retrieved. A form counts if the function returns a number on each other collection. The best
    form has the numbers of a named convention, or of ir_measures' with one option of the measure changed;
    else the numbers nearest to those of a named one. The first of equally good forms is returned.

    Parameters
    ----------
    function : callable or Script
    target : TargetMeasure
        The measure that it should compute.
    named : sequence of NamedConvention
    form : str, optional
        One of `SIGNATURES`.

    Returns
    -------
    FunctionSignature
        If no form counts, the first one that fits the signature.
    """
    k = cutoffs_of(target.cutoffs)[0]
    arguments = function.arguments if isinstance(function, Script) else Arguments.of(function)
    tried = [*variants(arguments, None if target.cutoffs[0] is None else k, form)]
    for is_long in (False, True):
        trial = _Trial(target, named, k, is_long)
        distances = [trial.distance(function, each) for each in tried]
        nearest = min(distances, default=np.inf)
        if np.isfinite(nearest):
            return tried[distances.index(nearest)]
    return next(iter(tried), SIGNATURES[form or "dicts"])


class _Trial:
    """The values of conventions on the small collections: named ones, and ir_measures' with one change."""

    def __init__(
        self, target: TargetMeasure, named: Sequence[NamedConvention], k: int, is_long: bool
    ) -> None:
        self._target, self._k, self._is_long = target, k, is_long
        space = ConventionSpace([target.of(GRADES)], named)
        own = {option: [*OPTIONS[option].values] for option in OPTIONS_OF.get(target.measure, ())}
        self._n_named = len(space.bases)
        self._conventions = [*(base for _, base in space.bases), *with_n_changes(target.default, own, 1)]
        self._known: dict[tuple[bool, bool, int], list[float]] = {}

    def distance(self, function: Function | Script, form: FunctionSignature) -> float:
        """Compute how far a function's numbers are from the nearest convention; infinity if it raises."""
        numbers, convention_values = [], []
        for index, case in enumerate(_cases(self._k, form.one_query)):
            call = call_function(
                function,
                form,
                lengthened(case, _LENGTH_OF_LONG_TRIALS) if self._is_long else case,
                self._target,
            )
            if call.error is None:
                numbers.append(call.value)
                convention_values.append(self._values(form, index, call))
            elif index < _N_NEEDED:
                return float("inf")
        values = np.array(numbers)
        scales = (1, 100) if values.max() > 1 else (1,)
        errors = [
            np.abs(np.array(convention_values) - values[:, None] / scale).sum(axis=0) for scale in scales
        ]
        is_exact = any(each.min() < SINGLE_PRECISION for each in errors)
        distance = 0.0 if is_exact else min(each[: self._n_named].min() for each in errors)
        is_constant = np.ptp(values) == 0  # a constant is not evidence, however near it is
        return round(float(distance), 6) + (_FAR * len(numbers) if is_constant else 0.0)

    def _values(self, form: FunctionSignature, index: int, call: FunctionCall) -> list[float]:
        """Compute each convention on a case as a form shows it; 10 where it is not defined."""
        key = (form.grades, form.one_query, index)
        if key not in self._known:
            values = [convention_value(call.measurement, each) for each in self._conventions]
            self._known[key] = np.nan_to_num(values, nan=_FAR).tolist()
        return self._known[key]


_FAR = 10.0
_N_NEEDED = 4
"""The number of collections on which a function must return a number; only the last one may raise."""


def _cases(k: int, one_query: bool) -> Iterator[Case]:
    """Yield small collections that most forms read differently; the last one retrieves nothing relevant."""
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
