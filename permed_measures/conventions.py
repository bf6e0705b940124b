"""Conventions as data: what measures of one name may differ in, who does it so, and what a paper says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any, cast

import ir_measures
from ir_measures.measures import Measure

from permed_measures.measures import Coverage, GradedAP, VariantNDCG
from permed_measures.ranks import TieBreak

__all__ = [
    "AXES",
    "NAMED",
    "APChoice",
    "Axis",
    "Choice",
    "Denominator",
    "Discount",
    "FixedChoice",
    "Gain",
    "Ideal",
    "Labels",
    "LevelChoice",
    "NDCGChoice",
    "NamedConvention",
    "Negative",
    "QuerySet",
    "RecallBase",
    "SelfMatch",
    "Setting",
    "Weights",
    "says",
]


class Axis(Enum):
    """Something that conventions differ in.

    Attributes
    ----------
    says : str
        What the value means, as part of a sentence.
    who : str
        Who does it so.
    """

    says: str
    who: str

    def __new__(cls, value: str, says: str, who: str) -> Axis:
        """Make a value with its texts."""
        axis = object.__new__(cls)
        axis._value_, axis.says, axis.who = value, says, who
        return axis


class Denominator(Axis):
    """What AP is divided by; the values are the `norm` of GradedAP."""

    NUM_REL = "num_rel", "the number of relevant documents", "trec_eval, ranx; PerMed's evaluate.py"
    MIN = "min", "the smaller of that number and the cutoff", "sentence-transformers; recommender systems"
    NUM_REL_RET = (
        "num_rel_ret",
        "the number of relevant documents found within the cutoff",
        "scripts that take the mean of the precisions found; the MAP@K note; the top-3 note",
    )
    GAIN = "gain", "the summed weight of the relevant documents", "Sakai and Robertson, EVIA 2008 (NCU_gu,P)"
    IDEAL = "ideal", "what the ideal ranking gets", "normalised variants: a perfect ranking scores 1"
    NONE = "none", "nothing", "scripts that forget to normalise"


class Weights(Axis):
    """What a relevant document counts in AP."""

    BINARY = "binary", "1 for each relevant document", "trec_eval, ranx, sentence-transformers"
    LINEAR = (
        "linear",
        "its grade over the highest grade",
        "PerMed's evaluate.py on grades 0/1/2 (1.0 and 0.5)",
    )
    HALF = "half", "its grade over 2", "PerMed's evaluate.py, where labels are binary too"
    EXP = "exp", "(2^g - 1) over that of the highest grade", "analogues of exp-gain nDCG"


class Gain(Axis):
    """What a document gains in nDCG."""

    LINEAR = "linear", "gain g", "Järvelin and Kekäläinen 2002; trec_eval, ranx ndcg, BEIR, MTEB"
    EXP = "exp", "gain 2^g - 1", "Burges et al. 2005; gdeval; ranx ndcg_burges; PerMed's evaluate.py"


class Discount(Axis):
    """How much less a document counts at rank i in nDCG."""

    LOG2 = "log2", "discount 1/log2(i+1)", "trec_eval, gdeval, ranx, BEIR, MTEB, PerMed"
    JK = "jk", "discount 1 at rank 1, then 1/log2(i)", "Järvelin and Kekäläinen 2002; the tweet-search lab"
    ZIPF = "zipf", "discount 1/i", "the LitSearch repository (utils.calculate_ndcg)"


class Ideal(Axis):
    """Of what the ideal list of nDCG is made."""

    QRELS = "qrels", "ideal list from all judged documents", "trec_eval, gdeval, ranx, BEIR, MTEB, PerMed"
    RUN = "run", "ideal list from the retrieved documents", "the tweet-search lab; the top-3 note"
    CUTOFF = "cutoff", "ideal list from the documents within the cutoff", "scripts that sort the first k"


class Negative(Axis):
    """What a negative grade gains in nDCG."""

    ZERO = "zero", "negative grades gain 0", "trec_eval, gdeval"
    KEEP = "keep", "negative grades are used as they stand", "PerMed's evaluate.py (2**rel - 1 of -1 is -1/2)"


class RecallBase(Axis):
    """What recall is divided by."""

    NUM_REL = "num_rel", "recall over all relevant documents", "trec_eval; the LitSearch repository"
    MIN = "min", "recall over the smaller of their number and the cutoff", "BEIR's capped recall (R_cap)"


class QuerySet(Axis):
    """Over which queries the mean is taken."""

    QRELS = "qrels", "all queries of the qrels", "ir_measures; trec_eval -c"
    BOTH = (
        "both",
        "the queries of the qrels that the run has",
        "trec_eval, pytrec_eval, BEIR, PerMed's scripts",
    )
    WITH_RELEVANT = (
        "with_relevant",
        "the queries that have a relevant document",
        "sentence-transformers' InformationRetrievalEvaluator",
    )
    RUN = "run", "all queries of the run", "scripts that loop over the results"


class Labels(Axis):
    """Which judged documents can be relevant."""

    GRADES = "grades", "grades as they are, negative ones not relevant", "trec_eval; MedCorpus' label file"
    POOL = (
        "pool",
        "every judged document relevant",
        "PerMed's baselines/data/MedCorpus/query_to_texts.jsonl, which lists the whole pool as relevant",
    )


class SelfMatch(Axis):
    """What becomes of a retrieved document whose id is the query's."""

    KEPT = "kept", "a document with the id of the query is kept", "trec_eval, ir_measures, ranx"
    REMOVED = "removed", "a document with the id of the query is removed", "BEIR (ignore_identical_ids)"


