"""The report of an audit: what a terminal, a notebook and other programs get."""

import hashlib
import io
import json
import re
import sys
from pathlib import Path

import pytest
from audit_helpers import AP, DEFAULT, HALF, audit_cli, binary, row_made, unwrapped
from audit_loops import Plain
from rich.cells import cell_len

import permed_measures as pm
from permed_measures.audits.report_formats import AUDIT_FORMATS

BOLD = "\x1b[1m"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(scope="module")
def mixed():
    """Return the audit of a table with a row made differently and a number that nothing explains."""
    qrels, runs = binary()
    table = {
        "first": row_made(Plain(qrels, runs["first"]), DEFAULT, AP),
        "second": row_made(Plain(qrels, runs["second"]), DEFAULT, HALF),
        "third": {"P@10": "0.98765"},
    }
    return pm.audit(qrels, {**runs, "third": runs["first"]}, table)


@pytest.mark.parametrize("width", [80, 120, None])
def test_no_line_is_wider_than_the_terminal_and_no_word_is_cut(mixed, monkeypatch, width):
    whole = unwrapped(mixed.explain())
    if width is not None:
        monkeypatch.setattr(sys, "stdout", Terminal())
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.setenv("TERM", "xterm")
    text = mixed.explain()
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert max(map(cell_len, plain.splitlines())) <= (width or 100)
    assert max(map(cell_len, whole.splitlines())) > 200  # so that there is something to wrap
    assert set(plain.split()) == set(whole.split()) | ({"─" * 76} & set(plain.split()))
    below = unwrapped(plain).split("\n\n")[-2]
    assert below == whole.split("\n\n")[-2]
    bold = [line for line in text.splitlines() if line.startswith(BOLD)]
    headings = [line for line in below.splitlines() if not line.startswith(" ")]
    if width is None:
        assert bold == []
    else:
        shown = [line.removeprefix(BOLD).partition("\x1b")[0] for line in bold]
        assert shown[0] == "5 of 7 claims: one convention explains them, certain"
        assert all(any(heading.startswith(each) for each in shown) for heading in headings)


def test_the_verdict_comes_first_then_the_measures(mixed):
    verdict, table, _ = str(mixed).split("\n\n", 2)
    assert unwrapped(verdict).splitlines() == [
        "5 of 7 claims: one convention explains them, certain",
        "  not explained by it: second, MAP@10; third, P@10",
        "  AP is binary and divided by the number of relevant documents; documents of grade 1 or more are "
        "relevant for P; nDCG has gain g, discount 1/log2(i+1) and ideal list from all judged documents; "
        "negative grades gain 0. The mean is taken over all 41 queries of the qrels.",
        "  On these data the same as ir_measures, among others (ir-measur.es, default pipeline)",
        "  Of arbitrary numbers near these, fewer than 1 in 1,000,000 would be explained so; of 10,000 rows "
        "of resampled queries, none.",
    ]
    headings, _, *rows = table.splitlines()
    assert headings.split() == ["run", "claim", "measure", "published", "computed", "by", "chance"]
    assert [row.split()[:3] for row in rows[:4]] == [
        ["first", "MAP@10", "AP@10"],
        ["first", "P@10", "P@10"],
        ["first", "nDCG@10", "nDCG@10"],
        ["second", "MAP@10", "GradedAP@10"],
    ]
    assert re.search(r"third +P@10 +nearest: \S+ P@10 capped +0\.98765 +none", rows[6])


def test_formulas_are_only_for_a_paper(files):  # noqa: ARG001
    arguments = ["qrels", "one.trec", "--claim", "MAP=0.2778", "--claim", "nDCG=0.33334"]
    for form in ("table", "markdown"):
        plain, paper = (
            audit_cli(*arguments, "--format", form, *more, status=1) for more in ([], ["--paper"])
        )
        assert "$" not in plain
        assert r"$\mathrm{AP}@k" in unwrapped(paper)
        assert set(plain.splitlines()) <= set(paper.splitlines())
    assert json.loads(audit_cli(*arguments, "--format", "json", status=1))["latex"]


