"""Sends candidates and determines their outcomes: order, pace, retries, stops."""

from importer.sending.explanations import ledger_lost
from importer.sending.known import Earlier, known_before, not_sent_again
from importer.sending.loop import Loader, Paused, RequestAnswered
from importer.sending.options import Cancellation, ErrorLimit, LoadOptions, Resend, Window, parse_minutes, parse_window
from importer.sending.uploads import Document, Uploader
