"""Call any program as a function of qrels and a run, and read the number that it prints."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

from permed_measures.errors import InputError, check_choice, short_repr
from permed_measures.identification.cases import Case, as_seen
from permed_measures.identification.files import PROGRAM_FILES
from permed_measures.identification.forms import SIGNATURES, CaseQrels, CaseRun
from permed_measures.identification.processes import TIME_LIMIT, end_process, start_process
from permed_measures.identification.user_function import NoNumberError, likeness, meaning_asked
from permed_measures.measures.parameters import precision_recall_cutoffs


class Program:
    """A program that evaluates a run, as a function of qrels and a run.

    It runs once for each case, in a folder of its own, without a shell.

    Parameters
    ----------
    command : str
        The command line: ``{qrels}`` and ``{run}`` stand for the files, ``{k}`` for the cutoff. Words that
        name existing files, and existing paths with a slash, become absolute.
    name : str
        The measure to read.
    files : str
        One of `PROGRAM_FILES`.
    pattern : str, optional
        A regular expression whose one group matches the number in the output.
    printed : dict of str to str, optional
        A cache of the output for each case, which several measures can share.
    numeric_ids : bool, optional
        Whether ids in the files are whole numbers, in the same order as the ids of the cases.

    Raises
    ------
    InputError
        If the command lacks its files or cannot be split, `files` is unknown or cannot have numeric ids, or
        the pattern is not a regular expression with one group.
    """

    def __init__(
        self,
        command: str,
        name: str,
        files: str = "trec",
        pattern: str | None = None,
        printed: dict[str, str | Exception] | None = None,
        numeric_ids: bool = False,
    ) -> None:
        check_choice("files", files, PROGRAM_FILES)
        _, (cutoff, *_) = meaning_asked(name)
        k, _ = precision_recall_cutoffs(cutoff)
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise InputError(f"the command cannot be split into words ({error})", where=command) from None
        missing = [each for each in ("{qrels}", "{run}") if not any(each in word for word in words)]
        if missing:
            hint = "Write where the files go: 'python3 eval.py {qrels} {run}'"
            raise InputError(f"the command has no {' and no '.join(missing)}", where=command, hint=hint)
        if "{k}" in command and k is None:
            raise InputError(f"{name} has no cutoff for {{k}}", where=command, hint=f"Write {name}@10")
        if numeric_ids and PROGRAM_FILES[files].labels:
            problem = "query ids of MedCorpus have a conversation and a turn, and cannot be numbers"
            raise InputError(problem, where=command, hint="Leave out --numeric-ids")
        self._words = [str(Path(word).absolute()) if _is_path(word) else word for word in words]
        self._name, self._k, self.files, self._numeric_ids = name, k, files, numeric_ids
        self._pattern = None if pattern is None else _compiled(pattern)
        self._printed = {} if printed is None else printed
        self._running: set[subprocess.Popen[bytes]] = set()
        self._is_over = False
        self.line = command
        written = PROGRAM_FILES[files].content + ", numeric ids" * numeric_ids
        self.form = SIGNATURES["dicts"]._replace(
            texts=(f"files of qrels and of a run ({written})", *(["k"] if "{k}" in command else [])),
            hidden="" if PROGRAM_FILES[files].grades else "grades, and what is judged not relevant",
            grades=PROGRAM_FILES[files].grades,
            empty_lists=PROGRAM_FILES[files].empty_lists,
        )

    def __call__(self, qrels: CaseQrels, run: CaseRun) -> float:
        """Run the program on a case, and read the number that it prints."""
        key = self._key(qrels, run)
        if key not in self._printed:
            self._printed[key] = self._run(qrels, run)
        printed = self._printed[key]
        if isinstance(printed, Exception):
            raise printed
        return number_printed(printed, self._name, self._pattern)

    def prepare(self, cases: Iterable[Case]) -> None:
        """Run the program on several cases in parallel, and keep the output."""
        left = {self._key(*case[:2]): case for case in (as_seen(case, self.form) for case in cases)}
        left = {key: case for key, case in left.items() if key not in self._printed}
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            try:
                self._printed |= zip(
                    left, pool.map(lambda case: self._run(*case[:2]), left.values()), strict=True
                )
            except BaseException:  # a Ctrl-C reaches this process only
                pool.shutdown(wait=False, cancel_futures=True)
                self._is_over = True
                for process in [*self._running]:
                    end_process(process)
                raise

    def _key(self, qrels: CaseQrels, run: CaseRun) -> str:
        return repr((self._k if "{k}" in self.line else None, qrels, run))

    def _run(self, qrels: CaseQrels, run: CaseRun) -> str | Exception:
        """Run the program on a case; return its output, or the error."""
        qrels, run = _with_numbers(qrels, run) if self._numeric_ids else (qrels, run)
        with tempfile.TemporaryDirectory() as folder:
            try:
                qrels_file, run_file = PROGRAM_FILES[self.files].write(qrels, run, folder)
            except InputError as error:
                return NoNumberError(f"the file format cannot hold this case ({error.problem})")
            values = {"{qrels}": str(qrels_file), "{run}": str(run_file), "{k}": str(self._k)}
            words = [_filled(word, values) for word in self._words]
            with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
                try:
                    status = self._status(words, cwd=folder, stdout=out, stderr=err)
                except subprocess.TimeoutExpired:
                    return NoNumberError(f"the program takes more than {TIME_LIMIT:g} seconds")
                except OSError as error:
                    problem = f"the program cannot be started ({error.strerror})"
                    return InputError(problem, where=self._words[0])
                printed, errors = (_text_of(file) for file in (out, err))
        if status:
            last = next((line for line in reversed(errors.splitlines()) if line.strip()), "nothing printed")
            names_an_id = not self._numeric_ids and any(repr(query) in last for query in {*qrels, *run})
            advice = " (if the program needs numbers as ids, add --numeric-ids)" * names_an_id
            problem = f"the program ends with status {status}: {last.strip()[:200]}"
            return NoNumberError(f"{problem}{advice}")
        return printed

    def _status(self, words: list[str], **how: Any) -> int:
        """Run the program until it ends or its time is up; then end the processes that it started."""
        process = start_process(words, stdin=subprocess.DEVNULL, **how)
        self._running.add(process)
        try:
            return process.wait(0 if self._is_over else TIME_LIMIT)
        finally:
            end_process(process)
            self._running.discard(process)


def _text_of(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


def _with_numbers(qrels: CaseQrels, run: CaseRun) -> tuple[CaseQrels, CaseRun]:
    """Replace ids by numbers in the same order; all have the same number of digits, so texts sort alike.

    Examples
    --------
    >>> _with_numbers({"c_1": {"d2": 1}}, {"c_1": {"d10": 2.0, "c_1": 1.0}})
    ({'1001': {'1003': 1}}, {'1001': {'1002': 2.0, '1001': 1.0}})
    """
    documents = [*qrels.values(), *run.values()]
    ids = sorted({*qrels, *run}.union(*documents))
    first = 10 ** max(3, len(str(len(ids))))
    numbers = {each: str(first + n) for n, each in enumerate(ids, 1)}
    numbered_qrels, numbered_run = (
        {
            numbers[query]: {numbers[doc]: value for doc, value in docs.items()}
            for query, docs in lists.items()
        }
        for lists in (qrels, run)
    )
    return numbered_qrels, numbered_run


def _is_path(word: str) -> bool:
    """Check whether a word of a command names an existing file, or an existing path with a slash."""
    return Path(word).is_file() or ("/" in word and Path(word).exists())


def _filled(word: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        word = word.replace(name, value)
    return word


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        problem = f"the pattern is not a regular expression ({error})"
        raise InputError(problem, where=pattern) from None
    if compiled.groups != 1:
        problem = f"the pattern must have one group (found {compiled.groups})"
        raise InputError(problem, where=pattern, hint=r"Such as 'MAP = ([0-9.]+)'")
    return compiled


# --- reading the number in the output ----------------------------------------------------------------

_OUTPUT_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


def number_printed(text: str, name: str, pattern: re.Pattern[str] | None = None) -> float:
    r"""Read the number of a measure in the output of a program: text, JSON or CSV.

    With a pattern, it is the number that the pattern matches. Without one, it is the value under the name in
    JSON; else the number after the name at the beginning of a line; else the number below the name in a
    header of columns; else the only number.

    Raises
    ------
    InputError
        If there is no number, or several that differ; the message shows the output.

    Examples
    --------
    >>> number_printed("num_q all 3\nmap_cut_10 all 0.25\n", "MAP@10")
    0.25
    >>> number_printed('{"scores": {"ndcg@10": 0.5, "map": 0.1}}', "nDCG@10")
    0.5
    >>> number_printed("run,P@1,MAP@10\nbm25,0.1,0.25\n", "MAP@10")
    0.25
    """
    if pattern is not None:
        numbers = {float(each) for each in pattern.findall(text) if _OUTPUT_NUMBER.fullmatch(each)}
    else:
        numbers = _numbers_in_json(text, name) or _numbers_in_lines(text, name)
        numbers = numbers or _numbers_in_columns(text, name)
        words = map(_plain, _words(text))
        numbers = numbers or {float(word) for word in words if _OUTPUT_NUMBER.fullmatch(word)}
    if len(numbers) == 1:
        return numbers.pop()
    count = "no number" if not numbers else f"{len(numbers)} numbers"
    hint = r"Give a pattern that matches it: --read 'MAP = ([0-9.]+)'"
    raise InputError(
        f"the output of the program has {count} of {name} (found {short_repr(text[-300:])})", hint=hint
    )


def _words(text: str) -> list[str]:
    return [word for word in re.split(r"[\s:=|,;()]+", text) if word]


def _plain(word: str) -> str:
    return word.rstrip("%")


def _numbers_in_json(text: str, name: str) -> set[float]:
    """Find the numbers of a name in a JSON object, which may follow other lines."""
    start = min((index for index in (text.find("{"), text.find("[")) if index >= 0), default=-1)
    try:
        content = json.loads(text[start:]) if start >= 0 else None
    except ValueError:
        return set()
    numbers = [
        (key, float(value))
        for entry in _objects(content)
        for key, value in entry.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    ]
    return _best([(likeness(key, name), value) for key, value in numbers])


def _objects(content: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(content, dict):
        yield content
    for item in (
        content.values() if isinstance(content, dict) else content if isinstance(content, list) else ()
    ):
        yield from _objects(item)


def _best(numbers: Iterable[tuple[int, float]]) -> set[float]:
    """Select the numbers whose names are most like the one asked for; a likeness of 0 never counts."""
    alike = [(likeness, number) for likeness, number in numbers if likeness]
    highest = max((likeness for likeness, _ in alike), default=0)
    return {number for likeness, number in alike if likeness == highest}


_OF_ALL = ("all", "amean", "mean", "average", "avg", "overall")
"""Words that stand between the name of a measure and its mean, in place of a query id."""


def _numbers_in_lines(text: str, name: str) -> set[float]:
    """Find the first numbers of lines that begin with the name; prefer lines of a mean to query lines."""
    plain: list[tuple[int, float]] = []
    of_all: list[tuple[int, float]] = []
    for line in text.splitlines():
        first, *words = _words(line.strip("|*-_` \t")) or [""]
        is_mean = bool(words) and words[0].lower() in _OF_ALL
        numbers = [*map(_plain, words[is_mean:])]
        if numbers and _OUTPUT_NUMBER.fullmatch(numbers[0]):
            (of_all if is_mean else plain).append((likeness(first.strip("*_`"), name), float(numbers[0])))
    return _best(of_all) or _best(plain)


def _numbers_in_columns(text: str, name: str) -> set[float]:
    """Find the numbers below the name in a header of columns; prefer the rows of a mean."""
    lines = [line.strip(" |") for line in text.splitlines() if re.search(r"\w", line)]
    rows = [re.split(r"\s*[,;|\t]\s*|\s+", line) for line in lines]
    for index, header in enumerate(rows[:-1]):
        likenesses = [likeness(word, name) for word in header]
        below = [row for row in rows[index + 1 :] if len(row) == len(header)]
        below = [row for row in below if {word.lower() for word in row} & {*_OF_ALL}] or below
        column = likenesses.index(max(likenesses))
        numbers = [row[column] for row in below]
        if max(likenesses) and numbers and all(map(_OUTPUT_NUMBER.fullmatch, numbers)):
            return {*map(float, numbers)}
    return set()
