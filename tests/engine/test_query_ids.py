"""Query ids that name the same queries in different ways."""

import random
import time
import tracemalloc

import pytest

import permed_measures as pm
from permed_measures.engine.query_ids import REWRITINGS


def test_ids_that_meet_already_stay_as_they_are():
    qrels, run = {"t_1": {"a": 1}, "t_2": {"a": 1}}, {"t_1": {"a": 1.0}, "t_2": {"a": 1.0}}
    for rewriting in REWRITINGS:
        assert pm.match_query_ids(run, qrels, rewriting) == run


def test_a_litsearch_run_that_counts_from_1_is_refused():
    qrels = {str(n): {"a": 1} for n in range(1, 4)}
    run = {f"litsearch_{n:03}": {"a": 1.0} for n in range(1, 4)}
    with pytest.raises(pm.InputError, match="litsearch_003 would be beyond the last one"):
        pm.match_query_ids(run, qrels, "litsearch")
    shorter = {f"litsearch_{n:03}": {"a": 1.0} for n in range(1, 3)}
    assert list(pm.match_query_ids(shorter, qrels, "litsearch")) == ["2", "3"]


def plain_prefix(run_ids, qrels_ids):
    """Return what the rewriting must find, by trying every prefix of the first ids."""

    def joined(longer, shorter):
        for n in range(1, max(map(len, longer[:3]), default=0)):
            ends = {query_id[n - 1 : n + 1] for query_id in longer[:3] if query_id[n:] in shorter}
            may_end = any(len(each) == 2 and not each.isdigit() and not each.isalpha() for each in ends)
            if may_end and len({query_id[:n] for query_id in longer}) == 1:
                yield [(query_id, query_id[n:]) for query_id in longer if query_id[n:] in shorter]

    candidates = [[(query_id, query_id) for query_id in run_ids if query_id in qrels_ids]]
    candidates += joined(run_ids, qrels_ids)
    candidates += [[(short, long) for long, short in pairs] for pairs in joined(qrels_ids, run_ids)]
    return dict(max(candidates, key=len))


def test_prefixes_are_those_of_a_plain_search():
    rng = random.Random(4)
    found = 0
    for _ in range(3000):
        pool = ["".join(rng.choices("a1-_b2", k=rng.randint(1, 4))) for _ in range(rng.randint(1, 5))]
        prefix = "".join(rng.choices("a1-_", k=rng.randint(0, 3)))
        sides = [
            list(dict.fromkeys(pool)),
            [prefix + each for each in dict.fromkeys(pool[: rng.randint(1, 5)])],
        ]
        rng.shuffle(sides)
        expected = plain_prefix(*sides)
        assert REWRITINGS["prefix"](*sides) == expected
        found += any(ours != theirs for ours, theirs in expected.items())
    assert found > 500


@pytest.mark.parametrize("sides", [(["1"], ["a-" * 20_000 + "1"]), (["a-" * 20_000 + "1"], ["1"])])
def test_an_id_of_40_000_characters_takes_no_memory(sides):
    tracemalloc.start()
    joined = REWRITINGS["prefix"](*sides)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert list(joined.items()) == [(sides[0][0], sides[1][0])]
    assert peak < 1_000_000


def test_very_many_litsearch_ids_take_no_time():
    ids = [f"litsearch_{n:03}" for n in range(100_000)]
    start = time.perf_counter()
    joined = REWRITINGS["litsearch"](ids, [str(n) for n in range(1, 100_001)])
    assert len(joined) == 100_000
    assert time.perf_counter() - start < 10  # it would be minutes if each id were looked for in a list
