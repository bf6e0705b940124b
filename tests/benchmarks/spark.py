"""Time and memory of a run in Parquet files: ours on two cores of Spark, MLlib's recipe, ours without Spark.

Run it with ``python tests/benchmarks/spark.py [--rows 3000000 30000000] [--files 1 7 64] [--rounds 3]``; it
needs Java. Each way runs in a process of its own, in a session that has computed something. The table has the
least seconds, those of the processors, and peaks of memory in MB: of the driver (Python, JVM) and workers.

*together*: the rows of a query stand in one file. *scattered*: they stand anywhere. The recipe numbers the
rows of each query by a window, keeps ten, and gives lists of them to RankingMetrics; its labels are binary.
For measures without a cutoff it keeps all. *window* is what one can write at best: it joins the numbered
rows with the judgments, and sums up the formulas of AP and nDCG.
*reading twice* is the least that two scans can cost: Spark reads three columns and sums up a hash, twice.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pyarrow.parquet as pq
from synthetic import DEPTH, write_large

import permed_measures as pm

UNCUT = ["GradedAP", "Coverage", "nDCG(dcg='exp-log2')", "nDCG", "AP", "P@1"]
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

    os.environ["PYSPARK_PYTHON"] = sys.executable
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


def ours(folder: Path, measures: list[str] = MEASURES) -> Callable[[], Any]:
    """Return the call of ours on Spark."""
    run, scorer = session().read.parquet(str(folder / "run")), pm.evaluator(measures, judgments(folder))
    return lambda: scorer.calc_aggregate(run)


def reading_twice(folder: Path) -> Callable[[], Any]:
    """Return the call that reads the run twice, and computes nothing but a hash of its rows."""
    run = session().read.parquet(str(folder / "run"))
    total = "sum(shiftright(xxhash64(query_id, doc_id, score), 32))"
    return lambda: [run.selectExpr("count(1)", total).first() for _ in range(2)]


def ranked(run: Any) -> Any:
    """Return the rows of a run with their ranks, by a window."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    window = Window.partitionBy("query_id").orderBy(F.desc("score"), F.desc("doc_id"))
    return run.withColumn("rank", F.row_number().over(window))


def recipe(folder: Path, cutoff: int | None = 10) -> Callable[[], Any]:
    """Return the call of the recipe for MLlib."""
    from pyspark.mllib.evaluation import RankingMetrics
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    spark = session()
    run = spark.read.parquet(str(folder / "run"))
    labels = [(query_id, list(docs)) for query_id, docs in judgments(folder).items()]
    relevant = spark.createDataFrame(labels, "query_id string, relevant array<string>").cache()
    relevant.count()

    def call() -> list[float]:
        rows = ranked(run) if cutoff is None else ranked(run).filter(f"rank <= {cutoff}")
        pairs = F.sort_array(F.collect_list(F.struct("rank", "doc_id")))
        grouped = rows.groupBy("query_id").agg(pairs.alias("pairs"))
        both = relevant.join(grouped, "query_id").select("pairs.doc_id", "relevant")
        lists = both.rdd.map(tuple).cache()  # each metric would compute them again
        metrics = RankingMetrics(lists)
        if cutoff is None:
            found = [metrics.ndcgAt(DEPTH), metrics.meanAveragePrecision, metrics.precisionAt(1)]
        else:
            found = [metrics.ndcgAt(cutoff), metrics.meanAveragePrecisionAt(cutoff), metrics.precisionAt(1)]
        lists.unpersist()
        return found

    return call


