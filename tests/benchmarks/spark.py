"""Processor time of a run in Parquet files: ours on Spark, a window over all rows there, ours without Spark.

Run it with ``python tests/benchmarks/spark.py [--rows 3000000 30000000] [--files 7] [--rounds 2]``; it needs
Java. Each way runs in a process of its own, in a session that has computed something; the table has the least
processor seconds of its calls.

*together*: the rows of a query stand in one file. *scattered*: they stand anywhere. *window* is what one can
write at best: it ranks all rows, joins them with the judgments, and sums up the formulas of AP and nDCG.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq
from synthetic import DEPTH, write_large

import permed_measures as pm

MEASURES = ["GradedAP@10", "Coverage@10", "nDCG(dcg='exp-log2')@10", "nDCG", "AP", "P@1"]


def write(folder: Path, n_rows: int, n_files: int, scattered: bool) -> None:
    """Write judgments, and a run of 1,000 documents per query in so many files."""
    whole = folder / "whole.parquet"
    write_large(whole, folder / "qrels.trec", n_rows)
    source = pq.ParquetFile(whole)
    (folder / "run").mkdir()
    paths = [folder / "run" / f"{number:03}.parquet" for number in range(n_files)]
    with ExitStack() as stack:
        files = [stack.enter_context(pq.ParquetWriter(path, source.schema_arrow)) for path in paths]
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

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.memory", "4g").config("spark.sql.shuffle.partitions", "16")
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    rows = spark.range(1000).selectExpr("cast(id as string) query_id", "'d' doc_id", "0D score")
    pm.calc_aggregate(MEASURES, {"1": {"d": 1}}, rows)
    return spark


def ours(folder: Path) -> Callable[[], Any]:
    """Return the call of ours on Spark."""
    run, scorer = session().read.parquet(str(folder / "run")), _scorer(folder)
    return lambda: scorer.calc_aggregate(run)


def without_spark(folder: Path) -> Callable[[], Any]:
    """Return the call of ours on the same files, read by polars."""
    scorer = _scorer(folder)
    return lambda: scorer.calc_aggregate(pl.scan_parquet(folder / "run" / "*.parquet"))


def _scorer(folder: Path) -> Any:
    return pm.evaluator(MEASURES, pm.read_qrels(folder / "qrels.trec"))


def window(folder: Path) -> Callable[[], Any]:
    """Return the call that ranks all rows by a window, and computes AP, nDCG and P@1 of the judged in SQL."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    spark = session()
    run, qrels = spark.read.parquet(str(folder / "run")), pm.read_qrels(folder / "qrels.trec")
    labels = [(query_id, doc_id, grade) for query_id, docs in qrels.items() for doc_id, grade in docs.items()]
    judged = spark.createDataFrame(labels, "query_id string, doc_id string, grade int").cache()
    grades = Window.partitionBy("query_id").orderBy(F.desc("grade"))
    ideal = judged.withColumn("rank", F.row_number().over(grades)).groupBy("query_id")
    gain = "sum(grade / log2(rank + 1))"
    ideal = ideal.agg(F.expr(f"{gain} AS ideal"), F.expr("sum(int(grade > 0)) AS num_rel")).cache()
    judged.count(), ideal.count()
    by_score = Window.partitionBy("query_id").orderBy(F.desc("score"), F.desc("doc_id"))
    by_rank = Window.partitionBy("query_id").orderBy("rank")
    means = "avg(coalesce(try_divide({}, {}), 0))"

    def call() -> Any:
        ranked = run.withColumn("rank", F.row_number().over(by_score))
        hits = ranked.join(F.broadcast(judged), ["query_id", "doc_id"])
        hits = hits.withColumn("found", F.sum(F.expr("int(grade > 0)")).over(by_rank))
        values = hits.groupBy("query_id").agg(
            F.expr("sum(IF(grade > 0, found / rank, 0)) AS precisions"),
            F.expr(f"{gain} AS gain"),
            F.expr("max(int(rank = 1 AND grade > 0)) AS first"),
        )
        found = ideal.join(values, "query_id", "left").selectExpr(
            means.format("precisions", "num_rel"), means.format("gain", "ideal"), "avg(coalesce(first, 0))"
        )
        return found.first()

    return call


WAYS = {"ours": ours, "window": window, "without Spark": without_spark}


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[3_000_000, 30_000_000])
    parser.add_argument("--files", type=int, default=7)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        way, folder = asked.one
        print(least_seconds(WAYS[way](Path(folder)), asked.rounds))
        return
    for n_rows in asked.rows:
        for order in ("together", "scattered"):
            with tempfile.TemporaryDirectory(prefix="permed-spark-") as folder:
                write(Path(folder), n_rows, asked.files, order == "scattered")
                for way in WAYS:
                    command = [sys.executable, __file__, "--one", way, folder, "--rounds", str(asked.rounds)]
                    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
                    seconds = float(done.stdout.split()[-1])
                    print(f"{n_rows:12,} rows {order:10} {way:14} {seconds:9,.1f} s", flush=True)


def least_seconds(call: Callable[[], Any], rounds: int) -> float:
    """Return the least processor seconds of a call, in this process and those below it."""
    seconds = []
    for _ in range(rounds):
        before = processor_seconds()
        call()
        seconds.append(processor_seconds() - before)
    return min(seconds)


def processor_seconds() -> float:
    """Return the processor seconds of this process and all below it, Spark's JVM too, by Linux' /proc."""
    parents, ticks = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            values = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        number = int(path.parent.name)
        parents[number], ticks[number] = int(values[1]), sum(map(int, values[11:15]))  # of ended children too

    def is_below(number: int) -> bool:
        return number == os.getpid() or (number in parents and is_below(parents[number]))

    return sum(ticks[number] for number in ticks if is_below(number)) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
