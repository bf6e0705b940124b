"""Generated files: every way to read one gives the table of a plain reader, or refuses the same line."""

from collections import Counter

import pytest
from effort import effort
from reading_paths import check

import permed_measures as pm

AT_A_TIME = 30


@pytest.mark.parametrize("first", range(0, effort(60, 900), AT_A_TIME))
def test_all_ways_to_read_a_file_agree(first):
    paths = sum(map(check, range(first, first + AT_A_TIME)), Counter())
    assert len(paths) > 6  # not all formats have all ways


def test_an_id_that_is_no_unicode_text_is_refused(tmp_path):
    (tmp_path / "run").write_text('{"q\\ud800": {"d\\ud800": 1.5, "e": 2.5}}\n')
    with pytest.raises(pm.InputError, match="half of a Unicode character"):
        pm.read_run(tmp_path / "run")
