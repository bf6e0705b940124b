"""Options, settings and named conventions as data."""

import random
from dataclasses import fields, replace

import pytest
from audit_helpers import DEFAULT, HALF, plain_graded
from audit_loops import ALL_SETTINGS, RARE_SETTINGS, Plain, choices_for, rare_choices

import permed_measures as pm
from permed_measures.audits.choices import APChoice, Choice, NDCGChoice
from permed_measures.audits.conventions import COMMUNITY, NAMED, Convention, Setting
from permed_measures.audits.levels import FChoice, LevelChoice
from permed_measures.audits.options import (
    TEXTS,
    Denominator,
    Discount,
    Documents,
    FMean,
    Gain,
    Ideal,
    LabelPolicy,
    Negative,
    Option,
    PrecisionBase,
    QuerySet,
    RecallBase,
    Rounding,
    SelfMatch,
    TiedGains,
    Weights,
    describe,
    text_of,
    title,
)
from permed_measures.audits.tried import SETTINGS, choices_of
from permed_measures.engine.ranks import TieBreak
from permed_measures.papers.claims import FAMILIES

OPTIONS = {
    "ties": TieBreak,
    "queries": QuerySet,
    "labels": LabelPolicy,
    "self_match": SelfMatch,
    "denominator": Denominator,
    "weights": Weights,
    "gain": Gain,
    "discount": Discount,
    "ideal": Ideal,
    "negative": Negative,
    "base": RecallBase,
    "over": PrecisionBase,
    "f_mean": FMean,
    "tied": TiedGains,
    "documents": Documents,
    "rounding": Rounding,
}


@pytest.mark.parametrize("option", OPTIONS)
def test_every_value_of_an_option_says_what_it_means_and_who_uses_it(option):
    values = list(OPTIONS[option])
    assert len({describe(option, value) for value in values}) == len(values)
    for value in values:
        assert describe(option, value).strip()
        assert text_of(option, value, "used_by").strip()
    assert set(TEXTS[option]) - {"title", "evidence"} == {str(value.value) for value in values}


def test_every_option_is_tested():
    assert {*Option.__subclasses__(), TieBreak} == set(OPTIONS.values())


def test_every_option_has_a_title_and_the_data_that_tell_its_values_apart():
    for kind in (Setting, APChoice, NDCGChoice, LevelChoice, FChoice):
        for each in fields(kind):
            assert TEXTS[each.name]["title"].strip()
    assert len({title(option) for option in TEXTS}) == len(TEXTS)
    convention = Convention(DEFAULT, {"ap": HALF}, {})
    for option, kind in OPTIONS.items():
        for value in set(kind) - {
            DEFAULT.queries,
            *Rounding,
        }:  # rounding shows by the digits, not by the data
            assert all(convention.evidence_needed(option, value) or [""])
    for option in ("level", "ap_level"):
        assert all(convention.evidence_needed(option, 2.0) or [""])


@pytest.mark.parametrize(
    ("ours", "other", "text"),
    [
        (QuerySet.QRELS, QuerySet.BOTH, "judged queries that the run lacks"),
        (QuerySet.BOTH, QuerySet.BOTH_WITH_RELEVANT, "judged queries without relevant documents"),
        (QuerySet.BOTH, QuerySet.RUN, "queries of the run without judgments"),
        (QuerySet.WITH_RELEVANT, QuerySet.BOTH_WITH_RELEVANT, "judged queries that the run lacks"),
    ],
)
def test_what_tells_two_query_sets_apart(ours, other, text):
    for a, b in ((ours, other), (other, ours)):
        assert Convention(Setting(queries=a), {}, {}).evidence_needed("queries", b) == (text,)


@pytest.mark.parametrize("named", NAMED, ids=lambda named: named.name)
def test_every_named_convention_has_its_texts(named):
    assert named.name.strip()
    assert named.source.strip()
    assert [each.name for each in NAMED].count(named.name) == 1
    for family, choice in named.choices.items():
        assert isinstance(choice, Choice)
        assert choice.sentence({"P"}, pooled=False).strip()
        assert bool(choice.latex()) == (family != "level")


def test_the_known_conventions_have_names():
    names = " ".join(named.name for named in NAMED)
    for name in (
        "ir_measures",
        "trec_eval, pytrec_eval",
        "trec_eval -c",
        "gdeval",
        "ranx",
        "BEIR",
        "MTEB",
        "sentence-transformers",
        "PerMed standard",
        "hits found",
        "LitSearch",
        "tweet-search lab",
        "top-3 note",
        *("Spark MLlib", "Elasticsearch", "torchmetrics", "pytorch-ignite", "LightGBM", "XGBoost"),
        *("scikit-learn", "RecBole", "ml_metrics", "TREC Deep Learning", "DPR", "evaluate_ablation"),
        "rank_metrics.py",
        "ranking.py",
    ):
        assert name in names


def test_every_setting_is_tried():
    assert len(set(SETTINGS)) == len(SETTINGS)
    rankings = {replace(setting, queries=QuerySet.QRELS) for setting in [*ALL_SETTINGS, *RARE_SETTINGS]}
    named = {replace(each.setting, queries=QuerySet.QRELS, rounding=Rounding.EXACT) for each in NAMED}
    assert set(SETTINGS) == rankings | named


def test_sentence_and_latex_differ_between_choices():
    for measure, top in [("AP", 2), ("AP", 3), ("nDCG", 2)]:
        choices = choices_for(measure, plain_graded(top)) + rare_choices(measure, plain_graded(top))
        assert len({choice.sentence({measure}, pooled=False) for choice in choices}) == len(choices)
        assert len({choice.latex() for choice in choices}) == len(choices)
    levels = choices_for("R", plain_graded(3))
    assert len({choice.sentence({"R"}, pooled=False) for choice in levels}) == len(levels)


@pytest.mark.parametrize("levels", [(1.0,), (1.0, 2.0, 3.0), (1.0, 0.5)])
@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_with_each_choice_the_one_is_tried_that_has_an_option_back_at_its_default(family, levels):
    tried, default = choices_of(family, levels), COMMUNITY.choice(family)
    for choice in tried:
        for each in fields(choice):
            simpler = replace(choice, **{each.name: getattr(default, each.name)})
            assert simpler in tried, (choice, each.name)


@pytest.mark.parametrize("top", [1, 2])
def test_an_ideal_list_of_ones_is_named_and_explained(top):
    """A script that divides by the DCG of k ones: with binary labels its gain is as good as the default."""
    rng = random.Random(2)
    qrels = {f"q{i}": {f"d{j}": rng.randint(0, top) for j in range(8)} for i in range(30)}
    run = {query: {f"d{j}": rng.random() for j in range(12)} for query in qrels}
    choice = NDCGChoice(Gain.BINARY, ideal=Ideal.FULL)
    value = Plain(qrels, run).mean("nDCG", DEFAULT, choice, 5)
    result = pm.audit(qrels, run, {"nDCG@5": f"{value:.6f}"})
    assert result.ok
    assert "ideal list of k relevant documents, however many there are" in str(result)
    assert (result.best[0].simplified.choices["ndcg"].gain is Gain.LINEAR) == (top == 1)
