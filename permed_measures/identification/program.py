"""Any program as a function of qrels and a run: its number is read in what it prints."""

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

    It is run once for each case, in a folder of its own, without a shell.

    Parameters
    ----------
    command : str
        How it is called: ``{qrels}`` and ``{run}`` stand for the files, ``{k}`` for the cutoff. Words that
        are files here, or paths with a slash, are made absolute.
    name : str
        The measure whose number is read.
    files : str
        One of `PROGRAM_FILES`.
    pattern : str, optional
        A regular expression with one group, which finds the number in what the program prints.
    printed : dict of str to str, optional
        What it has printed by case, to be asked for several measures.
    numeric_ids : bool, optional
        Whether ids in the files are whole numbers, in the same order as the ids of the cases.

    Raises
    ------
    InputError
        For a command without its files, or one that cannot be split; for files that there are not, or that
        have no numeric ids; for a pattern that is none.
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
            problem = "query ids of MedCorpus have a conversation and a turn, and are no numbers"
            raise InputError(problem, where=command, hint="Leave out --numeric-ids")
        self._words = [str(Path(word).absolute()) if _is_path(word) else word for word in words]
        self._name, self._k, self.files, self._numeric_ids = name, k, files, numeric_ids
        self._pattern = None if pattern is None else _compiled(pattern)
        self._printed = {} if printed is None else printed
        self._running: set[subprocess.Popen[bytes]] = set()
        self._is_over = False
        self.line = command
        written = PROGRAM_FILES[files].described + ", numeric ids" * numeric_ids
        self.form = SIGNATURES["dicts"]._replace(
            texts=(f"files of qrels and of a run ({written})", *(["k"] if "{k}" in command else [])),
            hidden="" if PROGRAM_FILES[files].grades else "grades, and what is judged not relevant",
            grades=PROGRAM_FILES[files].grades,
            empty_lists=PROGRAM_FILES[files].empty_lists,
        )

    def __call__(self, qrels: CaseQrels, run: CaseRun) -> float:
        """Return the number that the program prints for a case."""
        key = self._key(qrels, run)
        if key not in self._printed:
            self._printed[key] = self._run(qrels, run)
        found = self._printed[key]
        if isinstance(found, Exception):
            raise found
        return number_printed(found, self._name, self._pattern)

    def prepare(self, cases: Iterable[Case]) -> None:
        """Run the program for several cases at once, as its files hold them."""
        left = {self._key(*case[:2]): case for case in (as_seen(case, self.form) for case in cases)}
        left = {key: case for key, case in left.items() if key not in self._printed}
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            try:
                self._printed |= zip(
                    left, pool.map(lambda case: self._run(*case[:2]), left.values()), strict=True
                )
            except BaseException:  # Ctrl-C, which goes to this process alone
                pool.shutdown(wait=False, cancel_futures=True)
                self._is_over = True
                for process in [*self._running]:
                    end_process(process)
                raise

    def _key(self, qrels: CaseQrels, run: CaseRun) -> str:
        return repr((self._k if "{k}" in self.line else None, qrels, run))

    def _run(self, qrels: CaseQrels, run: CaseRun) -> str | Exception:
        """Return what the program prints for a case, or what is wrong."""
        qrels, run = _with_numbers(qrels, run) if self._numeric_ids else (qrels, run)
        with tempfile.TemporaryDirectory() as folder:
            try:
                of_qrels, of_run = PROGRAM_FILES[self.files].write(qrels, run, folder)
            except InputError as error:
                return NoNumberError(f"no file holds this ({error.problem})")
            given = {"{qrels}": str(of_qrels), "{run}": str(of_run), "{k}": str(self._k)}
            words = [_filled(word, given) for word in self._words]
            with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
                try:
                    status = self._status(words, cwd=folder, stdout=out, stderr=err)
                except subprocess.TimeoutExpired:
                    return NoNumberError(f"the program takes more than {TIME_LIMIT:g} seconds")
                except OSError as error:
                    problem = f"the program cannot be started ({error.strerror})"
                    return InputError(problem, where=self._words[0])
                printed, complained = (_text_of(file) for file in (out, err))
        if status:
            last = next(
                (line for line in reversed(complained.splitlines()) if line.strip()), "nothing printed"
            )
            is_of_ids = not self._numeric_ids and any(repr(query) in last for query in {*qrels, *run})
            advice = " (for a program that takes numbers as ids alone: --numeric-ids)" * is_of_ids
            said = f"the program ends with status {status}: {last.strip()[:200]}"
            return NoNumberError(f"{said}{advice}")
        return printed

    def _status(self, words: list[str], **how: Any) -> int:
        """Run a program to its end, or for so long as it may take, and end what it leaves running."""
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
    """Give each id a number: as many digits each, so that their order is that of the ids, also as texts.

    Examples
    --------
    >>> _with_numbers({"c_1": {"d2": 1}}, {"c_1": {"d10": 2.0, "c_1": 1.0}})
    ({'1001': {'1003': 1}}, {'1001': {'1002': 2.0, '1001': 1.0}})
    """
    every = [*qrels.values(), *run.values()]
    ids = sorted({*qrels, *run}.union(*every))
    first = 10 ** max(3, len(str(len(ids))))
    numbers = {each: str(first + n) for n, each in enumerate(ids, 1)}
    of_qrels, of_run = (
        {
            numbers[query]: {numbers[doc]: value for doc, value in docs.items()}
            for query, docs in lists.items()
        }
        for lists in (qrels, run)
    )
    return of_qrels, of_run


