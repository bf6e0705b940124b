"""The processor time of a whole command on JSONL labels, against a plain script with json and ir_measures.

``PERMED_DATA=... python tests/benchmarks/labels.py [ROUNDS]`` evaluates MedCorpus' labels as qrels and as a
run, in turns with the script, and prints the medians. The script parses each line once and checks nothing;
the command reads the file twice, as qrels and as a run, and checks each line.
"""

import os
import resource
import statistics
import subprocess
import sys
from pathlib import Path

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


def seconds_of(command: list[str]) -> float:
    """Return the processor time that a command takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(rounds: int) -> None:
    """Print the times of script and command, and of loading what they need."""
    labels = str(Path(os.environ["PERMED_DATA"], "medcorpus", "query_to_texts.jsonl"))
    python, package = [sys.executable], [sys.executable, "-m", "permed_measures"]
    read = "import permed_measures as pm, sys; pm.read_qrels(sys.argv[1]); pm.read_run(sys.argv[1])"
    commands = {
        "script": [*python, "-c", SCRIPT, labels],
        "command": [*package, "evaluate", labels, labels, *MEASURES],
        "import ir_measures": [*python, "-c", "import ir_measures"],
        "import permed_measures": [*python, "-c", "import permed_measures"],
        "read_qrels and read_run": [*python, "-W", "ignore", "-c", read, labels],
        "permed-measures --version": [*package, "--version"],
    }
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            times[name].append(seconds_of(command))
    for name, each in times.items():
        print(f"{name:28} {statistics.median(each):.3f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
