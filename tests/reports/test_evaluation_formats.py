"""Evaluations as tables of a paper and of a browser."""

import csv
import io
import json

import pytest
from markdown_it import MarkdownIt
from reporting import HOSTILE, LATIN, Page, assert_compiles, assert_stands_alone, latex_rows

from permed_measures.engine.evaluator import PermedEvaluator
from permed_measures.engine.groups import Groups
from permed_measures.engine.judgments import Judgments
from permed_measures.errors import InputError
from permed_measures.markup import one_line
from permed_measures.measures.parsing import measures_of
from permed_measures.reports.evaluation import Report, with_judged
from permed_measures.reports.evaluation_formats import EVALUATION_FORMATS

QRELS = {"a_1": {"d": 2, "e": 1}, "a_2": {"d": 1}, "b_1": {"d": 1}}
RUNS = {
    "old": {q: {"x": 2.0, "d": 1.0} for q in QRELS},
    "new": {q: {"d": 1.0, "x": 0.5} for q in QRELS},
    "mid": {q: {"d": 1.0 + (q == "a_1"), "x": 1.5} for q in QRELS},
}


def report(runs, measures="RR", by=None, **options):
    """Evaluate runs by some measures."""
    judgments = Judgments.of(QRELS)
    measures = measures_of(measures.split() if isinstance(measures, str) else measures)
    evaluate = PermedEvaluator(with_judged(measures), judgments).evaluate
    groups = Groups.of(judgments.query_ids, by) if by else None
    evaluations = {name: evaluate(run) for name, run in runs.items()}
    return Report(measures, evaluations, groups=groups, **options)


def written(form, *arguments, **options):
    return EVALUATION_FORMATS[form](report(*arguments, **options))


def test_a_latex_table_of_one_run_compiles(tmp_path):
    text = written("latex", {"mine": RUNS["mid"]}, "RR GradedAP(norm='min')@5 P@1")
    assert latex_rows(text) == [
        ["run", "RR", "GradedAP(norm='min')@5", "P@1"],
        ["mine", "0.6667", "0.3333", "0.3333"],
        ["best possible", "", "0.5833", ""],
    ]
    assert "Means over 3 judged queries, each with relevant documents. Best possible: " in text
    assert "bold" not in text
    assert_compiles(text, tmp_path)


def test_the_best_runs_are_marked_but_not_the_ideal_ranking():
    rows = latex_rows(written("latex", RUNS, "RR P@1 NumRet GradedAP(max_rel=9)"))
    assert rows[1:4] == [
        ["old", "0.5000", "0.0000", "6", "0.0556"],
        ["new", r"\textbf{1.0000}", r"\textbf{1.0000}", "6", r"\textbf{0.1111}"],
        ["mid", r"\underline{0.6667}", r"\underline{0.3333}", "6", r"\underline{0.0741}"],
    ]
    assert rows[4] == ["best possible", "", "", r"\textemdash{}", "0.1296"]


def test_columns_that_say_nothing_are_left_out_and_others_can_be_chosen():
    runs = {"mine": {query: {"d": 1.0} for query in QRELS}}
    assert latex_rows(written("latex", runs, "RR P@1"))[0] == ["run", "RR", "P@1"]  # all are judged
    page = Page(written("html", runs, "RR P@1", only=["ignored,P@1"]))
    assert page.rows == [["run", "ignored", "P@1"], ["mine", "0", "1.0000"]]
    both = "RR(rel=2) P@1"
    for form in ("table", "latex"):
        assert "RR(rel=2)" not in written(form, runs, both, only=["P@1"])
    lines = written("markdown", RUNS, "RR", only=["all"]).splitlines()
    assert lines[0] == "| run | RR | Judged | queries in run | ignored |"


def test_groups_are_blocks_with_their_own_best():
    lines = written("markdown", RUNS, "P@1", by="_([0-9])$").splitlines()
    assert lines[2:8] == [
        *("| 1 | old | 0.0000 |", "| 1 | new | **1.0000** |"),
        *("| 1 | mid | <u>0.5000</u> |", "| 2 | old | <u>0.0000</u> |"),
        *("| 2 | new | **1.0000** |", "| 2 | mid | <u>0.0000</u> |"),
    ]
    assert [line[:7] for line in lines[8:11]] == ["| (all)"] * 3


def test_values_by_query_have_a_block_for_each_run(tmp_path):
    text = written("latex", RUNS, "P@1", by_query=True)
    assert [row[:3] for row in latex_rows(text)][3:5] == [
        ["old", "b\\_1", "0.0000"],
        ["new", "a\\_1", "1.0000"],
    ]
    assert text.count(r"\midrule") == 3
    assert "Values by query over 3 judged queries" in text
    assert_compiles(text, tmp_path)


@pytest.mark.parametrize("form", ["markdown", "latex", "html"])
def test_names_are_no_markup(form, tmp_path):
    names = LATIN if form == "latex" else HOSTILE
    text = written(form, dict.fromkeys(names, RUNS["new"]), "RR")
    if form == "latex":
        assert_compiles(text, tmp_path)
        return
    page = Page(MarkdownIt("commonmark").enable("table").render(text) if form == "markdown" else text)
    assert [row[0] for row in page.rows[1:]] == [one_line(name) for name in names]
    if form == "html":
        assert_stands_alone(page)


def test_a_heading_of_the_users_own_is_in_every_format():
    shown = {"csv": "'=MAP_10", "tsv": "'=MAP_10", "latex": r"=\\*MAP\_\\*10", "markdown": r"\=MAP\_10 |"}
    named = report(RUNS, {"=MAP_10": "GradedAP@10", "P@1": "P@1"})
    for form, text in {**shown, "html": ">=MAP_10<", "table": "=MAP_10 "}.items():
        assert text in EVALUATION_FORMATS[form](named), form


def test_csv_has_the_numbers_as_they_were_computed():
    lines = list(csv.DictReader(io.StringIO(written("csv", RUNS, "RR P@1"))))
    assert [float(line["RR"]) for line in lines] == [0.5, 1.0, 2 / 3]
    assert lines[0]["queries_in_run"] == "3"


def test_a_name_of_the_users_own_is_no_other_column():
    for name in ("run", "ignored"):
        with pytest.raises(InputError, match=f"two columns would be named '{name}'"):
            report(RUNS, {name: "P@1"})
    with pytest.raises(InputError, match="two columns would be named 'queries_judged'"):
        EVALUATION_FORMATS["csv"](report(RUNS, {"queries_judged": "P@1"}))
    [content, *_] = json.loads(written("json", RUNS, {"Judged well": "P@1"}))
    assert content["metrics"] == {"Judged well": 0.0}
    assert list(content["judged"]) == ["Judged@1"]
