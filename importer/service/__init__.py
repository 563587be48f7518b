"""The recruiting service as plain methods: the only room that knows requests, pycurl and tenacity."""

from importer.service.client import RecruitingService, SubmitThen
from importer.service.patience import Patience
from importer.service.replies import NoReply, Reply
from importer.service.transports import transport_told
from importer.service.wire import Limits

__all__ = ["Limits", "NoReply", "Patience", "RecruitingService", "Reply", "SubmitThen", "transport_told"]
