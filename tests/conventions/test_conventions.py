"""Options and named conventions: those of conventions.toml, those of a user's file, and new ones."""

import math
import random
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from audit_loops import convention_of
from cases import PARAMETERS, random_measure
from commands import run_cli
from effort import effort
from hypothesis import assume, given, reject, settings
from strategies import CASES, RANDOMS

import permed_measures as pm
from permed_measures.conventions import aggregate, describe, evaluate
from permed_measures.conventions.named import COMMUNITY, NAMED, conventions_with, read_conventions
from permed_measures.conventions.options import (
    CONVENTION_MEASURES,
    DEFAULT,
    OPTIONS_OF,
    SHARED,
    changes_of,
    default_of,
    measures_by_value,
    with_value,
)
from permed_measures.conventions.ranking_variants import RunVariants, label_policies
from permed_measures.conventions.records import OPTIONS, Value
from permed_measures.conventions.search_space import ConventionSpace, Measurement
from permed_measures.datasets import SAMPLES
from permed_measures.engine.judgments import Judgments

GUIDE = Path(__file__).parents[2] / "notebooks" / "guide" / "adding-conventions.md"
LOG3 = math.log2(3)
QRELS, RUN = pm.read_qrels(SAMPLES[0].qrels), pm.read_run(SAMPLES[0].runs["bm25"])


def test_every_option_and_every_named_convention_has_its_texts():
    assert len({each.title for each in OPTIONS.values()}) == len(OPTIONS)
    for option in OPTIONS.values():
        assert option.title.strip()
        assert {*option.measures} <= {*CONVENTION_MEASURES}
        assert len({each.description for each in option.values.values()}) == len(option.values)
        assert all(each.description.strip() and each.used_by.strip() for each in option.values.values())
    assert len({named.name for named in NAMED}) == len(NAMED)
    for named in NAMED:
        assert named.source.strip()
        changed = {
            each
            for options in named.convention.values()
            for each, value in options.items()
            if value != DEFAULT[each]
        }
        mine = {option for measure in named.measures for option in OPTIONS_OF[measure]} | {*SHARED}
        assert changed <= mine, named.name


@pytest.mark.filterwarnings("ignore::permed_measures.PermedWarning")
@pytest.mark.parametrize("name", sorted({*PARAMETERS} - {"Judged"}))
@settings(max_examples=effort(2, 10))
@given(rng=RANDOMS, case=CASES)
def test_what_does_not_see_unjudged_documents_needs_no_rule_for_ties_of_grade_0(name, rng, case):
    measure = str(random_measure(rng, name))
    qrels, run = case
    try:
        pm.calc_aggregate([measure], qrels, run)
    except pm.MeasureError:  # of labels that it does not take
        reject()
    assume(not evaluate.sees_unjudged(measure))
    policies = label_policies(Judgments.of(qrels))
    some, every = (
        Measurement("x", measure, (None,), RunVariants(policies, run, all_ties=each))
        for each in (False, True)
    )
    for ties in OPTIONS["ties"].values:
        convention = convention_of([some], {"ties": ties})
        assert some.value(convention) == pytest.approx(every.value(convention), abs=1e-12, nan_ok=True)


@pytest.mark.parametrize(("top", "capped", "half"), [(2, False, True), (3, True, True), (4, True, False)])
def test_weights_are_tried_up_to_the_grades_that_scripts_have_them_for(top, capped, half):
    labels = label_policies(Judgments.of({"q": {"a": top}}))[0]
    assert evaluate.is_worth_trying({"weights": "capped"}, labels) == capped
    assert evaluate.is_worth_trying({"weights": "half"}, labels) == half


@pytest.mark.parametrize(
    ("options", "grade", "possible"),
    [
        *(
            ({option: "exp"}, grade, grade == 1000)
            for option in ("gain", "weights")
            for grade in (1000, 1001)
        ),
        ({"gain": "linear"}, 1001, True),
        ({"gain": "exp"}, 0.5, True),  # there is no level
        ({"gain": "linear", "level": 1}, 0.5, False),
        ({"gain": "linear", "level": 1}, 1, True),
    ],
)
def test_what_is_tried_on_high_and_low_grades(options, grade, possible):
    assert evaluate.is_worth_trying(options, labelled(grade)) == possible


def test_what_a_run_cannot_tell_is_not_offered():
    judged = {"c1_1": {"a": 1, "b": 0}, "c1_2": {"a": 2}, "c2_1": {"a": 1}, "c2_2": {"b": 1}}
    ten = {doc: n + 1.0 for n, doc in enumerate("abcdefghij")}
    for grade, negative, run in [(0, False, ten), (-1, True, {**ten, "k": 0.5})]:
        policies = label_policies(Judgments.of(judged | {"c2_2": {"b": grade, "a": 1}}))
        variants = RunVariants(policies, {"c1_1": run})
        offered = {option: variants.applicable_values(option) for option in SHARED}
        assert ("labelled" in offered["documents"]) == negative
        assert ("first_10" in offered["depth"]) == (len(run) > 10)
        assert "first_20" not in offered["depth"]
        assert offered["averaged"] == ["queries", "conversations", "turns"]
        assert "all_runs" not in offered["queries"]
        assert offered["labels"] == ["grades", "pool", "strict", "listed"]


