"""What JSON says about where its numbers come from."""

import contextlib
import hashlib
import json
import os
import random
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
from commands import run_cli, run_main
from ir_measures import P

import permed_measures as pm
from permed_measures.datasets import SAMPLES
from permed_measures.measures.descriptions import ORDERS, ranking_conventions
from permed_measures.measures.parameters import values_of
from permed_measures.provenance import Origin, provenance


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text("q1 0 a 2\nq1 0 b 1\nq2 0 d 1\n")
    (tmp_path / "run.trec").write_text("q1 Q0 b 1 3 t\nq1 Q0 a 2 1 t\n")
    (tmp_path / "other.trec").write_text("q2 Q0 d 1 3 t\n")
    return tmp_path


def described(role, path, **named):
    data = path.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    return {"role": role, **named, "path": path.name, "bytes": len(data), "sha256": digest}


def test_each_run_of_an_evaluation_names_its_own_files(files):
    line = "evaluate qrels run.trec best=other.trec -m GradedAP@10 --format json --order list"
    first, second = (each["provenance"] for each in json.loads(run_cli(*line.split())[0]))
    qrels = described("qrels", files / "qrels")
    assert first.pop("inputs") == [qrels, described("run", files / "run.trec", name="run")]
    assert second.pop("inputs") == [qrels, described("run", files / "other.trec", name="best")]
    assert first == second
    assert {"order": "list", "by-query": False}.items() <= first["options"].items()
    assert {"qrels", "runs", "measures", "format"}.isdisjoint(first["options"])
    versions = {"permed-measures": pm.__version__, "numpy": np.__version__}
    assert {**versions, "ir-measures": version("ir_measures")}.items() <= first["versions"].items()
    assert ORDERS["list"] in first["conventions"]
    graded, judged = first["measures"]
    assert (graded["measure"], judged["measure"]) == ("GradedAP@10", "Judged@10")
    assert graded["parameters"] == values_of(pm.GradedAP @ 10)
    assert graded["parameters"]["max_rel"] == 2
    assert graded["description"] == "Average precision, each relevant document counted by its grade."


def test_a_comparison_in_python_names_the_files_that_it_was_given(files):
    runs = {"run": "run.trec", "best": files / "other.trec", "none": {}}
    for qrels, roles in (("qrels", ["qrels", "run", "run"]), (pm.read_qrels("qrels"), ["run", "run"])):
        found = json.loads(pm.compare(qrels, runs, "RR", resamples=9).to("json"))["provenance"]
        assert [each["role"] for each in found["inputs"]] == roles
        best = described("run", files / "other.trec", name="best")
        assert found["inputs"][-1] == {**best, "path": str(files / "other.trec")}
        assert "command" not in found


def test_a_seed_is_said_where_something_is_random():
    assert provenance([P @ 1], seed=0)["seed"] == 0
    assert "seed" not in provenance([P @ 1])


TAKE_UP = "Documents that are unjudged or have a negative grade take up ranks and are not relevant"


@pytest.mark.parametrize(
    ("measures", "options", "said", "unsaid"),
    [
        ("P@1", {}, [ORDERS["score"], "scores 0.", f"{TAKE_UP}."], [ORDERS["list"], "left out"]),
        ("P@1", {"order": "list"}, [ORDERS["list"]], ["float32", "by document id"]),
        (
            "nDCG(judged_only=True)@5 P@1",
            {},
            [f"{TAKE_UP}; for nDCG(judged_only=True)@5 they are left out."],
            [],
        ),
        ("Bpref AP(judged_only=True)", {}, ["are left out before the others are ranked."], ["take up"]),
        ("P@1 NumRel NumRet Judged@1", {}, ["scores 0 on all but NumRel, NumRet and Judged@1."], []),
        ("NumRet(rel=1)", {}, ["scores 0."], []),
        ("NumQ", {}, ["Every query of the qrels counts."], ["scores 0"]),
        (
            "VariantNDCG(negative='keep')",
            {},
            ["A negative grade is a loss on VariantNDCG(negative='keep')."],
            [],
        ),
        (
            "P@1",
            {"duplicates": "best", "ignore-self": True},
            ["the best row is kept.", "is left out."],
            [],
        ),
        ("P@1", {"duplicates": "refuse", "max-passage": "", "query-ids": None}, [], ["kept", "rewritten"]),
    ],
)
def test_conventions_are_those_of_the_measures_and_options(measures, options, said, unsaid):
    found = " ".join(ranking_conventions(map(pm.parse_measure, measures.split()), options))
    assert [text for text in said if text not in found] == []
    assert [text for text in unsaid if text in found] == []


