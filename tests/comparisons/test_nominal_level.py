"""The tests hold their level in simulations."""

from scipy import stats
from simulations import clusters as simulate_clusters


def test_the_clustered_tests_hold_their_level_and_the_naive_ones_do_not():
    trials, level = 600, simulate_clusters.LEVEL
    counts = simulate_clusters.rejections(0.5, trials, resamples=999)
    low, high = stats.binom.ppf([0.0005, 0.9995], trials, level)
    assert low <= counts["randomization, clustered"] <= high
    assert low <= counts["t-test, clustered"] <= high + 0.01 * trials  # liberal with 60 clusters
    assert counts["randomization, naive"] > 3 * level * trials
    assert counts["t-test, naive"] > 3 * level * trials


def test_one_long_cluster_deceives_the_t_test_and_not_the_randomization_test():
    trials, level = 400, simulate_clusters.LEVEL
    low, high = stats.binom.ppf([0.0005, 0.9995], trials, level)
    counts = simulate_clusters.rejections_with_one_of(40, 30, trials, resamples=499)
    assert counts["t-test, clustered"] > 2 * level * trials
    assert low <= counts["randomization, clustered"] <= high
    counts = simulate_clusters.rejections_with_one_of(2, 30, trials, resamples=499)
    assert low <= counts["t-test, clustered"] <= high + 0.01 * trials
