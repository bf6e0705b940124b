"""Numbers of another measure, cutoff or run, and swapped columns or rows of a table."""

import random

import pytest
from audit_helpers import printed_as

import permed_measures as pm
from permed_measures.auditing.answers import DIFFERENT
from permed_measures.auditing.messages import elsewhere as named_elsewhere
from permed_measures.auditing.messages import other_measures
from permed_measures.auditing.search import other_cells, swap_in
from permed_measures.conventions.named import COMMUNITY
from permed_measures.datasets import SAMPLES

QRELS = pm.read_qrels(SAMPLES[0].qrels)
RUNS = {name: pm.read_run(run) for name, run in SAMPLES[0].runs.items() if name != "tfidf"}
MEASURES = {"nDCG@10": "nDCG@10", "MAP@10": "AP@10", "P@1": "P@1"}
OTHERS = ["R@20", "RR@5"]


@pytest.fixture(scope="module")
def values():
    names = [*MEASURES.values(), *OTHERS]
    return {
        run: dict(zip(names, pm.calc_aggregate(names, QRELS, RUNS[run]).values(), strict=True))
        for run in RUNS
    }


@pytest.fixture
def table(values):
    return {run: {name: f"{row[each]:.4f}" for name, each in MEASURES.items()} for run, row in values.items()}


def elsewhere(result):
    """Return the lines about other cells and measures with the numbers of unexplained claims."""
    found = {each.heading: each.texts for each in result.report().sections}
    return found.get("Numbers of another measure or run", [])


def test_nothing_is_said_of_a_true_table(table):
    result = pm.audit(QRELS, RUNS, table)
    assert (result.ok, result.other_names, result.unclear, elsewhere(result)) == (True, {}, [], [])


@pytest.mark.parametrize(
    ("swapped", "said"),
    [
        ("rows", ["bm25, MAP@10: # is MAP@10 of lsa", "lsa, MAP@10: # is MAP@10 of bm25"]),
        ("columns", ["lsa, MAP@10: # is P@1 of lsa", "lsa, P@1: # is MAP@10 of lsa"]),
    ],
)
@pytest.mark.thorough
def test_swapped_numbers_are_told_by_the_cell_that_has_them(table, swapped, said):
    row, other = table["lsa"], table["bm25" if swapped == "rows" else "lsa"]
    name = "MAP@10" if swapped == "rows" else "P@1"
    row["MAP@10"], other[name] = other[name], row["MAP@10"]
    result = pm.audit(QRELS, RUNS, table)
    assert (result.ok, len(result.best[0].explained)) == (False, 4)
    numbers = [table[run][name] for run, name in (each.partition(":")[0].split(", ") for each in said)]
    lines = [text.replace("#", number) for text, number in zip(said, numbers, strict=True)]
    assert elsewhere(result) == [f"{line} by the convention of the other claims" for line in lines]


def exchanged(table, what, first, second):
    """Swap two columns or rows of a table, but not their headings."""
    other = {first: second, second: first}
    if what == "rows":
        return {run: table[other.get(run, run)] for run in table}
    return {run: {name: row[other.get(name, name)] for name in row} for run, row in table.items()}


@pytest.mark.parametrize(
    "swapped",
    [("columns", "MAP@10", "P@1"), pytest.param(("rows", "bm25", "lsa"), marks=pytest.mark.thorough)],
)
def test_swapped_columns_and_rows_are_exchanged_first(table, swapped):
    what, first, second = swapped
    result = pm.audit(QRELS, RUNS, exchanged(table, *swapped))
    assert (result.ok, result.best[0].complete) == (False, True)
    assert result.swap == f"the {what} {first} and {second} are swapped" == result.report().data()["swap"]
    text = " ".join(str(result).split())
    assert text.startswith(
        f"It seems that {result.swap}. Once they are exchanged: Certain: nDCG@10 with linear gains"
    )
    assert [trial.row for trial in result.trials] == [run for run in table for _ in MEASURES]
    assert all(table[trial.row][trial.claim.name] == trial.claim.text for trial in result.trials)


@pytest.mark.thorough
def test_what_is_printed_twice_or_wrong_once_is_not_swapped(table):
    table = {run: {name: row[name] for name in ("MAP@10", "P@1")} for run, row in table.items()}
    twice = {run: {**row, "MAP@10": row["P@1"]} for run, row in table.items()}
    for claims in (twice, {**table, "lsa": twice["lsa"]}):
        result = pm.audit(QRELS, RUNS, claims)
        assert (result.swap, "It seems that" in str(result)) == ("", False)


