"""What is resampled: differences of values, as sums over clusters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Self

import numpy as np

from permed_measures.statistics.significance import Floats, Ints, sums_of

_BLOCK = 1 << 21
"""Number of signs, counts or sums in memory at a time: 16 MB."""


class Columns(NamedTuple):
    """What is compared: differences of values, as sums over clusters.

    Where all pairs of runs are compared, there are far fewer values than differences. Resamples are linear:
    what signs or draws give for a difference is the difference of what they give for the values.

    Attributes
    ----------
    sums : ndarray of float64, shape (n_clusters, n_values)
    sizes : ndarray of float64, shape (n_clusters,)
        How many queries a cluster has.
    first, second : ndarray of int64, shape (n_columns,)
        Column i is ``sums[:, first[i]] - sums[:, second[i]]``.
    """

    sums: Floats
    sizes: Floats
    first: Ints
    second: Ints

    @classmethod
    def of(cls, differences: Floats, cluster: Ints) -> Self:
        """Take differences as they are, each less a column of zeros."""
        n = differences.shape[1]
        values = np.concatenate([differences, np.zeros((len(differences), 1))], axis=1)
        return cls.of_pairs(values, np.arange(n), np.full(n, n), cluster)

    @classmethod
    def of_pairs(cls, values: Floats, first: Ints, second: Ints, cluster: Ints, n_clusters: int = 0) -> Self:
        """Take the pairs of values; of `n_clusters` some may have no query here."""
        n_clusters = max(n_clusters, int(cluster.max()) + 1)
        sizes = np.bincount(cluster, minlength=n_clusters).astype(np.float64)
        return cls(sums_of(values, cluster, n_clusters), sizes, first, second)

    @classmethod
    def joined(cls, several: Sequence[Self]) -> Self:
        """Put the columns of several sets of queries, with the same clusters, beside each other."""
        starts = np.cumsum([0, *(each.sums.shape[1] for each in several)])[:-1]
        return cls(
            np.concatenate([each.sums for each in several], axis=1),
            np.sum([each.sizes for each in several], axis=0),
            np.concatenate([each.first + start for each, start in zip(several, starts, strict=True)]),
            np.concatenate([each.second + start for each, start in zip(several, starts, strict=True)]),
        )

    def chosen(self, columns: Ints) -> Self:
        """Select columns, and the values that they need."""
        pairs = np.stack([self.first[columns], self.second[columns]])
        used = np.unique(pairs)
        first, second = np.searchsorted(used, pairs)
        return self._replace(sums=self.sums[:, used], first=first, second=second)

    def blocks(self, products: Floats) -> Iterator[tuple[slice, Floats]]:
        """Yield the differences of the values' columns, in blocks of columns."""
        step = max(_BLOCK // (4 * len(products)), 1)  # several are held at a time
        for start in range(0, len(self.first), step):
            here = slice(start, start + step)
            yield here, products[:, self.first[here]] - products[:, self.second[here]]


def chunks(total: int, width: int) -> Iterator[tuple[int, int]]:
    """Split the rows into blocks; yield first row and number of rows of each."""
    step = max(_BLOCK // width, 1)
    for start in range(0, total, step):
        yield start, min(step, total - start)
