"""Resolve common spellings of measure names: ``map``, ``NDCG_cut_10``, ``mrr@10``, ``hit rate (5)``."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

import ir_measures
from ir_measures.measures import Measure

from permed_measures.errors import MeasureError
from permed_measures.measures.parameters import cutoff_of
from permed_measures.measures.specs import MEASURES, SPECS

_SEPARATORS = str.maketrans("", "", " _.-")


def words_of(names: str) -> list[str]:
    """Split names, and bring each into lower case without separators."""
    return [name.lower().translate(_SEPARATORS) for name in names.split()]


_KNOWN_MEASURES = [*MEASURES.values(), *ir_measures.measures.registry.values()]
MEASURE_OF_WORD: dict[str, str] = {
    **{
        str(measure.NAME).lower().translate(_SEPARATORS): str(measure.NAME)
        for measure in reversed(_KNOWN_MEASURES)
    },
    **{word: name for name, spec in SPECS.items() for word in words_of(f"{spec.aliases} {spec.chinese}")},
    "numrelret": "NumRelRet",  # ir_measures' name for NumRet(rel=1)
}
"""Measures by all their names, in lower case and without separators."""

_ALIAS_PATTERN = r"""(?x)
    (?:(?:cosine|cos_sim|dot_score|dot|euclidean|manhattan)_)?       # prefixes of sentence-transformers
    (?:(?:top|前)[ _@-]*(?P<first>[0-9]+)[ _-]*(?=[^ _-]))?           # top-5 accuracy
    (?P<word>[^(@]*?)
    [ _.]*@?[ _.]*(?:(?:at|cut|top)[ _.@]*(?=[0-9(]))?
    (?:(?P<last>[0-9]+)(?P<thousands>k?)(?:[ ]*\([^=]*\))?             # ndcg@1k, mrr@10 (dev)
      |\((?:k[ ]*=[ ]*)?(?P<inside>[0-9]+)\)                         # p (5), p (k=5)
      |(?<=@)(?P<all>all))?
    """
_SPELLINGS = (
    (re.compile(r"([_@])\{([0-9]+)\}"), r"\1\2"),  # ndcg_{10}
    (re.compile(r"(?<=[0-9]),(?=000(?![0-9]))"), ""),  # r@1,000
)
"""Unusual spellings of a cutoff, and the usual one."""
_AVERAGE = re.compile(r"^(avg|average|mean)(?=.)")
_LONGEST_ALIAS = 60
"""Maximum length of a measure's name in characters."""
_INTERPOLATED = "iprec_at_recall_"
_MOST_DIGITS_OF_A_CUTOFF = 9


def resolve_alias(name: str) -> tuple[str, float | None] | None:
    """Resolve a name to a measure and its cutoff (for IPrec, the recall); None if it names no measure.

    Examples
    --------
    >>> resolve_alias("NDCG_cut_10"), resolve_alias("hit rate@5"), resolve_alias("mrr"), resolve_alias("mpa")
    (('nDCG', 10), ('Success', 5), ('RR', None), None)
    """
    name = unicodedata.normalize("NFKC", name).strip().lower()
    if name.startswith(_INTERPOLATED):
        recall = name.removeprefix(_INTERPOLATED)
        return ("IPrec", float(recall)) if recall.replace(".", "", 1).isdecimal() else None
    whole = name.translate(_SEPARATORS)
    # The whole name comes first: the 1 of "f1" is not a cutoff.
    word, cutoff = (whole, "") if whole in MEASURE_OF_WORD else word_and_cutoff(name)
    if word not in MEASURE_OF_WORD or f"({cutoff})" in name:  # a number in brackets may be a parameter
        return None
    return MEASURE_OF_WORD[word], parse_cutoff(cutoff, name) if cutoff.isdigit() else None


def word_and_cutoff(name: str) -> tuple[str, str]:
    """Split a name in lower case into its word, without separators, and its cutoff.

    Examples
    --------
    >>> [word_and_cutoff(name) for name in ("ndcg_cut_10", "p (k=5)", "top-5 accuracy", "map@all")]
    [('ndcg', '10'), ('p', '5'), ('accuracy', '5'), ('map', 'all')]
    >>> [word_and_cutoff(name) for name in ("avg. ndcg_{10}", "avg precision", "r@1,000")]
    [('ndcg', '10'), ('averageprecision', ''), ('r', '1000')]
    """
    for pattern, usual in _SPELLINGS:
        name = pattern.sub(usual, name)
    match = re.fullmatch(_ALIAS_PATTERN, name) if len(name) <= _LONGEST_ALIAS else None
    if match is None:
        return _drop_average(name.translate(_SEPARATORS)), ""
    cutoff = match["last"] or match["inside"] or match["all"] or match["first"] or ""
    word = _drop_average(match["word"].translate(_SEPARATORS))
    return word, cutoff + "000" * bool(match["thousands"])


def _drop_average(word: str) -> str:
    """Drop "avg", "average" or "mean" in front of a measure; average precision is a measure itself."""
    rest = _AVERAGE.sub("", word)
    whole = f"average{rest}" if word.startswith(("avg", "average")) else word
    is_known = whole in MEASURE_OF_WORD or whole in _ADVICE
    return whole if is_known else rest if rest in MEASURE_OF_WORD else word


def parse_cutoff(cutoff: str, name: str) -> int:
    """Parse the digits of a cutoff; `name` is the measure's whole name, for the error message."""
    significant = cutoff.lstrip("0")
    if not significant:
        raise MeasureError(f"a cutoff must be at least 1 (found {name!r})")
    if len(significant) > _MOST_DIGITS_OF_A_CUTOFF:
        raise MeasureError(
            f"a cutoff has at most {_MOST_DIGITS_OF_A_CUTOFF} digits (found {len(significant)})"
        )
    return int(significant)


_AMONG = re.compile(r"(?:r|recall)_?\{?(?P<n>[0-9]+)\}?(?:@(?P<k>[0-9]+))?")


def drop_candidate_count(name: str) -> str:
    """Turn Rn@k (recall among n candidates) into R@k; other names do not change.

    Examples
    --------
    >>> drop_candidate_count("R10@1"), drop_candidate_count("R_{10}@2"), drop_candidate_count("R@10")
    ('R@1', 'R@2', 'R@10')
    """
    match = _AMONG.fullmatch(name.lower())
    return f"R@{match['k']}" if match and match["k"] else name


def has_percent_cutoff(name: str) -> bool:
    """Check whether a name ends in a percentage, such as ``NDCG@10%``: a share of the list, or a unit."""
    return re.search(r"@ *[0-9.]+ *%$", name.strip()) is not None


def unsupported_hint(name: str) -> str:
    """Suggest what to write instead of the name of a measure that is not supported; empty for other names."""
    name = name.strip()[:_LONGEST_ALIAS]
    if has_percent_cutoff(name):
        return f"Write {name.rstrip('% ')} (%) for values in percent; a share of the list cannot be a cutoff"
    if candidates := _AMONG.fullmatch(name.lower()):
        return f"Recall among {candidates['n']} candidates is R@k on lists that have these alone"
    return _ADVICE.get(word_and_cutoff(name.lower())[0], "")


def suggestion_for(name: str) -> str:
    """Suggest a measure for an unknown name."""
    import difflib

    word = word_and_cutoff(name[:_LONGEST_ALIAS].lower())[0]
    if hint := unsupported_hint(name):
        return f"{hint}; `permed-measures measures` lists all"
    words = [alias for alias, measure in MEASURE_OF_WORD.items() if measure not in NOT_COMPUTED]
    swapped = [alias for alias in words if sorted(alias) == sorted(word)]
    similar = swapped or difflib.get_close_matches(word, words, n=1, cutoff=0.75)
    if not similar:
        return "`permed-measures measures` lists all"
    suggested = MEASURE_OF_WORD[similar[0]]
    if suggested.lower() != similar[0]:  # prefer ir_measures' own spelling of the similar name
        registry = ir_measures.measures.registry
        suggested = next((known for known in registry if known.lower() == similar[0]), suggested)
    return f"Did you mean {suggested!r}? `permed-measures measures` lists all"


NOT_COMPUTED = {str(measure.NAME) for measure in _KNOWN_MEASURES} - SPECS.keys()
"""Measures of ir_measures that are parsed, but not supported here; they are never suggested."""

_ADVICE = {
    **dict.fromkeys(("gmap", "gmmap", "geometricmap"), "The geometric mean of AP is not computed"),
    **dict.fromkeys(("nerr", "normalizederr"), "ERR divided by the ERR of the ideal list is not computed"),
    **dict.fromkeys(
        ("mar", "ar", "averagerec", "averagerecall", "meanaveragerecall"),
        "Average recall, over ranks, is not computed",
    ),
    **dict.fromkeys(
        ("average", "averages", "averaged", "avg", "mean", "means", "score", "scores"),
        "Each measure is averaged over the queries: name the measure",
    ),
    **dict.fromkeys(("alltrec", "official"), "Name the measures that you need, such as AP, nDCG and P@10"),
    **dict.fromkeys(
        ("dcg", "discountedcumulativegain"),
        "DCG is not computed by itself; identify and audit tell an nDCG that is not divided by an ideal",
    ),
    **dict.fromkeys(("auc", "rocauc", "auroc"), "The area under the ROC curve is not computed"),
    "hole": "Hole, the share of documents that are judged for no query, is not computed; Judged is near it",
    "map@r": "AP cut at the number of relevant documents of each query is not computed",
}
"""Hints for names for which a measure of similar spelling would be a wrong suggestion."""


def ambiguities(asked: Iterable[tuple[str, Measure]], measures: Iterable[Measure]) -> list[str]:
    """Describe how names with several meanings on graded labels were understood.

    There is no note if `measures` also have one of the other meanings: then the user knows the difference.
    """
    names = set(map(str, measures))
    notes: dict[str, str] = {}
    for text, measure in asked:
        spec = SPECS.get(str(measure).partition("@")[0])  # other parameters tell the meanings apart
        if spec is None or spec.ambiguity is None:
            continue
        cutoff = cutoff_of(measure)
        others = [f"{other}@{cutoff}" if cutoff else other for other in spec.ambiguity.others]
        if names.isdisjoint(others) and word_and_cutoff(text.lower())[0] in spec.ambiguity.names:
            taken = "" if text == str(measure) else f"taken as {measure}, "
            meaning, also = spec.ambiguity.meaning, " or ".join(others)
            note = f"{text} is {taken}trec_eval's, where {meaning}; it may also mean {also}"
            notes.setdefault(str(measure), note)
    return list(notes.values())
