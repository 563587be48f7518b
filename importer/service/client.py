"""The operations of the service description, part 4, as plain methods."""

from __future__ import annotations

import base64
import json
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from importer import __version__
from importer.models import Operation, Question, Target
from importer.service.question_list import LIST_LIMIT, RetryPolicy, list_url, read_questions
from importer.service.transport import Failure, Limits, NoReply, RawReply, Request, TransportChoice, open_transport
from importer.service.unspecified_forms import Now, message_of, one_line, readable, retry_after
from importer.settings import Settings, UploadForm

_REQUIRED_KEY: Final = {Operation.APPLY: "message", Operation.ADD_TO_POOL: "id"}  # in the body of a 201 (4.2, 2.5)
_WORDS: Final = ("message", "detail", "error", "errors")
_EXPLAINED_SECONDS: Final = 30.0
_LARGEST_ID: Final = 2**63 - 1  # that the table of a run can keep


class Reply(NamedTuple):
    """A response whose status was read, even if the rest is broken.

    `message`: the body as one readable line, may be ""; for a 201 only if its body is unexpected, and then only what it
    says about success, since a pool's record contains presigned URLs. `retry_after`: seconds, at most a quarter of an
    hour. `email`: the address in the body of a 201, or "". `candidate_id`: the ID of the record (2.5) in the body of a
    pool's 201. `is_outdated`: the token was refused, but there is a new one, which the next request uses.
    `document_id`: of an upload that was accepted.
    """

    status: int
    message: str = ""
    retry_after: float | None = None
    email: str = ""
    candidate_id: int | None = None
    is_outdated: bool = False
    document_id: str | None = None


NOT_JSON: Final = "it is not JSON"  # the answer to an upload
PROBED = "importer-probe"  # a job post that does not exist: a healthy service responds with 404


def service_of(settings: Settings, base_url: str, token: str, connections: int) -> RecruitingService:
    """A service with the limits and formats of these settings."""
    limits = Limits(
        connect=settings.connect_timeout,
        read=settings.read_timeout,
        total=settings.total_timeout,
        proxy=settings.proxy_for(base_url),
        ca_file=settings.ca_file,
    )
    return RecruitingService(
        base_url,
        token,
        limits=limits,
        connections=connections,
        options_separator=settings.options_separator,
        changed_token=settings.changed_token,
    )


