"""LaTeX compiles in one column and in two, and nothing sticks out: of the sample and of LitSearch."""

import itertools
import re

import pytest
from commands import run_cli, run_main
from reporting import LATIN, TURN, assert_compiles, made

import permed_measures as pm
from permed_measures.datasets import SAMPLES

LAYOUTS = pytest.mark.parametrize("layout", ["", pytest.param("twocolumn", marks=pytest.mark.thorough)])


@LAYOUTS
def test_the_sample_fits(layout, tmp_path):
    evaluate = ("evaluate", "permed-sample", "permed-sample/runs", "--format", "latex")
    texts = [run_cli(*evaluate, *each)[0] for each in ([], ["--by", "turn_number"], ["-m", "litsearch"])]
    for options in ({"baseline": "bm25"}, {}, {"baseline": "bm25", "by": TURN}, {"by": TURN, "tests": ()}):
        found = pm.compare("permed-sample", SAMPLES[0].runs, pm.MEDCORPUS, resamples=99, **options)
        texts.append(found.to("latex"))
    assert_compiles(texts, tmp_path, layout)


@pytest.mark.thorough
@pytest.mark.parametrize("layout", ["", "twocolumn"])
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


LABELLED = [
    *(
        f"{name} permed-sample permed-sample/runs -m P@1"
        for name in ("evaluate", "crosscheck", "uncertainty")
    ),
    *(f"{name} permed-sample permed-sample/runs -m P@1 --resamples 9" for name in ("compare", "leaderboard")),
    "audit permed-sample permed-sample/runs/bm25 --claim P@1=0.6458",
    "possible permed-sample --claim P@1=0.6458",
    "reranking permed-sample permed-sample/runs/bm25 permed-sample/runs/lsa",
    "gate permed-sample permed-sample/runs/bm25 --min P@1=0.6",
    pytest.param("identify permed-sample/script.py:mean_ap MAP@10", marks=pytest.mark.thorough),
]


@pytest.mark.parametrize("line", LABELLED)
def test_every_command_takes_label_and_caption(line):
    words = [*line.split(), "--format", "latex", "--label", "main", "--caption", "All of bm25_rm3, 5%"]
    status, text, err = run_main(*words)
    assert status == 0, err
    tables = text.count(r"\begin{table}")
    labels = re.findall(r"\\label{(.*?)}", text)
    assert labels == ["tab:main", *(f"tab:main-{number}" for number in range(2, tables + 1))][:tables]
    assert text.count(r"\caption{All of bm25\_rm3, 5\%.") == min(tables, 1)
    assert run_main(*line.split(), "--label", "main")[2].startswith("error: label and caption are for LaTeX")


def test_a_label_and_a_caption_in_latex_compile(tmp_path):
    found = pm.compare("permed-sample", SAMPLES[0].runs, "P@1", resamples=9)
    text = found.to("latex", label="tbl:main", caption=r"\emph{Sample}, $k=1$")
    assert r"\caption{\emph{Sample}, $k=1$. Best in bold" in text
    assert re.findall(r"\\label{(.*?)}", text) == ["tbl:main", "tbl:main-2"]
    assert_compiles([text], tmp_path)
    assert r"\caption{Is it? Best in bold" in found.to("latex", caption="Is it?")
    assert found.to("latex", caption=" \n ") == found.to("latex")
    with pytest.raises(pm.InputError, match="a label in LaTeX can have no ' '"):
        found.to("latex", label="my table")
    with pytest.raises(pm.InputError, match="label and caption are for LaTeX tables"):
        found.to("markdown", caption="Means")
