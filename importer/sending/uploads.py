"""Uploads documents before the rows that need them: each content once, its intent in the ledger before, its ID after.

The service knows no key for an upload: if an answer is lost, the document is uploaded again, and the first one belongs
to nobody. It is never the document of another person: an ID is recorded for the content that was sent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from threading import Event
from typing import Any, Final, NamedTuple, TypeGuard

import tenacity

from importer.ledger import Ledger
from importer.models import OutcomeKind, Stop
from importer.problems import Problem, UnusableInput
from importer.sending.explanations import INTERRUPTED, LEDGER_LOST, window_over
from importer.sending.options import Cancellation, Window
from importer.sending.pace import Pace
from importer.sending.senders import TOO_MANY, wait_after
from importer.service import EMPTY, NoReply, Reply, upload_body
from importer.settings import UploadForm

_LOOK: Final = 0.1  # seconds between two looks at a stop
_REFUSALS: Final = frozenset({408, 423, 425, 429})  # to be repeated
_NOT_OF_THE_FILE: Final = frozenset({401, 403, 404, 405, 410})
_NOT_SENT: Final = NoReply("the run stopped", may_have_arrived=False)
_MOST_EMPTY: Final = 3  # empty answers to a document, before any with an ID: it is another operation
_MOST_FAILURES: Final = 3  # one after the other: the service is down
_AHEAD: Final = 8  # documents for each thread: while a turn of the ledger is written, others go on
_READERS: Final = 3  # threads; each keeps memory of the largest documents that it has read
_MOST_BYTES: Final = 32 << 20  # under way at once, or one document


class Document(NamedTuple):
    """A document of a row. key: of its content in the ledger; kind: such as pdf; size: in bytes; read: its content."""

    sha256: str
    key: bytes
    name: str
    kind: str
    size: int
    read: Callable[[], bytes]


_Body = tuple[str, bytes]  # the content type, and the body
SendUpload = Callable[[UploadForm, str, bytes], Reply | NoReply]


@dataclass(slots=True)
class Uploaded:
    """What became of documents, by SHA-256: their IDs, or the outcome of their rows and why.

    stop: why the others were not uploaded. copies: how often the document of a key may have arrived without an ID: in
    this run, and once if one before it left none.
    """

    ids: dict[str, str] = field(default_factory=dict)
    failures: dict[str, tuple[OutcomeKind, Problem]] = field(default_factory=dict)
    stop: Stop | None = None
    copies: Counter[bytes] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Uploader:
    """Uploads with some threads. service: that gives the IDs; patience: seconds for which one is tried; window: in
    which it may be; taken: IDs of other documents; on_uploaded: told how many are done.
    """

    send: SendUpload
    form: UploadForm
    service: str
    ledger: Ledger
    cancellation: Cancellation
    concurrency: int
    rate: float | None
    patience: float
    window: Window | None = None
    taken: set[str] = field(default_factory=set)
    on_uploaded: Callable[[int], None] = lambda _: None

    def upload(self, documents: Sequence[Document]) -> Uploaded:
        """Upload them in this order, until they are done or something stops it."""
        done, waiting, pending = Uploaded(), list(reversed(documents)), dict[Future[Reply | NoReply | str], Document]()
        failed, pace, has_ended = 0, Pace(self.rate), Event()
        keys: dict[str, bytes] = {}  # of the documents with an ID, by SHA-256
        answered, forgotten = list[str](), list[bytes]()  # what the ledger does not know yet
        with (
            ThreadPoolExecutor(_READERS, "reader") as readers,
            ThreadPoolExecutor(self.concurrency, "uploader") as pool,
        ):
            try:
                while pending or answered or forgotten or (waiting and done.stop is None):
                    if self.cancellation.is_set():
                        done.stop = done.stop or INTERRUPTED
                    if self.window is not None and self.cancellation.time() >= self.window.ends_at:
                        done.stop = done.stop or window_over(self.window.set_by)
                    if done.stop is not None:
                        has_ended.set()
                        readers.shutdown(wait=False, cancel_futures=True)
                    batch = self._next(waiting, pending) if done.stop is None else []
                    if batch or answered or forgotten:
                        found = {keys[each]: done.ids[each] for each in answered if each in keys}
                        intended = [each.key for each in batch]
                        again, of_others = self.ledger.write_documents(self.service, intended, found, forgotten)
                        done.copies.update(again)
                        for shared in of_others:
                            hint = "correct upload_id_at; if the service was reset, use another ledger"
                            self._refuse_shared(shared, done, "a document of an earlier run has", hint)
                        if found:
                            self.on_uploaded(len(done.ids))
                        answered, forgotten = [], []
                    for document in batch:
                        body = readers.submit(self._body_of, document)  # ahead of its turn
                        pending[pool.submit(self._upload, document, body, pace, has_ended, done)] = document
                    if waiting and not pending and done.stop is None:  # it is paused
                        self.cancellation.sleep(has_ended, _LOOK)
                    ended, _ = wait(pending, timeout=_LOOK, return_when=FIRST_COMPLETED)
                    for each in ended:
                        document = pending.pop(each)
                        answer = each.result()
                        failed = 0 if self._judge(document, answer, done) else failed + 1
                        if document.sha256 in done.ids:
                            keys[document.sha256] = document.key
                            answered.append(document.sha256)
                        elif not _may_be_there(answer) and document.key not in done.copies:
                            forgotten.append(document.key)
                    if len(keys) > len(done.ids):  # two got the same ID: neither has it
                        forgotten += [keys.pop(each) for each in {*keys} - {*done.ids}]
                    if failed >= _MOST_FAILURES and done.stop is None:
                        reason = next(reversed(done.failures.values()))[1].message
                        hint = "wait until the service is there, then run the same command again"
                        done.stop = Stop("uploads-failed", f"no document can be uploaded: {reason}", hint)
            except UnusableInput as error:
                done.stop = Stop(LEDGER_LOST, error.problems[0].message, error.problems[0].hint)
            finally:
                has_ended.set()
                readers.shutdown(wait=False, cancel_futures=True)
        return done

    def _next(self, waiting: list[Document], pending: Mapping[Any, Document]) -> list[Document]:
        """Those that may be uploaded now, taken from the ones that wait."""
        batch, under_way = list[Document](), sum(each.size for each in pending.values())
        while waiting and not self.cancellation.is_paused and len(pending) + len(batch) < _AHEAD * self.concurrency:
            if under_way and under_way + waiting[-1].size > _MOST_BYTES:
                break
            under_way += waiting[-1].size
            batch.append(waiting.pop())
        return batch

    def _judge(self, document: Document, answer: Reply | NoReply | str, done: Uploaded) -> bool:
        """Note what an answer means; False if the document may be uploaded by a later run."""
        name, again = f"'{document.name}'", "run the same command again"
        if answer is _NOT_SENT:
            return True
        if isinstance(answer, str):  # it cannot be read any more
            problem = Problem("document-unusable", f"{name} {answer}", again)
            done.failures[document.sha256] = OutcomeKind.INVALID, problem
            return True
        if isinstance(answer, Reply) and answer.document_id is not None:
            if answer.document_id in self.taken:
                hint = "correct upload_id_at; importer doctor --try-upload FILE shows an answer"
                self._refuse_shared(answer.document_id, done, "two documents got", hint)
                return True
            self.taken.add(answer.document_id)
            done.ids[document.sha256] = answer.document_id
            return True
        if _has_no_id(answer):
            hint = "correct upload_id_at; importer doctor --try-upload FILE shows an answer"
            reason = f"the answer to an upload ({answer.status}) has no document ID at {self.form.id_at}"
            done.stop = done.stop or Stop("upload-refused", reason, hint)
            return True
        words = f": {answer.message}" if isinstance(answer, Reply) and answer.message else ""
        if isinstance(answer, Reply) and (answer.status in _NOT_OF_THE_FILE or 300 <= answer.status < 400):
            reason = f"the service does not take uploads at {self.form.path} ({answer.status}{words})"
            hint = "check the token and the settings of uploads with importer doctor --try-upload FILE"
            done.stop = done.stop or Stop("upload-refused", reason, hint)
            return True
        if isinstance(answer, Reply) and answer.status < 500 and answer.status not in _REFUSALS:
            message = f"the service refused the document {name} ({answer.status}{words})"
            problem = Problem("document-refused", message, "replace it with a file that the service takes")
            done.failures[document.sha256] = OutcomeKind.INVALID, problem
            return True
        reason = answer.reason if isinstance(answer, NoReply) else f"the service answered {answer.status}{words}"
        problem = Problem("document-not-uploaded", f"the document {name} was not uploaded: {reason}", again)
        done.failures[document.sha256] = OutcomeKind.FAILED, problem
        return False

    def _refuse_shared(self, document_id: str, done: Uploaded, who: str, hint: str) -> None:
        """Stop, since another document has this ID, in this run or an earlier one: neither can be right."""
        done.ids = {sha256: each for sha256, each in done.ids.items() if each != document_id}
        reason = f"{who} the same ID {document_id} from {self.form.id_at}"
        done.stop = done.stop or Stop("upload-refused", reason, hint)

    # --- on a thread of its own ---

    def _upload(
        self, document: Document, read: Future[_Body], pace: Pace, has_ended: Event, done: Uploaded
    ) -> Reply | NoReply | str:
        """Upload one until the service has answered for good, or patience is over."""
        clock = self.cancellation
        try:
            body = read.result()
        except CancelledError:
            return _NOT_SENT
        except OSError as error:
            return f"cannot be read: {error.strerror or error}"
        since = clock.now()

        def once() -> Reply | NoReply:
            nonlocal since
            is_held = True
            while is_held and not has_ended.is_set():
                began = clock.now()
                while clock.is_paused and not has_ended.is_set():
                    clock.sleep(has_ended, _LOOK)
                now = clock.now()
                since += now - began  # a paused run does not give up
                clock.sleep(has_ended, pace.next_turn(now) - now)
                is_held = clock.is_paused
            if has_ended.is_set():
                return _NOT_SENT
            answer = self.send(self.form, *body)
            pace.answered(clock.now(), is_refused=isinstance(answer, Reply) and answer.status in TOO_MANY)
            if _may_be_there(answer) and not (isinstance(answer, Reply) and answer.document_id):
                done.copies[document.key] += 1
            return answer

        def is_to_repeat(state: tenacity.RetryCallState) -> bool:
            answer = _result(state)
            if isinstance(answer, Reply) and answer.message == EMPTY and 200 <= answer.status < 300:
                return bool(done.ids) or state.attempt_number < _MOST_EMPTY
            return _is_to_repeat(answer)

        retrying = tenacity.Retrying(
            retry=is_to_repeat,
            wait=lambda state: min(
                wait_after(_result(state), state.attempt_number), max(since + self.patience - clock.now(), 0.0)
            ),
            stop=lambda _: has_ended.is_set() or clock.now() - since >= self.patience,
            sleep=lambda seconds: clock.sleep(has_ended, seconds),
            retry_error_callback=_result,
        )
        last: Reply | NoReply = retrying(once)
        if _has_no_id(last):
            has_ended.set()  # at once: the others would get none either
        return last

    def _body_of(self, document: Document) -> _Body:
        return upload_body(self.form, document.name, document.kind, document.read())


def _has_no_id(answer: Reply | NoReply) -> TypeGuard[Reply]:
    return isinstance(answer, Reply) and 200 <= answer.status < 300 and answer.document_id is None


def _may_be_there(answer: Reply | NoReply | str) -> bool:
    """Whether the service may have the document after this answer."""
    if isinstance(answer, str):
        return False
    if isinstance(answer, NoReply):
        return answer.may_have_arrived
    return answer.status == 408 or not 300 <= answer.status < 500


def _is_to_repeat(answer: Reply | NoReply) -> bool:
    if isinstance(answer, NoReply):
        return True
    return answer.status >= 500 or answer.status in _REFUSALS


def _result(state: tenacity.RetryCallState) -> Reply | NoReply:
    assert state.outcome is not None  # tenacity calls this only after an attempt
    found: Reply | NoReply = state.outcome.result()
    return found
