"""The report of evaluations: its marks, its columns and what it says are those of the numbers."""

import base64
import json
import re
import zlib

import pytest
from commands import run_cli, run_main
from ir_measures.measures import Measure
from reporting import Page

import permed_measures as pm
from permed_measures.datasets import SAMPLES
from permed_measures.engine.evaluator import PermedEvaluator
from permed_measures.engine.groups import Groups
from permed_measures.engine.judgments import Judgments
from permed_measures.errors import InputError
from permed_measures.measures.headings import ABOUT_JUDGED
from permed_measures.measures.parsing import measures_of
from permed_measures.results.evaluation_report import evaluation_report
from permed_measures.results.evaluations import Evaluations, with_judged
from permed_measures.results.report import ENDINGS

QRELS = {"a_1": {"d": 2, "e": 1}, "a_2": {"d": 1}, "b_1": {"d": 1}}
RUNS = {
    "old": {q: {"x": 2.0, "d": 1.0} for q in QRELS},
    "new": {q: {"d": 1.0, "x": 0.5} for q in QRELS},
    "mid": {q: {"d": 1.0 + (q == "a_1"), "x": 1.5} for q in QRELS},
}
BM25 = ("evaluate", "permed-sample", "permed-sample/runs/bm25", "-m", "P@1")


def evaluations(runs, measures="RR", by=None, qrels=QRELS, **options):
    """Evaluate runs by some measures."""
    judgments = Judgments.of(qrels)
    measures = measures_of(measures.split() if isinstance(measures, str) else measures)
    evaluate = PermedEvaluator(with_judged(measures), judgments).evaluate
    groups = Groups.of(judgments.query_ids, by) if by else None
    return Evaluations(
        measures, {name: evaluate(run) for name, run in runs.items()}, groups=groups, **options
    )


def report(*arguments, **options):
    return evaluation_report(evaluations(*arguments, **options))


def table(*arguments, **options):
    [section] = report(*arguments, **options).sections
    return section.tables[0]


def cells(rows):
    return [[(cell.text, cell.rank) if cell.rank else cell.text for cell in row] for row in rows]


# --- the table -------------------------------------------------------------------------------------------


def test_the_best_runs_are_marked_but_not_the_ideal_ranking():
    found = table(RUNS, "RR P@1 NumRet GradedAP(max_rel=9)")
    assert cells(found.rows) == [
        ["old", "0.5000", "0.0000", "6", "0.0556"],
        ["new", ("1.0000", 1), ("1.0000", 1), "6", ("0.1111", 1)],
        ["mid", ("0.6667", 2), ("0.3333", 2), "6", ("0.0741", 2)],
        ["best possible", "", "", "—", "0.1296"],
    ]
    assert [len(block) for block in found.blocks] == [3, 1]
    [said] = [note for note in found.notes if note.startswith("Best possible")]
    assert said == "Best possible: what an ideal ranking scores, where that is below 1"
    assert said not in table(RUNS, "GradedAP(max_rel=9)", of_queries=True).notes


def test_groups_are_blocks_with_their_own_best():
    found = table(RUNS, "P@1", by="_([0-9])$")
    assert found.headings == ["_([0-9])$", "run", "P@1", "queries"]
    one, two, _ = ([row[:3] for row in cells(block)] for block in found.blocks)
    assert one == [["1", "old", "0.0000"], ["1", "new", ("1.0000", 1)], ["1", "mid", ("0.5000", 2)]]
    assert two == [["2", "old", ("0.0000", 2)], ["2", "new", ("1.0000", 1)], ["2", "mid", ("0.0000", 2)]]


