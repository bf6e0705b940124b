"""Notebooks that need what the test extra does not install are skipped, also when they are run alone."""

from importlib.util import find_spec

import pytest


def pytest_collection_modifyitems(items):
    """Skip the notebook of Spark without PySpark."""
    for item in items:
        if item.path.name == "spark.ipynb" and not find_spec("pyspark"):
            item.add_marker(pytest.mark.skip(reason="PySpark is not installed: pip install '.[spark]'"))