@pytest.mark.parametrize(
    ("options", "labels", "defined"),
    [
        ({"level": 2.0}, "grades", True),
        ({"level": 2.0}, "pool", False),
        ({"weights": "capped"}, "strict", False),
        ({"gain": "linear"}, "pool", True),
    ],
)
def test_where_all_that_are_relevant_are_alike_there_is_one_grade(options, labels, defined):
    assert evaluate.is_consistent(options, labels) is defined


@pytest.mark.parametrize(
    ("measure", "level", "text"),
    [
        ("P", 1.0, "P@5"),
        ("P", 2.0, "P(rel=2)@5"),
        ("P", 1.5, "P@5 relevant from grade 1.5 on"),
        ("Success", 1.5, "Coverage(rel=1.5)@5"),
    ],
)
def test_a_level_is_typed_where_the_measure_takes_it(measure, level, text):
    options = {each: DEFAULT[each] for each in OPTIONS_OF[measure]} | {"level": level}
    assert describe.measure_string(measure, 5, options, labelled(1, 1.5, 2)) == text


def test_several_measures_are_listed():
    assert describe.methods_phrase(["P@1", "P@5"], {}) == "P@1 and P@5"
    assert describe.methods_phrase(["P@1", "P@5", "P@9"], {}) == "P@1, P@5 and P@9"


@pytest.mark.parametrize(("cutoffs", "value"), [((1, 2), np.nan), ((2, 1), 0)])
def test_a_query_has_a_hit_for_f1_within_the_cutoff_of_precision(cutoffs, value):
    variants = RunVariants(label_policies(Judgments.of({"q": {"a": 1}})), {"q": {"x": 2.0, "a": 1.0}})
    trial = Measurement("F1", "F1", (cutoffs,), variants)
    found = trial.value(convention_of([trial], {"queries": "with_hit"}))
    assert found == pytest.approx(value, nan_ok=True)


def test_ties_of_one_query_are_none_of_another():
    """Both begin as many rows behind the first of all as they have before them."""
    qrels = {"q1": {"a": 1}, "q2": {"e": 1, "f": 1}}
    run = {"q1": {"a": 1.0, "x": 1.0}, "q2": {"c": 3.0, "d": 2.0, "e": 1.0, "f": 1.0}}
    trial = Measurement("P@1", "P", (1,), RunVariants(label_policies(Judgments.of(qrels)), run))
    values = [trial.value(convention_of([trial], {"ties": ties})) for ties in ("trec", "docid_ascending")]
    assert values == [0, 0.5]


def test_what_sees_unjudged_documents():
    assert all(map(evaluate.sees_unjudged, ("Judged@10", "P(rel=0)@10", "nDCG(gains={0: 1, 1: 2})@10")))
    assert not any(
        map(evaluate.sees_unjudged, ("AP", "Rprec", "Bpref", "P(rel=2)@10", "NumRet", "Coverage@5"))
    )


def test_records_name_values_of_their_option():
    for name, option in OPTIONS.items():
        for value, record in option.values.items():
            assert {record.any_run, record.pooled_as} <= {"", *option.values}, (name, value)
            assert {*record.measures} <= {*option.measures}
            assert record.any_run == "" or name in SHARED


def test_tools_that_people_use_have_a_name():
    default = {measure: default_of(measure) for measure in CONVENTION_MEASURES}
    assert (COMMUNITY.name, COMMUNITY.convention) == ("ir_measures", default)
    known = "\n".join(named.name for named in NAMED)
    for name in (
        *("trec_eval, pytrec_eval", "gdeval", "ranx", "BEIR", "MTEB", "sentence-transformers", "DPR"),
        *("PerMed standard", "LitSearch", "Spark MLlib", "Elasticsearch", "torchmetrics", "scikit-learn"),
        *("LightGBM", "XGBoost", "RecBole", "ml_metrics", "TREC Deep Learning", "rank_metrics.py"),
        *("MLflow", "LlamaIndex", "Haystack", "OpenSearch", "Quepid", "TruLens"),
    ):
        assert name in known


