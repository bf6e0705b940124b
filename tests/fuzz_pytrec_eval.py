"""Find the kinds of input on which pytrec_eval kills its process, hangs, or answers NaN or an odd error.

Run it with ``python tests/fuzz_pytrec_eval.py [--cases N] [--seed S] [--only WORD]``. Every case runs in a
child process (10 s, 4 GiB of address space), twice: as is, and with MALLOC_PERTURB_ set, under which glibc
fills fresh memory with junk: UNSTABLE says that this changes the outcome, so uninitialised memory was read.
DIFFERS says that a query has other values when scored by itself. pytest does not collect this file.
"""

import argparse
import collections
import concurrent.futures
import json
import math
import os
import random
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytrec_eval

LIMIT = 4 << 30
QRELS, RUN, MEASURES = "{'q': {'d': 1, 'e': 0}}", "{'q': {'d': 2.0, 'e': 1.0}}", "['map', 'P_5']"
TWO, TWO_RUN = "{'a': {'x': 1, 'y': 0}, 'q': {'d': @}}", "{'a': {'x': 2.0, 'y': 1.0}, 'q': {%s}}"
EVERY = " ".join(sorted(pytrec_eval.supported_measures))
CUTS = """P_0 P_-1 P_1.5 P_5x P_ P_5,5 P_5,05 P_5,5.0 P_1,4294967297,8589934593 recall_0 success_0 prefs
map_cut_0 ndcg_cut_0 relative_P_0 P_9223372036854775808 map_cut_9223372036854775807 map_5 ndcg_5 G_1 Rndcg_1
ndcg_rel_1 binG_1 recip_rank_10 bpref_5 11pt_avg_2 set_F_-1 set_F_0 set_F_1,2 runid iprec_at_recall_2.00
iprec_at_recall_0.001,0.002 iprec_at_recall_-1 iprec_at_recall_0.5,0.50 relstring_9 Rprec_mult_0,0.00
Rprec_mult_1000000000 utility_1 utility_1,2,3,4 foo P_5\\0 P_5\\ud800 all_trec"""
STRANGE = """ALL [] None 'map' [1] {'map':1} ['P_5','P_05'] ['map','P_0'] ['P','P_5'] ['num_q','runid']
[f'P_{k+1}'for(k)in(range(9999))] ['P_'+'9'*400] ['set_F_'+'9'*400] ['iprec_at_recall_'+'9'*400]"""
NUMBERS = "True None '1' 1.0 np.int64(1) np.float64(1) np.float32(1) 1j"
HUGE = "2**31 2**62 2**63 -2**62 -2**63 -2**63-1 10**400"
TEXTS = "'' 'a\\0b' '\\ud800' 'x'*10**7 b'q' 1 None np.str_('q') 'é' 'no_query' 'no\\x20query'"
MAPPINGS = "defaultdict(dict,@) type(vars(int))(@) UserDict(@) tuple(@.items()) None [] {}"
MAPPED = [MAPPINGS.replace("@", text.replace(" ", "")) for text in (QRELS, RUN, "{'d':1}")]
SCORES = "nan (nan)if(i%3)else(float(i%7)) (nan)if(i*7919%5<2)else(i*31337%4999) inf 1.0"
FEW, LEVEL = "['map'] ['ndcg'] ['map','ndcg'] ALL", "{'relevance_level': @}"


def case(qrels: str = QRELS, run: str = RUN, measures: str = MEASURES, **options: Any) -> str:
    """Return the expression of a case that is fine but for what is given."""
    return f"({qrels}, {run}, {measures}, {options})"