def test_best_possible_values_are_below_1_as_they_print():
    """One query of group 1 has a partly relevant document; the ideal rankings of group 2 all score 1."""
    qrels = {f"q{n}_{turn}": {"d": 2} for n in range(3000) for turn in (1, 2)}
    qrels["q0_1"]["e"] = 1
    runs = {"new": {q: {"d": 1.0} for q in qrels}}
    [*_, best] = cells(table(runs, "GradedAP P@1", qrels=qrels).rows)
    assert best == ["best possible", "0.99996", ""]
    found = table(runs, "GradedAP P@1 NumRet", by="_([0-9])$", qrels=qrels)
    assert [row[:5] for row in cells(found.rows) if row[1] == "best possible"] == [
        ["1", "best possible", "0.9999", "", "—"],
        ["(all)", "best possible", "0.99996", "", "—"],
    ]
    whole = {q: {"d": 2} for q in qrels}
    assert "best possible" not in [row[0] for row in cells(table(runs, "GradedAP P@1", qrels=whole).rows)]


@pytest.mark.parametrize(
    ("macro", "expected"), [(False, [("1", 2, 0.5), ("2", 1, 0.0)]), (True, [("(macro)", 3, 0.25)])]
)
def test_json_has_the_groups_with_their_ceilings(macro, expected):
    found = report({"mid": RUNS["mid"]}, "P@1 GradedAP(max_rel=9)", by="_([0-9])$", macro=macro)
    [content] = json.loads(found.to("json"))
    assert content["by"] == "_([0-9])$"
    groups = [(each["group"], each["queries"], each["metrics"]["P@1"]) for each in content["groups"]]
    assert groups == expected
    assert {name for each in content["groups"] for name in each["ceilings"]} == {"GradedAP(max_rel=9)"}


def test_columns_that_say_nothing_are_left_out():
    whole = {"mine": {query: {"d": 1.0} for query in QRELS}}
    assert table(whole, "RR P@1").headings == ["run", "RR", "P@1"]
    partly = {**RUNS, "part": {"a_1": {"d": 1.0}, "c": {"d": 1.0}}}
    found = table(partly, "P@1", qrels={**QRELS, "a_1": {"d": 0, "e": 1}})
    assert found.headings == ["run", "P@1", "Judged@1", "queries in run", "ignored"]
    assert found.droppable == ["Judged@1", "ignored", "queries in run"]
    ignored = "Ignored: queries of the run that the qrels lack, which count nowhere"
    assert ignored in found.notes
    for given in (whole, {"part": {"a_1": {"d": 1.0}}}):
        assert "ignored" not in table(given, "P@1").headings
        assert ignored not in table(given, "P@1").notes
    assert ignored not in table(partly, "P@1", of_queries=True).notes


# --- what is said ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("qrels", "measures", "said"),
    [
        ({"q": {"a": 2, "b": 0}}, "AP", "1 judged query, with relevant documents"),
        ({"q": {"a": 1}, "r": {"a": 0}}, "AP", "2 judged queries, 1 of them without relevant documents"),
        ({"q": {"a": 1}}, "AP(rel=2)", "1 judged query, none with relevant documents: no label reaches 2"),
        (
            {"q": {"a": 2}, "r": {"a": 1}},
            "AP(rel=2)",
            "2 judged queries, 1 of them without relevant documents (labels of 2 or more)",
        ),
        ({"q": {"a": 1}}, "nDCG", "1 judged query, with relevant documents"),
    ],
)
def test_queries_without_relevant_documents_are_counted_at_the_level_of_the_measures(qrels, measures, said):
    runs = {"mine": {query: {"a": 1.0} for query in qrels}}
    assert table(runs, measures, qrels=qrels).caption == f"Means over {said}; all are in the run"


@pytest.mark.parametrize(
    ("labels", "second", "said"),
    [
        ({"a": 1, "b": 0}, "b", ["All documents within the cutoffs are judged"]),
        ({"a": 1, "b": 0}, "x", [ABOUT_JUDGED]),
        ({"a": 1}, "x", ["Judged@k is left out: all labels are relevant"]),
    ],
)
def test_what_is_judged_is_said_where_it_has_no_column(labels, second, said):
    found = table({"mine": {"q": {"a": 2.0, second: 1.0}}}, "P@1 P@3", qrels={"q": labels})
    assert [note for note in found.notes if "udged" in note] == said
    assert ("Judged@3" in found.headings) == (said == [ABOUT_JUDGED])