@pytest.mark.parametrize(
    ("name", "measure", "cutoff", "value"),
    [
        ("LitSearch repository", "nDCG", 2, (1 / (1 + 1 / 2 + 1 / 3) + 0 + 0 + 0) / 4),
        ("LitSearch repository", "nDCG", 1, (1 / (1 + 1 / 2 + 1 / 3) + 0 + 0 + 0) / 4),
        ("LitSearch repository", "R", 3, (2 / 3 + 0 + 0 + 0) / 4),
        ("Microsoft Recommenders, map", "AP", 2, 1 / 3),
        ("Microsoft Recommenders, map_at_k", "AP", 2, 1 / 2),
        ("Microsoft Recommenders, map_at_k", "nDCG", 2, (1 / (1 + 1 / LOG3) + 0 + 0) / 3),
        ("LlamaIndex", "RR", None, 1),
        ("Haystack", "AP", None, (1 + 2 / 3) / 2 / 2),
        ("Haystack 3.2", "AP", None, (1 + 2 / 3) / 3 / 3),
        ("Quepid", "nDCG", 2, 1 / (1 + 1 / LOG3 + 1 / 2) / 3),
        ("Quepid before 8.1", "nDCG", 2, 1 / (1 + 1 / LOG3) / 3),
        ("Evidently", "nDCG", 2, 1 / (1 + 1 / LOG3)),
        ("Evidently of October 2023", "nDCG", 2, 1),
        ("allRank", "nDCG", 2, (1 / (1 + 1 / LOG3) + 1) / 2),
        ("allRank", "RR", None, 1),
        ("ml_metrics", "AP", 2, (1 / 2 + 0 + 0) / 3),
        ("ml_metrics before August 2015", "AP", 2, (1 / 2 + 1 + 0) / 3),
        ("CLPR evaluate_ablation", "R", 3, (2 / 3 + 0) / 2),
        ("BEIR", "RR", None, 1 / 4),
        ("BEIR", "R", 3, (2 / 3 + 0 + 0) / 3),
        ("gdeval", "nDCG", 2, 1 / (1 + 1 / LOG3)),
        ("XGBoost", "AP", 1, (1 + 1 + 1) / 3),
        ("XGBoost", "P", 5, (2 / 3 + 0) / 2),
        ("XGBoost before 2.0", "AP", 1, (1 / 2 + 1 + 1) / 3),
        ("XGBoost before 2.0", "P", 5, (2 / 5 + 0 + 0) / 3),
        ("TruLens", "R", 3, (2 / 3 + 0) / 2),
        ("TruLens", "RR", None, (1 + 0) / 2),
        ("TruLens before October 2024", "R", 3, (2 / 2 + 0 + 0) / 3),
        ("LensKit", "AP", 2, 1 / 2),
        ("LensKit", "P", 2, (1 / 2 + 0) / 2),
        ("LensKit", "R", 2, (1 / 2 + 0) / 2),
        ("pyvespa, graded relevance", "nDCG", 2, (1 / (1 + 1 / LOG3) + 0 + 0 + 0) / 4),
    ],
)
def test_tools_compute_what_their_sources_say(name, measure, cutoff, value):
    """The queries: two of three found; nothing relevant; an empty list; no list."""
    qrels = {"found": {"a": 1, "b": 1, "c": 1}, "nothing": {"d": 0}, "empty": {"a": 1}, "lacking": {"a": 1}}
    run = {"found": {"a": 3.0, "x": 2.0, "b": 1.0}, "nothing": {"d": 2.0, "x": 1.0}, "empty": {}}
    [named] = [each for each in NAMED if each.name == name]
    quantity = Measurement("it", measure, (cutoff,), RunVariants(label_policies(Judgments.of(qrels)), run))
    assert quantity.value(named.with_cutoffs([quantity])) == pytest.approx(value)


@pytest.mark.parametrize(
    ("name", "measure", "scores", "value"),
    [
        ("gdeval", "nDCG", {"a": 1 + 1e-12, "x": 1.0}, 1),
        ("MTEB", "RR", {"a": 1 + 1e-12, "x": 1.0}, 1),
        ("MTEB", "P", {"a": 1 + 1e-12, "x": 1.0}, 0),
        ("MTEB before 2.18.19", "RR", {"x": 1.0, "a": 1.0}, 0),
        ("LightFM", "RR", {"a": 1.0, "x": 1.0}, 0),
        ("sentence-transformers, RerankingEvaluator", "RR", {"x": 1.0, "a": 1.0}, 1),
        ("sentence-transformers, CrossEncoderRerankingEvaluator", "RR", {"x": 1.0, "a": 1.0}, 1),
        ("torchmetrics", "nDCG", {"a": -1.0, "x": -2.0}, 1),
        ("torchmetrics", "Success", {"a": -1.0, "x": -2.0}, 1),
        ("torchmetrics", "RR", {"a": -1.0, "x": -2.0}, 0),
    ],
)
def test_tools_rank_as_their_sources_say(name, measure, scores, value):
    """The number is 1 if the relevant document of two is first: near scores, ties, scores below 0."""
    [named] = [each for each in NAMED if each.name == name]
    judged = RunVariants(label_policies(Judgments.of({"q": {"a": 1}})), {"q": scores})
    quantity = Measurement("it", measure, (1,), judged)
    assert quantity.value(named.with_cutoffs([quantity])) == value


TREC_EVAL = next(named for named in NAMED if named.name == "trec_eval, pytrec_eval")