_TIES = {
    TieBreak.TREC: ("ties by document id descending", "trec_eval 9, pytrec_eval"),
    TieBreak.TREC10: ("ties by document id descending, scores as doubles", "trec_eval 10"),
    TieBreak.DOCID_ASCENDING: ("ties by document id ascending", "ir_measures' msmarco and judged providers"),
    TieBreak.INPUT: ("ties as they stand in the file", "scripts that read lists; stable sorts"),
    TieBreak.OPTIMISTIC: ("ties with the best document first", "an upper bound"),
    TieBreak.PESSIMISTIC: ("ties with the worst document first", "a lower bound"),
}


def says(value: Any) -> str:
    """Return what a value of an axis means."""
    if isinstance(value, TieBreak):
        return _TIES[value][0]
    if isinstance(value, Axis):
        return value.says
    return f"relevant from grade {value:g} on"


def who(value: Any) -> str:
    """Return who does it so."""
    if isinstance(value, TieBreak):
        return _TIES[value][1]
    return value.who if isinstance(value, Axis) else ""


AXES: dict[str, tuple[str, str]] = {
    "ties": ("tie rule", "a run with equal scores where it matters"),
    "queries": (
        "query set",
        "a run that lacks judged queries, has others, or queries without relevant documents",
    ),
    "labels": ("label policy", "judged documents that are not relevant"),
    "self_match": ("document with the query's id", "a run that retrieves such a document"),
    "denominator": (
        "denominator of AP",
        "a query with more relevant documents than are found within the cutoff",
    ),
    "weights": ("weights of AP", "labels with several relevant grades, or a highest one other than 2"),
    "level": ("relevance level", "labels with more than one relevant grade"),
    "gain": ("gain", "labels with more than one relevant grade"),
    "discount": ("discount", "relevant documents at rank 2 or below"),
    "ideal": ("ideal list", "a relevant document that the run does not have within the cutoff"),
    "negative": ("negative grades in nDCG", "retrieved documents with negative grades"),
    "base": ("denominator of recall", "a query with more relevant documents than the cutoff"),
    "cutoff": ("cutoff", "a run that is longer than the cutoff"),
}
"""By the name of the field: what the axis is called, and what in the data would tell its values apart."""


