"""Connects to the service of the settings or to a sandbox; and the checks of `importer doctor`."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from importer import __version__
from importer.app.orders import Listener, Order, QuestionsDelayed, SandboxSetup
from importer.atomic_files import INTERNAL, internal_folder, open_private
from importer.file_lock import hold_lock
from importer.ledger import ledger_name, open_existing_ledger
from importer.models import Question
from importer.problems import ImporterError, Problem, UnusableInput
from importer.regular_files import mode_for_others
from importer.runs.manifest import read_manifest, runs_in
from importer.runs.results_folder import make_results, unusable_folder, why_untrusted
from importer.service import Limits, NoReply, RecruitingService, Reply, RetryPolicy, describe_transport
from importer.settings import Settings
from importer.settings.trust import confirm

if TYPE_CHECKING:
    from importer.sandbox import ChildSandbox

SANDBOX = "sandbox"  # its name in the ledger, as its port changes
PROBED = "importer-probe"  # a job post that does not exist: a healthy service responds with 404
_MIN_FREE_BYTES = 500 * 1024 * 1024  # bytes
_SANDBOX_RESEND_DELAY = 2.0  # seconds; no delayed request can still arrive there


@dataclass(frozen=True, slots=True)
class Connection:
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

    def is_healthy(self) -> bool:
        """Whether the service responds to a harmless request without a server error."""
        reply = self.service.probe(PROBED)
        return isinstance(reply, Reply) and reply.status < 500


@contextmanager
def connect(
    settings: Settings,
    sandbox_setup: SandboxSetup | None = None,
    retry_policy: Callable[[str], RetryPolicy] = lambda _: RetryPolicy(),
) -> Iterator[Connection]:
    """Connect to the service of the settings, or to the sandbox of the results folder.

    retry_policy: for requests of questions, by the service's address.

    Raises:
        UnusableInput: the address or the token is missing or invalid, their use together is not confirmed, or the
            sandbox does not start.
        Busy: another command uses that sandbox.
    """
    if sandbox_setup is not None:
        with _sandbox(settings, sandbox_setup) as connection:
            yield connection
        return
    base_url = settings.service_url()
    service = _service(settings, base_url, settings.access_token())
    try:
        yield Connection(service, base_url, settings.resend_delay_seconds, retry_policy(base_url))
    finally:
        service.close()


@contextmanager
def _sandbox(settings: Settings, sandbox_setup: SandboxSetup) -> Iterator[Connection]:
    """Start a sandbox on a free loopback port. The candidates that it accepts are kept in the results folder."""
    make_results(settings)
    memory = sandbox_memory(settings.out)
    try:
        os.close(open_private(internal_folder(settings.out) / memory.name, os.O_RDWR | os.O_CREAT))
    except OSError as error:
        raise unusable_folder(memory, error) from None
    with sandbox_lock(settings.out), _started(sandbox_setup, memory) as sandbox:
        service = _service(settings, sandbox.base_url, sandbox.token)
        try:
            resend_delay = min(settings.resend_delay_seconds, _SANDBOX_RESEND_DELAY)
            yield Connection(service, SANDBOX, resend_delay, RetryPolicy())
        finally:
            service.close()


def sandbox_lock(out: Path) -> AbstractContextManager[None]:
    """Hold the lock of a results folder's sandbox, which only one command can use at a time.

    Raises:
        Busy: another command uses this sandbox.
        UnusableInput: the lock file cannot be created.
    """
    instead = ", or name another folder with --out"
    return hold_lock(out / INTERNAL / "sandbox.lock", f"another command is using the sandbox of {out}", instead)


def retry_policy_of_run(order: Order, listen: Listener, *, dry_run: bool) -> Callable[[str], RetryPolicy]:
    """For a service that has responded before, a run waits as long before its first row as between two rows."""
    settings = order.settings

    def of(base_url: str) -> RetryPolicy:
        def retry_for() -> float:
            ledger = None if dry_run else open_existing_ledger(settings.ledger_address)
            if ledger is None:
                return 0.0
            with ledger:
                return settings.give_up_minutes * 60 if ledger.has_answered(base_url) else 0.0

        return RetryPolicy(retry_for=retry_for, on_wait=lambda seconds: listen(QuestionsDelayed(seconds)))

    return of


def other_addresses(address: str, settings: Settings) -> tuple[str, ...]:
    """Other addresses in the ledger that may be the same service: the ledger identifies services by their address.

    Without those that are known to be different services.
    """
    ledger = open_existing_ledger(settings.ledger_address) if address != SANDBOX else None
    if ledger is None:
        return ()
    with ledger:
        known = ledger.bases()
    others = (other for other in known if other not in (address, SANDBOX))
    return tuple(other for other in others if address not in known or is_same_address(address, other))


def is_same_address(one: str, other: str) -> bool:
    """Whether two base URLs look like spellings of one address, such as localhost and 127.0.0.1."""
    return _canonical(one) == _canonical(other)


def _canonical(base_url: str) -> tuple[str, ...]:
    parts = urlsplit(base_url)
    host = (parts.hostname or "").rstrip(".")
    this_machine = host in ("localhost", "::1") or host.startswith("127.")
    return parts.scheme, "localhost" if this_machine else host, str(parts.port), parts.path


def sandbox_memory(out: Path) -> Path:
    """The file with the candidates that the sandbox of a results folder has accepted."""
    return out / INTERNAL / "sandbox-memory.jsonl"


def _started(sandbox_setup: SandboxSetup, memory: Path) -> ChildSandbox:
    from importer.sandbox import SandboxUnusable, start  # not needed for a real run

    try:
        return start(questions=sandbox_setup.questions, faults=sandbox_setup.faults, memory=memory)
    except SandboxUnusable as error:
        raise UnusableInput([Problem("sandbox-start-failed", problem) for problem in error.problems]) from None


def _service(settings: Settings, base_url: str, token: str) -> RecruitingService:
    limits = Limits(settings.connect_timeout, settings.read_timeout, settings.total_timeout)
    return RecruitingService(
        base_url,
        token,
        limits=limits,
        connections=settings.concurrency,
        transport=settings.transport,
        options_separator=settings.options_separator,
    )


# --- importer doctor ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check of `importer doctor`. `hint` is "" if no action is needed or known."""

    check: str
    ok: bool
    result: str
    hint: str = ""