class RecruitingService:
    """The recruiting service at one base URL, with one company's token. Thread-safe.

    base_url: scheme, host and optionally a path before /api/v1/; checked by the settings (https, or loopback).
    connections: how many are kept open.
    transport: the HTTP library; "auto" uses the faster one if it is installed.
    changed_token: given the token that was refused (401), returns a new one, if there is one.
    """

    def __init__(
        self,
        base_url: str,
        token: str,
        *,
        limits: Limits | None = None,
        connections: int = 8,
        transport: TransportChoice = "auto",
        options_separator: str | None = None,
        now: Now = lambda: datetime.now(UTC),
        changed_token: Callable[[str], str | None] = lambda _: None,
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._keys = _Keys.of(token)
        self._changed_token, self._renewing = changed_token, threading.Lock()
        self._limits = limits or Limits()
        self._explaining, self._refusal = threading.Lock(), (0.0, NoReply("", may_have_arrived=False))
        self._transport = open_transport(self._limits, connections, transport)
        self._options_separator = options_separator
        self._now = now

    def close(self) -> None:
        self._transport.close()

    def send(self, target: Target, body: bytes) -> Reply | NoReply:
        """Send one application (4.2) or talent pool addition (4.3) once, and wait for the response.

        `body` is the encoded JSON body. Errors of network and service are values, not exceptions: a response whose
        status was read is a Reply, whatever its body.
        """
        if target.operation is Operation.APPLY:
            path = f"/api/v1/job-posts/{target.id}/apply/"
        else:
            path = f"/api/v1/talent-pools/{target.id}/add-candidate/"
        keys = self._keys
        raw = self._ask(Request("POST", self._base_url + path, keys.post_headers, body))
        if isinstance(raw, NoReply):
            return raw
        if raw.status == 201:
            return _created(target.operation, raw.body)
        reply = Reply(raw.status, message_of(raw), retry_after(raw, self._now))
        return reply._replace(is_outdated=True) if reply.status == 401 and self._is_renewed(keys) else reply

    def upload(self, form: UploadForm, name: str, kind: str, content: bytes) -> Reply | NoReply:
        """Upload one document once, and wait for the response; an accepted one has its ID, if that is where it should.

        The operation is only named by the description (part 1): how it is called is a setting.
        """
        content_type, body = encoded(form, name, kind, content)
        keys, parts = self._keys, urlsplit(self._base_url)
        headers = {**keys.headers, "Content-Type": content_type}
        raw = self._ask(Request("POST", f"{parts.scheme}://{parts.netloc}{form.path}", headers, body))
        if isinstance(raw, NoReply):
            return raw
        is_accepted = 200 <= raw.status < 300
        found = document_id(form.id_at, raw.body) if is_accepted else None
        try:
            words = "" if found else possible_ids(raw.body) if is_accepted else message_of(raw)
        except (ValueError, RecursionError):
            words = NOT_JSON
        reply = Reply(raw.status, words, retry_after(raw, self._now), document_id=found)
        return reply._replace(is_outdated=True) if reply.status == 401 and self._is_renewed(keys) else reply

    def probe(self, job_post: str) -> Reply | NoReply:
        """Request a question list (4.1) once, only to see whether the service responds.

        A valid token gets 200, or 404 if the job post does not exist; a refused one gets 401. The `message` of a 200 is
        "" only for JSON: another server may respond with a page.
        """
        raw = self._get(list_url(self._base_url, job_post))
        if isinstance(raw, NoReply):
            return raw
        is_list = raw.status == 200 and raw.body.lstrip().startswith(b"{")
        return Reply(raw.status, "" if is_list else message_of(raw), retry_after(raw, self._now))

    def is_healthy(self) -> bool:
        """Whether the service responds to a harmless request without a server error."""
        reply = self.probe(PROBED)
        return isinstance(reply, Reply) and reply.status < 500

    def questions(self, job_post: str, retry_policy: RetryPolicy | None = None) -> tuple[Question, ...]:
        """The questions of a job post (4.1), with their options split.

        Raises:
            UnusableInput: the job post does not exist or belongs to another company (404), or the response does not
                have the described form.
            StoppedEarly: the service refuses the request or cannot be reached.
        """
        policy = retry_policy or RetryPolicy()

        def get(url: str) -> RawReply | NoReply:
            return policy.ask(lambda: self._get(url, LIST_LIMIT), lambda raw: retry_after(raw, self._now))

        return read_questions(self._base_url, job_post, get, self._options_separator)

    def _get(self, url: str, body_limit: int | None = None) -> RawReply | NoReply:
        keys = self._keys
        raw = self._ask(Request("GET", url, keys.headers, body_limit=body_limit))
        if isinstance(raw, RawReply) and raw.status == 401 and self._is_renewed(keys):
            return self._ask(Request("GET", url, self._keys.headers, body_limit=body_limit))
        return raw

    def _ask(self, request: Request) -> RawReply | NoReply:
        raw = self._transport.send(request)
        if isinstance(raw, NoReply) and raw.reason == Failure.TLS_REFUSED:
            from importer.service.certificates import explained  # rarely needed

            with self._explaining:  # it connects again: once for all senders, and now and then
                if time.monotonic() >= self._refusal[0]:
                    self._refusal = time.monotonic() + _EXPLAINED_SECONDS, explained(raw, request.url, self._limits)
                return self._refusal[1]
        return raw

    def _is_renewed(self, used: _Keys) -> bool:
        """Whether there is another token than the refused one, found by this request or by one before it."""
        with self._renewing:
            if self._keys is used and (token := self._changed_token(used.token)) is not None:
                self._keys = _Keys.of(token)
            return self._keys is not used


@dataclass(frozen=True, repr=False)
class _Keys:
    """A token, and the headers of requests with it."""

    token: str
    headers: dict[str, str]
    post_headers: dict[str, str]

    @classmethod
    def of(cls, token: str) -> _Keys:
        headers = {
            "Authorization": f"Bearer {token}",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "User-Agent": f"importer/{__version__}",
        }
        return cls(token, headers, {**headers, "Content-Type": "application/json"})


def _created(operation: Operation, body: bytes) -> Reply:
    """A 201. Only the e-mail address and a candidate's ID are kept: a pool's record contains presigned URLs."""
    try:
        shown = json.loads(body)
    except (ValueError, RecursionError):
        shown = None
    if not isinstance(shown, dict):
        shown = {}
    words = readable(json.dumps({key: shown[key] for key in _WORDS if shown.get(key)}).encode())
    doubt = ""
    if shown.get("success") in (False, "false"):
        doubt = "created, but the response says that it failed"
    elif _REQUIRED_KEY[operation] not in shown:
        doubt = "created, but the response has an unexpected format"
    email, number = shown.get("email"), shown.get("id")
    is_id = operation is Operation.ADD_TO_POOL and type(number) is int and 0 <= number <= _LARGEST_ID
    return Reply(
        201,
        f"{doubt}: {words}" if doubt and words else doubt,
        email=one_line(email) if isinstance(email, str) else "",
        candidate_id=number if is_id else None,
    )


# --- the request of an upload, and the ID in its answer: the description names the operation only ---


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

    Raises ValueError, RecursionError: it is not JSON.
    """

    def walk(value: Any, at: str) -> Iterator[str]:
        if isinstance(value, dict | list):
            parts = value.items() if isinstance(value, dict) else enumerate(value)
            for key, one in parts:
                yield from walk(one, f"{at}/{str(key).replace('~', '~0').replace('/', '~1')}")
        elif document_id(at, body) is not None:
            yield f"{at} = {value}"

    return ", ".join(islice(walk(json.loads(body), ""), _SHOWN))
