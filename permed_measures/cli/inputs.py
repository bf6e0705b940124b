"""What several commands read: qrels that are files or data sets, runs that are files or folders, measures."""

from __future__ import annotations

import logging
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from ir_measures.measures import Measure

from permed_measures.cli.messages import print_message, warnings_as_notes
from permed_measures.datasets import DATASET_IDS
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.rankings import JudgedRankings
from permed_measures.engine.tables import dataset_of, file_of
from permed_measures.errors import InputError, PermedError, warnings_about
from permed_measures.inputs.door import packaged_runs, read, resolve
from permed_measures.inputs.read import RunOptions
from permed_measures.inputs.runs import LazyRuns, run_name
from permed_measures.inputs.sources import parquet_parts
from permed_measures.measures.aliases import ambiguities
from permed_measures.measures.parameters import with_rel
from permed_measures.measures.parsing import deduplicate, measures_of, parse_measure_args
from permed_measures.provenance import Origin


def chosen_measures(args: Namespace, inputs: Inputs) -> list[Measure] | None:
    """Return the measures that were named; None if there are none."""
    chosen = deduplicate(understood_measures(args.measures, args.rel, inputs))
    if args.rel is not None:
        inputs.notes.extend(_unchanged_by_rel(chosen, args.rel))
    return chosen or None


def _unchanged_by_rel(measures: list[Measure], rel: float) -> Iterator[str]:
    """Say that --rel changes none of the measures, and that NumRet counts all without a level of its own."""
    counts_all = [each for each in measures if each.NAME == "NumRet" and "rel" not in each.params]
    without = [each for each in measures if "rel" not in each.SUPPORTED_PARAMS]
    if without and len(without) + len(counts_all) == len(measures):
        takes = "takes" if len(without) == 1 else "take"
        yield f"--rel changes nothing: {', '.join(map(str, without))} {takes} no rel"
    if counts_all:
        of_level = f"NumRet(rel={rel:g}) counts those of grade {rel:g} or more"
        yield f"--rel does not change NumRet, which counts all documents retrieved; {of_level}"


def understood_measures(texts: list[str], rel: float | None, inputs: Inputs) -> list[Measure]:
    """Return the measures that were named; notes say how ambiguous names are taken."""
    named = [(text, measure) for text in texts for measure in parse_measure_args(text)]
    asked = [(text, with_rel(measure, rel)) for text, measure in named]
    measures = [measure for _, measure in asked]
    if _is_graded(inputs):
        inputs.notes.extend(ambiguities(asked, measures))
    return measures


def measures_asked(args: Namespace, inputs: Inputs) -> list[Measure]:
    """Return the measures that were named, or those that the labels choose, with a note that says why."""
    if chosen := chosen_measures(args, inputs):
        return chosen
    names, why = measures_by_labels(inputs)
    inputs.notes.append(f"no measure was named; using -m {' -m '.join(names)}, as {why}")
    return measures_of(names if len(names) > 1 else names[0], args.rel)


def measures_by_labels(inputs: Inputs) -> tuple[list[str], str]:
    """Return the names of the measures for labels such as these, and why; of one preset its name.

    Grades up to 2 are those of MedCorpus, binary ones those of LitSearch. Others get what TREC reports, with
    recall at a depth that all runs have.
    """
    grades = inputs.judgments.grade
    if (fractions := grades[grades % 1 != 0]).size:
        why = f"some grades are no whole numbers, such as {fractions[0]:g}"
    elif not _is_graded(inputs):
        return ["litsearch"], "the labels are binary"
    elif grades.max() <= 2:
        return ["medcorpus"], "the grades go up to 2"
    else:
        why = f"the grades go up to {grades.max():g}"
    with warnings_about(None):  # they are shown when the runs are evaluated
        depths = [
            int(JudgedRankings.of(inputs.judgments, inputs.runs[name], depth=1).retrieved.max(initial=0))
            for name in inputs.runs
        ]
    depth = next((each for each in _DEPTHS if each <= min(depths, default=0)), _DEPTHS[-1])
    return ["nDCG@10", "AP", "RR", "P@10", f"R@{depth}"], why


_DEPTHS = (100, 20, 10)
"""The ranks at which recall is reported, of the first of them that all runs have."""


def _is_graded(inputs: Inputs) -> bool:
    return bool((inputs.judgments.grade > 1).any())


NOT_OPTIONS = {
    *("command", "line", "qrels", "runs", "run", "before", "after", "measures", "measure", "function"),
    *("format", "output", "label", "caption", "record", "methods", "quiet"),
}
"""What a provenance says in other words than as options, and where the result was written."""


