"""Options of tables of means: percent, Judged@k, order and level."""

import re

import pytest
from commands import run_cli

import permed_measures as pm

SAMPLE = ("permed-sample", "permed-sample/runs")


@pytest.mark.parametrize("command", ["evaluate", "compare", "leaderboard"])
def test_means_in_percent_are_the_same_times_100_and_are_called_so(command):
    plain, percent = (
        run_cli(command, *SAMPLE, "-m", "P@1", "-m", "RR", "--format", "markdown", *options)[0]
        for options in (["--digits", "4"], ["--percent"])
    )
    assert "| **0.6458**" in plain
    assert "| **64.58**" in percent
    assert "in percent" in percent
    assert "in percent" not in plain
    [first, *_] = percent.splitlines()
    if command != "leaderboard":
        assert first.startswith("bm25 has the highest P@1: 64.58%.")
        assert plain.startswith("bm25 has the highest P@1: 0.6458.")
    if command == "compare":
        assert "percentage points" in percent
        assert "percentage points" not in plain
        assert "16.67" in percent


@pytest.mark.parametrize("command", ["evaluate", "compare", "leaderboard"])
def test_judged_is_explained_where_it_stands_and_can_be_left_out(command):
    with_judged, without = (
        run_cli(command, *SAMPLE, "-m", "P@1", *options)[0] for options in ([], ["--no-judged"])
    )
    about = "Judged@k: the share of the first k documents with a label; others count as not relevant."
    assert re.search(r"^ *(?:rank +)?run .*Judged@1", with_judged, re.MULTILINE)
    assert about in with_judged
    assert not re.search(r"^ *(?:rank +)?run .*Judged@1", without, re.MULTILINE)
    assert about not in without


def test_a_measure_that_was_asked_for_is_not_left_out_with_judged():
    stdout, _ = run_cli("evaluate", *SAMPLE, "-m", "P@1", "-m", "Judged@1", "--no-judged")
    assert "Judged@1" in stdout


@pytest.mark.parametrize("option", ["--percent", "--no-judged", "--digits=2"])
@pytest.mark.parametrize("form", ["csv", "json"])
def test_what_is_for_tables_is_refused_for_programs(option, form):
    name = option.partition("=")[0]
    with pytest.raises(pm.InputError, match=f"{name} is for tables; {form} has all numbers as they are"):
        run_cli("evaluate", *SAMPLE, option, "--format", form)


def test_runs_stand_in_the_order_in_which_they_are_named():
    runs = ["permed-sample/runs/lsa", "permed-sample/runs/bm25", "permed-sample/runs/tfidf"]
    for command in ("evaluate", "compare"):
        stdout, _ = run_cli(command, SAMPLE[0], *runs, "-m", "P@1", "--format", "markdown")
        names = re.findall(r"^\| (?:[abc] \| )?(lsa|bm25|tfidf) \|", stdout, re.MULTILINE)
        assert names[:3] == ["lsa", "bm25", "tfidf"]


def test_a_leaderboard_has_the_level_that_is_asked_for():
    found = {
        level: run_cli("leaderboard", *SAMPLE, "-m", "nDCG@10", "--level", level)[0]
        for level in ("0.95", "0.5")
    }
    assert "\nSignificantly below bm25 (p < 0.05): no run.\n" in found["0.95"]
    assert "\nSignificantly below bm25 (p < 0.5): tfidf.\n" in found["0.5"]
    assert "probability of 95%" in " ".join(found["0.95"].split())
    assert "probability of 50%" in " ".join(found["0.5"].split())