OF_ZERO = [
    "P@2",
    "P(rel=2)@2",
    "R@2",
    "RR",
    "nDCG@3",
    "nDCG(dcg='exp-log2')",
    "nDCG(gains={0:1})@2",
    "nDCG(gains={1:2})@2",
    "nDCG(gains={0:0,1:1})",
    "nDCG(gains={0:-1,1:1})",
    "nDCG(gains={-1:1,1:2})",
    "nDCG(judged_only=True,gains={0:1})@2",
    "VariantNDCG@2",
    "VariantNDCG(negative='keep')@2",
    "VariantNDCG(negative='keep',ideal='run')",
    "QMeasure(gains={0:1,1:1,2:1})",
    "GradedAP(gains={0:1,1:1,2:1})",
    "ERR@2",
    "Bpref",
    "infAP",
    "SetP",
    "SetF",
    "SetAP",
    "GAP",
    "IPrec@0.1",
    "RBP(rel=1)",
    "F1@2",
    "Rprec",
    "Judged@2",
    "NumQ",
    "NumRel",
    "NumRet",
    "NumRet(rel=1)",
    "NumRet(rel=2)",
]


@pytest.mark.filterwarnings("ignore::permed_measures.PermedWarning")
@pytest.mark.parametrize("measure", OF_ZERO)
def test_what_scores_0_without_a_list_or_a_relevant_document_is_said_to(measure):
    """Two kinds of queries: not in the run, or with labels below the level of the measure."""
    asked = pm.parse_measure(measure)
    level, rng, values = values_of(asked).get("rel") or 1, random.Random(0), set()
    for lacking in (True, False) * 60:
        grades = [grade for grade in (-1, 0, 1, 2) if lacking or grade < level]
        qrels = {"q": {doc: rng.choice(grades) for doc in "abc"}}
        run = {"z" if lacking else "q": {doc: rng.random() for doc in rng.sample("abcx", 3)}}
        with contextlib.suppress(pm.MeasureError):  # a relevant grade without a gain
            values |= {*pm.calc_aggregate(asked, qrels, run).values()}
    first, *_ = ranking_conventions([asked], {})
    assert ("scores 0." in first) == (values == {0})


@pytest.mark.usefixtures("files")
def test_a_record_is_verified_in_the_order_that_it_was_made_in():
    line = "evaluate qrels run.trec -m P@1 --record record.json"
    for order in ("list", "score"):
        run_cli(*line.split(), "--order", order)
        found = json.loads(run_cli("verify", "record.json", "--format", "json")[0])["provenance"]
        assert (found["options"]["order"], ORDERS[order] in found["conventions"]) == (order, True)


def test_a_part_of_a_data_set_has_the_hash_of_its_file_and_what_has_no_file_has_none(
    data, dataset_cache, monkeypatch
):
    monkeypatch.setenv("IR_DATASETS_HOME", str(dataset_cache))
    labels = described("qrels", data / "medcorpus" / "query_to_texts.jsonl", dataset="medcorpus/turn/1")
    [found] = provenance([], Origin(qrels="medcorpus/turn/1"))["inputs"]
    assert found == {key: labels[key] for key in labels if key != "path"}
    [none] = provenance([], Origin(qrels="no/such"))["inputs"]
    assert (none["bytes"], none["sha256"]) == (None, None)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_what_can_be_read_only_once_has_no_hash(files):
    os.mkfifo(files / "pipe")
    runs = {"x": files / "pipe", "y": Path("/dev/stdin")}
    origin = Origin("audit", "-", runs, {"claims": files / "qrels"})
    assert provenance([], origin)["inputs"] == [
        {"role": "qrels", "path": "-", "bytes": None, "sha256": None},
        {"role": "run", "name": "x", "path": str(files / "pipe"), "bytes": None, "sha256": None},
        {"role": "run", "name": "y", "path": "-", "bytes": None, "sha256": None},
        {**described("claims", files / "qrels"), "path": str(files / "qrels")},
    ]


EVERY = {"qrels": "qrels", "run": "run.trec"}


