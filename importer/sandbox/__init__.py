"""A recruiting service on loopback that keeps the published contract: for rehearsals, the demo and the tests.

It shares nothing with the rest of the importer but the service's own description, so that a mistake in one is not
hidden by the other.
"""

from importer.sandbox.child import TOKEN_VARIABLE, ChildSandbox, start
from importer.sandbox.forgetting import forget
from importer.sandbox.in_thread import RunningSandbox, running
from importer.sandbox.options import SHIPPED_QUESTIONS, SandboxOptions
from importer.sandbox.request_log import LoggedRequest
from importer.sandbox.serving import serve
from importer.sandbox.unusable import SandboxUnusable

__all__ = [
    "SHIPPED_QUESTIONS",
    "TOKEN_VARIABLE",
    "ChildSandbox",
    "LoggedRequest",
    "RunningSandbox",
    "SandboxOptions",
    "SandboxUnusable",
    "forget",
    "running",
    "serve",
    "start",
]
