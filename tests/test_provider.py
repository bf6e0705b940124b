"""Registration with ir_measures: what importing the package changes, and what it does not."""

import json
import sys
from types import ModuleType

import ir_measures
import numpy as np
import pytest
from commands import run_python
from effort import IR_MEASURES_PARSES
from ir_measures.__main__ import main_cli

import permed_measures as pm
from permed_measures.datasets import SAMPLES
from permed_measures.evaluation import PermedProvider
from permed_measures.measures.specs import MEASURES


def test_the_provider_stands_directly_before_gdeval_once(monkeypatch):
    providers = [*ir_measures.DefaultPipeline.providers, PermedProvider()]  # of a package imported anew
    monkeypatch.setattr(ir_measures.DefaultPipeline, "providers", providers)
    pm.register()
    pm.register()
    names = [provider.NAME for provider in ir_measures.DefaultPipeline.providers]
    assert names.count("permed") == 1
    assert names.index("permed") == names.index("gdeval") - 1
    assert ir_measures.providers.registry["permed"] is pm.provider
    assert pm.provider in ir_measures.DefaultPipeline.providers


def test_err_stays_with_gdeval_where_that_computes_it(monkeypatch):
    at_10, whole = ir_measures.ERR @ 10, ir_measures.ERR
    for is_there in (False, True):
        monkeypatch.setattr(ir_measures.gdeval, "is_available", lambda is_there=is_there: is_there)
        assert pm.provider.supports(at_10) == (not is_there)
        assert pm.provider.supports(whole)
    assert pm.provider.supports(ir_measures.nDCG(dcg="exp-log2") @ 10)


def test_pyterrier_that_was_imported_first_gets_the_measures(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyterrier.measures", copied := ModuleType("measures"))
    pm.register()
    assert (copied.GradedAP, copied.Coverage) == (pm.GradedAP, pm.Coverage)


TABLE = """
import sys, json, ir_measures

def values(qrels, run):
    for text in sys.argv[2:]:
        try:
            measure = ir_measures.parse_measure(text)
            yield text, ir_measures.calc_aggregate([measure], qrels, run)[measure]
        except Exception as error:
            yield text, type(error).__name__

print(json.dumps([dict(values(*pair)) for pair in json.loads(sys.argv[1])]))
"""


@IR_MEASURES_PARSES
def test_importing_the_package_changes_no_number_but_exp_gain_ndcg():
    rng = np.random.default_rng(1)
    pairs = [
        (
            {f"{prefix}{q}": {f"d{d}": int(rng.integers(0, 3)) for d in range(8)} for q in range(1, 6)},
            {f"{prefix}{q}": {f"d{d}": float(rng.random()) for d in range(3, 20)} for q in range(1, 6)},
        )
        for prefix in ("", "topic_")  # gdeval takes numbers only
    ]
    theirs = ir_measures.measures.registry.keys() - MEASURES.keys()
    texts = [f"{name}{at}" for name in theirs for at in ("", "@1", "@10")]
    texts += ["nDCG(dcg='exp-log2')@10", "AP(rel=2)@5", "P(judged_only=True)@5", "nDCG(gains={1:3,2:1})@5"]
    tables = (
        json.loads(run_python(code + TABLE, json.dumps(pairs), *texts))
        for code in ("", "import permed_measures")
    )
    for (qrels, run), before, after in zip(pairs, *tables, strict=True):
        assert sum(isinstance(value, float) for value in before.values()) > 30
        for text, value in before.items():
            if text != "nDCG(dcg='exp-log2')@10":
                assert str(after[text]) == str(value) or not isinstance(value, float), text
        exact = pm.calc_aggregate([pm.VariantNDCG @ 10], qrels, run)[pm.VariantNDCG @ 10]
        assert after["nDCG(dcg='exp-log2')@10"] == exact
        rounded = before["nDCG(dcg='exp-log2')@10"]
        if isinstance(rounded, float):  # of gdeval, where Perl is
            assert rounded == pytest.approx(exact, abs=1e-5)


def test_all_entry_points_give_the_same_numbers():
    qrels, run = pm.read_qrels(SAMPLES[0].qrels), pm.read_run(SAMPLES[0].runs["bm25"])
    measures = list(pm.MEDCORPUS)
    expected = pm.calc_aggregate(measures, qrels, run)
    aggregated, per_query = pm.calc(measures, qrels, run)
    assert aggregated == expected
    assert per_query == list(pm.iter_calc(measures, qrels, run))
    assert [m.query_id for m in per_query[:: len(measures)]] == sorted(qrels)
    types = {(type(m), type(m.query_id), type(m.value)) for m in per_query}
    assert types == {(ir_measures.Metric, str, float)}
    assert pm.evaluator(measures, qrels).calc_aggregate(run) == expected
    assert pm.provider.calc_aggregate(measures, qrels, run) == expected
    by_ir_measures = ir_measures.calc_aggregate(measures, qrels, run)
    assert by_ir_measures == pytest.approx(expected, abs=1e-12)
    assert (pm.GradedAP @ 10).calc_aggregate(qrels, run) == pytest.approx(expected[pm.GradedAP @ 10])
    assert pm.calc_aggregate("Coverage@1", qrels, run) == pm.calc_aggregate([pm.Coverage @ 1], qrels, run)


def test_the_command_line_of_ir_measures_takes_the_provider(tmp_path, monkeypatch, capsys):
    (tmp_path / "qrels").write_text("q1 0 d1 2\nq1 0 d2 1\n")
    pm.write_run({"q1": {"d2": 2.0, "d1": 1.0}}, tmp_path / "run")
    arguments = ["--provider", "permed", str(tmp_path / "qrels"), str(tmp_path / "run")]
    monkeypatch.setattr("sys.argv", ["ir_measures", *arguments, "GradedAP@10 Success@1"])
    main_cli()
    assert capsys.readouterr().out == "GradedAP@10\t0.7500\nSuccess@1\t1.0000\n"


@pytest.mark.thorough
@pytest.mark.parametrize("first", ["pyterrier", "permed_measures"])
def test_either_import_order_with_pyterrier_gives_its_measures_module_ours(first):
    second = {"pyterrier": "permed_measures", "permed_measures": "pyterrier"}[first]
    code = f"import {first}, {second}\nimport pyterrier as pt, ir_measures\nimport pyterrier.measures\n"
    code += "names = [p.NAME for p in ir_measures.DefaultPipeline.providers]\n"
    code += "print(pt.measures.GradedAP @ 10, names.count('permed'))"
    assert run_python(code).splitlines()[-1] == "GradedAP@10 1"
