"""The request that uploads a document, and the ID in its answer: the service description names the operation only."""

from __future__ import annotations

import base64
import json
import re
import secrets
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from importer.settings import UploadForm

_TYPES: Final = {
    "pdf": "application/pdf",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "doc": "application/msword",
    "rtf": "application/rtf",
    "jpg": "image/jpeg",
    "png": "image/png",
    "gif": "image/gif",
    "txt": "text/plain; charset=utf-8",
}
_SHOWN: Final = 10  # places of an answer
_ID: Final = re.compile(r"(?=.*\d)[0-9A-Za-z_.:=+~-]{1,200}", re.ASCII)


def encoded(form: UploadForm, name: str, kind: str, content: bytes) -> tuple[str, bytes]:
    """The content type and the body of the request. kind: of the document, such as pdf."""
    fields = {key: value.replace("{name}", name) for key, value in form.fields.items()}
    if form.form == "raw":
        return _TYPES.get(kind, "application/octet-stream"), content
    if form.form == "base64_json":
        body = {form.field: base64.b64encode(content).decode(), **fields}
        return "application/json", json.dumps(body, ensure_ascii=False).encode("utf-8", "backslashreplace")
    boundary = f"importer-{secrets.token_hex(16)}"
    parts = [_part(boundary, f'name="{key}"', "text/plain; charset=utf-8", value) for key, value in fields.items()]
    quoted = name.replace("\\", "_").replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
    file = f'name="{form.field}"; filename="{quoted}"'
    head = _part(boundary, file, _TYPES.get(kind, "application/octet-stream"), "")[:-2]
    return f"multipart/form-data; boundary={boundary}", b"".join(
        (*parts, head, content, f"\r\n--{boundary}--\r\n".encode())
    )


def _part(boundary: str, disposition: str, content_type: str, text: str) -> bytes:
    head = f"--{boundary}\r\nContent-Disposition: form-data; {disposition}\r\nContent-Type: {content_type}\r\n\r\n"
    return f"{head}{text}\r\n".encode("utf-8", "backslashreplace")


def document_id(pointer: str, body: bytes) -> str | None:
    """The ID at a JSON Pointer (RFC 6901) of an answer: a number or a text without spaces; None if there is none."""
    try:
        found: Any = json.loads(body)
        for part in pointer.split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            found = found[int(key)] if isinstance(found, list) else found[key]
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        return None
    text = str(found) if type(found) in (int, str) else ""
    return text if _ID.fullmatch(text) else None


def possible_ids(body: bytes) -> str:
    """The places of an answer that could have the ID, with their values: `/content/id = 70000, ...`.

    Raises:
        ValueError, RecursionError: it is not JSON.
    """

    def walk(value: Any, at: str) -> Iterator[str]:
        if isinstance(value, dict | list):
            parts = value.items() if isinstance(value, dict) else enumerate(value)
            for key, one in parts:
                yield from walk(one, f"{at}/{str(key).replace('~', '~0').replace('/', '~1')}")
        elif document_id(at, body) is not None:
            yield f"{at} = {value}"

    return ", ".join(islice(walk(json.loads(body), ""), _SHOWN))
