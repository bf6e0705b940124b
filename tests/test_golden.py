"""What commands print, letter for letter, at 80 columns: read once, and kept in ``golden/``.

Of numbers with all digits twelve count: the last ones are those of one version of numpy.

``python tests/test_golden.py`` writes what is printed now. Read the differences before they are committed.
"""

import json
import os
import re
import shlex
from pathlib import Path

import pytest
from commands import run_main

GOLDEN = Path(__file__).parent / "golden"
SMALL = "qrels run.trec best=other.trec"
SAMPLE = "permed-sample permed-sample/runs"
SAMPLE_RUN = "permed-sample/runs"
FILES = {
    "qrels": "q1 0 a 2\nq1 0 b 1\nq1 0 c 0\nq2 0 d 1\nq3 0 e 0\n",
    "run.trec": "q1 Q0 b 1 3 t\nq1 Q0 x 2 2 t\nq1 Q0 a 3 1 t\nq9 Q0 z 1 1 t\n",
    "other.trec": "q2 Q0 d 1 3 t\n",
    "paper.md": """| System | nDCG@10 | MAP@10 | P@1 | Δ nDCG@10 | 95% CI | latency (ms) |
|---|---:|---:|---:|---:|---|---:|
| TF-IDF | 0.6135 | 0.3790 | 0.4792 | - | - | 12 |
| BM25 (ours) | **0.6788**† | 0.4665 | 0.6458 | +6.53% | [-0.0149, 0.1499] | 9 |
| LSA | 0.6060 ± 0.02 | 0.6374 | 0.5003 | -0.75% | [-0.0514, 0.0357] | 140 |
| GPT-5 | 0.7123 | 0.5210 | 0.7083 | +9.88% | | n/a |
""",
    "small.md": "| run | P@1 | MAP@10 |\n|---|---|---|\n| one | 0.33 | 0.90 |\n| two | 0.30 | 0.20 |\n",
}
ONE = "--claim MAP@10=0.4665 --claim P@1=0.6458"
COMMANDS = {
    "help.txt": "gate -h",
    "measures.txt": "measures gradedap",
    "audit.txt": f"audit permed-sample permed-sample/runs/bm25 {ONE}",
    "audit.md": f"audit permed-sample permed-sample/runs/bm25 {ONE} --format markdown",
    "audit.tex": f"audit permed-sample permed-sample/runs/bm25 {ONE} --format latex",
    "audit_one.txt": "audit permed-sample permed-sample/runs/bm25 --claim P@1=0.6458",
    "audit_paper.txt": f"audit {SAMPLE} --claims paper.md",
    "audit.csv": "audit permed-sample permed-sample/runs/bm25 --claim P@1=0.6458 --format csv",
    "possible.txt": "possible qrels --claim P@1=0.33 --claim MAP@10=0.90",
    "possible.md": "possible qrels --claim P@1=0.33 --claim MAP@10=0.90 --format markdown",
    "possible_paper.txt": "possible qrels --claims small.md",
    "evaluate.txt": f"evaluate {SAMPLE}",
    "evaluate.md": f"evaluate {SAMPLE} --format markdown",
    "evaluate.tex": f"evaluate {SAMPLE} --format latex",
    "evaluate.csv": f"evaluate {SMALL} -m GradedAP@10 -m P@1 --format csv",
    "evaluate.json": f"evaluate {SMALL} -m GradedAP@10 --format json",
    "evaluate.jsonl": f"evaluate {SMALL} -m GradedAP@10 --format jsonl",
    "evaluate_partly.txt": f"evaluate {SMALL} -m GradedAP@10 -m P@1",
    "evaluate_by.txt": f"evaluate {SMALL} -m GradedAP@10 --by 'q([12])'",
    "evaluate_by.json": f"evaluate {SMALL} -m GradedAP@10 --by 'q([12])' --format json",
    "evaluate_by_query.txt": f"evaluate {SMALL} -m GradedAP@10 -m AP --by-query",
    "uncertainty.txt": f"uncertainty {SAMPLE} -m nDCG@10 -m GradedAP@5 --label-error 0.1 --draws 100",
    "uncertainty.tex": f"uncertainty {SAMPLE} -m P@1 --format latex",
    "gate.txt": "gate qrels run.trec --min P@1=0 --baseline other.trec --max-drop AP=0.01",
    "gate.md": "gate qrels run.trec --min P@1=0.3 --min AP=0.5 --format markdown",
    "crosscheck.txt": f"crosscheck {SMALL} -m P@1 -m GradedAP@10 -m J=Judged@5",
    "leaderboard.txt": f"leaderboard {SAMPLE} -m nDCG@10 -m P@1",
    "leaderboard.md": f"leaderboard {SMALL} -m GradedAP@10 -m P@1 --format markdown",
    "leaderboard.json": f"leaderboard {SMALL} -m P@1 --format json",
    "evaluate_macro.txt": f"evaluate {SAMPLE} -m P@1 --by turn_number --macro",
    "evaluate_by_query.tsv": f"evaluate {SMALL} -m P@1 --by-query --format tsv",
    "reranking.txt": f"reranking permed-sample bm25={SAMPLE_RUN}/bm25 {SAMPLE_RUN}/lsa",
    "reranking_same.txt": f"reranking permed-sample {SAMPLE_RUN}/lsa {SAMPLE_RUN}/lsa",
    "reranking_small.txt": "reranking qrels run.trec other.trec -m RR",
    "reranking_small.md": "reranking qrels run.trec other.trec -m RR --format markdown",
    "reranking_small.json": "reranking qrels run.trec other.trec -m RR --format json",
    "reranking_small.csv": "reranking qrels run.trec other.trec -m RR --format csv",
    "compare.txt": f"compare {SAMPLE} --baseline bm25",
    "compare.md": f"compare {SAMPLE} --baseline bm25 --format markdown",
    "compare.tex": f"compare {SAMPLE} --baseline bm25 --format latex",
    "compare.csv": f"compare {SMALL} -m RR --baseline run --format csv",
    "compare.json": f"compare {SMALL} -m RR --baseline run --format json",
    "compare_pairs.txt": f"compare {SAMPLE}",
    "compare_by.txt": f"compare {SAMPLE} --baseline bm25 --by turn_number -m P@1",
    "evaluate_methods.tex": f"evaluate {SMALL} -m GradedAP@10 -m P@1 --methods latex",
    "compare_methods.md": f"compare {SAMPLE} --baseline bm25 --methods markdown",
    "uncertainty_methods.md": f"uncertainty {SAMPLE} -m P@1 --label-error 0.1 --draws 9 --methods markdown",
    "reranking_methods.bib": "reranking qrels run.trec other.trec -m RR@3 --methods bibtex",
    "compare_tests.txt": f"compare {SAMPLE} --baseline bm25 -m P@1 --tests t-test --tests wilcoxon",
}


