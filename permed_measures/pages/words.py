"""The words of the pages."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files


@cache
def page_words() -> dict[str, str]:
    """Return the words by name; some have ``{fields}`` to be filled in.

    Examples
    --------
    >>> page_words()["queries"]
    'Queries'
    """
    return tomllib.loads(files("permed_measures.pages").joinpath("words.toml").read_text(encoding="utf-8"))
