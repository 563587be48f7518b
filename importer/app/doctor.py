"""The checks of `importer doctor`: settings, token, connection, folders and ledger."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from importer import __version__
from importer.app.connection import connect
from importer.documents.contents import look_into
from importer.files import mode_for_others, read_regular
from importer.ledger import ledger_name, open_existing_ledger
from importer.notices import AddressesUnusable, described_addresses
from importer.problems import ImporterError, Problem, UnusableInput
from importer.runs.manifest import read_manifest, runs_in
from importer.runs.results_folder import why_untrusted
from importer.service import A_PAGE, PROBED, NoReply, Reply, describe_transport, upload_body
from importer.settings import Settings, unknown_variables
from importer.settings.trust import confirm, without_secrets

_MIN_FREE_BYTES = 500 * 1024 * 1024  # bytes


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check of `importer doctor`. `hint` is "" if no action is needed or known."""

    check: str
    ok: bool
    result: str
    hint: str = ""


def examine(
    settings: Settings, confirm_use: Callable[[Settings], None], *, trust: bool, try_upload: Path | None = None
) -> Iterator[Finding]:
    """Check settings, token, connection, folders and ledger. try_upload: a document that is uploaded, as a test.

    confirm_use: may ask the user whether the token may be sent to an address set in the folder. trust: confirm that.
    """
    yield Finding("importer", True, f"{__version__} on Python {sys.version.split()[0]}")
    for name in unknown_variables():
        hint = "remove it, or correct its name; the settings are in docs/settings.md"
        yield Finding("settings", True, f"{name} is not a setting of the importer, and is ignored", hint)
    if trust:
        yield from _trust(settings)
    if unconfirmed := settings.unconfirmed_settings():  # nothing is sent or opened
        yield from (_failure("settings", one.refusal()) for one in unconfirmed)
        return
    yield from _address(settings, confirm_use)
    if try_upload is not None:
        yield _upload(settings, try_upload)
    problems = why_untrusted(settings)
    if problems:  # a folder that others can change is not examined
        yield from (_failure("results folder", problem, f"{problem.place}: ") for problem in problems)
        return
    yield from (*_folder(settings.out), *_runs(settings.out), *_ledger(settings), *_notices(settings))


def _upload(settings: Settings, file: Path) -> Finding:
    """What the service answers to the upload of one file."""
    try:
        # Without the place of the ID, it is found in the answer that is shown.
        form = settings.model_copy(update={"upload_id_at": settings.upload_id_at or "/"}).upload
        if form is None:
            return Finding("upload", False, "upload_path is not set", "set it as docs/documents.md says")
        content = read_regular(file, form.most_bytes)
        contents = look_into(lambda: file.open("rb"))
        if contents.problem:
            return Finding("upload", False, f"{file} {contents.problem}", "try it with a real document")
        with connect(settings) as connection:
            answer = connection.service.upload(form, *upload_body(form, file.name, contents.kind, content))
    except OSError as error:
        return Finding("upload", False, f"{file}: {error.strerror or error}", "check the path")
    except ImporterError as error:
        return Finding("upload", False, str(error))
    if isinstance(answer, NoReply):
        return Finding("upload", False, answer.reason, answer.hint)
    if answer.document_id is not None:
        return Finding(
            "upload", True, f"the service answered {answer.status}; the document has the ID {answer.document_id}"
        )
    if not 200 <= answer.status < 300:
        hint = "correct the settings of uploads, or the token, as docs/documents.md says"
        return Finding("upload", False, f"the service answered {answer.status}: {answer.message}", hint)
    where = f"without an ID at {settings.upload_id_at}" if settings.upload_id_at else "which has the ID somewhere"
    message = f"the service answered {answer.status}, {where}: {answer.message}"
    return Finding("upload", False, message, "set id_at (upload_id_at) to the place of the ID, such as /content/id")


def _failure(check: str, problem: Problem, where: str = "") -> Finding:
    return Finding(check, False, f"{where}{problem.message}", problem.hint)


def _failures(check: str, error: UnusableInput) -> Iterator[Finding]:
    return (_failure(check, problem) for problem in error.problems)


def _trust(settings: Settings) -> Iterator[Finding]:
    """The result of `--trust`."""
    token = settings.unconfirmed_use()
    uses = [*([token] if token else []), *settings.unconfirmed_settings()]
    if not uses:
        yield Finding("trust", True, "nothing to confirm")
    for use in uses:
        try:
            kept = confirm(use)
        except UnusableInput as error:
            yield from _failures("trust", error)
        else:
            yield Finding("trust", True, f"in this folder, {use.permission} (saved in {kept})")


def _address(settings: Settings, confirm_use: Callable[[Settings], None]) -> Iterator[Finding]:
    missing = list(missing_settings(settings))
    try:
        yield Finding("transport", True, describe_transport())
    except UnusableInput as error:
        missing.insert(0, _failure("transport", error.problems[0]))
    if proxy := without_secrets(settings.proxy_for(settings.base_url)):
        yield Finding("proxy", True, proxy)
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


def missing_settings(settings: Settings) -> Iterator[Finding]:
    """Why nothing can be sent to a real service: address and token, if both are missing."""
    for check, read in (("address", settings.service_url), ("token", settings.access_token)):
        try:
            read()
        except UnusableInput as error:
            yield from _failures(check, error)


def _token_and_network(reply: Reply | NoReply) -> Finding:
    if isinstance(reply, NoReply):
        hint = reply.hint or "check IMPORTER_BASE_URL, the network and the firewall"
        return Finding("connection", False, reply.reason, hint)
    is_page = reply.message.startswith(A_PAGE) or (reply.status == 200 and reply.message)
    if reply.status in (200, 404) and not is_page:
        return Finding("token", True, "accepted by the service")
    result = f"the service responded with {reply.status}" + (f" ({reply.message})" if reply.message else "")
    if reply.status in (401, 403):
        return Finding("token", False, result, "set IMPORTER_TOKEN or IMPORTER_TOKEN_FILE to a valid token")
    hint = "check IMPORTER_BASE_URL, or ask the administrator of your recruiting service"
    if reply.status == 429 or reply.status >= 500:
        hint = f"try again later; if it stays so, {hint}"
    return Finding("connection", False, result, hint)


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
    ledger.close()
    yield Finding("ledger", True, name)


def _notices(settings: Settings) -> Iterator[Finding]:
    try:
        if addresses := described_addresses(settings):
            yield Finding("notices", True, f"{settings.notify}: {', '.join(addresses)}")
    except AddressesUnusable as unusable:
        yield Finding("notices", False, str(unusable))