@pytest.mark.thorough
def test_rows_are_swapped_beside_two_with_the_same_numbers(table):
    runs = {"copy": RUNS["bm25"], **RUNS, "third": RUNS["lsa"] | {"sample_01_1": {}}}
    rows = {"copy": table["bm25"], **table}
    values = pm.calc_aggregate([*MEASURES.values()], QRELS, runs["third"]).values()
    rows["third"] = {name: f"{value:.4f}" for name, value in zip(MEASURES, values, strict=True)}
    result = pm.audit(QRELS, runs, exchanged(rows, "rows", "lsa", "third"))
    assert result.swap == "the rows lsa and third are swapped"


@pytest.mark.parametrize(
    ("name", "other", "said"),
    [
        pytest.param("R@5", "R@20 or R@50", True, marks=pytest.mark.thorough),
        ("P@5", "RR@5", True),
        pytest.param("P@5", "", False, marks=pytest.mark.thorough),
    ],
)
def test_another_measure_or_cutoff_that_has_an_open_number_is_named(values, table, name, other, said):
    text = f"{values['bm25'][other.partition(' ')[0]]:.4f}" if said else "0.9877"
    result = pm.audit(QRELS, RUNS["bm25"], {**table["bm25"], name: text})
    assert [line.partition(" by ")[0] for line in elsewhere(result)] == [f"{name}: {text} is {other}"] * said


def test_another_cell_of_the_row_or_the_column_that_has_a_number_is_named():
    qrels = {f"q{i}": {"a": 1} for i in range(4)}
    runs = {name: {f"q{i}": {"a": 1.0} for i in range(n)} for name, n in (("one", 4), ("two", 3))}
    table = {"one": {"P@1": "1.000", "P@2": "0.500"}, "two": {"P@1": "0.750", "P@2": "0.375"}}
    main = pm.audit(qrels, runs, table).best[0]
    cells = {
        text: other_cells(printed_as(main.trials[0], text), main)
        for row in table.values()
        for text in row.values()
    }
    assert cells == {"1.000": [], "0.500": ["P@2 of one"], "0.750": ["P@1 of two"], "0.375": []}
    main = pm.audit(qrels, runs["one"], table["one"]).best[0]
    assert other_cells(printed_as(main.trials[0], "0.500"), main) == ["P@2"]


@pytest.mark.parametrize("is_copied", [True, False])
def test_a_number_of_another_cell_may_be_copied(is_copied):
    """On lists of judged documents alone, R@5 equals R@20 here: only the column R@20 makes a copy likely."""
    rng = random.Random(1)
    qrels = {f"q{i}": {f"d{j}": 1 for j in range(rng.randint(1, 4))} for i in range(200)}
    documents = [*(f"d{j}" for j in range(5)), *(f"x{j}" for j in range(60))]
    run = {query: {doc: -rank for rank, doc in enumerate(rng.sample(documents, 20))} for query in qrels}
    names = {"nDCG@10": "nDCG@10", "MAP@10": "AP@10", "P@5": "P@5", "R@10": "R@10", "R@20": "R@20"}
    values = pm.calc_aggregate([*names.values()], qrels, run).values()
    table = {name: f"{value:.4f}" for name, value in zip(names, values, strict=True)}
    table["R@5"] = table["R@20"] if is_copied else table.pop("R@20")
    result = pm.audit(qrels, run, table)
    [exception] = result.exceptions
    assert [trial.claim.name for trial in exception.trials] == ["R@5"]
    assert exception.chance.value <= DIFFERENT
    assert (exception.is_clear, bool(result.unclear)) == (not is_copied, is_copied)
    copied = f"R@5: {table['R@5']} is R@20 by the convention of the other claims"
    assert elsewhere(result) == [copied] * is_copied
    assert ("The numbers were made differently" in str(result)) is not is_copied


