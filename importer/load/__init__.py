"""An application becomes an outcome: order, pace, retries, stop rules."""

from importer.load.dry import DryLoader
from importer.load.halt import Halt
from importer.load.loader import Loader
from importer.load.options import ErrorLimit, LoadOptions
from importer.load.outcomes import DONE_WITH_OTHER_CONTENT, OWN_EARLIER_ATTEMPT
from importer.load.stops import Stop

__all__ = [
    "DONE_WITH_OTHER_CONTENT",
    "OWN_EARLIER_ATTEMPT",
    "DryLoader",
    "ErrorLimit",
    "Halt",
    "LoadOptions",
    "Loader",
    "Stop",
]
