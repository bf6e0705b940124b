"""Generated files: every way to read one gives the table of a plain reader, or refuses the same line."""

from collections import Counter

import pytest
from effort import effort
from reading_paths import check

AT_A_TIME = 30


@pytest.mark.parametrize("first", range(0, effort(60, 450), AT_A_TIME))
def test_all_ways_to_read_a_file_agree(first):
    paths = sum(map(check, range(first, first + AT_A_TIME)), Counter())
    assert len(paths) > 6  # not all formats have all ways


@pytest.mark.parametrize("seed", [1334, 2312, 5783, 8417, 8504])
def test_files_that_were_read_in_two_ways(seed):
    """Blanks in ids between tabs, a comma in an id, a carriage return in an object, a query id misspelt."""
    assert check(seed).total() >= 6
