"""Tables on terminals of some width."""

import itertools
import re

import pytest
from reporting import blocks_of, loaded, made, rounded
from rich.cells import cell_len


@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_a_terminal_cuts_no_value_and_says_which_columns_it_has_no_room_for(against_bm25, shown, width):
    lines, _ = shown(against_bm25, width)
    assert max(map(cell_len, lines)) <= width
    means, _, differences, *others = blocks_of(lines)
    said = " ".join(
        itertools.chain(*(block for block in others if block[0].startswith("hidden (terminal too narrow)")))
    )
    gone = said.removeprefix("hidden (terminal too narrow): ").split(", ") if said else []
    content = loaded(against_bm25)
    assert [line.split() for line in means if re.match("bm25|lsa|tfidf", line)] == [
        [run, *(f"{value:.4f}" for value in [*values.values(), *content["judged"][run].values()])]
        for run, values in content["means"].items()
    ]
    headings = ["mean", "base", "Δ", "Δ %", "95% CI", "win/tie/loss", "d_z", "p", "p (adj.)"]
    kept = [number for number, heading in enumerate(headings) if heading not in gone]
    assert len(kept) == len(headings) - len(gone)
    expected = [
        " ".join([row["measure"], row["run"], *(rounded(row)[number] for number in kept)]).split()
        for row in content["rows"]
    ]
    assert [line.split() for line in differences if line.startswith(("nDCG", "Graded", "P@1"))] == expected
    assert {"Δ", "95% CI", "p (adj.)"}.isdisjoint(gone)
    assert {"p", "Δ %"} <= set(gone) or width > 80


def test_a_terminal_narrower_than_the_numbers_cuts_none(against_bm25, shown):
    lines, _ = shown(against_bm25, 20)
    assert ["bm25", "0.6707"] in [line.split() for line in lines]
    means = lines[: next(n for n, line in enumerate(lines) if line.startswith("Means"))]
    shown_means = " ".join(means).split()
    assert {"nDCG@10", "GradedAP@10", "P@1"} <= set(shown_means)
    assert shown_means.count("bm25") == shown_means.count("lsa") == 5
    assert "too wide" not in " ".join(means)


def test_a_file_has_every_column(against_bm25):
    text = against_bm25.to("table")
    assert "too wide" not in text
    assert "\x1b" not in text
    headings = "measure run mean base Δ Δ % 95% CI win/tie/loss d_z p p (adj.)"
    assert headings.split() in [line.split() for line in text.splitlines()]


def test_the_best_is_bold_and_the_second_underlined_on_a_terminal(shown):
    lines, text = shown(made({"a": [4], "b": [1], "c": [2]}, tests=()), 80)
    assert text.count("\x1b[1m1.0000") == 1
    assert text.count("\x1b[4m0.5000") == 1
    assert "Means over 1 query; best in bold, second best underlined." in " ".join(lines)


@pytest.mark.parametrize("width", [50, 80, 120])
def test_wide_letters_are_aligned(shown, width):
    ranks = {"查询重写检索": [1] * 8, "bm25": [2] * 8, "基忆": [3] * 8}
    lines, _ = shown(made(ranks, ["RR", "P@1"], baseline="bm25"), width)
    means, _, differences, *_ = blocks_of(lines)
    ends = [
        [cell_len(line[: number.end()]) for number in re.finditer(r"\d\.\d+", line)] for line in means[2:]
    ]
    assert len(ends) == 3
    assert ends == [ends[0]] * 3
    assert {cell_len(line) for line in differences[2:]} == {cell_len(differences[1])}


def test_long_names_are_folded_and_not_cut(shown):
    name = "a dense retriever that has a very long name and was trained with hard negatives"
    lines, _ = shown(made({"old": [2] * 8, name: [1] * 8}, ["RR", "P@1"], baseline="old"), 60)
    assert max(map(cell_len, lines)) <= 60
    means, _, differences, *_ = blocks_of(lines)
    folded = " ".join(re.sub(r" [01]\.\d+.?", "", line).strip() for line in means[3:])
    assert " ".join(folded.split()) == name
    words = [word for line in differences for word in line.split() if not re.match(r"[-+]?\d|─", word)]
    start = words.index("RR") + 1
    assert words[start : start + len(name.split())] == name.split()
