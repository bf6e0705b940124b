"""The command line prints the numbers of the library, and one clear message for an error."""

import json
import shutil

import pytest
from commands import run_cli, run_main

import permed_measures as pm
from permed_measures.datasets import SAMPLES
from permed_measures.engine.kernels import KERNELS, binary

MEDICAL, LITERATURE = SAMPLES

pytestmark = pytest.mark.usefixtures("files")


def test_json_holds_the_numbers_of_the_library():
    runs = [f"{name}={path}" for name, path in MEDICAL.runs.items()]
    stdout, _ = run_cli("evaluate", MEDICAL.qrels, *runs, "-m", "medcorpus", "--format", "json")
    objects = json.loads(stdout)
    assert [content["run"] for content in objects] == list(MEDICAL.runs)
    qrels = pm.read_qrels(MEDICAL.qrels)
    for content in objects:
        expected = pm.calc_aggregate(pm.MEDCORPUS, qrels, pm.read_run(MEDICAL.runs[content["run"]]))
        assert content["metrics"] == {str(measure): value for measure, value in expected.items()}
        assert content["ceilings"] == {str(m): pm.ceiling(m, qrels) for m in pm.MEDCORPUS}
        assert content["queries"] == {"judged": 48, "in_run": 48, "without_relevant": 1, "ignored": 0}


@pytest.mark.parametrize(("qrels", "name"), [("qrels", "medcorpus"), ("binary", "litsearch")])
def test_without_measures_the_labels_decide_which_preset(qrels, name):
    stdout, stderr = run_cli("evaluate", qrels, "run.trec", "--format", "json")
    assert list(json.loads(stdout)[0]["metrics"]) == list(map(str, getattr(pm, name.upper())))
    assert f"note: no measure was named; using -m {name}, as the " in stderr


OF_TREC = ["nDCG@10", "AP", "RR", "P@10"]
COMMANDS = ("evaluate", "compare", "crosscheck", "leaderboard", "uncertainty", "reranking")


@pytest.mark.parametrize(
    ("grades", "depth", "chosen", "why"),
    [
        ([1, 0, 3], 10, [*OF_TREC, "R@10"], "the grades go up to 3"),
        ([1, 0, 3], 20, [*OF_TREC, "R@20"], "the grades go up to 3"),
        ([4, 0, 3], 100, [*OF_TREC, "R@100"], "the grades go up to 4"),
        ([1, 0, 3], 3, [*OF_TREC, "R@10"], "the grades go up to 3"),
        ([1, 0, 0.5], 20, [*OF_TREC, "R@20"], "some grades are not whole numbers, such as 0.5"),
        ([1, -1, 2], 20, list(map(str, pm.MEDCORPUS)), "the grades go up to 2"),
        ([1, -1, 0], 20, list(map(str, pm.LITSEARCH)), "the labels are binary"),
    ],
)
def test_labels_choose_the_same_measures_in_every_command(files, grades, depth, chosen, why):
    """No default measure raises an error, and all runs reach the cutoff of recall."""
    (files / "graded").write_text("".join(f"q{n} 0 d{n} {g}\n" for n, g in enumerate(grades)))
    for name, step in (("one", 1), ("two", -1)):
        lines = (f"q{q} Q0 d{d} {d} {step * d} x\n" for q in range(3) for d in range(depth + (step > 0)))
        (files / f"{name}.trec").write_text("".join(lines))
    for command in COMMANDS:
        stdout, stderr = run_cli(command, "graded", "one.trec", "two.trec", "--format", "json")
        if command == "evaluate":
            assert list(json.loads(stdout)[0]["metrics"]) == chosen
        note = f"note: no measure was named; using {'' if command == 'reranking' else '-m '}"
        notes = [each for each in stderr.splitlines() if each.startswith("note: no measure")]
        if command == "crosscheck":
            left_out = "no measure was named; left out for grades up to"
            assert all(each.startswith(f"note: {left_out}") for each in notes)
            assert bool(notes) == (max(grades) > 2)
            continue
        [said] = notes
        assert said.startswith(note)
        assert said.endswith(f", as {why}")
        assert command != "reranking" or said == f"{note}{chosen[0]}, as {why}"