def test_lines_are_swapped_if_each_has_the_numbers_of_one_other():
    qrels = {f"q{i}": {"a": 1} for i in range(4)}
    runs = {name: {f"q{i}": {"a": 1.0} for i in range(n)} for name, n in (("one", 4), ("two", 2))}
    true = {
        "one": {"P@1": "1.000", "P@2": "0.500", "P@4": "0.250"},
        "two": {"P@1": "0.500", "P@2": "0.250", "P@4": "0.125"},
    }
    trials = pm.audit(qrels, runs, true).trials

    def swapped(*texts):
        claimed = [printed_as(trial, text) for trial, text in zip(trials, texts, strict=False)]
        return swap_in(claimed, [COMMUNITY])

    columns = swapped("0.500", "1.000", "0.250", "0.250", "0.500", "0.125")
    assert columns.text == "the columns P@1 and P@2 are swapped"
    assert [each.claim.text for each in columns.trials] == [
        text for row in true.values() for text in row.values()
    ]
    assert [each.cell for each in columns.trials][:3] == ["0.500", "1.000", "0.250"]
    rows = swapped("0.500", "0.250", "0.125", "1.000", "0.500", "0.250")
    assert rows.text == "the rows one and two are swapped"
    assert swapped(*(text for row in true.values() for text in row.values())) is None
    assert swapped("0.500", "0.500", "0.250", "0.250", "0.250", "0.125") is None  # twice the same
    assert swapped("0.500", "1.000", "0.250", "0.250", "0.500") is None  # a number is left out


CUTOFFS = (1, 3, 5, 10, 20, 50, 100, 200, 500, 1000)


def test_other_measures_have_the_usual_cutoffs():
    """There is a relevant document at each usual cutoff, so recall grows by a tenth at each."""
    run = {"q": {f"d{rank}": -float(rank) for rank in range(1, 1101)}}
    answer = pm.audit({"q": {f"d{rank}": 1 for rank in CUTOFFS}}, run, {"R@7": "0.300"}).best[0]
    [trial] = answer.trials
    for number, cutoff in enumerate(CUTOFFS, start=1):
        text = f"{number / 10:.3f}"
        found = [*other_measures(printed_as(trial, text), answer.convention)]
        assert f"R@{cutoff}" in found
        assert not {f"R@{each}" for each in CUTOFFS if each != cutoff} & {*found}
    ap = sum(number / rank for number, rank in enumerate(CUTOFFS, start=1)) / 10
    assert "AP" not in other_measures(printed_as(trial, f"{ap:.9f}"), answer.convention)  # and another cutoff
    assert "AP" in other_measures(printed_as(trial, f"{ap:.9f}"), answer.convention, both=True)
    assert "F1@7" in other_measures(printed_as(trial, f"{6 / 17:.9f}"), answer.convention)
    assert [*other_measures(printed_as(trial, "0.123"), answer.convention)] == []
    [whole] = pm.audit({"q": {"d1": 1, "d3": 1}}, run, {"MRR": "1.000"}).best[0].trials
    default = COMMUNITY.with_cutoffs([whole])
    assert [*other_measures(printed_as(whole, f"{(1 + 2 / 3) / 2:.6f}"), default)] == ["AP"]


def test_up_to_two_others_that_have_a_number_are_named():
    [claim] = pm.audit({"q": {"a": 1}}, {"q": {"a": 1.0}}, {"P@2": "1.0"}).trials
    main = pm.audit({"q": {"a": 1}}, {"q": {"a": 1.0}}, {"P@2": "0.5"}).best[0]
    n = len([*other_measures(claim, main.convention)])
    assert n > 2
    [line] = named_elsewhere(main, [claim])
    assert line.count(" or ") == 1


def test_a_column_that_another_measure_explains_without_any_change_is_not_certain():
    """Here, P@10 over min(R, k) without unjudged documents equals R@20."""
    qrels = {f"q{i}": {"a": 1, **({"b": 1} if i % 3 else {})} for i in range(60)}
    runs = {
        name: {f"q{i}": {f"x{j}": 99 - j for j in range(12)} | {"a": 50 - i % 7} for i in range(0, 60, step)}
        for name, step in (("one", 2), ("two", 3), ("three", 1))
    }
    values = {name: pm.calc_aggregate([pm.parse_measure("R@20")], qrels, run) for name, run in runs.items()}
    column = {name: {"P@10": f"{value.popitem()[1]:.4f}"} for name, value in values.items()}
    result = pm.audit(qrels, runs, column)
    assert result.best[0].complete
    assert result.best[0].changes
    assert result.verdict != "certain"
    assert "R@20" in result.other_names["P@10"]
    others = result.other_names["P@10"]
    assert len(others) > 3
    text = " ".join(str(result).split())
    assert f"But P@10 has the numbers of {' or '.join(others[:3])} without any change." in text
    named = {name: {"R@20": row["P@10"]} for name, row in column.items()}
    assert pm.audit(qrels, runs, named).other_names == {}
