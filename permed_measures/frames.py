"""Results as frames of polars and pandas."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from permed_measures.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


class Tabular(ABC):
    """A result that can be had as a frame, a row for each of its records."""

    @abstractmethod
    def _records(self) -> list[dict[str, Any]]:
        """Return the rows; all have the same columns."""

    def to_polars(self) -> pl.DataFrame:
        """Return the result as a frame of polars."""
        import polars as pl

        return pl.DataFrame(self._records(), infer_schema_length=None)

    def to_pandas(self) -> pd.DataFrame:
        """Return the result as a frame of pandas.

        Raises
        ------
        InputError
            If pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError:
            raise InputError(
                "pandas is not installed", hint="pip install pandas, or take to_polars(), which needs nothing"
            ) from None
        return pd.DataFrame(self._records())
