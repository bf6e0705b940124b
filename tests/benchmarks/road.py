"""The road of one value: which files and functions of the package a call goes through.

Run it with ``python tests/benchmarks/road.py``. Modules are loaded by a first call; the second is traced.
"""

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import ir_measures

import permed_measures as pm

FOLDER = str(Path(pm.__file__).parent)
QRELS, RUN = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 2.0}}
MEASURE = pm.GradedAP @ 10


def road(call: Callable[[], Any]) -> list[tuple[str, str]]:
    """Return file and name of each function of the package that a call goes through, in their order."""
    call()
    found: dict[tuple[str, str], None] = {}

    def seen(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(FOLDER) and not code.co_name.startswith("<"):
            found[code.co_filename.removeprefix(FOLDER)[1:], code.co_qualname] = None

    sys.setprofile(seen)
    try:
        call()
    finally:
        sys.setprofile(None)
    return list(found)


@contextmanager
def calls() -> Iterator[dict[str, Callable[[], Any]]]:
    """Give two calls: on dicts, and on a data set and a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.trec")
        pm.write_run({"sample_01_1": {"sample-032": 1.0, "x": 2.0}}, path)
        yield {
            "ir_measures.calc_aggregate([GradedAP@10], dict, dict)": lambda: ir_measures.calc_aggregate(
                [MEASURE], QRELS, RUN
            ),
            "pm.calc_aggregate(['nDCG@10'], data set, TREC file)": lambda: pm.calc_aggregate(
                ["nDCG@10"], "permed-sample", path
            ),
        }


def main() -> None:
    """Print the roads."""
    with calls() as named:
        for name, call in named.items():
            found = road(call)
            files = list(dict.fromkeys(file for file, _ in found))
            print(f"{name}: {len(files)} files, {len(found)} functions")
            for file in files:
                print(f"  {file}: {', '.join(function for each, function in found if each == file)}")


if __name__ == "__main__":
    main()
