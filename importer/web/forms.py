"""What a browser sends: the fields of a form, once, and uploads, streamed into a private folder."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Annotated, Final
from urllib.parse import parse_qsl

from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException

from importer.files import make_subfolder, open_private
from importer.problems import UnusableInput, UsageError, unusable_file
from importer.web.pages import Web

_LARGEST_FORM: Final = 4 << 20  # bytes without an upload
_LONGEST_NAME: Final = 200  # bytes of the name of an upload, without its ending
_MOST_PARTS: Final = 100  # of a form with an upload
_TOKEN: Final = "token"


class SentBefore(Exception):
    """The form was sent before, or is of an earlier start of the server. Nothing was done."""


class NotAForm(Exception):
    """It is not a form of these pages."""


class Form(dict[str, str]):
    """The fields of a form: of each name the last value, or `all` of them."""

    def __init__(self, fields: list[tuple[str, str]]) -> None:
        super().__init__(fields)
        self._fields = fields

    def text(self, name: str) -> str:
        """The text of a field without blanks around it, "" if it is missing."""
        return self.get(name, "").strip()

    def all(self, name: str) -> list[str]:
        return [value for other, value in self._fields if other == name]


async def read_form(request: Request) -> Form:
    """The fields of a form that was shown and is sent for the first time.

    Raises SentBefore, NotAForm: it must not be used.
    """
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > _LARGEST_FORM:
            raise NotAForm
    try:
        found = Form(parse_qsl(body.decode(), keep_blank_values=True, errors="strict"))
    except ValueError:
        raise NotAForm from None
    _use_token(request, found)
    return found


def _use_token(request: Request, form: Form) -> None:
    web: Web = request.app.state.web
    request.state.form = form
    if _TOKEN not in form:
        raise NotAForm
    if not web.tokens.use(form[_TOKEN]):
        raise SentBefore


SentForm = Annotated[Form, Depends(read_form)]


# --- uploads --------------------------------------------------------------------------------------

MOST_UPLOADED: Final = 1 << 30  # bytes


async def receive_upload(request: Request, folder: Path, most: int = MOST_UPLOADED) -> Path:
    """Store the file of a form in a new private folder, which is of no use after an error. most: bytes of it.

    Raises:
        SentBefore, NotAForm: it must not be used.
        UnusableInput: it is larger, or cannot be stored, or no file was chosen.
    """
    if (length := request.headers.get("content-length")) is None:  # of a browser it has one
        raise NotAForm
    if int(length) > most + _LARGEST_FORM:
        async for _ in request.stream():  # it is read, without being stored, so that the browser gets the answer
            pass
        raise _too_large(most)
    try:
        async with request.form(max_files=_MOST_PARTS, max_fields=_MOST_PARTS) as sent:
            parts = sent.multi_items()
            _use_token(request, Form([(name, text) for name, text in parts if isinstance(text, str)]))
            files = [file for _, file in parts if isinstance(file, UploadFile) and file.filename]
            file = _to_use(files, most)
            make_subfolder(folder)
            path = folder / safe_name(file.filename or "")
            await run_in_threadpool(_store, file.file, path)
            return path
    except HTTPException:
        raise NotAForm from None
    except OSError as error:
        raise _not_stored(error) from None


def _to_use(files: list[UploadFile], most: int) -> UploadFile:
    if not files:
        hint = "drop a file on the field, or choose one, and send it again"
        raise unusable_file("upload-missing", "no file was chosen", hint, "upload")
    if any((file.size or 0) > most for file in files):
        raise _too_large(most)
    if not any(file.size for file in files):
        raise unusable_file("file-empty", "the file is empty", "export it again", "upload")
    return next(file for file in files if file.size)


def _store(file: IO[bytes], path: Path) -> None:
    with os.fdopen(open_private(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as stored:
        shutil.copyfileobj(file, stored)


def _not_stored(error: Exception) -> UnusableInput:
    message = f"the upload cannot be stored: {getattr(error, 'strerror', None) or error}"
    hint = "free disk space, or name the file by its path on this machine: then it is read in place"
    return unusable_file("not-writable", message, hint, "upload")


def _too_large(most: int) -> UnusableInput:
    message = f"the file is larger than {most >> 20:,} MB, the limit for uploads"
    hint = "name it by its path on this machine: then it is read in place"
    return unusable_file("limit-exceeded", message, hint, "upload")


def safe_name(given: str) -> str:
    """The last part of a file name that a browser sent, without what could lead out of a folder.

    >>> safe_name("../../.ssh/my list.csv"), safe_name("C:\\\\x\\\\..")
    ('my list.csv', 'upload')
    """
    last = re.split(r"[/\\]", given)[-1]
    kept = re.sub(r"[^\w .()+-]", "_", last).strip(" .")
    stem, dot, ending = kept.rpartition(".")
    cut = (stem if dot else kept).encode()[:_LONGEST_NAME].decode(errors="ignore")
    return (cut + dot + ending[:10] if dot else cut) or "upload"


# --- downloads ---


_NO_HEADERS: Final[Mapping[str, str]] = {}


def download(path: Path, name: str = "", kind: str = "", headers: Mapping[str, str] = _NO_HEADERS) -> FileResponse:
    """The content of a file. name: under which a browser stores it, "" to show it; kind: its media type.

    Raises UsageError: it is missing, a symbolic link, no regular file, or may not be read.
    """
    if path.is_symlink() or not path.is_file() or not os.access(path, os.R_OK):
        raise UsageError(f"{path.name} cannot be read: it is missing, or not a file of yours")
    return FileResponse(path, 200, headers, kind or "application/octet-stream", filename=name or None)
