"""What trec_eval's own tests print, against our values written with its four digits.

    python tests/simulations/peers/of_trec_eval.py FOLDER

FOLDER is a copy of github.com/usnistgov/trec_eval. The commands are those of ``quicktest`` in its Makefile,
but for those that take preferences, several judges or z-scores, which we have not.
"""

import re
import shlex
import sys
from collections import Counter
from pathlib import Path

from trec_names import measures_of

import permed_measures as pm


def commands(folder):
    """Yield the arguments of each command of ``quicktest``, and the file with its output."""
    makefile = (folder / "Makefile").read_text().partition("\nquicktest:")[2].partition("\n\n")[0]
    for line in makefile.splitlines():
        if (parts := re.match(r"\t\./trec_eval (.*) \| diff - (\S+)", line)) and not re.search("-[RZ]", line):
            yield shlex.split(parts[1]), folder / parts[2]


def evaluated(folder, options, qrels, run, names):
    """Return our ``{(name, query): value}``, means as of query ``all``."""
    qrels, run = pm.read_qrels(folder / qrels), pm.read_run(folder / run)
    level, depth = (re.search(rf"-{letter}(\d+)", " ".join(options)) for letter in "lM")
    if "-c" not in options:
        qrels = {query: docs for query, docs in qrels.items() if query in run}
    if depth:
        run = {query: dict(ranked(docs)[: int(depth[1])]) for query, docs in run.items()}
    measures = {}
    for name in names:
        measures |= measures_of(name, int(level[1]) if level else 1)
    named = {measure: name for name, measure in measures.items()}
    both = pm.calc([*named], qrels, run)
    found = {(named[measure], "all"): value for measure, value in both.aggregated.items()}
    return found | {(named[measure], query): value for query, measure, value in both.per_query}


def ranked(docs):
    """Return the documents of a query and their scores as trec_eval 9 ranks them: by score, then by id."""
    return sorted(docs.items(), key=lambda item: (item[1], item[0]), reverse=True)


def main(folder):
    """Print how many values agree, those that do not, and what is not ours."""
    passed, others, absent = 0, [], Counter()
    for (*options, qrels, run), output in commands(folder):
        printed = {tuple(line.split()[:2]): line.split()[2] for line in output.read_text().splitlines()}
        values = evaluated(folder, options, qrels, run, dict.fromkeys(name for name, _ in printed))
        for key, text in printed.items():
            if key not in values:
                absent[key[0]] += 1
            elif text == (f"{values[key]:.4f}" if "." in text else f"{values[key]:.0f}"):
                passed += 1
            else:
                others.append(f"{output.name}: {' '.join(key)} is {text}, ours {values[key]:.6f}")
    print(f"{passed:,} of {passed + len(others):,} passed", *others, sep="\n")
    print("not ours:", ", ".join(f"{name} {times}" for name, times in absent.items()))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