def test_the_finding_is_that_of_the_means():
    assert report(RUNS, "RR P@1 NumRet").finding == [
        "new has the highest RR: 1.0000.",
        "Highest on P@1: new; on NumRet: old, new and mid.",
        "No significance test was run.",
    ]
    assert report({"old": RUNS["old"]}, "RR P@1").finding == ["old has RR 0.5000 and P@1 0.0000."]
    found = report(RUNS, "P@1", by=lambda query: query[0], macro=True)
    assert found.finding[0] == "new has the highest P@1 (macro): 1.0000."
    assert report(RUNS, "RR", qrels={}).finding == []
    for n, said in ((11, "r9 and r10 have"), (12, "r9 and 2 more have")):
        assert said in report({f"r{number}": RUNS["new"] for number in range(n)}, "RR").finding[0]


def test_findings_and_marks_go_by_values_whatever_the_digits():
    qrels = {f"q{number}": {"d": 1} for number in range(20)}
    runs = {
        name: {q: {"d": 1.0} if place < n else {"x": 1.0} for place, q in enumerate(qrels)}
        for name, n in (("b", 6), ("a", 7))
    }
    found = evaluation_report(evaluations(runs, "P@1 Success@1", qrels=qrels), 1)
    assert found.finding[:2] == ["a has the highest P@1: 0.35.", "Highest on Success@1 (0.35): a."]
    [section] = found.sections
    assert cells(section.tables[0].rows) == [["b", ("0.3", 2), ("0.3", 2)], ["a", ("0.3", 1), ("0.3", 1)]]
    assert "second best underlined, by all digits." in section.tables[0].sentences()[0]


def test_an_ideal_ranking_stands_below_the_runs_of_a_page_and_copies_are_in_the_order_of_the_page():
    found = report(RUNS, "GradedAP(max_rel=9)", by="_([0-9])$")
    rows = Page(found.to("html")).rows
    assert [row[1] for row in rows[1:5]] == ["new", "mid", "old", "best possible"]
    [table] = found.sections[0].tables
    assert [row[1].text for row in table.blocks[0]] == ["old", "new", "mid", "best possible"]
    [copies] = copies_of(found.to("html"))
    assert {*copies} == {"latex", "markdown", "csv"}
    for form, copied in copies.items():
        for line, row in zip(copied["rows"], rows[1:], strict=False):
            assert row[1] in copied["lines"][line]
        assert len(copied["rows"]) == len(table.rows)
        assert sorted(copied["lines"]) == sorted(table.to(form).split("\n"))


def copies_of(page):
    """Return what the buttons of a page copy."""
    packed = re.search(r'id="data">(.*?)</script>', page)[1]
    return json.loads(zlib.decompress(base64.b64decode(packed)))["copies"]


def test_a_query_without_results_counts_in_what_counts_the_qrels():
    runs = {"old": {"a_1": {"d": 1.0}, "a_2": {"d": 1.0}}}
    for measures, said in (
        ("P@1", "scores 0"),
        ("P@1 NumRel NumQ", "scores 0, but counts in NumRel and NumQ"),
        ("NumRel", "counts in NumRel"),
    ):
        found = evaluations(runs, measures)
        assert f"; a query without results {said}" in evaluation_report(found).sections[0].tables[0].caption
        assert found.notes_on("old")[0].endswith(f"; it {said}")


def test_notes_stand_below_unless_columns_count_them():
    runs = {"old": {"a_1": {"d": 1.0}, "z": {"d": 1.0}}}
    lacking = "run 'old' retrieves nothing for 2 of 3 queries (first: 'a_2'); they score 0"
    found = evaluations(runs, "P@1", by="([0-9])$", notes={"old": ["run 'old': a note"]})
    ignored = "run 'old' has 1 query without judgments (ignored)"
    assert evaluation_report(found).notes == [lacking, ignored]
    assert evaluation_report(found).cautions == ["run 'old': a note"]
    assert report(runs, "P@1").notes == []


