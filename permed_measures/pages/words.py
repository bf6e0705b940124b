"""The words of the pages' own, in the languages there are."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

from permed_measures.errors import check_choice

LANGUAGES = {"en": "English", "zh": "中文"}


@cache
def words_of(language: str) -> dict[str, str]:
    """Return the words of a language by name; some have ``{fields}`` to be filled in.

    Raises
    ------
    InputError
        If the pages do not speak the language.

    Examples
    --------
    >>> words_of("en")["queries"], words_of("zh")["queries"]
    ('Queries', '查询')
    """
    check_choice("lang", language, LANGUAGES)
    text = files("permed_measures.pages").joinpath("words.toml").read_text(encoding="utf-8")
    return {name: each[language] for name, each in tomllib.loads(text).items()}
