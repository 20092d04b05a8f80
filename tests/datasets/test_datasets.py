import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from squamish.datasets import (
    PRESETS,
    PROBLEMS,
    load_preset,
    load_problem,
    make_linear,
    make_nonlinear,
    make_regression,
)
from squamish.errors import InputError

GENERATORS = [make_linear, make_nonlinear, make_regression]


@pytest.mark.parametrize(
    ("name", "rows", "strong", "weak", "irrelevant"),
    [
        ("Set 1", 150, 6, 0, 6),
        ("Set 2", 150, 0, 6, 6),
        ("Set 3", 150, 3, 4, 3),
        ("Set 4", 256, 6, 6, 6),
        ("Set 5", 512, 1, 2, 11),
        ("Set 6", 200, 1, 20, 0),
        ("Set 7", 200, 1, 20, 20),
        ("Set 8", 2000, 10, 10, 50),
        ("NL 1", 1000, 10, 0, 10),
        ("NL 2", 1000, 4, 10, 6),
        ("NL 3", 1000, 10, 10, 30),
        ("NL 4", 1000, 10, 10, 60),
    ],
)
def test_presets_have_the_sizes_printed_in_the_paper(name, rows, strong, weak, irrelevant):
    problem = load_preset(name, random_state=0)
    assert problem.X.shape == (rows, strong + weak + irrelevant)
    assert np.bincount(problem.classes, minlength=3).tolist() == [irrelevant, weak, strong]
    assert [len(group) for group in problem.groups] == ([weak] if weak else [])


def test_every_preset_is_named():
    assert len(PRESETS) == 12
    with pytest.raises(InputError, match=r"no preset is called 'Set 9'; the presets are Set 1, "):
        load_preset("Set 9")


def test_linear_class_is_the_side_of_the_plane_with_equal_weights():
    problem = make_linear(300, n_strong=3, n_irrelevant=2, random_state=1)
    assert np.array_equal(problem.y, problem.X[:, :3].sum(axis=1) > 0)


def test_group_members_are_copies_with_offsets_between_one_and_two():
    problem = make_linear(100, n_strong=2, group_sizes=[4], random_state=2)
    group = problem.X[:, list(problem.groups[0])]
    assert np.allclose(np.ptp(group - group[:, :1], axis=0), 0)
    offsets = group.mean(axis=0)
    assert np.all((offsets > 0.5) & (offsets < 2.5))
    assert len(np.unique(offsets.round(6))) == 4


def test_group_replaces_one_informative_column_of_the_plane():
    problem = make_linear(4000, n_strong=1, group_sizes=[2], random_state=3)
    member = problem.X[:, problem.groups[0][0]]
    recovered = problem.X[:, 0] + member - member.mean() > 0
    assert np.mean(recovered == problem.y) > 0.97


def test_noise_has_the_stated_size_and_spares_no_column():
    clean = make_linear(5000, n_strong=2, group_sizes=[2], n_irrelevant=2, random_state=4)
    noisy = make_linear(
        5000, n_strong=2, group_sizes=[2], n_irrelevant=2, noise=0.3, random_state=4
    )
    added = (noisy.X - clean.X).std(axis=0)
    assert added == pytest.approx(np.full(6, 0.3 / clean.X.std()), rel=0.05)


def test_nonlinear_classes_are_balanced_and_no_plane_divides_them():
    problem = make_nonlinear(n_strong=4, random_state=0)
    design = np.column_stack([problem.X, np.ones(1000)])
    weights = np.linalg.lstsq(design, 2.0 * problem.y - 1, rcond=None)[0]
    assert np.mean(problem.y) == pytest.approx(0.5, abs=0.01)
    assert np.mean((design @ weights > 0) == problem.y) < 0.9


def test_regression_target_is_a_weighted_sum_plus_noise():
    problem = make_regression(2000, n_strong=3, n_irrelevant=3, target_noise=0.5, random_state=5)
    weights, residual, *_ = np.linalg.lstsq(problem.X, problem.y, rcond=None)
    assert np.all((weights[:3] > 0.4) & (weights[:3] < 1.6))
    assert np.all(np.abs(weights[3:]) < 0.1)
    assert np.sqrt(residual[0] / 2000) == pytest.approx(0.5, rel=0.1)


def test_repeating_a_strong_column_makes_both_weak():
    problem = make_linear(50, n_strong=1, n_repeated=1, random_state=0)
    assert problem.classes.tolist() == [1, 1]
    assert problem.groups == ((0, 1),)
    assert np.array_equal(problem.X[:, 0], problem.X[:, 1])


