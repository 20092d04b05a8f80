import numpy as np

from squamish.importance.refit import FeatureResidual, refit_without
from squamish.models.crossfit import CrossFit
from squamish.models.learners import BuiltIn
from squamish.models.race import race
from squamish.table.table import Table


def test_a_refit_of_trees_that_loses_nothing_for_certain_ends_there():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    y = np.sign(X[:, 0]) + np.sign(X[:, 1]) * np.sign(X[:, 2]) + rng.standard_normal(300)
    fit = CrossFit.over(Table(X, y, "regression"), 5, np.random.default_rng(0))
    features = np.arange(4)
    trees = race(fit, [BuiltIn("boosted", strength=25)], features)
    gain = trees.gain(fit)
    one = FeatureResidual(0, features, "plain", fit.matrix("plain", 0)[:, [0]])

    def refitted(most_p):
        bounds = 0.01 * gain, np.array([most_p])
        return refit_without(fit, trees, [one], gain, *bounds, np.random.default_rng(0))

    further, ended = refitted(0.2), refitted(0.0)
    assert further.test.mean[0] > 0.01 * gain
    assert further.p_values[0] < 0.01
    assert ended.p_values[0] == 1
    assert np.isnan(ended.r2[0])
    assert ended.n_fits == 5 < further.n_fits
