"""Names of measures as people write them: ``map``, ``NDCG_cut_10``, ``mrr@10``, ``hit rate (5)``."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

import ir_measures
from ir_measures.measures import Measure

from permed_measures.errors import MeasureError
from permed_measures.measures.definitions import MEASURES
from permed_measures.measures.parameters import cutoff_of

ALIASES = {
    "AP": "map map_cut average_precision mean_ap",
    "nDCG": "ndcg_cut normalized_dcg normalized_discounted_cumulative_gain",
    "P": "precision prec pre",
    "R": "recall rec",
    "RR": "mrr recip_rank reciprocal_rank mean_reciprocal_rank",
    "Success": "hit hits hit_rate hit_ratio hr h success_rate succ s acc accuracy",
    "Coverage": "cov",
    "GradedAP": "graded_map",
    "Rprec": "r_precision r_p p@r",
    "Judged": "j",
    "SetAP": "set_map",
    "QMeasure": "q",
    "SetR": "set_recall",
    "NumRelRet": "num_rel_ret",
    "F1": "f f1_score f_score f_measure f1_measure",
}
"""What people call measures besides their names, in whatever case and with whatever separators."""

CHINESE = {
    "AP": "平均精度均值 平均精度 平均精确率 平均精确率均值 平均准确率 平均准确率均值 "
    "均值平均精度 平均查准率 平均查准率均值",
    "nDCG": "归一化折损累计增益 归一化折损累积增益 归一化折扣累计增益 归一化折扣累积增益 归一化累计折损增益 "
    "标准化折损累计增益 标准化折扣累计增益",
    "P": "精确率 准确率 查准率 精度 精确度 准确度",
    "R": "召回率 查全率 召回",
    "RR": "平均倒数排名 平均倒数排序 平均排名倒数 倒数排名均值 倒数排名",
    "Success": "命中率 成功率",
    "Coverage": "覆盖率",
    "Rprec": "R精度 R精确率 R准确率",
    "GradedAP": "分级平均精度均值 分级平均精度 加权平均精度",
    "QMeasure": "Q度量 Q测度",
    "ERR": "期望倒数排名",
    "RBP": "排序偏置精度 排名偏置精度",
    "SetP": "集合精确率 集合准确率",
    "SetR": "集合召回率",
    "Judged": "标注率 已标注比例",
    "F1": "F1值 F值 F1分数 F分数",
}
"""The same in Chinese; a percentage of hits is precision, whatever statisticians call it."""

_SEPARATORS = str.maketrans("", "", " _.-")
_KNOWN_MEASURES = [*MEASURES.values(), *ir_measures.measures.registry.values()]
MEASURE_OF_WORD: dict[str, str] = {
    **{
        str(measure.NAME).lower().translate(_SEPARATORS): str(measure.NAME)
        for measure in reversed(_KNOWN_MEASURES)
    },
    **{
        word.lower().translate(_SEPARATORS): name
        for words_of in (ALIASES, CHINESE)
        for name, words in words_of.items()
        for word in words.split()
    },
}
"""Measures by all the words for them, in lower case and without separators."""

_ALIAS_PATTERN = r"""(?x)
    (?:(?:cosine|cos_sim|dot_score|dot|euclidean|manhattan)_)?       # of sentence-transformers
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
"""Other ways to write a cutoff, and the usual one."""
_AVERAGE = re.compile(r"^(avg|average|mean)(?=.)")
_LONGEST_ALIAS = 60
"""Longer texts are no names of measures."""
_INTERPOLATED = "iprec_at_recall_"
_MOST_DIGITS_OF_A_CUTOFF = 9


