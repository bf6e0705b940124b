"""Data sets for ir_datasets, PyTerrier and the command line: MedCorpus, LitSearch and the packaged sample.

They are registered as soon as anything imports ir_datasets:

>>> import ir_datasets
>>> import permed_measures
>>> dataset = ir_datasets.load("permed-sample")
>>> dataset.queries_count(), dataset.qrels_count(), dataset.docs_count()
(48, 478, 157)
>>> next(dataset.queries_iter()).turn_number
1
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from permed_measures.datasets.import_hook import register, register_when_imported
from permed_measures.datasets.samples import NAMES, SAMPLES, Sample
from permed_measures.errors import InputError

if TYPE_CHECKING:
    from ir_datasets import Dataset

__all__ = [
    "NAMES",
    "SAMPLES",
    "Sample",
    "from_folder",
    "load",
    "register",
    "register_when_imported",
]

_ID = re.compile(r"\w[\w.+-]*(/\w[\w.+-]*)*")
"""The form of ir_datasets' own ids. Each is also the path of a folder, which must stay in ir_datasets'."""


def __dir__() -> list[str]:
    return sorted(__all__)


def from_folder(path: str | os.PathLike[str], id: str) -> Dataset:
    """Register a folder as a data set of ir_datasets, and return it.

    Parameters
    ----------
    path : str or path-like
        A folder with ``queries.jsonl`` and ``query_to_texts.jsonl``, and perhaps ``corpus.jsonl`` (plain or
        ``.gz``), in one of two layouts: MedCorpus' (a conversation per line of the queries, the query ids are
        ``<conversation_id>_<turn_id>``), or that of PerMed's baselines (a query per line with its id,
        ``query``, ``history`` and ``ground_truth``, which is used if there are no labels; a listed
        document has grade 1).
    id : str
        The id under which ir_datasets knows it: letters, digits and ``. _ + -``, in parts separated by ``/``.

    Returns
    -------
    ir_datasets.Dataset
        Its queries have text, conversation_id, turn_number and history.

    Raises
    ------
    InputError
        If the id is taken or malformed, a file is missing or wrong, or a judged query is not among the
        queries.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     line = '{"query_id": "t_turn_1", "query": "why?", "history": [], "ground_truth": ["d1"]}'
    ...     _ = Path(folder, "queries.jsonl").write_text(line)
    ...     dataset = from_folder(folder, "my-example")
    ...     next(dataset.qrels_iter())
    GenericQrel(query_id='t_turn_1', doc_id='d1', relevance=1)
    """
    if not isinstance(id, str) or not _ID.fullmatch(id):
        raise InputError(
            f"{id!r:.100} cannot be the id of a data set",
            hint="Use letters, digits and . _ + - in parts separated by /, such as 'my-topics/test'",
        )
    from permed_measures.datasets.catalogue import register_folder

    return register_folder(path, id)


def load(dataset: str) -> Dataset:
    """Return a data set of ir_datasets with qrels, by its id or as a folder.

    Raises
    ------
    InputError
        If ir_datasets does not know the id, or has no qrels for it.
    """
    from permed_measures.datasets.loading import load

    return load(dataset)
