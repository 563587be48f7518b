"""What only a strange service does with uploads; the rest is in tests/cli/test_documents.py, over HTTP."""

from __future__ import annotations

from pathlib import Path

from importer.ledger import open_ledger
from importer.sending import Cancellation, Document, Uploader
from importer.service import Reply
from importer.settings import UploadForm

FORM = UploadForm("/files/", "multipart", "file", {}, "/id", 1 << 20)


def test_one_id_for_two_documents_stops_the_run(tmp_path: Path) -> None:
    """The place of the ID is wrong then: neither of them has it, and the ledger forgets it."""
    documents = [Document(name, name.encode(), f"{name}.pdf", "pdf", lambda: b"%PDF-1.7") for name in ("ada", "bob")]
    with open_ledger(tmp_path / "ledger.sqlite") as ledger:
        uploader = Uploader(lambda *_: Reply(201, document_id="7"), FORM, ledger, Cancellation(), 1, None, 5.0)
        done = uploader.upload(documents)
        assert ledger.document_ids([one.key for one in documents]) == {}
    assert (done.ids, done.failures) == ({}, {})
    assert done.stop is not None
    assert done.stop.reason == "two documents got the same ID 7 from /id"