@dataclass(frozen=True)
class Choice:
    """How a family of measures is computed: a value for each of its axes."""

    def measure(self, name: str, cutoff: int | None, top: float, grades: tuple[float, ...]) -> Measure | None:
        """Return the measure as one would type it; None if there is none.

        Parameters
        ----------
        name : str
            The measure within the family.
        cutoff : int, optional
        top : float
            The highest grade of the labels.
        grades : tuple of float
            The relevant grades.
        """
        raise NotImplementedError

    def sentence(self) -> str:
        """Return what a paper says."""
        raise NotImplementedError

    def latex(self) -> str:
        """Return the formula; empty where there is nothing to choose."""
        return ""


def _at(measure: Measure, cutoff: int | None) -> Measure:
    return measure if cutoff is None else measure @ cutoff


def _with(measure: Measure, params: dict[str, Any]) -> Measure:
    return cast(Measure, measure(**params)) if params else measure


def _number(value: float) -> float | int:
    return int(value) if value == int(value) else value


_WEIGHTS: dict[Weights, Callable[[float, float], float]] = {
    Weights.BINARY: lambda _, __: 1.0,
    Weights.LINEAR: lambda grade, top: grade / top,
    Weights.HALF: lambda grade, _: grade / 2,
    Weights.EXP: lambda grade, top: float((2**grade - 1) / (2**top - 1)),
}
"""The weight of a grade, given the highest one."""


@dataclass(frozen=True)
class APChoice(Choice):
    """Average precision: 1/N times the sum of precision times weight at each relevant document."""

    denominator: Denominator
    weights: Weights
    level: float = 1

    def measure(self, name: str, cutoff: int | None, top: float, grades: tuple[float, ...]) -> Measure | None:  # noqa: ARG002
        """Return AP where it is that, GradedAP otherwise."""
        level = _number(self.level)
        plain = self.weights is Weights.BINARY and self.denominator is Denominator.NUM_REL
        if plain and isinstance(level, int):  # AP takes no other
            return _at(ir_measures.AP if level == 1 else ir_measures.AP(rel=level), cutoff)
        params: dict[str, Any] = {} if level == 1 else {"rel": level}
        if self.denominator is not Denominator.NUM_REL:
            params["norm"] = self.denominator.value
        weight = {_number(g): _WEIGHTS[self.weights](g, top) for g in grades if g >= self.level}
        scales = (s for s in (2, _number(top)) if all(w == g / s and g <= s for g, w in weight.items()))
        scale = next(scales, None)
        if scale is None:
            params["gains"] = {grade: _number(each) for grade, each in weight.items()}
        elif scale != 2:
            params["max_rel"] = scale
        return _at(_with(GradedAP, params), cutoff)

    def sentence(self) -> str:
        """Return what a paper says of AP."""
        level = f", documents of grade {self.level:g} or more being relevant" if self.level != 1 else ""
        if self.weights is Weights.BINARY:
            return f"AP is binary{level}, and divided by {self.denominator.says}"
        ratio = {
            Weights.LINEAR: "g over the highest grade",
            Weights.HALF: "g/2: 1.0 for grade 2, 0.5 for grade 1",
            Weights.EXP: "2^g - 1 over that of the highest grade",
        }[self.weights]
        return f"AP is weighted by relevance ({ratio}) and divided by {self.denominator.says}{level}"

    def latex(self) -> str:
        """Return the formula of AP."""
        n = {
            Denominator.NUM_REL: "R",
            Denominator.MIN: r"\min(R, k)",
            Denominator.NUM_REL_RET: r"|\{i \le k : g_i \ge \ell\}|",
            Denominator.GAIN: r"\sum_{d:\, g_d \ge \ell} w(g_d)",
            Denominator.IDEAL: r"\sum_{i \le \min(R, k)} w(g^*_i)",
            Denominator.NONE: "1",
        }[self.denominator]
        w = {
            Weights.BINARY: "1",
            Weights.LINEAR: r"g / g_{\max}",
            Weights.HALF: "g / 2",
            Weights.EXP: r"(2^g - 1) / (2^{g_{\max}} - 1)",
        }[self.weights]
        total = r"\sum_{i \le k,\, g_i \ge \ell} P(i)\, w(g_i)"
        return rf"\mathrm{{AP}}@k = \frac{{1}}{{{n}}} {total}, \quad w(g) = {w}, \quad \ell = {self.level:g}"


