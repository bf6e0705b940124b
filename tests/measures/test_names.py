"""Names of measures: exact ones, what people write, ambiguous ones, and names of the user's own."""

import ast
import math
import re
from pathlib import Path

import ir_measures
import pytest

import permed_measures as pm
from permed_measures.engine.kernels import KERNELS
from permed_measures.measures.aliases import NOT_COMPUTED, ambiguities, resolve_alias
from permed_measures.measures.definitions import PRESETS
from permed_measures.measures.parameters import values_of
from permed_measures.measures.parsing import measures_of, parse_measure_args

QRELS = {"q": {"a": 2, "b": 1, "c": 0}}
RUN = {"q": {"b": 3.0, "a": 2.0, "c": 1.0}}


@pytest.mark.parametrize(
    ("name", "measure"),
    [
        ("map_cut.10", "AP@10"),
        ("ndcg 10", "nDCG@10"),
        ("nDCG-exp @ 10", "nDCG(dcg='exp-log2')@10"),
        ("ndcg(dcg=exp-log2)@10", "nDCG(dcg='exp-log2')@10"),
        ("recall_100", "R@100"),
        ("P(judged_only=true)@5", "P(judged_only=True)@5"),
        ("P(judged_only=false)@5", "P@5"),
        ("gradedap(norm=min)@10", "GradedAP(norm='min')@10"),
        ("graded_map@10", "GradedAP@10"),
        ("cosine_accuracy@1", "Success@1"),
        ("R-Precision", "Rprec"),
        ("set_P", "SetP"),
        ("num_rel_ret", "NumRet(rel=1)"),
        ("iprec_at_recall_0.10", "IPrec@0.1"),
        ("NDCG@1k", "nDCG@1000"),
        ("MRR@10 (dev)", "RR@10"),
        ("准确率@10", "P@10"),
        ("覆盖率@10", "Coverage@10"),
        ("MSnDCG@10", "nDCG(dcg='exp-log2')@10"),
        ("f1_10", "F1@10"),
        ("F1 score@5", "F1@5"),
        ("f-measure@3", "F1@3"),
        ("F1值@10", "F1@10"),
        ("R-P", "Rprec"),
        ("P@R", "Rprec"),
        ("S@5", "Success@5"),
        ("Succ@10", "Success@10"),
        ("Pre@5", "P@5"),
        ("F@1", "F1@1"),
        ("f1@10", "F1@10"),
        ("f1(rel=2)@5", "F1(rel=2)@5"),
        ("R@1,000", "R@1000"),
        ("J@10", "Judged@10"),
        ("nDCG_{10}", "nDCG@10"),
        ("Avg. nDCG@10", "nDCG@10"),
        ("Mean RR@10", "RR@10"),
        ("Avg. Precision", "AP"),
        ("Mean Average Precision@10", "AP@10"),
    ],
)
def test_what_people_write_is_understood(name, measure):
    assert str(pm.parse_measure(name)) == measure
    assert pm.parse_measure(f" {name} ") == pm.parse_measure(measure)