def written(tmp_path, text):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    return path


BLOCK = '[[convention]]\nname = "lab"\nsource = "notes"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "mine.toml: there is no convention. Write [[convention]], with name"),
        ("x = [", "mine.toml: is not TOML ("),
        (BLOCK + "options = { discont = 'zipf' }", "(found 'discont'). Did you mean discount?"),
        (
            BLOCK + "options = { discount = 'zip' }",
            "option discount must be one of log2, jk, zipf (found 'zip')",
        ),
        (BLOCK + "options = { level = 'two' }", "option level must be a grade above 0 (found 'two')"),
        (BLOCK + "options = { level = 0 }", "option level must be a grade above 0 (found 0)"),
        (BLOCK + "options = { level = true }", "option level must be a grade above 0 (found True)"),
        (BLOCK + "options = 'exp'", "options must be a table such as { gain = 'exp' } (found 'exp')"),
        (
            BLOCK + "measures = ['NDCG']",
            "measures must be one of AP, nDCG, P, R, RR, Success, F1 (found 'NDCG')",
        ),
        (BLOCK + "measures = []", "measures must be a list (found [])"),
        (
            BLOCK + "ties = 'input'",
            "key must be one of name, source, measures, options, AP, nDCG, P, R, RR, Success, F1 "
            "(found 'ties')",
        ),
        (BLOCK + "[convention.RR]\nties = 'inputs'", "'lab', RR: option ties must be one of trec, trec10"),
        (BLOCK + "options = { queries = 'conversations' }", '. Write averaged = "conversations"'),
        (
            BLOCK + "[convention.RR]\ngain = 'exp'",
            "'lab', RR: option must be one of ties, queries, averaged, labels, self_match, documents, depth, "
            "rounding, pooling, level, ranks (found 'gain')",
        ),
        (BLOCK + "[convention.RR]\ntie = 'input'", "(found 'tie'). Did you mean ties?"),
        (
            BLOCK + "[convention.P]\naveraging = 'means'",
            "'lab', P: option averaging must be one of macro, micro (found 'means')",
        ),
        (BLOCK + "RR = 'input'", "'lab', RR: RR must be a table such as { ties = 'input' } (found 'input')"),
        (
            BLOCK + "measures = ['AP', 'P']\nRR = { ties = 'input' }",
            "'lab': measures must be one of AP, P (found 'RR')",
        ),
        ("[[convention]]\nname = 'lab'", "convention 'lab': source must be a text (found None)"),
        ("[[convention]]\nsource = 'lab'", "convention 1: name must be a text (found None)"),
        (BLOCK + BLOCK, "convention 'lab': two conventions have this name"),
        (BLOCK + f"options = {{ level = 1{'0' * 400} }}", "option level must be a grade above 0 (found 10"),
        (BLOCK + f"options = {{ level = {'1' * 5000} }}", "mine.toml: is not TOML (Exceeds the limit"),
        (BLOCK + "nDCG = { gain = { 1 = 'a' } }", "must have a number for each grade (found '1': 'a')"),
        (BLOCK + "AP = { weights = { one = 1 } }", "weights as a table must have a number for each grade"),
        (BLOCK + "nDCG = { gain = { 1 = inf } }", "must have a number for each grade (found '1': inf)"),
        (BLOCK + "nDCG = { gain = { 1.5 = 1 } }", "(found '1': {'5': 1}). Write { 1 = 1, \"1.5\" = 10 }"),
        (
            BLOCK + "nDCG = { gain = { 1 = 1, '1.0' = 2 } }",
            "option gain has two numbers for one grade (found {'1': 1, '1.0': 2})",
        ),
        (
            BLOCK + "nDCG = { gain = { '\u00b2' = 1 } }",
            "a number for each grade (found '\u00b2': 1)",
        ),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_convention_and_key(tmp_path, text, message):
    path = written(tmp_path, text)
    with pytest.raises(pm.InputError, match=re.escape(message)) as caught:
        read_conventions(path)
    assert str(caught.value).startswith(str(path))


def test_ones_own_conventions_stand_before_those_of_the_package_and_replace_them(tmp_path):
    path = written(tmp_path, BLOCK.replace("lab", "gdeval") + "options = { level = 2 }")
    found = conventions_with(path)
    assert [named.name for named in found[:2]] == ["ir_measures", "gdeval"]
    assert [named.name for named in found].count("gdeval") == 1
    assert found[1].convention["AP"]["level"] == found[1].convention["RR"]["level"] == 2.0
    assert conventions_with(None) is NAMED
    found = conventions_with(written(tmp_path, BLOCK.replace("lab", "ir_measures") + "RR = { level = 2 }"))
    assert [named.name for named in found] == [named.name for named in NAMED]
    assert (found[0].convention["RR"]["level"], found[0].convention["AP"]["level"]) == (2, 1)
    with pytest.raises(pm.InputError, match=r"none\.toml: cannot be read"):
        conventions_with(tmp_path / "none.toml")


