"""A recruiting service on loopback that keeps the published contract: for rehearsals, the demo and the tests.

It shares nothing with the rest of the importer but the service's own description, so that an error in one is not
hidden by the other.
"""

from importer.sandbox.app import SHIPPED_QUESTIONS, SandboxOptions
from importer.sandbox.connection import LoggedRequest
from importer.sandbox.json_reading import SandboxUnusable
from importer.sandbox.memory import forget
from importer.sandbox.process import TOKEN_VARIABLE, ChildSandbox, serve, start
from importer.sandbox.server import RunningSandbox, running

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
