"""Read, name, check, cluster and evaluate runs: the first steps of every function that takes several runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from ir_measures.measures import Measure

from permed_measures.arrays import Ints
from permed_measures.datasets import find
from permed_measures.engine.evaluator import Evaluation, PermedEvaluator
from permed_measures.engine.groups import By, Groups, clusters_of
from permed_measures.engine.judgments import Judgments
from permed_measures.engine.tables import dataset_of
from permed_measures.errors import InputError, warnings_about
from permed_measures.inputs.columns import QrelsLike, RunLike
from permed_measures.inputs.door import read
from permed_measures.inputs.runs import named_runs, runs_by_name
from permed_measures.measures.parsing import MeasuresLike, measures_of
from permed_measures.progress import tracked
from permed_measures.provenance import Origin
from permed_measures.run_notes import run_notes

Computed = TypeVar("Computed")


@dataclass(frozen=True)
class Experiment:
    """Qrels, measures and runs by name; each run is read when it is evaluated.

    Attributes
    ----------
    evaluator : PermedEvaluator
        The measures, checked on the judgments.
    runs : mapping of str to RunLike
    origin : Origin
        The files of the qrels and the runs.
    dataset : object or None
        The data set of the qrels, whose queries have fields.
    """

    evaluator: PermedEvaluator
    runs: Mapping[str, Any]
    origin: Origin
    dataset: Any = None

    @classmethod
    def of(
        cls,
        qrels: QrelsLike,
        runs: Mapping[str, RunLike] | RunLike,
        measures: MeasuresLike,
        rel: float | None = None,
        *,
        by_name: bool = False,
    ) -> Experiment:
        """Name the runs, read the qrels, parse the measures, and check them on the qrels.

        Parameters
        ----------
        qrels : QrelsLike
        runs : mapping of str to RunLike, or RunLike
        measures, rel
            As in `calc_aggregate`.
        by_name : bool
            Whether `runs` must be a mapping of names; otherwise a single run gets a name.

        Raises
        ------
        MeasureError, InputError
            As for an evaluation.

        Examples
        --------
        >>> experiment = Experiment.of({"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}, ["P@1", "RR"])
        >>> [(name, evaluation.values.tolist()) for name, evaluation in experiment.evaluate()]
        [('run', [[0.0], [0.5]])]
        """
        named = named_runs(runs) if by_name else runs_by_name(runs)
        table = read(qrels, "relevance")  # first: its error tells measures in the place of the qrels
        evaluator = PermedEvaluator(measures_of(measures, rel), table)
        return cls(evaluator, named, Origin.of(qrels, named), dataset_of(table))

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to pickle, with the id of a data set: ir_datasets' objects cannot be pickled."""
        has_id = hasattr(self.dataset, "dataset_id")
        return {**vars(self), "dataset": self.dataset.dataset_id() if has_id else self.dataset}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the pickled state, and find the data set by its id."""
        dataset = state["dataset"]
        vars(self).update(state, dataset=find(dataset) if isinstance(dataset, str) else dataset)

    @property
    def measures(self) -> list[Measure]:
        """The measures of the evaluator."""
        return list(self.evaluator.measures)

    @property
    def judgments(self) -> Judgments:
        """The judgments of the qrels."""
        return self.evaluator.judgments

    def clusters(self, by: By | None = None) -> tuple[str, Ints, list[str]]:
        """Assign a cluster to each query; see `clusters_of`."""
        return clusters_of(self.judgments.query_ids, by, self.dataset)

    def groups(self, by: By | None) -> Groups | None:
        """Assign a group to each query; None without groups."""
        return None if by is None else Groups.of(self.judgments.query_ids, by, self.dataset)

    def check_nonempty(self, purpose: str) -> None:
        """Raise InputError unless there are queries, measures for a purpose, and runs."""
        check_nonempty(self.judgments, self.measures, purpose, self.runs)

    def apply(self, compute: Callable[[Any], Computed], **how: Any) -> Iterator[tuple[str, Computed]]:
        """Read the runs, one after the other, and yield the result of a function of each, by name.

        Errors and warnings about a run name its file, or the run if it has none. `how` are options of `read`.
        """
        for name in tracked(self.runs, "runs"):
            with errors_name_run(name):
                result = compute(read(self.runs[name], "score", **how))
            yield name, result

    def evaluate(self, **how: Any) -> Iterator[tuple[str, Evaluation]]:
        """Read and evaluate the runs, one after the other; `how` are options of `read`."""
        for name, evaluation in self.apply(self.evaluator.evaluate, **how):
            yield name, evaluation._replace(rankings=replace(evaluation.rankings))  # without cached arrays

    def evaluate_all(self, **how: Any) -> tuple[dict[str, Evaluation], dict[str, list[str]]]:
        """Evaluate all runs; return the evaluations and the `run_notes` of each run, by name."""
        evaluations = dict(self.evaluate(**how))
        return evaluations, {name: run_notes(name, each.rankings) for name, each in evaluations.items()}


def check_nonempty(
    judgments: Judgments, measures: Iterable[Measure], purpose: str, runs: Sized = ("at least one",)
) -> None:
    """Raise InputError unless there are queries, measures for a purpose such as ``compare by``, and runs."""
    if not judgments.n_queries:
        raise InputError("the qrels have no query")
    if not [*measures]:
        raise InputError(f"there is no measure to {purpose}", hint="Name one, such as 'nDCG@10'")
    if not len(runs):
        raise InputError("there is no run")


@contextmanager
def errors_name_run(name: str) -> Iterator[None]:
    """Name the run in errors and warnings that name no file: a run in Python does not know its name."""
    try:
        with warnings_about(name):
            yield
    except InputError as error:
        if error.where and not error.where.startswith(_WHERE_IN_RUN):
            raise
        where = f"run {name!r}" + (f", {error.where}" if error.where else "")
        raise type(error)(error.problem, where=where, hint=error.hint) from error


_WHERE_IN_RUN = ("query ", "row ")
"""The beginnings of the location of an error within a run that is not a file."""
