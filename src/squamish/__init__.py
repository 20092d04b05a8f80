"""Which columns you cannot do without, which are interchangeable, and which are noise.

What is public is loaded when it is first asked for, so that the command line answers at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from squamish.errors import ClusterLost, InputError, LeakWarning
    from squamish.methods.crossfit import CrossfitMethod
    from squamish.methods.paper import PaperMethod
    from squamish.result.result import RelevanceResult
    from squamish.selector import RelevanceSelector

__version__ = "0.2.0"
__all__ = [
    "ClusterLost",
    "CrossfitMethod",
    "InputError",
    "LeakWarning",
    "PaperMethod",
    "RelevanceResult",
    "RelevanceSelector",
]
_HOMES = {
    "ClusterLost": "errors",
    "CrossfitMethod": "methods.crossfit",
    "InputError": "errors",
    "LeakWarning": "errors",
    "PaperMethod": "methods.paper",
    "RelevanceResult": "result.result",
    "RelevanceSelector": "selector",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'squamish' has no attribute {name!r}")
    try:
        value = getattr(import_module(f"squamish.{_HOMES[name]}"), name)
    except OSError as error:
        raise ImportError(
            "LightGBM cannot find the OpenMP runtime of this system: install libgomp "
            "('apt-get install libgomp1' on Debian and Ubuntu, 'dnf install libgomp' on Fedora, "
            "'brew install libomp' on macOS)"
        ) from error
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
