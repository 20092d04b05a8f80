"""Which columns you cannot do without, which are interchangeable, and which are noise."""

from squamish.errors import InputError
from squamish.methods.crossfit import CrossfitMethod
from squamish.methods.paper import PaperMethod
from squamish.result import RelevanceResult
from squamish.selector import RelevanceSelector

__version__ = "0.1.0"
__all__ = ["CrossfitMethod", "InputError", "PaperMethod", "RelevanceResult", "RelevanceSelector"]
