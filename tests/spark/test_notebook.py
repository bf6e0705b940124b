"""The notebook of Spark where PySpark is not installed."""

import subprocess
import sys
from pathlib import Path

import pytest

ALONE = """
import sys

import pytest

sys.modules["pyspark"] = None  # as if it were not installed
sys.exit(pytest.main(["-p", "no:cacheprovider", "notebooks/spark.ipynb"]))
"""


@pytest.mark.thorough
def test_the_notebook_is_skipped_with_the_reason_when_it_is_run_alone():
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", ALONE]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
    assert (
        "SKIPPED [1] notebooks/spark.ipynb: PySpark is not installed: pip install '.[spark]'" in done.stdout
    )
    assert "1 skipped" in done.stdout
