"""A program is called, its number is read from its output, and its convention is found."""

import os
import re
import shlex
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import pytest
from commands import ends_soon, run_cli, run_main

import permed_measures as pm
from permed_measures.identification.cases import FRACTIONS, cases, small_case
from permed_measures.identification.files import PROGRAM_FILES
from permed_measures.identification.forms import SIGNATURES
from permed_measures.identification.program import Program, number_printed
from permed_measures.identification.user_function import NoNumberError

QRELS = {"q1": {"a": 2, "b": 0}, "q2": {"a": 1}}
RUN = {"q1": {"b": 2.0, "a": 2.0}, "q2": {"x": 1.5}}
SCRIPT = """
import sys
def read(path, column):
    found = {}
    for line in open(path):
        words = line.split()
        found.setdefault(words[0], {})[words[2]] = float(words[column])
    return found
qrels, run, k = read(sys.argv[1], 3), read(sys.argv[2], 4), int(sys.argv[3])
ranked = {q: sorted(docs, key=lambda doc: -docs[doc])[:k] for q, docs in run.items()}
hits = [sum(qrels[q].get(doc, 0) >= 1 for doc in ranked.get(q, [])) for q in qrels]
print("queries", len(qrels))
print("P@%d: %.4f" % (k, sum(hits) / k / len(hits)))
print("Hit@%d: %.4f" % (k, sum(map(bool, hits)) / len(hits)))
"""


@pytest.fixture
def command(tmp_path, monkeypatch):
    """Write a program that evaluates a run, and return its command."""
    (tmp_path / "eval.py").write_text(SCRIPT)
    monkeypatch.chdir(tmp_path)
    return f"{shlex.quote(sys.executable)} -ISE eval.py {{qrels}} {{run}} {{k}}"


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("map                   \tall\t0.2301\nP_10 \tall\t0.4\n", "MAP", 0.2301),
        ("map q1 0.3\nmap q2 0.1\nmap all 0.2\n", "MAP@10", 0.2),
        ("MAP: 0.2\nMAP@10: 0.3\nMAP@5 0.1", "MAP@10", 0.3),
        ("P@10 0.1\nP@5 0.2", "P@5", 0.2),
        ("MAP@10 = 53.57%", "MAP@10", 53.57),
        ("precision@10: 0.1 (std 0.2)", "P@10", 0.1),
        ("Loading 3 files...\n  * nDCG@10 | 0.5\n", "nDCG@10", 0.5),
        ("0.25\n", "P@10", 0.25),
        ("the result is 25.5%\n", "P@10", 25.5),
        ('{"a": 1, "scores": {"ndcg@10": 0.5, "map": 0.1}}', "nDCG@10", 0.5),
        ('done\n[{"metrics": {"P@10": 0.3, "MAP": 0.1}}]\n', "MAP@10", 0.1),
        ("runid,topic,ndcg@10,err@20\nx,amean,0.4,0.3", "nDCG@10", 0.4),
        ("runid,topic,ndcg@10,err@20\nx,1,0.2,0.1\nx,2,0.6,0.5\nx,amean,0.4,0.3", "nDCG@10", 0.4),
        ("| run | P@1 | MAP@10 |\n|---|---|---|\n| a | 0.1 | 0.25 |", "MAP@10", 0.25),
    ],
)
def test_the_number_is_found_by_its_name(text, name, expected):
    assert number_printed(text, name) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nothing\n", "has no number of P@10"),
        ("P@10: 0.1\nP@10: 0.2\n", "has 2 numbers of P@10"),
        ("a 0.1\nb 0.2\n", "has 2 numbers of P@10"),
        ('{"P@10": true}', "has no number of P@10"),
        ("P@10: n/a\n", "has no number of P@10"),  # and not 10
        ("query,P@10\n1,0.2\n2,0.6", "has 2 numbers of P@10"),
    ],
)
def test_what_is_not_clear_is_refused_and_the_pattern_settles_it(text, said):
    with pytest.raises(pm.InputError, match=rf"{said} .*--read"):
        number_printed(text, "P@10")
    assert number_printed("a 0.1\nb 0.2\n", "P@10", re.compile(r"b ([0-9.]+)")) == 0.2
    with pytest.raises(pm.InputError, match="has no number of P@10"):
        number_printed("a 0.1\nb 0.2\n", "P@10", re.compile(r"(b)"))


