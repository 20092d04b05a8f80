"""Estimators of scikit-learn as learners: what can be one, what it is called, and what it takes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from squamish.errors import InputError, legible, reason_of

# The longest name in results and messages: a pipeline of two or three steps with a few parameters.
LONGEST_NAME = 120


def name_of(estimator: Any) -> str:
    """Write the call that makes an estimator in one short line: what is not at its default.

    Examples
    --------
    >>> from sklearn.svm import SVR
    >>> from squamish.models.estimators import name_of
    >>> name_of(SVR(C=10.0))
    'SVR(C=10.0)'
    """
    if isinstance(estimator, type):
        return estimator.__name__
    with config_context(print_changed_only=True):
        text = " ".join(repr(estimator).split())
    if text.startswith("<") and _is_estimator(estimator):
        # What libraries without a text of their own leave to Python names the class alone.
        given = estimator.get_params(deep=False).items()
        text = f"{type(estimator).__name__}({', '.join(f'{k}={v!r}' for k, v in given)})"
    # Where an object is in the memory tells nothing.
    return legible(re.sub(r" at 0x[0-9a-fA-F]+", "", text), LONGEST_NAME)


def check_estimators(name: str, value: object) -> None:
    """Raise an InputError that names the parameter unless all its values can be learners.

    Examples
    --------
    >>> from sklearn.svm import SVR
    >>> from squamish.models.estimators import check_estimators
    >>> check_estimators("learners", SVR())
    Traceback (most recent call last):
    squamish.errors.InputError: learners is SVR(); it must be a tuple of estimators: (SVR(),)
    """
    if not isinstance(value, tuple | list):
        example = f": ({name_of(value)},)" if _is_estimator(value) else ""
        raise InputError(f"{name} is {name_of(value)}; it must be a tuple of estimators{example}")
    for place, estimator in enumerate(value):
        wrong = _what_is_wrong(estimator)
        if wrong:
            raise InputError(f"{name}[{place}] is {name_of(estimator)}{wrong}")
        try:
            clone(estimator)
        except Exception as error:
            raise InputError(
                f"{name}[{place}] is {name_of(estimator)}; it must be an estimator that "
                f"sklearn.base.clone can copy ({reason_of(error)})"
            ) from error


def _what_is_wrong(estimator: object) -> str:
    """Say what keeps an object from being a learner of anything; nothing if nothing does."""
    if isinstance(estimator, type):
        return f", a class; it must be an estimator, such as {estimator.__name__}()"
    if not _is_estimator(estimator):
        return "; it must be an estimator of scikit-learn, with fit, get_params and set_params"
    kind = type_of(estimator)
    if kind == "classifier":
        return "" if _has(estimator, "predict_proba") else _lacks("predict_proba", "classifier")
    if kind == "regressor":
        return "" if _has(estimator, "predict") else _lacks("predict", "regressor")
    if kind is not None:
        return f", a {kind.replace('_', ' ')}; it must be a regressor or a classifier"
    if _has(estimator, "predict") or _has(estimator, "predict_proba"):
        return ""
    return "; it must have predict, for amounts, or predict_proba, for classes"


def check_predicts(name: str, estimator: Any, *, classes: bool) -> None:
    """Raise an InputError unless an estimator predicts probabilities of classes, or amounts."""
    wanted, method = ("classifier", "predict_proba") if classes else ("regressor", "predict")
    target = "classes" if classes else "amounts"
    kind = type_of(estimator)
    if kind not in (wanted, None):
        raise InputError(
            f"{name} is {name_of(estimator)}, a {kind}; y holds {target}, so that it must be a "
            f"{wanted}"
        )
    if not _has(estimator, method):
        raise InputError(f"{name} is {name_of(estimator)}{_lacks(method, f'learner of {target}')}")


def _lacks(method: str, what: str) -> str:
    return f"; it has no {method}, which a {what} must have"


def type_of(estimator: Any) -> str | None:
    """Return "classifier", "regressor" or what else an estimator says it is; None if nothing."""
    own: str | None = getattr(estimator, "_estimator_type", None)
    if not _has(estimator, "__sklearn_tags__"):
        # Estimators of other libraries may say it as was usual before scikit-learn 1.6.
        return own
    found: str | None = get_tags(estimator).estimator_type
    return found or own


def weights_parameter(estimator: Any) -> str | None:
    """Return how ``fit`` calls weights of rows; None if it takes none.

    Of a pipeline it is the last step that may take them.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import SVR
    >>> from squamish.models.estimators import weights_parameter
    >>> weights_parameter(make_pipeline(StandardScaler(), SVR()))
    'svr__sample_weight'
    """
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        inner = weights_parameter(last)
        return None if inner is None else f"{name}__{inner}"
    takes = _has(estimator, "fit") and has_fit_parameter(estimator, "sample_weight")
    return "sample_weight" if takes else None


def seeded_clone(estimator: Any, rng: np.random.Generator) -> Any:
    """Copy an estimator, unfitted, with a seed for every ``random_state`` that is None."""
    own = clone(estimator)
    unset = sorted(
        name
        for name, value in own.get_params().items()
        if value is None and name.rpartition("__")[2] == "random_state"
    )
    if unset:
        seeds = rng.integers(2**31, size=len(unset)).tolist()
        own.set_params(**dict(zip(unset, seeds, strict=True)))
    return own


def _is_estimator(value: object) -> bool:
    methods = ("fit", "get_params", "set_params")
    return not isinstance(value, type) and all(_has(value, method) for method in methods)


def _has(value: object, method: str) -> bool:
    return callable(getattr(value, method, None))
