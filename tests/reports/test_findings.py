"""The sentences that a page begins with."""

import pytest
from reporting import made

from permed_measures.pages.words import page_words
from permed_measures.reports.findings import findings

GOOD, MIDDLE, BAD = [1] * 12, [2] * 12, [4] * 12


def said(ranks, **options):
    return findings(made(ranks, **options), page_words())


@pytest.mark.parametrize(
    ("ranks", "options", "sentences"),
    [
        (
            {"old": MIDDLE, "new": GOOD, "bad": BAD},
            {"baseline": "old"},
            [
                "new has the highest RR: 1.0000.",
                "That is 0.5000 above old, a significant difference (95% interval [+0.5000, +0.5000], "
                "max-T-adjusted p < 0.001).",
                "Significantly better than old: 1 of 2 runs; significantly worse: 1.",
            ],
        ),
        (
            {"old": GOOD, "new": BAD},
            {"baseline": "old"},
            ["No run has a higher RR than the baseline old: 1.0000."],
        ),
        (
            {"a": GOOD, "b": MIDDLE, "c": BAD},
            {},
            ["a has the highest RR: 1.0000.", "It is significantly better than each of the 2 others."],
        ),
        (
            {"a": GOOD, "b": [1] * 11 + [2], "c": BAD},
            {},
            [
                "a has the highest RR: 1.0000.",
                "It is significantly better than 1 of the 2 others, but not shown to be better than b.",
            ],
        ),
        ({"a": GOOD, "b": GOOD}, {"baseline": "a"}, ["a and b have the highest RR: 1.0000."]),
        (
            {"a": GOOD, "b": BAD},
            {"tests": "bootstrap"},
            ["a has the highest RR: 1.0000.", "No significance test was run."],
        ),
        (
            {"a": GOOD, "b": BAD},
            {"measures": ["RR", "P@1", "P@4"], "baseline": "b"},
            [
                "a has the highest RR: 1.0000.",
                "That is 0.7500 above b, a significant difference (95% interval [+0.7500, +0.7500], "
                "max-T-adjusted p < 0.001).",
                "The same holds on P@1.",
                "On the other measures the highest is a and b on P@4.",
            ],
        ),
    ],
)
def test_a_finding_says_who_is_best_and_how_surely(ranks, options, sentences):
    assert said(ranks, **options) == sentences
