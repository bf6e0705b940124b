"""The command line: golden output, every format, and one clear message for what is wrong."""

import json
from pathlib import Path

import pytest
from commands import run_cli, run_main

import permed_measures as pm
from permed_measures.datasets import SAMPLES

GOLDEN = Path(__file__).parents[1] / "golden"
MEDICAL, LITERATURE = SAMPLES


@pytest.fixture
def files(tmp_path):
    (tmp_path / "qrels").write_text("q1 0 a 2\nq1 0 b 1\nq1 0 c 0\nq2 0 d 1\nq3 0 e 0\n")
    (tmp_path / "run.trec").write_text("q1 Q0 b 1 3 t\nq1 Q0 x 2 2 t\nq1 Q0 a 3 1 t\nq9 Q0 z 1 1 t\n")
    (tmp_path / "other.trec").write_text("q2 Q0 d 1 3 t\n")
    return tmp_path


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


def test_without_measures_the_labels_decide_which_preset(files):
    stdout, stderr = run_cli("evaluate", files / "qrels", files / "run.trec", "--format", "json")
    assert list(json.loads(stdout)[0]["metrics"]) == list(map(str, pm.MEDCORPUS))
    assert "note: no measure was named; using -m medcorpus" in stderr
    stdout, stderr = run_cli("evaluate", LITERATURE.qrels, LITERATURE.runs["lsa"], "--format", "json")
    assert list(json.loads(stdout)[0]["metrics"]) == list(map(str, pm.LITSEARCH))
    assert "-m litsearch" in stderr


def test_labels_as_run_and_reordered_lists_are_said(files):
    labels, results = files / "labels.jsonl", files / "results.jsonl"
    line = '{{"conversation_id": "t", "turn_id": 1, "doc_id": "{}", "rel": {}}}\n'
    labels.write_text(line.format("a", 1) + line.format("b", 2))
    results.write_text(
        '{"query_id": "t_1", "results": [{"text_id": "a", "score": 1}, {"text_id": "b", "score": 2}]}\n'
    )
    for run, options, expected, said in (
        (labels, [], 0.25, "holds MedCorpus labels: the order of its lines is taken as the run"),
        (results, [], 0.5, "--order list"),
        (results, ["--order", "list"], 0.25, ""),
    ):
        stdout, stderr = run_cli("evaluate", labels, run, "-m", "GradedAP@1", "--format", "json", *options)
        assert json.loads(stdout)[0]["metrics"] == {"GradedAP@1": expected}
        assert said in stderr
        assert bool(said) == bool(stderr)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("qrels nothing", "error: nothing: No such file or directory"),
        ("run.trec qrels", "error: run.trec: expected qrels, but this file holds a TREC run"),
        ("qrels foreign", "error: foreign: the run and the qrels share no query: the run has 'x1', the qr"),
        ("qrels run.trec -m GradedAP(max_rel=1)@5", "qrels: query 'q1', document 'a': GradedAP: no grade"),
        ("qrels run.trec --by (q) --by-query", "error: --by and --by-query exclude each other. Leave out"),
        (
            "qrels run.trec --macro",
            "error: --macro needs --by. Name the groups, such as --by conversation_id",
        ),
        ("qrels run.trec --by turn_number", "Fields such as turn_number need a data set as qrels"),
    ],
)
def test_what_is_wrong_is_one_message_and_status_2(files, monkeypatch, line, message):
    (files / "foreign").write_text("x1 Q0 d1 1 2.5 t\n")
    monkeypatch.chdir(files)
    status, stdout, stderr = run_main("evaluate", *line.split())
    assert (status, stdout, stderr.count("\n")) == (2, "", 1)
    assert message in stderr


def test_the_demo_is_the_evaluation_of_the_sample():
    stdout, _ = run_cli("demo")
    command = "evaluate permed-sample permed-sample/runs"
    expected, _ = run_cli(*command.split())
    assert stdout.startswith(f"$ permed-measures {command}\n{expected}\nIs bm25 surely better? ")


def test_crosscheck_has_status_1_if_a_value_differs(files, monkeypatch):
    from permed_measures.engine.kernels import KERNELS, binary

    monkeypatch.setitem(KERNELS, "P", lambda *args, **given: binary.precision(*args, **given) / 2)
    stdout, _ = run_cli("crosscheck", files / "qrels", files / "run.trec", "-m", "P@1", "-m", "RR", status=1)
    assert "P@1 differs on 1 of 1 query, most on 'q1': ours 0.5, pytrec_eval 1" in stdout
    assert stdout.startswith("run: pytrec_eval differs on 1 of 2 measures.\n")


# --- groups, query ids, convert, inspect -----------------------------------------------------------


def test_query_ids_are_rewritten_only_if_asked_for(files):
    qrels, run = files / "labels", files / "ranked"
    qrels.write_text("topic_001_1 0 a 1\n")
    run.write_text("topic_001_turn_1 Q0 a 1 1 t\n")
    status, stdout, stderr = run_main("evaluate", qrels, run, "-m", "P@1")
    assert (status, stdout) == (2, "")
    assert "'topic_001_turn_1' is 'topic_001_1' if the ids are rewritten: --query-ids permed" in stderr
    arguments = [qrels, run, "-m", "P@1", "--query-ids", "permed"]
    stdout, stderr = run_cli("evaluate", *arguments, "--format", "tsv")
    assert stdout.splitlines()[1].startswith("ranked\t1.0\t")
    assert stderr == ""
    assert "agrees" in run_cli("crosscheck", *arguments)[0]
    status, _, stderr = run_main("evaluate", qrels, run, "--query-ids", "litsearch")
    assert status == 2
    assert f"{run}: no query id of the run meets the qrels when rewritten by 'litsearch'" in stderr


