"""How much the tests do: what one can wait for, or with PERMED_THOROUGH=1 everything that CI checks."""

import os

THOROUGH = os.environ.get("PERMED_THOROUGH") == "1"


def effort(quick, thorough):
    """Return how many cases, seeds or queries a test takes."""
    return thorough if THOROUGH else quick
