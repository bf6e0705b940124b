"""Options and named conventions: what conventions.toml and a file of one's own say, and how one adds one."""

import re
from pathlib import Path

import numpy as np
import pytest
from commands import run_cli

import permed_measures as pm
from permed_measures.conventions import options
from permed_measures.conventions.named import COMMUNITY, NAMED, conventions_with, read_conventions
from permed_measures.conventions.options import DEFAULT, MEASURES, OPTIONS, OPTIONS_OF, SHARED
from permed_measures.conventions.values import WEIGHTS
from permed_measures.datasets import SAMPLES
from permed_measures.engine.kernels import graded
from permed_measures.engine.ranks import TieBreak

GUIDE = Path(__file__).parents[2] / "notebooks" / "guide" / "adding-conventions.md"
QRELS, RUN = pm.read_qrels(SAMPLES[0].qrels), pm.read_run(SAMPLES[0].runs["bm25"])


def test_every_option_and_every_named_convention_has_its_texts():
    assert len({each.title for each in OPTIONS.values()}) == len(OPTIONS)
    for option in OPTIONS.values():
        assert option.title.strip()
        assert {*option.measures} <= {*MEASURES}
        assert len({each.description for each in option.values.values()}) == len(option.values)
        assert all(each.description.strip() and each.used_by.strip() for each in option.values.values())
    assert len({named.name for named in NAMED}) == len(NAMED)
    for named in NAMED:
        assert named.source.strip()
        mine = {option for measure in named.measures for option in OPTIONS_OF[measure]} | {*SHARED}
        assert {each for each, value in named.options.items() if value != DEFAULT[each]} <= mine, named.name


def test_the_values_of_options_are_those_of_the_kernels():
    assert {*OPTIONS["ties"].values} == {each.value for each in TieBreak}
    assert {*OPTIONS["gain"].values} == {*graded.GAINS}
    assert {*OPTIONS["discount"].values} == {*graded.DISCOUNTS}
    assert {*OPTIONS["ideal"].values} == {*graded.IDEALS, "full"}
    assert {*OPTIONS["weights"].values} == {*WEIGHTS}
    assert {*OPTIONS["rounding"].values} == {*options.FIRST_DIGITS}


def test_tools_that_people_use_have_a_name():
    assert (COMMUNITY.name, COMMUNITY.options) == ("ir_measures", DEFAULT)
    names = "\n".join(named.name for named in NAMED)
    for name in (
        *("trec_eval, pytrec_eval", "gdeval", "ranx", "BEIR", "MTEB", "sentence-transformers", "DPR"),
        *("PerMed standard", "LitSearch", "Spark MLlib", "Elasticsearch", "torchmetrics", "scikit-learn"),
        *("LightGBM", "XGBoost", "RecBole", "ml_metrics", "TREC Deep Learning", "rank_metrics.py"),
        *("MLflow", "LlamaIndex", "Haystack", "OpenSearch", "Quepid", "TruLens"),
    ):
        assert name in names


def written(tmp_path, text):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    return path


BLOCK = '[[convention]]\nname = "lab"\nsource = "notes"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "mine.toml: there is no convention. Write [[convention]], with name"),
        ("x = [", "mine.toml: is no TOML ("),
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
        (BLOCK + "ties = 'input'", "key must be one of name, source, measures, options (found 'ties')"),
        ("[[convention]]\nname = 'lab'", "convention 'lab': source must be a text (found None)"),
        ("[[convention]]\nsource = 'lab'", "convention 1: name must be a text (found None)"),
        (BLOCK + BLOCK, "convention 'lab': there are two of this name"),
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
    assert found[1].options["level"] == 2.0
    assert conventions_with(None) is NAMED
    with pytest.raises(pm.InputError, match=r"none\.toml: cannot be read"):
        conventions_with(tmp_path / "none.toml")


@pytest.mark.thorough
def test_the_guide_to_adding_a_convention_does_what_it_says(tmp_path):
    """Its file is found by the audit."""
    text = GUIDE.read_text(encoding="utf-8")
    block = re.search(r"```toml\n(\[\[convention\]\].*?)```", text, re.DOTALL)[1]
    path = written(tmp_path, block)
    value = pm.calc_aggregate([pm.VariantNDCG(discount="zipf") @ 10], QRELS, RUN).popitem()[1]
    command = re.search(r"```sh\npermed-measures (audit .*)\n```", text)[1].replace("mine.toml", str(path))
    assert f"nDCG@10={value:.4f}" in command
    stdout, _ = run_cli(*command.split())
    assert "On these data the same as our lab, among others (eval.py, as of 2021)" in " ".join(stdout.split())
    claims = {"nDCG@10": f"{value:.4f}"}
    assert pm.audit(QRELS, RUN, claims).answers[0].changes
    assert pm.audit(QRELS, RUN, claims, conventions=path).answers[0].name == "our lab"
    row = {"nDCG@10": f"{value:.4f}", "MAP@10": "0.4665"}
    for file, n in ((None, 0), (path, 1)):
        [limits] = pm.possible(QRELS, row, conventions=file).rows
        tried = [each for limit in limits.conventions for each in (limit.convention, *limit.alike)]
        assert sum((each["discount"], each["denominator"]) == ("zipf", "min") for each in tried) == n


def test_a_new_value_takes_a_kernel_and_its_texts(monkeypatch):
    """As the guide has it: the audit then tries it everywhere."""
    monkeypatch.setitem(graded.DISCOUNTS, "root", lambda rank: rank**-0.5)
    new = options.Value("discount 1/sqrt(i)", "our lab", "discount 1/sqrt(i)")
    monkeypatch.setitem(OPTIONS["discount"].values, "root", new)
    values = []
    for query, grades in QRELS.items():
        ranked = sorted(RUN.get(query, {}), key=lambda doc: (-np.float32(RUN[query][doc]), doc))
        gains = [max(grades.get(doc, 0), 0) for doc in ranked[:10]]
        best = sorted((max(grade, 0) for grade in grades.values()), reverse=True)[:10]
        dcg, ideal = (sum(g * i**-0.5 for i, g in enumerate(each, 1)) for each in (gains, best))
        values.append(dcg / ideal if ideal else 0)
    result = pm.audit(QRELS, RUN, {"nDCG@10": f"{sum(values) / len(values):.6f}"})
    assert result.ok
    assert (
        "nDCG@10 with linear gains, discount 1/sqrt(i), ideal from the qrels" in result.answers[0].sentence()
    )