@pytest.mark.parametrize("files", PROGRAM_FILES)
def test_a_program_gets_files_in_the_order_of_the_lists_which_read_back(files, tmp_path):
    """For any case: what files cannot hold is left out, or does not matter."""
    n_written = 0
    for case in islice(cases(SIGNATURES["dicts"], (3,)), 0, None, 4):
        run = {q: docs for q, docs in case.run.items() if docs or PROGRAM_FILES[files].empty_lists}
        if not run or (files == "json" and FRACTIONS in case.traits):
            continue
        paths = PROGRAM_FILES[files].write(case.qrels, run, str(tmp_path))
        qrels, read = pm.read_qrels(paths[0]), pm.read_run(paths[1])
        assert {q: [*docs.items()] for q, docs in read.items()} == {q: [*run[q].items()] for q in run}
        if PROGRAM_FILES[files].grades:
            assert qrels == case.qrels
        else:
            assert qrels == {q: {d: 1 for d in docs if docs[d] >= 1} for q, docs in case.qrels.items()}
        n_written += 1
    assert n_written > 40


def test_a_program_gets_trec_files_in_the_order_of_the_lists():
    run = Program("cat {run} {qrels}", "P@5")._run(QRELS, RUN)
    assert run.startswith("q1 Q0 b 1 2.0 cases\nq1 Q0 a 2 2.0 cases\nq2 Q0 x 1 1.5 cases\n")


def test_files_that_there_are_not_are_refused_and_the_nearest_named():
    with pytest.raises(pm.InputError, match=r"one of trec, .* \(found 'beer'\)\. Did you mean 'beir'"):
        Program("cat {qrels} {run}", "P@5", "beer")


def test_a_program_is_called_without_a_shell_in_a_folder_of_its_own(command, tmp_path):
    assert Program(command, "P@5")(QRELS, RUN) == 0.1
    assert Program(command, "P@1")(QRELS, RUN) == 0.0
    with pytest.raises(ArithmeticError, match="the program ends with status 1: "):
        Program("cat {qrels} {run} no-such-file", "P@5")(QRELS, RUN)
    with pytest.raises(pm.InputError, match=r"no-such-program: the program cannot be started"):
        Program("no-such-program {qrels} {run}", "P@5")(QRELS, RUN)
    assert "> written" in Program("echo {qrels} {run} > written", "P@5")._run(QRELS, RUN)
    assert not (tmp_path / "written").exists()
    with pytest.raises(ArithmeticError, match="the file format cannot hold this case"):
        Program(command, "P@5")(QRELS, {})


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--command", "eval {qrels}", "P@5"], "the command has no {run}. Write where the files go"),
        (["--command", "eval", "P@5"], "the command has no {qrels} and no {run}"),
        (["--command", "eval '{qrels} {run}", "P@5"], "cannot be split into words (No closing quotation)"),
        (["--command", "eval {qrels} {run} {k}", "MAP"], "MAP has no cutoff for {k}. Write MAP@10"),
        (["--command", "e {qrels} {run}", "P@5", "--read", "("], "the pattern is not a regular expression"),
        (["--command", "e {qrels} {run}", "P@5", "--read", "x"], "the pattern must have one group (found 0)"),
        (["--command", "e {qrels} {run}"], "no measure is named"),
        (["--command", "e {qrels} {run}", "P@5", "--files", "beer"], "'tsv', 'beir', 'medcorpus')"),
        (
            ["--command", "e {qrels} {run}", "P@5", "--files", "medcorpus", "--numeric-ids"],
            "query ids of MedCorpus have a conversation and a turn, and cannot be numbers. Leave out",
        ),
        (["f.py:f", "P@5", "--read", "x"], "--read needs --command. Name the program: --command"),
        (["f.py:f", "P@5", "--files", "json"], "--files needs --command"),
        (["f.py:f", "P@5", "--numeric-ids"], "--numeric-ids needs --command"),
        (["--write-cases", "x", "P@5", "--numeric-ids"], "--numeric-ids does not go with --write-cases"),
        (["--command", "e {qrels} {run}", "P@5", "--form", "query"], "--form does not go with --command"),
        (["-m", "P@5"], "no function is named. Write FILE.py:FUNCTION, or --command PROGRAM"),
    ],
)
def test_what_cannot_be_asked_is_refused(arguments, said):
    status, _, message = run_main("identify", *arguments)
    assert (status, said in message) == (2, True), message


