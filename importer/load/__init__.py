"""An application becomes an outcome: order, rate, retries, suspensions, stops."""

from importer.load.explanations import DONE_WITH_OTHER_CONTENT, OWN_EARLIER_ATTEMPT, Stop, in_words
from importer.load.loader import DryLoader, Loader, Waiting
from importer.load.options import Cancellation, ErrorLimit, LoadOptions, parse_minutes

__all__ = [
    "DONE_WITH_OTHER_CONTENT",
    "OWN_EARLIER_ATTEMPT",
    "Cancellation",
    "DryLoader",
    "ErrorLimit",
    "LoadOptions",
    "Loader",
    "Stop",
    "Waiting",
    "in_words",
    "parse_minutes",
]
