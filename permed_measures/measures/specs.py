"""The table of measures: each with its kernel, its texts, its names and its properties in one row."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

from ir_measures.measures import (
    AP,
    ERR,
    RBP,
    RR,
    Bpref,
    IPrec,
    Judged,
    Measure,
    NumQ,
    NumRel,
    NumRet,
    P,
    R,
    Rprec,
    SetAP,
    SetF,
    SetP,
    SetR,
    Success,
    infAP,
    nDCG,
)

from permed_measures.measures import formulas, pytrec
from permed_measures.measures.definitions import F1, GAP, Coverage, GradedAP, QMeasure, VariantNDCG
from permed_measures.measures.formulas import LatexFormula
from permed_measures.measures.parameters import (
    REL,
    CheckedMeasure,
    Params,
    alias_of,
    check_parameters,
    converted,
    values_of,
    with_alias,
)

LowHigh = tuple[float, float]
"""The minimum and the maximum."""


class Ambiguity(NamedTuple):
    """The other meanings that a name of a measure may have on graded labels.

    Attributes
    ----------
    names : tuple of str
        The ambiguous names, in lower case and without separators.
    meaning : str
        What sets the measure apart.
    others : tuple of str
        The measures that the names may also mean, without a cutoff.
    """

    names: tuple[str, ...]
    meaning: str
    others: tuple[str, ...]


def _share(_: Params) -> LowHigh:
    return 0.0, 1.0


class MeasureSpec(NamedTuple):
    """A row of the table: a measure, and all facts that other files ask for.

    Attributes
    ----------
    measure : Measure
    kernel : str
        The function in ``engine/kernels`` that computes it, such as ``graded.ndcg``. It is a name, so that
        this table loads no numpy; ``engine/kernels/__init__.py`` finds the function. A function of the same
        name in ``expected.py`` computes the mean over all orders of equal scores; without one there is no
        closed form.
    description : str
        What the measure is, in one line.
    formula, unlike, source : str
        For ``permed-measures measures``: the value for a query, the differences from other measures, and the
        definition. Notation as in the guide: grade g_i at rank i; relevant means g >= rel; R relevant
        documents in the qrels; P(i) the share of relevant documents within the first i; k the cutoff.
    example : (str, str)
        The measure with a cutoff, and the arithmetic of its value where the qrels have a = 2, b = 1, c = 1
        and d = 0, and the run ranks b, x, a, d.
    latex : callable
        Writes the formula from the values of the parameters.
    is_count : bool
        Whether the values are counts, which are summed over the queries; counts have no maximum.
    check : str
        The function in ``engine/kernels`` that refuses judgments; empty if the measure accepts all.
    ignores_order : bool
        Whether the order of the documents changes nothing, as for set measures.
    aliases, chinese : str
        Other common names in English and in Chinese, separated by spaces; case and separators do not matter.
    family : str
        The measure whose conventions are searched if a published table has one of these names; empty if there
        is none.
    paper_names : str
        Names that mean the family in published tables only.
    ambiguity : Ambiguity, optional
        Other meanings of the names on graded labels.
    needs_rel : str
        The reason why `rel` must be set although ir_measures does not need it; empty if there is none.
    gains_replace : (str, str), optional
        The parameter that `gains` replace, so that it must keep its default, and an example of such gains.
    parameters : mapping of str to str
        Descriptions of parameters that replace those of ir_measures.
    level : int, optional
        The lowest relevant grade of a measure without the parameter `rel`; None if no grade is set apart.
    bounds : callable
        Returns the minimum and the maximum from the values of the parameters.
    best_first : bool
        Whether the value never falls when two neighbours of a ranking are swapped so that the better one
        comes first.
    exchange_raises : bool
        Whether the same holds for any two documents that exchange their grades, with others between them.
    rises_with_grades : bool
        Whether the value never falls when the grade of a document rises. Recall: if f of R relevant documents
        are found, (f + 1) / (R + 1) >= f / R. ERR: to stop at rank i gives 1/i, and to go on gives at most
        1/(i + 1).
    of_qrels : bool
        Whether it counts in the qrels alone, whatever the run retrieves.
    about_labels : bool
        Whether it describes what is labelled, and nothing of relevance.
    judged_only : bool
        Whether it leaves out unjudged documents, without a parameter that asks for this.
    pytrec : callable
        Finds the same measure in pytrec_eval (`permed_measures.measures.pytrec`).
    trec_names : str
        The names in trec_eval without and with a cutoff; - where trec_eval has no such measure.
    """

    measure: Measure
    kernel: str
    description: str
    formula: str
    unlike: str
    source: str
    example: tuple[str, str]
    latex: Callable[[Params], LatexFormula]
    is_count: bool = False
    check: str = ""
    ignores_order: bool = False
    aliases: str = ""
    chinese: str = ""
    family: str = ""
    paper_names: str = ""
    ambiguity: Ambiguity | None = None
    needs_rel: str = ""
    gains_replace: tuple[str, str] | None = None
    parameters: Mapping[str, str] = {}
    level: int | None = None
    bounds: Callable[[Params], LowHigh] = _share
    best_first: bool = True
    exchange_raises: bool = True
    rises_with_grades: bool = False
    of_qrels: bool = False
    about_labels: bool = False
    judged_only: bool = False
    pytrec: pytrec.ToPytrec = pytrec.as_itself
    trec_names: str = "- -"


# --- facts that depend on parameters -----------------------------------------------------------------


def _graded_ap_bounds(params: Params) -> LowHigh:
    is_share = params["norm"] != "none" and params["gains"] is None
    return 0.0, 1.0 if is_share else math.inf


def _variant_ndcg_bounds(params: Params) -> LowHigh:
    return (0.0, 1.0) if params["negative"] == "zero" else (-math.inf, math.inf)


# --- the table ---------------------------------------------------------------------------------------

_ROWS = (
    MeasureSpec(
        measure=GradedAP,
        kernel="graded.relevance_weighted_average_precision",
        description="Average precision, each relevant document counted by its grade.",
        formula="(1/N) · Σ over relevant ranks i ≤ k of P(i)·w(g_i)",
        unlike=(
            "AP counts each relevant document 1. GAP averages AP over relevance levels, and is another "
            "measure. Where partly relevant documents exist, its ceiling is below 1. It may be above 1 "
            "only with norm=none, or weights above 1."
        ),
        source=(
            "the MAP of MedCorpus' evaluation (PerMed); with norm=gain NCU_gu,P of Sakai and Robertson, "
            "EVIA 2008"
        ),
        example=("GradedAP@4", "(1/1 · 1/2 + 2/3 · 2/2) / 3"),
        latex=formulas.graded_ap_latex,
        check="checks.check_weights",
        aliases="graded_map",
        chinese="分级平均精度均值 分级平均精度 加权平均精度",
        family="AP",
        bounds=_graded_ap_bounds,
        best_first=False,
        exchange_raises=False,
    ),
    MeasureSpec(
        measure=Coverage,
        kernel="binary.success",
        description="The share of queries with a relevant document in the top k results.",
        formula="1 if a relevant document is within k, else 0",
        unlike=(
            "It equals Success@k; it also takes levels between whole grades, and no cutoff. Some papers "
            "call it R@k, hit rate or accuracy."
        ),
        source="trec_eval, measure success",
        example=("Coverage@4", "1"),
        latex=formulas.success_latex,
        aliases="cov",
        chinese="覆盖率",
        family="Success",
        rises_with_grades=True,
        pytrec=pytrec.as_success,
    ),
    MeasureSpec(
        measure=VariantNDCG,
        kernel="graded.variant_ndcg",
        description="nDCG with gain, discount, ideal list and negative grades as asked.",
        formula=(
            "Σ over i ≤ k of gain(g_i) · discount(i), over that of the ideal list; the default equals "
            "`nDCG(dcg='exp-log2')`"
        ),
        unlike=(
            "nDCG has linear gains by default, discounts by log2(i + 1), takes the ideal list of the "
            "qrels, and counts negative grades 0. With negative=keep it may be below 0 or above 1."
        ),
        source="Burges et al., ICML 2005; Järvelin and Kekäläinen, TOIS 2002",
        example=("VariantNDCG@4", "(1 + 3/2) / (3 + 1/log2(3) + 1/2)"),
        latex=formulas.variant_ndcg_latex,
        check="checks.check_exponent",
        family="nDCG",
        bounds=_variant_ndcg_bounds,
        pytrec=pytrec.as_variant_ndcg,
    ),
    MeasureSpec(
        measure=GAP,
        kernel="graded.graded_average_precision",
        description="Average precision, averaged over what a user takes as relevant.",
        formula=(
            "Σ_j g_j·R_{≥j}·AP_{rel=j} / Σ_j g_j·R_{≥j}, g_j the probability that the user's threshold is j"
        ),
        unlike=(
            "GradedAP weighs each precision by the grade that is found; GAP averages AP over the "
            "thresholds of users."
        ),
        source="Robertson, Kanoulas and Yilmaz, SIGIR 2010",
        example=("GAP@4", "(1/2 · 3 · 5/9 + 1/2 · 1 · 1/3) / (1/2 · 3 + 1/2 · 1)"),
        latex=formulas.gap_latex,
    ),
    MeasureSpec(
        measure=QMeasure,
        kernel="graded.q_measure",
        description="Average precision blended with cumulated gain.",
        formula=(
            "(1/N) · Σ over relevant ranks i ≤ k of (C(i) + β·cg(i)) / (i + β·cg*(i)), N = R or min(R, k)"
        ),
        unlike=(
            "C(i) counts the relevant documents within i, cg and cg* add gains of the ranking and of the "
            "ideal one. With beta=0 it is AP."
        ),
        source="Sakai, NTCIR-4, 2004",
        example=("QMeasure@4", "((1 + 1) / (1 + 2) + (2 + 3) / (3 + 4)) / 3"),
        latex=formulas.q_measure_latex,
        check="checks.check_gains",
        aliases="q",
        chinese="Q度量 Q测度",
        level=1,
        exchange_raises=False,
    ),
    MeasureSpec(
        measure=F1,
        kernel="binary.f1",
        description="The harmonic mean of a query's precision and recall in the top k.",
        formula=(
            "2·r / (k + R), r relevant within k: of P@k and R@k by query; the mean is that of the queries"
        ),
        unlike=(
            "SetF is of whole lists. Some papers take F1 of the mean precision and the mean recall, which "
            "is another number."
        ),
        source="van Rijsbergen, Information Retrieval, 1979, chapter 7",
        example=("F1@4", "2 · 2 / (4 + 3)"),
        latex=formulas.f1_latex,
        aliases="f f1_score f_score f_measure f1_measure",
        chinese="F1值 F值 F1分数 F分数",
        family="F1",
        pytrec=pytrec.as_precision_and_recall,
    ),
    MeasureSpec(
        measure=nDCG,
        kernel="graded.ndcg",
        description="The gain, discounted by the rank, over that of the ideal ranking.",
        formula=(
            "Σ over i ≤ k of g_i / log2(i + 1), over that of the ideal ranking; `dcg='exp-log2'` with gain "
            "2^g − 1"
        ),
        unlike="Papers often mean exponential gains by nDCG: VariantNDCG, or nDCG(dcg='exp-log2').",
        source="Järvelin and Kekäläinen, TOIS 2002",
        example=("nDCG@4", "(1 + 2/2) / (2 + 1/log2(3) + 1/2)"),
        latex=formulas.ndcg_latex,
        check="checks.check_exponent",
        aliases="ndcg_cut normalized_dcg normalized_discounted_cumulative_gain",
        chinese=(
            "归一化折损累计增益 归一化折损累积增益 归一化折扣累计增益 归一化折扣累积增益 "
            "归一化累计折损增益 标准化折损累计增益 标准化折扣累计增益"
        ),
        family="nDCG",
        paper_names="ndcg_burges ms_ndcg",
        ambiguity=Ambiguity(("ndcg", "normalizeddcg"), "the gain is the grade", ("nDCG(dcg='exp-log2')",)),
        gains_replace=("dcg", "nDCG(gains={1:1,2:3}) has the gains of exp-log2"),
        pytrec=pytrec.as_ndcg,
        trec_names="ndcg ndcg_cut_{}",
    ),
    MeasureSpec(
        measure=ERR,
        kernel="graded.expected_reciprocal_rank",
        description="The expected reciprocal rank at which a user is satisfied.",
        formula="Σ (1/i)·P(the user stops at i), stopping with probability (2^g − 1)/16, as gdeval",
        unlike=(
            "RR stops at the first relevant document for sure. The highest grade is 4, whatever the labels "
            "are."
        ),
        source="Chapelle et al., CIKM 2009; gdeval",
        example=("ERR@4", "1/16 + 1/3 · (1 − 1/16) · 3/16"),
        latex=formulas.err_latex,
        check="checks.check_err",
        chinese="期望倒数排名",
        rises_with_grades=True,
    ),
    MeasureSpec(
        measure=RBP,
        kernel="binary.rank_biased_precision",
        description="The gain of a user who goes on to the next rank with probability p.",
        formula="(1 − p) · Σ over relevant ranks i of p^(i−1), as cwl_eval; `rel` is required",
        unlike="It does not divide by R, so its ceiling is below 1 where few documents are relevant.",
        source="Moffat and Zobel, TOIS 2008",
        example=("RBP(rel=1)@4", "(1 − 0.8) · (1 + 0.8²)"),
        latex=formulas.rbp_latex,
        chinese="排序偏置精度 排名偏置精度",
        needs_rel="it has no agreed scale for grades",
        parameters={
            "rel": "minimum relevance score to be considered relevant (inclusive), which must be given"
        },
        rises_with_grades=True,
    ),
    MeasureSpec(
        measure=P,
        kernel="binary.precision",
        description="The share of the top k results that are relevant.",
        formula="relevant documents within k, over k",
        unlike=(
            "It is over k also where fewer documents were retrieved, or fewer are relevant: SetP and Rprec "
            "are not."
        ),
        source="van Rijsbergen, Information Retrieval, 1979, chapter 7",
        example=("P@4", "2/4"),
        latex=formulas.precision_latex,
        aliases="precision prec pre",
        chinese="精确率 准确率 查准率 精度 精确度 准确度",
        family="P",
        rises_with_grades=True,
        trec_names="- P_{}",
    ),
    MeasureSpec(
        measure=R,
        kernel="binary.recall",
        description="The share of the relevant documents that are in the top k results.",
        formula="relevant documents within k, over R",
        unlike="Whether any relevant document is within k is Success@k, which some papers call R@k.",
        source="van Rijsbergen, Information Retrieval, 1979, chapter 7",
        example=("R@4", "2/3"),
        latex=formulas.recall_latex,
        aliases="recall rec",
        chinese="召回率 查全率 召回",
        family="R",
        paper_names="rcap recall_cap capped_recall",
        rises_with_grades=True,
        trec_names="- recall_{}",
    ),
    MeasureSpec(
        measure=RR,
        kernel="binary.reciprocal_rank",
        description="The reciprocal of the rank of the first relevant document.",
        formula="1 / the rank of the first relevant document; 0 if none is within k",
        unlike="Further relevant documents count nothing. Its mean is MRR.",
        source="Kantor and Voorhees, Information Retrieval 2000",
        example=("RR", "1/1"),
        latex=formulas.rr_latex,
        aliases="mrr recip_rank reciprocal_rank mean_reciprocal_rank",
        chinese="平均倒数排名 平均倒数排序 平均排名倒数 倒数排名均值 倒数排名",
        family="RR",
        rises_with_grades=True,
        pytrec=pytrec.as_cut_reciprocal_rank,
        trec_names="recip_rank -",
    ),
    MeasureSpec(
        measure=AP,
        kernel="binary.average_precision",
        description="The precision at each relevant document, averaged over all of them.",
        formula="(1/R) · Σ over relevant ranks i ≤ k of P(i)",
        unlike=(
            "It is over R whatever k is; many tools divide by min(R, k): GradedAP(norm=min, gains={1: 1, "
            "2: 1}). Its mean is MAP."
        ),
        source="Harman, IP&M 1992; trec_eval",
        example=("AP@4", "(1/1 + 2/3) / 3"),
        latex=formulas.ap_latex,
        aliases="map map_cut average_precision mean_ap",
        chinese=(
            "平均精度均值 平均精度 平均精确率 平均精确率均值 平均准确率 平均准确率均值 均值平均精度 "
            "平均查准率 平均查准率均值"
        ),
        family="AP",
        ambiguity=Ambiguity(
            ("map", "meanaverageprecision"), "any grade from 1 is relevant", ("GradedAP", "AP(rel=2)")
        ),
        trec_names="map map_cut_{}",
    ),
    MeasureSpec(
        measure=Success,
        kernel="binary.success",
        description="Whether a relevant document is in the top k results.",
        formula="1 if a relevant document is within k, else 0",
        unlike=(
            "Its mean is the share of queries with a hit, which some papers call R@k, hit rate or accuracy."
        ),
        source="trec_eval, measure success",
        example=("Success@4", "1"),
        latex=formulas.success_latex,
        aliases="hit hits hit_rate hit_ratio hr h success_rate succ s acc accuracy",
        chinese="命中率 成功率",
        family="Success",
        rises_with_grades=True,
        trec_names="- success_{}",
    ),
    MeasureSpec(
        measure=Judged,
        kernel="binary.judged",
        description="The share of the top k results that have a relevance judgment.",
        formula="judged documents within k, over the documents retrieved there",
        unlike="It says how far other measures rest on judgments, and nothing of relevance.",
        source="ir_measures",
        example=("Judged@4", "3/4"),
        latex=formulas.judged_latex,
        aliases="j",
        chinese="标注率 已标注比例",
        best_first=False,
        exchange_raises=False,
        about_labels=True,
    ),
    MeasureSpec(
        measure=Rprec,
        kernel="binary.r_precision",
        description="The precision at R, the number of relevant documents of the query.",
        formula="relevant documents within R, over R",
        unlike="It is P@R and R@R at once: the cutoff is that of the query.",
        source="Buckley and Voorhees, Retrieval System Evaluation, 2005",
        example=("Rprec", "2/3"),
        latex=formulas.r_precision_latex,
        aliases="r_precision r_p p@r",
        chinese="R精度 R精确率 R准确率",
        trec_names="Rprec -",
    ),
    MeasureSpec(
        measure=IPrec,
        kernel="binary.interpolated_precision",
        description="The interpolated precision at a given recall cutoff.",
        formula=(
            "highest precision at or after the rank with that recall, int(recall·R + 0.9) relevant documents"
        ),
        unlike="@ is a recall, not a rank.",
        source="trec_eval, measure iprec_at_recall",
        example=("IPrec@0.5", "2/3"),
        latex=formulas.interpolated_latex,
        pytrec=pytrec.as_iprec,
    ),
    MeasureSpec(
        measure=Bpref,
        kernel="binary.binary_preference",
        description="The relative ranks of judged relevant and non-relevant documents.",
        formula=(
            "mean over relevant documents of 1 − min(n, R)/min(N, R), n judged and not relevant above, N "
            "in all"
        ),
        unlike="Unjudged documents are as if they were not there.",
        source="Buckley and Voorhees, SIGIR 2004",
        example=("Bpref", "((1 − 0/1) + (1 − 0/1)) / 3"),
        latex=formulas.bpref_latex,
        judged_only=True,
        pytrec=pytrec.as_bpref,
        trec_names="bpref -",
    ),
    MeasureSpec(
        measure=infAP,
        kernel="binary.inferred_average_precision",
        description="AP that allows for documents that were pooled and not judged.",
        formula="AP expected from a pool of which part is judged; grade −1: in the pool, not judged",
        unlike="Where no grade is -1 it is AP, but for a smoothing of 0.00001.",
        source="Yilmaz and Aslam, CIKM 2006",
        example=("infAP", "(1 + (1/3 + 2/3 · 1/2 · 1)) / 3"),
        latex=formulas.inferred_ap_latex,
        best_first=False,
        exchange_raises=False,
        trec_names="infAP -",
    ),
    MeasureSpec(
        measure=SetP,
        kernel="binary.set_precision",
        description="The precision among all returned documents.",
        formula="relevant retrieved over retrieved (`relative`: over min(that, R))",
        unlike="P@k is over k, and cut there.",
        source="trec_eval, measure set_P",
        example=("SetP", "2/4"),
        latex=formulas.set_precision_latex,
        ignores_order=True,
        chinese="集合精确率 集合准确率",
        rises_with_grades=True,
        trec_names="set_P -",
    ),
    MeasureSpec(
        measure=SetR,
        kernel="binary.set_recall",
        description="The recall among all returned documents.",
        formula="relevant retrieved over R",
        unlike="R@k is cut at k.",
        source="trec_eval, measure set_recall",
        example=("SetR", "2/3"),
        latex=formulas.constant_latex(r"\frac{1}{R} \sum_{i \ge 1} r_i"),
        ignores_order=True,
        aliases="set_recall",
        chinese="集合召回率",
        rises_with_grades=True,
        trec_names="set_recall -",
    ),
    MeasureSpec(
        measure=SetF,
        kernel="binary.set_f",
        description="The harmonic mean of set precision and recall, weighted by beta.",
        formula="(β+1)·P·R/(β·P + R), β not squared, as trec_eval, of SetP and SetR",
        unlike="F1@k is cut at k. van Rijsbergen's F has β squared.",
        source="trec_eval, measure set_F",
        example=("SetF", "2 · 2/4 · 2/3 / (2/4 + 2/3)"),
        latex=formulas.set_f_latex,
        ignores_order=True,
        rises_with_grades=True,
        pytrec=pytrec.as_set_f,
        trec_names="set_F -",
    ),
    MeasureSpec(
        measure=SetAP,
        kernel="binary.set_average_precision",
        description="The precision among all returned documents, times the recall.",
        formula="P·R, of SetP and SetR",
        unlike="It is not AP: the order of documents does not matter.",
        source="trec_eval, measure set_map",
        example=("SetAP", "2/4 · 2/3"),
        latex=formulas.constant_latex(r"\frac{(\sum_{i \ge 1} r_i)^2}{n R}"),
        ignores_order=True,
        aliases="set_map",
        rises_with_grades=True,
        trec_names="set_map -",
    ),
    MeasureSpec(
        measure=NumQ,
        kernel="binary.num_q",
        description="The number of queries present in the qrels.",
        formula="1; summed: the number of queries",
        unlike="It counts queries of the qrels, which the run may lack.",
        source="trec_eval, measure num_q",
        example=("NumQ", "1"),
        latex=formulas.constant_latex("1"),
        is_count=True,
        ignores_order=True,
        rises_with_grades=True,
        of_qrels=True,
    ),
    MeasureSpec(
        measure=NumRet,
        kernel="binary.num_ret",
        description="The number of documents present in the result set.",
        formula="documents retrieved, with `rel` relevant ones; summed",
        unlike="It is a count, not a mean.",
        source="trec_eval, measures num_ret and num_rel_ret",
        example=("NumRet", "4"),
        latex=formulas.num_ret_latex,
        is_count=True,
        ignores_order=True,
        rises_with_grades=True,
    ),
    MeasureSpec(
        measure=NumRel,
        kernel="binary.num_rel",
        description="The number of relevant documents present in the qrels.",
        formula="relevant documents of the qrels; summed",
        unlike="It does not depend on the run.",
        source="trec_eval, measure num_rel",
        example=("NumRel", "3"),
        latex=formulas.constant_latex("R"),
        is_count=True,
        ignores_order=True,
        rises_with_grades=True,
        of_qrels=True,
    ),
)

SPECS: dict[str, MeasureSpec] = {str(spec.measure.NAME): spec for spec in _ROWS}
"""All supported measures, by name."""

MEASURES: dict[str, Measure] = {
    name: spec.measure for name, spec in SPECS.items() if isinstance(spec.measure, CheckedMeasure)
} | {"GradedMAP": GradedAP}
"""The package's own measures, by their names in ir_measures (GradedMAP is an alias)."""


