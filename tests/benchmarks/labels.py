"""The processor time of a whole command on JSONL labels, against a plain script with json and ir_measures.

``PERMED_DATA=... python tests/benchmarks/labels.py [ROUNDS]`` evaluates MedCorpus' labels as qrels and as a
run, in turns with the script, and prints the medians. The script parses each line once and checks nothing;
the command reads the file twice, as qrels and as a run, and checks each line.
"""

import os
import resource
import statistics
import sys
from pathlib import Path

from measuring import in_turns, running

SCRIPT = """
import json, sys, ir_measures
from ir_measures import AP, P, nDCG
qrels, run = {}, {}
for line in open(sys.argv[1]):
    row = json.loads(line)
    query_id = f"{row['conversation_id']}_{row['turn_id']}"
    qrels.setdefault(query_id, {})[row["doc_id"]] = row["rel"]
    scores = run.setdefault(query_id, {})
    scores[row["doc_id"]] = -float(len(scores))
print(ir_measures.calc_aggregate([nDCG @ 10, AP @ 10, P @ 1], qrels, run))
"""
MEASURES = [word for name in ("nDCG@10", "AP@10", "P@1") for word in ("-m", name)]


def main(rounds: int) -> None:
    """Print the processor times of script and command."""
    labels = str(Path(os.environ["PERMED_DATA"], "medcorpus", "query_to_texts.jsonl"))
    command = [sys.executable, "-m", "permed_measures", "evaluate", labels, labels, *MEASURES]
    calls = {"script": running([sys.executable, "-c", SCRIPT, labels]), "command": running(command)}
    for name, seconds in in_turns(calls, rounds, of_children).items():
        print(f"{name:8} {statistics.median(seconds):.3f} s")


def of_children() -> float:
    """Return the processor time of the processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