def test_repeating_an_irrelevant_column_changes_no_class():
    problem = make_linear(50, n_strong=1, n_irrelevant=9, n_repeated=30, random_state=0)
    for j, name in enumerate(problem.feature_names):
        assert (problem.classes[j] == 0) == ("irrelevant" in name)


@pytest.mark.parametrize("make", GENERATORS)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_strong=st.integers(2, 4),
    group_sizes=st.lists(st.integers(2, 4), max_size=3),
    n_irrelevant=st.integers(0, 4),
    n_repeated=st.integers(0, 6),
)
@settings(max_examples=25, deadline=None)
def test_truth_follows_the_columns_when_they_are_shuffled(
    make, seed, n_strong, group_sizes, n_irrelevant, n_repeated
):
    sizes = dict(
        n_strong=n_strong,
        group_sizes=group_sizes,
        n_irrelevant=n_irrelevant,
        n_repeated=n_repeated,
        random_state=seed,
    )
    plain, shuffled = make(40, **sizes), make(40, **sizes, shuffle=True)
    order = [plain.feature_names.index(name) for name in shuffled.feature_names]
    assert np.array_equal(plain.X[:, order], shuffled.X)
    assert np.array_equal(plain.y, shuffled.y)
    assert np.array_equal(plain.classes[order], shuffled.classes)
    assert _named_groups(plain) == _named_groups(shuffled)


def _named_groups(problem):
    return {frozenset(problem.feature_names[j] for j in group) for group in problem.groups}


@given(seed=st.integers(0, 1000), n_repeated=st.integers(0, 6))
@settings(max_examples=25, deadline=None)
def test_a_column_is_weak_if_and_only_if_it_is_in_a_group(seed, n_repeated):
    problem = make_linear(
        20, n_strong=2, group_sizes=[2], n_irrelevant=1, n_repeated=n_repeated, random_state=seed
    )
    grouped = sorted(j for group in problem.groups for j in group)
    assert grouped == np.flatnonzero(problem.classes == 1).tolist()


@pytest.mark.parametrize("make", GENERATORS)
def test_same_seed_same_data_other_seed_other_data(make):
    first, again, other = (make(50, group_sizes=[2], random_state=s) for s in (3, 3, 4))
    assert np.array_equal(first.X, again.X)
    assert np.array_equal(first.y, again.y)
    assert not np.array_equal(first.X, other.X)


def test_a_generator_is_a_seed_too():
    first, again = (make_linear(50, random_state=np.random.default_rng(3)) for _ in range(2))
    assert np.array_equal(first.X, again.X)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        (dict(n_strong=-1), "n_strong is -1; it must be a whole number at least 0"),
        (dict(n_strong=0), "nothing makes the target"),
        (dict(group_sizes=[1]), "a group's size is 1; it must be a whole number at least 2"),
        (dict(n_strong=2.5), "n_strong is 2.5; it must be a whole number"),
        (dict(noise=-0.1), "noise is -0.1; it must be a number at least 0"),
        (dict(n_samples=1), "n_samples is 1; it must be a whole number at least 2"),
        (dict(random_state="seed"), "random_state is 'seed'; it must be None"),
    ],
)
def test_impossible_sizes_are_refused(sizes, message):
    with pytest.raises(InputError, match=message):
        make_linear(**sizes)


def test_nonlinear_needs_two_informative_columns():
    with pytest.raises(InputError, match="four clusters need 2 or more"):
        make_nonlinear(n_strong=1)


@pytest.mark.parametrize("name", PROBLEMS)
def test_named_problems_are_whole_and_repeatable(name):
    problem, again = (load_problem(name, shuffle=True, random_state=1) for _ in range(2))
    assert np.array_equal(problem.X, again.X)
    assert problem.X.shape == (len(problem.y), len(problem.classes))
    assert len(set(problem.feature_names)) == len(problem.classes)
    assert (problem.task == "regression") == (problem.y.dtype.kind == "f")
    grouped = sorted(j for group in problem.groups for j in group)
    assert grouped == np.flatnonzero(problem.classes == 1).tolist()
    for j, feature in enumerate(problem.feature_names):
        role = {"strong": 2, "group": 1, "irrelevant": 0}
        assert problem.classes[j] == role[feature.split("_")[0].rstrip("0123456789")]


def test_problems_and_presets_are_loaded_by_the_same_call():
    assert load_problem("NL 1", random_state=0).X.shape == (1000, 20)
    with pytest.raises(InputError, match="no problem is called 'ring'; there are Friedman 1"):
        load_problem("ring")


def test_columns_are_rearranged_only_by_permutations():
    with pytest.raises(InputError, match="order must name every column exactly once"):
        make_linear(20, n_strong=2, random_state=0).permute_columns([0, 0])