def test_a_name_of_the_users_own_is_no_other_column():
    for name in ("run", "ignored"):
        with pytest.raises(InputError, match=f"two columns would be named '{name}'"):
            report(RUNS, {name: "P@1"})
    with pytest.raises(InputError, match="two columns would be named 'queries_judged'"):
        report(RUNS, {"queries_judged": "P@1"}).to("csv")
    assert "Judged well is P@1" in table(RUNS, {"Judged well": "P@1"}).notes
    [content, *_] = json.loads(report(RUNS, {"Judged well": "P@1"}).to("json"))
    assert content["metrics"] == {"Judged well": 0.0}
    assert list(content["judged"]) == ["Judged@1"]


# --- the command -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_ending_of_a_file_tells_the_format_that_is_printed_too(ending, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    form, output = ENDINGS[ending], f"out{ending.upper()}"
    _, printed, _ = run_main(*BM25, "--format", form)
    said = f"{output}: {form} of 1 run\n"
    if form == "latex":
        said += "out.methods.tex: methods, for a paper\nout.methods.bib: the works that these cite\n"
    assert run_main(*BM25, "--output", output) == (0, "", said)
    written = (tmp_path / output).read_text()
    plain = [re.sub("</?span[^>]*>", "", each) for each in (written, printed)]  # pages have the command
    assert plain[0].replace(f"--output {output}", f"--format {form}") == plain[1]


def test_digits_are_those_of_tables():
    assert "| bm25 | 0.6 |" in run_cli(*BM25, "--digits", 1, "--format", "markdown")[0]
    assert "bm25 & 0.646 &" in run_cli(*BM25, "--digits", 3, "--format", "latex")[0]
    _, out, err = run_main(*BM25, "--digits", 3, "--format", "csv")
    assert (out, "--digits is for tables; csv has all numbers as they are" in err) == ("", True)
    for command in ((), ("compare", "permed-sample", "permed-sample/runs")):
        line = [*(command or BM25), "--digits", 3, "--output", "means.svg"]
        said = "error: --digits is for tables; a figure has points. Leave it out\n"
        assert run_main(*line)[::2] == (2, said)


@pytest.mark.parametrize("form", ["table", "json"])
def test_measures_are_not_compared_each_with_each(form, monkeypatch):
    compared, equal = [], Measure.__eq__
    monkeypatch.setattr(Measure, "__eq__", lambda *both: bool(compared.append(both)) or equal(*both))
    measures = [arg for k in range(1, 201) for arg in ("-m", f"P@{k}")]
    out, _ = run_cli("evaluate", "permed-sample", "permed-sample/runs", *measures, "--format", form)
    assert "P@200" in out
    assert len(compared) < 10 * 200  # each with each would be 20,000 for each run