GROUPS: list[tuple[str, str, str]] = [
    ("measure", case(measures="['@']"), CUTS),
    ("measures", case(measures="@"), STRANGE),
    ("after all, measures", case(measures="@", first=EVERY.split()), "['P_0'] ['P_5','P_05'] ['map','G_1']"),
    ("grade", case("{'q': {'d': @, 'e': 0}}", measures="ALL"), f"{NUMBERS} {HUGE} 10**3 10**5 10**6"),
    ("grade, map", case("{'q': {'d': @}}"), "10**7 10**8 10**9 2**31 2**61-1 2**63-1"),
    ("grade, ndcg", case("{'q': {'d': @}}", measures="['ndcg']"), "10**4 10**6 10**8 10**9"),
    ("only -1", case("{'q': {'d': -1}}", measures="@"), FEW),
    ("only -2", case("{'q': {'d': -2}}", measures="@"), FEW),
    ("a normal query, then only, all", case(TWO, TWO_RUN % "'d': 1.0", "ALL", alone=1), "-1 -2 0"),
    ("score", case(run="{'q': {'d': @, 'e': 0}}"), f"{NUMBERS} {HUGE} nan inf -inf 10**308"),
    ("scores of 2000", case(run="{'q': {f'd{i}': @ for i in range(2000)}}", measures="ALL"), SCORES),
    ("query id", case("{@: {'d': 1}}", "{@: {'d': 1.0}}", "ALL"), TEXTS),
    ("no_query, twice", case(*["{'no_query': {'c': 0, 'd': 1}}"] * 2, "@", repeat=2), FEW),
    ("document id, judged", case("{'q': {@: 1}}"), TEXTS),
    ("document id, retrieved", case(run="{'q': {@: 1.0}}"), TEXTS),
    ("query ids cut at NUL", case(*["{'a\\0b': {'d': 1}, 'a\\0c': {'e': 1}}"] * 2, "@"), "ALL"),
    ("judged ids cut at NUL", case("{'q': {'d\\0b': 1, 'd\\0c': 2}}", measures="@"), FEW),
    ("retrieved ids cut at NUL", case(run="{'q': {'d\\0b': 1.0, 'd': 2}}", measures="@"), FEW),
    ("nothing retrieved", case(run="{'q': {}}", measures="@"), FEW),
    ("nothing retrieved, map and", case(run="{'q': {}}", measures="['num_q', 'map', '@']"), EVERY),
    ("a query, then nothing retrieved", case(TWO.replace("@", "1"), TWO_RUN % "", "@", alone=1), FEW),
    ("condensed to nothing", case(run="{'q': {'z': 1}}", measures="@", judged_docs_only_flag=1), "ALL"),
    ("relevance level", case().replace("{}", LEVEL), f"0 -1 3 -2**31 {NUMBERS} {HUGE}"),
    ("relevance level, all", case(measures="ALL").replace("{}", LEVEL), "-1 3 10**4 10**6 2**31-1"),
    ("qrels", case("@"), MAPPED[0]),
    ("qrels of a query", case("{'q': @}"), MAPPED[2]),
    ("run", case(run="@"), MAPPED[1]),
    ("run of a query", case(run="{'q': @}"), MAPPED[2]),
    ("evaluated 3 times", case(measures="@", repeat=3), "ALL ['P_5,10','P_3','set_F_0.5']"),
]
KINDS = {f"{kind} {x}": text.replace("@", x) for kind, text, values in GROUPS for x in values.split()}