_OTHER_FILES = {"claims": "claims", "conventions": "conventions", "human": "human qrels"}
"""The arguments that name a file besides qrels and runs, and its role."""


def _others_of(args: Namespace) -> dict[str, Path]:
    given = vars(args)
    return {role: Path(given[name]) for name, role in _OTHER_FILES.items() if given.get(name)}


def files_read(args: Namespace, runs: Iterable[Path]) -> list[Path]:
    """Return the files that a command reads, and so must not write."""
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
    """Return the run files by name: what stands before the =, or the name of the file; of a folder all."""
    files: dict[str, Path] = {}
    found = [(given or name, file) for given, each in map(_files, arguments) for name, file in each]
    for name, file in found:
        if name in files:
            raise InputError(
                f"two runs are named {name!r} ({files[name]} and {file})",
                hint="Name them: NAME=FILE NAME=FILE",
            )
        files[name] = file
    return files


def named_run(argument: str, name: str) -> tuple[str, Path]:
    """Return the name and the file of one run: what stands before the =, or `name`."""
    given, files = _files(argument)
    if len(files) != 1:
        raise InputError(f"{name} must be one run (found {len(files)})", where=argument)
    return given or name, files[0][1]


def _files(argument: str) -> tuple[str, list[tuple[str, Path]]]:
    """Return what stands before the =, if anything does, and the files by their own names."""
    given, equals, place = argument.partition("=")
    if argument and (not equals or Path(argument).exists()):
        given, place = "", argument
    elif not given or not place:
        raise InputError(f"a run is FILE or NAME=FILE (found {argument!r})")
    if packaged := packaged_runs(place):
        return given, list(packaged.items())
    if Path(place).is_dir() and not parquet_parts(Path(place)):
        files = files_in(Path(place))
    else:
        files = [resolve(place)]
    return given, [(run_name(path), path) for path in files]


def files_in(folder: Path) -> list[Path]:
    """Return the files of a folder by name; a note says what is ignored."""
    inside = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    files = [path for path in inside if path.is_file() or (path.is_dir() and parquet_parts(path))]
    if not files:
        raise InputError("no run file in this folder", where=str(folder))
    if len(files) < len(inside):
        others = [path.name for path in inside if path not in files]
        print_message(f"note: {folder}: ignored (not files): {', '.join(others)}")
    return files


# --- both --------------------------------------------------------------------------------------------


class Inputs(NamedTuple):
    """The qrels, which know their data set if there is one, the runs, and notes for the end."""

    qrels: Any
    judgments: Judgments
    runs: Mapping[str, Any]
    notes: list[str]

    @property
    def dataset(self) -> Any:
        """The data set, which knows groups and conversations; None if the qrels are of a file."""
        return dataset_of(self.qrels)


def cleaning_of(args: Namespace) -> RunOptions:
    """Return what is made of runs while they are read, by the options of a command that has them."""
    return RunOptions(**{name: value for name, value in vars(args).items() if name in RunOptions._fields})


@contextmanager
def reading(args: Namespace, files: Mapping[str, Path], qrels: str = "") -> Iterator[Inputs]:
    """Read qrels, by default those of the arguments; the runs are read in the block, as the options say.

    Warnings are shown as notes.
    """
    qrels, given = qrels or args.qrels, vars(args)
    with warnings_as_notes():
        rows = _read_qrels(qrels)
        judgments = Judgments.of(rows)
        how = {"order": given.get("order", "score"), "cleaning": cleaning_of(args)}

        def read_run(file: Path) -> Any:
            path = resolve(file)
            labels = rows if file_of(rows) and qrels != "-" and path.samefile(qrels) else None
            return read(path, "score", given.get("query_ids"), judgments, labels=labels, **how)

        inputs = Inputs(rows, judgments, LazyRuns(files, read_run), [])
        try:
            yield inputs
        except PermedError as error:
            if not error.where.startswith("query "):
                raise
            where = f"{qrels}: {error.where}"  # errors about runs name their files already
            raise type(error)(error.problem, where=where, hint=error.hint) from None
    for note in inputs.notes:  # an error stands alone
        print_message(f"note: {note}")


def _read_qrels(argument: str) -> Any:
    path = Path(argument)
    if argument in DATASET_IDS and path.is_file():
        print_message(f"note: {argument} is a file here, and is used instead of the data set of this name")
    logging.getLogger("ir_datasets").addFilter(_is_no_failure)
    return read(argument, "relevance")


def _is_no_failure(record: logging.LogRecord) -> bool:
    """Return whether ir_datasets logs anything but a failed download, which our error says."""
    return not record.getMessage().startswith(("Download failed", "download error"))
