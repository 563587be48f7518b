"""What a browser sends: the fields of a form, once, and uploads, streamed into a private folder."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Final
from urllib.parse import parse_qsl

from fastapi import Depends, Request
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from importer.atomic_files import open_private
from importer.problems import UnusableInput, unusable_file
from importer.web.pages import Web

_LARGEST_FORM: Final = 4 << 20  # bytes without an upload
_LONGEST_NAME: Final = 100  # characters of the name of an upload
_TOKEN: Final = "token"


class SentBefore(Exception):
    """The form was sent before, or is of an earlier start of the server. Nothing was done."""


class NotAForm(Exception):
    """It is not a form of these pages."""


class Form(Mapping[str, str]):
    """The fields of a form: of each name the last value, or `all` of them."""

    def __init__(self, fields: list[tuple[str, str]]) -> None:
        self._fields = fields
        self._last = dict(fields)

    def __getitem__(self, name: str) -> str:
        return self._last[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._last)

    def __len__(self) -> int:
        return len(self._last)

    def text(self, name: str) -> str:
        """The text of a field without blanks around it, "" if it is missing."""
        return self._last.get(name, "").strip()

    def all(self, name: str) -> list[str]:
        return [value for other, value in self._fields if other == name]


async def read_form(request: Request) -> Form:
    """The fields of a form that was shown and is sent for the first time.

    Raises:
        SentBefore, NotAForm: it must not be used.
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


Sent = Annotated[Form, Depends(read_form)]


# --- uploads --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that was sent, in a folder of its own, and the form that it came with."""

    file: Path
    form: Form


async def receive_upload(request: Request, folder: Path, most: int) -> Upload:
    """Stream an upload into a private folder. most: bytes of it.

    Raises:
        SentBefore, NotAForm: it must not be used; nothing is kept.
        UnusableInput: it is larger, or cannot be written, or no file was chosen; nothing is kept.
    """
    kind, options = parse_options_header(request.headers.get("content-type"))
    if kind != b"multipart/form-data" or b"boundary" not in options:
        raise NotAForm
    parts = _Parts(folder, most)
    parser = MultipartParser(options[b"boundary"], parts.callbacks())
    try:
        async for chunk in request.stream():
            parser.write(chunk)
        parser.finalize()
        _use_token(request, Form(parts.fields))
        return Upload(parts.finished(), Form(parts.fields))
    except BaseException as error:
        parts.discard()
        if isinstance(error, FormParserError):
            raise NotAForm from None
        raise
    finally:
        parts.close()


class _Parts:
    """The parts of a form as they arrive. What is too large is still read, so that the browser gets an answer."""

    def __init__(self, folder: Path, most: int) -> None:
        self._folder, self._most = folder, most
        self.fields: list[tuple[str, str]] = []
        self._header, self._headers = (bytearray(), bytearray()), dict[bytes, bytes]()
        self._name, self._is_file, self._value = "", False, bytearray()
        self._path: Path | None = None
        self._stored: BinaryIO | None = None
        self._size = 0
        self._refusal: UnusableInput | None = None

    def callbacks(self) -> Any:
        return {
            "on_part_begin": self._begin,
            "on_header_field": lambda data, start, end: self._header[0].extend(data[start:end]),
            "on_header_value": lambda data, start, end: self._header[1].extend(data[start:end]),
            "on_header_end": self._end_header,
            "on_headers_finished": self._open,
            "on_part_data": self._write,
            "on_part_end": self._end,
        }

    def _begin(self) -> None:
        self._headers.clear()
        self._value = bytearray()

    def _end_header(self) -> None:
        name, value = self._header
        self._headers[bytes(name).lower()] = bytes(value)
        self._header = bytearray(), bytearray()

    def _open(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition"))
        self._name = options.get(b"name", b"").decode("utf-8", "replace")
        self._is_file = b"filename" in options
        given = options.get(b"filename")
        if given and self._path is None:
            self._path = self._folder / safe_name(given.decode("utf-8", "replace"))
            with self._disk():
                self._stored = os.fdopen(open_private(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb")

    def _write(self, data: bytes, start: int, end: int) -> None:
        if not self._is_file:
            self._value += data[start:end]
            if len(self._value) > _LARGEST_FORM:
                raise NotAForm
            return
        self._size += end - start
        if self._size > self._most:
            self._refusal = self._refusal or _too_large(self._most)
        if self._stored is not None and self._refusal is None:
            with self._disk():
                self._stored.write(data[start:end])

    def _end(self) -> None:
        self.close()
        if not self._is_file:
            self.fields.append((self._name, self._value.decode("utf-8", "replace")))

    @contextmanager
    def _disk(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            message = f"the upload cannot be stored: {error.strerror or error}"
            hint = "free disk space, or name the file by its path on this machine: then it is read in place"
            self._refusal = unusable_file("upload-not-stored", message, hint, self._path and self._path.name)

    def finished(self) -> Path:
        if self._refusal is not None:
            raise self._refusal
        if self._path is None:
            message, hint = "no file was chosen", "drop a file on the field, or choose one, and send it again"
            raise unusable_file("upload-missing", message, hint, "upload")
        return self._path

    def close(self) -> None:
        stored, self._stored = self._stored, None
        if stored is not None:
            with self._disk():
                stored.close()

    def discard(self) -> None:
        self.close()
        if self._path is not None:
            self._path.unlink(missing_ok=True)


def _too_large(most: int) -> UnusableInput:
    return unusable_file(
        "upload-too-large",
        f"the file is larger than {most >> 20:,} MB, the limit for uploads",
        "name it by its path on this machine: then it is read in place; or raise IMPORTER_UPLOAD_MEGABYTES",
        "upload",
    )


def safe_name(given: str) -> str:
    """The last part of a file name that a browser sent, without what could lead out of a folder.

    >>> safe_name("../../.ssh/my list.csv"), safe_name("C:\\\\x\\\\..")
    ('my list.csv', 'upload')
    """
    last = re.split(r"[/\\]", given)[-1]
    kept = re.sub(r"[^\w .()+-]", "_", last).strip(" .")
    stem, dot, ending = kept.rpartition(".")
    return (stem[:_LONGEST_NAME] + dot + ending[:10] if dot else kept[:_LONGEST_NAME]) or "upload"
