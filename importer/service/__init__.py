"""The recruiting service as plain methods: the only package that uses requests, pycurl and tenacity."""

from importer.service.client import PROBED, OnAnswer, RecruitingService, Reply, describe_transport, service_of
from importer.service.question_list import RetryPolicy
from importer.service.transport_api import Limits, NoReply, Phase

__all__ = [
    "PROBED",
    "Limits",
    "NoReply",
    "OnAnswer",
    "Phase",
    "RecruitingService",
    "Reply",
    "RetryPolicy",
    "describe_transport",
    "service_of",
]
