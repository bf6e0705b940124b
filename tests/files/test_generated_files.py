"""Generated files: every way to read one gives the table of a plain reader, or refuses the same line."""

from collections import Counter

import plain_readers
import pytest
from effort import effort
from generator import FORMATS, generated
from reading_paths import as_text, check

FILES = range(effort(29, 280))
AT_A_TIME = 29


def test_the_plain_readers_read_what_the_generator_wrote():
    for seed in range(300):
        file = generated(seed)
        if file.flaw:
            with pytest.raises(plain_readers.RefusedError):
                plain_readers.read(file.format, file.data, file.what)
        else:
            table = plain_readers.read(file.format, file.data, file.what)
            assert as_text(table) == as_text(file.known()), file


def test_every_format_and_most_flaws_are_generated():
    files = [generated(seed) for seed in range(600)]
    assert {(file.format, file.what) for file in files} == {(name, what) for name, what, _ in FORMATS}
    assert len({file.flaw for file in files}) > 17
    assert 0.2 < sum(bool(file.flaw) for file in files) / len(files) < 0.4


@pytest.mark.parametrize("first", range(0, len(FILES), AT_A_TIME))
def test_all_ways_to_read_a_file_agree(first, tmp_path):
    paths = Counter()
    for seed in FILES[first : first + AT_A_TIME]:
        folder = tmp_path / str(seed)
        folder.mkdir()
        paths += check(seed, folder)
    assert len(paths) > (15 if first else 25)  # not all formats have all ways
