"""Text that is escaped for spreadsheets and JSON."""

import json
from unicodedata import category

import pytest

from permed_measures.escaping import as_cell, as_json


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
        ("+1+1", "'+1+1"),
        ("-1+1", "'-1+1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\uff1d1+1", "'\uff1d1+1"),
        ("\t=1+1", "' =1+1"),
        ("\r\n=1+1", "' =1+1"),
        ("-0.25", "-0.25"),
        ("+3", "+3"),
        ("-1e-05", "-1e-05"),
        ("-", "'-"),
        ("", ""),
        ("nDCG@10", "nDCG@10"),
        ("run\x1b[31m", "run [31m"),
        ("a\u202eb", "a b"),
    ],
)
def test_a_cell_is_no_formula_and_controls_no_terminal(text, cell):
    assert as_cell(text) == cell


def test_json_has_no_control_characters_and_reads_back():
    text = "".join(map(chr, range(0x250))) + "\u2028\u2029\u202a\u202e\u2066\u2069 医学"
    written = as_json({text: [text, 0.5, None]}, indent=2)
    assert json.loads(written) == {text: [text, 0.5, None]}
    assert {character for character in written if category(character) in ("Cc", "Zl", "Zp", "Cf")} == {
        "\n",
        "\xad",  # the soft hyphen
    }
    assert "医学" in written
