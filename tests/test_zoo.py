"""Every function and command on every odd input ends in a report in every format, or in an error of ours.

A warning of a library is an error here. The quick run takes some of the inputs. A report is written in one
format, the next report in another.
"""

import csv
import io
import json
import re

import pytest
from commands import run_main
from effort import effort
from zoo import ZOO

import permed_measures as pm
from permed_measures.results.report import FORMATS, Result

RANDOM = {"resamples": 99}
BY = "c([0-9]+)_"


def runs_of(odd):
    return {"one": odd.run, "two": odd.other}


def limits(odd, value):
    return dict.fromkeys(odd.measures, value)


def gated(odd, **how):
    return pm.gate(odd.qrels, odd.run, limits(odd, 0.5), odd.other, limits(odd, 0.01), **how)


def recorded(odd):
    return pm.record(odd.qrels, runs_of(odd), odd.measures)


def compared(odd, **how):
    return pm.compare(odd.qrels, runs_of(odd), odd.measures, **RANDOM, **how)


CALLS = {
    "calc_aggregate": lambda odd: pm.calc_aggregate(odd.measures, odd.qrels, odd.run),
    "calc": lambda odd: pm.calc(odd.measures, odd.qrels, odd.run),
    "iter_calc": lambda odd: list(pm.iter_calc(odd.measures, odd.qrels, odd.run)),
    "evaluator": lambda odd: pm.evaluator(odd.measures, odd.qrels).calc_aggregate(odd.run),
    "evaluate_by": lambda odd: pm.evaluate_by(odd.measures, odd.qrels, odd.run, by=BY),
    "evaluate_by, macro": lambda odd: pm.evaluate_by(odd.measures, odd.qrels, odd.run, by=BY, macro=True),
    "ceiling": lambda odd: [pm.ceiling(measure, odd.qrels) for measure in odd.measures],
    "match_query_ids": lambda odd: pm.match_query_ids(odd.run, odd.qrels, "permed"),
    "crosscheck": lambda odd: pm.crosscheck(odd.qrels, odd.run, odd.measures),
    "crosscheck, default": lambda odd: pm.crosscheck(odd.qrels, odd.run),
    "compare": lambda odd: compared(odd, tests=["randomization", "t-test", "wilcoxon"]),
    "compare, baseline": lambda odd: compared(odd, baseline="one", equivalence_margin=0.01, detect=0.05),
    "compare, by": lambda odd: compared(odd, by="_([0-9]+)", clusters=BY),
    "compare, human": lambda odd: compared(odd, human=odd.qrels),
    "reranking": lambda odd: pm.reranking(odd.qrels, odd.run, odd.other, odd.measures or "P@1"),
    "uncertainty": lambda odd: pm.uncertainty(
        odd.qrels, runs_of(odd), odd.measures, label_error=0.1, draws=9
    ),
    "gate": gated,
    "gate, significant": lambda odd: gated(odd, significant=True),
    "gate, non_inferior": lambda odd: gated(odd, non_inferior=True),
    "leaderboard": lambda odd: pm.leaderboard(odd.qrels, runs_of(odd), odd.measures, **RANDOM),
    "record": recorded,
    "verify": lambda odd: pm.verify(recorded(odd), odd.qrels, runs_of(odd)),
    "verify, another": lambda odd: pm.verify(recorded(odd), odd.qrels, {"one": odd.other, "two": odd.run}),
    "possible": lambda odd: pm.possible(odd.qrels, odd.claims),
    "audit": lambda odd: pm.audit(odd.qrels, odd.run, odd.claims),
    "audit, rows": lambda odd: pm.audit(odd.qrels, runs_of(odd), dict.fromkeys(runs_of(odd), odd.claims)),
}
SLOW = {"audit", "audit, rows", "possible"}
CLAIMS = [name for name, odd in ZOO.items() if odd.claims != ZOO["ordinary"].claims]
"""The inputs whose claims are odd."""
NO_NUMBER = re.compile(r"\b(nan|NaN|inf|np\.\w+)\b")


def form_of(number):
    """Return the format that the pair of this number is written in."""
    return [*FORMATS][number % len(FORMATS)]


