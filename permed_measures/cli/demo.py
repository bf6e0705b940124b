"""The command demo: the packaged sample as a small story."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

from permed_measures.datasets import SAMPLES
from permed_measures.engine.evaluator import PermedEvaluator
from permed_measures.engine.judgments import Judgments
from permed_measures.files.read import read_qrels, read_run
from permed_measures.measures.definitions import MEDCORPUS
from permed_measures.measures.headings import heading
from permed_measures.reports.evaluation import Report, with_judged
from permed_measures.reports.evaluation_formats import EVALUATION_FORMATS
from permed_measures.terminal import paragraph

_ABOUT = (
    "permed-sample: 12 synthetic conversations about medicine. Each of their 48 turns is a query; documents "
    "that answer it have grade 2, in part grade 1. Three rankings, by the measures of MedCorpus:"
)
_REMARKS = (
    "- bm25 is first by nDCG-exp@10 ({bm25[nDCG-exp@10]:.4f}), GradedAP@10 ({bm25[GradedAP@10]:.4f}) and P@1 "
    "({bm25[P@1]:.4f}).",
    "- lsa is first by Coverage@10: it finds a relevant document for {lsa[Coverage@10]:.0%} of the turns, "
    "bm25 for {bm25[Coverage@10]:.0%}.",
    "- Only {bm25[Judged@10]:.0%} of bm25's first 10 documents are judged (lsa: {lsa[Judged@10]:.0%}); the "
    "others count as not relevant.",
    "- GradedAP@10 cannot exceed {best[GradedAP@10]:.4f} here: a document of grade 1 weighs half.",
)
_NEXT = {
    "Is bm25 surely better? Type": "compare permed-sample permed-sample/runs --baseline bm25",
    "At which turns? Type": "evaluate permed-sample permed-sample/runs --by turn_number",
    "For files of your own:": "evaluate --help",
}


def demo() -> None:
    """Show the packaged sample: what it is, a table, what is remarkable in it, what to type next."""
    sample = SAMPLES[0]
    evaluator = PermedEvaluator(with_judged(MEDCORPUS), Judgments.of(read_qrels(sample.qrels)))
    evaluations = {run: evaluator.evaluate(read_run(path)) for run, path in sample.runs.items()}
    report = Report(list(MEDCORPUS), evaluations)
    values = {
        run: {heading(measure): value for measure, value in each.aggregated.items()}
        for run, each in {**evaluations, "best": report.ideal}.items()
    }
    print(f"{paragraph(_ABOUT)}\n\n{EVALUATION_FORMATS['table'](report)}")
    for remark in _REMARKS:
        print(paragraph(remark.format_map(values), 2))
    for why, command in _NEXT.items():
        print(f"\n{why}\n  {_program()} {command}")


def _program() -> str:
    """Return the command that starts this program, whether or not the environment is activated."""
    script = Path(sys.argv[0])
    if not script.stem.startswith("permed-measures"):
        return f"{shlex.quote(sys.executable)} -m permed_measures"
    return script.name if shutil.which(script.name) else shlex.quote(str(script))