def evaluate(qrels: Any, run: Any, measures: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Score a case in the child; with "alone", add what differs where a query is scored by itself."""
    repeat, alone, first = (options.pop(name, 0) for name in ("repeat", "alone", "first"))
    if first:
        pytrec_eval.RelevanceEvaluator(qrels, first).evaluate(run)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, measures, **options)
    for _ in range(repeat or 1):
        found = evaluator.evaluate(run)
    for query in list(found) if alone else ():
        single = evaluator.evaluate({query: run[query]})[query]
        wrong = {m: (value, single[m]) for m, value in found[query].items() if repr(value) != repr(single[m])}
        found |= {f"{query}: (value, alone)": wrong} if wrong else {}
    return found


def child(expression: str) -> str:
    """Return what becomes of a case, in the process that may die of it."""
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    names = {**vars(collections), "np": np, **vars(math)}
    try:
        found = evaluate(*eval(expression, names | {"ALL": pytrec_eval.supported_measures - {"runid"}}))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if differs := {query: values for query, values in found.items() if query.endswith("alone)")}:
        return f"DIFFERS {differs}"
    odd = sorted({m for values in found.values() for m, value in values.items() if not math.isfinite(value)})
    return f"NaN in {odd} {found}" if odd else f"ok {found}"


def outcome(expression: str, junk: str = "0") -> str:
    """Return what becomes of a case in a child of its own, in one line."""
    command, env = [sys.executable, __file__, "--child=1"], os.environ | {"MALLOC_PERTURB_": junk}
    try:
        done = subprocess.run(command, input=expression.encode(), env=env, capture_output=True, timeout=10)
    except subprocess.TimeoutExpired:
        return "TIMEOUT"
    said = done.stderr.decode(errors="replace").strip().split("\n")[-1][-150:]
    if done.returncode < 0:
        return f"SIGNAL {signal.Signals(-done.returncode).name} {said}"
    text = f"EXIT {done.returncode}" if done.returncode else json.loads(done.stdout)
    return re.sub(r" object at 0x\w+", "", f"{text} {said}")


def both(expression: str) -> str:
    """Return the outcome, or both outcomes where junk in fresh memory changes it."""
    plain, junk = outcome(expression), outcome(expression, "165")
    return plain if plain == junk else f"UNSTABLE {plain[:110]} | with junk: {junk[:110]}"


def random_case(rng: random.Random, odd: bool) -> list[Any]:
    """Return (qrels, run, measures, options) within what a caller may pass, or with ``odd`` beyond it."""
    grades = [0, 1, 2, 3, -1, -3, 1000] + [-(2**62), 2**62] * (odd and rng.random() < 0.2)
    scores = [0.0, 1, 2.5, -1.0, math.inf, -math.inf, 2**63] + [math.nan] * odd
    queries = ["", "q1", "q2", "é", "x" * 999] + ["no query", "no_query", "a\0b", "a\0c"] * odd
    documents = ["", "é", *(f"d{i}" for i in range(rng.choice((3, 12, 60))))] + ["d1\0"] * odd
    cuts = [f"{m}_{k}" for m in ("P", "recall", "map_cut", "ndcg_cut", "success") for k in (1, 5, 2**31 - 1)]
    names = [m for m in EVERY.split() if odd or m != "runid"] + cuts + ["P_0", "recall_1.5", "ndcg_5"] * odd

    def table(values: list[Any]) -> dict[str, dict[str, Any]]:
        width, some = rng.randint(1 - odd, len(documents)), rng.sample(queries, rng.randint(1, 4))
        return {q: {d: rng.choice(values) for d in rng.sample(documents, width)} for q in some}

    qrels, run, measures = table(grades), table(scores), rng.sample(names, rng.randint(1, 8))
    qrels = {q: docs for q, docs in qrels.items() if odd or max(docs.values()) >= 0}
    options = {"relevance_level": rng.choice((1, 2, 5)), "judged_docs_only_flag": rng.random() < 0.3}
    return [qrels, run, measures, options]


def smaller(parts: list[Any]) -> Iterator[list[Any]]:
    """Yield the case without one query, document or measure."""
    for place, table in enumerate(parts[:2]):
        for query, docs in table.items():
            rest = {q: d for q, d in table.items() if q != query}
            for less in (rest, *(rest | {query: {d: docs[d] for d in docs if d != doc}} for doc in docs)):
                yield [*parts[:place], less, *parts[place + 1 :]]
    yield from ([*parts[:2], [m for m in parts[2] if m != less], parts[3]] for less in parts[2])


def minimised(parts: list[Any], trials: int = 100) -> list[Any]:
    """Return a smaller case with the same kind of outcome, which is its first two words."""
    wanted, others = both(repr(parts)).split()[:2], smaller(parts)
    for _ in range(trials if wanted != ["TIMEOUT"] else 0):
        if (other := next(others, None)) and both(repr(other)).split()[:2] == wanted:
            parts, others = other, smaller(other)
    return parts


def main() -> None:
    """Run the named kinds and the random cases; print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    for option, default in {"--cases": 50, "--seed": 0, "--only": "", "--child": ""}.items():
        parser.add_argument(option, type=type(default), default=default)
    given = parser.parse_args()
    if given.child:
        print(json.dumps(child(sys.stdin.buffer.read().decode())))
        return
    print(f"pytrec-eval-terrier {pytrec_eval.__version__}, 10 s, {LIMIT >> 30} GiB")
    rng, seen = random.Random(given.seed), set()
    sorts = {f"{s} {i}": random_case(rng, s == "odd") for s in ("allowed", "odd") for i in range(given.cases)}
    cases = {name: text for name, text in KINDS.items() if given.only in name}
    cases |= {name: repr(parts) for name, parts in sorts.items()}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, text in zip(cases, pool.map(both, cases.values()), strict=True):
            if name in KINDS or not text.startswith("ok"):
                print(f"{name[:50]:50} {ascii(text)[1:250]}", flush=True)
            if name in sorts and not text.startswith("ok") and (kind := tuple(text.split()[:2])) not in seen:
                seen.add(kind)
                print(f"    {minimised(sorts[name])!a}", flush=True)
    print(f"{2 * given.cases} random cases of seed {given.seed}")


if __name__ == "__main__":
    main()
