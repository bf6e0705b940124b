"""Columns of the user's own beside the measures: cells of text by run and heading."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from permed_measures.errors import InputError, nearest

Texts = Mapping[str, Mapping[str, str]]
"""The cells by run and heading."""


def headings_of_texts(texts: Texts) -> list[str]:
    """Return the headings of the columns."""
    return list(dict.fromkeys(heading for cells in texts.values() for heading in cells))


def texts_of(texts: Texts, run: str) -> list[str]:
    """Return the cells of a run; empty where it has none."""
    return [texts.get(run, {}).get(heading, "") for heading in headings_of_texts(texts)]


def check_texts(texts: Texts, runs: Collection[str]) -> None:
    """Raise InputError for cells of a run that is not here."""
    for run in texts:
        if run not in runs:
            raise InputError(f"there are texts for {run!r}, which is no run here", hint=nearest(run, runs))
