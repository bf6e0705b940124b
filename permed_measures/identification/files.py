"""Write the files of qrels and of a run for a program, in the formats that its users have."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from permed_measures.identification.forms import CaseQrels, CaseRun
from permed_measures.inputs.write import write_qrels, write_run


class Files(NamedTuple):
    """The format of a file of qrels and a file of a run.

    Attributes
    ----------
    qrels, run : str
        The file names; the endings choose the formats, as for `write_qrels` and `write_run`.
    content : str
        The content of both, in words.
    grades : bool
        Whether the qrels have grades; else they list the relevant documents.
    empty_lists : bool
        Whether the run can have a query without documents.
    labels : bool
        Whether the qrels are MedCorpus labels, which `write_qrels` does not write.
    """

    qrels: str
    run: str
    content: str
    grades: bool = True
    empty_lists: bool = False
    labels: bool = False

    def write(self, qrels: CaseQrels, run: CaseRun, folder: str) -> tuple[Path, Path]:
        """Write both files into a folder. Documents keep the order of the lists, even with equal scores.

        Raises
        ------
        InputError
            If the format cannot hold the case, such as a run without any document.
        """
        qrels_file, run_file = Path(folder, self.qrels), Path(folder, self.run)
        if self.labels:
            _write_lines(map(json.dumps, _labels(qrels)), qrels_file)
        else:
            write_qrels(qrels if self.grades else _relevant(qrels), qrels_file)
        lines = _LINE_WRITERS.get(run_file.suffix)
        if lines is None or not run:
            write_run(run, run_file)
        else:  # `write_run` would put equal scores in trec_eval's order
            _write_lines(lines(run), run_file)
        return qrels_file, run_file


_JSON_RUN = "{query: {document: score}}"
_RESULTS = '{"query_id", "ranked_results": [{"text_id", "score"}, ...]}'

PROGRAM_FILES = {
    "trec": Files("qrels.txt", "run.txt", "as TREC has them"),
    "jsonl": Files(
        "ground_truth.jsonl",
        "results.jsonl",
        f'lines of {{"query_id", "relevant_texts": [...]}}, and of {_RESULTS}',
        grades=False,
        empty_lists=True,
    ),
    "json": Files(
        "qrels.json", "run.json", f"{{query: {{document: grade}}}}, and {_JSON_RUN}", empty_lists=True
    ),
    "csv": Files("qrels.csv", "run.csv", "CSV with query_id, doc_id, and relevance or score"),
    "tsv": Files("qrels.tsv", "run.tsv", "TSV with query-id, corpus-id, score, and query_id, doc_id, score"),
    "beir": Files(
        "qrels.tsv", "run.json", f"TSV with query-id, corpus-id, score, and {_JSON_RUN}", empty_lists=True
    ),
    "medcorpus": Files(
        "query_to_texts.jsonl",
        "results.jsonl",
        f'lines of {{"conversation_id", "turn_id", "doc_id", "rel"}}, and of {_RESULTS}',
        empty_lists=True,
        labels=True,
    ),
}
"""The formats of files for a program: those of `convert`, and those of BEIR and MedCorpus."""


def _relevant(qrels: CaseQrels) -> CaseQrels:
    """Give the relevant documents of each query the grade 1, and remove the others."""
    return {query: {doc: 1 for doc in docs if docs[doc] >= 1} for query, docs in qrels.items()}


def _labels(qrels: CaseQrels) -> Iterable[dict[str, Any]]:
    """Yield labels of MedCorpus; a query id splits into a conversation id and a turn id."""
    for query, docs in qrels.items():
        conversation, _, turn = query.rpartition("_")
        for doc, grade in docs.items():
            rel = int(grade) if grade == int(grade) else grade
            yield {"conversation_id": conversation, "turn_id": int(turn), "doc_id": doc, "rel": rel}


def _trec_lines(run: CaseRun) -> Iterable[str]:
    for query, docs in run.items():
        for rank, (doc, score) in enumerate(docs.items(), start=1):
            yield f"{query} Q0 {doc} {rank} {score!r} cases"


def _results_lines(run: CaseRun) -> Iterable[str]:
    for query, docs in run.items():
        results: list[Mapping[str, Any]] = [{"text_id": doc, "score": score} for doc, score in docs.items()]
        yield json.dumps({"query_id": query, "ranked_results": results})


_LINE_WRITERS = {".txt": _trec_lines, ".jsonl": _results_lines}
"""The functions that write a run line by line, by the ending of the file."""


def _write_lines(lines: Iterable[str], path: Path) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