def test_one_measure_may_have_an_option_for_itself(tmp_path):
    """RR alone has another tie rule; the gain belongs to nDCG anyway."""
    block = (
        BLOCK + "options = { queries = 'both' }\nnDCG = { gain = 'exp' }\n\n[convention.RR]\nties = 'input'\n"
    )
    [lab] = read_conventions(written(tmp_path, block))
    default = {measure: default_of(measure) for measure in CONVENTION_MEASURES}
    assert changes_of(lab.convention, default) == [
        "tie rule of RR: ties by a stable sort (input order) (not: ties by document id descending)",
        "query set: the intersection of qrels and run (not: all queries of the qrels)",
        "gain of nDCG: gain 2^g - 1 (not: gain g)",
    ]
    assert lab.of("GradedAP@10") == {**{each: DEFAULT[each] for each in SHARED}, "queries": "both"}
    qrels, run = {"q": {"b": 1, "d": 1}}, {"q": {"a": 1.0, "b": 1.0, "c": 1.0, "d": 0.5}}
    policies = label_policies(Judgments.of(qrels))
    trials = [Measurement(m, m, (4,), RunVariants(policies, run)) for m in ("RR", "AP")]
    space = ConventionSpace(trials, [lab])
    assert [trial.value(space.bases[0][1]) for trial in trials] == [1 / 2, 1 / 2]
    plain = with_value(space.bases[0][1], "ties", "docid_ascending")
    assert [trial.value(with_value(plain, "ties", "input")) for trial in trials] == [1 / 2, 1 / 2]
    assert [trial.value(with_value(plain, "ties", "optimistic", ["RR"])) for trial in trials] == [1, 1 / 2]
    assert changes_of(with_value(plain, "ties", "input", ["RR"]), plain) == [
        "tie rule of RR: ties by a stable sort (input order) (not: ties by document id ascending)"
    ]


def test_a_space_changes_the_option_of_one_measure_as_one_change():
    """Only named options change so, and only if several measures have the option."""
    qrels, run = everything_differs()
    variants = RunVariants(label_policies(Judgments.of(qrels)), run)
    trials = [Measurement(m, m, (10,), variants) for m in ("AP", "RR", "nDCG")]
    space = ConventionSpace(trials, [COMMUNITY, TREC_EVAL], per_measure=["queries", "level", "gain", "tied"])
    near = np.concatenate([near.codes for near in space.neighbours(1)])
    changed = [space.convention(each) for each in near]
    default = COMMUNITY.with_cutoffs(trials)
    apart = {
        (option, *measures)
        for each in changed
        for option in default["AP"] | default["RR"] | default["nDCG"]
        if len(values := measures_by_value(each, option)) > 1
        for value, measures in values.items()
        if value != TREC_EVAL.with_cutoffs(trials)[measures[0]][option]
        or value != default[measures[0]][option]
    }
    assert {each for each in apart if len(each) == 2} >= {
        *(("queries", "AP"), ("queries", "RR"), ("queries", "nDCG"), ("level", "AP"), ("level", "RR")),
        *(("tied", "AP"), ("tied", "nDCG")),
    }
    assert {option for option, *_ in apart} == {"queries", "level", "tied"}
    assert with_value(default, "queries", "with_relevant", ["RR"]) in changed
    assert with_value(default, "queries", "with_relevant") in changed
    for n_changes in range(3):
        for neighbours in space.neighbours(n_changes):
            for codes, base in [*zip(neighbours.codes, neighbours.base, strict=True)][::97]:
                changes = changes_of(space.convention(codes), space.bases[base][1])
                assert n_changes - 1 <= len(changes) <= n_changes, changes
    for trial in trials:
        values = [trial.value(each) for each in changed]
        np.testing.assert_array_equal(space.compute(trial, near), values)


@pytest.mark.parametrize("missing", [{"labels": "strict"}, {"averaged": "conversations"}], ids=str)
def test_labels_and_groups_that_there_are_not_have_no_value(missing):
    trial = Measurement("P@1", "P", (1,), RunVariants(label_policies(Judgments.of({"q": {"a": 1}})), {}))
    assert trial.value(convention_of([trial])) == 0
    assert np.isnan(trial.value(convention_of([trial], missing)))


@pytest.mark.parametrize("judged", [[], ["c1_1", "c1_2", "c2_1", "x"], ["c1_1", "c2_1"], ["c1_1", "c1_2"]])
def test_there_are_groups_where_all_ids_tell_them_and_they_differ(judged):
    assert aggregate.groups_of(judged) == []