@dataclass(frozen=True)
class NDCGChoice(Choice):
    """nDCG with gain, discount, ideal list and negative grades."""

    gain: Gain
    discount: Discount
    ideal: Ideal
    negative: Negative

    def measure(self, name: str, cutoff: int | None, top: float, grades: tuple[float, ...]) -> Measure | None:  # noqa: ARG002
        """Return nDCG where it is that, VariantNDCG otherwise."""
        if (self.discount, self.ideal, self.negative) == (Discount.LOG2, Ideal.QRELS, Negative.ZERO):
            exp = self.gain is Gain.EXP
            return _at(ir_measures.nDCG(dcg="exp-log2") if exp else ir_measures.nDCG, cutoff)
        chosen = {field.name: getattr(self, field.name).value for field in fields(self)}
        default = {"gain": "exp", "discount": "log2", "ideal": "qrels", "negative": "zero"}
        params = {axis: value for axis, value in chosen.items() if value != default[axis]}
        return _at(_with(VariantNDCG, params), cutoff)

    def sentence(self) -> str:
        """Return what a paper says of nDCG."""
        return f"nDCG has {self.gain.says}, {self.discount.says} and {self.ideal.says}; {self.negative.says}"

    def latex(self) -> str:
        """Return the formula of nDCG."""
        grade = r"\max(g_i, 0)" if self.negative is Negative.ZERO else "g_i"
        gain = f"2^{{{grade}}} - 1" if self.gain is Gain.EXP else grade
        discount = {Discount.LOG2: r"\log_2(i + 1)", Discount.JK: r"\max(1, \log_2 i)", Discount.ZIPF: "i"}
        ideal = {Ideal.QRELS: "judged", Ideal.RUN: "retrieved", Ideal.CUTOFF: "first $k$"}[self.ideal]
        dcg = rf"\mathrm{{DCG}}@k = \sum_{{i \le k}} \frac{{{gain}}}{{{discount[self.discount]}}}"
        return rf"{dcg}, \quad \mathrm{{nDCG}} = \mathrm{{DCG}} / \mathrm{{DCG}}_{{\text{{ideal: {ideal}}}}}"


@dataclass(frozen=True)
class LevelChoice(Choice):
    """P, R, RR and Success: from which grade on a document is relevant, and what recall is divided by."""

    level: float = 1
    base: RecallBase = RecallBase.NUM_REL

    def measure(self, name: str, cutoff: int | None, top: float, grades: tuple[float, ...]) -> Measure | None:  # noqa: ARG002
        """Return the measure; recall over min(R, k) has none, nor have levels between whole grades."""
        whole = self.level == int(self.level) or name == "Success"
        if not whole or (name == "R" and self.base is RecallBase.MIN):
            return None
        measure = {"P": ir_measures.P, "R": ir_measures.R, "RR": ir_measures.RR, "Success": Coverage}[name]
        return _at(measure if self.level == 1 else measure(rel=_number(self.level)), cutoff)

    def sentence(self) -> str:
        """Return what a paper says of these measures."""
        relevant = f"documents of grade {self.level:g} or more are relevant for P, R, RR and coverage"
        return f"{relevant}, {self.base.says}"


@dataclass(frozen=True)
class FixedChoice(Choice):
    """A measure that was written out, with its parameters."""

    fixed: str

    def measure(self, name: str, cutoff: int | None, top: float, grades: tuple[float, ...]) -> Measure | None:  # noqa: ARG002
        """Return the measure."""
        from permed_measures.parsing import parse_measure

        return parse_measure(self.fixed)

    def sentence(self) -> str:
        """Return what a paper says."""
        return f"{self.fixed} is as its definition says"


@dataclass(frozen=True)
class Setting:
    """What holds for all measures of a row."""

    ties: TieBreak = TieBreak.TREC
    queries: QuerySet = QuerySet.QRELS
    labels: Labels = Labels.GRADES
    self_match: SelfMatch = SelfMatch.KEPT