def test_labels_as_run_and_reordered_lists_are_said(files):
    line = '{{"conversation_id": "t", "turn_id": 1, "doc_id": "{}", "rel": {}}}\n'
    (files / "labels.jsonl").write_text(line.format("a", 1) + line.format("b", 2))
    (files / "results.jsonl").write_text(
        '{"query_id": "t_1", "results": [{"text_id": "a", "score": 1}, {"text_id": "b", "score": 2}]}\n'
    )
    for run, expected, said in (
        ("labels.jsonl", 0.25, "holds MedCorpus labels: the order of its lines is taken as the run"),
        ("results.jsonl", 0.5, "--order list"),
        ("results.jsonl --order list", 0.25, ""),
    ):
        line = f"evaluate labels.jsonl {run} -m GradedAP@1 --format json"
        stdout, stderr = run_cli(*line.split())
        assert json.loads(stdout)[0]["metrics"] == {"GradedAP@1": expected}
        assert said in stderr
        assert bool(said) == bool(stderr)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("qrels nothing", "error: nothing: No such file or directory"),
        ("run.trec qrels", "error: run.trec: expected qrels, but this file holds a TREC run"),
        ("real.json qrels", "error: real.json: expected qrels, but this file seems to hold a run"),
        (
            "qrels foreign",
            "error: foreign: the run and the qrels share no query: the run has 'x1', the qrels 'q1', 'q2'\n",
        ),
        ("qrels run.trec -m GradedAP(max_rel=1)@5", "qrels: query 'q1', document 'a': GradedAP: no grade"),
        ("qrels run.trec --by (q) --by-query", "error: --by and --by-query exclude each other. Leave out"),
        (
            "qrels run.trec --macro",
            "error: --macro needs --by. Name the groups, such as --by conversation_id",
        ),
        ("qrels run.trec --by turn_number", "Fields such as turn_number need a data set as qrels"),
        ("qrels run.trec -m X=AP -m X=P@1", "error: two measures are named 'X': AP and P@1. Give one of the"),
        ("nosuch run.trec --label main", "error: label and caption are for LaTeX tables"),  # before any work
        ("qrels run.trec -m map=", "error: a measure is MEASURE or NAME=MEASURE (found 'map=')\n"),
        ("qrels run.trec -m map@10,P@5", "(found 'map@10,P@5'). Name one at a time: -m P@5 -m P@10, or "),
    ],
)
def test_what_is_wrong_is_one_message_and_status_2(files, line, message):
    (files / "real.json").write_text('{"q1": {"a": 12.5, "b": 7.25}}')
    status, stdout, stderr = run_main("evaluate", *line.split())
    assert (status, stdout, stderr.count("\n")) == (2, "", 1)
    assert message in stderr


def test_the_demo_is_the_evaluation_of_the_sample():
    command = "evaluate permed-sample permed-sample/runs"
    expected, _ = run_cli(*command.split())
    stdout, _ = run_cli("demo")
    advice = "Is bm25 significantly better? Try: permed-measures compare permed-sample permed-sample/runs "
    assert stdout == f"$ permed-measures {command}\n{expected}\n{advice}--baseline bm25\n"


def test_crosscheck_has_status_1_if_a_value_differs(monkeypatch):
    monkeypatch.setitem(KERNELS, "P", lambda *args, **given: binary.precision(*args, **given) / 2)
    stdout, _ = run_cli("crosscheck", "qrels", "run.trec", "-m", "P@1", "-m", "RR", status=1)
    assert "P@1 differs on 2 of 2 queries, most on 'q1': ours 0.5, pytrec_eval 1" in stdout
    assert stdout.startswith("run: pytrec_eval differs on 1 of 2 measures, on 2 queries")


def test_query_ids_are_rewritten_only_if_asked_for(files):
    (files / "labels").write_text("topic_001_1 0 a 1\n")
    (files / "ranked").write_text("topic_001_turn_1 Q0 a 1 1 t\n")
    status, stdout, stderr = run_main("evaluate", "labels", "ranked", "-m", "P@1")
    assert (status, stdout) == (2, "")
    assert "'topic_001_turn_1' is 'topic_001_1' if the ids are rewritten: --query-ids permed" in stderr
    arguments = ["labels", "ranked", "-m", "P@1", "--query-ids", "permed"]
    stdout, stderr = run_cli("evaluate", *arguments, "--format", "tsv")
    assert (stdout.splitlines()[1].split("\t")[:2], stderr) == (["ranked", "1.0"], "")
    assert "agrees" in run_cli("crosscheck", *arguments)[0]


# --- convert and inspect ---------------------------------------------------------------------------


def test_convert_goes_round():
    path = MEDICAL.runs["lsa"]
    for name in ("1.trec", "2.json.gz", "3.csv", "5.jsonl"):
        _, stderr = run_cli("convert", path, name)
        assert stderr == f"{name}: run of {path}\n"
        path = name
    assert pm.read_run(path) == pm.read_run(MEDICAL.runs["lsa"])
    for options, read in ((["--to", "json"], pm.read_qrels), (["--as", "run"], pm.read_run)):
        run_cli("convert", MEDICAL.qrels, "any.txt", *options)
        assert read("any.txt") == read(MEDICAL.qrels)


