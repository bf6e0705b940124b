"""Generated files: every way to read one gives the table of a plain reader, or refuses the same line."""

import plain_readers
import pytest
from generator import FORMATS, generated
from reading_paths import told


def test_the_plain_readers_read_what_the_generator_wrote():
    for seed in range(600):
        file = generated(seed)
        if file.flaw:
            with pytest.raises(plain_readers.RefusedError):
                plain_readers.read(file.format, file.data, file.what)
        else:
            table = plain_readers.read(file.format, file.data, file.what)
            assert told(table) == told(file.known()), file


def test_every_format_and_most_flaws_are_generated():
    files = [generated(seed) for seed in range(600)]
    assert {(file.format, file.what) for file in files} == {(name, what) for name, what, _ in FORMATS}
    assert len({file.flaw for file in files}) > 15
    assert 0.15 < sum(bool(file.flaw) for file in files) / len(files) < 0.35
