"""Notices, pings and metrics of scheduled runs: no personal data in them, and no import depends on them."""

from importer.notices.job import JobEnded
from importer.notices.notifier import Notifier, PendingNotices, pending_notices

__all__ = ["JobEnded", "Notifier", "PendingNotices", "pending_notices"]