def _is_path(word: str) -> bool:
    """Return whether a word of a command is a file here, or a path that is there."""
    return Path(word).is_file() or ("/" in word and Path(word).exists())


def _filled(word: str, given: Mapping[str, str]) -> str:
    for name, value in given.items():
        word = word.replace(name, value)
    return word


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        made = re.compile(pattern)
    except re.error as error:
        raise InputError(f"the pattern is no regular expression ({error})", where=pattern) from None
    if made.groups != 1:
        hint = r"Such as 'MAP = ([0-9.]+)'"
        raise InputError(f"the pattern must have one group (found {made.groups})", where=pattern, hint=hint)
    return made


# --- the number in what is printed -------------------------------------------------------------------

_OUTPUT_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


def number_printed(text: str, name: str, pattern: re.Pattern[str] | None = None) -> float:
    r"""Return the number of a measure in what a program prints: text, JSON or CSV.

    It is what the pattern finds; of JSON the value under the name; else the number behind the name at the
    beginning of a line, or below it in a header of columns; else the only number.

    Raises
    ------
    InputError
        Where there is none, or several that differ; the message shows what was printed.

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
        found = {float(each) for each in pattern.findall(text) if _OUTPUT_NUMBER.fullmatch(each)}
    else:
        found = _of_json(text, name) or _of_lines(text, name) or _of_columns(text, name)
        found = found or {float(word) for word in map(_plain, _words(text)) if _OUTPUT_NUMBER.fullmatch(word)}
    if len(found) == 1:
        return found.pop()
    what = "no number" if not found else f"{len(found)} numbers"
    hint = r"Say how it is found: --read 'MAP = ([0-9.]+)'"
    raise InputError(
        f"what the program prints has {what} of {name} (found {short_repr(text[-300:])})", hint=hint
    )


def _words(text: str) -> list[str]:
    return [word for word in re.split(r"[\s:=|,;()]+", text) if word]


def _plain(word: str) -> str:
    return word.rstrip("%")


def _of_json(text: str, name: str) -> set[float]:
    """Return the numbers of a name in a JSON object, which may stand behind other lines."""
    start = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=-1)
    try:
        content = json.loads(text[start:]) if start >= 0 else None
    except ValueError:
        return set()
    numbers = [
        (key, float(value))
        for each in _objects(content)
        for key, value in each.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    ]
    return _best([(likeness(key, name), value) for key, value in numbers])


def _objects(content: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(content, dict):
        yield content
    for each in (
        content.values() if isinstance(content, dict) else content if isinstance(content, list) else ()
    ):
        yield from _objects(each)


def _best(found: Iterable[tuple[int, float]]) -> set[float]:
    """Return the numbers whose names are most like the one asked for; those that are not like it never."""
    found = [(likeness, number) for likeness, number in found if likeness]
    most = max((likeness for likeness, _ in found), default=0)
    return {number for likeness, number in found if likeness == most}


_OF_ALL = ("all", "amean", "mean", "average", "avg", "overall")
"""What stands between the name of a measure and its mean, in place of a query."""


def _of_lines(text: str, name: str) -> set[float]:
    """Return the first numbers of lines that begin with the name; lines of a mean before those of queries."""
    plain: list[tuple[int, float]] = []
    of_all: list[tuple[int, float]] = []
    for line in text.splitlines():
        first, *words = _words(line.strip("|*-_` \t")) or [""]
        is_mean = bool(words) and words[0].lower() in _OF_ALL
        numbers = [*map(_plain, words[is_mean:])]
        if numbers and _OUTPUT_NUMBER.fullmatch(numbers[0]):
            (of_all if is_mean else plain).append((likeness(first.strip("*_`"), name), float(numbers[0])))
    return _best(of_all) or _best(plain)


def _of_columns(text: str, name: str) -> set[float]:
    """Return the numbers below the name in a header of columns, of rows of a mean if there are some."""
    lines = [line.strip(" |") for line in text.splitlines() if re.search(r"\w", line)]
    rows = [re.split(r"\s*[,;|\t]\s*|\s+", line) for line in lines]
    for place, header in enumerate(rows[:-1]):
        likenesses = [likeness(word, name) for word in header]
        below = [row for row in rows[place + 1 :] if len(row) == len(header)]
        below = [row for row in below if {word.lower() for word in row} & {*_OF_ALL}] or below
        column = likenesses.index(max(likenesses))
        numbers = [row[column] for row in below]
        if max(likenesses) and numbers and all(map(_OUTPUT_NUMBER.fullmatch, numbers)):
            return {*map(float, numbers)}
    return set()
