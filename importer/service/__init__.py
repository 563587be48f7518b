"""The recruiting service as plain methods: the only package that uses requests and pycurl."""

from importer.service.client import EMPTY, PROBED, RecruitingService, Reply, describe_transport, service_of, upload_body
from importer.service.question_list import RetryPolicy, saved_questions
from importer.service.transport import Limits, NoReply
from importer.service.unspecified_forms import A_PAGE
