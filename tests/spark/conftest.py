"""A session of Spark with two cores, for all tests here."""

import os
import shutil
import sys

import pytest


@pytest.fixture(scope="session")
def spark():
    """Return the session; without PySpark or Java there is none."""
    pytest.importorskip("pyspark", reason="PySpark is not installed: pip install '.[spark]'")
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        pytest.skip("Spark needs Java 17")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.files.maxPartitionBytes": "1m",  # each of our small files is a partition of its own
    }
    builder = SparkSession.builder.master("local[2]").appName("permed-measures")
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
