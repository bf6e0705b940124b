"""Files with a few bytes or lines changed: each is refused by name, or read as the plain reader reads it."""

import random

import plain_readers
import pytest
from effort import effort
from generator import FORMATS, generated
from reading_paths import READ, as_text

import permed_measures as pm
from permed_measures.files import read as files

ODD = ["\x1c", "\0", "\x85", "\u2028", "\v", '"', "\\", "_", ",", "\t", "{", "e", ".", "-", "9", "\r", "é"]
JUNK = ["junk", "\n}", "]", "\n\n# end\n", '\n"', "\0", " 7", "\n[3]\n", "\nnull\n", "\n5", '\n"x"\n']


def change_bytes(rng, data):
    place, end = sorted(rng.choices(range(len(data) + 1), k=2))
    end = min(end, place + 3)
    return rng.choice(
        [
            data[:place],
            data[:place] + data[end:],
            data[:place] + rng.choice(ODD).encode() + data[end:],
            data[:place] + rng.choice(ODD).encode("latin-1", "replace") + data[place:],
            data + rng.choice(JUNK).encode(),
        ]
    )


def change_lines(rng, data):
    lines = data.split(b"\n")
    place, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    changes = [
        lambda: lines.pop(place),
        lambda: lines.insert(place, lines[other]),
        lambda: lines.insert(place, rng.choice([b"", b"  ", b"\r", b"# x"])),
        lambda: rng.shuffle(lines),
    ]
    rng.choice(changes)()
    return b"\n".join(lines)


def changed_files():
    """Yield generated files with nothing wrong, and their changed bytes."""
    for seed in range(effort(8, 40) * len(FORMATS)):
        file, rng = generated(seed), random.Random(seed)
        if not file.flaw and file.format != "Parquet":
            for change in (change_bytes, change_bytes, change_lines):
                yield file, change(rng, file.data)


def strictly(file, data):
    try:
        return as_text(plain_readers.read(file.format, data, file.what))
    except (plain_readers.RefusedError, IndexError, ValueError, AttributeError):
        return None


def outcome(read, path):
    """Return what is read, or the message of the refusal."""
    try:
        return as_text(read(path))
    except pm.InputError as error:
        return str(error)


@pytest.mark.filterwarnings("ignore::permed_measures.PermedWarning")
@pytest.mark.parametrize("large", [0, 10**9])
def test_a_changed_file_is_refused_by_name_or_read_exactly(large, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_LARGE", large)
    path, n_read, n_refused = tmp_path / "file", 0, 0
    for file, data in changed_files():
        path.write_bytes(data)
        found = outcome(READ[file.what], path)
        if isinstance(found, str):
            assert found.startswith(f"{path}:"), (data, found)
            n_refused += 1
            continue
        expected = strictly(file, data)
        assert found == expected or (expected is None and is_another_format(path, file)), (str(file), data)
        n_read += 1
    assert min(n_read, n_refused) > 100


def is_another_format(path, file):
    """Return whether the changed file is one of another format, such as TREC with two columns less."""
    name = files.TextFile.recognised(files.Source(path), file.what).format.name
    return not name.startswith(file.format)


def test_an_id_that_is_no_unicode_text_is_refused(tmp_path):
    (tmp_path / "run").write_text('{"q\\ud800": {"d\\ud800": 1.5, "e": 2.5}}\n')
    with pytest.raises(pm.InputError, match="half of a Unicode character"):
        pm.read_run(tmp_path / "run")
