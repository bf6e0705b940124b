"""Several collections in one table: means of means by hand, ranks, what is said of them, and bad files."""

import csv
import hashlib
import json

import pytest
from commands import run_cli, run_main

import permed_measures as pm
from permed_measures.datasets import SAMPLES

TO = "\N{EN DASH}"
QRELS = {
    "big": {f"q{number}": {"d": 1} for number in range(4)},
    "small": {"q": {"d": 1}},
    "third": {"q": {"d": 1}},
}


@pytest.fixture
def collections(tmp_path):
    """Write a file of collections, and runs that find the document of so many queries of each."""

    def write(found):
        names = list(QRELS)[: len(next(iter(found.values())))]
        for collection in names:
            pm.write_qrels(QRELS[collection], tmp_path / f"{collection}.qrels")
        for run, counts in found.items():
            for collection, n_found in zip(names, counts, strict=True):
                queries = enumerate(QRELS[collection])
                ranked = {query: {"d" if place < n_found else "x": 1.0} for place, query in queries}
                pm.write_run(ranked, tmp_path / f"{run}-{collection}.trec")
        lines = ["[qrels]", *(f'{name} = "{name}.qrels"' for name in names), "[runs]"]
        lines += [f'{run} = "{run}-{{collection}}.trec"' for run in found]
        path = tmp_path / "collections.toml"
        path.write_text("\n".join(lines))
        return path

    return write


def evaluate(path, *options):
    return run_cli("evaluate", path, "-m", "P@1", *options)[0]


def rows_of(text):
    """Return the cells of the table by run."""
    below = text.partition("\u2500\n")[2].partition("\n\n")[0]
    return {line.split()[0]: line.split()[1:] for line in below.split("\n")}


def test_each_collection_counts_once_in_the_mean(collections):
    found = evaluate(collections({"a": (4, 0), "b": (2, 1), "c": (2, 1)}))
    assert rows_of(found) == {
        "a": ["1.0000", "0.0000", "0.5000", f"1{TO}3"],  # over all five queries it would be 0.8
        "b": ["0.5000", "1.0000", "0.7500", f"1{TO}2"],
        "c": ["0.5000", "1.0000", "0.7500", f"1{TO}2"],  # equal values share a rank
    }
    assert "Judged queries: big 4 and small 1." in found
    assert "highest" not in evaluate(collections({"a": (4, 0)}))


ALONE = "Whichever collection is left out, no run has a higher mean than a."
SAID = [
    ((4, 0), (1, 1), "b has the highest mean P@1, 0.6250, and the highest P@1 on 1 of 2 collections."),
    ((4, 1), (1, 1), "a has the highest mean P@1, 1.0000, and the highest P@1 on 2 of 2 collections."),
    ((4, 0), (0, 1), "a and b have the highest mean P@1, 0.5000."),
    ((4, 1, 0), (3, 0, 0), ALONE),
    ((4, 0, 0), (2, 0, 0), ALONE),  # without big both have 0
    ((4, 0, 1), (2, 1, 0), "Another run has a higher mean than a if third is left out."),
]


def test_ranks_and_sentences_go_by_values_whatever_the_digits(collections):
    path = collections({"a": (4, 0, 1), "b": (3, 0, 1)})  # on average 2/3 and 0.58
    found = " ".join(evaluate(path, "--digits", 0).split())
    assert "a has the highest mean P@1, 0.7, and the highest P@1 on 3 of 3 collections." in found
    assert f"1 0 1 1 1{TO}1" in found
    assert "Whichever collection is left out, no run has a higher mean than a." in found


@pytest.mark.parametrize(("a", "b", "said"), SAID)
def test_the_highest_mean_is_named_and_whether_one_collection_decides(collections, a, b, said):
    assert said in " ".join(evaluate(collections({"a": a, "b": b})).split())


def test_notes_name_the_collection(collections, tmp_path):
    path = collections({"a": (4, 1)})
    pm.write_run({"q0": {"d": 1.0}}, tmp_path / "a-big.trec")
    found = " ".join(evaluate(path).split())
    assert "big: run 'a' retrieves nothing for 3 of 4 queries (first: 'q1'); they score 0" in found
    assert "small: run" not in found


def test_numbers_for_other_programs(collections):
    path = collections({"a": (4, 0), "b": (1, 1)})
    rows = list(csv.DictReader(evaluate(path, "--format", "csv").splitlines()))
    assert rows[1] == {"run": "a", "collection": "small", "queries": "1", "P@1": "0.0"}
    assert rows[5] == {"run": "b", "collection": "mean", "queries": "", "P@1": "0.625"}
    content = json.loads(evaluate(path, "--format", "json"))
    assert [row["P@1"] for row in content["rows"]] == [1, 0, 0.5, 0.25, 1, 0.625]
    roles = [each["role"] for each in content["provenance"]["inputs"]]
    small = next(each for each in content["provenance"]["inputs"] if each["role"] == "small qrels")
    assert small["sha256"] == hashlib.sha256((path.parent / "small.qrels").read_bytes()).hexdigest()
    assert roles == ["qrels", "big qrels", "small qrels", "big a", "big b", "small a", "small b"]


