"""Notices, pings and metrics of scheduled runs: no personal data in them, and no import depends on them."""

from importer.notices.job import Cause, JobEnded, causes_of, event_of
from importer.notices.notifier import AddressesUnusable, Notifier, described_addresses