STRICT = SCRIPT.replace(
    "    for line", "    [int(line.split()[n]) for line in open(path) for n in (0, 2)]\n    for line"
)
"""It ends with an error for ids that are not numbers."""


def test_ids_are_numbers_on_request_in_the_order_of_the_ids(command, tmp_path):
    (tmp_path / "eval.py").write_text(STRICT)
    error = r"the program ends with status 1: ValueError: invalid literal .*\(if .* ids, add --numeric-ids\)$"
    with pytest.raises(ArithmeticError, match=error):
        Program(command, "P@5")(QRELS, RUN)
    (tmp_path / "eval.py").write_text("raise ValueError('too old')")
    with pytest.raises(ArithmeticError, match=r"status 1: ValueError: too old$"):
        Program(command, "P@5")(QRELS, RUN)
    (tmp_path / "eval.py").write_text(STRICT)
    assert Program(command, "P@5", numeric_ids=True)(QRELS, RUN) == 0.1
    many = {"q": {f"d{n}": 1.0 for n in range(1200)} | {"q": 0.5}}
    text = Program("cat {qrels} {run}", "P@5", numeric_ids=True)._run({"q": {"d2": 1}}, many)
    qrels, *rows = [line.split() for line in text.splitlines()]
    ids = dict(zip(many["q"], (row[2] for row in rows), strict=True))
    assert sorted(ids, key=ids.get) == sorted(ids)
    assert sorted(ids, key=lambda each: int(ids[each])) == sorted(ids)
    assert (qrels[2], ids["q"]) == (ids["d2"], qrels[0])
    assert {row[0] for row in rows} == {qrels[0]}


@pytest.mark.thorough
@pytest.mark.usefixtures("fewer_cases")
def test_a_program_that_takes_numeric_ids_only_is_named_with_them(command, tmp_path):
    (tmp_path / "eval.py").write_text(STRICT)
    status, _, message = run_main("identify", "--command", command, "P@5")
    assert (status, "the program gives no number on any case: " in message) == (2, True), message
    assert "--numeric-ids" in message
    stdout, _ = run_cli("identify", "--command", command, "P@5", "--numeric-ids")
    assert stdout.startswith(
        "P@5 is P@5.\nAveraged over all queries of the qrels; ties are broken by a stable"
    )
    assert "(as TREC has them, numeric ids)" in stdout


@pytest.mark.thorough
def test_a_script_with_arguments_is_named_by_its_command_line(command):
    stdout, _ = run_cli("identify", "--command", command, "-m", "P@5", "-m", "Hit@5")
    text = " ".join(stdout.split())
    assert "P@5 is P@5. Averaged over all queries of the qrels" in text
    assert "Hit@5 is Coverage@5" in text or "Hit@5 is Success@5" in text
    assert "on which it prints a number, read as rounded to 4 digits" in text
    assert "the program: ties by a stable sort" in text
    assert "function" not in text
    assert command.split(" ", 1)[1] in text


