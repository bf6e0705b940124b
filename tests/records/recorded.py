"""Changes of records, for tests."""

import json

from permed_measures.records.record import Record


def resealed(content):
    """Return a record whose hash is that of its content, as one who edits it knowingly could write it."""
    edited = Record(json.loads(json.dumps(content)))
    edited["sha256"] = edited.seal
    return edited


def nodes(content, place=()):
    """Yield the place of each value in JSON content, lists and objects too."""
    if place:
        yield place
    if isinstance(content, (dict, list)):
        for key, value in content.items() if isinstance(content, dict) else enumerate(content):
            yield from nodes(value, (*place, key))


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
