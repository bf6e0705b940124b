"""The case files tell right from wrong evaluators that do not use this package."""

import json
import re
import struct
from math import log2
from pathlib import Path

import pytest
import pytrec_eval
from commands import run_cli, run_main

import permed_measures as pm
from permed_measures.conventions.named import NAMED
from permed_measures.identification.cases import FRACTIONS, NEGATIVE_GRADES
from permed_measures.identification.suite import INDEX, write_cases
from permed_measures.published_tables.measure_names import meaning_of

MEASURES = ["nDCG@10", "AP@10", "P@10", "R@10", "Success@10"]
OF_TREC_EVAL = ["ndcg_cut.10", "map_cut.10", "P.10", "recall.10", "success.10"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("suite") / "cases"
    write_cases(made, MEASURES)
    return made


def content(folder, measure):
    return json.loads((folder / f"{measure}.json").read_text(encoding="utf-8"))


def ndcg(case, gain):
    """Compute nDCG@10 as a script that only knows the text of the file."""
    values = []
    for query, grades in case["qrels"].items():
        ranked = sorted(case["run"].get(query, []), key=lambda hit: hit["document"], reverse=True)
        ranked.sort(key=lambda hit: in_single_precision(hit["score"]), reverse=True)
        gains = [gain(max(grades.get(hit["document"], 0), 0)) for hit in ranked[:10]]
        ideal = sorted((gain(max(grade, 0)) for grade in grades.values()), reverse=True)[:10]
        dcg, best = (sum(g / log2(rank + 2) for rank, g in enumerate(each)) for each in (gains, ideal))
        values.append(dcg / best if best else 0.0)
    return sum(values) / len(values)


def in_single_precision(score):
    return struct.unpack("f", struct.pack("f", score))[0]


def failures(suite, evaluate, expected=None):
    """List the ids of the cases on which an evaluator gives another number."""
    expected = expected or {}
    return {
        case["id"]
        for case in suite["required"]
        if abs(evaluate(case) - expected.get(case["id"], case["value"])) > suite["tolerance"]
    }


def values_of(suite, name):
    """Return the values of a convention that differ from the required ones."""
    [found] = [
        each["values"]
        for each in suite["alternatives"]
        if name in [convention["name"] for convention in each["conventions"]]
    ]
    return found


def test_a_short_evaluator_reproduces_the_required_values_and_one_of_another_gain_its_alternative(folder):
    suite = content(folder, "nDCG@10")
    assert len(suite["required"]) > 300
    assert failures(suite, lambda case: ndcg(case, lambda grade: grade)) == set()
    wrong = failures(suite, lambda case: ndcg(case, lambda grade: 2**grade - 1))
    others = values_of(suite, "permed-measures medcorpus")
    assert wrong == {*others}
    assert failures(suite, lambda case: ndcg(case, lambda grade: 2**grade - 1), others) == set()
    only_binary = {
        case["id"]
        for case in suite["required"]
        if all(grade <= 1 for grades in case["qrels"].values() for grade in grades.values())
    }
    assert only_binary
    assert not wrong & only_binary  # the gains 2^g - 1 and g are the same there


@pytest.mark.parametrize(("measure", "name"), [*zip(MEASURES, OF_TREC_EVAL, strict=True)])
def test_trec_eval_gives_the_required_values(folder, measure, name):
    def trec_eval(case):
        run = {q: {hit["document"]: hit["score"] for hit in docs} for q, docs in case["run"].items()}
        values = pytrec_eval.RelevanceEvaluator(case["qrels"], {name}).evaluate(run)
        return sum(each[name.replace(".", "_")] for each in values.values()) / len(case["qrels"])

    suite = content(folder, measure)
    assert failures(suite, trec_eval) == set()
    assert any(NEGATIVE_GRADES in case["traits"] for case in suite["required"])


@pytest.mark.thorough
def test_each_named_convention_is_the_default_or_one_alternative_and_no_two_entries_are_alike(folder):
    for measure in MEASURES:
        suite = content(folder, measure)
        entries = [suite["default"], *suite["alternatives"]]
        names = [each["name"] for entry in entries for each in entry["conventions"]]
        known, _ = meaning_of(measure)
        assert sorted(names) == sorted(each.name for each in NAMED if each.has(known))
        values = [each["values"] for each in suite["alternatives"]]
        assert all(values)
        assert len({json.dumps(each) for each in values}) == len(values)
        required = {case["id"]: case["value"] for case in suite["required"]}
        assert len(required) == len(suite["required"])
        for each in values:
            apart = (abs(value - required[place]) for place, value in each.items() if value is not None)
            assert min(apart, default=1) > suite["tolerance"]
    assert suite["default"]["conventions"][0]["name"] == "ir_measures"


def test_grades_are_whole_numbers_and_all_digits_are_written(folder):
    suite = content(folder, "nDCG@10")
    cases = suite["required"]
    assert not any(FRACTIONS in case["traits"] for case in cases)
    assert {type(g) for case in cases for grades in case["qrels"].values() for g in grades.values()} == {int}
    [third] = {case["value"] for case in cases if case["description"] == "ranked: unjudged, 1"}
    assert third == 1 / log2(3)


def test_a_value_that_a_convention_does_not_define_is_null(folder):
    null = {
        each["conventions"][0]["name"]
        for each in content(folder, "nDCG@10")["alternatives"]
        if None in each["values"].values()
    }
    assert "gains 1, 5, 10" in null  # of a grade above 3
    assert "gdeval" not in null


def test_the_index_lists_the_files_and_says_what_each_key_means(folder):
    index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
    assert [each["file"] for each in index["files"]] == [f"{measure}.json" for measure in MEASURES]
    assert {each.name for each in folder.iterdir()} == {INDEX, *(each["file"] for each in index["files"])}
    suite = content(folder, "P@10")
    told = " ".join(index["format"])
    assert all(key in told for key in suite if key not in ("version", "measure"))
    assert all(key in told for key in suite["required"][0] if key not in ("id", "description"))
    assert index["version"] == suite["version"] == 1
    assert index["files"][2]["n_required"] == len(suite["required"])


@pytest.mark.thorough
def test_the_files_are_the_same_each_time_and_a_folder_with_other_files_is_refused(folder, tmp_path):
    line = ["identify", "--write-cases", str(tmp_path / "again")]
    for _ in range(2):  # the second time over its own files
        stdout, stderr = run_cli(*line, "nDCG@10", "-m", "P@10")
        assert (stdout, stderr.count("\n")) == ("", 3)
    assert "again/nDCG@10.json: cases\n" in stderr.replace("\\", "/")
    for file in ("nDCG@10.json", "P@10.json"):
        assert (tmp_path / "again" / file).read_bytes() == (folder / file).read_bytes()
    status, _, message = run_main(*line, "P@10")
    assert (status, "the folder has other files (nDCG@10.json), and the" in message) == (2, True), message
    assert run_cli("identify", "--write-cases", str(tmp_path / "new"), "P@10")  # what the message advises


def test_own_conventions_are_among_the_alternatives(tmp_path):
    own = tmp_path / "own.toml"
    own.write_text(
        '[[convention]]\nname = "mine"\nsource = "here"\noptions = { gain = "exp", depth = "first_20" }\n'
    )
    write_cases(tmp_path / "cases", ["nDCG@10"], own)
    suite = content(tmp_path / "cases", "nDCG@10")
    assert values_of(suite, "mine")
    with pytest.raises(ValueError, match="not enough values"):
        values_of(suite, "yours")


def test_a_measure_without_options_has_required_values_by_the_engine(tmp_path):
    [file, _] = write_cases(tmp_path / "cases", ["ERR@20"])
    suite = json.loads(file.read_text(encoding="utf-8"))
    measure = pm.parse_measure("ERR@20")
    usual = [case for case in suite["required"] if not case["traits"]]
    assert len(usual) > 30
    for case in usual:
        run = {q: {hit["document"]: hit["score"] for hit in docs} for q, docs in case["run"].items()}
        assert pm.calc_aggregate([measure], case["qrels"], run)[measure] == pytest.approx(case["value"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["P@5", "--form", "query"], "--form does not go with --write-cases"),
        (["P@5", "--command", "x {qrels} {run}"], "--command does not go with --write-cases"),
        (["P@5", "--format", "json"], "--format does not go with --write-cases"),
        (["P@5", "p@5"], "p@5 and P@5 would have the same file"),
        (["no such measure"], "no such measure"),
    ],
)
def test_what_does_not_go_with_writing_cases_is_refused(tmp_path, arguments, said):
    folder = tmp_path / "cases"
    status, _, message = run_main("identify", "--write-cases", str(folder), *arguments)
    assert (status, said in message) == (2, True), message
    assert not folder.exists()


def test_a_folder_that_cannot_be_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    for place, said in ("file", "this is a file, and the cases need a folder"), ("a/b", "there is no folder"):
        status, _, message = run_main("identify", "--write-cases", str(tmp_path / place), "P@5")
        assert (status, said in message) == (2, True), message


def test_the_guide_shows_what_the_files_hold(folder):
    guide = Path(__file__).parents[2] / "notebooks" / "guide" / "identify.md"
    [block] = re.findall(r"^```json\n(.*?)^```", guide.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    shown, suite = json.loads(block), content(folder, "nDCG@10")
    assert shown.keys() == suite.keys()
    assert (shown["version"], shown["tolerance"]) == (suite["version"], suite["tolerance"])
    assert all(case in suite["required"] for case in shown["required"])
    for entry in shown["alternatives"]:
        assert entry["values"].items() <= values_of(suite, entry["conventions"][0]["name"]).items()
    for entry, real in (
        (shown["default"], suite["default"]),
        (shown["alternatives"][0], suite["alternatives"][0]),
    ):
        assert entry.keys() == real.keys()
