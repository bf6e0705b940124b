"""Read qrels and runs in any form that a user gives, as nested dicts or tables; all functions use `read`.

The modules for files, data sets and frames of libraries are imported only when one is given: an evaluation of
dicts needs none of them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from permed_measures.datasets import DATASET_IDS, OURS, SAMPLES, find
from permed_measures.engine.tables import Nested, Table, no_dict
from permed_measures.errors import InputError, MeasureError, did_you_mean, short_repr, siblings
from permed_measures.measures.parsing import parse_measure

if TYPE_CHECKING:
    from permed_measures.engine.judgments import Judgments
    from permed_measures.inputs.formats import Kind


def read(
    data: Any,
    column: str,
    rewriting: str | None = None,
    qrels: Nested | Table | Judgments | None = None,
    **how: Any,
) -> Any:
    """Read qrels or a run in any form as nested dicts or as a table.

    Parameters
    ----------
    data : QrelsLike or RunLike
    column : {'relevance', 'score'}
        The column of numbers: relevance for qrels, score for a run.
    rewriting : str, optional
        How to rewrite the query ids of a run to those of the `qrels`; see `permed_measures.match_query_ids`.
    **how
        Options for files: those of `inputs.read.read_file`.

    Returns
    -------
    mapping, Table or PySpark frame
        A mapping is returned unchanged. An error in a row of a table is raised when the row is read, and a
        document that is listed twice when the table is evaluated. Only a run can be a PySpark frame.

    Raises
    ------
    InputError
        For a file or data set that cannot be read, an unknown form, a missing column, a float id or a missing
        value.
    """
    if isinstance(data, (str, os.PathLike)):
        kind: Kind = "run" if column == "score" else "qrels"
        data = resolve(data, [kind])
        if isinstance(data, Path):
            from permed_measures.inputs.read import read_file

            data = read_file(data, kind, **how)
    if not isinstance(data, Mapping):
        from permed_measures.inputs.conversion import convert_rows

        data = convert_rows(data, column)
    if rewriting is None:
        return data
    from permed_measures.engine.query_ids import rewrite_query_ids
    from permed_measures.inputs.conversion import in_memory

    return rewrite_query_ids(in_memory(data), qrels, rewriting)


def read_nested(data: Any, column: str, **how: Any) -> Nested:
    """Read qrels or a run in any form as nested dicts, in the order of the rows; see `read`."""
    from permed_measures.inputs.conversion import in_memory

    rows = in_memory(read(data, column, **how))
    return rows.nested() if isinstance(rows, Table) else rows


def read_qrels(path: str | os.PathLike[str]) -> dict[str, dict[str, float | int]]:
    """Read judgments from a file of any known format (recognised by its content), or of a data set by its id.

    Parameters
    ----------
    path : str or path-like
        TREC, BEIR, CSV or TSV qrels, MedCorpus labels, PerMed ground truth or LitSearch labels (every listed
        document has grade 1), LitSearch results with ``corpusids``, rows or lists in JSON lines or an array,
        JSON ``{query_id: {doc_id: grade}}`` or ``{query_id: [doc_ids]}``, or pairs of query and document;
        plain, ``.gz``, ``.zst``, ``.bz2``, ``.xz`` or ``.zip``. Or a Parquet file, or the id of a data set of
        ir_datasets. The guide lists all accepted names of columns and keys.

    Returns
    -------
    dict
        ``{query_id: {doc_id: relevance}}`` in the order of the file. A query with an empty list is kept.
        Query ids of MedCorpus are ``<conversation_id>_<turn_id>``.

    Raises
    ------
    InputError
        For an unknown format, a line in another format than the file, a relevance (or score) that is not a
        number, or a document listed twice for a query; the message names file and line.
    OSError
        If the file cannot be opened; for a missing file it is an InputError too.

    Examples
    --------
    >>> from permed_measures.datasets import SAMPLES
    >>> qrels = read_qrels(SAMPLES[0].qrels)
    >>> len(qrels), qrels["sample_01_1"]["sample-032"]
    (48, 2)
    """
    return _copied(read_nested(path, "relevance"), "relevance")


def read_run(
    path: str | os.PathLike[str],
    order: str = "score",
    duplicates: str = "refuse",
    max_passage: str = "",
    ignore_self: bool = False,
    subset: str = "",
) -> dict[str, dict[str, float]]:
    """Read a run from a file of any known format, recognised by its content.

    Parameters
    ----------
    path : str or path-like
        A TREC run, a ranking of MS MARCO or ColBERT, PerMed or LitSearch results, rows or lists in JSON lines
        or an array, BEIR or MTEB results (JSON), CSV or TSV with a header (such as PyTerrier's frames); or
        labels in JSONL, whose order is taken as a run. Compression, Parquet and errors are as for
        `read_qrels`. A folder of Parquet parts, as Spark and Hive write it, is one run.
        ``permed-sample/runs/bm25`` is one of the packaged runs.
    order : {'score', 'list'}, default 'score'
        Rank by the scores, or by the order of the file. The latter is the order of a list; in TREC, CSV and
        Parquet files the column of ranks if all documents of the query have one, else the order of the lines.
        With ``list``, TREC, CSV and TSV qrels whose rows are in ranked order can also be read as a run. Lists
        without scores are always ranked by their order: the first document has score -1, the second -2, …
    duplicates : {'refuse', 'first', 'best'}, default 'refuse'
        If a document is listed twice for a query, raise an error, keep the first row, or keep the best one.
    max_passage : str, default ''
        Passage ids consist of a document id, this text (such as ``#``) and a passage: keep the best passage
        of each document, as Pyserini's ``--max-passage`` does.
    ignore_self : bool, default False
        Leave out a document whose id equals the query id, as BEIR does.
    subset : str, default ''
        The subset to read from an MTEB file with several subsets, such as ``en`` or ``en/test``.

    Returns
    -------
    dict
        ``{query_id: {doc_id: score}}`` in the order of the file.

    Warns
    -----
    PermedWarning
        If the scores rank documents in another order than the file's list or column of ranks.

    Examples
    --------
    >>> from permed_measures.datasets import SAMPLES
    >>> run = read_run(SAMPLES[0].runs["bm25"])
    >>> len(run), len(run["sample_01_1"])
    (48, 20)
    """
    from permed_measures.inputs.read import RunOptions

    cleaning = RunOptions(duplicates, max_passage, ignore_self, subset)
    run = read_nested(path, "score", order=order, cleaning=cleaning, says_labels=False)
    return _copied(run, "score")


def _copied(nested: Nested, column: str) -> dict[str, dict[str, Any]]:
    """Copy the dicts, after a check that each query has one."""
    for query_id, documents in nested.items():
        if not isinstance(documents, Mapping):
            raise no_dict(query_id, documents, column)
    return {query_id: dict(documents) for query_id, documents in nested.items()}


# --- names of files and data sets --------------------------------------------------------------------


def resolve(name: str | os.PathLike[str], kinds: Sequence[Kind] = ("run",)) -> Any:
    """Resolve a name to the path of a file or of a packaged run, or (for qrels) to the data set with this id.

    If there is none, the error suggests a similar name of these kinds.
    """
    from permed_measures.inputs.sources import check_path, parquet_parts
    from permed_measures.provenance import STDIN

    text, path = os.fspath(name), Path(name)
    if text == "-":
        return STDIN
    if not text:  # Path("") is the working directory
        raise InputError("the name of a file is empty")
    check_path(path)
    if os.path.lexists(path):
        if text in DATASET_IDS and path.is_dir() and not parquet_parts(path):
            problem = "a folder of this name hides the data set"
            raise InputError(problem, where=text, hint="Go to another folder, or name a file in it")
        if path.is_dir() and not parquet_parts(path):
            raise _is_folder(path, kinds)
        return path
    packaged = list(packaged_runs(text).values()) if "run" in kinds else []
    if len(packaged) == 1:
        return packaged[0]
    if packaged or "qrels" not in kinds:
        raise _no_file(path, kinds)
    if re.fullmatch(_ENDING, path.suffix) or ":" in text:
        raise _no_file(path, kinds)
    if not set(text) & set("@(") and (dataset := find(text)) is not None:
        return dataset
    if _is_measure(text):
        raise InputError(f"expected qrels (found the measure {text})", hint=_ORDER)
    problem = f"{short_repr(text)} is neither a file nor the id of a data set of ir_datasets"
    raise InputError(problem, hint=_suggest_name(path, kinds) or OURS)


_ENDING = r"\.[A-Za-z]\w*"
"""The ending of a file's name; ids such as argsme/1.0 do not match."""


class FolderError(InputError, IsADirectoryError):
    """The path is a folder, and a file was expected."""


def _is_folder(path: Path, kinds: Sequence[Kind]) -> FolderError:
    """Build the error for a folder; the hint names a file in it."""
    qrels_files = sorted(file.name for file in (path / "qrels").glob("*.tsv"))
    if "qrels" in kinds and qrels_files:
        name = "test.tsv" if "test.tsv" in qrels_files else qrels_files[0]
        return FolderError(
            "a folder of BEIR", where=str(path), hint=f"Name its qrels: {path / 'qrels' / name}"
        )
    files = sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
    hint = f"Name a file in it, such as {files[0]}" if files else ""
    return FolderError("a folder in the place of a file", where=str(path), hint=hint)


_PACKAGED_FILES = {
    "permed-sample/runs": SAMPLES[0].runs,
    "permed-sample/literature/runs": SAMPLES[1].runs,
}


def packaged_runs(name: str) -> dict[str, Path]:
    """Find packaged runs: all of a data set (``permed-sample/runs``), or one; none if a file has the name."""
    if os.path.lexists(name):  # lexists, since the name may be too long for a path
        return {}
    folder, _, run_id = name.rpartition("/")
    one = {run: path for run, path in _PACKAGED_FILES.get(folder, {}).items() if run == run_id}
    return _PACKAGED_FILES.get(name, one)


class MissingFileError(InputError, FileNotFoundError):
    """The file does not exist."""


def _no_file(path: Path, kinds: Sequence[Kind]) -> MissingFileError:
    """Build the error for a missing file; the hint suggests a similar name of these kinds."""
    hint = _suggest_name(path, kinds)
    if path.as_posix() in DATASET_IDS:
        hint = "This is the id of a data set, and only qrels can be one"
    if packaged := packaged_runs(path.as_posix()):
        hint = f"Name one of the runs: {', '.join(f'{path.as_posix()}/{name}' for name in packaged)}"
    where = str(path)
    if re.match("[a-z][a-z0-9+]+:/", where, re.IGNORECASE):  # a single letter would be a Windows drive
        where, hint = where.replace(":/", "://", 1), "Only files are read: download it first"
    return MissingFileError("No such file or directory", where=f"{where:.200}", hint=hint)


_MIN_NAME_SIMILARITY = 0.75
"""The minimum similarity (difflib's ratio) of two names that may differ by a typo."""


def _suggest_name(path: Path, kinds: Sequence[Kind]) -> str:
    """Suggest a similar name: a file in the same folder with any ending, a packaged run, or a data set."""
    beside = {Path(file).name: Path(file).stem for file in siblings(path)}
    similar = [
        name for name, stem in beside.items() if did_you_mean(path.stem[:100], [stem], _MIN_NAME_SIMILARITY)
    ]
    packaged = [f"{folder}/{run}" for folder, runs in _PACKAGED_FILES.items() for run in runs]
    ids = [*(DATASET_IDS if "qrels" in kinds else ()), *(packaged if "run" in kinds else ())]
    return did_you_mean(path.name[:100], similar, _MIN_NAME_SIMILARITY) or did_you_mean(
        path.as_posix()[:100], ids, _MIN_NAME_SIMILARITY
    )


_ORDER = "calc_aggregate takes measures, qrels and a run; others are like compare(qrels, runs, measures)"


def _is_measure(text: str) -> bool:
    try:
        return bool(parse_measure(text))
    except MeasureError:
        return False