def test_the_names_in_the_guide_are_understood_as_it_says():
    guide = (Path(__file__).parents[2] / "notebooks" / "guide" / "measures.md").read_text(encoding="utf-8")
    rows = guide.partition("| you write | you get |")[2].partition("\n\n")[0].splitlines()[2:]
    for row in rows:
        written, measures = (re.findall("`([^`]+)`", cell) for cell in row.split("|")[1:3])
        assert [str(pm.parse_measure(name)) for name in written] == measures * (len(written) // len(measures))
    assert len(rows) == 6


def test_the_guide_has_the_parameters_of_every_measure_and_their_defaults():
    guide = (Path(__file__).parents[2] / "notebooks" / "guide" / "measures.md").read_text(encoding="utf-8")
    rows = guide.partition("| measure | value for a query")[2].partition("\n\n")[0].splitlines()[2:]
    said, usual = {}, {"rel": 1, "judged_only": False}
    for row in rows:
        first, *_, last = row.strip("|").split("|")
        given = {k: ast.literal_eval(value or "None") for k, value in re.findall(PARAMETER, last)}
        names = re.findall("`([A-Za-z0-9]+)(?:@[a-z]+)?`", first.partition("(alias")[0])
        said |= dict.fromkeys(names, given)
    assert {*said} == {*KERNELS}
    below = guide.partition("Without a parameter named above: ")[2]
    without, needed = re.match(r"([^.]+)\. The cutoff is optional\s+except for ([^.]+)\.", below).groups()
    for name, given in said.items():
        known = {k: v for k, v in values_of(pm.parse_measure(name)).items() if k not in ("cutoff", "recall")}
        assert known == (given or ({} if f"`{name}`" in without else usual)), name
        needs = {k for k, param in pm.parse_measure(name).SUPPORTED_PARAMS.items() if param.required}
        assert ("cutoff" in needs) == (f"`{name}`" in needed), name


PARAMETER = r"`([a-z_]+)(?:=([^`]+))?`"


@pytest.mark.parametrize("name", sorted(ir_measures.measures.registry))
def test_exact_names_come_first(name):
    assert pm.parse_measure(name) == ir_measures.measures.registry[name]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("covrage", "there is no measure 'covrage'. Did you mean 'Coverage'? `permed-measures measures` "),
        ("hti@10", "there is no measure 'hti'. Did you mean 'Success'? `permed-measures measures` lists all"),
        ("MPA@10", "there is no measure 'MPA'. Did you mean 'MAP'? `permed-measures measures` lists all"),
        ("gmap", "there is no measure 'gmap'. The geometric mean of AP is not computed; `permed-measures "),
        (
            "R10@1",
            "there is no measure 'R10'. Recall among 10 candidates is R@k on lists that have these alone",
        ),
        ("NDCG@10%", "Write NDCG@10 (%) for values in percent; a share of the list cannot be a cutoff"),
        (
            "Hole@10",
            "there is no measure 'Hole'. Hole, the share of documents that are judged for no query, is ",
        ),
        ("AvgRec", "there is no measure 'AvgRec'. Average recall, over ranks, is not computed"),
        ("Avg. Recall@10", "Average recall, over ranks, is not computed"),
        (
            "DCG@10",
            "there is no measure 'DCG'. DCG is not computed by itself; identify and audit tell an nDCG",
        ),
        ("AUC", "The area under the ROC curve is not computed"),
        ("average", "there is no measure 'average'. Each measure is averaged over the queries: name the "),
        ("Avg@10", "Each measure is averaged over the queries: name the measure"),
        ("mean", "Each measure is averaged over the queries: name the measure"),
        ("scores", "Each measure is averaged over the queries: name the measure"),
        ("all_trec", "Name the measures that you need, such as AP, nDCG and P@10"),
        (
            "ndcg.1=3.5,2=9",
            "gains are a parameter (found 'ndcg.1=3.5,2=9', as trec_eval has it). "
            "Write nDCG(gains={1:3.5,2:9})",
        ),
        ("relative_P", "there is no measure 'relative_P'. `permed-measures measures` lists all"),
        ("ndcg_cut_10@5", "there is no measure 'ndcg_cut_10'. "),
        ("p_0", "a cutoff must be at least 1 (found 'p_0')"),
        ("map_99999999999", "a cutoff has at most 9 digits (found 11)"),
        ("GradedAP(norm=a b)@10", "a measure is written Name(parameter=value,...)@cutoff"),
    ],
)
def test_a_name_that_is_unknown_is_an_error_without_a_wrong_hint(name, message, capsys):
    with pytest.raises(pm.MeasureError) as error:
        pm.parse_measure(name)
    assert str(error.value).startswith(message) or message in str(error.value)
    assert capsys.readouterr().out == ""


def test_averages_of_measures_are_these_measures():
    """The words that are refused alone say nothing beside a measure."""
    known = [resolve_alias(name) for name in ("mean reciprocal rank", "avg. precision", "mean_ndcg@10")]
    assert known == [("RR", None), ("AP", None), ("nDCG", 10)]


def test_gains_as_trec_eval_has_them_lead_to_ours_and_to_its_number():
    """The ideal list gains 1, 0.1 and 0.01 at ranks 1, 2, 3, the run the same at ranks 4, 3 and 1."""
    qrels = {"q": {"d1": 4, "d2": 3, "d3": 2, "d6": 1}}
    run = {"q": {"d3": 9.0, "d9": 8.0, "d2": 7.0, "d1": 6.0, "d6": 5.0}}
    with pytest.raises(pm.MeasureError) as error:
        parse_measure_args("ndcg.1=0,2=0.01,3=0.1,4=1")
    advice = str(error.value).rpartition("Write ")[2]
    [value] = pm.calc_aggregate(advice, qrels, run).values()
    ideal = sum(gain / math.log2(rank + 1) for rank, gain in enumerate([1, 0.1, 0.01], 1))
    assert value == pytest.approx(sum(g / math.log2(i + 1) for i, g in ((1, 0.01), (3, 0.1), (4, 1))) / ideal)
    assert str(parse_measure_args("ndcg.1=nDCG@10")[0]) == "nDCG@10"  # a name of the user's own


def test_only_measures_that_are_computed_are_suggested():
    names = {str(measure.NAME) for measure in ir_measures.measures.registry.values()}
    assert names - {*KERNELS} == NOT_COMPUTED


# --- ambiguous names -------------------------------------------------------------------------------


def notes(*texts):
    asked = [(text, pm.parse_measure(text)) for text in texts]
    return ambiguities(asked, [measure for _, measure in asked])


def test_an_ambiguous_name_says_what_was_taken_and_what_else_it_may_mean():
    assert notes("MAP@10", "p@5", "ndcg") == [
        "MAP@10 is taken as AP@10, trec_eval's, where any grade from 1 is relevant; it may also mean "
        "GradedAP@10 or AP(rel=2)@10",
        "ndcg is taken as nDCG, trec_eval's, where the gain is the grade; it may also mean "
        "nDCG(dcg='exp-log2')",
    ]
    [note] = notes("AP", "map", "MAP")
    assert note.startswith("map is taken as AP, ")
    [note] = notes("nDCG@5")
    assert note.startswith("nDCG@5 is trec_eval's, where the gain is the grade; it may also mean nDCG(dcg=")