def test_convert_goes_round(files):
    path = MEDICAL.runs["lsa"]
    for name in ("1.trec", "2.json.gz", "3.csv", "5.jsonl"):
        _, stderr = run_cli("convert", path, files / name)
        assert stderr == f"{files / name}: run of {path}\n"
        path = files / name
    assert pm.read_run(path) == pm.read_run(MEDICAL.runs["lsa"])
    run_cli("convert", MEDICAL.qrels, files / "any.txt", "--to", "json")
    assert json.loads((files / "any.txt").read_text()) == pm.read_qrels(MEDICAL.qrels)
    run_cli("convert", MEDICAL.qrels, files / "run.trec", "--as", "run")
    assert pm.read_run(files / "run.trec") == pm.read_run(MEDICAL.qrels)


def test_convert_writes_to_standard_output(files, monkeypatch):
    monkeypatch.chdir(files)
    (files / "run.csv").write_text("query_id,doc_id,score\nq1,x,2.0\n")
    assert run_main("convert", "run.csv", "-") == (0, "q1 Q0 x 1 2.0 permed-measures\n", "")
    assert run_cli("convert", "run.csv", "-", "--to", "tsv")[0] == "query_id\tdoc_id\tscore\nq1\tx\t2.0\n"
    assert not (files / "-").exists()


def test_a_json_run_in_the_place_of_the_qrels_is_said(files, monkeypatch):
    monkeypatch.chdir(files)
    (files / "qrels.json").write_text('{"q1": {"a": 2, "b": 1}}')
    (files / "whole.json").write_text('{"q1": {"a": 40, "b": 30, "x": 20, "y": 11}}')
    (files / "real.json").write_text('{"q1": {"a": 12.5, "b": 7.25}}')
    swapped = "note: qrels.json: the qrels look like a run, and the run looks like qrels."
    assert swapped in run_cli("evaluate", "whole.json", "qrels.json", "-m", "P@1")[1]
    status, _, stderr = run_main("evaluate", "real.json", "qrels.json", "-m", "P@1")
    expected = "error: real.json: expected qrels, but this file seems to hold a run"
    assert (status, stderr.startswith(expected)) == (2, True)


def test_the_id_of_a_data_set_is_no_file(files, monkeypatch):
    monkeypatch.chdir(files)
    for arguments in (["inspect", "permed-sample"], ["convert", "permed-sample", "q.trec", "--as", "qrels"]):
        assert run_main(*arguments) == (
            2,
            "",
            "error: permed-sample: No such file or directory. This is the id of a data set, and only "
            "qrels can be one\n",
        )
    stdout, _ = run_cli("inspect", "permed-sample/runs")
    assert stdout == run_cli("inspect", *MEDICAL.runs.values())[0]


def test_inspect_says_what_is_in_files(files):
    (files / "twice.trec").write_text("q1 Q0 a 1 2.0 t\nq1 Q0 b 2 2.0 t\nq1 Q0 a 3 1.0 t\nq2 Q0 c 1 0.1 t\n")
    stdout, stderr = run_cli("inspect", files / "twice.trec", MEDICAL.qrels)
    assert (
        stdout.replace(str(files), "FILES").replace(str(MEDICAL.qrels), "SAMPLE")
        == (GOLDEN / "inspect.txt").read_text()
    )
    assert stderr == ""
    status, _, stderr = run_main("inspect", files / "none")
    assert status == 2
    assert "No such file" in stderr


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("link", "link: OUT is the same file as IN. Name another file for OUT"),
        ("no/run.json", "no/run.json: there is no folder 'no' to write into"),
        ("out.foo", "out.foo: the ending '.foo'"),
    ],
)
def test_what_convert_refuses_leaves_all_files_as_they_are(files, monkeypatch, target, message):
    monkeypatch.chdir(files)
    (files / "link").symlink_to("run.trec")
    before = (files / "run.trec").read_text()
    status, stdout, stderr = run_main("convert", "run.trec", target)
    assert (status, stdout) == (2, "")
    assert stderr.startswith(f"error: {message}")
    assert (files / "run.trec").read_text() == before
    assert not (files / "out.foo").exists()


def test_convert_asks_what_a_file_of_integers_is(files):
    (files / "numbers.json").write_text('{"q": {"a": 1}}')
    status, _, stderr = run_main("convert", files / "numbers.json", files / "out.trec")
    assert (status, (files / "out.trec").exists()) == (2, False)
    assert "can be read as qrels and as a run. Say which by --as" in stderr


def test_the_grades_of_unjudged_documents_have_commas_between(files):
    arguments = ["uncertainty", files / "qrels", files / "run.trec", "-m", "P@2", "--grades"]
    for text, grades in (("0", [0.0]), ("0,2.5", [0.0, 2.5])):
        content = json.loads(run_cli(*arguments, text, "--format", "json")[0])
        assert content["grades"] == grades
    message = "error: grades must be numbers with commas between (found '0,x'). Such as 0,1,2\n"
    assert run_main(*arguments, "0,x") == (2, "", message)