def test_data_sets_of_collections_have_the_hash_of_their_labels(tmp_path):
    (tmp_path / "c.toml").write_text(
        'qrels = {"permed-sample" = "permed-sample"}\nruns = {bm25 = "{collection}/runs/bm25"}'
    )
    content = json.loads(evaluate(tmp_path / "c.toml", "--format", "json"))
    [found] = [each for each in content["provenance"]["inputs"] if each["role"] == "permed-sample qrels"]
    assert found["dataset"] == "permed-sample"
    assert found["sha256"] == hashlib.sha256(SAMPLES[0].qrels.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("qrels = 1", "qrels must have a text for each name, such as qrels = {"),
        ('qrels = {a = "q"}', "runs must have a text for each name"),
        ('qrels = {a = "q"}\nruns = {b = 1}', "runs must have a text for each name"),
        (
            'qrels = {a = "q"}\nruns = {b = "f"}',
            "runs.b must have {collection} in place of the collection's name",
        ),
        ('qrels = {mean = "q"}\nruns = {b = "{collection}"}', "a collection cannot be named 'mean'"),
        ('qrels = {run = "q"}\nruns = {b = "{collection}"}', "a collection cannot be named 'run'"),
        ('qrels = {ranks = "q"}\nruns = {b = "{collection}"}', "a collection cannot be named 'ranks'"),
        (
            'qrels = {a = "q"}\nruns = {b = "{collection}"}\nx = 1',
            "only [qrels] and [runs] are allowed (found 'x')",
        ),
        ("qrels", "this is not a TOML file"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_by_name(tmp_path, text, problem):
    path = tmp_path / "c.toml"
    path.write_text(text)
    status, _, stderr = run_main("evaluate", path, "-m", "P@1")
    message = " ".join(stderr.split())
    assert (status, problem in message, "c.toml" in message) == (2, True, True)


@pytest.mark.parametrize("name", ["run", "collection", "queries", "mean", "small", "ranks"])
def test_a_measure_takes_the_place_of_no_other_column(collections, name):
    path = collections({"a": (4, 0), "b": (1, 1)})
    line = ("evaluate", path, "-m", f"{name}=P@1", "--format", "csv")
    if name in ("run", "collection", "queries"):
        assert f"two columns would be named '{name}'. Give the measure another name" in run_main(*line)[2]
        return
    rows = list(csv.DictReader(evaluate(*line[1:]).splitlines()))
    assert rows[1] == {"run": "a", "collection": "small", "queries": "1", name: "0.0"}


def test_what_goes_with_one_collection_is_refused(collections):
    path = collections({"a": (4, 0)})
    for line, problem in (
        ((path, "-m", "P@1", "--by", "x"), "--by goes with one collection"),
        ((path, "-m", "P@1", "--macro"), "--macro goes with one collection"),
        ((path,), "no measure was named"),
        (("permed-sample",), "no run was named"),
    ):
        assert problem in " ".join(run_main("evaluate", *line)[2].split())


def test_what_is_said_of_a_measure_is_said_once(collections, tmp_path):
    path = collections({"a": (4, 0)})
    for name in ("big", "small"):
        pm.write_qrels({query: {"d": 2} for query in QRELS[name]}, tmp_path / f"{name}.qrels")
    stderr = run_cli("evaluate", path, "-m", "nDCG@10")[1]
    assert stderr.count("nDCG@10 is trec_eval's") == 1


def test_binary_labels_are_noted_once(collections):
    path = collections({"a": (4, 0)})
    stderr = run_cli("evaluate", path, "-m", "GradedAP@10")[1]
    assert stderr.count("the labels are binary, so GradedAP@10 is half of AP@10") == 1
    assert "the labels are binary" not in run_cli("evaluate", path, "-m", "AP@10")[1]


def test_the_other_measures_and_a_single_run_are_in_the_finding(collections):
    path = collections({"a": (4, 0), "b": (2, 1)})
    other = evaluate(path, "-m", "NumRet", "-m", "AP")
    assert other.startswith(
        "b has the highest mean P@1, 0.7500, and the highest P@1 on 1 of 2 collections.\n"
    )
    assert "\nHighest mean on NumRet: a and b; on AP: b.\nNo significance test was run.\n" in other
    opposite = evaluate(collections({"a": (4, 1), "b": (2, 1)}), "-m", "AP")
    assert "\nHighest mean on AP: a.\n" in opposite
    one = evaluate(collections({"a": (3, 0)}), "-m", "NumRet", "--percent")
    assert one.startswith("a has, as means of 2 collections, P@1 37.50% and NumRet 2.5.\n")