def written(name, folder):
    """Return what a command prints, of JSON without where its numbers come from."""
    for file, text in FILES.items():
        (folder / file).write_text(text)
    status, text, errors = run_main(*shlex.split(COMMANDS[name]))
    assert status in (0, 1), errors
    text = re.sub("(?<=pytrec-eval-terrier )[0-9.]*[0-9]", "VERSION", text)
    if "methods" in name:
        text = re.sub(r"\b(measures|numpy|polars|scipy|Python) [0-9][0-9.]*[0-9]", r"\1 VERSION", text)
    if not name.endswith(".json"):
        return text
    content = json.loads(text)
    for each in content if isinstance(content, list) else [content]:
        assert each.pop("provenance")["versions"]
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def twelve_digits(text):
    return re.sub(r"-?[0-9]+\.[0-9]{13,}(e-?[0-9]+)?", lambda found: f"{float(found[0]):.12g}", text)


THOROUGH = {"audit_paper.txt", "audit.md", "audit.tex"}
"""What takes longer than the others, and is an audit like others."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.thorough if name in THOROUGH else ()) for name in COMMANDS]
)
def test_output_is_as_it_was_read(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    golden = (GOLDEN / name).read_text(encoding="utf-8")
    assert twelve_digits(written(name, tmp_path)) == twelve_digits(golden)


@pytest.mark.parametrize("name", [name for name in COMMANDS if name.endswith(".txt")])
def test_no_line_is_wider_than_the_terminal(name):
    lines = (GOLDEN / name).read_text(encoding="utf-8").splitlines()
    assert max(map(len, lines)) <= 80
    assert not [line for line in lines if re.search("…$", line)]


if __name__ == "__main__":
    import tempfile

    os.environ["COLUMNS"] = "80"
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        for each in COMMANDS:
            (GOLDEN / each).write_text(written(each, Path(place)), encoding="utf-8")