def spec_of(measure: Measure) -> MeasureSpec:
    """Return the row of a supported measure."""
    return SPECS[str(measure.NAME)]


def latex_formula(measure: Measure) -> LatexFormula:
    r"""Write the formula of a measure.

    Examples
    --------
    >>> latex_formula(AP @ 10).latex
    '\\frac{1}{R} \\sum_{i=1}^{k} r_i\\, P(i)'
    >>> for clause in latex_formula(GradedAP(norm="min") @ 10).where:
    ...     print(clause)
    $w(g) = g / 2$ is the weight of a relevant document of grade $g$
    the denominator $N = \min(R, k)$ is the number of relevant documents, or the cutoff if that is smaller
    """
    return spec_of(measure).latex(values_of(measure))._replace(level=lowest_relevant(measure))


def lowest_relevant(measure: Measure) -> float | None:
    """Return the lowest relevant grade of a measure; None if no grade is set apart.

    Examples
    --------
    >>> [lowest_relevant(measure) for measure in (P(rel=2) @ 10, QMeasure, nDCG)]
    [2, 1, None]
    """
    level: float | None = values_of(measure).get("rel", spec_of(measure).level)
    return level


def needs_cutoff(name: str) -> bool:
    """Check whether a measure with a cutoff must have one.

    Examples
    --------
    >>> needs_cutoff("P"), needs_cutoff("AP")
    (True, False)
    """
    return bool(SPECS[name].measure.SUPPORTED_PARAMS["cutoff"].required)


