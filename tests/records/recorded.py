"""Changes of records, for tests."""

import json

from permed_measures.records.record import Record


def resealed(content):
    """Return a record whose hash is that of its content, as one who edits it knowingly could write it."""
    edited = Record(json.loads(json.dumps(content)))
    edited["sha256"] = edited.seal
    return edited


def leaves(content, place=()):
    """Yield the place of each value in JSON content."""
    if isinstance(content, (dict, list)):
        for key, value in content.items() if isinstance(content, dict) else enumerate(content):
            yield from leaves(value, (*place, key))
    else:
        yield place


def at(content, place):
    """Return the value at a place."""
    for key in place:
        content = content[key]
    return content


def put(content, place, value):
    """Return a copy of a record with another value at a place."""
    copied = Record(json.loads(json.dumps(content)))
    at(copied, place[:-1])[place[-1]] = value
    return copied


def changed(value, rng):
    """Return another value of the same type, or a number for null."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, float):
        return value + rng.choice([1, -0.1, 1e-12])
    if isinstance(value, int):
        return value + 1
    if value is None:
        return 1
    place = rng.randrange(len(value) + 1)
    return value[:place] + rng.choice("0aé ") + value[place:]