@pytest.mark.thorough
@pytest.mark.usefixtures("command", "fewer_cases")
def test_the_remedy_for_a_script_that_reads_arguments_is_its_command_line(tmp_path):
    (tmp_path / "eval.py").write_text(
        "import argparse\nargparse.ArgumentParser().parse_args(['x'])\n" + SCRIPT
    )
    status, _, message = run_main("identify", "eval.py:read", "P@5")
    remedy = re.search(r"identify --command '(.*?)'$", message.strip())[1]
    assert (status, remedy) == (2, "python3 eval.py {qrels} {run}")
    (tmp_path / "eval.py").write_text(SCRIPT)
    asked = remedy.replace("python3", f"{sys.executable} -ISE", 1)
    assert run_cli("identify", "--command", f"{asked} {{k}}", "P@5")[0].startswith(
        "P@5 is P@5.\nAveraged over "
    )


READ = {
    "jsonl": """
import json, sys
def lines(path):
    return [json.loads(line) for line in open(path)]
qrels = {each["query_id"]: dict.fromkeys(each["relevant_texts"], 1) for each in lines(sys.argv[1])}
run = {
    each["query_id"]: [hit["text_id"] for hit in each["ranked_results"]] for each in lines(sys.argv[2])
}
""",
    "beir": """
import json, sys
rows = [line.rstrip("\\n").split("\\t") for line in open(sys.argv[1])]
assert rows[0] == ["query-id", "corpus-id", "score"]
qrels = {}
for query, doc, grade in rows[1:]:
    qrels.setdefault(query, {})[doc] = int(grade)
run = {
    query: sorted(docs, key=lambda doc: -docs[doc]) for query, docs in json.load(open(sys.argv[2])).items()
}
""",
    "medcorpus": """
import json, sys
qrels = {}
for each in map(json.loads, open(sys.argv[1])):
    query = "%s_%s" % (each["conversation_id"], each["turn_id"])
    qrels.setdefault(query, {})[each["doc_id"]] = each["rel"]
run = {}
for each in map(json.loads, open(sys.argv[2])):
    run[each["query_id"]] = [hit["text_id"] for hit in each["ranked_results"]]
""",
}
"""The code by which programs read the files of some data sets."""
MEANS = """
queries = [query for query in qrels if query in run]
def gained(query):
    return sum(qrels[query].get(doc, 0) / (n + 1) for n, doc in enumerate(run[query][:5])) / 5
ap = 0.0
for query in queries:
    hits, total, relevant = 0, 0.0, [doc for doc, grade in qrels[query].items() if grade > 0]
    for n, doc in enumerate(run[query][:5], 1):
        if doc in relevant:
            hits += 1
            total += hits / n * qrels[query][doc] / 2
    ap += total / max(len(relevant), 1)
print(json.dumps({"MAP@5": ap / max(len(queries), 1), "P@5": sum(map(gained, queries))}))
"""
"""A program like PerMed's, and a precision that is not one."""


@pytest.mark.parametrize("files", READ)
def test_a_program_reads_the_files_of_a_data_set(files, tmp_path, command):
    (tmp_path / "eval.py").write_text(READ[files] + MEANS)
    program = Program(command.removesuffix(" {k}"), "MAP@5", files)
    qrels, run = {"c_1": {"a": 2, "b": 0}, "c_2": {"a": 1}}, {"c_1": {"b": 2.0, "a": 2.0}, "c_2": {}}
    assert program(qrels, run) == (0.125 if files == "jsonl" else 0.25)
    assert program.form.grades == (files != "jsonl")