def window(folder: Path) -> Callable[[], Any]:
    """Return the call that ranks all rows by a window, and computes AP and nDCG of the hits in SQL."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    spark = session()
    run, qrels = spark.read.parquet(str(folder / "run")), judgments(folder)
    labels = [(query_id, doc_id, grade) for query_id, docs in qrels.items() for doc_id, grade in docs.items()]
    judged = spark.createDataFrame(labels, "query_id string, doc_id string, grade int").cache()
    grades = Window.partitionBy("query_id").orderBy(F.desc("grade"))
    ideal = judged.withColumn("place", F.row_number().over(grades)).groupBy("query_id")
    ideal = ideal.agg(
        F.expr("sum(grade / log2(place + 1)) AS ideal"), F.expr("sum(int(grade > 0)) AS num_rel")
    ).cache()
    judged.count(), ideal.count()

    def call() -> Any:
        hits = ranked(run).join(F.broadcast(judged), ["query_id", "doc_id"])
        by_rank = Window.partitionBy("query_id").orderBy("rank")
        hits = hits.withColumn("found", F.sum(F.expr("int(grade > 0)")).over(by_rank))
        values = hits.groupBy("query_id").agg(
            F.expr("sum(IF(grade > 0, found / rank, 0)) AS precisions"),
            F.expr("sum(grade / log2(rank + 1)) AS gain"),
            F.expr("max(int(rank = 1 AND grade > 0)) AS first"),
        )
        means = "avg(coalesce(try_divide({}, {}), 0))"
        return (
            ideal.join(values, "query_id", "left")
            .selectExpr(
                means.format("precisions", "num_rel"),
                means.format("gain", "ideal"),
                "avg(coalesce(first, 0))",
            )
            .first()
        )

    return call


def without_spark(folder: Path) -> Callable[[], Any]:
    """Return the call of ours on the same files, read by polars."""
    scorer = pm.evaluator(MEASURES, judgments(folder))
    return lambda: scorer.calc_aggregate(pl.scan_parquet(folder / "run" / "*.parquet"))


ORDERS = ["together", "scattered"]
WAYS = {
    "ours": ours,
    "ours, uncut": partial(ours, measures=UNCUT),
    "reading twice": reading_twice,
    "recipe": recipe,
    "recipe, uncut": partial(recipe, cutoff=None),
    "window": window,
    "without Spark": without_spark,
}


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[3_000_000, 30_000_000])
    parser.add_argument("--files", type=int, nargs="+", default=[1, 7, 64])
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=list(WAYS))
    parser.add_argument("--orders", nargs="+", default=ORDERS, choices=ORDERS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        way, folder = asked.one
        measure(WAYS[way](Path(folder)), asked.rounds)
        return
    columns = " ".join(f"{name:>9}" for name in ("s", "cpu s", "driver", "workers"))
    print(f"{'rows':>12} {'files':>5} {'order':10} {'way':14} {columns}")
    for n_rows in asked.rows:
        for n_files in asked.files:
            for order in asked.orders:
                compare(n_rows, n_files, order, asked.ways, asked.rounds)


def compare(n_rows: int, n_files: int, order: str, ways: list[str], rounds: int) -> None:
    """Write the files, evaluate them in each way, and print a line for each."""
    folder = Path(tempfile.mkdtemp(prefix="permed-spark-"))
    try:
        write(folder, n_rows, n_files, order == "scattered")
        for way in ways:
            command = [sys.executable, __file__, "--one", way, str(folder), "--rounds", str(rounds)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            found = " ".join(f"{float(value):9,.1f}" for value in done.stdout.split()[-4:])
            print(f"{n_rows:12,} {n_files:5} {order:10} {way:14} {found}", flush=True)
    finally:
        shutil.rmtree(folder)


def measure(call: Callable[[], Any], rounds: int) -> None:
    """Print the least seconds and processor seconds of the call, and peaks of memory."""
    peak, ended = {False: 0.0, True: 0.0}, threading.Event()

    def sample() -> None:
        while not ended.wait(0.1):
            for is_worker in peak:
                total = sum(each.megabytes for each in processes() if each.is_worker == is_worker)
                peak[is_worker] = max(peak[is_worker], total)

    sampler = threading.Thread(target=sample)
    sampler.start()
    seconds, processor = [], []
    for _ in range(rounds):
        start, used = time.perf_counter(), sum(each.seconds for each in processes())
        call()
        seconds.append(time.perf_counter() - start)
        processor.append(sum(each.seconds for each in processes()) - used)
    ended.set()
    sampler.join()
    print(min(seconds), min(processor), peak[False], peak[True])


class Process(NamedTuple):
    """A process of this benchmark: whether Spark's JVM started it, its memory and processor time."""

    is_worker: bool
    megabytes: float
    seconds: float


def processes() -> list[Process]:
    """Return this process and all below it."""
    fields = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = path.read_text()
        except OSError:  # it has ended
            continue
        fields[int(path.parent.name)] = [
            text[text.index("(") + 1 : text.rindex(")")],
            *text.rpartition(")")[2].split(),
        ]
    found = []
    for number, values in fields.items():
        line = [number]
        while line[-1] != os.getpid() and int(fields[line[-1]][2]) in fields:  # up to this process
            line.append(int(fields[line[-1]][2]))
        if line[-1] == os.getpid():
            is_worker = any(fields[each][0] == "java" for each in line[1:])
            ticks = sum(map(int, values[12:16]))  # of its children that have ended too
            megabytes = int(values[22]) * os.sysconf("SC_PAGE_SIZE") / 2**20
            found.append(Process(is_worker, megabytes, ticks / os.sysconf("SC_CLK_TCK")))
    return found


if __name__ == "__main__":
    main()
