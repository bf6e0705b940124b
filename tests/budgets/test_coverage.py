"""The intervals of error budgets hold the truth as often as they say, in few experiments."""

import pytest
from simulations import budgets


@pytest.mark.thorough
@pytest.mark.parametrize("share", [budgets.topics, budgets.labels])
def test_intervals_hold_the_truth(share):
    experiments = {budgets.topics: 150, budgets.labels: 60}[share]
    found = share(20, experiments, seed=1)
    assert found.mean() > 0.95 - 3 * (0.95 * 0.05 / experiments) ** 0.5
    assert found.min() > 0.95 - 4 * (0.95 * 0.05 / experiments) ** 0.5