@pytest.mark.thorough
@pytest.mark.usefixtures("fewer_cases")
def test_a_program_that_gets_no_grades_is_named_and_what_it_does_not_see_is_said(tmp_path, command):
    """The guide runs a program with the files of MedCorpus."""
    (tmp_path / "eval.py").write_text(READ["jsonl"] + MEANS)
    arguments = ("--command", command.removesuffix(" {k}"), "--files", "jsonl")
    text = " ".join(run_cli("identify", *arguments, "MAP@5")[0].split())
    assert text.startswith("MAP@5 is GradedAP@5. In words: AP@5 with weights g/2, divided by R;")
    assert "averaged over the intersection of qrels and run; ties are broken by a stable sort" in text
    assert f"({PROGRAM_FILES['jsonl'].content})" in text
    hidden = "The program does not see grades, and what is judged not relevant; open: relevance labels"
    assert hidden in text


@pytest.mark.thorough
@pytest.mark.usefixtures("fewer_cases")
def test_the_remedy_for_a_program_that_does_not_take_the_files_is_to_name_others(tmp_path, command):
    (tmp_path / "eval.py").write_text(READ["beir"] + MEANS)
    command = command.removesuffix(" {k}")
    status, _, message = run_main("identify", "--command", command, "P@5")
    assert (status, "the program gives no number on any case: " in message) == (2, True), message
    others = re.search(r"name others with --files \((.*?)\)", message)[1].split(", ")
    assert others == [each for each in PROGRAM_FILES if each != "trec"]
    stdout, _ = run_cli("identify", "--command", command, "P@5", "--files", "beir", status=1)
    assert stdout.startswith("No convention gives the numbers of the program for P@5.")
    assert "does not see" not in stdout


@pytest.mark.thorough
@pytest.mark.usefixtures("fewer_cases")
def test_a_program_that_computes_no_measure_is_not_named(command, tmp_path):
    (tmp_path / "eval.py").write_text(SCRIPT.replace("sum(hits) / k", "sum(hits) / (k + 0.1)"))
    stdout, _ = run_cli("identify", "--command", command, "P@5", status=1)
    assert stdout.startswith("No convention gives the numbers of the program for P@5.")


@pytest.mark.skipif(os.name == "nt", reason="sh")
def test_what_a_program_leaves_running_neither_delays_nor_outlives_it(tmp_path, monkeypatch):
    def asked(script):
        program = Program(f"sh -c '{script}' sh {{qrels}} {{run}}", "P@5")
        began = time.monotonic()
        try:
            return program({"q": {"a": 1}}, {"q": {"a": 1.0}}), time.monotonic() - began
        except NoNumberError as error:
            return str(error), time.monotonic() - began

    found, seconds = asked(f"sleep 1000 & echo $! > {tmp_path}/pid; echo 0.5")
    assert (found, seconds < 20) == (0.5, True)
    assert ends_soon((tmp_path / "pid").read_text().strip())
    monkeypatch.setattr("permed_measures.identification.program.TIME_LIMIT", 0.3)
    found, seconds = asked(
        f"sleep 1000 & echo $! > {tmp_path}/pid; wait; echo 0.5"
    )  # holds what it prints to
    assert (found, seconds < 20) == ("the program takes more than 0.3 seconds", True)
    assert ends_soon((tmp_path / "pid").read_text().strip())


@pytest.mark.skipif(os.name == "nt", reason="sh")
def test_ctrl_c_ends_the_programs_that_run(tmp_path, monkeypatch):
    program = Program(f"sh -c 'echo $$ >> {tmp_path}/pids; sleep 1000' sh {{qrels}} {{run}}", "P@5")
    before = threading.active_count()

    def interrupt(_):  # as the main thread is, while it waits
        while len((tmp_path / "pids").read_text().split() if (tmp_path / "pids").exists() else []) < 2:
            time.sleep(0.02)
        raise KeyboardInterrupt

    cases = [small_case([1] * n) for n in range(1, 30)]
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    real = ThreadPoolExecutor.map
    monkeypatch.setattr(ThreadPoolExecutor, "map", lambda *given: interrupt(real(*given)))
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        program.prepare(cases)
    assert time.monotonic() - began < 20
    assert all(map(ends_soon, (tmp_path / "pids").read_text().split()))
    assert threading.active_count() == before
