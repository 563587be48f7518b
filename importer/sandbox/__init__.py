"""A recruiting service on loopback that follows the published contract: for trial runs, the demo and the tests.

It shares only the service description with the rest of the importer, so that an error in one does not hide an error in
the other.
"""

from importer.sandbox.files import SandboxUnusable
from importer.sandbox.server import LoggedRequest, RunningSandbox, running, serve
from importer.sandbox.service import SHIPPED_QUESTIONS, SandboxOptions
