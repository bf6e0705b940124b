"""Time and memory of calls and of commands."""

import re
import resource
import statistics
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

Call = Callable[[], Any]
Seconds = dict[str, list[float]]
"""The seconds of each call of each name, in their order."""

SLOW = 2.0
"""Seconds from which a call is made three times only, however many rounds there are."""


def processor_time() -> float:
    """Return the seconds that all threads of this process have worked, and the commands that it ran."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def in_turns(calls: dict[str, Call], rounds: int) -> Seconds:
    """Return the processor time of each call, made in turns, so that a busy moment hits all of them."""
    seconds: Seconds = {name: [] for name in calls}
    for number in range(rounds):
        for name, call in calls.items():
            if number < 3 or max(seconds[name]) < SLOW:
                start = processor_time()
                call()
                seconds[name].append(processor_time() - start)
    return seconds


def ratio(seconds: Seconds, name: str, to: str) -> float:
    """Return how many times longer one of the calls takes than another: the median over the rounds."""
    return statistics.median(a / b for a, b in zip(seconds[name], seconds[to], strict=False))


def running(command: list[str]) -> Call:
    """Return the call that runs a command."""
    return partial(subprocess.run, command, capture_output=True, check=True)


def peak_of_call(prepare: Callable[..., Call], *arguments: Any) -> float:
    """Return the peak memory in MB of a new process during the call that `prepare` returns."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_peak, prepare, *arguments).result()


def _peak(prepare: Callable[..., Call], *arguments: Any) -> float:
    call = prepare(*arguments)
    Path("/proc/self/clear_refs").write_text("5")  # Linux: the peak starts again from here
    call()
    return int(re.findall(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[0]) / 1024


def peak_of_command(command: list[str]) -> float:
    """Return the peak memory in MB of a command."""
    # From a small process: what a child is said to use at most starts with what its parent uses.
    code = (
        "import resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], check=True, capture_output=True)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)"
    )
    done = subprocess.run([sys.executable, "-c", code, *command], capture_output=True, text=True, check=True)
    return float(done.stdout)