def test_a_frame_has_a_row_for_each_claim(mixed):
    frame = mixed.to_polars()
    assert frame.columns == [
        *("run", "claim", "published", "status", "value", "printed"),
        *("measure", "convention", "changes", "match", "tried", "chance"),
    ]
    explained, different = "explained", "made differently"
    assert frame["status"].to_list() == [*[explained] * 3, different, explained, explained, "unexplained"]
    assert frame["convention"].to_list() == [*["ir_measures"] * 6, None]
    assert frame["changes"].to_list()[:3] == [""] * 3
    assert frame["changes"][3] == "weights of AP: its grade over 2 (not: 1 for each relevant document)"
    for row in frame.to_dicts()[:6]:
        assert row["printed"] == row["published"]
        assert row["value"] == pytest.approx(float(row["published"]), abs=1e-4)
    qrels, runs = binary()
    [value] = pm.calc_aggregate([frame["measure"][3]], qrels, runs["second"]).values()
    assert frame["value"][3] == pytest.approx(value)
    assert frame["value"][6] == mixed.rows[2].claims[0].nearest[0].value
    pandas = pytest.importorskip("pandas")
    assert isinstance(mixed.to_pandas(), pandas.DataFrame)
    assert mixed.to_pandas().to_dict("records")[:6] == frame.to_dicts()[:6]


def test_changes_of_a_frame_are_from_the_convention_that_it_names():
    """What an exception takes back is no change from the named convention."""
    qrels, runs = binary()
    made = {name: Plain(qrels, run) for name, run in runs.items()}
    table = {name: row_made(plain, DEFAULT, HALF) for name, plain in made.items()}
    table["first"]["P@5"] = table["first"].pop("P@10")  # which no convention prints
    frame = pm.audit(qrels, runs, table).to_polars()
    for row in frame.to_dicts():
        assert row["changes"] or row["convention"] in ("ir_measures", "PerMed standard", None)


def test_a_notebook_gets_the_verdict_the_table_and_the_rest_folded(mixed):
    html = mixed._repr_html_()
    assert html.startswith("<details open><summary>5 of 7 claims: one convention explains them, certain<")
    assert html.count("<tr>") == 1 + 7
    assert "GradedAP@10" in html
    assert html.count("<details") == html.count("</details>") >= 4
    assert html.index("<table>") < html.index("<details>")
    qrels, runs = binary()
    name = "<script>"
    result = pm.audit(qrels, {name: runs["first"], "b": runs["first"]}, {name: {"P@1": "0"}, "b": {"P@1": 0}})
    assert name not in result._repr_html_()
    assert "&lt;script&gt;" in result._repr_html_()


def test_json_says_where_its_numbers_come_from(files):  # noqa: ARG001
    Path("claims.csv").write_text("run,P@1,MAP\none,0.3333,0.98765\n")
    content = json.loads(
        audit_cli("qrels", "one.trec", "--claims", "claims.csv", "--format", "json", status=1)
    )
    claims = content["rows"][0]["claims"]
    assert [each["status"] for each in claims].count("unexplained") == 1
    origin = content["provenance"]
    assert origin["versions"]["permed-measures"] == pm.__version__
    assert [each["measure"] for each in origin["measures"]] == [each["measure"] for each in claims]
    assert origin["command"] == "audit"
    assert origin["conventions"] == [content["sentence"]]
    hashes = {each["path"]: each["sha256"] for each in origin["inputs"]}
    assert [each["role"] for each in origin["inputs"]] == ["qrels", "run", "claims"]
    for path in ("qrels", "one.trec", "claims.csv"):
        assert hashes[path] == hashlib.sha256(Path(path).read_bytes()).hexdigest()
    in_python = pm.audit(pm.read_qrels("qrels"), pm.read_run("one.trec"), {"P@1": "0.3333"})
    assert "inputs" not in json.loads(AUDIT_FORMATS["json"](in_python))["provenance"]
    by_path = pm.audit("qrels", {"a": "one.trec"}, {"a": {"P@1": "0.3333"}})
    inputs = json.loads(AUDIT_FORMATS["json"](by_path))["provenance"]["inputs"]
    assert [(each["role"], each["sha256"]) for each in inputs] == [
        ("qrels", hashes["qrels"]),
        ("run", hashes["one.trec"]),
    ]


@pytest.mark.parametrize(
    ("value", "found"),
    [(0.5, "ir_measures explains 1 of 1 claim (may be chance)"), (0.9, "nothing explains any of 1 claim")],
)
def test_the_repr_is_one_line(value, found):
    result = pm.audit({"q": {"a": 1, "b": 0}}, {"q": {"b": 2.0, "a": 1.0}}, {"MAP@10": value})
    assert repr(result) == f"<Audit: {found}; {result.n_tried:,} conventions computed>"
