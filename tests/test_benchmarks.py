"""The benchmarks run, and draw their tables into the guide. No time is checked."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import road
from guide_tables import END, GUIDE, START, TABLES, redraw, tables

FOLDER = Path(__file__).parent / "benchmarks"
REPORT = {
    "machine": "2 cores",
    "rows": [
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
            "table": "work",
            "what": "audit",
            "clock": "processor",
            "seconds": {"ours": [2.5, 2.6]},
            "peak MB": {"ours": 100},
        },
        {"table": "start", "what": "import os", "seconds": {"ours": [0.0123]}},
        {
            "table": "growth",
            "what": "1,000",
            "seconds": {"parquet": [0.1, 0.2, 0.3], "trec": [12.34]},
            "peak MB": {"parquet": 1, "trec": 2},
        },
    ],
}
DRAWN = """
| dict, 2 by 3 | 0.30 s | 4.0 x | | 30 x, 3.3 x | 1,234 MB, 2,346 MB |
| audit | 2.55 s, processor | 100 MB |
| `import os` | 12 ms |
| 1,000 | 0.20 s, 1 MB | 12.3 s, 2 MB |
"""


def lines_of_tables(text):
    return [line for line in text.splitlines() if line.startswith("|")]


def test_the_tables_have_medians_and_medians_of_ratios():
    headings = {f"| {' | '.join(headings)} |" for _, headings, _ in TABLES.values()}
    lines = [line for line in lines_of_tables(tables(REPORT)) if line not in headings and "---" not in line]
    assert lines == DRAWN.replace(" x", " \N{MULTIPLICATION SIGN}").split("\n")[1:-1]


def test_only_the_tables_of_the_guide_are_drawn_again(tmp_path):
    guide = tmp_path / "speed.md"
    guide.write_text(GUIDE.read_text())
    redraw(REPORT, guide)
    redraw(REPORT, guide)
    before, _, rest = GUIDE.read_text().partition(START)
    after = rest.partition(END)[2]
    assert guide.read_text() == f"{before}{START}\n\n{tables(REPORT)}\n\n{END}{after}"
    headings = {f"| {' | '.join(headings)} |" for _, headings, _ in TABLES.values()}
    assert len(headings & set(GUIDE.read_text().splitlines())) == 4  # those of the guide
    guide.write_text("no tables")
    with pytest.raises(SystemExit, match="must have the lines"):
        redraw(REPORT, guide)


@pytest.mark.thorough
def test_benchmarks_run_from_end_to_end(tmp_path):
    guide = tmp_path / "speed.md"
    guide.write_text(f"{START}{END}")
    rows = ["frames-3440x100", "audit", "growth"]
    arguments = [*rows, "--rounds", "1", "--share", "0.002", "--out", tmp_path / "results.json"]
    command = [sys.executable, FOLDER / "speed.py", *map(str, arguments), "--guide", guide]
    subprocess.run(command, check=True, capture_output=True, text=True)
    report = json.loads((tmp_path / "results.json").read_text())
    assert {row["name"] for row in report["rows"]} == set(rows)
    drawn = guide.read_text()
    assert len(lines_of_tables(drawn)) == len(report["rows"]) + 2 * len(rows)
    guide.write_text(f"{START}{END}")
    subprocess.run([*command[:2], "--from", tmp_path / "results.json", "--guide", guide], check=True)
    assert guide.read_text() == drawn


def test_the_roads_of_a_value_are_as_short_as_the_map_says():
    with road.calls() as calls:
        on_dicts, on_files = map(road.road, calls.values())
    assert len({file for file, _ in on_dicts}) <= 12
    assert len(on_dicts) <= 50
    assert len({file for file, _ in on_files}) <= 20
    assert len(on_files) <= 110