def test_conversations_are_averaged_over_any_queries():
    """Only the turns of a conversation that the run has count; a conversation without any does not count."""
    qrels = {f"c{i}_{j}": {"a": 1} for i in range(3) for j in (1, 2)}
    run = {"c0_1": {"a": 1.0}, "c0_2": {"b": 1.0}, "c1_1": {"a": 1.0}, "x": {"a": 1.0}}
    trial = Measurement("P@1", "P", (1,), RunVariants(label_policies(Judgments.of(qrels)), run))
    assert trial.value(convention_of([trial])) == pytest.approx(2 / 6)
    for queries, averaged, value in [
        ("qrels", "conversations", (1 / 2 + 1 / 2 + 0) / 3),
        ("both", "conversations", (1 / 2 + 1) / 2),
        ("run", "conversations", (1 / 2 + 1 + 0) / 3),
        ("both", "turns", (1 + 0) / 2),
        ("qrels", "turns", (2 / 3 + 0) / 2),
    ]:
        found = trial.value(convention_of([trial], {"queries": queries, "averaged": averaged}))
        assert found == pytest.approx(value), (queries, averaged)


def everything_differs():
    """Make qrels and a run on which the values of all options give different numbers."""
    rng = random.Random(3)
    qrels, run = {}, {}
    for i in range(14):
        query = f"c{i // 3}_{i % 3 + 1}"
        documents = [query, *(f"d{j}" for j in range(24))]
        qrels[query] = {doc: rng.choice([-1, 0, 1, 2, 3]) for doc in rng.sample(documents, 16)}
        if i == 4:
            qrels[query] = dict.fromkeys(qrels[query], 0)
        if i != 7:
            run[query] = {doc: rng.randrange(-2, 6) / 2 for doc in rng.sample(documents, 18 if i else 4)}
            run[query][query] = 3.0
    return qrels, {**run, "c9_1": {"d1": 1.0}}


TOGETHER = [
    [("ties", "docid_ascending"), ("queries", "with_list"), ("precision", "returned")],
    [("averaged", "conversations"), ("documents", "positive"), ("recall", "min")],
    [("labels", "pool"), ("success", "num_rel")],
    [("rounding", "query_values"), ("ranks", "found")],
    [
        ("self_match", "removed"),
        ("depth", "first_10"),
        ("weights", "exp"),
        ("denominator", "returned"),
        ("per_hit", "reciprocal_rank"),
    ],
    [("tied", "one_step")],
    [("gain", "exp"), ("discount", "zipf"), ("negative", "keep")],
    [("ideal", "run"), ("tied", "averaged")],
    [("pooling", "micro")],
    [("averaging", "micro")],
    [("f1", "means")],
]
"""Options, each with a value that changes a number on `everything_differs`.

In a group, the options that not all measures have are of one measure: `identify` is asked for that one.
"""
ALIASES = [alias for group in TOGETHER for alias in group]


@pytest.fixture(params=ALIASES, ids="-".join)
def new_value(request, monkeypatch):
    """Add a value to an option by its record alone."""
    add_new_value(*request.param, monkeypatch)
    return request.param


def add_new_value(option, alias, monkeypatch):
    known = OPTIONS[option].values
    texts = {"description": "a new way", "used_by": "our lab", "phrase": "in a new way"}
    monkeypatch.setitem(known, "new", replace(known[alias], **texts))


def test_every_option_gets_a_new_value_in_these_tests():
    assert {option for option, _ in ALIASES} == {*OPTIONS} - {"level"}  # whose values are grades


def asked_of(option, alias):
    """Return a measure that has an option, a cutoff that shows its values, and the name with the cutoff."""
    measure = next(iter(OPTIONS[option].values[alias].measures or OPTIONS[option].measures or ["AP"]))
    cutoff = {"F1": (6, 6), "AP": None}.get(measure, 6)
    return measure, cutoff, measure if cutoff is None else f"{measure}@6"


def test_a_new_value_of_any_option_is_computed_audited_and_said(new_value, tmp_path):
    """No measure of the package is named in its place."""
    option, alias = new_value
    measure, cutoff, name = asked_of(option, alias)
    qrels, run = everything_differs()
    policies = [*label_policies(Judgments.of(qrels))]
    trial = Measurement(name, measure, (cutoff,), RunVariants(policies, run))
    ideal = {"ideal": "cutoff"} if option == "pooling" else {}
    at = convention_of([trial], ideal)
    value = trial.value(with_value(at, option, "new"))
    assert trial.value(at) != value == trial.value(with_value(at, option, alias)) > 0
    block = "\n".join(f"{each} = '{new}'" for each, new in {**ideal, option: "new"}.items())
    path = written(tmp_path, f"{BLOCK}measures = ['{measure}']\n[convention.options]\n{block}")
    result = pm.audit(qrels, run, {name: f"{value:.10f}"}, conventions=path)
    assert result.answers[0].name == "lab"
    assert "a new way" in " ".join(str(result).split())
    assert "new" in result.answers[0].sentence()
    assert "a new way" in result.to("html")
    typed = trial.measure_string(with_value(at, option, "new"))
    if option not in SHARED and " " not in typed:
        [mean] = pm.calc_aggregate([typed], qrels, run).values()
        assert mean == pytest.approx(value, abs=1e-12), typed


