"""Which conventions no case of `identify` tells apart, and whether random collections do.

Conventions within two changes of any with a name are compared on random collections and on the cases. A pair
that differs on a random collection and on no case is printed, as are the options in which conventions with
the same numbers differ. A test does so with fewer random collections.

    python tests/simulations/pairs.py [measures, such as MAP@10 nDCG@10]
"""

import random
import sys
from itertools import chain

import numpy as np

from permed_measures.conventions.named import NAMED
from permed_measures.conventions.options import DEFAULT
from permed_measures.conventions.ranking_variants import is_consistent_for
from permed_measures.conventions.search_space import ConventionSpace
from permed_measures.identification.cases import FRACTIONS, HIGH, TRAITS, cases, random_case
from permed_measures.identification.elimination import GRADES, TargetMeasure
from permed_measures.identification.forms import SIGNATURES
from permed_measures.published_tables.measure_names import meaning_of

MEASURES = ("MAP@10", "nDCG@10", "P@10", "R@10", "MRR@10", "Hit@10", "F1@10", "nDCG@5")
RANDOM = 400
"""On how many random collections they are compared."""


FIRST = 30
"""On how many cases all conventions are compared before the random collections."""


class Alike:
    """The conventions near some named ones that random collections tell apart, and that no case does.

    Conventions with the same numbers on all random collections are not compared on all cases.

    Attributes
    ----------
    target : TargetMeasure
        The measure.
    near : ndarray, shape (number of conventions, number of options)
        Their codes.
    group : ndarray of int, shape (number of conventions,)
        Which have the same numbers on the cases.
    n_near, n_same : int
        How many conventions are near, and how many of them have the same numbers as another one on all random
        collections, and on the first cases at least.
    differing : set of str
        The options in which these differ.
    """

    def __init__(self, name, bases, collections, n_changes=2):
        self.target, self.collections = TargetMeasure(name, *meaning_of(name)), collections
        quantities = [self.target.of(case) for case in cases(SIGNATURES["dicts"], self.target.cutoffs)]
        named = [each for each in bases if each.has(self.target.measure)]
        self.space = ConventionSpace([self.target.of(GRADES), *quantities], named)
        none = np.empty((0, len(self.space.options)), int)
        neighbours = chain.from_iterable(map(self.space.neighbours, range(n_changes + 1)))
        near = np.concatenate([none, *(each.codes for each in neighbours)])
        near = np.unique(near[near[:, self.space.options.index("rounding")] == 0], axis=0)
        self.near = near[[is_consistent_for(self.target.measure, self._options(codes)) for codes in near]]
        self.n_near, self.n_same, self.differing = len(self.near), 0, set()
        self.group = self._on_random = np.zeros(self.n_near, int)
        quantities.reverse()  # the last ones are of several queries, and tell most apart
        for quantity in quantities[:FIRST]:
            self._divide(quantity)
        self._on_random = np.zeros(len(self.near), int)
        for case in collections:
            self._on_random, _ = self._divided(self._on_random, self.target.of(case))
        for quantity in quantities[FIRST:]:
            self._leave_out_the_same()
            if not len(self.near):
                break
            self._divide(quantity)
        self._leave_out_the_same()

    def _options(self, codes):
        return self.space.convention(codes)[self.target.measure]

    def _divided(self, group, quantity):
        """Divide groups by the numbers on a case; return the new ones and how many are in that of each."""
        values = np.nan_to_num(self.space.compute(quantity, self.near), nan=-1).round(9) + 0.0
        _, group, count = np.unique(
            np.stack([group, values]), axis=1, return_inverse=True, return_counts=True
        )
        return group, count[group]

    def _divide(self, quantity):
        """Divide the groups by a case, and leave out conventions that are alone in theirs."""
        self.group, count = self._divided(self.group, quantity)
        self._keep(count > 1)

    def _keep(self, kept):
        self.near, self.group, self._on_random = self.near[kept], self.group[kept], self._on_random[kept]

    def _leave_out_the_same(self):
        """Leave out the groups that no random collection divides; note the options in which they differ."""
        _, first, group = np.unique(self.group, return_index=True, return_inverse=True)
        divided = np.zeros(len(first), bool)
        divided[group[self._on_random != self._on_random[first[group]]]] = True
        same = ~divided[group]
        differ = (self.near != self.near[first[group]])[same].any(axis=0)
        self.differing |= {option for option, may in zip(self.space.options, differ, strict=True) if may}
        self.n_same += int(same.sum())
        self._keep(~same)

    def told_apart(self):
        """Return the pairs that a random collection tells apart: two values for each option that differs."""
        return [pair for case in self.collections for pair in self._told_apart_by(case)]

    def _told_apart_by(self, case):
        values = self.space.compute(self.target.of(case), self.near)
        order = np.lexsort((values, self.group))
        apart = (np.diff(self.group[order]) == 0) & (np.abs(np.diff(values[order])) > 1e-7)
        conventions = [self._options(codes) for codes in self.near[order]]
        pairs = [(conventions[at], conventions[at + 1]) for at in np.flatnonzero(apart)]
        return [{o: (a[o], b[o]) for o in a if a[o] != b[o]} for a, b in pairs]


def random_cases(rng, n_cases, k=10):
    """Yield random collections with up to four traits."""
    traits = [trait for trait in TRAITS if trait not in (FRACTIONS, HIGH)]
    for _ in range(n_cases):
        chosen = tuple(rng.sample(traits, rng.randint(0, 4)))
        yield random_case(rng, k, rng.randint(2, 5), rng.randint(1, 3), chosen)


def different(name):
    """Return the named conventions that differ in what a measure sees, each once."""
    target = TargetMeasure(name, *meaning_of(name))
    seen = [option for option in target.of(GRADES).options if option in DEFAULT]
    named = [each for each in NAMED if each.has(target.measure)]
    return [*{tuple(each.of(target.measure)[o] for o in seen): each for each in reversed(named)}.values()]


def main(*names):
    """Print what random collections tell apart near the named conventions, which no case does."""
    for name in names or MEASURES:
        bases = different(name)
        alike = Alike(name, bases, [*random_cases(random.Random(name), RANDOM)])
        pairs = alike.told_apart()
        for pair in pairs[:3]:
            print(f"{name}: {pair}")
        print(
            f"{name}: {alike.n_near} conventions near {len(bases)} named ones; {len(pairs)} pairs lack a case"
        )
        print(f"{alike.n_same} have the numbers of another; differing: {sorted(alike.differing)}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
