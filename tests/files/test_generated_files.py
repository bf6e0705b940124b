"""Generated files: every way to read one gives the table of a plain reader, or refuses the same line."""

from collections import Counter

import plain_readers
import pytest
from effort import effort
from generator import FORMATS, generated
from reading_paths import as_text, check

import permed_measures as pm

FILES = range(effort(58, 870))
AT_A_TIME = 29


def test_the_plain_readers_read_what_the_generator_wrote():
    for seed in range(300):
        file = generated(seed)
        table = plain_readers.read(file.format, file.data, file.what)
        assert as_text(table) == as_text(file.known()), file


@pytest.mark.parametrize("first", range(0, len(FILES), AT_A_TIME))
def test_all_ways_to_read_a_file_agree(first, tmp_path):
    paths = Counter()
    for seed in FILES[first : first + AT_A_TIME]:
        folder = tmp_path / str(seed)
        folder.mkdir()
        paths += check(seed, folder)
    assert len(paths) > 7  # not all formats have all ways


def test_every_format_is_generated():
    assert {generated(seed).format for seed in range(len(FORMATS))} == {name for name, *_ in FORMATS}


def test_an_id_that_is_no_unicode_text_is_refused(tmp_path):
    (tmp_path / "run").write_text('{"q\\ud800": {"d\\ud800": 1.5, "e": 2.5}}\n')
    with pytest.raises(pm.InputError, match="half of a Unicode character"):
        pm.read_run(tmp_path / "run")
