"""Where requests go: the recruiting service of the settings, or a sandbox that is started for this order."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from importer.app.orders import Listener, Order, QuestionsDelayed, Rehearsal
from importer.atomic_files import INTERNAL, internal_folder, open_private
from importer.errors import UnusableInput
from importer.file_lock import held
from importer.ledger import open_existing_ledger
from importer.models import Problem, Question
from importer.runs.results_folder import make_results, unusable_folder
from importer.service import Limits, Patience, RecruitingService, Reply
from importer.settings import Settings

if TYPE_CHECKING:
    from importer.sandbox import ChildSandbox

SANDBOX = "sandbox"  # how the ledger knows it: by this name and not by its port
PROBED = "importer-probe"  # a job post that nobody has: a service that is well answers 404 for it
_SANDBOX_PATIENCE = 2.0  # seconds; nobody else's requests are still on their way there


@dataclass(frozen=True, slots=True)
class Connection:
    """A service to talk to, and the name by which the ledger knows it.

    settle_after: seconds until a row whose answer was lost is sent again. patience: with which questions are asked for.
    """

    service: RecruitingService
    name: str
    settle_after: float
    patience: Patience

    def questions(self, job_post: str) -> tuple[Question, ...]:
        """The questions of a job post, asked with the run's own patience."""
        return self.service.questions(job_post, self.patience)

    def is_well(self) -> bool:
        """Whether the service answers a harmless question with anything but trouble of its own."""
        answer = self.service.probe(PROBED)
        return isinstance(answer, Reply) and answer.status < 500


@contextmanager
def connect(
    settings: Settings, rehearsal: Rehearsal | None = None, patience: Callable[[str], Patience] = lambda _: Patience()
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
        yield Connection(service, base_url, settings.settle_seconds, patience(base_url))
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
            settle_after = min(settings.settle_seconds, _SANDBOX_PATIENCE)
            yield Connection(service, SANDBOX, settle_after, Patience())
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


def patience_of_run(order: Order, listen: Listener, *, dry_run: bool) -> Callable[[str], Patience]:
    """A run waits for a service that it knows to be there as long before its first row as between two of them."""
    settings = order.settings

    def of(base_url: str) -> Patience:
        def goes_on_for() -> float:
            ledger = None if dry_run else open_existing_ledger(settings.ledger_address)
            if ledger is None:
                return 0.0
            with ledger:
                return settings.give_up_minutes * 60 if ledger.has_answered(base_url) else 0.0

        return Patience(goes_on_for=goes_on_for, on_wait=lambda seconds: listen(QuestionsDelayed(seconds)))

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
        raise UnusableInput([Problem("sandbox-unusable", problem) for problem in error.problems]) from None


def _service(settings: Settings, base_url: str, token: str) -> RecruitingService:
    limits = Limits(settings.connect_seconds, settings.silence_seconds, settings.answer_seconds)
    return RecruitingService(
        base_url,
        token,
        limits=limits,
        connections=settings.in_flight,
        transport=settings.transport,
        options_separator=settings.options_separator,
    )
