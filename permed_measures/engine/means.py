"""What calc_aggregate, evaluate_by and calc return: dicts and tuples that are tables in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from ir_measures import CalcResults
from ir_measures.measures import Measure, SumAgg

from permed_measures.frames import Tabular
from permed_measures.markup import counted, html_table


class Means(Tabular, dict[Any, float]):
    """A dict of Measure (or name) to its mean; as a frame it has a row for each measure."""

    def _records(self) -> list[dict[str, Any]]:
        return [{"measure": str(measure), "value": value} for measure, value in self.items()]

    def _repr_html_(self) -> str:
        return html_table(list(map(str, self)), [_shown(self)], 0)


class MeansByGroup(Tabular, dict[Any, Means]):
    """A dict of group to its means; as a frame it has a row for each group.

    Attributes
    ----------
    by : str
        What the groups are.
    """

    def __init__(self, means: Mapping[Any, Means], by: str) -> None:
        super().__init__(means)
        self.by = by

    @property
    def _measures(self) -> list[str]:
        return list(map(str, next(iter(self.values()), {})))

    def _records(self) -> list[dict[str, Any]]:
        by, one_type = _apart(self.by, self._measures), len(set(map(type, self))) == 1
        rows = ((group if one_type else str(group), means) for group, means in self.items())
        return [{by: group, **{str(each): mean for each, mean in means.items()}} for group, means in rows]

    def _repr_html_(self) -> str:
        rows = ([str(group), *_shown(means)] for group, means in self.items())
        return html_table([self.by, *self._measures], rows, 1)


class Values(Tabular, CalcResults):
    """The means (``aggregated``) and the metrics of each query (``per_query``).

    As a frame it has a row for each query.
    """

    def _records(self) -> list[dict[str, Any]]:
        rows: dict[str, dict[str, Any]] = {}
        label = _apart("query_id", map(str, self._means))
        for query_id, measure, value in self.per_query:
            rows.setdefault(query_id, {label: query_id})[str(measure)] = value
        return list(rows.values())

    def __repr__(self) -> str:
        """Give the means, and the number of queries."""
        return f"<CalcResults: {self.aggregated}, {self._queries}>"

    def _repr_html_(self) -> str:
        return f"{self._means._repr_html_()}<p>{self._queries}</p>"

    @property
    def _means(self) -> Means:
        return cast("Means", self.aggregated)

    @property
    def _queries(self) -> str:
        return counted(len({metric.query_id for metric in self.per_query}), "query")


def _shown(means: Mapping[Any, float]) -> list[str]:
    """Format the means with four decimals; the sum of counts is whole."""
    summed = [isinstance(each, Measure) and isinstance(each.aggregator(), SumAgg) for each in means]
    return [
        f"{value:,.0f}" if whole else f"{value:.4f}"
        for whole, value in zip(summed, means.values(), strict=True)
    ]


def _apart(label: str, names: Iterable[str]) -> str:
    """Return a name for the column of labels that no measure has."""
    taken = set(names)
    while label in taken:
        label += "_"
    return label