# --- in Python -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, ()),
        ({"by_query": True}, ("--by-query",)),
        ({"by": "turn_number"}, ("--by", "turn_number")),
        ({"by": "turn_number", "macro": True}, ("--by", "turn_number", "--macro")),
        ({"rel": 2}, ("--rel", "2")),
    ],
)
def test_evaluate_in_python_prints_what_the_command_prints(options, words, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    found = pm.evaluate("permed-sample", "permed-sample/runs", ["AP@10", "P@1"], **options)
    command = ("evaluate", "permed-sample", "permed-sample/runs", "-m", "AP@10", "-m", "P@1", *words)
    assert str(found) == run_cli(*command)[0].rstrip("\n")
    for form in ("csv", "markdown"):
        assert found.to(form) == run_cli(*command, "--format", form)[0]


def test_evaluate_in_python_has_the_values_and_takes_one_run():
    found = pm.evaluate(QRELS, RUNS, ["RR", "P@1"])
    assert found.to_polars().select("run", "RR", "P@1").rows() == [
        ("old", 0.5, 0.0),
        ("new", 1.0, 1.0),
        ("mid", pytest.approx(2 / 3), pytest.approx(1 / 3)),
    ]
    [name] = pm.evaluate("permed-sample", SAMPLES[0].runs["bm25"], "RR").evaluations
    assert name == SAMPLES[0].runs["bm25"].stem
    assert pm.evaluate(QRELS, RUNS["old"], "RR").to_polars()["RR"].to_list() == [0.5]


@pytest.mark.parametrize("options", [{}, {"by": "turn_number"}, {"by": "turn_number", "macro": True}])
def test_the_values_by_query_of_a_result_are_those_asked_for_at_first(options):
    asked = ("permed-sample", "permed-sample/runs", ["AP@10", "P@1"])
    found = pm.evaluate(*asked, **options)
    by_query, expected = found.by_query(), pm.evaluate(*asked, by_query=True)
    assert by_query.to_polars().equals(expected.to_polars())
    assert by_query.to_polars().columns[:2] == ["run", "query_id"]
    assert [by_query.to(form) for form in ("csv", "json")] == [expected.to(form) for form in ("csv", "json")]
    assert by_query.by_query().to_polars().equals(expected.to_polars())
    assert by_query.record(created=False) == found.record(created=False)
    with pytest.raises(pm.InputError, match=r"the means over all queries\. Leave out by_query and by"):
        by_query.plot()
    assert len(pm.evaluate(*asked).plot()) == 2  # as the hint says


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"macro": True}, "macro needs by"),
        ({"by": "(.)_", "by_query": True}, "by and by_query exclude each other"),
        ({"rel": "high"}, "rel"),
    ],
)
def test_what_evaluate_in_python_refuses(options, message):
    with pytest.raises(pm.PermedError, match=message):
        pm.evaluate(QRELS, RUNS, "RR", **options)
    with pytest.raises(pm.PermedError, match="nothing"):
        pm.evaluate(QRELS, {"bad": "nothing.trec"}, "RR")


def test_a_plot_of_evaluate_is_that_of_plot_means():
    runs = {name: SAMPLES[0].runs[name] for name in ("bm25", "lsa")}
    for measures in ("P@1", ["P@1", "nDCG@10"]):
        found = pm.evaluate("permed-sample", runs, measures)
        first, second = found.plot(level=0.9), pm.plot_means("permed-sample", runs, measures, level=0.9)
        assert len(first) == len(second) == len(found.measures)
        for ours, others in zip(first, second, strict=True):
            labels = [[each.get_text() for each in axes.get_yticklabels()] for axes in (ours, others)]
            assert labels == [["bm25", "lsa"] if ours is first[0] else []] * 2
            assert [line.get_xydata().tolist() for line in ours.lines] == [
                line.get_xydata().tolist() for line in others.lines
            ]
        titles = [axes[0].figure.get_suptitle() for axes in (first, second)]
        assert titles[0] == titles[1]
        assert "conversation_id" in titles[0]
    with pytest.raises(pm.InputError, match="ax must be one Axes for each of 2 measures"):
        found.plot(ax=first[0])
    for options in ({"by_query": True}, {"by": "turn_number"}):
        with pytest.raises(pm.InputError, match=r"the means over all queries\. Leave out by_query and by"):
            pm.evaluate("permed-sample", runs, "P@1", **options).plot()
    with pytest.raises(pm.InputError, match="level"):
        found.plot(level=2)
    with pytest.raises(pm.InputError, match="the qrels have no query"):
        pm.evaluate({}, {"a": {}}, "P@1").plot()


def test_a_record_of_evaluate_is_that_of_record(tmp_path):
    runs = {name: SAMPLES[0].runs[name] for name in ("bm25", "lsa")}
    measures = {"MAP@10": pm.GradedAP @ 10, "nDCG@10": "nDCG@10"}
    for options in ({}, {"by_query": True}, {"by": "turn_number"}):
        found = pm.evaluate("permed-sample", runs, measures, **options).record(created=False)
        assert found == pm.record("permed-sample", runs, measures, created=False)
    assert pm.evaluate(QRELS, RUNS, "RR").record()["created"]
    found.write(tmp_path / "base.json")
    assert pm.verify(tmp_path / "base.json").ok
    with pytest.raises(pm.InputError, match="the qrels have no query"):
        pm.evaluate({}, {"a": {}}, "P@1").record()
