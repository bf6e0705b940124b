"""Read the inputs of commands: qrels from files or data sets, runs from files or folders, and measures."""

from __future__ import annotations

import logging
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ir_measures.measures import Measure

from permed_measures.cli.messages import print_message, warnings_as_notes
from permed_measures.datasets import DATASET_IDS
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.engine.tables import file_of
from permed_measures.errors import InputError, PermedError, warnings_about
from permed_measures.inputs.door import packaged_runs, read, resolve
from permed_measures.inputs.read import RunOptions
from permed_measures.inputs.runs import LazyRuns, run_name
from permed_measures.inputs.sources import parquet_parts
from permed_measures.measures.aliases import ambiguities
from permed_measures.measures.parsing import deduplicate, measures_of, parse_measure_args
from permed_measures.measures.specs import counts_all, with_rel
from permed_measures.provenance import Origin


def chosen_measures(args: Namespace, inputs: Inputs) -> list[Measure] | None:
    """Parse the measures that were named; None if there are none."""
    chosen = deduplicate(understood_measures(args.measures, args.rel, inputs))
    if args.rel is not None:
        inputs.notes.extend(_unchanged_by_rel(chosen, args.rel))
    return chosen or None


def _unchanged_by_rel(measures: list[Measure], rel: float) -> Iterator[str]:
    """Note if --rel changes none of the measures, and that it does not change NumRet."""
    unrestricted = [each for each in measures if counts_all(each)]
    without = [each for each in measures if "rel" not in each.SUPPORTED_PARAMS]
    if without and len(without) + len(unrestricted) == len(measures):
        takes = "takes" if len(without) == 1 else "take"
        yield f"--rel changes nothing: {', '.join(map(str, without))} {takes} no rel"
    if unrestricted:
        of_level = f"NumRet(rel={rel:g}) counts documents with grade {rel:g} or more"
        yield f"--rel does not change NumRet, which counts all documents retrieved; {of_level}"


def understood_measures(texts: list[str], rel: float | None, inputs: Inputs) -> list[Measure]:
    """Parse the measures that were named; add notes on how ambiguous names are understood."""
    named = [(text, measure) for text in texts for measure in parse_measure_args(text)]
    asked = [(text, with_rel(measure, rel)) for text, measure in named]
    measures = [measure for _, measure in asked]
    if _is_graded(inputs):
        inputs.notes.extend(ambiguities(asked, measures))
    return measures


def measures_asked(args: Namespace, inputs: Inputs) -> list[Measure]:
    """Parse the measures that were named; if there are none, choose by the labels and add a note."""
    if chosen := chosen_measures(args, inputs):
        return chosen
    names, why = measures_by_labels(inputs)
    inputs.notes.append(f"no measure was named; using -m {' -m '.join(names)}, as {why}")
    return measures_of(names if len(names) > 1 else names[0], args.rel)


def measures_by_labels(inputs: Inputs) -> tuple[list[str], str]:
    """Choose measures by the labels; return their names, or the name of a preset, and the reason.

    Binary labels get the preset of LitSearch, grades up to 2 that of MedCorpus. Others get the measures that
    TREC reports, with recall at a depth that all runs have.
    """
    grades = inputs.judgments.grade
    if (fractions := grades[grades % 1 != 0]).size:
        why = f"some grades are not whole numbers, such as {fractions[0]:g}"
    elif not _is_graded(inputs):
        return ["litsearch"], "the labels are binary"
    elif grades.max() <= 2:
        return ["medcorpus"], "the grades go up to 2"
    else:
        why = f"the grades go up to {grades.max():g}"
    with warnings_about(None):  # the evaluation shows these warnings
        depths = [
            int(JudgedRankings.of(inputs.judgments, inputs.runs[name], depth=1).retrieved.max(initial=0))
            for name in inputs.runs
        ]
    depth = next((each for each in _DEPTHS if each <= min(depths, default=0)), _DEPTHS[-1])
    return ["nDCG@10", "AP", "RR", "P@10", f"R@{depth}"], why


_DEPTHS = (100, 20, 10)
"""The cutoffs for recall; the first one that all runs reach is used."""


def _is_graded(inputs: Inputs) -> bool:
    return bool((inputs.judgments.grade > 1).any())


NOT_OPTIONS = {
    *("command", "line", "qrels", "runs", "run", "before", "after", "measures", "measure", "function"),
    *("format", "output", "label", "caption", "record", "methods", "quiet"),
}
"""Arguments that the provenance records elsewhere, and output options."""


_OTHER_FILES = {"claims": "claims", "conventions": "conventions", "human": "human qrels"}
"""The arguments that name a file other than qrels and runs, with the file's role."""


def _others_of(args: Namespace) -> dict[str, Path]:
    values = vars(args)
    return {role: Path(values[name]) for name, role in _OTHER_FILES.items() if values.get(name)}


def files_read(args: Namespace, runs: Iterable[Path]) -> list[Path]:
    """List the files that a command reads, and so must not overwrite."""
    qrels = [Path(args.qrels)] if vars(args).get("qrels") else []
    return [*qrels, *runs, *_others_of(args).values()]


