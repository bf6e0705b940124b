"""The intervals of `uncertainty` hold the truth as often as they say, in few experiments."""

import pytest
from simulations import uncertainties


@pytest.mark.thorough
@pytest.mark.parametrize("share", [uncertainties.topics, uncertainties.labels])
def test_intervals_hold_the_truth(share):
    experiments = {uncertainties.topics: 150, uncertainties.labels: 60}[share]
    found = share(20, experiments, seed=1)
    assert found.mean() > 0.95 - 3 * (0.95 * 0.05 / experiments) ** 0.5
    assert found.min() > 0.95 - 4 * (0.95 * 0.05 / experiments) ** 0.5
