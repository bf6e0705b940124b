"""The report of a cross-check: what a terminal, a notebook and other programs get."""

import hashlib
import json
from dataclasses import fields
from importlib.metadata import version

import pytest
from commands import run_cli

import permed_measures as pm
from permed_measures.crosschecks.results import Row

QRELS = {"q1": {"a": 2, "b": 1}, "q2": {"a": 0, "c": 1}, "q3": {"d": 1}}
RUN = {"q1": {"b": 2.0, "x": 2.0, "a": 1.0}, "q2": {"c": 1.0, "a": 0.5}}
LONG = "VariantNDCG(discount='zipf',ideal='run',negative='keep')@100"
VERSION = version("pytrec-eval-terrier")
MEASURES = ["P@1", "GradedAP@10", "Judged@5", LONG]


def test_the_verdict_comes_first_then_a_line_per_measure(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    lines = str(pm.crosscheck(QRELS, RUN, MEASURES)).splitlines()
    assert lines[:2] == ["pytrec_eval agrees on 1 measure.", ""]
    assert lines[2].split() == ["measure", "ours", "pytrec_eval", "largest", "|Δ|", "ties"]
    assert lines[4].split() == ["P@1", "0.3333", "0.3333", "0e+00", "0.3333", "0.6667"]
    assert lines[6].split() == ["Judged@5", "0.5556", "—", "—", "same*"]
    assert f"3 judged queries, 1 of them scored by us alone; pytrec-eval-terrier {VERSION}." in lines
    text = " ".join(" ".join(lines).split())
    assert f"Not compared: GradedAP@10, Judged@5 and {LONG} (pytrec_eval does not have it)." in text


def test_a_frame_has_a_row_for_each_measure():
    result = pm.crosscheck(QRELS, RUN, MEASURES)
    frame = result.to_polars()
    assert {*frame.columns} == {each.name for each in fields(Row)} - {"ties", "per_query"} | {
        *("verdict", "ties_low", "ties_high")
    }
    assert frame["measure"].to_list() == [str(row.measure) for row in result.rows]
    assert frame["verdict"].to_list() == [row.verdict for row in result.rows]
    assert frame["pytrec_eval"].to_list() == [1 / 3, None, None, None]
    pandas = pytest.importorskip("pandas")
    assert isinstance(result.to_pandas(), pandas.DataFrame)
    assert result.to_pandas()["measure"].tolist() == frame["measure"].to_list()


def test_a_difference_names_its_query_in_every_form(monkeypatch):
    from permed_measures.engine.kernels import KERNELS, binary

    monkeypatch.setitem(KERNELS, "P", lambda *args, **given: binary.precision(*args, **given) / 2)
    result = pm.crosscheck({"<q>\x1b": {"a": 1}}, {"<q>\x1b": {"a": 1.0}}, ["P@1", "RR"])
    assert not result.ok
    assert str(result).startswith("pytrec_eval differs on 1 of 2 measures.\n")
    assert "P@1 differs on 1 of 1 query, most on '<q>" in str(result)
    assert "\x1b" not in str(result)
    assert "most on &#x27;&lt;q&gt;" in result._repr_html_()
    assert result.to_polars()["query_id"].to_list() == ["<q>\x1b", None]


def test_json_says_where_its_numbers_come_from(tmp_path):
    qrels, run = tmp_path / "qrels", tmp_path / "run.trec"
    qrels.write_text("q1 0 a 1\n")
    run.write_text("q1 Q0 a 1 2 t\nq1 Q0 b 2 2 t\n")
    stdout, _ = run_cli(
        "crosscheck", qrels, run, f"again={run}", "-m", "P@1", "-m", "Judged@5", "--format", "json"
    )
    content = json.loads(stdout, parse_constant=pytest.fail)
    assert content["ok"] is True
    assert [each["run"] for each in content["runs"]] == ["run", "again"]
    expected = pm.crosscheck(pm.read_qrels(qrels), pm.read_run(run), ["P@1", "Judged@5"])
    assert content["runs"][0]["measures"] == expected.to_polars().to_dicts()
    assert (content["runs"][0]["queries"], content["runs"][0]["alone"]) == (1, 0)
    origin = content["provenance"]
    assert origin["command"] == "crosscheck"
    assert [each["measure"] for each in origin["measures"]] == ["P@1", "Judged@5"]
    assert origin["versions"]["pytrec-eval-terrier"] == VERSION
    assert [each["sha256"] for each in origin["inputs"]] == [
        hashlib.sha256(path.read_bytes()).hexdigest() for path in (qrels, run, run)
    ]


def test_the_repr_is_one_line():
    result = pm.crosscheck({"q": {"a": 1, "b": 0}}, {"q": {"b": 2.0, "a": 1.0}}, ["nDCG@10", "RR"])
    assert repr(result) == "<CrossCheck: pytrec_eval agrees on 2 measures, 1 judged query: nDCG@10, RR>"
