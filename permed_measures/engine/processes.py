"""Several runs at a time, each in a forked process; what comes out is the same as one after the other.

A forked process has all that this one has: nothing is imported again or sent to it, and pipes and data that
are read when they are asked for work as they do here. Only its results are sent back, through a pipe of its
own: so it is noticed when it is ended, even while it sends a result, and it ends with this process. In
``concurrent.futures`` all share a pipe, and one would wait for ever, or leave processes behind.
"""

from __future__ import annotations

import io
import os
import pickle
import signal
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from permed_measures.engine.forks import may_fork

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

T = TypeVar("T")
R = TypeVar("R")

watch: Callable[[float], None] = lambda _: None  # noqa: E731 - the command line sets another
"""Is told the share of the items that are done."""

in_worker = False
"""Whether this process was forked to compute results."""


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_parallel(
    function: Callable[[T], R], items: Iterable[T], jobs: int, shared: Iterable[object] = ()
) -> Iterator[R]:
    """Yield the function's result for each item, computed in as many processes as `jobs` says.

    Results, warnings and errors come in the order of the items. Where processes cannot be forked, and where
    one is enough, all is computed in this one. `shared` are objects that results refer to and that this
    process has already.
    """
    todo = list(items)
    jobs = min(jobs, len(todo))
    if jobs < 2 or not may_fork():
        yield from map(function, todo)
        return
    task = _Task(function, todo, list(shared))
    with _forked(task, jobs) as workers:
        for item, outcome in zip(todo, _outcomes(workers, task), strict=True):
            if outcome is None:  # whatever went wrong goes wrong here too, with the same messages
                yield function(item)
                continue
            for each in outcome.told:
                warnings.warn(each, stacklevel=4)  # three calls above this: of the function that is called
            yield outcome.result


class _Task(NamedTuple):
    function: Callable[[Any], Any]
    items: list[Any]
    shared: list[object]


class _Outcome(NamedTuple):
    """The result for an item, and the warnings on the way."""

    result: Any
    told: list[Warning | str]


# --- in this process ---------------------------------------------------------------------------------


class _Worker:
    """A forked process, the pipe to it, and the number of the item that it was given last."""

    def __init__(self, pipe: Connection, process: BaseProcess) -> None:
        self.pipe, self.process, self.number = pipe, process, -1

    def start(self, number: int) -> None:
        """Give it an item."""
        self.number = number
        self.pipe.send(number)

    def outcome(self, shared: list[object]) -> _Outcome | None:
        """Return the outcome for its item; None if there was an error, or the process was ended."""
        with suppress(EOFError, OSError):
            data = self.pipe.recv_bytes()
            return _Unpickler(io.BytesIO(data), shared).load() if data else None
        return None


@contextmanager
def _forked(task: _Task, jobs: int) -> Iterator[list[_Worker]]:
    """Fork the workers, and end them in any case."""
    from multiprocessing import get_context

    context = get_context("fork")
    pipes = [context.Pipe() for _ in range(jobs)]
    ends = {end for both in pipes for end in both}
    workers = [
        _Worker(here, context.Process(target=_work, args=(there, ends - {there}, task), daemon=True))
        for here, there in pipes
    ]
    try:
        _start(workers)
        for _, there in pipes:
            there.close()
        yield workers
    finally:
        for worker in workers:
            if worker.process.pid is not None:
                worker.process.kill()
                worker.process.join()
            worker.pipe.close()


def _start(workers: list[_Worker]) -> None:
    """Fork the processes; Ctrl-C waits until all of them leave it to this one."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # numpy ends its threads before a fork
            for worker in workers:
                worker.process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _outcomes(workers: list[_Worker], task: _Task) -> Iterator[_Outcome | None]:
    """Hand out the items; yield the outcomes in the order of the items, None where there is none."""
    from multiprocessing.connection import wait

    total = len(task.items)
    numbers = iter(range(total))
    busy: dict[Any, _Worker] = {}
    done: dict[int, _Outcome | None] = {}
    for worker, number in zip(workers, numbers, strict=False):
        worker.start(number)
        busy[worker.pipe] = worker
    for turn in range(total):
        while turn not in done and busy:
            for pipe in wait(list(busy)):
                worker = busy.pop(pipe)
                done[worker.number] = outcome = worker.outcome(task.shared)
                following = None if outcome is None else next(numbers, None)
                if following is not None:
                    worker.start(following)
                    busy[pipe] = worker
            watch((turn + len(done)) / total)
        yield done.pop(turn, None)


# --- in a worker -------------------------------------------------------------------------------------


def _work(pipe: Connection, others: Iterable[Connection], task: _Task) -> None:
    """Compute the outcomes of the items that come through the pipe, until it is closed."""
    global in_worker
    in_worker = True
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process above ends this one
    for other in others:
        other.close()
    with suppress(EOFError, OSError):
        while True:
            pipe.send_bytes(_pickled_outcome(task, pipe.recv()))


def _pickled_outcome(task: _Task, number: int) -> bytes:
    """Return the outcome for an item; nothing after an error, which the process above will meet too."""
    data = io.BytesIO()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = task.function(task.items[number])
        told = [each.message for each in caught]
        _Pickler(data, task.shared).dump(_Outcome(result, told))
    except BaseException:  # panics of polars too, which are not an Exception
        return b""
    return data.getvalue()


# --- between them ------------------------------------------------------------------------------------


class _Pickler(pickle.Pickler):
    """Writes the number of an object that is shared in its place."""

    def __init__(self, file: io.BytesIO, shared: list[object]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._numbers = {id(each): number for number, each in enumerate(shared)}

    def persistent_id(self, item: Any) -> int | None:
        return self._numbers.get(id(item))


class _Unpickler(pickle.Unpickler):
    """Returns the shared object for its number."""

    def __init__(self, file: io.BytesIO, shared: list[object]) -> None:
        super().__init__(file)
        self._shared = shared

    def persistent_load(self, number: Any) -> object:
        return self._shared[number]