@pytest.mark.thorough
@pytest.mark.parametrize("group", TOGETHER, ids=lambda group: "-".join(dict(group)))
def test_a_new_value_of_any_option_is_tried_by_identify(group, monkeypatch):
    """A function that computes it is named by it, and by the value that it copies."""
    monkeypatch.setattr("permed_measures.identification.cases.N_FRESH", 50)  # on which the answer is checked
    for option, alias in group:
        add_new_value(option, alias, monkeypatch)
    [(measure, cutoff, name)] = {asked_of(*each) for each in group if each[0] not in SHARED}
    chosen = dict.fromkeys(dict(group), "new") | (
        {"ideal": "cutoff"} if ("pooling", "micro") in group else {}
    )

    def function(qrels, run):
        policies = label_policies(Judgments.of(qrels), complete=True)
        quantity = Measurement(name, measure, (cutoff,), RunVariants(policies, run, complete=True))
        return quantity.value(convention_of([quantity], chosen))

    result = pm.identify(function, name, form="dicts")
    assert result.ok
    for option, _ in group:
        assert any(answer.options[option] == "new" for answer in result.answers), str(result)


@pytest.mark.parametrize("new_value", [each for each in ALIASES if each[0] != "f1"], indirect=True)
def test_possible_counts_a_new_value_of_any_option(new_value, tmp_path):
    """A value without a formula is left out, with a note; one with a known formula gets bounds."""
    option, alias = new_value
    measure, _, name = asked_of(option, alias)
    path = written(tmp_path, f"{BLOCK}measures = ['{measure}']\noptions = {{ {option} = 'new' }}")
    name = "P@6" if measure == "F1" else name  # which has no bounds
    result = pm.possible({"q1": {"a": 2, "b": 1}, "q2": {"c": 1}}, {name: "0.4"}, conventions=path)
    [row] = result.rows
    tried = [each for limits in row.conventions for each in (limits.convention, *limits.alike)]
    names = [name for limits in row.conventions for name in limits.names]
    values = [options.get(option) for each in tried for options in each.values()]
    assert "new" in values or "a new way" in row.not_known or "lab" in names


def labelled(*grades):
    [labels, *_] = label_policies(Judgments.of({"q": {f"d{n}": grade for n, grade in enumerate(grades)}}))
    return labels


@pytest.mark.parametrize(("n", "tried"), [(19, 19), (20, 20), (21, 20)])
def test_twenty_relevance_levels_are_tried_1_first(n, tried):
    levels = labelled(0, *(1 + i / 4 for i in range(n))).levels
    assert (levels[0], len(levels)) == (1, tried)


def test_gains_may_be_a_table(tmp_path):
    """A user's file has gains of nDCG and weights of AP; qrels with other grades cannot be computed."""
    block = "options = { gain = { 1 = 1, 2 = 10 }, weights = { 1 = 0.25, 2 = 1 } }"
    path = written(tmp_path, BLOCK + block)
    [lab] = read_conventions(path)
    gain = lab.convention["nDCG"]["gain"]
    assert (gain, gain.gains) == ("1: 1, 2: 10", {1.0: 1.0, 2.0: 10.0})
    qrels, run = {"q": {"a": 1, "b": 2, "c": 2}}, {"q": {"a": 3.0, "x": 2.0, "b": 1.0}}
    ndcg = (1 + 10 / 2) / (10 + 10 / np.log2(3) + 1 / 2)
    ap = (1 / 1 * 0.25 + 2 / 3 * 1) / 3
    result = pm.audit(qrels, run, {"nDCG@10": f"{ndcg:.6f}", "MAP@10": f"{ap:.6f}"}, conventions=path)
    assert result.answers[0].name == "lab"
    sentence = result.answers[0].sentence()
    assert "AP@10 with weights of the grades 1: 0.25, 2: 1, divided by R" in sentence
    assert "nDCG@10 with gains of the grades 1: 1, 2: 10, log2 discount" in sentence
    typed = [trial.measure_string(result.answers[0].convention) for trial in result.trials]
    assert typed == ["nDCG(gains={2:10})@10", "GradedAP(gains={1:0.25,2:1})@10"]
    higher = pm.audit({"q": {"a": 3}}, run, {"nDCG@10": "1.0"}, conventions=path)
    assert [each.name for each in higher.answers].count("lab") == 0


def test_tables_of_gains_that_differ_in_any_digit_are_two(tmp_path):
    third, table = 0.333333333, "weights = { 1 = %s, '1.5' = 10.05, 2 = 1e6 }"
    block = "\n".join(BLOCK.replace("lab", f"lab {n}") + f"AP = {{ {table % n} }}" for n in (1 / 3, third))
    labs = read_conventions(written(tmp_path, f"\ufeff{block}"))  # as some editors on Windows begin a file
    assert [lab.convention["AP"]["weights"] for lab in labs] == [
        f"1: {n}, 1.5: 10.05, 2: 1000000" for n in (1 / 3, third)
    ]
    trial = Measurement("AP", "AP", (None,), RunVariants(label_policies(Judgments.of({"q": {"a": 1}})), {}))
    space = ConventionSpace([trial], [COMMUNITY, *labs])
    assert {lab.convention["AP"]["weights"] for lab in labs} <= {*space.coded_values("weights")}


