"""Define the options in which conventions differ: one record for each value.

To add a value, add its record here: `audit`, `identify` and `possible` then use it. The named conventions are
in ``conventions.toml``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

import numpy as np

from permed_measures.conventions.aggregate import (
    QuerySet,
    Rounding,
    f1_of_means,
    f1_of_queries,
    macro,
    micro,
)
from permed_measures.conventions.per_query import (
    ALL_FOUND,
    ANY_FOUND,
    DENOMINATOR,
    DISCOUNT,
    GAIN,
    IDEAL,
    LEVEL,
    MIDDLE_FOUND,
    NEGATIVE,
    NUMBER_FOUND,
    PER_HIT,
    PRECISION,
    PRECISION_AT_EVERY_DOCUMENT,
    PRECISION_AT_EVERY_RANK,
    PRECISION_AT_HIT,
    PRECISION_TO_NUM_REL,
    RANKS,
    RECALL,
    RECIPROCAL_OF_BEST,
    RECIPROCAL_OF_FIRST,
    RECIPROCAL_OF_HIT,
    RECIPROCAL_OF_MIDDLE,
    RECIPROCALS,
    SUCCESS,
    SUMMED_WEIGHTS,
    TIED,
    TRAPEZOIDS,
    WEIGHTS,
    Gain,
    Over,
    Tied,
    all_relevant,
    all_weights,
    averaged_dcg,
    exp_weight,
    has_strict,
    hits_as_one_step,
    ideal_as_long_as_returned,
    ideal_grades,
    ideal_of_cutoff,
    ideal_of_ones,
    ideal_of_qrels,
    ideal_of_run,
    ideal_uncut,
    ideal_weights,
    is_relevant,
    one,
    relevant,
    smaller,
    smaller_at_each_rank,
    strict,
)
from permed_measures.conventions.rankings import (
    LeaveOut,
    judged_only,
    labelled_only,
    with_a_score_above_0,
    without_query,
)
from permed_measures.conventions.shown import (
    Collection,
    has_low_scores,
    has_negative,
    has_query_as_document,
    has_several_queries,
    has_ties,
    has_unjudged_or_low,
    is_longer_than,
    may_leave_out,
)
from permed_measures.engine.judgments import map_gains
from permed_measures.engine.kernels import graded
from permed_measures.engine.kernels.checks import MAX_EXPONENT
from permed_measures.engine.ranks import TieBreak


class GainTable(str):
    """A table with the gain or weight of each grade, as a value of an option; its text is ``1: 1, 2: 10``.

    Attributes
    ----------
    gains : dict of float to float
    """

    gains: dict[float, float]

    @classmethod
    def of(cls, gains: Mapping[float, float]) -> GainTable:
        """Make a table from a mapping."""
        pairs = (f"{grade!r}: {gain!r}" for grade, gain in sorted(gains.items()))
        table = cls(re.sub(r"\.0\b", "", ", ".join(pairs)))  # with all digits: tables are compared as texts
        table.gains = dict(gains)
        return table


class Micro(Enum):
    """How a micro average is taken if an option has this value."""

    OWN = auto()
    """As usual: a number of its own."""
    NONE = auto()
    """Not at all: it equals the micro average by another value."""
    MEAN = auto()
    """As the ordinary mean over queries."""


def _always(_: Any) -> bool:
    return True


@dataclass(frozen=True)
class Value:
    """A value of an option: its meaning, its function, and when it differs from the default.

    Attributes
    ----------
    description : str
        Its meaning, as part of a sentence.
    used_by : str
        The papers, programs and scripts that use it.
    phrase : str
        Its wording in a methods section; empty for the usual value.
    measures : tuple of str
        The measures that can have it; if empty, all measures of the option.
    compute
        The function or number behind it. The other values of the same option show which kind is needed.
    offered : callable
        Whether an audit tries it. The argument is the run; for relevance labels the judgments; for options of
        one measure the labels.
    defined : callable
        Whether a measure can be computed by it; the argument is the labels.
    usual : bool
        Whether it is one of the values that nearly all papers use, besides the default.
    any_run : str
        For options that all measures share: the value to take when the run is not known. Some other run then
        has the same rankings and query sets by that value. If empty, `possible` has no bounds by this value.
    only_found : bool
        Whether it hides the judgments of documents that were not retrieved.
    has_grades, needs_grades : bool
        `has_grades` is for relevance labels: whether relevant documents may differ in grade. `needs_grades`
        is for other options: whether the value equals another one if they do not.
    tells_ties, takes_ties, needs_ties : bool
        `tells_ties` is for rankings: whether it is known which documents are tied. The others are for options
        of a measure: whether ties may count in another way than by their order, and whether they do.
    shown_by : callable
        Whether it may give another number than the default on a small collection that shows its option.
    pools : bool
        Whether the mean is a micro average.
    micro : Micro
        How a micro average is taken with it.
    pooled_as : str
        The value that replaces it in a micro average.
    """

    description: str
    used_by: str
    phrase: str = ""
    measures: tuple[str, ...] = ()
    compute: Any = None
    offered: Callable[[Any], bool] = _always
    defined: Callable[[Any], bool] = _always
    usual: bool = False
    any_run: str = ""
    only_found: bool = False
    has_grades: bool = True
    needs_grades: bool = False
    tells_ties: bool = True
    takes_ties: bool = True
    needs_ties: bool = False
    shown_by: Callable[[Collection], bool] = _always
    pools: bool = False
    micro: Micro = Micro.OWN
    pooled_as: str = ""


@dataclass(frozen=True)
class Option:
    """An option in which conventions differ, with its values.

    Attributes
    ----------
    title : str
    values : dict of str to Value
        The first is the community's. An option without values is a relevance level: its value is a grade.
    measures : tuple of str
        The measures that have it; if empty, all measures have it.
    about : {'rankings', 'queries', 'means', 'measure'}
        The step that it changes: which documents are ranked and how; which queries count and in which groups;
        how means are printed; or how the value of a query is computed.
    per_measure : bool
        Whether a script may set it for one measure alone, because each library has its own default.
    changes_measure : bool
        Whether any value but the default gives a measure that this package does not have.
    of_grades : bool
        Whether it matters only to a function that gets grades.
    of_table : callable, optional
        Turns a table of grades into the function behind it, if the option takes tables.
    shown_by : callable
        Whether its values may give different numbers on a small collection.
    """

    title: str
    values: dict[str, Value] = field(default_factory=dict)
    measures: tuple[str, ...] = ()
    about: str = "measure"
    per_measure: bool = False
    changes_measure: bool = False
    of_grades: bool = False
    of_table: Callable[[GainTable], Any] | None = None
    shown_by: Callable[[Collection], bool] = _always

    @property
    def default(self) -> str | float:
        """The community's value."""
        return next(iter(self.values), 1.0)

    def values_for(self, measures: Iterable[str], levels: Iterable[float]) -> list[str | float]:
        """List the values that these measures can have."""
        if not self.values:
            return list(levels)
        wanted = {*measures}
        return [
            name for name, value in self.values.items() if not value.measures or {*value.measures} & wanted
        ]


