"""What only a strange service does with uploads; the rest is in tests/cli/test_documents.py, over HTTP."""

from __future__ import annotations

import time
from itertools import count
from pathlib import Path
from threading import Lock, Timer

from importer.ledger import open_ledger
from importer.models import OutcomeKind
from importer.sending import Cancellation, Document, Uploader
from importer.sending.uploads import Uploaded
from importer.service import Reply
from importer.settings import UploadForm

FORM = UploadForm("/files/", "multipart", "file", {}, "/id", 1 << 20)


def test_one_id_for_two_documents_stops_the_run(tmp_path: Path) -> None:
    """The place of the ID is wrong then: neither of them has it, and the ledger forgets it."""
    documents = [Document(name, name.encode(), f"{name}.pdf", "pdf", 8, lambda: b"%PDF-1.7") for name in ("ada", "bob")]
    with open_ledger(tmp_path / "ledger.sqlite") as ledger:
        uploader = Uploader(lambda *_: Reply(201, document_id="7"), FORM, "a", ledger, Cancellation(), 1, None, 5.0)
        done = uploader.upload(documents)
        assert ledger.document_ids([one.key for one in documents]) == {}
    assert (done.ids, done.failures) == ({}, {})
    assert done.stop is not None
    assert done.stop.reason == "two documents got the same ID 7 from /id"


def test_an_id_that_a_document_of_an_earlier_run_has_stops_the_run(tmp_path: Path) -> None:
    """Each night has one document: only the ledger knows that both got the same. Another service has IDs of its own."""
    ada, bob, eve = [Document(name, name.encode(), f"{name}.pdf", "pdf", 8, lambda: b"%PDF-1.7") for name in "abe"]
    with open_ledger(tmp_path / "ledger.sqlite") as ledger:

        def upload(one: Document, service: str = "a") -> Uploaded:
            send = lambda *_: Reply(201, document_id="7")  # noqa: E731
            return Uploader(send, FORM, service, ledger, Cancellation(), 1, None, 5.0).upload([one])

        assert (upload(ada).stop, upload(eve, "b").stop) == (None, None)
        found = upload(bob)
        assert ledger.document_ids([ada.key, bob.key, eve.key]) == {ada.key: "7", eve.key: "7"}
    assert found.ids == {}
    assert found.stop is not None
    assert found.stop.reason == "a document of an earlier run has the same ID 7 from /id"


def test_an_operation_that_answers_with_a_page_stops_the_run(tmp_path: Path) -> None:
    """Another one than that of uploads: not every document is left there again and again."""
    documents = [Document(name, name.encode(), f"{name}.pdf", "pdf", 8, lambda: b"%PDF-1.7") for name in "abcdef"]
    calls: list[str] = []

    def send(*given: object) -> Reply:
        calls.append(str(given[1]))
        return Reply(200, "<html>")

    with open_ledger(tmp_path / "ledger.sqlite") as ledger:
        done = Uploader(send, FORM, "a", ledger, Cancellation(), 1, None, 60.0).upload(documents)
    assert done.stop is not None
    assert done.stop.reason == "the answer to an upload (200) has no document ID at /id"
    assert len(calls) == 1


def test_an_upload_that_gave_no_id_is_counted_and_remembered(tmp_path: Path) -> None:
    """Of a run before that was killed, or of a proxy that waited too long (408): the service may have the document."""
    document = Document("a", b"a", "a.pdf", "pdf", 8, lambda: b"%PDF-1.7")
    answers = iter([Reply(408), Reply(400, "no")])
    with open_ledger(tmp_path / "ledger.sqlite") as ledger:
        ledger.write_documents("a", [document.key], {}, [])  # an intent, and no answer
        done = Uploader(lambda *_: next(answers), FORM, "a", ledger, Cancellation(), 1, None, 60.0).upload([document])
        assert ledger.write_documents("a", [document.key], {}, [])[0] == {document.key}
    assert (done.copies.total(), done.failures["a"][0]) == (2, OutcomeKind.INVALID)


