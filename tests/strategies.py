"""What hypothesis draws in several files: it shrinks a case that fails, and prints it."""

from cases import DOCUMENTS, QUERIES, random_case
from hypothesis import strategies as st

RANDOMS = st.randoms(use_true_random=False)
"""Generators of the standard library whose numbers hypothesis draws: what they give is shrunk too."""
CASES = RANDOMS.map(random_case)
"""Qrels and a run, in which whatever is odd of ids, grades and scores comes together."""
SCORES = st.sampled_from([0.0, -0.0, 1.0, 1.00000001, 1.00000002, 2.0**24, 2.0**24 + 1, -1.0]) | st.floats(
    allow_nan=False
)
GRADES = st.integers(-2, 4)


def nested(values):
    """Return a strategy for qrels of such grades, or a run of such scores."""
    return st.dictionaries(
        st.sampled_from(QUERIES), st.dictionaries(st.sampled_from(DOCUMENTS), values), max_size=4
    )
