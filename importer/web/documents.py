"""The step Documents: where the files are that cells name, and the list of their IDs."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from importer.app.document_list import IDS_FILE, count_files, list_documents, read_ids
from importer.problems import UsageError
from importer.web.forms import MOST_UPLOADED, SentForm, download, receive_upload
from importer.web.pages import FieldError, ImportPage, OfImport
from importer.web.result import found_run

router = APIRouter()

_LARGEST_LIST: Final = 64 << 20  # bytes


@router.get("/imports/{id}/documents")
def show(page: OfImport) -> Response:
    draft, settings = page.draft, page.settings
    ids = Path(draft.documents.get(IDS_FILE, Path(draft.file).parent / IDS_FILE))
    last = found_run(page, draft.grid).summary if draft.grid else None
    return page.show(
        "documents",
        folders=[(at, name, *_found(page, draft.documents.get(name, ""))) for at, name in enumerate(draft.folders)],
        known=len(read_ids(ids)[0]),
        is_uploaded=settings.upload is not None,
        causes=[one for one in last.to_fix if one.code.startswith("document-")] if last else [],
        most=MOST_UPLOADED >> 20,
        most_of_list=_LARGEST_LIST >> 20,
    )


def _found(page: ImportPage, path: str) -> tuple[str, int, str]:
    """Where a folder is as a person knows it, how many files it has, and why it cannot be used."""
    shown = Path(path).name if page.folder.absolute() in Path(path).parents else path
    try:
        return shown, count_files(Path(path)) if path else 0, ""
    except UsageError as error:
        return "", 0, str(error)


@router.post("/imports/{id}/documents/{index}/path")
def use_path(page: OfImport, index: int, form: SentForm) -> Response:
    """Use a folder or .zip of this machine, which is read in place."""
    if not form.text("path"):
        raise FieldError(f"path-{index}", "enter the path of a folder or .zip on this machine")
    path = os.path.expanduser(form.text("path").strip("\"'"))  # noqa: PTH111 - unlike Path, it never raises
    return _use(page, index, Path(path), f"path-{index}")


@router.post("/imports/{id}/documents/{index}/upload")
async def upload(request: Request, page: OfImport, index: int) -> Response:
    """Use a .zip that the browser sends."""
    with _received(page) as folder:
        path = await receive_upload(request, folder)
        return _use(page, index, path, f"upload-{index}")


@contextmanager
def _received(page: ImportPage) -> Iterator[Path]:
    """A new folder for an upload, which is removed if that is of no use: what was there before stays in use."""
    folder = page.folder / f"documents-{secrets.token_hex(4)}"
    try:
        yield folder
    except BaseException:
        rmtree(folder, ignore_errors=True)
        raise


def _use(page: ImportPage, index: int, path: Path, field: str) -> Response:
    _, _, why = _found(page, str(path.absolute()))
    if why:
        raise FieldError(field, why)
    chosen = dict.fromkeys(page.draft.folders[index : index + 1], str(path.absolute()))
    page.change(documents={**page.draft.documents, **chosen}, check="")
    return page.go("documents")


@router.get("/imports/{id}/documents/list")
def download_list(page: OfImport) -> Response:
    """The list of the documents of all rows, with the IDs that are known."""
    path = page.folder / "documents-to-fill.csv"
    list_documents(page.web.drafts.order(page.draft, page.settings), lambda event: None, path)
    return download(path, IDS_FILE, "text/csv; charset=utf-8")


@router.post("/imports/{id}/documents/list")
async def use_list(request: Request, page: OfImport) -> Response:
    """Use the list that a person has filled in."""
    with _received(page) as folder:
        path = await receive_upload(request, folder, _LARGEST_LIST)
        read_ids(path, "" if page.draft.sandbox else str(page.settings.base_url or ""))
    page.change(documents={**page.draft.documents, IDS_FILE: str(path.absolute())}, check="")
    return page.go("documents")