def resolve_alias(name: str) -> tuple[str, float | None] | None:
    """Return the measure and the cutoff (of IPrec the recall) that a name means; None if it means none.

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
    word, cutoff = (whole, "") if whole in MEASURE_OF_WORD else word_and_cutoff(name)  # the 1 of f1 is none
    if word not in MEASURE_OF_WORD or f"({cutoff})" in name:  # which might be a parameter
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
    found = re.fullmatch(_ALIAS_PATTERN, name) if len(name) <= _LONGEST_ALIAS else None
    if found is None:
        return _without_average(name.translate(_SEPARATORS)), ""
    cutoff = found["last"] or found["inside"] or found["all"] or found["first"] or ""
    word = _without_average(found["word"].translate(_SEPARATORS))
    return word, cutoff + "000" * bool(found["thousands"])


def _without_average(word: str) -> str:
    """Return a word without what says that it is a mean; average precision is a word of its own."""
    rest = _AVERAGE.sub("", word)
    whole = f"average{rest}" if word.startswith(("avg", "average")) else word
    known = whole in MEASURE_OF_WORD or whole in _ADVICE
    return whole if known else rest if rest in MEASURE_OF_WORD else word


def parse_cutoff(cutoff: str, name: str) -> int:
    """Return the cutoff that the digits at the end of a name mean."""
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
    """Return recall without the number of candidates that a name has before its cutoff; others as they are.

    Examples
    --------
    >>> drop_candidate_count("R10@1"), drop_candidate_count("R_{10}@2"), drop_candidate_count("R@10")
    ('R@1', 'R@2', 'R@10')
    """
    found = _AMONG.fullmatch(name.lower())
    return f"R@{found['k']}" if found and found["k"] else name


def has_percent_cutoff(name: str) -> bool:
    """Return whether a name may mean a share of the list, such as ``NDCG@10%``, or percent."""
    return re.search(r"@ *[0-9.]+ *%$", name.strip()) is not None


def unsupported_hint(name: str) -> str:
    """Return what to write instead of a name that means something which is not computed; empty for others."""
    name = name.strip()[:_LONGEST_ALIAS]
    if has_percent_cutoff(name):
        return f"Which is it? Write {name.rstrip('% ')} (%) for percent; within a share nothing is computed"
    if candidates := _AMONG.fullmatch(name.lower()):
        return f"Recall among {candidates['n']} candidates is R@k on lists that have these alone"
    return _ADVICE.get(word_and_cutoff(name.lower())[0], "")


def suggestion_for(name: str) -> str:
    """Return what to write instead of a name that is unknown."""
    import difflib

    word = word_and_cutoff(name[:_LONGEST_ALIAS].lower())[0]
    if known := unsupported_hint(name):
        return f"{known}; `permed-measures measures` lists all"
    words = [known for known, measure in MEASURE_OF_WORD.items() if measure not in NOT_COMPUTED]
    swapped = [known for known in words if sorted(known) == sorted(word)]
    near = swapped or difflib.get_close_matches(word, words, n=1, cutoff=0.75)
    if not near:
        return "`permed-measures measures` lists all"
    meant = MEASURE_OF_WORD[near[0]]
    if meant.lower() != near[0]:  # then by the name that was meant, if that is exact too
        meant = next((each for each in ir_measures.measures.registry if each.lower() == near[0]), meant)
    return f"Did you mean {meant!r}? `permed-measures measures` lists all"


_FOREIGN = (
    "AP_IA Accuracy BPM Compat ERR_IA INSQ INST NERR8 NERR9 NERR10 NERR11 NRBP P_IA SDCG StRecall "
    "alpha_DCG alpha_nDCG nERR_IA nNRBP"
)
NOT_COMPUTED = frozenset(_FOREIGN.split())
"""Measures of ir_measures that nobody is pointed to: they are read, but not computed here."""

_ADVICE = {
    **dict.fromkeys(("gmap", "gmmap", "geometricmap"), "The geometric mean of AP is not computed"),
    **dict.fromkeys(("nerr", "normalizederr"), "ERR over that of the ideal list is not computed"),
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
"""What to say of words for which a measure that is spelled alike would be the wrong one."""

_AMBIGUOUS = {
    "AP": (("map", "meanaverageprecision"), "any grade from 1 is relevant", ("GradedAP", "AP(rel=2)")),
    "nDCG": (("ndcg", "normalizeddcg"), "the gain is the grade", ("nDCG(dcg='exp-log2')",)),
}
"""Measures whose names papers use for others too on graded labels: the words, and the other measures."""


def ambiguities(asked: Iterable[tuple[str, Measure]], measures: Iterable[Measure]) -> list[str]:
    """Say how names were taken that have several meanings on graded labels.

    Nothing is said where the measures have one of the other meanings too: then the user knows them.
    """
    names = set(map(str, measures))
    notes: dict[str, str] = {}
    for text, measure in asked:
        words, meaning, others = _AMBIGUOUS.get(str(measure).partition("@")[0], ((), "", ()))
        cutoff = cutoff_of(measure)
        others = tuple(f"{other}@{cutoff}" if cutoff else other for other in others)
        if words and names.isdisjoint(others) and word_and_cutoff(text.lower())[0] in words:
            taken = "" if text == str(measure) else f"taken as {measure}, "
            also = " or ".join(others)
            note = f"{text} is {taken}trec_eval's, where {meaning}; it may also mean {also}"
            notes.setdefault(str(measure), note)
    return list(notes.values())