@pytest.mark.parametrize(
    ("command", "inputs"),
    [
        ("evaluate qrels run.trec -m P@1", EVERY),
        ("evaluate permed-sample permed-sample/runs/bm25 -m P@1", None),
        ("compare qrels run.trec other.trec -m P@1", {**EVERY, "run ": "other.trec"}),
        ("crosscheck qrels run.trec -m P@1", EVERY),
        ("uncertainty qrels run.trec -m P@1", EVERY),
        ("leaderboard qrels run.trec -m P@1", EVERY),
        ("reranking qrels run.trec other.trec -m P@1", {**EVERY, "run ": "other.trec"}),
        ("audit qrels run.trec --claim P@1=0.5", EVERY),
        (
            "audit qrels run.trec --claims paper.csv --conventions mine.toml",
            {**EVERY, "claims": "paper.csv", "conventions": "mine.toml"},
        ),
        ("possible qrels --claim P@1=0.5", {"qrels": "qrels"}),
        ("gate qrels run.trec --min P@1=0.1", EVERY),
        ("verify record.json", {**EVERY, "record": "record.json"}),
    ],
)
def test_every_command_names_what_it_read(command, inputs, files):
    (files / "paper.csv").write_text("run,P@1\nrun,0.5\n")
    (files / "mine.toml").write_text(
        '[[convention]]\nname = "ours"\nsource = "eval.py"\nmeasures = ["AP"]\noptions = { gain = "exp" }\n'
    )
    run_cli("evaluate", "qrels", "run.trec", "-m", "P@1", "--record", "record.json")
    _, stdout, _ = run_main(*command.split(), "--format", "json")
    content = json.loads(stdout)
    for each in content if isinstance(content, list) else [content]:
        found = each["provenance"]
        assert {"versions", "measures", "conventions", "options"} <= found.keys()
        assert found["command"] == command.split()[0]
        for one in found["inputs"]:
            one.pop("name", None)
        if inputs is None:
            labels = described("qrels", SAMPLES[0].qrels, dataset="permed-sample")
            assert found["inputs"][0] == {key: labels[key] for key in labels if key != "path"}
        else:
            assert found["inputs"] == [described(role.strip(), files / name) for role, name in inputs.items()]


@pytest.mark.parametrize(
    "made",
    [
        lambda a, b: pm.compare("permed-sample", {"one": a, "two": b}, "P@1", resamples=9),
        lambda a, b: pm.reranking("permed-sample", a, b, "P@1"),
        lambda a, b: pm.uncertainty("permed-sample", {"one": a, "two": b}, "P@1", draws=5),
        lambda a, b: pm.audit("permed-sample", {"one": a, "two": b}, {"one": {"P@1": 1}, "two": {"P@1": 1}}),
        lambda a, b: pm.leaderboard("permed-sample", {"one": a, "two": b}, "P@1", resamples=9),
        lambda a, b: pm.gate("permed-sample", a, baseline=b, max_drop={"P@1": 1}),
    ],
    ids=["compare", "reranking", "uncertainty", "audit", "leaderboard", "gate"],
)
def test_packaged_runs_are_files_with_a_hash(made):
    given = "permed-sample/runs/bm25", "permed-sample/runs/lsa"
    inputs = json.loads(made(*given).to("json"))["provenance"]["inputs"]
    files = [SAMPLES[0].runs[name] for name in ("bm25", "lsa")]
    assert [each.get("sha256") for each in inputs[1:]] == [described("", file)["sha256"] for file in files]


def test_a_gate_and_a_cross_check_name_their_files_and_how_they_were_read(files):
    made = pm.record("qrels", "run.trec", "P@1", order="list")
    made.write("before.json")
    ours, before = described("run", files / "run.trec", name="run"), described("", files / "before.json")
    for baseline, roles in (("before.json", [{**before, "role": "baseline"}]), (made, []), ({}, [])):
        found = pm.gate("qrels", "run.trec", None, baseline, {"P@1": 1}, order="list").to("json")
        about = json.loads(found)["provenance"]
        assert about["inputs"] == [described("qrels", files / "qrels"), ours, *roles]
        assert (ORDERS["list"] in about["conventions"]) != (ORDERS["score"] in about["conventions"])
    for found in (
        pm.gate(pm.read_qrels("qrels"), "run.trec", {"P@1": 0}),
        pm.crosscheck({"q1": {"a": 1}}, "run.trec"),
    ):
        about = json.loads(found.to("json"))["provenance"]
        assert about["inputs"] == [ours]
        assert ORDERS["score"] in about["conventions"]