def assert_written(result, form):
    text = result.to(form)
    assert text.strip(), form
    if form in ("json", "jsonl"):
        for part in [text] if form == "json" else text.splitlines():
            json.loads(part, parse_constant=lambda name: pytest.fail(f"{form} has {name}"))
    if form in ("csv", "tsv"):
        lines = list(csv.reader(io.StringIO(text), delimiter="," if form == "csv" else "\t"))
        assert {len(line) for line in lines} == {len(lines[0])}, form
    if form != "html":
        assert not NO_NUMBER.search(text), (form, NO_NUMBER.search(text))


def inputs_for(name, number):
    """Return the inputs of the call or command of this number: in the quick run some, others for the next."""
    return (
        CLAIMS[number % 9 :: 9] if name in SLOW else effort([*ZOO][number % 8 :: 8], [*ZOO][number % 2 :: 2])
    )


@pytest.mark.filterwarnings("ignore::permed_measures.PermedWarning")
@pytest.mark.parametrize("call", CALLS)
def test_every_call_ends_in_a_report_or_an_error_of_ours(call):
    start = [*CALLS].index(call)
    for number, name in enumerate(inputs_for(call, start)):
        try:
            result = CALLS[call](ZOO[name])
            repr(result)
            if isinstance(result, Result):
                assert_written(result, form_of(start + number))
        except pm.PermedError:
            continue
        except (Exception, pytest.fail.Exception) as error:
            raise AssertionError(f"{call} of {name}: {type(error).__name__}: {error}") from error


# --- the command line ----------------------------------------------------------------------------------

COMMANDS = {
    "evaluate": "q.trec one=r.trec two=o.trec MEASURES",
    "evaluate --by": f"q.trec r.trec MEASURES --by {BY}",
    "evaluate --macro": f"q.trec r.trec MEASURES --by {BY}",
    "evaluate --by-query": "q.trec r.trec o.trec MEASURES",
    "crosscheck": "q.trec r.trec o.trec MEASURES",
    "compare": "q.trec r.trec o.trec MEASURES --resamples 99 --human q.trec",
    "reranking": "q.trec r.trec o.trec",
    "uncertainty": "q.trec r.trec o.trec MEASURES --draws 5",
    "gate": "q.trec r.trec LIMITS --baseline o.trec --significant",
    "leaderboard": "q.trec r.trec o.trec MEASURES --resamples 99",
    "audit": "q.trec r.trec CLAIMS",
    "possible": "q.trec CLAIMS",
    "convert": "r.trec out.json",
    "convert --as": "qrels q.trec out.qrels",
    "inspect": "q.trec r.trec o.trec",
}


def trec(nested, row):
    return "".join(row.format(q, d, value) for q, docs in nested.items() for d, value in docs.items())


def typed(arguments, odd):
    """Return the words of a command with the measures, limits or claims of an input."""
    words = {
        "MEASURES": [word for each in odd.measures for word in ("-m", each)],
        "LIMITS": [
            word for each in odd.measures for word in ("--min", f"{each}=0.5", "--max-drop", f"{each}=0")
        ],
        "CLAIMS": [word for each in odd.claims.items() for word in ("--claim", "=".join(map(str, each)))],
    }
    return [word for each in arguments.split() for word in words.get(each, [each])]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_ends_in_a_report_or_an_error_of_ours(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    start = [*COMMANDS].index(command)
    for number, name in enumerate(inputs_for(command, start)):
        odd = ZOO[name]
        (tmp_path / "q.trec").write_text(trec(odd.qrels, "{} 0 {} {}\n"))
        (tmp_path / "r.trec").write_text(trec(odd.run, "{} Q0 {} 1 {} t\n"))
        (tmp_path / "o.trec").write_text(trec(odd.other, "{} Q0 {} 1 {} t\n"))
        form = form_of(start + number)
        how = [] if command.split()[0] in ("convert", "inspect") else ["--format", form]
        status, stdout, stderr = run_main(*command.split(), *typed(COMMANDS[command], odd), *how)
        assert status in (0, 1, 2), name
        said = re.search("^error: (?!unexpected)", stderr, re.MULTILINE)
        assert (status == 2) == bool(said), (name, stderr)
        assert status == 2 or stdout.strip() or "convert" in command, name
        assert not re.search("Traceback|Warning", stderr), (name, stderr)
