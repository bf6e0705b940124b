"""Time and memory of a run in Parquet files: ours on two cores of Spark, MLlib's recipe, ours without Spark.

Run it with ``python tests/benchmarks/spark.py [--rows 3000000 30000000] [--files 1 7 64] [--rounds 3]``; it
needs Java. Each way runs in a process of its own, in a session that has computed something. The table has the
median seconds, and the peak memory in MB: of this Python with the JVM, and of the Python workers.

*together*: the rows of a query stand in one file. *scattered*: they stand anywhere. The recipe numbers the
rows of each query by a window, keeps ten, and gives lists of them to RankingMetrics; its labels are binary.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq
from synthetic import DEPTH, write_large

import permed_measures as pm

MEASURES = ["GradedAP@10", "Coverage@10", "nDCG(dcg='exp-log2')@10", "nDCG@10", "AP@10", "P@1"]


def write(folder: Path, n_rows: int, n_files: int, scattered: bool) -> None:
    """Write judgments, and a run of 1,000 documents per query in so many files."""
    whole = folder / "whole.parquet"
    write_large(whole, folder / "qrels.trec", n_rows)
    source = pq.ParquetFile(whole)
    (folder / "run").mkdir()
    with ExitStack() as stack:
        files = [
            stack.enter_context(
                pq.ParquetWriter(folder / "run" / f"{number:03}.parquet", source.schema_arrow)
            )
            for number in range(n_files)
        ]
        for group in range(source.num_row_groups):
            table = source.read_row_group(group)
            n_queries = len(table) // DEPTH
            if scattered:
                table = table.take(np.random.default_rng(group).permutation(len(table)))
            for number, file in enumerate(files):
                start, end = (DEPTH * (n_queries * each // n_files) for each in (number, number + 1))
                file.write_table(table.slice(start, end - start))
    whole.unlink()


def session() -> Any:
    """Return a session that has computed something."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.memory", "4g").config("spark.sql.shuffle.partitions", "16")
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    rows = spark.range(1000).selectExpr("cast(id as string) query_id", "'d' doc_id", "0D score")
    pm.calc_aggregate(MEASURES, {"1": {"d": 1}}, rows)
    return spark


def judgments(folder: Path) -> Any:
    """Return the qrels as a dict."""
    return pm.read_qrels(folder / "qrels.trec")


def ours(folder: Path) -> Callable[[], Any]:
    """Return the call of ours on Spark."""
    run, scorer = session().read.parquet(str(folder / "run")), pm.evaluator(MEASURES, judgments(folder))
    return lambda: scorer.calc_aggregate(run)


def recipe(folder: Path) -> Callable[[], Any]:
    """Return the call of the recipe for MLlib."""
    from pyspark.mllib.evaluation import RankingMetrics
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    spark = session()
    run = spark.read.parquet(str(folder / "run"))
    labels = [(query_id, list(docs)) for query_id, docs in judgments(folder).items()]
    relevant = spark.createDataFrame(labels, "query_id string, relevant array<string>").cache()
    relevant.count()

    def call() -> list[float]:
        window = Window.partitionBy("query_id").orderBy(F.desc("score"), F.desc("doc_id"))
        ranked = run.withColumn("rank", F.row_number().over(window)).filter("rank <= 10")
        pairs = F.sort_array(F.collect_list(F.struct("rank", "doc_id")))
        grouped = ranked.groupBy("query_id").agg(pairs.alias("pairs"))
        both = relevant.join(grouped, "query_id").select("pairs.doc_id", "relevant")
        lists = both.rdd.map(tuple).cache()  # each metric would compute them again
        metrics = RankingMetrics(lists)
        found = [metrics.ndcgAt(10), metrics.meanAveragePrecisionAt(10), metrics.precisionAt(1)]
        lists.unpersist()
        return found

    return call


def without_spark(folder: Path) -> Callable[[], Any]:
    """Return the call of ours on the same files, read by polars."""
    scorer = pm.evaluator(MEASURES, judgments(folder))
    return lambda: scorer.calc_aggregate(pl.scan_parquet(folder / "run" / "*.parquet"))


WAYS = {"ours": ours, "recipe": recipe, "without Spark": without_spark}


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[3_000_000, 30_000_000])
    parser.add_argument("--files", type=int, nargs="+", default=[1, 7, 64])
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=list(WAYS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        way, folder = asked.one
        measure(WAYS[way](Path(folder)), asked.rounds)
        return
    print(f"{'rows':>12} {'files':>5} {'order':10} {'way':14} {'s':>7} {'driver MB':>9} {'workers MB':>10}")
    for n_rows in asked.rows:
        for n_files in asked.files:
            for order in ("together", "scattered"):
                compare(n_rows, n_files, order, asked.ways, asked.rounds)


def compare(n_rows: int, n_files: int, order: str, ways: list[str], rounds: int) -> None:
    """Write the files, evaluate them in each way, and print a line for each."""
    folder = Path(tempfile.mkdtemp(prefix="permed-spark-"))
    try:
        write(folder, n_rows, n_files, order == "scattered")
        for way in ways:
            command = [
                sys.executable,
                __file__,
                "--one",
                way,
                str(folder),
                str(n_rows),
                "--rounds",
                str(rounds),
            ]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            seconds, driver, workers = map(float, done.stdout.split()[-3:])
            print(
                f"{n_rows:12,} {n_files:5} {order:10} {way:14} {seconds:7.2f} {driver:9,.0f} {workers:10,.0f}"
            )
    finally:
        shutil.rmtree(folder)


def measure(call: Callable[[], Any], rounds: int) -> None:
    """Print the median seconds of the call, and the peak memory of this process tree in MB."""
    peak, ended = {"driver": 0.0, "workers": 0.0}, threading.Event()

    def sample() -> None:
        while not ended.wait(0.1):
            for kind, megabytes in memory().items():
                peak[kind] = max(peak[kind], megabytes)

    sampler = threading.Thread(target=sample)
    sampler.start()
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    ended.set()
    sampler.join()
    print(statistics.median(seconds), peak["driver"], peak["workers"])


def memory() -> dict[str, float]:
    """Return the resident memory in MB of this process with its JVM, and of Spark's Python workers."""
    parents, sizes, names = {}, {}, {}
    for path in Path("/proc").glob("[0-9]*/status"):
        try:
            fields = dict(line.split(":\t", 1) for line in path.read_text().splitlines() if ":\t" in line)
        except OSError:  # it has ended
            continue
        number = int(path.parent.name)
        parents[number], names[number] = int(fields["PPid"]), fields["Name"]
        sizes[number] = int(fields.get("VmRSS", "0").split()[0]) / 1024
    total = {"driver": 0.0, "workers": 0.0}
    for number in sizes:
        line = [number]
        while line[-1] in parents and line[-1] != os.getpid():
            line.append(parents[line[-1]])
        if line[-1] == os.getpid():
            below_jvm = any(names.get(each) == "java" for each in line[1:])
            total["workers" if below_jvm else "driver"] += sizes[number]
    return total


if __name__ == "__main__":
    main()
