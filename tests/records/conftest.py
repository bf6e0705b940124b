"""Runs of the sample as files, with their qrels."""

import shutil

import pytest

from permed_measures.datasets import SAMPLES
from permed_measures.records.record import record

MEDICAL = SAMPLES[0]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Make a folder with qrels and runs, and work in it."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(MEDICAL.qrels, tmp_path / "qrels.jsonl")
    for name, path in MEDICAL.runs.items():
        shutil.copy(path, tmp_path / f"{name}.jsonl")
    return tmp_path


@pytest.fixture
def made(folder):  # noqa: ARG001 - it is the folder that files are read in
    """Make a record of two runs in that folder."""
    return record("qrels.jsonl", {"bm25": "bm25.jsonl", "lsa": "lsa.jsonl"}, ["nDCG@10", "GradedAP@10"])
