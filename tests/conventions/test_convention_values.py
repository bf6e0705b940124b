"""Each convention of an audit gives the same value as plain loops."""

import math
import random
import warnings

import numpy as np
import pytest
from audit_loops import CLAIMS, Plain, convention_of, conversations, means_something, small_case
from effort import seeds

import permed_measures as pm
from permed_measures.auditing.measured_claims import MeasuredClaim
from permed_measures.conventions.named import COMMUNITY
from permed_measures.conventions.options import DEFAULT, OPTIONS_OF, SHARED
from permed_measures.conventions.ranking_variants import RunVariants, label_policies
from permed_measures.conventions.records import OPTIONS
from permed_measures.conventions.search_space import ConventionSpace
from permed_measures.engine.judgments import Judgments
from permed_measures.published_tables.claims import parse_claims


def trials_of(qrels, run, claims, common=None):
    """Parse a row of claims about a run, by name; `common` has the queries that all runs have."""
    policies = label_policies(Judgments.of(qrels))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of runs without judged documents
        variants = RunVariants(policies, run)
        if common is not None:
            variants.in_all_runs = np.isin(policies[0].judgments.query_ids, common)
        return {claim.name: MeasuredClaim("run", claim, variants) for claim in parse_claims([claims])[0]}


def at(trial, how=(), cutoff=...):
    """Make a convention for one claim: the community's with changed options."""
    return convention_of([trial], how, **({} if cutoff is ... else {trial.name: cutoff}))


def random_options(rng, trial, most):
    """Draw a convention that differs from the community's in some options of a measure."""
    options = rng.sample([*SHARED, *OPTIONS_OF[trial.claim.measure]], rng.randint(0, most))
    levels = trial.run.labels.levels
    return {each: rng.choice(OPTIONS[each].values_for([trial.claim.measure], levels)) for each in options}


def with_own(rng, measure, how):
    """Rewrite a convention so that some options are set for the measure alone."""
    own = [option for option in how if rng.random() < 0.3]
    others = {option: rng.choice([how[option], DEFAULT[option]]) for option in own}
    return {**how, **others, **{f"{option} of {measure}": how[option] for option in own}}


@pytest.mark.parametrize("seed", seeds(6, 20))
def test_every_convention_has_the_value_of_plain_loops(seed):
    rng = random.Random(seed)
    qrels, run = small_case(rng)
    if seed % 2:
        qrels, run = conversations(qrels, run)
    common = rng.sample(list(run), max(1, len(run) - 1))
    plain = Plain(qrels, run, [common])
    trials = trials_of(qrels, run, dict.fromkeys(CLAIMS, "0.5000"), common)
    n_known = 0
    for trial in trials.values():
        for _ in range(60):
            how, cutoff = random_options(rng, trial, 4), rng.choice(trial.claim.cutoffs)
            known = means_something(trial.measure, how, plain)
            how = with_own(rng, trial.measure, how)
            expected = plain.mean(trial.claim.measure, how, cutoff) if known else math.nan
            value = trial.value(at(trial, how, cutoff))
            assert value == pytest.approx(expected, abs=1e-9, nan_ok=True), (trial.claim.name, how, cutoff)
            n_known += not math.isnan(value)
    assert n_known > 100


def test_ids_that_are_integers_are_texts_for_the_document_of_the_query_too():
    qrels, run = {1: {1: 1, 2: 1}}, {1: {1: 3.0, 3: 2.0, 2: 1.0}}
    for each in (run, {str(q): docs for q, docs in run.items()}):
        [trial] = trials_of(qrels, each, {"P@1": "0.0"}).values()
        assert trial.value(at(trial)) == 1
        assert trial.value(at(trial, {"self_match": "removed"})) == 0


def test_a_document_with_a_score_of_0_has_none_above_0():
    [trial] = trials_of({"q": {"a": 1}}, {"q": {"a": 0.0}}, {"P@1": "0.0"}).values()
    assert (trial.value(at(trial)), trial.value(at(trial, {"documents": "positive"}))) == (1, 0)


def test_an_empty_query_set_has_no_mean():
    result = pm.audit({"q1": {"a": 0}}, {"q1": {"a": 1.0}}, {"P@1": "0.5"})
    [trial] = result.trials
    assert math.isnan(trial.value(at(trial, {"queries": "with_relevant"})))
    assert trial.printed_value(result.nearest[trial]) in ("0.0", "1.0")


def test_grades_too_large_for_exponential_gains_do_not_end_the_audit():
    claims = {"P@1": "1.0", "MAP@10": "1.0", "nDCG@10": "1.0"}
    result = pm.audit({"q1": {"a": 1100, "b": 1}}, {"q1": {"a": 2.0, "b": 1.0}}, claims)
    assert result.ok
    assert str(result)


@pytest.mark.parametrize(
    "grades", [[0, 1], [-1, 0, 1, 2], [-1, 0, 1, 2, 3], [0, 2], [0, 4], [0, 0.5, 1, 1.5], [0], [-1, 3]]
)
@pytest.mark.parametrize("labels", ["grades", "pool"])
def test_what_one_would_type_parses_and_has_the_value(grades, labels):
    """A measure without a name is described in words."""
    rng = random.Random(3)
    documents = [f"d{i}" for i in range(15)]
    qrels = {f"q{i}": {d: rng.choice(grades) for d in rng.sample(documents, 9)} for i in range(5)}
    run = {f"q{i}": {d: rng.randrange(9) / 2 for d in rng.sample(documents, 12)} for i in range(4)}
    plain, n_typed = Plain(qrels, run), 0
    for trial in trials_of(qrels, run, {name: "0.5000" for name in CLAIMS if name != "F1@3"}).values():
        space = ConventionSpace([trial], [COMMUNITY])
        for convention in (
            space.convention(each) for n in (0, 1) for near in space.neighbours(n) for each in near.codes
        ):
            own = convention[trial.measure]
            if any(own[each] != DEFAULT[each] for each in SHARED) and own["labels"] != labels:
                continue
            text = trial.measure_string(convention)
            if " " in text or math.isnan(trial.value(convention)) or own["queries"] != "qrels":
                continue
            shared = [each for each in SHARED if each != "labels" and own[each] != DEFAULT[each]]
            if not shared:
                [value] = pm.calc_aggregate([text], plain.qrels[own["labels"]], run).values()
                assert trial.value(convention) == pytest.approx(value, abs=1e-12), text
                n_typed += 1
    assert n_typed > 10
