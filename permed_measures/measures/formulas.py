r"""Write the formula of a measure in LaTeX, with its gain, discount, ideal list, weights and denominator.

Sentences have formulas between ``$``. `NOTATION` explains the symbols that several measures share.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from permed_measures.measures.parameters import Params


class LatexFormula(NamedTuple):
    """The formula of a measure for one query.

    Attributes
    ----------
    latex : str
        The value, in LaTeX.
    where : tuple of str
        The meanings of its symbols, in clauses such as ``$w(g) = g / 2$ is the weight of grade $g$``.
    cited : tuple of str
        The works that define the measure, by their keys in ``results/references.toml``.
    level : int or float, optional
        The lowest relevant grade, for a measure that depends on which documents are relevant.
    """

    latex: str
    where: tuple[str, ...] = ()
    cited: tuple[str, ...] = ()
    level: float | None = None

    @property
    def notation(self) -> list[str]:
        """The meanings of its symbols in `NOTATION`."""
        written = " ".join([self.latex, *self.where])
        return [text for symbol, text in NOTATION.items() if re.search(symbol, written)]

    @property
    def divides(self) -> bool:
        """Whether the formula has a denominator that may be 0."""
        return any(not re.fullmatch("[ik]", denominator) for denominator in _denominators(self))


NOTATION = {
    r"\bk\b": "$k$ is the cutoff, the number after @",
    r"\bg_[ij]": "$g_i$ is the grade of the document at rank $i$",
    r"\br_[ij]": "$r_i$ is 1 if the document at rank $i$ is relevant, and 0 otherwise",
    r"\bR\b": "$R$ is the number of documents in the qrels that are relevant to the query",
    r"\bn\b": "$n$ is the number of documents retrieved for the query",
    r"\bP\(i\)": r"$P(i) = \frac{1}{i} \sum_{j=1}^{i} r_j$ is the precision at rank $i$",
}
"""Patterns of the shared symbols and their meanings, in the order of explanation."""


# --- parts of formulas ---------------------------------------------------------------------------------


def number(value: float) -> str:
    r"""Write a number in LaTeX, with all its digits.

    >>> number(2), number(0.25), number(1e-05), number(1e100)
    ('2', '0.25', '1 \\cdot 10^{-5}', '1 \\cdot 10^{100}')
    """
    value = int(value) if float(value).is_integer() and abs(value) < 1e15 else value
    digits, _, exponent = repr(value).partition("e")
    return rf"{digits} \cdot 10^{{{int(exponent)}}}" if exponent else digits


def _denominators(formula: LatexFormula) -> list[str]:
    """List the denominators of all fractions, also in the clauses."""
    written = " ".join([formula.latex, *formula.where])
    denominators = []
    for start in (match.end() for match in re.finditer(r"\\frac", written)):
        _, after = _braced(written, start)
        denominators.append(_braced(written, after)[0])
    return denominators


def _braced(text: str, start: int) -> tuple[str, int]:
    """Return the text within the braces that open at `start`, and the index after them."""
    depth = 0
    for index in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[index], 0)
        if not depth:
            return text[start + 1 : index], index + 1
    raise ValueError(text)


def _within(params: Params) -> str:
    """Write the ranks that count, below a sum."""
    return r"_{i \ge 1}" if params.get("cutoff") is None else "_{i=1}^{k}"


def _found(params: Params) -> str:
    """Write the number of relevant documents within the cutoff."""
    return rf"\sum{_within(params)} r_i"


def _at_most(n: str, params: Params) -> str:
    """Write the minimum of a number and the cutoff; only the number without a cutoff."""
    return n if params["cutoff"] is None else rf"\min({n}, k)"


def _cases(gains: Mapping[float, float], other: str = "") -> str:
    """Write a function of the grade by its values, with `other` for all other grades."""
    rows = [f"{number(gain)} & g = {number(grade)}" for grade, gain in gains.items()]
    rows += [rf"{other} & \text{{otherwise}}"] if other else []
    return r"\begin{cases} " + r" \\ ".join(rows) + r" \end{cases}"


# --- average precision and its relatives -----------------------------------------------------------------


def graded_ap_latex(params: Params) -> LatexFormula:
    """Write GradedAP."""
    scale = "g" if params["max_rel"] == 1 else f"g / {number(params['max_rel'])}"
    weight = scale if params["gains"] is None else _cases(params["gains"])
    where = [f"$w(g) = {weight}$ is the weight of a relevant document of grade $g$"]
    norm = params["norm"]
    if norm == "none":
        return LatexFormula(rf"\sum{_within(params)} r_i\, w(g_i)\, P(i)", tuple(where))
    or_cutoff = "" if params["cutoff"] is None else ", or the cutoff if that is smaller"
    denominators = {
        "num_rel": ("R", "the number of relevant documents"),
        "min": (_at_most("R", params), f"the number of relevant documents{or_cutoff}"),
        "num_rel_ret": (_found(params), "the number of relevant documents found"),
        "gain": (r"\sum_{i=1}^{R} w^*_i", "the weight of all relevant documents"),
        "ideal": (rf"\sum_{{i=1}}^{{{_at_most('R', params)}}} w^*_i", "the sum that an ideal ranking has"),
    }
    latex, text = denominators[norm]
    where += [f"the denominator $N = {latex}$ is {text}"]
    if norm in ("gain", "ideal"):
        where += [r"$w^*_1 \ge w^*_2 \ge \dots$ are the weights of the relevant documents in the qrels"]
    cited = ("sakai2008modelling",) if norm == "gain" else ()
    return LatexFormula(rf"\frac{{1}}{{N}} \sum{_within(params)} r_i\, w(g_i)\, P(i)", tuple(where), cited)


def ap_latex(params: Params) -> LatexFormula:
    """Write AP."""
    return LatexFormula(rf"\frac{{1}}{{R}} \sum{_within(params)} r_i\, P(i)", cited=("harman1992evaluation",))


def gap_latex(params: Params) -> LatexFormula:
    """Write GAP."""
    levels = params["g"] or dict.fromkeys(range(1, params["max_rel"] + 1))
    first, last = min(levels), max(levels)
    is_range = params["g"] is None and last > 3  # more than three thresholds are not written out
    within = rf"1, \dots, {last}" if is_range else ", ".join(map(number, levels))
    probability = f"1 / {last}"
    if params["g"] is not None:
        probability = _cases(params["g"]).replace("g =", "t =")
    elif first == last:
        probability = "1"
    above = rf"\sum{_within(params)} [g_i \ge t]\, P_t(i)"
    where = (
        rf"$q(t) = {probability}$ is the probability that the user takes documents of grade $t$ and above as "
        rf"relevant, with $t \in \{{{within}\}}$",
        r"$P_t(i) = \frac{1}{i} \sum_{j=1}^{i} [g_j \ge t]$ is the precision at rank $i$ then, in which a "
        "bracket is 1 if it holds and 0 otherwise",
        "$R_t$ is the number of documents in the qrels with grade $t$ and above",
    )
    latex = rf"\frac{{\sum_{{t}} q(t) {above}}}{{\sum_{{t}} q(t)\, R_t}}"
    return LatexFormula(latex, where, ("robertson2010extending",))


def q_measure_latex(params: Params) -> LatexFormula:
    """Write QMeasure."""
    gain = "g" if params["gains"] is None else _cases(params["gains"])
    where = (
        r"$C(i) = \sum_{j=1}^{i} r_j$ is the number of relevant documents down to rank $i$",
        r"$c(i) = \sum_{j=1}^{i} r_j\, G(g_j)$ is their cumulated gain",
        r"$c^*(i) = \sum_{j=1}^{\min(i, R)} G^*_j$ is the cumulated gain of an ideal ranking",
        f"$G(g) = {gain}$ is the gain of a relevant document of grade $g$",
        r"$G^*_1 \ge G^*_2 \ge \dots$ are the gains of the relevant documents in the qrels",
        rf"$\beta = {number(params['beta'])}$ is the weight of the gain",
        f"the denominator is $N = {_at_most('R', params)}$",
    )
    blended = r"\frac{C(i) + \beta\, c(i)}{i + \beta\, c^*(i)}"
    latex = rf"\frac{{1}}{{N}} \sum{_within(params)} r_i\, {blended}"
    return LatexFormula(latex, where, ("sakai2004new",))


def inferred_ap_latex(params: Params) -> LatexFormula:  # noqa: ARG001 - it has a level alone
    """Write infAP."""
    where = (
        "of the documents above rank $i$, $p_i$ have a label, $a_i$ a grade of at least 0, and $c_i$ are "
        "relevant",
        r"$\epsilon = 0.00001$ smooths",
    )
    expected = r"\frac{1}{i} + \frac{p_i}{i} \cdot \frac{c_i + \epsilon}{a_i + 2 \epsilon}"
    latex = rf"\frac{{1}}{{R}} \sum_{{i \ge 1}} r_i \left( {expected} \right)"
    return LatexFormula(latex, where, ("yilmaz2006estimating",))


def bpref_latex(params: Params) -> LatexFormula:  # noqa: ARG001 - it has a level alone
    """Write Bpref."""
    where = (
        "$b_i$ is the number of documents above rank $i$ with a label of at least 0 that are not relevant",
        "$B$ is the number of such documents in the qrels",
    )
    share = r"\frac{\min(b_i, R)}{\min(B, R)}"
    latex = rf"\frac{{1}}{{R}} \sum_{{i \ge 1}} r_i \left( 1 - {share} \right)"
    return LatexFormula(latex, where, ("buckley2004retrieval",))


# --- cumulated gain --------------------------------------------------------------------------------------

_GAIN_TEXTS = {"exp": "2^{g} - 1", "linear": "g"}

_DISCOUNTS = {
    "log2": r"1 / \log_2(i + 1)",
    "jk": r"1 / \log_2(\max(i, 2))",
    "zipf": "1 / i",
}


def variant_ndcg_latex(params: Params) -> LatexFormula:
    """Write VariantNDCG."""
    counted = "0 of unjudged documents"
    counted += " and negative grades" if params["negative"] == "zero" else ", a loss of negative grades"
    ranked = "judged documents retrieved" if params["judged_only"] else "documents retrieved"
    first = f"all {ranked}" if params["cutoff"] is None else f"the first $k$ {ranked}"
    ideal = {"qrels": "all judged documents", "run": f"all {ranked}", "cutoff": first}[params["ideal"]]
    return _ndcg_of(
        _GAIN_TEXTS[params["gain"]], counted, params["discount"], ideal, params, params["gain"] == "exp"
    )


def ndcg_latex(params: Params) -> LatexFormula:
    """Write nDCG."""
    is_exp = params["dcg"] == "exp-log2"
    gain, counted = _GAIN_TEXTS["exp" if is_exp else "linear"], "0 of unjudged documents and negative grades"
    if params["gains"] is not None:
        gain = _cases(params["gains"], gain)
        counted = "0 of unjudged documents, and where that is negative"
        if params["judged_only"]:
            counted += "; it decides in place of the grade which documents are left out"
    return _ndcg_of(gain, counted, "log2", "all judged documents", params, is_exp)


def _ndcg_of(
    gain: str, counted: str, discount: str, ideal: str, params: Params, is_exp: bool
) -> LatexFormula:
    """Write nDCG from its parts."""
    where = (
        f"$G(g) = {gain}$ is the gain of grade $g$ ({counted})",
        f"$D(i) = {_DISCOUNTS[discount]}$ is the discount of rank $i$",
        rf"$g^*_1, g^*_2, \dots$ are the grades of {ideal} of the query in descending order of their gain, "
        "the ideal list",
    )
    within = _within(params)
    latex = rf"\frac{{\sum{within} G(g_i)\, D(i)}}{{\sum{within} G(g^*_i)\, D(i)}}"
    return LatexFormula(latex, where, ("jarvelin2002cumulated", *["burges2005learning"] * is_exp))


def err_latex(params: Params) -> LatexFormula:
    """Write ERR."""
    where = (
        r"$s(g) = (2^{g} - 1) / 16$ is the probability that a document of grade $g$ satisfies the user (0 of "
        "unjudged documents and negative grades), with 4 as the highest grade",
    )
    latex = rf"\sum{_within(params)} \frac{{s(g_i)}}{{i}} \prod_{{j=1}}^{{i - 1}} (1 - s(g_j))"
    return LatexFormula(latex, where, ("chapelle2009expected",))


def rbp_latex(params: Params) -> LatexFormula:
    """Write RBP."""
    where = (f"$p = {number(params['p'])}$ is the probability that the user goes on to the next rank",)
    return LatexFormula(rf"(1 - p) \sum{_within(params)} r_i\, p^{{i - 1}}", where, ("moffat2008rank",))


# --- binary measures -------------------------------------------------------------------------------------


def success_latex(params: Params) -> LatexFormula:
    """Write Success."""
    return LatexFormula(rf"\max{_largest(params)} r_i")


def _largest(params: Params) -> str:
    """Write the ranks that count, below a maximum."""
    return r"_{i \ge 1}" if params["cutoff"] is None else r"_{1 \le i \le k}"


def rr_latex(params: Params) -> LatexFormula:
    """Write RR."""
    return LatexFormula(rf"\max{_largest(params)} \frac{{r_i}}{{i}}", cited=("kantor2000trec",))


def precision_latex(params: Params) -> LatexFormula:
    """Write P."""
    return LatexFormula(rf"\frac{{1}}{{k}} {_found(params)}", cited=("vanrijsbergen1979",))


def recall_latex(params: Params) -> LatexFormula:
    """Write R."""
    return LatexFormula(rf"\frac{{1}}{{R}} {_found(params)}", cited=("vanrijsbergen1979",))


def f1_latex(params: Params) -> LatexFormula:
    """Write F1."""
    return LatexFormula(rf"\frac{{2 {_found(params)}}}{{k + R}}", cited=("vanrijsbergen1979",))


def judged_latex(params: Params) -> LatexFormula:
    """Write Judged."""
    where = ("$a_i$ is 1 if the document at rank $i$ has a label, and 0 otherwise",)
    return LatexFormula(rf"\frac{{1}}{{{_at_most('n', params)}}} \sum{_within(params)} a_i", where)


def r_precision_latex(params: Params) -> LatexFormula:  # noqa: ARG001 - its cutoff is that of the query
    """Write Rprec."""
    return LatexFormula(r"\frac{1}{R} \sum_{i=1}^{R} r_i", cited=("buckley2005retrieval",))


def interpolated_latex(params: Params) -> LatexFormula:
    """Write IPrec."""
    reached = rf"\lfloor {number(params['recall'])} R + 0.9 \rfloor"
    where = (r"$c_i = \sum_{j=1}^{i} r_j$ is the number of relevant documents down to rank $i$",)
    return LatexFormula(rf"\max_{{i \ge 1,\ c_i \ge {reached}}} P(i)", where)


def set_precision_latex(params: Params) -> LatexFormula:
    """Write SetP."""
    limit = r"\min(n, R)" if params["relative"] else "n"
    return LatexFormula(rf"\frac{{1}}{{{limit}}} {_found({})}")


def set_f_latex(params: Params) -> LatexFormula:
    """Write SetF."""
    where = (rf"$\beta = {number(params['beta'])}$ is the weight of recall, which is not squared",)
    return LatexFormula(rf"\frac{{(1 + \beta) {_found({})}}}{{\beta\, R + n}}", where)


def num_ret_latex(params: Params) -> LatexFormula:
    """Write NumRet."""
    return LatexFormula("n" if params["rel"] is None else _found({}))


def constant_latex(latex: str) -> Callable[[Params], LatexFormula]:
    """Build a function that writes a formula that no parameter changes."""
    return lambda _: LatexFormula(latex)