@pytest.mark.parametrize(
    "texts",
    [
        ["AP@10"],
        ["map(rel=2)@10"],
        ["nDCG(dcg=exp-log2)@10"],
        ["nDCG@10", "nDCG(dcg='exp-log2')@10"],
        ["MAP@10", "GradedAP@10"],
        ["recall@5"],
    ],
)
def test_who_knows_the_other_measure_is_told_nothing(texts):
    assert notes(*texts) == []


# --- names of the user's own -----------------------------------------------------------------------


def test_a_preset_is_the_measures_that_the_guide_says():
    text = (Path(__file__).parents[2] / "notebooks" / "guide" / "measures.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| `([a-z-]+)`[^|]*\| ([^|]+) \| [^|]+ \|$", text.partition("## Presets")[2], re.MULTILINE
    )
    assert [name for name, _ in rows] == [*PRESETS] == ["medcorpus", "litsearch", "beir", "trec-dl"]
    for name, measures in rows:
        assert measures_of(name) == measures_of(re.findall("`([^`]+)`", measures))
    assert measures_of(["P@5", " TREC-DL ", "AP(rel=2)"]) == [ir_measures.P @ 5, *measures_of("trec-dl")]
    assert list(map(str, measures_of("beir", rel=2))) == ["nDCG@10", "R(rel=2)@100"]
    qrels = {"q": {"a": 1, "b": 2}}
    found = pm.calc_aggregate("trec-dl", qrels, {"q": {"a": 2.0, "b": 1.0}})
    assert list(found.values())[1:] == [0.5, 0.5, 1.0]


def test_a_dict_gives_measures_names():
    named = {"MAP@10": pm.GradedAP @ 10, "hit": "Success@1"}
    expected = pm.calc_aggregate(named, QRELS, RUN)
    assert expected == {"MAP@10": 0.75, "hit": 1}
    result = pm.calc(named, QRELS, RUN)
    assert result.aggregated == expected
    assert [(metric.measure, metric.value) for metric in result.per_query] == list(expected.items())
    assert pm.evaluate_by(named, QRELS, RUN, by="(q)") == {"q": expected}


@pytest.mark.parametrize(
    ("measures", "message"),
    [
        ({"MAP": "AP@10", "map": pm.parse_measure("AP@10")}, "one measure has two names: 'MAP' and 'map'"),
        ({"": "AP"}, r"a dict of measures must have names \(found ''\)"),
    ],
)
def test_a_name_stands_for_one_measure(measures, message):
    with pytest.raises(pm.MeasureError, match=message):
        pm.calc_aggregate(measures, QRELS, RUN)


# --- rel -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measure", "changed"),
    [
        ("GradedAP@10", "GradedAP(rel=2)@10"),
        (pm.GradedAP(rel=1) @ 10, "GradedAP@10"),
        ("AP(rel=1)@10", "AP@10"),
        ("RBP(p=0.5)", "RBP(p=0.5,rel=2)"),
        ("NumRet", "NumRet"),
        ("GAP", "GAP"),
    ],
)
def test_rel_is_set_where_a_measure_has_one_and_does_not_name_its_own(measure, changed):
    [found] = measures_of(measure, rel=2.0)
    assert str(found) == changed
    assert measures_of(measure, rel=None) == [pm.parse_measure(measure)]


def test_every_function_of_the_package_takes_rel():
    expected = pm.calc_aggregate("AP(rel=2)", QRELS, RUN)
    assert pm.calc_aggregate("AP", QRELS, RUN, rel=2) == expected != pm.calc_aggregate("AP", QRELS, RUN)
    assert pm.calc("AP", QRELS, RUN, rel=2).aggregated == expected
    assert pm.evaluator("AP", QRELS, rel=2).calc_aggregate(RUN) == expected
    assert [metric.value for metric in pm.iter_calc("AP", QRELS, RUN, rel=2)] == list(expected.values())
    assert pm.evaluate_by("AP", QRELS, RUN, by="(q)", rel=2) == {"q": expected}
    assert [row.measure for row in pm.crosscheck(QRELS, RUN, ["AP"], rel=2).rows] == list(expected)
    compared = pm.compare(QRELS, {"a": RUN, "b": RUN}, "AP", rel=2, tests=())
    assert compared.measures == list(expected)
    assert pm.reranking(QRELS, RUN, RUN, "AP", rel=2).measure == pm.parse_measure("AP(rel=2)")


def test_a_rel_that_cannot_be_is_an_error():
    with pytest.raises(pm.MeasureError, match=r"^AP: rel must be a number of at least 0.* \(found 'x'\)"):
        pm.calc_aggregate("AP", QRELS, RUN, rel="x")
    with pytest.raises(pm.MeasureError, match=r"^Coverage: rel must be a number of at least 0"):
        pm.calc_aggregate("Coverage", QRELS, RUN, rel=-1)