def test_convert_writes_to_standard_output(files):
    line = ["convert", "other.trec", "-"]
    assert run_main(*line) == (0, "q2 Q0 d 1 3.0 t\n", "")
    assert run_cli(*line, "--to", "tsv")[0] == "query_id\tdoc_id\tscore\nq2\td\t3.0\n"
    assert not (files / "-").exists()


def test_the_id_of_a_data_set_is_no_run():
    status, _, stderr = run_main("convert", "permed-sample", "run.trec", "--as", "run")
    assert (status, "the id of a data set, and only qrels can be one" in stderr) == (2, True)
    assert run_cli("inspect", "permed-sample/runs") == run_cli("inspect", *MEDICAL.runs.values())


def test_a_folder_is_inspected_file_by_file_and_a_bad_one_does_not_end_it(files):
    (files / "folder").mkdir()
    shutil.copy("run.trec", "folder/b.trec")
    shutil.copy("qrels", "folder/c")
    (files / "folder" / "a.trec").write_text("q Q0 a 1 0.5 x\nnot a line of it at all\n")
    stdout, stderr = run_cli("inspect", "folder", status=2)
    assert [line for line in stdout.splitlines() if not line.startswith(" ")] == [
        "folder/b.trec",
        "",
        "folder/c",
    ]
    assert stderr.startswith("error: folder/a.trec:2: ")
    assert stderr.count("\n") == 1
    with pytest.raises(pm.InputError, match="neither a file"):
        run_cli("inspect", "folder/d")


@pytest.mark.parametrize(
    ("lengths", "depth"),
    [
        ([3, 3], "3 documents for 2 queries"),
        ([1, 3], "3 documents for 1 of 2 queries, others fewer"),
        ([1], "1 document for 1 query"),
    ],
)
def test_the_depth_of_a_run_is_said(files, lengths, depth):
    rows = (f"q{q} Q0 d{d} {d} {-d} x\n" for q, n in enumerate(lengths) for d in range(n))
    (files / "deep.trec").write_text("".join(rows))
    assert f"\n  depth         {depth}\n" in run_cli("inspect", "deep.trec")[0]


@pytest.mark.parametrize(
    ("lengths", "measure", "is_said"),
    [
        ([20, 20, 5], "R@1000", True),
        ([20, 20, 5], "P@21", True),
        ([20, 20, 5], "R@20", False),
        ([20, 5, 5], "R@1000", False),  # not cut: one happens to be the longest
        ([5, 5, 5], "nDCG@10", False),  # short
        ([20, 20, 5], "AP", False),
    ],
)
def test_a_cutoff_below_the_end_of_lists_is_noted(files, lengths, measure, is_said):
    rows = (f"q{q} Q0 d{d} {d} {-d} x\n" for q, n in enumerate(lengths) for d in range(n))
    (files / "deep.trec").write_text("".join(rows))
    (files / "labels").write_text("".join(f"q{q} 0 d0 1\n" for q in range(3)))
    _, stderr = run_cli("evaluate", "labels", "deep.trec", measure, "P@1")
    assert stderr == ""
    for command in ("evaluate", "uncertainty"):
        stdout, _ = run_cli(command, "labels", "deep.trec", measure, "P@1")
        said = f"run 'deep': its lists end at rank 20, and {measure} sees no deeper."
        assert (said in " ".join(stdout.split())) is is_said


def test_a_file_with_the_name_of_a_data_set_is_said(files):
    (files / "litsearch").write_text("q1 0 a 1\n")
    _, stderr = run_cli("evaluate", "litsearch", "run.trec", "-m", "P@1")
    assert "note: litsearch is a file here, and is used instead of the data set" in stderr
    (files / "medcorpus").mkdir()
    with pytest.raises(pm.InputError, match="medcorpus: a folder of this name hides the data set"):
        run_cli("evaluate", "medcorpus", "run.trec")


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("link", "link: OUT is the same file as IN. Name another file for OUT"),
        ("no/run.json", "no/run.json: there is no folder 'no' to write into"),
        ("out.foo", "out.foo: the ending '.foo'"),
    ],
)
def test_what_convert_refuses_leaves_all_files_as_they_are(files, target, message):
    (files / "link").symlink_to("run.trec")
    before = (files / "run.trec").read_text()
    status, stdout, stderr = run_main("convert", "run.trec", target)
    assert (status, stdout) == (2, "")
    assert stderr.startswith(f"error: {message}")
    assert (files / "run.trec").read_text() == before
    assert not (files / "out.foo").exists()