def is_count(measure: Measure) -> bool:
    """Check whether the values of a measure are counts, which are summed over the queries."""
    spec = SPECS.get(str(measure.NAME))
    return spec is not None and spec.is_count


def counts_all(measure: Measure) -> bool:
    """Check whether a measure counts all documents, because no `rel` restricts it: NumRet.

    Examples
    --------
    >>> [counts_all(measure) for measure in (NumRet, NumRet(rel=1), NumRel, P @ 1)]
    [True, False, False, False]
    """
    return is_count(measure) and values_of(measure).get("rel", 0) is None


def with_rel(measure: Measure, rel: float | None) -> Measure:
    """Set the relevance level of a measure, if it takes one and does not set its own."""
    takes_rel = "rel" in measure.SUPPORTED_PARAMS and not counts_all(measure)
    set_by_user = measure.given if isinstance(measure, CheckedMeasure) else measure.params
    if rel is None or not takes_rel or "rel" in set_by_user:
        return measure
    changed: Measure = measure(rel=converted(measure, "rel", REL, rel))
    check_parameters(changed)
    return with_alias(changed, alias_of(measure))


def range_of(measure: Measure) -> LowHigh:
    """Return the minimum and the maximum of a measure; infinite if unknown.

    Examples
    --------
    >>> range_of(P @ 10), range_of(GradedAP @ 10), range_of(GradedAP(norm="none") @ 10)[1]
    ((0.0, 1.0), (0.0, 1.0), inf)
    """
    spec = SPECS.get(str(measure.NAME))
    return (0.0, math.inf) if spec is None or is_count(measure) else spec.bounds(values_of(measure))
