"""Fill ir_metadata of a run from a record: as comment lines at the head of the run, or as a YAML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ir_measures.measures import Measure

from permed_measures.errors import InputError, short_repr
from permed_measures.measures.parameters import cutoff_of
from permed_measures.measures.parsing import parse_measure
from permed_measures.measures.specs import SPECS, spec_of
from permed_measures.records.record import Record
from permed_measures.wording import join_names

SCHEMA_VERSION = 0.1
"""The version of ir_metadata: https://www.ir-metadata.org/metadata/overview/."""

START, END = "# ir_metadata.start", "# ir_metadata.end"
"""The first and the last line of metadata at the head of a run."""

Metadata = dict[str, Any]


def ir_metadata(record: Record, tag: str) -> Metadata:
    """Fill the part of a run's metadata that a record knows: the evaluation and the test collection.

    Parameters
    ----------
    record : Record
    tag : str
        The tag of the run.

    Returns
    -------
    dict
        ``research goal``, ``evaluation``: ``reported measures``, by the names of trec_eval if it has the
        measure, and ``software``, the packages that computed them. ``data``, ``test collection``: ``name``,
        ``qrels`` (the name of the file, and its SHA-256), ``ir_datasets``. The record does not know the
        author, method and platform of the run, so these parts are missing.

    Examples
    --------
    >>> from permed_measures.records.record import record
    >>> found = record({"q": {"a": 1}}, {"mine": {"q": {"a": 1.0}}}, ["nDCG@10", "GradedAP@10"])
    >>> ir_metadata(found, "mine")["research goal"]["evaluation"]["reported measures"]
    ['ndcg_cut_10', 'GradedAP@10']
    """
    qrels = record["qrels"]
    path, dataset = qrels["path"], qrels["dataset"]
    file = Path(path).name if path and path != "-" else None
    collection = {
        "name": dataset or file,
        "qrels": file,
        "sha256 of qrels": qrels["sha256"],
        "ir_datasets": dataset,
    }
    measures = dict.fromkeys(trec_name(parse_measure(text)) for text in record["measures"].values())
    software = [f"{name}=={version}" for name, version in record["versions"].items()]
    known = {name: value for name, value in collection.items() if value}
    return {
        "schema-version": SCHEMA_VERSION,
        "run-version": 1.0,
        "tag": tag,
        "research goal": {"evaluation": {"reported measures": [*measures], "software": software}},
        **({"data": {"test collection": known}} if known else {}),
    }


def trec_name(measure: Measure) -> str:
    """Translate a measure to its name in trec_eval; keep its own name if trec_eval lacks this form.

    Examples
    --------
    >>> [trec_name(parse_measure(name)) for name in ("AP", "P@10", "RR@10", "nDCG(dcg='exp-log2')@10")]
    ['map', 'P_10', 'RR@10', "nDCG(dcg='exp-log2')@10"]
    """
    if str(measure.NAME) not in SPECS:
        return str(measure)
    without, _, cut = spec_of(measure).trec_names.partition(" ")
    cutoff = cutoff_of(measure)
    name = without if cutoff is None else cut.format(cutoff)
    plain = {**measure.params, "cutoff": cutoff}.keys() <= {"cutoff"}
    return name if plain and name != "-" else str(measure)


# --- the head of a run ---------------------------------------------------------------------------------


def complete_metadata(comments: Sequence[str], from_record: Mapping[str, Any], where: str = "") -> Metadata:
    """Read the metadata at the head of a run, and add missing parts from a record's metadata.

    Raises
    ------
    InputError
        If the head has metadata that cannot be read.
    """
    own, _ = _divided(comments, where)
    return _filled(own, from_record)


def head_of(comments: Sequence[str], metadata: Mapping[str, Any]) -> list[str]:
    """Write metadata as comment lines, and append the other comment lines at the head of a run."""
    _, others = _divided(comments, "")
    return [START, *(f"# {line}" for line in as_yaml(metadata).splitlines()), END, *others]


def as_yaml(metadata: Mapping[str, Any]) -> str:
    """Write metadata as YAML."""
    import yaml  # a dependency of ir_datasets

    text: str = yaml.safe_dump(dict(metadata), sort_keys=False, allow_unicode=True, width=float("inf"))
    return text


def check_no_loss(path: Path, metadata: Mapping[str, Any]) -> None:
    """Raise InputError if an existing file has fields that these metadata lack."""
    import yaml

    if not path.is_file():
        return
    try:
        existing = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError):
        existing = None
    names = existing.keys() if isinstance(existing, dict) else {"its content"}
    lost = [str(name) for name in names if name not in metadata]
    if lost:
        problem = f"the file would lose fields that a record does not have: {join_names(lost, 5)}"
        raise InputError(problem, where=str(path), hint="Name another file for OUT, and copy from that")


def _divided(comments: Sequence[str], where: str) -> tuple[Metadata, list[str]]:
    """Split comment lines into the metadata, parsed, and the other lines."""
    if START not in comments:
        return {}, list(comments)
    first = comments.index(START)
    if END not in comments[first:]:
        raise InputError(f"the metadata at the head of the run have no last line {END!r}", where=where)
    last = comments.index(END, first)
    import yaml

    try:
        own = yaml.safe_load("\n".join(line.removeprefix("#") for line in comments[first + 1 : last]))
    except yaml.YAMLError as error:
        problem = f"the metadata at the head of the run are not YAML ({' '.join(str(error).split())})"
        raise InputError(problem, where=where) from None
    if not isinstance(own, dict | None):
        raise InputError(
            f"the metadata at the head of the run have no names (found {short_repr(own)})", where=where
        )
    return own or {}, [*comments[:first], *comments[last + 1 :]]


def _filled(own: Mapping[str, Any], additions: Mapping[str, Any]) -> Metadata:
    """Add missing or empty fields to metadata; an underscore in a name equals a blank."""
    filled, names = dict(own), {str(name).replace("_", " "): name for name in own}
    for name, value in additions.items():
        own_name = names.get(name.replace("_", " "), name)
        if isinstance(value, Mapping) and isinstance(filled.get(own_name), Mapping):
            filled[own_name] = _filled(filled[own_name], value)
        elif filled.get(own_name) in (None, ""):
            filled[own_name] = value
    return filled