@pytest.mark.thorough
def test_the_guide_to_adding_a_convention_does_what_it_says(tmp_path):
    """The audit names the convention of the file."""
    text = GUIDE.read_text(encoding="utf-8")
    block, second = re.findall(r"```toml\n( *\[\[convention\]\].*?)```", text, re.DOTALL)
    [other] = read_conventions(written(tmp_path, second))
    options = other.convention["RR"]
    assert (options["queries"], options["averaged"]) == ("both", "conversations")
    assert other.convention["AP"]["queries"] != "both"
    path = written(tmp_path, block)
    value = pm.calc_aggregate([pm.VariantNDCG(discount="zipf") @ 10], QRELS, RUN).popitem()[1]
    command = re.search(r"```sh\npermed-measures (audit .*)\n```", text)[1].replace("mine.toml", str(path))
    assert f"nDCG@10={value:.4f}" in command
    stdout, _ = run_cli(*command.split())
    assert "our lab (eval.py, as of 2021), or another with the same numbers on these data" in " ".join(
        stdout.split()
    )
    claims = {"nDCG@10": f"{value:.4f}"}
    assert pm.audit(QRELS, RUN, claims).answers[0].changes
    assert pm.audit(QRELS, RUN, claims, conventions=path).answers[0].name == "our lab"
    row = {"nDCG@10": f"{value:.4f}", "MAP@10": "0.4665"}
    for file, n in ((None, 0), (path, 1)):
        [limits] = pm.possible(QRELS, row, conventions=file).rows
        tried = [each for limit in limits.conventions for each in (limit.convention, *limit.alike)]
        found = [(each["nDCG"]["discount"], each["AP"]["denominator"]) for each in tried]
        assert found.count(("zipf", "min")) == n


def test_a_new_value_is_one_record(monkeypatch):
    """The record of the guide is tried near every named convention."""
    record = re.search(r"```text\n(\"root\".*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)[1]
    [(name, new)] = eval(f"{{{record}}}", {"Value": Value}).items()
    monkeypatch.setitem(OPTIONS["discount"].values, name, new)
    found = []
    for query, grades in QRELS.items():
        ranked = sorted(RUN.get(query, {}), key=lambda doc: (np.float32(RUN[query][doc]), doc), reverse=True)
        gains = [max(grades.get(doc, 0), 0) for doc in ranked[:10]]
        best = sorted((max(grade, 0) for grade in grades.values()), reverse=True)[:10]
        dcg, ideal = (sum(g * i**-0.5 for i, g in enumerate(each, 1)) for each in (gains, best))
        found.append(dcg / ideal if ideal else 0)
    trial = Measurement("nDCG@10", "nDCG", (10,), RunVariants(label_policies(Judgments.of(QRELS)), RUN))
    space = ConventionSpace([trial], [COMMUNITY])
    tried = [space.convention(each) for near in space.neighbours(1) for each in near.codes]
    [at] = [convention for convention in tried if convention["nDCG"]["discount"] == "root"]
    assert trial.value(at) == pytest.approx(sum(found) / len(found), abs=1e-12)
    assert trial.measure_string(at) == "nDCG@10 with linear gains, discount 1/sqrt(i), ideal from the qrels"


def test_a_micro_average_of_nothing_is_0_and_of_groups_there_is_none():
    ones = np.ones(2)
    for pooled, expected in ((True, [0.0, 0.5]), (False, [np.nan, np.nan])):
        sets = aggregate.QuerySets(np.eye(2), ones, np.zeros((2, 2)), np.full(2, pooled))
        assert sets.ratios(np.array([0.0, 1.0]), np.array([0, 2])).tolist() == pytest.approx(
            expected, nan_ok=True
        )


def test_the_gain_of_the_first_document_is_another_one_on_binary_labels_too():
    """The other gains are equal on binary labels; this one must not be left out with them."""
    qrels = {f"q{i}": {"a": 1, "b": 1} for i in range(7)}
    lists = [["x", "a", "b"][i % 2 :] + ["y"] * (i % 3 > 0) for i in range(7)]
    run = {f"q{i}": {doc: float(-rank) for rank, doc in enumerate(docs)} for i, docs in enumerate(lists)}
    value = sum(1 / math.log2(2 + docs.index("a")) for docs in lists) / 7
    result = pm.audit(qrels, run, {"nDCG@10": f"{value:.6f}"})
    assert result.ok
    assert "gain 1 for the first relevant document only" in result.answers[0].sentence()
