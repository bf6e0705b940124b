"""LaTeX compiles in one column and in two, and nothing sticks out: of the sample and of LitSearch."""

import itertools

import pytest
from commands import run_cli
from reporting import LATIN, TURN, assert_compiles, made

import permed_measures as pm
from permed_measures.datasets import SAMPLES

LAYOUTS = pytest.mark.parametrize("layout", ["", "twocolumn"])


@LAYOUTS
def test_the_sample_fits(layout, tmp_path):
    evaluate = ("evaluate", "permed-sample", "permed-sample/runs", "--format", "latex")
    texts = [run_cli(*evaluate, *each)[0] for each in ([], ["--by", "turn_number"], ["-m", "litsearch"])]
    for options in ({"baseline": "bm25"}, {}, {"baseline": "bm25", "by": TURN}, {"by": TURN, "tests": ()}):
        found = pm.compare("permed-sample", SAMPLES[0].runs, pm.MEDCORPUS, resamples=99, **options)
        texts.append(found.to("latex"))
    assert_compiles(texts, tmp_path, layout)


@LAYOUTS
def test_comparisons_of_litsearch_fit(data, layout, tmp_path):
    qrels = pm.read_qrels(data / "litsearch" / "query_to_texts.jsonl")
    runs = {path.stem: pm.read_run(path) for path in sorted((data / "litsearch" / "runs").iterdir())}
    texts = [
        pm.compare(qrels, runs, pm.LITSEARCH, baseline, resamples=99).to("latex")
        for baseline in (None, "keyword")
    ]
    assert_compiles(texts, tmp_path, layout)


def test_hostile_names_compile(tmp_path):
    names = dict(zip(LATIN, itertools.cycle([[1, 1], [2, 1], [3, 4]]), strict=False))
    assert_compiles(made(names, ["RR", "P@1"]).to("latex"), tmp_path)


@pytest.mark.parametrize("letter", ["Ā", "ŧ", "查", "Ω", "🧬"])
def test_letters_beyond_pdflatex_are_said(letter):
    text = made({letter: [1], "b": [2]}).to("latex")
    assert text.splitlines()[1].startswith("% compile it with XeLaTeX or LuaLaTeX")
    assert "XeLaTeX" not in made({"a \u201cquoted\u201d name\u2026": [1], "2\u20133": [2]}).to("latex")
