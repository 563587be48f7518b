"""Where requests go: the service of the settings, or a sandbox of our own; and what `importer doctor` examines."""

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
from importer.app.orders import Listener, Order, QuestionsDelayed, Rehearsal
from importer.atomic_files import INTERNAL, internal_folder, open_private
from importer.file_lock import held
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

SANDBOX = "sandbox"  # how the ledger knows it: by this name and not by its port
PROBED = "importer-probe"  # a job post that nobody has: a service that is well answers 404 for it
_LITTLE_ROOM = 500 * 1024 * 1024  # bytes
_SANDBOX_PATIENCE = 2.0  # seconds; nobody else's requests are still on their way there


@dataclass(frozen=True, slots=True)
class Connection:
    """A service to talk to, and the name by which the ledger knows it.

    resend_delay: seconds until a row whose answer was lost is sent again. patience: with which questions are asked for.
    """

    service: RecruitingService
    name: str
    resend_delay: float
    patience: RetryPolicy

    def questions(self, job_post: str) -> tuple[Question, ...]:
        """The questions of a job post, asked with the run's own patience."""
        return self.service.questions(job_post, self.patience)

    def is_well(self) -> bool:
        """Whether the service answers a harmless question with anything but trouble of its own."""
        answer = self.service.probe(PROBED)
        return isinstance(answer, Reply) and answer.status < 500


@contextmanager
def connect(
    settings: Settings,
    rehearsal: Rehearsal | None = None,
    patience: Callable[[str], RetryPolicy] = lambda _: RetryPolicy(),
) -> Iterator[Connection]:
    """The service of the settings, or for a rehearsal the sandbox of the results folder.

    patience: with which questions are asked for, by the service's address.

    Raises:
        UnusableInput: address or token are missing or cannot be used, their use together is not confirmed, or the
            sandbox does not start.
        Busy: another command has that sandbox now.
    """
    if rehearsal is not None:
        with _sandbox(settings, rehearsal) as connection:
            yield connection
        return
    base_url = settings.service_url()
    service = _service(settings, base_url, settings.access_token())
    try:
        yield Connection(service, base_url, settings.resend_delay_seconds, patience(base_url))
    finally:
        service.close()


@contextmanager
def _sandbox(settings: Settings, rehearsal: Rehearsal) -> Iterator[Connection]:
    """A sandbox on a free loopback port, for as long as this is open. What it accepted lies in the results folder."""
    make_results(settings)
    memory = sandbox_memory(settings.out)
    try:
        os.close(open_private(internal_folder(settings.out) / memory.name, os.O_RDWR | os.O_CREAT))
    except OSError as error:
        raise unusable_folder(memory, error) from None
    with sandbox_lock(settings.out), _started(rehearsal, memory) as sandbox:
        service = _service(settings, sandbox.base_url, sandbox.token)
        try:
            resend_delay = min(settings.resend_delay_seconds, _SANDBOX_PATIENCE)
            yield Connection(service, SANDBOX, resend_delay, RetryPolicy())
        finally:
            service.close()


def sandbox_lock(out: Path) -> AbstractContextManager[None]:
    """Hold the lock of the sandbox that is kept in a results folder: what it accepted has one owner at a time.

    Raises:
        Busy: another command rehearses there.
        UnusableInput: there is no room for it, or no right to make it.
    """
    instead = ", or name another folder with --out"
    return held(out / INTERNAL / "sandbox.lock", f"another command works with the sandbox of {out}", instead)


def patience_of_run(order: Order, listen: Listener, *, dry_run: bool) -> Callable[[str], RetryPolicy]:
    """A run waits for a service that it knows to be there as long before its first row as between two of them."""
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
    """Addresses that the ledger has runs for and takes for other services, as it knows rows by the address as it is
    written; without those that are known to be others.
    """
    ledger = open_existing_ledger(settings.ledger_address) if address != SANDBOX else None
    if ledger is None:
        return ()
    with ledger:
        known = ledger.bases()
    others = (other for other in known if other not in (address, SANDBOX))
    return tuple(other for other in others if address not in known or is_alike(address, other))


def is_alike(one: str, other: str) -> bool:
    """Whether two base URLs are, by all that can be seen, two spellings of one address, as localhost and 127.0.0.1."""
    return _spelled_alike(one) == _spelled_alike(other)


def _spelled_alike(base_url: str) -> tuple[str, ...]:
    parts = urlsplit(base_url)
    host = (parts.hostname or "").rstrip(".")
    this_machine = host in ("localhost", "::1") or host.startswith("127.")
    return parts.scheme, "localhost" if this_machine else host, str(parts.port), parts.path


def sandbox_memory(out: Path) -> Path:
    """What the sandbox of a results folder has accepted."""
    return out / INTERNAL / "sandbox-memory.jsonl"


def _started(rehearsal: Rehearsal, memory: Path) -> ChildSandbox:
    from importer.sandbox import SandboxUnusable, start  # a run that sends does without

    try:
        return start(questions=rehearsal.questions, faults=rehearsal.faults, memory=memory)
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
    """One thing that was examined. `hint` is "" where no action is needed or known."""

    what: str
    well: bool
    found: str
    hint: str = ""


