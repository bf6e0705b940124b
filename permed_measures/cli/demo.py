"""The command demo."""

from __future__ import annotations

from argparse import Namespace

from permed_measures.cli import evaluate
from permed_measures.cli.parsing import PROGRAM, Command, parse


def run(_: Namespace) -> None:
    """Evaluate the packaged sample."""
    words = ["permed-sample", "permed-sample/runs"]
    print(f"$ {PROGRAM} evaluate {' '.join(words)}", flush=True)
    evaluate.run(parse("evaluate", "", evaluate.COMMAND, words))
    print(f"\nIs bm25 significantly better? Try: {PROGRAM} compare {' '.join(words)} --baseline bm25")


COMMAND = Command(run, [], examples=[""])
