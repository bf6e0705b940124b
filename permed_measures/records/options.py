"""How a recorded evaluation was made, apart from its measures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Options:
    """How an evaluation was made, apart from its measures.

    Attributes
    ----------
    by : str or None
        What the groups of queries are.
    macro : bool
        Whether the groups' means were averaged.
    order : {'score', 'list'}
    query_ids : str or None
        The rewriting of query ids.
    comparison : mapping or None
        The options of `compare`; None if the runs were not compared.
    """

    by: str | None = None
    macro: bool = False
    order: str = "score"
    query_ids: str | None = None
    comparison: Mapping[str, Any] | None = None
