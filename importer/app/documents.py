"""The documents of a file's rows: their folders are opened, and each file that a row names is looked into once."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Mapping as Dictionary
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from importer.app.classify_rows import ReadRows, check_rows
from importer.app.connection import ServiceConnection
from importer.app.orders import Listener, Order, Preparing
from importer.app.plan import Plan
from importer.documents.contents import UNREADABLE, reason_of
from importer.documents.folder import DocumentFolder, NotFound, listed
from importer.documents.ids import IDS_FILE, read_ids
from importer.ledger import Ledger
from importer.mapping import OUTSIDE_HINT, Mapping, ResolvedMapping, is_within
from importer.models import Outcome, OutcomeKind, ReadyCandidate, Stop
from importer.problems import FilePlace, LinePlace, Problem, UnusableInput
from importer.runs.table import RunTable
from importer.sending import Cancellation, Document, Uploader
from importer.transform import Filtered, candidate_rows, filtered, value_reader


def open_folders(
    mapping: Mapping, file: Path, known: Dictionary[str, str], service: str = ""
) -> tuple[dict[str, DocumentFolder], dict[str, str]]:
    """The folders of documents that a mapping names, by their names there, and where they and the list of IDs are.

    file: the source, which they lie beside, or else beside the mapping. known: where an earlier run has found them, or
    a person has said that they are. service: the address of the one that gets the IDs, "" if that does not matter.

    Raises UnusableInput: with every problem of all of them.
    """
    named = mapping.document_folders
    if not named:
        return {}, {}
    found: dict[str, DocumentFolder] = {}
    problems: list[Problem] = []
    list_of_ids = Path(known.get(IDS_FILE, file.parent / IDS_FILE))
    ids, listed_as = read_ids(list_of_ids, service) if list_of_ids != file else ({}, {})
    for name, place in named.items():
        try:
            path = Path(known[name]) if name in known else _located(name, place, mapping, file.parent)
            same = next((one for one in found.values() if one.path.resolve() == path.resolve()), None)
            found[name] = same or DocumentFolder(path, name, ids, listed_as)
        except UnusableInput as error:
            problems += error.problems
        except UNREADABLE as error:
            message = f"the documents in '{name}' cannot be listed: {reason_of(error)}"
            hint = "write the path of a folder or .zip, relative to that of the source; or copy a damaged one again"
            problems.append(Problem("document-folder-invalid", message, hint, place))
    if problems:
        raise UnusableInput(problems)
    paths = {name: folder.path for name, folder in found.items()} | {IDS_FILE: list_of_ids}
    return found, {name: str(path.resolve()) for name, path in paths.items()}


def _located(name: str, place: LinePlace, mapping: Mapping, beside: Path) -> Path:
    path = next((path for parent in (beside, mapping.path.parent) if (path := parent / name).exists()), beside / name)
    if is_within(path, [beside, *mapping.folders]):
        return path
    message = f"'{name}' is neither in the folder of the source nor in the folder of this mapping"
    raise UnusableInput(Problem("file-outside-folder", message, OUTSIDE_HINT, place))


_AT_ONCE = 1_000  # rows that are looked up in the ledger

# --- uploads ------------------------------------------------------------------------------------


def prepare_uploads(folders: Iterable[DocumentFolder], order: Order) -> None:
    """How documents without an ID get one: in the sandbox it is invented; or they are uploaded, as the settings say.

    Raises UnusableInput: the settings of uploads are not complete.
    """
    form, mark = order.settings.upload, f"document:{secrets.token_hex(8)}:"
    for folder in folders:
        folder.invents_ids = order.sending.sandbox_setup is not None
        if form is not None and not folder.invents_ids:
            folder.placeholder, folder.most_bytes, folder.kinds = mark, form.most_bytes, form.types


def know_uploaded(mapping: ResolvedMapping, ledger: Ledger, service: str) -> None:
    """Take the IDs of documents that an earlier run has uploaded to this service."""
    for folder in _folders_of(mapping):
        keys = {ledger.fingerprints.document(service, sha256): sha256 for sha256 in folder.sha256s}
        uploaded = {keys[key]: found for key, found in ledger.document_ids([*keys]).items()}
        folder.ids = {**uploaded, **folder.ids}  # what a person has written counts


def upload_mark(mapping: ResolvedMapping) -> bytes:
    """What is in the body of a row whose document waits for its upload; b"" if none is uploaded."""
    return next((one.placeholder.encode() for one in _folders_of(mapping)), b"")


def _folders_of(mapping: ResolvedMapping) -> list[DocumentFolder]:
    return list({one.documents.path: one.documents for one in mapping.values if one.documents}.values())


_NOT_TRIED = Problem(
    "document-not-uploaded", "the run stopped before its document was uploaded", "run the same command again"
)


@dataclass(frozen=True, slots=True)
class Uploads:
    """What became of the documents of a target: the rows that have the mark in their bodies wait for one.

    failures: why, by SHA-256. stop: why the others were not uploaded. copies: how many documents of nobody the service
    may have, since uploads gave no ID.
    """

    mark: bytes = b""
    failures: Dictionary[str, tuple[OutcomeKind, Problem]] = field(default_factory=dict)
    stop: Stop | None = None
    copies: int = 0

    def noted_in(self, plan: Plan) -> Plan:
        """The plan, with a warning for the report about the copies."""
        if not self.copies:
            return plan
        what = f"{self.copies:,} upload{' of a document' if self.copies == 1 else 's of documents'} gave no ID"
        message = f"{what}: the service may have copies that belong to no candidate"
        hint = "no action is needed; who runs the service can remove them"
        warning = Problem("documents-repeated", message, hint)
        return replace(plan, manifest=replace(plan.manifest, warnings=(*plan.manifest.warnings, str(warning))))

    def outcome_of(self, candidate: ReadyCandidate) -> Outcome | None:
        """The outcome of a row whose document has no ID; None if it can be sent."""
        if not self.mark or (at := candidate.body.find(self.mark)) < 0:
            return None
        start = at + len(self.mark)
        sha256 = candidate.body[start : start + 64].decode()
        kind, problem = self.failures.get(sha256, (OutcomeKind.NOT_SENT, _NOT_TRIED))
        return Outcome(candidate.row, kind, problems=(problem,))


def upload_documents(
    plan: Plan,
    ledger: Ledger,
    order: Order,
    connection: ServiceConnection,
    cancellation: Cancellation,
    listen: Listener,
) -> Uploads:
    """Upload the documents of the rows that will be sent, then check the rows again, with the IDs."""
    folders, form = _folders_of(plan.mapping), order.settings.upload
    if form is None or not folders or not folders[0].placeholder:
        return Uploads()
    mark = upload_mark(plan.mapping)
    with RunTable(plan.folder) as table, ExitStack() as opened:
        readers = {folder.path: opened.enter_context(folder.reader()) for folder in folders}
        wanted = dict.fromkeys(_waiting(table, plan, ledger, mark))
        documents = [_document(sha256, folders, readers, ledger, connection.name) for sha256 in wanted]
        if not documents:
            return Uploads(mark)
        uploader = Uploader(
            connection.service.upload,
            form,
            connection.name,
            ledger,
            cancellation,
            order.settings.concurrency,
            order.settings.rate,
            order.settings.give_up_minutes * 60,
            order.sending.window,
            {known for folder in folders for known in folder.ids.values()},
            lambda count: listen(Preparing("uploaded", count, len(documents))),
        )
        done = uploader.upload(documents)
        refused = {
            sha256: NotFound(problem.code, problem.message, problem.hint)
            for sha256, (kind, problem) in done.failures.items()
            if kind is OutcomeKind.INVALID
        }
        for folder in folders:
            folder.ids |= done.ids
            folder.refused |= refused
        check_rows(table, plan.read, plan.mapping, strict=plan.manifest.strict)
    return Uploads(mark, done.failures, done.stop, done.copies.total())


def _waiting(table: RunTable, plan: Plan, ledger: Ledger, mark: bytes) -> Iterator[str]:
    """The SHA-256 of the documents of rows that are not in the service yet."""
    pattern = re.compile(re.escape(mark) + rb"([0-9a-f]{64})")
    kept = table.kept()
    while block := list(islice(kept, _AT_ONCE)):
        ready = [one.result for one in block if isinstance(one.result, ReadyCandidate)]
        known = plan.known.imported(ledger, {one.row: one.email for one in ready})
        for one in ready:
            if one.row not in known:
                yield from (found.decode() for found in pattern.findall(one.body))


def _document(
    sha256: str,
    folders: Sequence[DocumentFolder],
    readers: Dictionary[Path, Callable[[str], bytes]],
    ledger: Ledger,
    service: str,
) -> Document:
    folder = next(one for one in folders if sha256 in one.sha256s)
    path = folder.sha256s[sha256]
    key, one = ledger.fingerprints.document(service, sha256), folder.contents[path]
    return Document(sha256, key, path.rpartition("/")[2], one.kind, one.size, lambda: readers[folder.path](sha256))


# --- looking into them ------------------------------------------------------------------------------


def look_into_documents(mapping: ResolvedMapping, read: ReadRows, whole: ReadRows | None = None) -> tuple[Problem, ...]:
    """Find the documents of all rows, and look into each of them. Returns warnings about the files of each folder.

    whole: reads all rows of the file, if only some are imported, or to this target: a document may be that of another
    row, too.
    """
    folders = _folders_of(mapping)
    if not folders:
        return ()
    _note_documents(mapping, read, folders)
    for folder in folders:
        folder.look_into_named()
    if whole is not None:
        _note_documents(mapping, whole, folders, with_filtered=True)
    invented = [_without_id(folder) for folder in folders if folder.invents_ids and folder.without_id]
    equal = [_with_equal_content(folder) for folder in folders if folder.equal]
    return (*invented, *equal, *(_of_nobody(folder) for folder in folders if folder.unused))


def _note_documents(
    mapping: ResolvedMapping, read: ReadRows, folders: Sequence[DocumentFolder], *, with_filtered: bool = False
) -> None:
    """Note in each folder whose documents its files are."""
    readers = [
        value_reader(one, mapping.wire)
        for one in mapping.single_values
        if (one.lookup.value if one.lookup else one).documents
    ]
    email = value_reader(mapping.candidate["email"], mapping.wire)
    for row in candidate_rows(read, mapping):
        if isinstance(row, Filtered) or (not with_filtered and filtered(row, mapping.filters)):
            continue
        address = email.read(row, [])
        if address is None and with_filtered:  # perhaps the same person
            continue
        person = str(address or f"row {row.number}").casefold()
        for folder in folders:
            folder.noted_for = person, row.number
        for reader in readers:
            reader.read(row, [])
    for folder in folders:
        folder.noted_for = None


def _without_id(folder: DocumentFolder) -> Problem:
    names = folder.without_id
    one = len(names) == 1
    have = "document has no ID yet, and gets" if one else "documents have no ID yet, and get"
    message = f"{len(names):,} {have} an invented one in the sandbox: {listed(names)}"
    hint = "before a run for the real service, see importer documents list"
    return Problem("document-without-id", message, hint, FilePlace(folder.shown_as))


def _with_equal_content(folder: DocumentFolder) -> Problem:
    pairs = listed(f"{one} (row {row}) and {other} (row {other_row})" for one, row, other, other_row in folder.equal)
    count = len(folder.equal)
    message = f"{count:,} document{' has' if count == 1 else 's have'} the content of another person's: {pairs}"
    return Problem("documents-equal", message, "check that each is the right one", FilePlace(folder.shown_as))


def _of_nobody(folder: DocumentFolder) -> Problem:
    names, count = listed((file.path for file in folder.unused), 5), len(folder.unused)
    are = "is" if count == 1 else "are"
    message = f"{count:,} of its {len(folder.files):,} files {are} the document of no row: {names}"
    hint = "check their names, if they should belong to a row"
    return Problem("documents-unused", message, hint, FilePlace(folder.shown_as))
