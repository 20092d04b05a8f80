"""Rows that belong together."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline

from squamish import RelevanceSelector


def test_rows_of_one_patient_are_one_observation(verdict, visits):
    by_row, by_patient = 0, 0
    for seed in range(2):
        X, y, patient, _ = visits(seed)
        by_row += verdict(X, y).support_.any()
        by_patient += verdict(X, y, groups=patient).support_.any()
    assert by_row == 2
    assert by_patient == 0


def test_what_differs_with_the_target_between_patients_is_found(verdict, visits):
    X, y, patient, level = visits(0)
    X[:, 0] = (0.8 * level + 0.6 * np.random.default_rng(1).standard_normal(60))[patient]
    names = np.array([f"patient {p}" for p in patient])
    for target in (y, (y > 0).astype(int)):
        assert verdict(X, target, groups=names).relevance_classes_.tolist() == [2, 0, 0, 0, 0]
    found = verdict(X, y, groups=patient, cv=GroupKFold(4))
    assert found.relevance_classes_.tolist() == [2, 0, 0, 0, 0]


def test_a_class_in_one_group_only_is_never_trained_without(verdict, visits):
    X, y, patient, _ = visits(0)
    ill = (patient == 3).astype(int)
    with pytest.raises(ValueError, match="every class must occur in 2 or more groups"):
        verdict(X, ill, groups=ill)
    rare = np.where(patient == 3, 2, y > 0).astype(int)
    assert verdict(X, rare, groups=patient).relevance_classes_.shape == (5,)


@pytest.mark.parametrize("kind", ["classes", "amounts"])
def test_categories_of_many_levels_are_found_within_patients(classes, kind):
    rng = np.random.default_rng(0)
    patient, city = np.repeat(np.arange(50), 20), rng.integers(0, 20, 1000)
    y = 3 * rng.standard_normal(20)[city] + 0.5 * rng.standard_normal(1000)
    other = rng.integers(0, 20, 1000)
    table = pd.DataFrame({"city": city.astype(str), "other": other.astype(str)})
    target = (y > 0).astype(int) if kind == "classes" else y
    assert classes(table, target, groups=patient) == {"city": 2, "other": 0}
    assert classes(table, target, sample_weight=rng.uniform(0.5, 2, 1000)) == {
        "city": 2,
        "other": 0,
    }


def test_weights_and_groups_are_routed_through_pipelines(visits):
    X, y, patient, level = visits(0)
    X[:, 0] = level[patient]
    with config_context(enable_metadata_routing=True):
        selector = RelevanceSelector(random_state=0).set_fit_request(
            sample_weight=True, groups=True
        )
        pipeline = make_pipeline(selector, LinearRegression().set_fit_request(sample_weight=False))
        pipeline.fit(X, y, sample_weight=np.ones(600), groups=patient)
    assert pipeline[0].relevance_classes_.tolist() == [2, 0, 0, 0, 0]
