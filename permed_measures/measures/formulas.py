r"""Write the formula of a measure in LaTeX, with its gain, discount, ideal list, weights and denominator.

Sentences have formulas between ``$``. `NOTATION` explains the symbols that several measures share.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ir_measures.measures import Measure

from permed_measures.measures.parameters import values_of


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


def latex_formula(measure: Measure) -> LatexFormula:
    r"""Write the formula of a measure.

    Examples
    --------
    >>> from ir_measures import AP
    >>> from permed_measures.measures.definitions import GradedAP
    >>> latex_formula(AP @ 10).latex
    '\\frac{1}{R} \\sum_{i=1}^{k} r_i\\, P(i)'
    >>> for clause in latex_formula(GradedAP(norm="min") @ 10).where:
    ...     print(clause)
    $w(g) = g / 2$ is the weight of a relevant document of grade $g$
    the denominator $N = \min(R, k)$ is the number of relevant documents, or the cutoff if that is smaller
    """
    name, given = str(measure.NAME), values_of(measure)
    formula = FORMULAS[name](given)
    return formula._replace(level=1 if name == "QMeasure" else given.get("rel"))


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


def _within(given: Mapping[str, Any]) -> str:
    """Write the ranks that count, below a sum."""
    return r"_{i \ge 1}" if given.get("cutoff") is None else "_{i=1}^{k}"


def _found(given: Mapping[str, Any]) -> str:
    """Write the number of relevant documents within the cutoff."""
    return rf"\sum{_within(given)} r_i"


def _at_most(n: str, given: Mapping[str, Any]) -> str:
    """Write the minimum of a number and the cutoff; only the number without a cutoff."""
    return n if given["cutoff"] is None else rf"\min({n}, k)"


def _cases(gains: Mapping[float, float], other: str = "") -> str:
    """Write a function of the grade by its values, with `other` for all other grades."""
    rows = [f"{number(gain)} & g = {number(grade)}" for grade, gain in gains.items()]
    rows += [rf"{other} & \text{{otherwise}}"] if other else []
    return r"\begin{cases} " + r" \\ ".join(rows) + r" \end{cases}"


# --- average precision and its relatives -----------------------------------------------------------------


def _graded_ap(given: Mapping[str, Any]) -> LatexFormula:
    scale = "g" if given["max_rel"] == 1 else f"g / {number(given['max_rel'])}"
    weight = scale if given["gains"] is None else _cases(given["gains"])
    where = [f"$w(g) = {weight}$ is the weight of a relevant document of grade $g$"]
    norm = given["norm"]
    if norm == "none":
        return LatexFormula(rf"\sum{_within(given)} r_i\, w(g_i)\, P(i)", tuple(where))
    or_cutoff = "" if given["cutoff"] is None else ", or the cutoff if that is smaller"
    denominators = {
        "num_rel": ("R", "the number of relevant documents"),
        "min": (_at_most("R", given), f"the number of relevant documents{or_cutoff}"),
        "num_rel_ret": (_found(given), "the number of relevant documents found"),
        "gain": (r"\sum_{i=1}^{R} w^*_i", "the weight of all relevant documents"),
        "ideal": (rf"\sum_{{i=1}}^{{{_at_most('R', given)}}} w^*_i", "the sum that an ideal ranking has"),
    }
    latex, text = denominators[norm]
    where += [f"the denominator $N = {latex}$ is {text}"]
    if norm in ("gain", "ideal"):
        where += [r"$w^*_1 \ge w^*_2 \ge \dots$ are the weights of the relevant documents in the qrels"]
    cited = ("sakai2008modelling",) if norm == "gain" else ()
    return LatexFormula(rf"\frac{{1}}{{N}} \sum{_within(given)} r_i\, w(g_i)\, P(i)", tuple(where), cited)


def _ap(given: Mapping[str, Any]) -> LatexFormula:
    return LatexFormula(rf"\frac{{1}}{{R}} \sum{_within(given)} r_i\, P(i)", cited=("harman1992evaluation",))


def _gap(given: Mapping[str, Any]) -> LatexFormula:
    levels = given["g"] or dict.fromkeys(range(1, given["max_rel"] + 1))
    first, last = min(levels), max(levels)
    is_range = given["g"] is None and last > 3  # more than three thresholds are not written out
    within = rf"1, \dots, {last}" if is_range else ", ".join(map(number, levels))
    probability = f"1 / {last}"
    if given["g"] is not None:
        probability = _cases(given["g"]).replace("g =", "t =")
    elif first == last:
        probability = "1"
    above = rf"\sum{_within(given)} [g_i \ge t]\, P_t(i)"
    where = (
        rf"$q(t) = {probability}$ is the probability that the user takes documents of grade $t$ and above as "
        rf"relevant, with $t \in \{{{within}\}}$",
        r"$P_t(i) = \frac{1}{i} \sum_{j=1}^{i} [g_j \ge t]$ is the precision at rank $i$ then, in which a "
        "bracket is 1 if it holds and 0 otherwise",
        "$R_t$ is the number of documents in the qrels with grade $t$ and above",
    )
    latex = rf"\frac{{\sum_{{t}} q(t) {above}}}{{\sum_{{t}} q(t)\, R_t}}"
    return LatexFormula(latex, where, ("robertson2010extending",))


def _q_measure(given: Mapping[str, Any]) -> LatexFormula:
    gain = "g" if given["gains"] is None else _cases(given["gains"])
    where = (
        r"$C(i) = \sum_{j=1}^{i} r_j$ is the number of relevant documents down to rank $i$",
        r"$c(i) = \sum_{j=1}^{i} r_j\, G(g_j)$ is their cumulated gain",
        r"$c^*(i) = \sum_{j=1}^{\min(i, R)} G^*_j$ is the cumulated gain of an ideal ranking",
        f"$G(g) = {gain}$ is the gain of a relevant document of grade $g$",
        r"$G^*_1 \ge G^*_2 \ge \dots$ are the gains of the relevant documents in the qrels",
        rf"$\beta = {number(given['beta'])}$ is the weight of the gain",
        f"the denominator is $N = {_at_most('R', given)}$",
    )
    blended = r"\frac{C(i) + \beta\, c(i)}{i + \beta\, c^*(i)}"
    latex = rf"\frac{{1}}{{N}} \sum{_within(given)} r_i\, {blended}"
    return LatexFormula(latex, where, ("sakai2004new",))


def _inferred_ap(given: Mapping[str, Any]) -> LatexFormula:  # noqa: ARG001 - it has a level alone
    where = (
        "of the documents above rank $i$, $p_i$ have a label, $a_i$ a grade of at least 0, and $c_i$ are "
        "relevant",
        r"$\epsilon = 0.00001$ smooths",
    )
    expected = r"\frac{1}{i} + \frac{p_i}{i} \cdot \frac{c_i + \epsilon}{a_i + 2 \epsilon}"
    latex = rf"\frac{{1}}{{R}} \sum_{{i \ge 1}} r_i \left( {expected} \right)"
    return LatexFormula(latex, where, ("yilmaz2006estimating",))


def _bpref(given: Mapping[str, Any]) -> LatexFormula:  # noqa: ARG001 - it has a level alone
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


def _variant_ndcg(given: Mapping[str, Any]) -> LatexFormula:
    counted = "0 of unjudged documents"
    counted += " and negative grades" if given["negative"] == "zero" else ", a loss of negative grades"
    ranked = "judged documents retrieved" if given["judged_only"] else "documents retrieved"
    first = f"all {ranked}" if given["cutoff"] is None else f"the first $k$ {ranked}"
    ideal = {"qrels": "all judged documents", "run": f"all {ranked}", "cutoff": first}[given["ideal"]]
    return _ndcg_of(
        _GAIN_TEXTS[given["gain"]], counted, given["discount"], ideal, given, given["gain"] == "exp"
    )


def _ndcg(given: Mapping[str, Any]) -> LatexFormula:
    is_exp = given["dcg"] == "exp-log2"
    gain, counted = _GAIN_TEXTS["exp" if is_exp else "linear"], "0 of unjudged documents and negative grades"
    if given["gains"] is not None:
        gain = _cases(given["gains"], gain)
        counted = "0 of unjudged documents, and where that is negative"
        if given["judged_only"]:
            counted += "; it decides in place of the grade which documents are left out"
    return _ndcg_of(gain, counted, "log2", "all judged documents", given, is_exp)


def _ndcg_of(
    gain: str, counted: str, discount: str, ideal: str, given: Mapping[str, Any], is_exp: bool
) -> LatexFormula:
    """Write nDCG from its parts."""
    where = (
        f"$G(g) = {gain}$ is the gain of grade $g$ ({counted})",
        f"$D(i) = {_DISCOUNTS[discount]}$ is the discount of rank $i$",
        rf"$g^*_1, g^*_2, \dots$ are the grades of {ideal} of the query in descending order of their gain, "
        "the ideal list",
    )
    within = _within(given)
    latex = rf"\frac{{\sum{within} G(g_i)\, D(i)}}{{\sum{within} G(g^*_i)\, D(i)}}"
    return LatexFormula(latex, where, ("jarvelin2002cumulated", *["burges2005learning"] * is_exp))


def _err(given: Mapping[str, Any]) -> LatexFormula:
    where = (
        r"$s(g) = (2^{g} - 1) / 16$ is the probability that a document of grade $g$ satisfies the user (0 of "
        "unjudged documents and negative grades), with 4 as the highest grade",
    )
    latex = rf"\sum{_within(given)} \frac{{s(g_i)}}{{i}} \prod_{{j=1}}^{{i - 1}} (1 - s(g_j))"
    return LatexFormula(latex, where, ("chapelle2009expected",))


def _rbp(given: Mapping[str, Any]) -> LatexFormula:
    where = (f"$p = {number(given['p'])}$ is the probability that the user goes on to the next rank",)
    return LatexFormula(rf"(1 - p) \sum{_within(given)} r_i\, p^{{i - 1}}", where, ("moffat2008rank",))


# --- binary measures -------------------------------------------------------------------------------------


def _success(given: Mapping[str, Any]) -> LatexFormula:
    return LatexFormula(rf"\max{_largest(given)} r_i")


def _largest(given: Mapping[str, Any]) -> str:
    """Write the ranks that count, below a maximum."""
    return r"_{i \ge 1}" if given["cutoff"] is None else r"_{1 \le i \le k}"


def _rr(given: Mapping[str, Any]) -> LatexFormula:
    return LatexFormula(rf"\max{_largest(given)} \frac{{r_i}}{{i}}", cited=("kantor2000trec",))


def _precision(given: Mapping[str, Any]) -> LatexFormula:
    return LatexFormula(rf"\frac{{1}}{{k}} {_found(given)}", cited=("vanrijsbergen1979",))


def _recall(given: Mapping[str, Any]) -> LatexFormula:
    return LatexFormula(rf"\frac{{1}}{{R}} {_found(given)}", cited=("vanrijsbergen1979",))


def _f1(given: Mapping[str, Any]) -> LatexFormula:
    return LatexFormula(rf"\frac{{2 {_found(given)}}}{{k + R}}", cited=("vanrijsbergen1979",))


def _judged(given: Mapping[str, Any]) -> LatexFormula:
    where = ("$a_i$ is 1 if the document at rank $i$ has a label, and 0 otherwise",)
    return LatexFormula(rf"\frac{{1}}{{{_at_most('n', given)}}} \sum{_within(given)} a_i", where)


def _r_precision(given: Mapping[str, Any]) -> LatexFormula:  # noqa: ARG001 - its cutoff is that of the query
    return LatexFormula(r"\frac{1}{R} \sum_{i=1}^{R} r_i", cited=("buckley2005retrieval",))


def _interpolated(given: Mapping[str, Any]) -> LatexFormula:
    reached = rf"\lfloor {number(given['recall'])} R + 0.9 \rfloor"
    where = (r"$c_i = \sum_{j=1}^{i} r_j$ is the number of relevant documents down to rank $i$",)
    return LatexFormula(rf"\max_{{i \ge 1,\ c_i \ge {reached}}} P(i)", where)


def _set_precision(given: Mapping[str, Any]) -> LatexFormula:
    limit = r"\min(n, R)" if given["relative"] else "n"
    return LatexFormula(rf"\frac{{1}}{{{limit}}} {_found({})}")


def _set_f(given: Mapping[str, Any]) -> LatexFormula:
    where = (rf"$\beta = {number(given['beta'])}$ is the weight of recall, which is not squared",)
    return LatexFormula(rf"\frac{{(1 + \beta) {_found({})}}}{{\beta\, R + n}}", where)


def _constant(latex: str) -> Callable[[Mapping[str, Any]], LatexFormula]:
    return lambda _: LatexFormula(latex)


FORMULAS: dict[str, Callable[[Mapping[str, Any]], LatexFormula]] = {
    "GradedAP": _graded_ap,
    "Coverage": _success,
    "VariantNDCG": _variant_ndcg,
    "GAP": _gap,
    "QMeasure": _q_measure,
    "F1": _f1,
    "nDCG": _ndcg,
    "ERR": _err,
    "RBP": _rbp,
    "P": _precision,
    "R": _recall,
    "RR": _rr,
    "AP": _ap,
    "Success": _success,
    "Judged": _judged,
    "Rprec": _r_precision,
    "IPrec": _interpolated,
    "Bpref": _bpref,
    "infAP": _inferred_ap,
    "SetP": _set_precision,
    "SetR": _constant(r"\frac{1}{R} \sum_{i \ge 1} r_i"),
    "SetF": _set_f,
    "SetAP": _constant(r"\frac{(\sum_{i \ge 1} r_i)^2}{n R}"),
    "NumQ": _constant("1"),
    "NumRet": lambda given: LatexFormula("n" if given["rel"] is None else _found({})),
    "NumRel": _constant("R"),
}
"""Functions that write the formula of each measure, by its name, from the values of its parameters."""
