"""LaTeX compiles in one column and in two, and nothing sticks out: of the sample and of LitSearch."""

import pytest
from commands import run_cli
from reporting import assert_compiles

import permed_measures as pm

LAYOUTS = pytest.mark.parametrize("layout", ["", "twocolumn"])


@LAYOUTS
def test_evaluations_of_the_sample_fit(layout, tmp_path):
    sample = ("evaluate", "permed-sample", "permed-sample/runs", "--format", "latex")
    options = ([], ["--by", "turn_number"], ["-m", "litsearch"])
    texts = [run_cli(*sample, *each)[0] for each in options]
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