def examine(settings: Settings, confirm_use: Callable[[Settings], None], *, trust: bool) -> Iterator[Finding]:
    """Examine settings, token, connection, folders and ledger.

    confirm_use: may ask a person whether the token may go to the address of a folder. trust: that is confirmed.
    """
    yield Finding("importer", True, f"{__version__} on Python {sys.version.split()[0]}")
    if trust:
        yield from _confirmed(settings)
    yield from _address(settings, confirm_use)
    problems = why_untrusted(settings)
    if problems:  # what lies in a folder that others can change is not examined
        yield from (_not_well("results folder", problem, f"{problem.place}: ") for problem in problems)
        return
    yield from (*_folder(settings.out), *_runs(settings.out), *_ledger(settings))


def _not_well(what: str, problem: Problem, where: str = "") -> Finding:
    return Finding(what, False, f"{where}{problem.message}", problem.hint)


def _all_not_well(what: str, error: UnusableInput) -> Iterator[Finding]:
    return (_not_well(what, problem) for problem in error.problems)


def _confirmed(settings: Settings) -> Iterator[Finding]:
    """What `--trust` has confirmed."""
    use = settings.unconfirmed_use()
    if use is None:
        yield Finding("trust", True, "nothing to confirm")
        return
    try:
        kept = confirm(use)
    except UnusableInput as error:
        yield from _all_not_well("trust", error)
    else:
        yield Finding("trust", True, f"{use.address} may get {use.told_token} from now on, in this folder ({kept})")


def _address(settings: Settings, confirm_use: Callable[[Settings], None]) -> Iterator[Finding]:
    lacking = list(_lacking(settings))
    try:
        yield Finding("transport", True, describe_transport(settings.transport))
    except UnusableInput as error:
        lacking.insert(0, _not_well("transport", error.problems[0]))
    yield from lacking
    if lacking:
        return
    file = settings.secret_file()
    if file is not None and (mode := mode_for_others(file)):  # where that can be changed, it is refused
        found = f"other users can read {file} (mode {mode:04o}), and this cannot be changed from here"
        hint = "make sure that no one else uses this computer or container"
        yield Finding("token file", True, found, hint)
    confirm_use(settings)
    try:
        with connect(settings) as connection:
            yield Finding("address", True, connection.name)
            yield _token_and_network(connection.service.probe(PROBED))
    except UnusableInput as error:
        yield from _all_not_well("settings", error)


def _lacking(settings: Settings) -> Iterator[Finding]:
    """Both address and token are reported, where both are missing."""
    for what, ask in (("address", settings.service_url), ("token", settings.access_token)):
        try:
            ask()
        except UnusableInput as error:
            yield from _all_not_well(what, error)


def _token_and_network(answer: Reply | NoReply) -> Finding:
    if isinstance(answer, NoReply):
        return Finding("connection", False, answer.reason, "check IMPORTER_BASE_URL, the network and the firewall")
    if answer.status in (200, 404):
        return Finding("token", True, "accepted by the service")
    said = f"the service responded with {answer.status}" + (f" ({answer.message})" if answer.message else "")
    if answer.status in (401, 403):
        return Finding("token", False, said, "set IMPORTER_TOKEN or IMPORTER_TOKEN_FILE to a valid token")
    return Finding(
        "connection", False, said, "check IMPORTER_BASE_URL, or ask the administrator of your recruiting service"
    )


def _folder(out: Path) -> Iterator[Finding]:
    there = next(folder for folder in (out.absolute(), *out.absolute().parents) if folder.exists())
    if not os.access(there, os.W_OK | os.X_OK):
        yield Finding(
            "results folder", False, f"{out} cannot be written", "choose another folder with --out or IMPORTER_OUT"
        )
        return
    free = shutil.disk_usage(there).free
    room = f"{out}, {free / 1024**3:.1f} GB free"
    hint = "" if free >= _LITTLE_ROOM else "free disk space: a run keeps a copy of its file and writes reports"
    yield Finding("results folder", free >= _LITTLE_ROOM, room, hint)


def _runs(out: Path) -> Iterator[Finding]:
    for folder in runs_in(out):
        try:
            read_manifest(folder)
        except UnusableInput as error:
            yield from _all_not_well(f"run {folder.name}", error)


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
    yield from (_not_well("ledger", problem) for problem in problems)
    yield from _addresses_of(bases)


def _addresses_of(bases: Sequence[str]) -> Iterator[Finding]:
    """What the ledger takes for several services, and may be one."""

    services = [base for base in bases if base != SANDBOX]
    alike = any(is_alike(one, other) for one, other in combinations(services, 2))
    if len(services) > 1:
        hint = (
            "use only one in IMPORTER_BASE_URL: candidates sent to one address are sent again to the other"
            if alike
            else ""
        )
        told = "look like one address, but count as different services" if alike else "count as different services"
        yield Finding("addresses", not alike, f"{', '.join(services)} in the ledger {told}", hint)
