"""An application becomes an outcome: order, rate, retries, breaks, stops."""

from importer.load.dry import DryLoader
from importer.load.halt import Halt
from importer.load.loader import Loader
from importer.load.options import ErrorLimit, LoadOptions, parse_minutes
from importer.load.outcomes import DONE_WITH_OTHER_CONTENT, OWN_EARLIER_ATTEMPT
from importer.load.sending import Waiting
from importer.load.stops import Stop, in_words

__all__ = [
    "DONE_WITH_OTHER_CONTENT",
    "OWN_EARLIER_ATTEMPT",
    "DryLoader",
    "ErrorLimit",
    "Halt",
    "LoadOptions",
    "Loader",
    "Stop",
    "Waiting",
    "in_words",
    "parse_minutes",
]
