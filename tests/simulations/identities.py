"""How many scripts and named conventions are named when they are asked, how many falsely, and how fast.

What is named is compared with the script on other random collections, where no number of it may differ.
Functions that have one digit of a constant off may not be named at all. Of those that are easily taken for a
measure each has what must come out.

    python tests/simulations/identities.py scripts|conventions|off|hard [every nth]
"""

import math
import pathlib
import random
import sys
import time
import warnings
from collections import Counter
from itertools import islice

import evaluation_scripts  # noqa: F401 (which lists its scripts)
import further_scripts  # noqa: F401
import library_scripts  # noqa: F401
from evaluation_scripts import SCRIPTS, Lists, ap, hit, mean, ndcg, p, r, rr

import permed_measures as pm
from permed_measures.conventions.named import NAMED
from permed_measures.identification.cases import Case, random_case
from permed_measures.identification.elimination import TargetMeasure, convention_value
from permed_measures.published_tables.measure_names import meaning_of

sys.path.append(str(pathlib.Path(__file__).parents[1] / "identification"))
NAMES = ("MAP@10", "nDCG@10", "P@10", "R@10", "MRR@10", "Hit@10", "F1@10")
FRESH = 30
"""On how many other collections what is named is compared once more."""
ONE = {"q_1": {"a": 1, "b": 1}}, {"q_1": {"a": 2.0, "x": 1.0}}
"""What a script is asked for first, to learn the names of its numbers."""


def functions_of_scripts():
    """Yield the name of a script, of its number, and a function of qrels and a run."""
    for script, function in SCRIPTS.items():
        try:
            names = list(function(*ONE))
        except ImportError:
            print("not installed:", script)
            continue
        for name in names:
            yield script, name, lambda qrels, run, f=function, name=name: f(qrels, run)[name]


def functions_of_conventions():
    """Yield the same of each convention with a name."""
    for named in NAMED:
        for name in NAMES:
            target = TargetMeasure(name, *meaning_of(name))
            if named.has(target.measure):
                options = named.with_cutoffs([target])
                yield (
                    named.name,
                    name,
                    lambda qrels, run, c=target, o=options: convention_value(c.of(Case(qrels, run)), o),
                )


def fresh_cases():
    """Yield collections that no search has seen."""
    for seed in range(FRESH):
        rng = random.Random(f"fresh {seed}")
        yield random_case(rng, 10, rng.randint(1, 9), rng.choice((1, 2, 3)))


def is_false(result, function, name):
    """Return whether what was named differs from the function on another collection."""
    target = TargetMeasure(name, *meaning_of(name))
    for case in fresh_cases():
        ours, theirs = (
            convention_value(target.of(case), result.nearest.convention),
            function(case.qrels, case.run),
        )
        if abs(ours - theirs) > 1e-6:
            return True
    return False


def ndcg_off(x, q, shift=1.1):
    """Return nDCG@10 whose discount has one digit of a constant off."""
    gains, best = x.grades.get(q, [])[:10], x.ideal[q][:10]
    total, ideal = (
        sum(max(g, 0) / math.log2(i + shift) for i, g in enumerate(each, 1)) for each in (gains, best)
    )
    return total / ideal if ideal > 0 else 0


OFF = {
    "MAP@10": [ap(11), ap(10, weight=lambda g: g / 2.1), ap(10, weight=lambda g: g / 2 + 0.001 * (g > 1))],
    "nDCG@10": [ndcg(9), ndcg_off, lambda x, q: ndcg_off(x, q, 1.001)],
    "P@10": [p(11), lambda x, q: p(10)(x, q) * 10 / 10.1],
    "R@10": [r(9), lambda x, q: r(10)(x, q) * 0.999],
    "MRR@10": [rr(11), lambda x, q: rr(10)(x, q) ** 1.01],
    "Hit@10": [hit(11)],
}
"""Measures of scripts that have one digit of a constant off: none may be named."""


def functions_off():
    """Yield them as functions do."""
    for name, measures in OFF.items():
        for n, measure in enumerate(measures, 1):

            def function(qrels, run, measure=measure):
                x = Lists(qrels, run)
                return mean(measure(x, q) for q in x.qrels)

            yield f"off {n}", name, function


def main(kind="scripts", step=1):
    """Print a row for each function that is not named as it should be, and the counts."""
    found, times = Counter(), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for script, name, function in islice(KINDS[kind](), 0, None, int(step)):
            start = time.process_time()
            result = pm.identify(function, name)
            times.append(time.process_time() - start)
            wrong = result.ok and is_false(result, function, name)
            found += Counter({"asked": 1, "named": result.ok, "named falsely": wrong})
            if not result.ok or wrong:
                share = "FALSE" if wrong else f"{result.n_agree} of {result.n_cases}"
                print(f"{script:50} {name:14} {share}", flush=True)
    print(kind, dict(found), f"{mean(times):.1f} s each, at most {max(times):.1f} s")


def ask_hard_functions(step=1):
    """Print a row for each function that does not get what is expected, and the times."""
    from hard_functions import HARD

    times, n_wrong = [], 0
    for hard in islice(HARD, 0, None, int(step)):
        start = time.process_time()
        try:
            result = pm.identify(hard.function, hard.name, form=hard.form)
            came = result.nearest.sentence() if result.ok else None
        except pm.PermedError:
            came = "error"
        times.append(time.process_time() - start)
        if came is None or hard.expected is None or hard.expected not in came:
            wrong = came != hard.expected
            n_wrong += wrong
            if wrong:
                print(f"{hard.function.__name__:50} {hard.name:14} {hard.expected} {came}", flush=True)
    print(f"hard: {len(times)} asked, {n_wrong} wrong; {mean(times):.1f} s each, at most {max(times):.1f} s")


KINDS = {"scripts": functions_of_scripts, "conventions": functions_of_conventions, "off": functions_off}

if __name__ == "__main__":
    if sys.argv[1:2] == ["hard"]:
        ask_hard_functions(*sys.argv[2:])
    else:
        main(*sys.argv[1:])
