"""Cache the computed measures of cases, because each identification uses the same cases."""

from collections import OrderedDict

import pytest

from permed_measures.identification.elimination import TargetMeasure

_KEPT = 4000
"""The number of cases in the cache: those of about the last five identifications."""


@pytest.fixture(scope="session")
def quantities():
    """Make the cache of measures by case, in order of last use."""
    return OrderedDict()


@pytest.fixture(autouse=True)
def computed_once(monkeypatch, quantities):
    """Reuse the measures of equal cases from earlier tests; return the keys that were reused."""
    of, again = TargetMeasure.of, []

    def kept(target, case):
        key = target, repr(case.qrels), repr(case.run)
        if key in quantities:
            quantities.move_to_end(key)
            again.append(key)
        else:
            quantities[key] = of(target, case)
            if len(quantities) > _KEPT:
                quantities.popitem(last=False)
        return quantities[key]

    monkeypatch.setattr(TargetMeasure, "of", kept)
    return again
