"""The operations of the service description, part 4, as plain methods."""

from __future__ import annotations

import base64
import json
import re
import threading
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import urlsplit

import urllib3

from importer import __version__
from importer.models import Operation, Question, Target
from importer.service.certificates import explained
from importer.service.question_list import LIST_LIMIT, RetryPolicy, list_url, read_questions
from importer.service.transport import Failure, Limits, NoReply, RawReply, Request, Transport
from importer.service.unspecified_forms import message_of, one_line, readable, retry_after
from importer.settings import Settings, UploadForm

_REQUIRED_KEY: Final = {Operation.APPLY: "message", Operation.ADD_TO_POOL: "id"}  # in the body of a 201 (4.2, 2.5)
_WORDS: Final = ("message", "detail", "error", "errors")
_LARGEST_ID: Final = 2**63 - 1  # that the table of a run can keep


class Reply(NamedTuple):
    """A response whose status was read, even if the rest is broken.

    `message`: the body as one readable line, may be ""; for a 201 only if its body is unexpected, and then only what it
    says about success, since a pool's record contains presigned URLs. `retry_after`: seconds, at most a quarter of an
    hour. `email`: the address in the body of a 201, or "". `candidate_id`: the ID of the record (2.5) in the body of a
    pool's 201. `document_id`: of an upload that was accepted.
    """

    status: int
    message: str = ""
    retry_after: float | None = None
    email: str = ""
    candidate_id: int | None = None
    document_id: str | None = None


EMPTY: Final = "(empty)"  # the answer to an upload
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
        base_url, token, limits=limits, connections=connections, options_separator=settings.options_separator
    )


TransportChoice = Literal["auto", "requests", "curl"]
"""auto: pycurl if it is installed and new enough, else requests."""


class RecruitingService:
    """The recruiting service at one base URL, with one company's token. Thread-safe.

    base_url: scheme, host and optionally a path before /api/v1/; checked by the settings (https, or loopback).
    connections: how many requests keeps open; pycurl has one for each thread.
    transport: the HTTP library; "auto" uses the faster one if it is installed.
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
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._headers = {
            "Authorization": f"Bearer {token}",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "User-Agent": f"importer/{__version__}",
        }
        self._post_headers = {**self._headers, "Content-Type": "application/json"}
        self._limits = limits or Limits()
        self._explaining = threading.Lock()
        self._tls_refusal: NoReply | None = None
        self._transport = open_transport(self._limits, connections, transport)
        self._options_separator = options_separator

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
        raw = self._ask(Request("POST", self._base_url + path, self._post_headers, body))
        if isinstance(raw, NoReply):
            return raw
        if raw.status == 201:
            return _created(target.operation, raw.body)
        return Reply(raw.status, message_of(raw), retry_after(raw))

    def upload(self, form: UploadForm, content_type: str, body: bytes) -> Reply | NoReply:
        """Upload one document once, and wait for the response; an accepted one has its ID, if that is where it should.

        The operation is only named by the description (part 1): how it is called is a setting. body: of `upload_body`.
        """
        parts = urlsplit(self._base_url)
        headers = {**self._headers, "Content-Type": content_type}
        raw = self._ask(Request("POST", f"{parts.scheme}://{parts.netloc}{form.path}", headers, body))
        if isinstance(raw, NoReply):
            return raw
        is_accepted = 200 <= raw.status < 300
        found = document_id(form.id_at, raw.body) if is_accepted else None
        if is_accepted and found is None and not raw.complete:
            return NoReply("its answer was cut off", may_have_arrived=True)
        shown = one_line(raw.body.decode(errors="replace")) or EMPTY
        words = "" if found else shown if is_accepted else message_of(raw)
        return Reply(raw.status, words, retry_after(raw), document_id=found)

    def probe(self, job_post: str) -> Reply | NoReply:
        """Request a question list (4.1) once, only to see whether the service responds.

        A valid token gets 200, or 404 if the job post does not exist; a refused one gets 401. The `message` of a 200 is
        "" only for JSON: another server may respond with a page.
        """
        raw = self._get(list_url(self._base_url, job_post))
        if isinstance(raw, NoReply):
            return raw
        is_list = raw.status == 200 and raw.body.lstrip().startswith(b"{")
        return Reply(raw.status, "" if is_list else message_of(raw), retry_after(raw))

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
            return policy.ask(lambda: self._get(url, LIST_LIMIT), retry_after)

        return read_questions(self._base_url, job_post, get, self._options_separator)

    def _get(self, url: str, body_limit: int | None = None) -> RawReply | NoReply:
        return self._ask(Request("GET", url, self._headers, body_limit=body_limit))

    def _ask(self, request: Request) -> RawReply | NoReply:
        raw = self._transport.send(request)
        if isinstance(raw, NoReply) and raw.reason == Failure.TLS_REFUSED:
            with self._explaining:  # it connects again: once for all senders
                self._tls_refusal = self._tls_refusal or explained(raw, request.url, self._limits)
                return self._tls_refusal
        return raw


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


# --- the HTTP library ---


def open_transport(limits: Limits, connections: int, choice: TransportChoice = "auto") -> Transport:
    """The transport with the chosen library."""
    curl = "" if choice == "requests" else _curl()
    if not isinstance(curl, str):
        return curl(limits)
    if choice == "curl":
        raise ImportError(curl)
    from importer.service.requests_transport import RequestsTransport  # slow to load, and most commands send nothing

    return RequestsTransport(limits, connections)


def describe_transport() -> str:
    """The library that is used, for a person."""
    if isinstance(why_not := _curl(), str):
        return f"requests ({why_not}; for more speed: pip install 'candidate-importer[fast]')"
    return f"pycurl {version('pycurl')}"


def _curl() -> Callable[[Limits], Transport] | str:
    """The class of the transport with pycurl, or the reason why it cannot be used."""
    try:
        from importer.service.curl_transport import IS_NEW_ENOUGH, CurlTransport
    except ImportError:
        return "pycurl is not installed"
    return CurlTransport if IS_NEW_ENOUGH else "pycurl or its libcurl is too old"


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
_ID: Final = re.compile(r"(?=.*\d)[0-9A-Za-z_.:=+~-]{1,200}", re.ASCII)


def upload_body(form: UploadForm, name: str, kind: str, content: bytes) -> tuple[str, bytes]:
    """The content type and the body of the request. kind: of the document, such as pdf."""
    name = name.encode("utf-8", "backslashreplace").decode()
    content_type = _TYPES.get(kind, "application/octet-stream")
    fields = {key: value.replace("{name}", name) for key, value in form.fields.items()}
    if form.form == "raw":
        return content_type, content
    if form.form == "base64_json":
        body = {form.field: base64.b64encode(content).decode(), **fields}
        return "application/json", json.dumps(body, ensure_ascii=False).encode()
    file = name, content, content_type
    encoded_body, multipart = urllib3.encode_multipart_formdata([*fields.items(), (form.field, file)])
    return multipart, encoded_body


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
