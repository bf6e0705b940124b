"""Ids as numbers: in the order of Python's strings, whatever the ids are."""

import random

import numpy as np
import oracle
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from permed_measures.engine import id_order, ranks
from permed_measures.engine.id_order import Ids
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.engine.ranks import TieBreak

CHARACTERS = "a", "b", "7", "~", "\x01", "\x7f", "\x80", "é", "\uffff", "漢", "\U0001d4b3"
PARTS = st.sampled_from([*CHARACTERS, "aaaaaaa", "aaaaaaaa", "éééé", "long" * 9])
IDS = st.lists(PARTS, max_size=4).map("".join)


def numbers_of(group, *parts):
    return Ids.of(lambda: parts, len(group)).numbers(np.array(group)).tolist()


def ranked(group, values):
    """Return group and place of each value among the different ones of its group."""
    order = {each: place for place, each in enumerate(sorted(set(zip(group, values, strict=True))))}
    return [order[each] for each in zip(group, values, strict=True)]


@given(st.data())
def test_numbers_are_in_the_order_of_the_ids(data):
    prefix, ids = data.draw(IDS), data.draw(st.lists(IDS, min_size=2, max_size=30))
    ids = [prefix + each for each in ids]
    group = data.draw(st.lists(st.sampled_from([0, 1, 9]), min_size=len(ids), max_size=len(ids)))
    cut = data.draw(st.integers(1, len(ids) - 1))
    for rows in (ids[cut:], pl.Series(ids[cut:])):
        assert ranked(group, numbers_of(group, ids[:cut], rows)) == ranked(group, ids)


@pytest.mark.parametrize("odd", ["a\0", "\0", "a\0b", "\ud800", "a\udfff", "", 7, 70])
def test_odd_ids_are_numbered_too(odd):
    short = ["a", "ab", "\ue000", "\U00010000", "7", "8"]
    for ids in (short, [*short, "aaaaaaaa", "aaaaaaaaa"]):
        group = [0] * (2 * len(ids) + 2)
        assert ranked(group, numbers_of(group, [*ids, "b"], [*ids, odd])) == ranked(
            group, [*ids, "b", *ids, str(odd)]
        )


@pytest.mark.parametrize("groups", [1, 3])
def test_many_long_ids_are_numbered_by_a_few_bytes_after_the_other(groups):
    ids = [f"{n % 3}, document {n:05}" for n in range(4_000)]
    random.Random(1).shuffle(ids)
    group = [place % groups for place in range(len(ids))]
    assert ranked(group, numbers_of(group, ids)) == ranked(group, ids)


KINDS = {
    "short": lambda n: f"d{n}",
    "numbers": lambda n: str(n * 7919 % 1_000_003),
    "prefixes of one another": lambda n: "a" * n,
    "long": lambda n: f"https://example.org/collection/{n % 7}/document-{n:012d}/part-{n % 3}",
    "not ASCII": lambda n: f"{'éü漢𝒳'[n % 4]}{n % 10}{'Ω' * (n % 5)}{n}",
    "with NUL": lambda n: "a" * (n % 9) + "\0" * (n // 9),
    "integers": lambda n: n * 37,
}


@pytest.mark.parametrize("largest", [ranks.LARGEST, 1 << 20])  # fewer bytes are compared at once above it
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ties", TieBreak)
def test_ties_of_any_ids_are_those_of_a_full_sort(ties, kind, largest, monkeypatch):
    for module in (id_order, ranks):
        monkeypatch.setattr(module, "LARGEST", largest)
    rng = random.Random(9)
    qrels, run = {}, {}
    for number, scores in enumerate([[1.0], [1.0, 1.5], [0.0, -0.0, 2.0, 2 + 1e-9]] * 4):
        documents = list(map(KINDS[kind], rng.sample(range(90), 40)))
        if kind == "integers":  # only the first id of a query is looked at
            documents[:10] = map(str, documents[:10])
        run[f"q{number}"] = {each: rng.choice(scores) for each in documents}
        strings = [each for each in documents if isinstance(each, str)]
        judged = rng.sample(strings, min(rng.choice([1, 5, 40]), len(strings)))
        qrels[f"q{number}"] = {each: rng.randrange(-1, 3) for each in [*judged, "x"]}
    judgments = Judgments.of(qrels)
    rankings = JudgedRankings.of(judgments, run, ties)
    for number, (query_id, docs) in enumerate(qrels.items()):
        order = oracle.rank({str(each): score for each, score in run[query_id].items()}, ties.value, docs)
        here = rankings.query == judgments.query_ids.index(query_id)
        found = dict(zip(judgments.ids(rankings.row[here]), rankings.rank[here].tolist(), strict=True))
        assert found == {each: rank for rank, each in enumerate(order, start=1) if each in docs}, number
