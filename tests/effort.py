"""How much the tests do: what one can wait for, or with PERMED_THOROUGH=1 everything that CI checks.

PERMED_THOROUGH=only leaves out the tests that the quick run does in full: CI runs both, one after the other.
"""

import os
import sys

import pytest

IR_MEASURES_PARSES = pytest.mark.skipif(
    sys.version_info >= (3, 14),
    reason="ir_measures 0.4.3 parses by ast.Num, which 3.14 lacks",
)

THOROUGH = os.environ.get("PERMED_THOROUGH") in ("1", "only")
ONLY_THOROUGH = os.environ.get("PERMED_THOROUGH") == "only"


def effort(quick, thorough):
    """Return how many cases, seeds or queries a test takes."""
    return thorough if THOROUGH else quick


def seeds(quick, thorough):
    """Return the seeds of a test; with PERMED_THOROUGH=only, those that the quick run does not take."""
    return range(quick if ONLY_THOROUGH else 0, effort(quick, thorough))
