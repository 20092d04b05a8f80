"""What other libraries do not document, or do not have in every version that is allowed.

Everything of the kind is in here, a name each, with the reason why it is needed and the versions
that have it: whoever takes in a new version of a library looks here first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from boruta import BorutaPy
from joblib.parallel import get_active_backend
from sklearn.base import BaseEstimator
from sklearn.utils._set_output import _get_output_config

# scikit-learn from 1.9: callbacks, which `RelevanceSelector` supports where they are. Until 1.8,
# the two names below stand in for them, so that the estimator is written once.
try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin
    from sklearn.callback import with_callbacks as with_callbacks

    HAS_CALLBACKS = True
except ImportError:
    HAS_CALLBACKS = False

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stand in for scikit-learn's, and support nothing."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """Leave a method as it is."""
        return method


def callback_context(estimator: Any, max_subtasks: int) -> Any | None:
    """Return scikit-learn's context of a fit; None if ``set_callbacks`` set no callbacks.

    scikit-learn from 1.9: ``_init_callback_context`` is the documented way for estimators of
    others, in spite of its name; ``_skl_callbacks`` alone tells whether there is anybody to tell.
    """
    if not getattr(estimator, "_skl_callbacks", None):
        return None
    return estimator._init_callback_context(max_subtasks=max_subtasks)


def active_backend(**wishes: str) -> tuple[Any, int | None]:
    """Return the backend that joblib's ``parallel_config`` asks for, and its number of jobs.

    joblib, all versions from 1.4: ``Parallel`` obeys ``parallel_config`` by itself, but work in
    our own threads and on a Dask cluster goes past it, and only ``get_active_backend``, which is
    not documented, tells what was asked for. It takes ``prefer`` and ``require`` as ``Parallel``
    does.
    """
    backend, n_jobs = get_active_backend(**wishes)
    return backend, n_jobs


def shares_memory(backend: Any) -> bool:
    """Tell whether a backend of joblib works in threads of this process.

    joblib, all versions from 1.4: an attribute that is not documented, and that backends of
    others may lack.
    """
    return bool(getattr(backend, "supports_sharedmem", False))


def n_workers(backend: Any, n_jobs: int | None) -> int:
    """Return how many tasks a backend of joblib does at the same time.

    joblib, all versions from 1.4: the documented ``joblib.effective_n_jobs`` asks the default
    backend, which need not be the one that work prefers.
    """
    return int(backend.effective_n_jobs(n_jobs))


def dask_client(backend: Any) -> Any | None:
    """Return the client of the Dask cluster that a backend of joblib works on, if it does.

    joblib, all versions from 1.4: an attribute of its Dask backend that is not documented.
    """
    return getattr(backend, "client", None)


def yields_results(backend: Any) -> bool:
    """Tell whether a backend of joblib can give results one by one.

    joblib, all versions from 1.4: ``Parallel`` raises an error if it is asked for a generator
    and the backend cannot, as that of multiprocessing; no documented name tells so before.
    """
    return bool(backend.supports_return_generator)


def wanted_output(estimator: BaseEstimator) -> str:
    """Return what ``set_output`` asks ``transform`` for: "default", "pandas" or "polars".

    scikit-learn, all versions from 1.6: no documented name tells, and its own wrapper of
    ``transform`` makes objects of a polars frame's numbers and takes no pyarrow table.
    """
    return str(_get_output_config("transform", estimator)["dense"])


class BorutaWithShadows(BorutaPy):  # type: ignore[misc]
    """BorutaPy that takes NaN, as LightGBM does, and remembers the shadows of every round.

    boruta 0.4: it refuses NaN whatever the forest takes, keeps no importances of shadows, and has
    no way to fit the forest of a round elsewhere. The three methods that do so are its own.

    Attributes
    ----------
    shadows : list of (float, float, float)
        Least, mean and largest importance of the shadows in every round.
    """

    def fit_rounds_by(self, runs: Callable[[Callable[[], Any]], Any]) -> None:
        """Let this call what fits the forest of a round and returns importances."""
        self.runs = runs
        self.shadows: list[tuple[float, float, float]] = []

    def _check_params(self, X: object, y: object) -> None:
        pass

    def _add_shadows_get_imps(self, *args: Any) -> tuple[Any, Any]:
        real, shadow = super()._add_shadows_get_imps(*args)
        self.shadows.append((float(shadow.min()), float(shadow.mean()), float(shadow.max())))
        return real, shadow

    def _get_imp(self, X: Any, y: Any) -> Any:
        importances = super()._get_imp
        return self.runs(lambda: np.asarray(importances(X, y), dtype=np.float64))
