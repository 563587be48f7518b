"""Notices, pings and metrics of scheduled runs: no personal data in them, and no import depends on them."""

from importer.notices.job import Cause, JobEnded, causes_of
from importer.notices.notifier import Notifier, PendingNotices, pending_notices

__all__ = ["Cause", "JobEnded", "Notifier", "PendingNotices", "causes_of", "pending_notices"]
