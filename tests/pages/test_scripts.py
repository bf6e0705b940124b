"""What the scripts of the pages need: words that are there, and no way to put in markup."""

import re
from importlib.resources import files

import pytest

from permed_measures.pages.words import page_words

SCRIPTS = [
    each for each in files("permed_measures.pages").joinpath("static").iterdir() if each.suffix == ".js"
]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_words_of_the_scripts_are_there(script):
    text = script.read_text("utf-8")
    words = page_words()
    assert set(re.findall(r"\bwords\.(\w+)", text)) <= set(words)
    for beginning in re.findall(r"\bwords\[`(\w+)\$\{", text):
        assert any(word.startswith(beginning) for word in words), beginning


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_scripts_put_nothing_in_as_markup(script):
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", script.read_text("utf-8")
    )
