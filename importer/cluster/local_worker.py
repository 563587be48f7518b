"""A worker process on this machine."""

from __future__ import annotations

import pickle
import socket
import subprocess
from collections.abc import Sequence
from multiprocessing.connection import Connection

from importer.answering_process import AnsweringProcess
from importer.child_process import child_environment, python_command
from importer.cluster.worker import Assignment, Progress, Task


class LocalWorker(AnsweringProcess[Task, Progress]):
    """A new process with a part of a run. It starts at once; its assignment goes through its pipe.

    kept_open: files that stay open in it, so that the lock of the target is held as long as it may send, also if this
    process is killed. It has its own session, so that Ctrl-C reaches only this process.

    Raises:
        OSError: there are no resources for another process.
    """

    def __init__(self, assignment: Assignment, kept_open: Sequence[int]) -> None:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            end = theirs.fileno()
            self.process = subprocess.Popen(
                python_command("from importer.cluster.worker import main; main()", str(end)),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=child_environment("PG"),  # of libpq: it connects to the ledger as this process does
                pass_fds=(end, *kept_open),
                start_new_session=True,
            )
            connection = Connection(ours.detach())
        super().__init__(connection, self._kill)
        connection.send_bytes(pickle.dumps(assignment, pickle.HIGHEST_PROTOCOL))

    def _kill(self) -> None:
        self.process.kill()
        self.process.wait()