def test_a_document_that_cannot_be_read_any_more_is_of_its_rows_only(tmp_path: Path) -> None:
    """The others are uploaded, and the next run tries it again."""

    def gone() -> bytes:
        raise OSError(0, "it was changed since it was looked into")

    ada, bob = Document("a", b"a", "ada.pdf", "pdf", 8, gone), Document("b", b"b", "bob.pdf", "pdf", 8, lambda: b"%PDF")
    with open_ledger(tmp_path / "ledger.sqlite") as ledger:
        send = lambda *_: Reply(201, document_id="7")  # noqa: E731
        done = Uploader(send, FORM, "a", ledger, Cancellation(), 1, None, 60.0).upload([ada, bob])
        assert ledger.document_ids([ada.key, bob.key]) == {bob.key: "7"}
    assert (done.ids, done.stop) == ({"b": "7"}, None)
    kind, problem = done.failures["a"]
    assert kind is OutcomeKind.INVALID
    assert problem.message == "'ada.pdf' cannot be read: it was changed since it was looked into"


def test_a_pause_costs_neither_patience_nor_the_rate(tmp_path: Path) -> None:
    """The requests after it come one by one, and what failed before it is tried again."""
    documents = [Document(str(one), b"%d" % one, "a.pdf", "pdf", 8, lambda: b"%PDF-1.7") for one in range(6)]
    switch, times = Cancellation(), list[float]()

    def send(*_: object) -> Reply:
        times.append(time.monotonic())
        if len(times) == 1:
            switch.pause()
            Timer(1.5, switch.resume).start()
            return Reply(503)
        return Reply(201, document_id=str(next(ids)))

    ids = count(1)
    with open_ledger(tmp_path / "ledger.sqlite") as ledger:
        done = Uploader(send, FORM, "a", ledger, switch, 6, 10.0, 1.2).upload(documents)
    assert (len(done.ids), done.failures) == (6, {})
    assert times[-1] - times[1] > 0.3  # five requests at ten a second, of which the first may be late


def test_a_pause_holds_the_documents_that_have_an_intent_too(tmp_path: Path) -> None:
    """No request begins until the run goes on."""
    documents = [Document(str(one), b"%d" % one, "a.pdf", "pdf", 8, lambda: b"%PDF-1.7") for one in range(20)]
    switch, sent = Cancellation(), list[bool]()

    def send(*_: object) -> Reply:
        sent.append(switch.is_paused)
        if len(sent) == 3:
            switch.pause()
            Timer(0.4, switch.resume).start()
        time.sleep(0.01)
        return Reply(201, document_id=str(next(ids)))

    ids = count(1)
    with open_ledger(tmp_path / "ledger.sqlite") as ledger:
        done = Uploader(send, FORM, "a", ledger, switch, 1, None, 60.0).upload(documents)
    assert (len(done.ids), any(sent)) == (20, False)


def test_few_large_documents_are_in_memory_at_once(tmp_path: Path) -> None:
    """However many threads there are: together they have at most 32 MB, or one document."""
    under_way, most, guard = 0, 0, Lock()

    def read() -> bytes:
        nonlocal under_way, most
        with guard:
            under_way += 1
            most = max(most, under_way)
        return b"%PDF-1.7"

    def send(*_: object) -> Reply:
        nonlocal under_way
        time.sleep(0.02)
        with guard:
            under_way -= 1
            return Reply(201, document_id=str(next(ids)))

    ids = count(1)
    documents = [Document(name, name.encode(), f"{name}.pdf", "pdf", 10 << 20, read) for name in "abcdefgh"]
    with open_ledger(tmp_path / "ledger.sqlite") as ledger:
        done = Uploader(send, FORM, "a", ledger, Cancellation(), 8, None, 60.0).upload(documents)
    assert (len(done.ids), most) == (8, 3)
