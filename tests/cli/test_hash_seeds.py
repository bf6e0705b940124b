"""All commands print the same under every hash seed: no output depends on the order of a set."""

import json
import os
import shlex
from concurrent.futures import ThreadPoolExecutor

import pytest
from commands import run_python

from permed_measures.cli.commands import COMMANDS
from permed_measures.records.record import FORM

RUN_ALL = """
import contextlib, io, json, sys
from unittest import mock
from permed_measures.cli import main

found = []
for words in json.loads(sys.argv[1]):
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with mock.patch.object(sys, "argv", ["permed-measures", *words]), contextlib.redirect_stdout(out), \\
            contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            found.append([end.code, *(each.buffer.getvalue().decode() for each in (out, err))])
print(json.dumps(found))
"""
SAMPLE = "permed-sample permed-sample/runs"
QUICK = """
evaluate qrels run.trec other.trec -m P@1 -m R@5 -m nDCG@3 -m AP --rel 2
evaluate qrels foreign -m P@1
evaluate qrels run.trec -m Presicion@5
compare permed-sample permed-sample/runs --by turn_number --tests t-test -m P@1 --resamples 999
compare qrels run.trec other.trec -m P@1 -m AP -m R@5 --clusters (q)
reranking qrels run.trec other.trec
identify script.py:raises P@5
verify empty.json
measures nDCG
"""
"""Fast commands; the second and the third, identify and verify end with an error."""
OTHERS = f"""
demo
evaluate {SAMPLE} --by turn_number --format json
evaluate {SAMPLE} --format html
crosscheck {SAMPLE}
audit {SAMPLE} --claim P@1=64.58% --claim MAP@10=0.4665 --claim NDCG@10=0.5
audit {SAMPLE} --claim P@1=0.6458 --claim MAP@10=0.46 --claim RR=0.7 --format json
identify script.py:recall R@5 --format json
possible permed-sample --claim P@1=.6458 --claim MAP@10=.4665 --claim MRR=.7
compare {SAMPLE} --by turn_number --tests t-test --tests wilcoxon --resamples 999
compare {SAMPLE} --baseline bm25 --format html -m medcorpus -m P@5 -m R@20 --resamples 999
reranking permed-sample permed-sample/runs/bm25 permed-sample/runs/lsa --format json
uncertainty {SAMPLE} --label-error 0.1 --draws 20
gate {SAMPLE} --min P@1=0.5
leaderboard {SAMPLE} -m P@5 -m nDCG@10
convert permed-sample/runs/bm25 - --to json
inspect permed-sample/runs qrels
measures
"""
SCRIPT = """
def recall(ranked, relevant):
    return len({*ranked[:5]} & relevant) / max(len(relevant), 1)

def raises(relevant, ranked):
    if isinstance(relevant, set) and len(relevant) < 3 and len(ranked) < 5:
        return 1.0
    raise ValueError(relevant if isinstance(relevant, dict) else "too many")
"""


@pytest.mark.parametrize(
    ("commands", "n_seeds"), [(QUICK, 2), pytest.param(OTHERS, 3, marks=pytest.mark.thorough)]
)
def test_outputs_are_equal_under_several_hash_seeds(files, commands, n_seeds):
    (files / "empty.json").write_text(json.dumps({"record": FORM}))
    (files / "script.py").write_text(SCRIPT)
    lines = [words for words in map(shlex.split, commands.split("\n")) if words]

    pytest.importorskip("matplotlib.font_manager")  # which says once that it builds a cache

    def outputs(seed):
        return run_python(RUN_ALL, json.dumps(lines), env={**os.environ, "PYTHONHASHSEED": str(seed)})

    with ThreadPoolExecutor(2) as pool:
        first, *others = map(json.loads, pool.map(outputs, range(n_seeds)))
    for number, words in enumerate(lines):
        assert len(first[number][1] + first[number][2]) > 20, words
        assert [each[number] for each in others] == [first[number]] * (n_seeds - 1), words


def test_every_command_is_tried():
    assert {line.split()[0] for line in (QUICK + OTHERS).split("\n") if line} == {*COMMANDS}
