"""The means of groups of queries as JSON."""

import json
import math

from commands import run_cli

import permed_measures as pm


def test_json_of_groups_has_their_own_ceilings():
    run = pm.datasets.SAMPLES[0].runs["bm25"]
    arguments = ["-m", "GradedAP@10", "--by", "turn_number", "--format"]
    whole = json.loads(run_cli("evaluate", "permed-sample", run, *arguments, "json")[0])[0]["groups"]
    lines = run_cli("evaluate", "permed-sample", run, *arguments, "jsonl")[0].splitlines()
    assert (
        [json.loads(line)["group"] for line in lines]
        == [group["group"] for group in whole]
        == [1, 2, 3, 4, 5]
    )
    qrels = pm.read_qrels(pm.datasets.SAMPLES[0].qrels)
    for group in whole:
        part = {q: docs for q, docs in qrels.items() if q.endswith(f"_{group['group']}")}
        assert math.isclose(group["ceilings"]["GradedAP@10"], pm.ceiling("GradedAP@10", part), abs_tol=1e-15)
