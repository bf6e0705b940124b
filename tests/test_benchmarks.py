"""The benchmarks run, and print the tables of the guide; the road of a value. No time is checked."""

import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
import road
import scale
from commands import run_cli
from scale import WORK
from speed import TABLES, table
from tools import our_command

FOLDER = Path(__file__).parent / "benchmarks"
MAP = FOLDER.parents[1] / "permed_measures" / "README.md"
GUIDE = FOLDER.parents[1] / "notebooks" / "guide" / "speed.md"
ROWS = [
    {
        "table": "tools",
        "what": "dict, 2 by 3",
        "seconds": {
            "ours": [0.5, 0.25, 0.3],
            "ir_measures": [2.0, 2.0, 0.9],
            "ranx": [9, 9, 9],
            "ranx, built": [1, 1, 1],
        },
        "peak MB": {"ours": 1234.4, "ir_measures": 2345.6, "ranx": 9},
    },
    {
        "table": "growth",
        "what": "1,000",
        "seconds": {"parquet": [0.012], "trec": [12.34]},
        "peak MB": {"parquet": 1, "trec": 2},
    },
    {
        "table": "scale",
        "what": "all",
        "seconds": {"start": [0.3, 0.25, 0.4], "tenth": [0.5, 0.4, 0.6], "all": [2.5, 2.3, 2.4]},
        "peak MB": {"ours": 77},
    },
]


def test_the_tables_have_medians_and_medians_of_ratios():
    drawn = [table(name, ROWS).replace("\N{MULTIPLICATION SIGN}", "x").split("\n")[2:-1] for name in TABLES]
    assert drawn == [
        ["| dict, 2 by 3 | 0.30 s | 4.0 x | | 30 x, 3.3 x | 1,234 MB, 2,346 MB |"],
        [],
        [],
        ["| 1,000 | 12 ms, 1 MB | 12.3 s, 2 MB |"],
        ["| all | 0.20 s | 2.10 s | 10.5 x | 77 MB |"],
    ]


def test_the_guide_has_these_tables():
    headings = {f"| {' | '.join(headings)} |" for headings, _ in TABLES.values()}
    assert headings <= set(GUIDE.read_text().splitlines())


@pytest.mark.thorough
def test_benchmarks_run_from_end_to_end():
    rows = ["frames-3440x100", "growth"]
    command = [sys.executable, FOLDER / "speed.py", *rows, "--rounds", "1", "--share", "0.002"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith("|")]
    assert len(lines) == 2 * 2 + 2 + 2


@pytest.mark.thorough
def test_each_command_of_the_scale_runs_on_each_size(monkeypatch):
    ran = []

    def run(command):
        assert command[0] == our_command("")[0]
        ran.append(run_cli(*command[1:]))
        return 1.0

    monkeypatch.setattr(scale, "running", lambda command: partial(run, command))
    monkeypatch.setattr(scale, "peak_of_command", run)  # speed.py measures that of growth, in a process
    rows = [*scale.scale(rounds=1, share=0.002)]
    assert len(table("scale", rows).splitlines()) == 2 + len(WORK)
    assert len(ran) == 4 * len(WORK)


def test_the_roads_of_a_value_are_as_short_as_the_map_says():
    with road.calls() as calls:
        on_dicts, on_files = map(road.road, calls.values())
    assert len({file for file, _ in on_dicts}) <= 11
    assert len(on_dicts) <= 49
    assert len({file for file, _ in on_files}) <= 24
    assert len(on_files) <= 123
    said = " ".join(MAP.read_text(encoding="utf-8").split())
    for functions in (on_dicts, on_files):
        assert f" {len({file for file, _ in functions})} files and {len(functions)} functions" in said
