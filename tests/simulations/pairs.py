"""Which conventions no case of `identify` tells apart, and whether random collections do.

Conventions within two changes of those with a name are computed on all cases. Pairs that have the same number
on each are compared on random collections: one that differs there is printed, as are the options in which
conventions that are the same everywhere differ.

    python tests/simulations/pairs.py [measures, such as MAP@10 nDCG@10]
"""

import random
import sys

import numpy as np

from permed_measures.conventions.named import NAMED
from permed_measures.conventions.options import DEFAULT
from permed_measures.conventions.runs import may_be
from permed_measures.conventions.spaces import Space
from permed_measures.identities.cases import FRACTIONS, HIGH, TRAITS, cases, random_case
from permed_measures.identities.elimination import GRADES, Claimed
from permed_measures.identities.forms import FORMS
from permed_measures.papers.names import meaning_of

MEASURES = ("MAP@10", "nDCG@10", "P@10", "R@10", "MRR@10", "Hit@10", "F1@10", "nDCG@5")
RANDOM = 40
"""On how many random collections they are compared."""


class Alike:
    """The conventions near some named ones that have the same number on each case as another one.

    Attributes
    ----------
    claimed : Claimed
        The measure.
    near : ndarray, shape (number of conventions, number of options)
        Their codes.
    group : ndarray of int, shape (number of conventions,)
        Which have the same numbers.
    """

    def __init__(self, name, bases, n_changes=2):
        self.claimed = Claimed(name, *meaning_of(name))
        quantities = [self.claimed.of(case) for case in cases(FORMS["dicts"], self.claimed.cutoffs)]
        named = [self.claimed.by(each) for each in bases if each.has(self.claimed.measure)]
        self.space = Space([self.claimed.of(GRADES), *quantities], named)
        none = np.empty((0, len(self.space.options)), int)
        near = np.concatenate([none, *(each.codes for each in self.space.within(n_changes))])
        near = np.unique(near[near[:, self.space.options.index("rounding")] == 0], axis=0)
        self.near = near[[may_be(self.claimed.measure, self.space.convention(codes)) for codes in near]]
        self.group = np.zeros(len(self.near), int)
        for quantity in reversed(quantities):  # the last ones are of several queries, and tell most apart
            values = np.nan_to_num(self.space.computed(quantity, self.near), nan=-1).round(9) + 0.0
            _, group, count = np.unique(
                np.stack([self.group, values]), axis=1, return_inverse=True, return_counts=True
            )
            alike = count[group] > 1
            self.near, self.group = self.near[alike], group[alike]

    def told_apart_by(self, case):
        """Return the options in which pairs differ that a case tells apart, and their two values."""
        values = self.space.computed(self.claimed.of(case), self.near)
        order = np.lexsort((values, self.group))
        apart = (np.diff(self.group[order]) == 0) & (np.abs(np.diff(values[order])) > 1e-7)
        conventions = [self.space.convention(codes) for codes in self.near[order]]
        pairs = [(conventions[at], conventions[at + 1]) for at in np.flatnonzero(apart)]
        return [{o: (a[o], b[o]) for o in a if a[o] != b[o]} for a, b in pairs]

    def differing(self):
        """Return the options in which conventions differ that have the same numbers."""
        _, first = np.unique(self.group, return_index=True)
        differ = (self.near != self.near[first[np.unique(self.group, return_inverse=True)[1]]]).any(axis=0)
        return [option for option, may in zip(self.space.options, differ, strict=True) if may]


def random_cases(rng, k=10, n_cases=RANDOM):
    """Yield random collections with up to four traits."""
    traits = [trait for trait in TRAITS if trait not in (FRACTIONS, HIGH)]
    for _ in range(n_cases):
        chosen = tuple(rng.sample(traits, rng.randint(0, 4)))
        yield random_case(rng, k, rng.randint(2, 5), rng.randint(1, 3), chosen)


def _different(name):
    """Return the named conventions that differ in what this measure sees, each once."""
    claimed = Claimed(name, *meaning_of(name))
    seen = [option for option in claimed.of(GRADES).options if option in DEFAULT]
    named = [each for each in NAMED if each.has(claimed.measure)]
    return {tuple(claimed.by(each).options[o] for o in seen): each for each in reversed(named)}.values()


def main(*names):
    """Print what random collections tell apart near each named convention, which no case does."""
    for name in names or MEASURES:
        rng, pairs, options = random.Random(name), [], set()
        for base in _different(name):
            alike = Alike(name, [base])
            options.update(alike.differing())
            found = [each for case in random_cases(rng) for each in alike.told_apart_by(case)]
            for each in found[:3]:
                print(f"{name}, near {base.name}: {each}", flush=True)
            pairs += found
        print(f"{name}: {len(pairs)} pairs; the same everywhere: {', '.join(sorted(options))}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
