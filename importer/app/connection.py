"""Connects to the service of the settings or to a sandbox."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass

from importer.app.orders import Listener, Order, Paused, QuestionsDelayed, Resumed, SandboxSetup
from importer.ledger import is_on_server, open_existing_ledger
from importer.models import Question
from importer.problems import Problem, StoppedEarly, UnusableInput
from importer.service import RecruitingService, RetryPolicy, service_of
from importer.settings import Settings

SANDBOX = "sandbox"  # its name in the ledger, as its port changes
_LEDGER_PROBES = 1.0  # seconds between two of them
_PASSES = re.compile("the database system is|too many|connection slots|terminating")  # it restarts, or is full
_FIRST_PATIENCE = 30.0  # seconds: a service that just restarts is back
_SANDBOX_RESEND_DELAY = 2.0  # seconds; no delayed request can still arrive there


@dataclass(frozen=True, slots=True)
class ServiceConnection:
    """A service, and its name in the ledger.

    resend_delay: seconds until a row whose response was lost is sent again. retry_policy: for requests of questions.
    """

    service: RecruitingService
    name: str
    resend_delay: float
    retry_policy: RetryPolicy

    def questions(self, job_post: str) -> tuple[Question, ...]:
        """The questions of a job post, requested with the retry policy of the run."""
        return self.service.questions(job_post, self.retry_policy)


@contextmanager
def connect(
    settings: Settings, sandbox_setup: SandboxSetup | None = None, retry_policy: RetryPolicy | None = None
) -> Iterator[ServiceConnection]:
    """Connect to the service of the settings, or to a sandbox.

    retry_policy: for requests of questions of the service.

    Raises:
        UnusableInput: the address or the token is missing or invalid, their use together is not confirmed, or the
            sandbox does not start.
    """
    if sandbox_setup is not None:
        with _sandbox(settings, sandbox_setup) as connection:
            yield connection
        return
    base_url = settings.service_url()
    with closing(service_of(settings, base_url, settings.access_token(), settings.concurrency)) as service:
        yield ServiceConnection(service, base_url, settings.resend_delay_seconds, retry_policy or RetryPolicy())


@contextmanager
def _sandbox(settings: Settings, setup: SandboxSetup) -> Iterator[ServiceConnection]:
    """Start a sandbox on a free loopback port, in a thread of this process; it knows only what this run sends."""
    from importer.sandbox import SandboxOptions, SandboxUnusable, running  # not needed for a real run

    token = secrets.token_urlsafe(24)
    with ExitStack() as held:
        try:
            options = SandboxOptions(token, questions=setup.questions, faults=setup.faults)
            sandbox = held.enter_context(running(options, keep_requests=False))
        except SandboxUnusable as error:
            raise UnusableInput([Problem("sandbox-start-failed", problem) for problem in error.problems]) from None
        service = held.enter_context(closing(service_of(settings, sandbox.base_url, token, settings.concurrency)))
        resend_delay = min(settings.resend_delay_seconds, _SANDBOX_RESEND_DELAY)
        yield ServiceConnection(service, SANDBOX, resend_delay, RetryPolicy())


def retry_policy_of_run(order: Order, listen: Listener, *, dry_run: bool) -> RetryPolicy:
    """For a service that has responded before, a run waits as long before its first row as between two rows."""
    settings = order.settings

    def retry_for() -> float:
        if dry_run:
            return 0.0
        ledger = open_existing_ledger(settings.ledger_address)
        if ledger is None:
            return first_patience(order)
        with ledger:
            return _patience(order) if ledger.has_answered(settings.service_url()) else first_patience(order)

    return RetryPolicy(retry_for=retry_for, on_wait=lambda *why: listen(QuestionsDelayed(*why)))


def first_patience(order: Order) -> float:
    """How many seconds a run waits for an address that has never responded: it may be a typing error."""
    is_chosen = "give_up_minutes" in order.settings.model_fields_set
    is_window = order.sending.window is not None and order.sending.window.waits
    return _patience(order) if is_chosen or is_window else _FIRST_PATIENCE


def wait_for_ledger(order: Order, listen: Listener) -> None:
    """Wait for a server that has the ledger already and does not respond, as long as for the service.

    Raises:
        StoppedEarly: it still does not respond.
        UnusableInput: see `open_existing_ledger`.
    """
    address = order.settings.ledger_address
    is_known = is_on_server(address) and address.key_file is not None and address.key_file.exists()
    until, is_waiting = time.monotonic() + (_patience(order) if is_known else 0.0), False
    while True:
        try:
            ledger = open_existing_ledger(address)
        except UnusableInput as error:
            is_refused = "FATAL" in str(error) and not _PASSES.search(str(error))  # such as a wrong password
            if not is_known or error.problems[0].code != "ledger-unreachable" or is_refused:
                raise
            if (left := until - time.monotonic()) <= 0:
                raise StoppedEarly(f"{error}; run the same command again when the server is back") from None
            if not is_waiting:
                listen(Paused("the server of the ledger does not respond", _LEDGER_PROBES, 0, left))
            is_waiting = True
            time.sleep(min(_LEDGER_PROBES, left))
            continue
        if ledger is not None:
            ledger.close()
        if is_waiting:
            listen(Resumed())
        return


def _patience(order: Order) -> float:
    """How many seconds a run waits for a service that does not list its questions."""
    window, give_up_after = order.sending.window, order.settings.give_up_minutes * 60
    if window is None:
        return give_up_after
    left = max(window.ends_at - time.time(), 0.0)
    return left if window.waits else min(left, give_up_after)
