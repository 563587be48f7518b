"""What `importer doctor` looks at: settings, token, connection, folders, ledger: what is wrong and what to do."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from importer import __version__
from importer.app.connection import PROBED, SANDBOX, connect, is_alike
from importer.errors import ImporterError, UnusableInput
from importer.ledger import ledger_name, open_existing_ledger
from importer.regular_files import mode_for_others
from importer.runs.manifest import read_manifest, runs_in
from importer.runs.results_folder import why_untrusted
from importer.service import NoReply, Reply, describe_transport
from importer.settings import Settings
from importer.settings.trust import confirm

_LITTLE_ROOM = 500 * 1024 * 1024  # bytes


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. `hint` is "" where nothing is to be done or known."""

    what: str
    well: bool
    found: str
    hint: str = ""


def examine(settings: Settings, confirm_use: Callable[[Settings], None], *, trust: bool) -> Iterator[Finding]:
    """Look at settings, token, connection, folders and ledger.

    confirm_use: may ask a person whether the token may go to the address of a folder. trust: that is confirmed.
    """
    yield from _program()
    if trust:
        yield from _confirmed(settings)
    yield from _address(settings, confirm_use)
    yield from _folders(settings)


def _program() -> Iterator[Finding]:

    yield Finding("importer", True, f"{__version__} on Python {sys.version.split()[0]}")


def _confirmed(settings: Settings) -> Iterator[Finding]:
    """What `--trust` has confirmed."""

    use = settings.unconfirmed_use()
    if use is None:
        yield Finding("trust", True, "there is nothing to confirm")
        return
    try:
        kept = confirm(use)
    except UnusableInput as error:
        yield from (Finding("trust", False, problem.message, problem.hint) for problem in error.problems)
    else:
        yield Finding("trust", True, f"{use.address} may get {use.told_token} from now on, in this folder ({kept})")


def _transport(settings: Settings) -> Finding:
    """What carries the requests, and how to have the other."""

    try:
        return Finding("transport", True, describe_transport(settings.transport))
    except UnusableInput as error:
        return Finding("transport", False, error.problems[0].message, error.problems[0].hint)


def _address(settings: Settings, confirm_use: Callable[[Settings], None]) -> Iterator[Finding]:

    transport, lacking = _transport(settings), list(_lacking(settings))
    yield from (transport, *lacking)
    if lacking or not transport.well:
        return
    yield from _token_on_show(settings)
    confirm_use(settings)
    try:
        with connect(settings) as connection:
            yield Finding("address", True, connection.name)
            yield _token_and_network(connection.service.probe(PROBED))
    except UnusableInput as error:
        yield from (Finding("settings", False, problem.message, problem.hint) for problem in error.problems)


def _lacking(settings: Settings) -> Iterator[Finding]:
    """Both address and token are told, where both are missing."""

    for what, ask in (("address", settings.service_url), ("token", settings.access_token)):
        try:
            ask()
        except UnusableInput as error:
            yield from (Finding(what, False, problem.message, problem.hint) for problem in error.problems)


def _token_on_show(settings: Settings) -> Iterator[Finding]:
    """A token file that others can read is refused where that can be changed; here it cannot be."""

    file = settings.secret_file()
    if file is not None and (mode := mode_for_others(file)):
        found = f"{file} is readable by other users (mode {mode:04o}), and that cannot be changed from here"
        hint = "make sure that nobody else works on this machine or in this container"
        yield Finding("token file", True, found, hint)


def _token_and_network(answer: Reply | NoReply) -> Finding:

    if isinstance(answer, NoReply):
        return Finding("connection", False, answer.reason, "check IMPORTER_BASE_URL, the network and the firewall")
    if answer.status in (200, 404):
        return Finding("token", True, "the service takes it")
    said = f"the service answers {answer.status}" + (f" ({answer.message})" if answer.message else "")
    if answer.status in (401, 403):
        return Finding("token", False, said, "set IMPORTER_TOKEN or IMPORTER_TOKEN_FILE to a valid token")
    return Finding("connection", False, said, "is this the address of the service? else ask the service's people")


def _folders(settings: Settings) -> Iterator[Finding]:
    """What lies in a folder that others can change is not looked at."""

    problems = why_untrusted(settings)
    for problem in problems:
        yield Finding("results folder", False, f"{problem.place}: {problem.message}", problem.hint)
    if not problems:
        yield from (*_folder(settings.out), *_runs(settings.out), *_ledger(settings))


def _folder(out: Path) -> Iterator[Finding]:
    there = next(folder for folder in (out.absolute(), *out.absolute().parents) if folder.exists())
    if not os.access(there, os.W_OK | os.X_OK):
        yield Finding("results folder", False, f"{out} cannot be written", "name another with --out or IMPORTER_OUT")
        return
    free = shutil.disk_usage(there).free
    room = f"{out}, {free / 1024**3:.1f} GB free"
    hint = "" if free >= _LITTLE_ROOM else "make room: a run keeps a copy of its file and writes reports"
    yield Finding("results folder", free >= _LITTLE_ROOM, room, hint)


def _runs(out: Path) -> Iterator[Finding]:

    for folder in runs_in(out):
        try:
            read_manifest(folder)
        except UnusableInput as error:
            yield from (
                Finding(f"run {folder.name}", False, problem.message, problem.hint) for problem in error.problems
            )


def _ledger(settings: Settings) -> Iterator[Finding]:

    try:
        name = ledger_name(settings.ledger_address)
        ledger = open_existing_ledger(settings.ledger_address)
    except ImporterError as error:
        yield Finding("ledger", False, str(error))
        return
    if ledger is None:
        yield Finding("ledger", True, f"{name} (none yet; the first run makes it)")
        return
    with ledger:
        problems, bases = ledger.check(), ledger.bases()
    if not problems:
        yield Finding("ledger", True, f"{name}, sound")
    for problem in problems:
        yield Finding("ledger", False, problem.message, problem.hint)
    yield from _addresses_of(bases)


def _addresses_of(bases: Sequence[str]) -> Iterator[Finding]:
    """What the ledger takes for several services, and may be one."""

    services = [base for base in bases if base != SANDBOX]
    alike = any(is_alike(one, other) for one, other in combinations(services, 2))
    if len(services) > 1:
        hint = "keep to one in IMPORTER_BASE_URL: whom the ledger knows at the other is sent again" if alike else ""
        told = "are spellings of one address, and different services to it" if alike else "are different services to it"
        yield Finding("addresses", not alike, f"{', '.join(services)} in the ledger {told}", hint)
