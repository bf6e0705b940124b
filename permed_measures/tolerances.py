"""How far two numbers may be apart and still count as one: each tolerance with its reason."""

SUM_NOISE = 1e-12
"""Sums of the same values in another order: some thousand numbers up to 1 differ by less."""
AGREEMENT = 1e-9
"""Values of one measure by two programs, or by two versions of one: trec_eval stays within it."""
STATISTIC = 1e-9
"""Statistics of a test under two sign patterns that are equal but for rounding: both count as extreme."""
PROGRAMME = 1e-11
"""The objective of a linear programme, for each unit of weight: its solver stops within it."""
NEAREST_POINT = 1e-10
"""How far a solver may miss a point of a polytope that it reaches."""
BOUND = 1e-9
"""Bounds are widened by it: rounding in a linear programme never makes one too tight."""
NUMBER_OF_FUNCTION = 1e-9
"""A number that a function returned, and that of a convention."""
SINGLE_PRECISION = 1e-6
"""The same where the function computes in single precision; conventions further apart are told apart."""
MAX_NUMBER = 1e100
"""The largest gain, weight or parameter: sums of squares of larger ones overflow."""