def examine(settings: Settings, confirm_use: Callable[[Settings], None], *, trust: bool) -> Iterator[Finding]:
    """Check settings, token, connection, folders and ledger.

    confirm_use: may ask the user whether the token may be sent to an address set in the folder. trust: confirm that.
    """
    yield Finding("importer", True, f"{__version__} on Python {sys.version.split()[0]}")
    if trust:
        yield from _trust(settings)
    yield from _address(settings, confirm_use)
    problems = why_untrusted(settings)
    if problems:  # a folder that others can change is not examined
        yield from (_failure("results folder", problem, f"{problem.place}: ") for problem in problems)
        return
    yield from (*_folder(settings.out), *_runs(settings.out), *_ledger(settings))


def _failure(check: str, problem: Problem, where: str = "") -> Finding:
    return Finding(check, False, f"{where}{problem.message}", problem.hint)


def _failures(check: str, error: UnusableInput) -> Iterator[Finding]:
    return (_failure(check, problem) for problem in error.problems)


def _trust(settings: Settings) -> Iterator[Finding]:
    """The result of `--trust`."""
    use = settings.unconfirmed_use()
    if use is None:
        yield Finding("trust", True, "nothing to confirm")
        return
    try:
        kept = confirm(use)
    except UnusableInput as error:
        yield from _failures("trust", error)
    else:
        yield Finding(
            "trust", True, f"in this folder, {use.token_text} may now be sent to {use.address} (saved in {kept})"
        )