RANKINGS, QUERIES, MEANS = "rankings", "queries", "means"
# The names of the options that all measures share, and of those that choose how means are taken.
TIES, LABELS, DOCUMENTS, SELF_MATCH, DEPTH = "ties", "labels", "documents", "self_match", "depth"
QUERY_SET, AVERAGED, ROUNDING = "queries", "averaged", "rounding"
AVERAGING, POOLING, F1_FROM = "averaging", "pooling", "f1"
_HIGHEST_HALF = 3
"""The highest grade on which scripts for grades 0/1/2 are run; its weight is then 1.5."""
_CAPPED_FROM = 2
"""Up to this grade min(g/2, 1) is g/2."""


def _weight_by_table(table: GainTable) -> Callable[[float, float], float]:
    return lambda grade, _: table.gains[grade]


def _gain_by_table(table: GainTable) -> Gain:
    return Gain(lambda grade: map_gains(grade, table.gains))


def _is_longer_than_the_shortest(case: Collection) -> bool:
    return is_longer_than(case, min(depths()))


OPTIONS = {
    TIES: Option(
        "tie rule",
        {
            "trec": Value(
                "ties by document id descending", "trec_eval 9, pytrec_eval", compute=TieBreak("trec")
            ),
            "trec10": Value(
                "ties by document id descending, scores as doubles",
                "trec_eval 10, gdeval; MTEB's MRR",
                "scores are compared as doubles, ties broken by document id, descending",
                compute=TieBreak("trec10"),
                any_run="trec",
            ),
            "docid_ascending": Value(
                "ties by document id ascending",
                "sentence-transformers 6; ir_measures' msmarco and judged providers",
                "ties are broken by document id, ascending",
                compute=TieBreak("docid_ascending"),
                any_run="trec",
            ),
            "input": Value(
                "ties by a stable sort (input order)",
                "scripts that read lists; stable sorts",
                "ties are broken by a stable sort (input order)",
                compute=TieBreak("input"),
                any_run="trec",
            ),
            "reversed": Value(
                "ties in reverse input order",
                "scripts with np.argsort(scores)[::-1]",
                "ties are in reverse input order",
                compute=TieBreak("reversed"),
                any_run="trec",
            ),
            "optimistic": Value(
                "ties with the higher grade first",
                "best cases; RerankingEvaluator of sentence-transformers",
                "of tied documents the one with the higher grade is ranked first",
                compute=TieBreak("optimistic"),
                any_run="trec",
            ),
            "pessimistic": Value(
                "ties with the lower grade first",
                "worst cases; CatBoost, LightFM",
                "of tied documents the one with the lower grade is ranked first",
                compute=TieBreak("pessimistic"),
                any_run="trec",
            ),
        },
        about=RANKINGS,
        per_measure=True,
        shown_by=has_ties,
    ),
    QUERY_SET: Option(
        "query set",
        {
            "qrels": Value(
                "all queries of the qrels",
                "ir_measures; trec_eval -c",
                compute=QuerySet(lambda facts: facts.judged),
            ),
            "both": Value(
                "the intersection of qrels and run",
                "trec_eval, pytrec_eval, BEIR, PerMed's scripts",
                compute=QuerySet(lambda facts: facts.judged & facts.in_run),
                any_run="qrels",
            ),
            "with_relevant": Value(
                "queries with at least one relevant document",
                "sentence-transformers' InformationRetrievalEvaluator",
                compute=QuerySet(lambda facts: facts.relevant),
                any_run="with_relevant",
            ),
            "both_with_relevant": Value(
                "queries of the run with at least one relevant document",
                "TruLens, LensKit; scripts that skip queries without one",
                compute=QuerySet(lambda facts: facts.relevant & facts.in_run),
                any_run="with_relevant",
            ),
            "run": Value(
                "all queries of the run, judged or not",
                "scripts that loop over the results",
                compute=QuerySet(lambda facts: facts.in_run),
            ),
            "all_runs": Value(
                "the intersection of the qrels and all runs",
                "comparisons of systems on their common queries",
                compute=QuerySet(lambda facts: facts.in_all_runs),
                offered=lambda run: run.in_all_runs is not None,
            ),
            "with_hit": Value(
                "queries with a relevant document in the top k",
                "scripts that skip queries without a hit",
                compute=QuerySet(lambda facts: facts.hit),
            ),
            "with_found": Value(
                "queries with a relevant document retrieved",
                "evaluations of rerankers, which leave out what they cannot rerank",
                compute=QuerySet(lambda facts: facts.relevant_retrieved),
            ),
            "with_list": Value(
                "queries with at least one document retrieved",
                "scripts that skip empty lists",
                compute=QuerySet(lambda facts: facts.any_retrieved),
            ),
            "with_relevant_and_list": Value(
                "queries with a relevant document and at least one document retrieved",
                "gdeval, LlamaIndex and Microsoft Recommenders, which leave out empty lists too",
                compute=QuerySet(lambda facts: facts.relevant & facts.any_retrieved),
                any_run="with_relevant",
            ),
            "with_both_kinds": Value(
                "queries with a relevant and another document retrieved",
                "sentence-transformers' RerankingEvaluator",
                compute=QuerySet(lambda facts: facts.relevant_retrieved & facts.other),
            ),
            "nothing_is_one": Value(
                "the intersection of qrels and run, with 1 for queries without relevant documents",
                "LightGBM, XGBoost",
                compute=QuerySet(lambda facts: facts.judged & facts.in_run, nothing_is_one=True),
            ),
            "with_list_nothing_is_one": Value(
                "queries with at least one document retrieved, with 1 for those without relevant documents",
                "CatBoost, allRank, which know no empty lists",
                compute=QuerySet(lambda facts: facts.judged & facts.any_retrieved, nothing_is_one=True),
            ),
        },
        about=QUERIES,
        per_measure=True,
        shown_by=may_leave_out,
    ),
    AVERAGED: Option(
        "what is averaged",
        {
            "queries": Value("each query counts once", "trec_eval, ir_measures"),
            "conversations": Value(
                "each conversation counts once, as the mean over its turns",
                "papers on conversational search",
                "the mean is that of conversations, each being the mean over its turns",
                compute=0,
                offered=lambda run: run.has_groups,
            ),
            "turns": Value(
                "each turn number counts once, as the mean over its queries",
                "papers that report each turn, and the mean of these",
                "the mean is that of turn numbers, each being the mean over its queries",
                compute=1,
                offered=lambda run: run.has_groups,
            ),
        },
        about=QUERIES,
        per_measure=True,
        changes_measure=True,
        shown_by=has_several_queries,
    ),
    LABELS: Option(
        "relevance labels",
        {
            "grades": Value(
                "grades as they are, negative ones not relevant",
                "trec_eval; MedCorpus' label file",
                compute=lambda judgments: judgments,
            ),
            "pool": Value(
                "every judged document counts as relevant",
                "PerMed's baselines/data/MedCorpus/query_to_texts.jsonl, which lists the whole pool so",
                "every judged document counts as relevant, whatever its grade",
                compute=all_relevant,
                any_run="pool",
                has_grades=False,
                tells_ties=False,
            ),
            "strict": Value(
                "binarised at grade 2, for every measure",
                "evaluations that drop partly relevant documents",
                "relevance is binarised at grade 2",
                compute=strict,
                any_run="strict",
                has_grades=False,
                tells_ties=False,
                offered=has_strict,
            ),
            "listed": Value(
                "judgments of the retrieved documents only",
                "tools that see a list of scores and labels: torchmetrics, LightGBM, XGBoost, scikit-learn",
                "only the judgments of retrieved documents are known",
                compute=lambda judgments: judgments,
                only_found=True,
            ),
        },
        about=RANKINGS,
        changes_measure=True,
        of_grades=True,
    ),
    SELF_MATCH: Option(
        "document with the query's id",
        {
            "kept": Value(
                "a document with the id of the query is kept",
                "trec_eval, ir_measures, ranx",
                compute=LeaveOut(),
            ),
            "removed": Value(
                "a document with the id of the query is removed",
                "BEIR (ignore_identical_ids)",
                "a retrieved document whose id is that of the query is removed",
                compute=LeaveOut(keep=without_query),
                any_run="kept",
            ),
        },
        about=RANKINGS,
        changes_measure=True,
        shown_by=has_query_as_document,
    ),
    DOCUMENTS: Option(
        "documents that are ranked",
        {
            "all": Value("all documents of the list", "trec_eval, ir_measures, ranx", compute=LeaveOut()),
            "judged": Value(
                "condensed lists (judged documents only)",
                "trec_eval -J; Sakai 2007",
                "unjudged documents are removed first (condensed lists)",
                compute=LeaveOut(condense=judged_only),
                any_run="all",
                tells_ties=False,
            ),
            "labelled": Value(
                "condensed lists (judged documents only, those with a negative grade too)",
                "scripts that keep what the qrels list",
                "unjudged documents are removed first, those with a negative grade are kept",
                compute=LeaveOut(condense=labelled_only),
                any_run="all",
                tells_ties=False,
                offered=lambda run: run.has_negative,
            ),
            "positive": Value(
                "documents with a score above 0 only",
                "torchmetrics",
                "documents with a score of 0 or less are removed from the lists",
                compute=LeaveOut(keep=with_a_score_above_0),
                shown_by=has_low_scores,
                any_run="all",
            ),
        },
        about=RANKINGS,
        per_measure=True,
        changes_measure=True,
        shown_by=has_unjudged_or_low,
    ),
    DEPTH: Option(
        "length of the lists",
        {
            "whole": Value("whole lists", "trec_eval, ir_measures"),
            "first_10": Value(
                "only the first 10 documents of each list",
                "tests with ten candidates; scripts that keep ten results",
                "only the first 10 documents of each list are seen",
                compute=10,
                any_run="whole",
                offered=lambda run: run.longest_list > 10,
            ),
            "first_20": Value(
                "only the first 20 documents of each list",
                "rerankers of twenty candidates",
                "only the first 20 documents of each list are seen",
                compute=20,
                any_run="whole",
                offered=lambda run: run.longest_list > 20,
            ),
            "first_50": Value(
                "only the first 50 documents of each list",
                "rerankers of fifty candidates",
                "only the first 50 documents of each list are seen",
                compute=50,
                any_run="whole",
                offered=lambda run: run.longest_list > 50,
            ),
            "first_100": Value(
                "only the first 100 documents of each list",
                "rerankers of a hundred candidates; searches with k=100",
                "only the first 100 documents of each list are seen",
                compute=100,
                any_run="whole",
                offered=lambda run: run.longest_list > 100,
            ),
            "first_1000": Value(
                "only the first 1,000 documents of each list",
                "runs as TREC takes them",
                "only the first 1,000 documents of each list are seen",
                compute=1000,
                any_run="whole",
                offered=lambda run: run.longest_list > 1000,
            ),
        },
        about=RANKINGS,
        changes_measure=True,
        shown_by=_is_longer_than_the_shortest,
    ),
    ROUNDING: Option(
        "rounding",
        {
            "exact": Value("means are printed as they are", "trec_eval, ir_measures", compute=Rounding()),
            "five_digits": Value(
                "means are rounded to five digits before they are printed",
                "BEIR (EvaluateRetrieval.evaluate), MTEB (retrieval_metrics.py)",
                "means are rounded to five digits before they are printed",
                compute=Rounding(of_mean=5),
                any_run="exact",
            ),
            "query_values": Value(
                "the value of each query is rounded to two digits, then the mean is taken",
                "OpenSearch's search-relevance plugin",
                "the value of each query is rounded to two digits",
                compute=Rounding(of_queries=(2, 0.5)),
            ),
        },
        about=MEANS,
    ),
    WEIGHTS: Option(
        "weights of AP",
        {
            "binary": Value(
                "1 for each relevant document",
                "trec_eval, ranx, sentence-transformers",
                "binary relevance",
                compute=lambda _, __: 1.0,
                usual=True,
            ),
            "linear": Value(
                "its grade over the highest grade",
                "PerMed's evaluate.py on grades 0/1/2 (1.0 and 0.5)",
                "weights g/max(g)",
                compute=lambda grade, top: grade / top,
            ),
            "half": Value(
                "its grade over 2",
                "PerMed's evaluate.py, where labels are binary too",
                "weights g/2",
                compute=lambda grade, _: grade / 2,
                usual=True,
                offered=lambda labels: labels.top <= _HIGHEST_HALF,
            ),
            "exp": Value(
                "(2^g - 1) over that of the highest grade",
                "analogues of exp-gain nDCG",
                "weights (2^g - 1)/(2^max(g) - 1)",
                compute=exp_weight,
                defined=lambda labels: labels.top <= MAX_EXPONENT,
            ),
            "capped": Value(
                "its grade over 2, but at most 1",
                "CLPR's evaluate_ablation.py",
                "weights min(g/2, 1)",
                compute=lambda grade, _: min(grade / 2, 1.0),
                offered=lambda labels: labels.top > _CAPPED_FROM,
                needs_grades=True,
            ),
        },
        measures=("AP",),
        of_grades=True,
        of_table=_weight_by_table,
    ),
    DENOMINATOR: Option(
        "denominator of AP",
        {
            "num_rel": Value(
                "the number of relevant documents",
                "trec_eval, ranx; PerMed's evaluate.py",
                "divided by R",
                compute=relevant,
            ),
            "min": Value(
                "the smaller of the number of relevant documents and the cutoff",
                "sentence-transformers; recommender systems",
                "divided by min(R, k)",
                compute=smaller,
            ),
            "num_rel_ret": Value(
                "the number of relevant documents found within the cutoff",
                "scripts that take the mean of the precisions found; the MAP@K note; the top-3 note",
                "divided by the relevant documents found",
                compute=lambda inputs: inputs.num_rel_ret,
            ),
            "gain": Value(
                "the summed weight of the relevant documents",
                "Sakai and Robertson, EVIA 2008 (NCU_gu,P)",
                "divided by the summed weights of the relevant documents",
                compute=all_weights,
            ),
            "ideal": Value(
                "what the ideal ranking gets",
                "normalised variants: a perfect ranking scores 1",
                "divided by what the ideal ranking gets",
                compute=ideal_weights,
            ),
            "none": Value("nothing", "scripts that forget to normalise", "not divided", compute=one),
            "cutoff": Value(
                "the cutoff",
                "scripts that take the mean over all ranks",
                "divided by k",
                compute=lambda inputs: inputs.ranks,
            ),
            "returned": Value(
                "the number of documents returned within the cutoff",
                "scripts that divide by the length of the list",
                "divided by the documents returned",
                compute=lambda inputs: inputs.returned,
            ),
            "min_returned": Value(
                "the smaller of the number of relevant documents and of those returned",
                "LensKit",
                "divided by the smaller of R and the documents returned",
                compute=lambda inputs: np.minimum(inputs.num_rel, inputs.returned),
            ),
            "ideal_grades": Value(
                "the summed grades of the ideal list, cut at k",
                "scripts that normalise by the ideal list",
                "divided by the summed grades of the ideal list, cut at k",
                compute=ideal_grades,
            ),
            "smaller_at_each_rank": Value(
                "the smaller of the number of relevant documents and the rank, summed over the list",
                "recommenders' scripts that share one copied AP",
                "divided by the sum of min(R, i) over the ranks i of the list",
                compute=smaller_at_each_rank,
            ),
        },
        measures=("AP",),
    ),
    PER_HIT: Option(
        "what a hit adds to AP",
        {
            "precision": Value(
                "the precision at the rank of each hit", "trec_eval, ranx, BEIR", compute=PRECISION_AT_HIT
            ),
            "reciprocal_rank": Value(
                "one over the rank of each hit, in place of the precision",
                "pyvespa's code for graded relevance",
                "one over the rank in place of the precision",
                compute=RECIPROCAL_OF_HIT,
                takes_ties=False,
            ),
            "summed_weights": Value(
                "the summed weights up to each hit, over its rank",
                "scripts that add up grades in place of hits",
                "the summed weights up to each hit over its rank in place of the precision",
                compute=SUMMED_WEIGHTS,
                takes_ties=False,
            ),
            "every_rank": Value(
                "the precision at every rank up to the cutoff",
                "scripts that take the mean of P@1 to P@k",
                "the precision at every rank up to the cutoff, not that of hits only",
                compute=PRECISION_AT_EVERY_RANK,
                takes_ties=False,
            ),
            "every_document": Value(
                "the precision at the rank of every document returned",
                "scripts that take the mean of the precisions of a list",
                "the precision at the rank of every document, not that of hits only",
                compute=PRECISION_AT_EVERY_DOCUMENT,
                takes_ties=False,
            ),
            "trapezoids": Value(
                "the mean of the precision at the rank of each hit and of that just above it",
                "compute_ap of the Oxford buildings, and image retrieval since",
                "by trapezoids: the mean of the precision at the rank of each hit and just above it",
                compute=TRAPEZOIDS,
                takes_ties=False,
            ),
            "to_num_rel": Value(
                "the precision at the rank of each hit down to rank R, the number of relevant documents",
                "MAP@R of metric learning: pytorch-metric-learning's AccuracyCalculator",
                "of the hits down to rank R only",
                compute=PRECISION_TO_NUM_REL,
                takes_ties=False,
            ),
        },
        measures=("AP",),
    ),
    GAIN: Option(
        "gain of nDCG",
        {
            "linear": Value(
                "gain g",
                "Järvelin and Kekäläinen 2002; trec_eval, ranx ndcg, BEIR, MTEB",
                "linear gains",
                compute=Gain(graded.GAINS["linear"]),
                usual=True,
            ),
            "binary": Value(
                "gain 1 for each relevant document",
                "sentence-transformers; scripts on lists of 0/1",
                "binary gains",
                compute=Gain(is_relevant),
            ),
            "exp": Value(
                "gain 2^g - 1",
                "Burges et al. 2005; gdeval; ranx ndcg_burges; PerMed's evaluate.py",
                "exponential gains (2^g - 1)",
                compute=Gain(graded.GAINS["exp"]),
                usual=True,
                defined=lambda labels: labels.top <= MAX_EXPONENT,
            ),
            "first": Value(
                "gain 1 for the first relevant document, 0 for the others",
                "leave-one-out evaluations of recommenders",
                "gain 1 for the first relevant document only",
                compute=Gain(is_relevant, of_first=True),
                takes_ties=False,
            ),
        },
        measures=("nDCG",),
        of_grades=True,
        of_table=_gain_by_table,
    ),
    DISCOUNT: Option(
        "discount of nDCG",
        {
            "log2": Value(
                "discount 1/log2(i+1)",
                "trec_eval, gdeval, ranx, BEIR, MTEB, PerMed",
                "log2 discount",
                compute=graded.DISCOUNTS["log2"],
            ),
            "jk": Value(
                "discount 1 at rank 1, then 1/log2(i)",
                "Järvelin and Kekäläinen 2002; the tweet-search lab",
                "discount 1, then 1/log2(i)",
                compute=graded.DISCOUNTS["jk"],
            ),
            "zipf": Value(
                "discount 1/i",
                "the LitSearch repository (utils.calculate_ndcg)",
                "discount 1/i",
                compute=graded.DISCOUNTS["zipf"],
            ),
        },
        measures=("nDCG",),
    ),
    IDEAL: Option(
        "ideal list of nDCG",
        {
            "qrels": Value(
                "ideal list from all judged documents",
                "trec_eval, gdeval, ranx, BEIR, MTEB, PerMed",
                "ideal from the qrels",
                compute=ideal_of_qrels,
            ),
            "run": Value(
                "ideal list from the retrieved documents",
                "the tweet-search lab; the top-3 note",
                "ideal from the retrieved list",
                compute=ideal_of_run,
            ),
            "cutoff": Value(
                "ideal list from the documents within the cutoff",
                "scripts that sort the first k",
                "ideal from the first k",
                compute=ideal_of_cutoff,
            ),
            "uncut": Value(
                "ideal list from all judged documents, not cut at k",
                "the LitSearch repository; Quepid; Haystack; scripts that cut the list only",
                "ideal from the qrels, not cut at k",
                compute=ideal_uncut,
            ),
            "returned": Value(
                "ideal list from all judged documents, cut at the number of documents returned",
                "Elasticsearch's rank evaluation",
                "ideal from the qrels, as long as the list returned",
                compute=ideal_as_long_as_returned,
            ),
            "full": Value(
                "ideal list of k relevant documents, however many there are",
                "scripts that divide by the DCG of a list of ones",
                "ideal of k relevant documents",
                compute=ideal_of_ones,
            ),
            "none": Value(
                "no ideal list: DCG as it is",
                "scripts that print DCG",
                "not divided by an ideal",
                compute=one,
                micro=Micro.NONE,
            ),
        },
        measures=("nDCG",),
    ),
    NEGATIVE: Option(
        "negative grades in nDCG",
        {
            "zero": Value(
                "negative grades gain 0", "trec_eval, gdeval", compute=lambda grade: np.maximum(grade, 0)
            ),
            "keep": Value(
                "negative grades are used as they stand",
                "PerMed's evaluate.py (2**rel - 1 of -1 is -1/2)",
                "negative grades kept",
                compute=lambda grade: grade,
            ),
        },
        measures=("nDCG",),
        of_grades=True,
        shown_by=has_negative,
    ),
    TIED: Option(
        "tied scores in AP and nDCG",
        {
            "in_order": Value(
                "tied documents count in their order", "trec_eval, gdeval, ranx", compute=Tied()
            ),
            "averaged": Value(
                "tied documents gain the mean over all their orders",
                "scikit-learn's ndcg_score; torchmetrics",
                "gains averaged over ties",
                measures=("nDCG",),
                compute=Tied(dcg=averaged_dcg),
                needs_ties=True,
            ),
            "one_step": Value(
                "tied documents are one step, with the precision at its end",
                "scikit-learn's average_precision_score",
                "tied documents as one step",
                measures=("AP",),
                compute=Tied(hits=hits_as_one_step),
                needs_ties=True,
            ),
        },
        measures=(
            "AP",
            "nDCG",
        ),
        shown_by=has_ties,
    ),
    POOLING: Option(
        "averaging of nDCG and RR",
        {
            "macro": Value(
                "nDCG and RR of each query, then the mean", "trec_eval, ir_measures, ranx", compute=macro
            ),
            "micro": Value(
                "what is divided and what it is divided by are summed over all queries first",
                "micro averages",
                "micro-averaged",
                compute=micro,
                pools=True,
            ),
        },
        measures=(
            "nDCG",
            "RR",
        ),
    ),
    LEVEL: Option(
        "relevance level",
        measures=(
            "AP",
            "P",
            "R",
            "RR",
            "Success",
            "F1",
        ),
        of_grades=True,
    ),
    RANKS: Option(
        "ranks in RR",
        {
            "first": Value(
                "RR of the first relevant document",
                "trec_eval, ranx, BEIR",
                compute=Over(RECIPROCAL_OF_FIRST, one),
                micro=Micro.NONE,
            ),
            "found": Value(
                "the mean of 1/rank over the relevant documents found",
                "LlamaIndex with use_granular_mrr",
                "as the mean of 1/rank over the relevant documents found",
                compute=Over(RECIPROCALS, lambda inputs: inputs.num_rel_ret),
            ),
            "relevant": Value(
                "the mean of 1/rank over all relevant documents",
                "TruLens before October 2024",
                "as the mean of 1/rank over all relevant documents",
                compute=Over(RECIPROCALS, relevant),
            ),
            "best": Value(
                "RR of the first document with the highest grade of its list",
                "allRank",
                "of the first document with the highest grade of its list",
                compute=Over(RECIPROCAL_OF_BEST, one),
                micro=Micro.NONE,
            ),
            "middle": Value(
                "RR of the middle rank of the documents with the score of the first relevant one",
                "link prediction: PyKEEN's realistic rank; GRU4Rec with mode='median'",
                "of the middle rank of tied documents",
                compute=Over(RECIPROCAL_OF_MIDDLE, one),
                needs_ties=True,
                micro=Micro.NONE,
            ),
        },
        measures=("RR",),
    ),
    SUCCESS: Option(
        "what counts as success",
        {
            "any": Value(
                "success is 1 with any relevant document found",
                "trec_eval, ranx",
                compute=Over(ANY_FOUND, one),
                micro=Micro.MEAN,
            ),
            "num_rel": Value(
                "success is the share of the relevant documents found",
                "LlamaIndex with use_granular_hit_rate",
                "as the share of the relevant documents found",
                compute=Over(NUMBER_FOUND, relevant),
            ),
            "middle": Value(
                "success is 1 with the middle rank of the documents with the score of the first relevant one "
                "within the cutoff",
                "link prediction: PyKEEN's realistic rank; GRU4Rec with mode='median'",
                "by the middle rank of tied documents",
                compute=Over(MIDDLE_FOUND, one),
                needs_ties=True,
                micro=Micro.MEAN,
            ),
        },
        measures=("Success",),
    ),
    PRECISION: Option(
        "denominator of precision",
        {
            "cutoff": Value(
                "precision over the cutoff",
                "trec_eval, BEIR, ranx",
                compute=Over(NUMBER_FOUND, lambda inputs: inputs.ranks),
                pooled_as="returned",
            ),
            "returned": Value(
                "precision over the documents returned within the cutoff",
                "Elasticsearch's rank evaluation; torchmetrics with adaptive_k",
                "over the documents returned",
                compute=Over(NUMBER_FOUND, lambda inputs: inputs.returned),
                micro=Micro.NONE,
            ),
            "min": Value(
                "precision over the smaller of the number of relevant documents and the cutoff",
                "ranking.py",
                "over min(R, k)",
                compute=Over(NUMBER_FOUND, smaller),
            ),
        },
        measures=(
            "P",
            "F1",
        ),
    ),
    RECALL: Option(
        "denominator of recall",
        {
            "num_rel": Value(
                "recall over all relevant documents",
                "trec_eval; the LitSearch repository",
                compute=Over(NUMBER_FOUND, relevant),
            ),
            "min": Value(
                "recall over the smaller of their number and the cutoff",
                "BEIR's capped recall (R_cap)",
                "over min(R, k)",
                compute=Over(NUMBER_FOUND, smaller),
            ),
            "any": Value(
                "recall is 1 with any relevant document found",
                "DPR's top-k retrieval accuracy; image-text retrieval",
                "1 with any relevant document found",
                compute=Over(ANY_FOUND, one),
                micro=Micro.NONE,
            ),
            "all": Value(
                "recall is 1 where all relevant documents are found, else 0",
                "multi-hop question answering",
                "1 with all relevant documents found",
                compute=Over(ALL_FOUND, one),
                micro=Micro.NONE,
            ),
        },
        measures=(
            "R",
            "F1",
        ),
    ),
    AVERAGING: Option(
        "averaging of P, R, Success and F1",
        {
            "macro": Value(
                "the value of each query, then the mean", "trec_eval, ir_measures, ranx", compute=macro
            ),
            "micro": Value(
                "precision and recall of all queries together",
                "micro averages",
                "micro-averaged",
                compute=micro,
                pools=True,
            ),
        },
        measures=(
            "P",
            "R",
            "Success",
            "F1",
        ),
    ),
    F1_FROM: Option(
        "what F1 is of",
        {
            "queries": Value("F1 of each query, then the mean", "ranx, TREC", compute=f1_of_queries),
            "means": Value(
                "F1 of the mean precision and the mean recall",
                "scripts that combine two columns of a table",
                "of the mean P and the mean R",
                compute=f1_of_means,
            ),
        },
        measures=("F1",),
    ),
}
"""The options by name."""


def depths() -> list[int]:
    """List the lengths to which conventions cut lists."""
    return [value.compute for value in OPTIONS[DEPTH].values.values() if value.compute is not None]
