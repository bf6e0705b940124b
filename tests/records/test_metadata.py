"""ir_metadata in the head of a run and in a YAML file can be read by others."""

import hashlib
from pathlib import Path

import pytest
import yaml  # which ir_datasets brings
from commands import run_cli, run_main

import permed_measures as pm
from permed_measures.measures.parsing import parse_measure
from permed_measures.measures.specs import SPECS
from permed_measures.records.metadata import trec_name

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"b": 2}}
ROWS = "q1 Q0 b 1 2.0 mine\nq1 Q0 a 2 1.0 mine\n"
MEASURES = ["-m", "nDCG@10", "-m", "P@1", "-m", "own=GradedAP@10"]
HEAD = """# ir_metadata.start
# schema-version: 0.1
# tag: bm25+rm3
# research goal:
#   venue: {name: ECIR, year: 2019}
#   evaluation:
#     reported_measures: [map]
#     baseline:
#     - "WC: robust #04"
# actor:
#   name: Jürgen
# data:
#   test collection:
#     name:
# ir_metadata.end
# another line
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in a folder with qrels, a run, and a record of it."""
    monkeypatch.chdir(tmp_path)
    pm.write_qrels(QRELS, "labels.qrels")
    Path("run.trec").write_text(ROWS, encoding="utf-8")
    run_cli("evaluate", "labels.qrels", "run.trec", *MEASURES, "--record", "base.json")


def metadata_of(path):
    """Read the head of a run from its first line, as the package of ir_metadata's authors does."""
    first, *lines = Path(path).read_text(encoding="utf-8").splitlines(keepends=True)
    assert first == "# ir_metadata.start\n"
    end = lines.index("# ir_metadata.end\n")
    return yaml.safe_load("".join(line.strip("#") for line in lines[:end]))


def test_a_record_fills_the_head_of_a_run():
    _, said = run_cli("convert", "run.trec", "out.trec", "--record", "base.json")
    assert said == "out.trec: run of run.trec\n"
    metadata = metadata_of("out.trec")
    evaluation = metadata["research goal"]["evaluation"]
    assert (metadata["schema-version"], metadata["run-version"], metadata["tag"]) == (0.1, 1.0, "mine")
    assert evaluation["reported measures"] == ["ndcg_cut_10", "P_1", "GradedAP@10"]
    assert f"permed-measures=={pm.__version__}" in evaluation["software"]
    assert metadata["data"]["test collection"] == {
        "name": "labels.qrels",
        "qrels": "labels.qrels",
        "sha256 of qrels": hashlib.sha256(Path("labels.qrels").read_bytes()).hexdigest(),
    }
    assert Path("out.trec").read_text(encoding="utf-8").endswith(f"# ir_metadata.end\n{ROWS}")
    assert pm.read_run("out.trec") == pm.read_run("run.trec")
    run_cli("convert", "out.trec", "again.trec")
    assert Path("again.trec").read_bytes() == Path("out.trec").read_bytes()


def test_what_a_head_says_stays():
    Path("run.trec").write_text(HEAD + ROWS, encoding="utf-8")
    run_cli("evaluate", "labels.qrels", "run.trec", *MEASURES, "--record", "base.json")
    run_cli("convert", "run.trec", "out.trec", "--record", "base.json")
    metadata = metadata_of("out.trec")
    evaluation = metadata["research goal"].pop("evaluation")
    assert metadata["research goal"] == {"venue": {"name": "ECIR", "year": 2019}}
    assert (metadata["tag"], metadata["actor"]) == ("bm25+rm3", {"name": "Jürgen"})
    assert (evaluation["reported_measures"], evaluation["baseline"]) == (["map"], ["WC: robust #04"])
    assert "reported measures" not in evaluation
    assert evaluation["software"]
    assert metadata["data"]["test collection"]["name"] == "labels.qrels"
    assert "# ir_metadata.end\n# another line\nq1 Q0" in Path("out.trec").read_text(encoding="utf-8")
    run_cli("convert", "run.trec", "out.trec", "--record", "base.json", "--tag", "new")
    assert metadata_of("out.trec")["tag"] == "new"


