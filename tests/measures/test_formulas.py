"""The LaTeX formula of a measure gives the numbers of its kernel, and names its parameters."""

import random

import pytest
from drawn_measures import DRAWN, drawn_measure
from effort import effort
from latex_formulas import value_by_text

import permed_measures as pm
from permed_measures.engine.kernels import KERNELS
from permed_measures.measures.descriptions import ranking_conventions
from permed_measures.measures.specs import latex_formula
from permed_measures.results.methods import measure_methods

LABELS = (-1, 0, 0, 1, 1, 2, 3)


def drawn_query(draw):
    """Return labels, and documents in ranked order, of which some are judged."""
    labels = {f"d{i}": draw.choice(LABELS) for i in range(draw.randint(1, 8))}
    ranked = [*draw.sample(sorted(labels), draw.randint(0, len(labels))), *"xyz"[: draw.randint(0, 3)]]
    draw.shuffle(ranked)
    return labels, ranked


def test_each_measure_has_a_formula_and_is_drawn():
    assert list(KERNELS) == list(DRAWN)


@pytest.mark.parametrize("name", KERNELS)
def test_the_formula_gives_the_numbers_of_the_kernel(name):
    draw = random.Random(name)
    for _ in range(effort(8, 40)):
        measure, (labels, ranked) = drawn_measure(draw, name), drawn_query(draw)
        [paragraph] = measure_methods([measure]).paragraphs
        run = {"q": {document: float(-rank) for rank, document in enumerate(ranked)}, "z": {"a": 1.0}}
        said, metrics = paragraph.sentences, pm.iter_calc([measure], {"q": labels, "z": {"a": 1}}, run)
        found = value_by_text(said, ranking_conventions([measure], {}), str(measure), labels, ranked)
        [value] = [each.value for each in metrics if each.query_id == "q"]
        assert found == pytest.approx(value, abs=1e-9), (str(measure), labels, ranked, said)


def test_a_changed_formula_has_other_numbers():
    """The evaluator sees a wrong weight, denominator, discount, level or ideal list."""
    labels, ranked = {"a": 1, "b": 2, "c": 1, "d": 0}, ["a", "x", "b", "d"]
    for text, change in (
        ("GradedAP@4", ("g / 2", "g / 3")),
        ("GradedAP(norm=min)@2", (r"\min(R, k)", "R")),
        ("VariantNDCG@4", ("i + 1", "i + 2")),
        ("VariantNDCG(ideal=run)@4", ("all documents retrieved", "all judged documents")),
        ("AP@4", ("at least 1", "at least 2")),
        ("QMeasure@4", (r"\beta = 1", r"\beta = 2")),
        ("GAP@4", ("q(t) = 1 / 2", "q(t) = t / 3")),
    ):
        measure = pm.parse_measure(text)
        [paragraph] = measure_methods([measure]).paragraphs
        conventions = ranking_conventions([measure], {})
        right, wrong = (
            value_by_text(sentences, conventions, text, labels, ranked)
            for sentences in (paragraph.sentences, [each.replace(*change) for each in paragraph.sentences])
        )
        assert abs(right - wrong) > 1e-3, text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("GradedAP(max_rel=1)", "$w(g) = g$"),
        ("GradedAP(gains={1:0.1,2:1e-05})", r"0.1 & g = 1 \\ 1 \cdot 10^{-5} & g = 2"),
        ("GradedAP(norm=ideal)@7", r"$N = \sum_{i=1}^{\min(R, k)} w^*_i$"),
        ("GradedAP(norm=ideal)", r"$N = \sum_{i=1}^{R} w^*_i$"),
        ("VariantNDCG(discount=jk,gain=linear)@10", r"$D(i) = 1 / \log_2(\max(i, 2))$"),
        ("GAP(max_rel=5)", r"t \in \{1, \dots, 5\}"),
        ("QMeasure(beta=0.5)", r"$\beta = 0.5$"),
        ("IPrec@0.25", r"\lfloor 0.25 R + 0.9 \rfloor"),
    ],
)
def test_parts_are_written_by_the_parameters(text, written):
    formula = latex_formula(pm.parse_measure(text))
    assert written in " ".join([formula.latex, *formula.where])
