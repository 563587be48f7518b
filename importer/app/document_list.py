"""The list of a file's documents: which files its rows name, what is wrong with them, and which have an ID already."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from importer.app.import_file import orders_of, planned_only
from importer.app.orders import Listener, Order
from importer.documents.contents import UNREADABLE, reason_of
from importer.documents.folder import DocumentFolder
from importer.documents.ids import IDS_FILE, read_ids, service_of, write_ids
from importer.problems import UsageError, not_writable
from importer.report.summary import ProblemGroup

# Re-exported for pages, together with what is defined here.
__all__ = ["IDS_FILE", "read_ids"]


@dataclass(frozen=True, slots=True)
class DocumentCounts:
    """The documents of a file. to: the list of their IDs; files: in all folders; named: those of rows that can be used;
    with_id: of these; unused: those of nobody; causes: what is wrong with the documents of rows, the most frequent
    first; is_uploaded: those without one are uploaded by a run.
    """

    to: Path
    files: int
    named: int
    with_id: int
    unused: int
    causes: tuple[ProblemGroup, ...]
    is_uploaded: bool

    @property
    def is_complete(self) -> bool:
        """Whether every document of a row can be used, and has an ID."""
        return not self.causes and (self.is_uploaded or self.named == self.with_id)


def list_documents(order: Order, listen: Listener, to: Path | None = None, *, writes: bool = True) -> DocumentCounts:
    """Find the documents of all rows of a file; writes: write the list of IDs, with those that are known.

    to: where; None: where a run reads it, beside the source.

    Raises:
        UnusableInput: with every problem of the file, the mapping and the folders; or the list cannot be written.
        UsageError: the mapping names no folder of documents.
    """
    folders, places, causes = list[DocumentFolder](), dict[str, str](), list[ProblemGroup]()
    for one in orders_of(order):
        with planned_only(one, listen) as plan:
            folders += dict.fromkeys(value.documents for value in plan.mapping.values if value.documents)
            places |= plan.manifest.documents
            causes += [group for group in plan.forecast.reasons if group.code.startswith("document-")]
    if not folders:
        raise UsageError(
            f"{order.mapping} names no folder of documents; write, for example, cv: {{column: CV file, folder: cvs}}"
        )
    path = to or Path(places[IDS_FILE])
    if writes:
        try:
            (known, _), of_service = read_ids(path), service_of(path) or service_of(Path(places[IDS_FILE]))
            for folder in folders:
                folder.ids = {**known, **folder.ids}
            service = of_service if order.sending.sandbox_setup else str(order.settings.base_url or "")
            write_ids(path, folders, service)
        except OSError as error:
            raise not_writable(path, error.strerror or str(error)) from None
    files = {folder.path / name for folder in folders for name in folder.files}
    usable = ((folder, name) for folder in folders for name, one in folder.contents.items() if not one.problem)
    named = {folder.path / name for folder, name in usable if len(folder.users.get(name, ())) < 2}
    without = {folder.path / name for folder in folders for name in folder.without_id} & named
    used = {folder.path / name for folder in folders for name in folder.users}
    return DocumentCounts(
        path,
        len(files),
        len(named),
        len(named) - len(without),
        len(files - used),
        tuple(group for group in causes if group.code != "document-without-id"),
        order.settings.upload is not None and order.sending.sandbox_setup is None,
    )


def count_files(path: Path) -> int:
    """How many files of documents a folder or .zip has. Raises UsageError: it cannot be listed, or has none."""
    try:
        count = len(DocumentFolder(path, path.name).files)
    except UNREADABLE as error:
        raise UsageError(f"{path} cannot be listed: {reason_of(error)}") from None
    if not count:
        raise UsageError(f"{path} has no file that can be used")
    return count
