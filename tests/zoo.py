"""Odd qrels, runs, claims and measures, each of which somebody has: `test_zoo` gives them to everything."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from effort import effort


class Odd(NamedTuple):
    """Qrels, two runs, what a paper would print of the first, and the measures that one asks for."""

    qrels: dict[Any, Any]
    run: dict[Any, Any]
    other: dict[Any, Any]
    claims: Mapping[str, Any] = MappingProxyType({"MAP@10": "0.5", "P@1": "0.50", "nDCG@10": 0.5})
    measures: tuple[str, ...] = ("nDCG@10", "AP@10", "P@1", "Judged@10")


def _queries(n, docs):
    return {f"c{i // 2}_{i % 2 + 1}": dict(docs) for i in range(n)}


_SIX = _queries(6, {"a": 1, "b": 0, "c": 2})
_RUN = _queries(6, {"a": 3.0, "b": 2.0, "x": 1.0})
_OTHER = _queries(6, {"b": 3.0, "c": 2.0, "x": 1.0})


def _judged(**grades):
    """Return ordinary runs on six queries with these grades."""
    return Odd(_queries(6, grades), _RUN, _OTHER)


def _ranked(run, other=_OTHER):
    """Return ordinary qrels with these runs."""
    return Odd(_SIX, run, other)


def _scored(**scores):
    return _ranked(_queries(6, scores))


def _claimed(**claims):
    return Odd(_SIX, _RUN, _OTHER, {name.replace("_at_", "@"): value for name, value in claims.items()})


def _asked(*measures):
    return Odd(_SIX, _RUN, _OTHER, measures=measures)


_NAN, _INF = float("nan"), float("inf")

ZOO = {
    "ordinary": _ranked(_RUN),
    "grades below 1": _judged(a=0.5, b=0.25, c=0),
    "grades of 50": _judged(a=50, b=100, c=0),
    "grades of 2000": _judged(a=2000, b=1),
    "tiny grades": _judged(a=1e-320, b=1),
    "grades all negative": _judged(a=-1, b=-2),
    "grades all 0": _judged(a=0, b=0),
    "grades all 1": _judged(a=1, b=1, c=1),
    "grades of two signs": _judged(a=-1, b=1, c=3),
    "grades of truth": _judged(a=True, b=False),
    "grades that are texts": _judged(a="1", b="0"),
    "a grade that is no number": _judged(a=_NAN, b=1),
    "a grade without end": _judged(a=_INF, b=1),
    "one query": Odd({"q": {"a": 1}}, {"q": {"a": 2.0, "b": 1.0}}, {"q": {"b": 2.0, "a": 1.0}}),
    "one document": Odd({"q": {"a": 1}}, {"q": {"a": 1.0}}, {"q": {"b": 1.0}}),
    "two queries": Odd(_queries(2, {"a": 1}), _queries(2, {"a": 1.0}), _queries(2, {"b": 2.0, "a": 1.0})),
    "no qrels": Odd({}, _RUN, _OTHER),
    "a query without judgments": Odd({**_SIX, "c9_1": {}}, _RUN, _OTHER),
    "queries without judgments": Odd({"c0_1": {}, "c0_2": {}}, _RUN, _OTHER),
    "no run": _ranked({}, {}),
    "one run empty": _ranked(_RUN, {}),
    "empty lists": _ranked(_queries(6, {})),
    "no query shared": _ranked({"z": {"a": 1.0}}, {"y": {"a": 1.0}}),
    "no document judged": _ranked(_queries(6, {"x": 1.0}), _queries(6, {"y": 1.0})),
    "one query of six": _ranked({"c0_1": {"a": 1.0}}),
    "the run is the qrels": _ranked(_SIX, _SIX),
    "both runs the same": _ranked(_RUN, _RUN),
    "scores all equal": _scored(a=1.0, b=1.0, c=1.0),
    "scores without end": _scored(a=_INF, b=-_INF, c=1e39),
    "a score that is no number": _scored(a=_NAN, b=1.0),
    "ids that are numbers": Odd({1: {2: 1, 3: 0}, 2: {2: 1}}, {1: {2: 1.0}, 2: {3: 1.0}}, {1: {3: 1}, 2: {}}),
    "ids that are empty": Odd({"": {"": 1}}, {"": {"": 1.0}}, {"": {"x": 1.0}}),
    "ids with spaces": Odd({"a b": {"c\td": 1}}, {"a b": {"c\td": 1.0}}, {"a b": {"\n": 1.0}}),
    "ids in any script": Odd({"日本": {"漢": 1, "é": 0}}, {"日本": {"漢": 1.0}}, {"日本": {"é": 1.0}}),
    "ids that are markup": Odd({"<b>|&": {"$x_1$": 1}}, {"<b>|&": {"$x_1$": 1.0}}, {"<b>|&": {"\\": 1.0}}),
    "no claim": _claimed(),
    "a claim of no measure": _claimed(latency=12),
    "a claim of a word": _claimed(MAP_at_10="n/a"),
    "a claim of nan": _claimed(MAP_at_10=_NAN),
    "a claim without end": _claimed(MAP_at_10=_INF),
    "0 beside percent": _claimed(P_at_1=0, MAP_at_10="50.0"),
    "claims of 0": _claimed(P_at_1=0, MAP_at_10="0.000", nDCG_at_10=0.0),
    "claims of 1": _claimed(P_at_1=1, MAP_at_10="1.000", nDCG_at_10=1.0),
    "claims in percent": _claimed(P_at_1="100%", MAP_at_10="50.00", nDCG_at_10="61.3"),
    "claims below 0": _claimed(P_at_1=-0.5, MAP_at_10="-1"),
    "claims above 1": _claimed(MAP_at_10=3.5, P_at_1=1.2, nDCG_at_10="104.2"),
    "claims of many digits": _claimed(P_at_1="0.33333333333333333333", MAP_at_10=1 / 3),
    "one claim twice": _claimed(MAP_at_10="0.5", map_cut_10="0.4", P_at_1="0.5"),
    "claims without cutoffs": _claimed(MAP="0.5", nDCG="0.6", MRR="1.0", Rprec="0.5"),
    "a cutoff of 0": _claimed(MAP_at_0="0.5"),
    "a measure twice": _asked("P@1", "P@1"),
    "a measure that is none": _asked("precision-ish"),
    "no measure": _asked(),
    "many measures": _asked(*(f"P@{k}" for k in range(1, effort(9, 25)))),
    "cutoffs above every list": _asked("P@1000", "nDCG@100000"),
    "counts": _asked("NumRet", "NumRel", "NumQ", "NumRet(rel=1)"),
    "a rel above every grade": _asked("AP(rel=9)@10", "Bpref(rel=9)", "P(rel=9)@1"),
}
