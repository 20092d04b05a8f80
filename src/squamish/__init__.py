"""Which columns you cannot do without, which are interchangeable, and which are noise."""

try:
    import lightgbm  # noqa: F401 (all else needs it, and it needs a library of the system)
except OSError as error:
    raise ImportError(
        "LightGBM cannot find the OpenMP runtime of this system: install libgomp "
        "('apt-get install libgomp1' on Debian and Ubuntu, 'dnf install libgomp' on Fedora, "
        "'brew install libomp' on macOS)"
    ) from error

from squamish.errors import InputError, LeakWarning
from squamish.methods.crossfit import CrossfitMethod
from squamish.methods.paper import PaperMethod
from squamish.result import RelevanceResult
from squamish.selector import RelevanceSelector

__version__ = "0.1.0"
__all__ = [
    "CrossfitMethod",
    "InputError",
    "LeakWarning",
    "PaperMethod",
    "RelevanceResult",
    "RelevanceSelector",
]
