"""Ids as numbers: in the order of Python's strings, whatever the ids are."""

import random

import oracle
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from permed_measures.engine.id_numbers import id_numbers
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.engine.ranks import TieBreak

CHARACTERS = "a", "b", "7", "~", "\x01", "\x7f", "\x80", "é", "\uffff", "漢", "\U0001d4b3"
PARTS = st.sampled_from([*CHARACTERS, "aaaaaaa", "aaaaaaaa", "éééé", "long" * 9])
IDS = st.lists(PARTS, max_size=4).map("".join)


def ranked(values):
    """Return the place of each value among the different ones."""
    order = {value: place for place, value in enumerate(sorted(set(values)))}
    return [order[value] for value in values]


@given(prefix=IDS, ids=st.lists(IDS, min_size=2, max_size=30), cut=st.integers(1, 29))
def test_numbers_are_in_the_order_of_the_ids(prefix, ids, cut):
    ids = [prefix + each for each in ids]
    cut = min(cut, len(ids) - 1)
    assert ranked(id_numbers(ids[:cut], ids[cut:]).tolist()) == ranked(ids)
    assert ranked(id_numbers(ids[:cut], pl.Series(ids[cut:])).tolist()) == ranked(ids)


@pytest.mark.parametrize("odd", ["a\0", "\0", "a\0b", "\ud800", "a\udfff", "", 7, 70])
def test_odd_ids_are_numbered_too(odd):
    short = ["a", "ab", "\ue000", "\U00010000", "7", "8"]
    for ids in (short, [*short, "aaaaaaaa", "aaaaaaaaa"]):
        numbers = id_numbers([*ids, "b"], [*ids, odd])
        assert ranked(numbers.tolist()) == ranked([*ids, "b", *ids, str(odd)])


def test_many_long_ids_are_sorted_by_sixteen_bits_of_their_place_after_the_other():
    ids = [f"{n % 3}, document {n:05}" for n in range(70_000)]
    random.Random(1).shuffle(ids)
    assert id_numbers(ids).tolist() == ranked(ids)


KINDS = {
    "short": lambda n: f"d{n}",
    "numbers": lambda n: str(n * 7919 % 1_000_003),
    "prefixes of one another": lambda n: "a" * n,
    "long": lambda n: f"https://example.org/collection/{n % 7}/document-{n:012d}/part-{n % 3}",
    "not ASCII": lambda n: f"{'éü漢𝒳'[n % 4]}{n % 10}{'Ω' * (n % 5)}{n}",
    "with NUL": lambda n: "a" * (n % 9) + "\0" * (n // 9),
    "integers": lambda n: n * 37,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ties", TieBreak)
def test_ties_of_any_ids_are_those_of_a_full_sort(ties, kind):
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
