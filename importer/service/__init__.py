"""The recruiting service as plain methods: the only room that knows requests, pycurl and tenacity."""

from importer.service.client import OnAnswer, RecruitingService, Reply
from importer.service.patience import Patience
from importer.service.transport_api import Limits, NoReply
from importer.service.transports import describe_transport

__all__ = ["Limits", "NoReply", "OnAnswer", "Patience", "RecruitingService", "Reply", "describe_transport"]