@dataclass(frozen=True)
class NamedConvention:
    """A convention that has a name.

    Attributes
    ----------
    name, source : str
    setting : Setting
    ap : APChoice
    ndcg : NDCGChoice
    level : LevelChoice
    """

    name: str
    source: str
    setting: Setting
    ap: APChoice
    ndcg: NDCGChoice
    level: LevelChoice = LevelChoice()


_AP = APChoice(Denominator.NUM_REL, Weights.BINARY)
_NDCG = NDCGChoice(Gain.LINEAR, Discount.LOG2, Ideal.QRELS, Negative.ZERO)
_EXP = NDCGChoice(Gain.EXP, Discount.LOG2, Ideal.QRELS, Negative.ZERO)
_PERMED = NDCGChoice(Gain.EXP, Discount.LOG2, Ideal.QRELS, Negative.KEEP)
_SCRIPT = Setting(ties=TieBreak.INPUT, queries=QuerySet.BOTH)

NAMED = (
    NamedConvention("ir_measures", "ir-measur.es, default pipeline", Setting(), _AP, _NDCG),
    NamedConvention(
        "trec_eval, pytrec_eval", "github.com/usnistgov/trec_eval", Setting(queries=QuerySet.BOTH), _AP, _NDCG
    ),
    NamedConvention("trec_eval -c", "trec_eval's help: all queries of the qrels", Setting(), _AP, _NDCG),
    NamedConvention(
        "gdeval", "trec.nist.gov/data/web/10/gdeval.pl", Setting(queries=QuerySet.BOTH), _AP, _EXP
    ),
    NamedConvention("ranx", "github.com/AmenRa/ranx", Setting(ties=TieBreak.INPUT), _AP, _NDCG),
    NamedConvention(
        "BEIR",
        "github.com/beir-cellar/beir: EvaluateRetrieval.evaluate",
        Setting(queries=QuerySet.BOTH, self_match=SelfMatch.REMOVED),
        _AP,
        _NDCG,
        LevelChoice(1, RecallBase.NUM_REL),
    ),
    NamedConvention(
        "MTEB", "github.com/embeddings-benchmark/mteb", Setting(queries=QuerySet.BOTH), _AP, _NDCG
    ),
    NamedConvention(
        "sentence-transformers",
        "sbert.net: InformationRetrievalEvaluator",
        Setting(ties=TieBreak.INPUT, queries=QuerySet.WITH_RELEVANT),
        APChoice(Denominator.MIN, Weights.BINARY),
        _NDCG,
    ),
    NamedConvention(
        "PerMed standard",
        "github.com/kcisgroup/CLPR: core/evaluate.py, docs/EVALUATION_METRICS_STANDARD.md",
        _SCRIPT,
        APChoice(Denominator.NUM_REL, Weights.HALF),
        _PERMED,
    ),
    NamedConvention(
        "PerMed, divided by the hits found",
        "PerMed scripts that take the mean over the relevant documents found",
        _SCRIPT,
        APChoice(Denominator.NUM_REL_RET, Weights.HALF),
        _PERMED,
    ),
    NamedConvention(
        "LitSearch repository",
        "github.com/princeton-nlp/LitSearch: utils/utils.py",
        Setting(ties=TieBreak.INPUT),
        _AP,
        NDCGChoice(Gain.LINEAR, Discount.ZIPF, Ideal.QRELS, Negative.ZERO),
    ),
    NamedConvention(
        "tweet-search lab",
        "course notes: discount 1/log2(rank), ideal list from the ranking itself",
        _SCRIPT,
        APChoice(Denominator.NUM_REL_RET, Weights.HALF),
        NDCGChoice(Gain.LINEAR, Discount.JK, Ideal.RUN, Negative.ZERO),
    ),
    NamedConvention(
        "top-3 note",
        "hybrid retrieval note: lists of 0/1 without qrels, ideal list from the run",
        _SCRIPT,
        APChoice(Denominator.NUM_REL_RET, Weights.BINARY),
        NDCGChoice(Gain.LINEAR, Discount.LOG2, Ideal.RUN, Negative.ZERO),
    ),
)
"""The conventions with a name, the community's first."""