def origin_of(args: Namespace, runs: Mapping[str, Path], others: Mapping[str, Path] | None = None) -> Origin:
    """Describe the command, its files and its options, for the provenance of a result."""
    options = {
        name.replace("_", "-"): str(value) if isinstance(value, Path) else value
        for name, value in vars(args).items()
        if name not in NOT_OPTIONS
    }
    others = {**_others_of(args), **(others or {})}
    return Origin(args.command, vars(args).get("qrels") or "", runs, others, options, args.line)


# --- runs --------------------------------------------------------------------------------------------


def find_runs(arguments: list[str]) -> dict[str, Path]:
    """Find the run files by name: NAME of NAME=FILE, or the name of the file; of a folder, all its files."""
    files: dict[str, Path] = {}
    named = [(prefix or name, file) for prefix, each in map(_files, arguments) for name, file in each]
    for name, file in named:
        if name in files:
            raise InputError(
                f"two runs are named {name!r} ({files[name]} and {file})",
                hint="Name them: NAME=FILE NAME=FILE",
            )
        files[name] = file
    return files


def named_run(argument: str, name: str) -> tuple[str, Path]:
    """Find the file of one run, and its name: NAME of NAME=FILE, or `name`."""
    prefix, files = _files(argument)
    if len(files) != 1:
        raise InputError(f"{name} must be one run (found {len(files)})", where=argument)
    return prefix or name, files[0][1]


def _files(argument: str) -> tuple[str, list[tuple[str, Path]]]:
    """Split NAME=FILE; return NAME, empty if there is none, and the files with their own names."""
    prefix, equals, path = argument.partition("=")
    if argument and (not equals or Path(argument).exists()):
        prefix, path = "", argument
    elif not prefix or not path:
        raise InputError(f"a run is FILE or NAME=FILE (found {argument!r})")
    if packaged := packaged_runs(path):
        return prefix, list(packaged.items())
    is_folder = Path(path).is_dir() and not parquet_parts(Path(path))
    files = files_in(Path(path)) if is_folder else [resolve(path)]
    return prefix, [(run_name(file), file) for file in files]


def files_in(folder: Path) -> list[Path]:
    """List the files of a folder in order of name; print a note on ignored folders."""
    inside = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    files = [path for path in inside if path.is_file() or (path.is_dir() and parquet_parts(path))]
    if not files:
        raise InputError("no run file in this folder", where=str(folder))
    if len(files) < len(inside):
        others = [path.name for path in inside if path not in files]
        print_message(f"note: {folder}: ignored (not files): {', '.join(others)}")
    return files


# --- both --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Inputs:
    """The qrels and the runs, which are read when they are used, and notes to print at the end.

    Attributes
    ----------
    name : str
        The file or the data set of the qrels.
    files : mapping of str to Path
        The files of the runs by name.
    how : mapping of str to object
        The options of reading runs.
    notes : list of str
    """

    name: str
    files: Mapping[str, Path]
    how: Mapping[str, Any]
    notes: list[str] = field(default_factory=list)

    @cached_property
    def qrels(self) -> Any:
        """The qrels, as nested dicts or a table."""
        return _read_qrels(self.name)

    @cached_property
    def judgments(self) -> Judgments:
        """The judgments of the qrels."""
        return Judgments.of(self.qrels)

    @cached_property
    def runs(self) -> Mapping[str, Any]:
        """The runs by name; each is read when it is used."""
        return LazyRuns(self.files, self._read_run)

    def _read_run(self, file: Path) -> Any:
        path, rows = resolve(file), self.qrels
        labels = rows if file_of(rows) and self.name != "-" and path.samefile(self.name) else None
        return read(path, "score", qrels=self.judgments, labels=labels, **self.how)


def cleaning_of(args: Namespace) -> RunOptions:
    """Collect the options that change runs while they are read."""
    return RunOptions(**{name: value for name, value in vars(args).items() if name in RunOptions._fields})


@contextmanager
def reading(args: Namespace, files: Mapping[str, Path], qrels: str = "") -> Iterator[Inputs]:
    """Prepare qrels, by default those of the arguments, and runs: the block reads what it uses.

    Warnings are printed as notes.
    """
    options = vars(args)
    qrels = qrels or options.get("qrels") or ""
    order, rewriting = options.get("order", "score"), options.get("query_ids")
    inputs = Inputs(qrels, files, {"order": order, "rewriting": rewriting, "cleaning": cleaning_of(args)})
    with warnings_as_notes():
        try:
            yield inputs
        except PermedError as error:
            if not qrels or not error.where.startswith("query "):
                raise
            where = f"{qrels}: {error.where}"  # errors in runs already name their file
            raise type(error)(error.problem, where=where, hint=error.hint) from None
    for note in inputs.notes:  # not after an error, which stands alone
        print_message(f"note: {note}")


def _read_qrels(argument: str) -> Any:
    path = Path(argument)
    if argument in DATASET_IDS and path.is_file():
        print_message(f"note: {argument} is a file here, and is used instead of the data set of this name")
    logging.getLogger("ir_datasets").addFilter(_is_no_failure)
    return read(argument, "relevance")


def _is_no_failure(record: logging.LogRecord) -> bool:
    """Check that a log record of ir_datasets is not a failed download, which our own error reports."""
    return not record.getMessage().startswith(("Download failed", "download error"))