def test_a_file_of_yaml_has_the_same_and_is_not_replaced_where_it_says_more():
    run_cli("convert", "run.trec", "out.trec", "--record", "base.json")
    for _ in range(2):
        _, said = run_cli("convert", "run.trec", "ir-metadata.yml", "--record", "base.json")
        assert said == "ir-metadata.yml: ir_metadata of run.trec\n"
    written = Path("ir-metadata.yml").read_text(encoding="utf-8")
    assert yaml.safe_load(written) == metadata_of("out.trec")
    for text, lost in ((f"{written}actor:\n  team: us\n", "actor"), ("by hand", "its content")):
        Path("ir-metadata.yml").write_text(text, encoding="utf-8")
        status, _, said = run_main("convert", "run.trec", "ir-metadata.yml", "--record", "base.json")
        problem = f"the file would lose fields that a record does not have: {lost}. Name another file for OUT"
        assert (status, f"error: ir-metadata.yml: {problem}" in said) == (2, True)
        assert Path("ir-metadata.yml").read_text(encoding="utf-8") == text


def test_a_data_set_is_named_by_its_id():
    run_cli("convert", "permed-sample/runs/bm25", "bm25.trec")
    run_cli("evaluate", "permed-sample", "bm25.trec", "-m", "AP", "--record", "sample.json")
    run_cli("convert", "bm25.trec", "out.yaml", "--record", "sample.json")
    metadata = yaml.safe_load(Path("out.yaml").read_text(encoding="utf-8"))
    assert metadata["data"]["test collection"] == {"name": "permed-sample", "ir_datasets": "permed-sample"}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "run.trec x.yml",
            "x.yml: a .yml file has metadata, which come from a record. Name one by --record FILE",
        ),
        (
            "labels.qrels x.yml --record base.json",
            "labels.qrels: --record needs a run, and this file is read as",
        ),
        (
            "permed-sample x --record base.json",
            "permed-sample: --record needs a run, and this file is read as",
        ),
        ("other.trec x --record base.json", "base.json: the record has no run of this file (it has 'run')"),
        ("broken.trec x --record b.json", "broken.trec: the metadata at the head of the run are not YAML ("),
        ("open.trec x --record o.json", "open.trec: the metadata at the head of the run have no last line"),
        ("names.trec x --record n.json", "names.trec: the metadata at the head of the run have no names"),
    ],
)
def test_what_cannot_be_described(line, message):
    Path("other.trec").write_text(ROWS.replace("2.0", "3.0"), encoding="utf-8")
    heads = {"broken": "# a: [\n# ir_metadata.end", "open": "# a: b", "names": "# words\n# ir_metadata.end"}
    for name, head in heads.items():
        Path(f"{name}.trec").write_text(f"# ir_metadata.start\n{head}\n{ROWS}", encoding="utf-8")
        run_cli("evaluate", "labels.qrels", f"{name}.trec", "-m", "P@1", "--record", f"{name[0]}.json")
    status, _, said = run_main("convert", *line.split())
    assert (status, f"error: {message}" in said) == (2, True), said
    assert not Path("x").exists()
    assert not Path("x.yml").exists()


def test_the_remedy_of_a_record_without_the_run_works():
    Path("other.trec").write_text(ROWS.replace("2.0", "3.0"), encoding="utf-8")
    run_cli("evaluate", "labels.qrels", "other.trec", "-m", "P@1", "--record", "base.json")
    run_cli("convert", "other.trec", "x", "--record", "base.json")
    assert metadata_of("x")["research goal"]["evaluation"]["reported measures"] == ["P_1"]


WITH_TREC_NAMES = [name for name, spec in SPECS.items() if spec.trec_names != "- -"]


@pytest.mark.parametrize("name", WITH_TREC_NAMES)
def test_the_names_of_trec_eval_mean_the_measures(name):
    for written in SPECS[name].trec_names.format(10).split():
        if written != "-":
            assert trec_name(parse_measure(written)) == written
            assert str(parse_measure(written).NAME) == name
    for other in ("RR@10", "nDCG(judged_only=True)@10", "AP(rel=2)", "QMeasure@10", "SetF(beta=2.0)"):
        assert trec_name(parse_measure(other)) == str(parse_measure(other))