def _address(settings: Settings, confirm_use: Callable[[Settings], None]) -> Iterator[Finding]:
    missing = list(_missing_settings(settings))
    try:
        yield Finding("transport", True, describe_transport(settings.transport))
    except UnusableInput as error:
        missing.insert(0, _failure("transport", error.problems[0]))
    yield from missing
    if missing:
        return
    file = settings.secret_file()
    if file is not None and (mode := mode_for_others(file)):  # if the mode can be changed, access_token() refuses it
        found = f"other users can read {file} (mode {mode:04o}), and this cannot be changed from here"
        hint = "make sure that no one else uses this computer or container"
        yield Finding("token file", True, found, hint)
    confirm_use(settings)
    try:
        with connect(settings) as connection:
            yield Finding("address", True, connection.name)
            yield _token_and_network(connection.service.probe(PROBED))
    except UnusableInput as error:
        yield from _failures("settings", error)


def _missing_settings(settings: Settings) -> Iterator[Finding]:
    """Reports both address and token, if both are missing."""
    for check, read in (("address", settings.service_url), ("token", settings.access_token)):
        try:
            read()
        except UnusableInput as error:
            yield from _failures(check, error)


def _token_and_network(reply: Reply | NoReply) -> Finding:
    if isinstance(reply, NoReply):
        return Finding("connection", False, reply.reason, "check IMPORTER_BASE_URL, the network and the firewall")
    if reply.status in (200, 404):
        return Finding("token", True, "accepted by the service")
    result = f"the service responded with {reply.status}" + (f" ({reply.message})" if reply.message else "")
    if reply.status in (401, 403):
        return Finding("token", False, result, "set IMPORTER_TOKEN or IMPORTER_TOKEN_FILE to a valid token")
    return Finding(
        "connection", False, result, "check IMPORTER_BASE_URL, or ask the administrator of your recruiting service"
    )


def _folder(out: Path) -> Iterator[Finding]:
    existing = next(folder for folder in (out.absolute(), *out.absolute().parents) if folder.exists())
    if not os.access(existing, os.W_OK | os.X_OK):
        yield Finding(
            "results folder", False, f"{out} cannot be written", "choose another folder with --out or IMPORTER_OUT"
        )
        return
    free = shutil.disk_usage(existing).free
    result = f"{out}, {free / 1024**3:.1f} GB free"
    hint = "" if free >= _MIN_FREE_BYTES else "free disk space: a run saves a copy of its file, and reports"
    yield Finding("results folder", free >= _MIN_FREE_BYTES, result, hint)


def _runs(out: Path) -> Iterator[Finding]:
    for folder in runs_in(out):
        try:
            read_manifest(folder)
        except UnusableInput as error:
            yield from _failures(f"run {folder.name}", error)


def _ledger(settings: Settings) -> Iterator[Finding]:
    try:
        name = ledger_name(settings.ledger_address)
        ledger = open_existing_ledger(settings.ledger_address)
    except ImporterError as error:
        yield Finding("ledger", False, str(error))
        return
    if ledger is None:
        yield Finding("ledger", True, f"{name} (does not exist yet; the first run creates it)")
        return
    with ledger:
        problems, bases = ledger.check(), ledger.bases()
    if not problems:
        yield Finding("ledger", True, f"{name}, no problems found")
    yield from (_failure("ledger", problem) for problem in problems)
    yield from _addresses_of(bases)


def _addresses_of(bases: Sequence[str]) -> Iterator[Finding]:
    """Addresses that the ledger treats as different services, although they may be one."""

    services = [base for base in bases if base != SANDBOX]
    alike = any(is_same_address(one, other) for one, other in combinations(services, 2))
    if len(services) > 1:
        hint = (
            "use only one in IMPORTER_BASE_URL: candidates sent to one address are sent again to the other"
            if alike
            else ""
        )
        message = "look like one address, but count as different services" if alike else "count as different services"
        yield Finding("addresses", not alike, f"{', '.join(services)} in the ledger {message}", hint)
