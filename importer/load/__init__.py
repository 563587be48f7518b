"""Sends candidates and determines their outcomes: order, rate, retries, suspensions, stops."""

from importer.load.explanations import CREATED_EARLIER, LEDGER_LOST
from importer.load.loader import DryLoader, Loader, Waiting
from importer.load.options import Cancellation, ErrorLimit, LoadOptions, Window, parse_minutes, parse_window
from importer.load.sender import RequestAnswered

__all__ = [
    "CREATED_EARLIER",
    "LEDGER_LOST",
    "Cancellation",
    "DryLoader",
    "ErrorLimit",
    "LoadOptions",
    "Loader",
    "RequestAnswered",
    "Waiting",
    "Window",
    "parse_minutes",
    "parse_window",
]
