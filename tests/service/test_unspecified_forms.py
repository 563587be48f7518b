"""An error body of any form becomes one readable line."""

from __future__ import annotations

import time

import pytest

from importer.service.unspecified_forms import LONGEST_LINE, readable

SHAPES = [
    pytest.param(b"", "", "", id="nothing"),
    pytest.param(b"  \n ", "", "", id="blanks"),
    pytest.param(b'{"email": ["Enter a valid e-mail."]}', "", "email: Enter a valid e-mail.", id="object of lists"),
    pytest.param(
        b'{"email": ["Wrong."], "cv": ["Missing.", "Required."]}',
        "",
        "email: Wrong.; cv: Missing.; cv: Required.",
        id="several fields",
    ),
    pytest.param(b'["First.", "Second."]', "", "First.; Second.", id="list"),
    pytest.param(b'{"detail": "No."}', "", "No.", id="detail"),
    pytest.param(b'{"success": "ERROR", "message": "No."}', "", "No.", id="message with a marker"),
    pytest.param(b'{"status": "ERROR"}', "", "status: ERROR", id="only a marker"),
    pytest.param(
        b'{"errors": {"answers": [{}, {"answer": ["Not a date."]}]}}',
        "",
        "answers 2.answer: Not a date.",
        id="nested, with the position in a list",
    ),
    pytest.param(b'{"error": {"message": "No.", "code": 17}}', "", "No.", id="nested message"),
    pytest.param(b'"just text"', "", "just text", id="a JSON string"),
    pytest.param(b"plain text", "text/plain", "plain text", id="plain text"),
    pytest.param(b"null", "", "", id="null"),
    pytest.param(
        b"<html><head><title>502 Bad Gateway</title></head><body><h1>Bad <b>Gateway</b></h1></body></html>",
        "text/html",
        "an HTML page: Bad Gateway",
        id="an HTML page",
    ),
    pytest.param(
        b"<!DOCTYPE html><title>Oops &amp; sorry</title>", "", "an HTML page: Oops & sorry", id="HTML unannounced"
    ),
    pytest.param(b'{"detail": "a\\u001b[31m\\nb\\u202ec"}', "", r"a [31m b\u202ec", id="control signs and line breaks"),
    pytest.param("Größe".encode("latin-1"), "", "Gr\ufffd\ufffde", id="not UTF-8"),
    pytest.param(
        b'{"detail": "see https://files.example.com/cv.pdf?X-Signature=abc&k=v"}',
        "",
        "see https://files.example.com/cv.pdf",
        id="a presigned URL loses its signature",
    ),
    pytest.param(b'{"detail": "bad header Bearer abc.def"}', "", "bad header (token)", id="a token is not repeated"),
    pytest.param(b"[" * 100_000, "", "[" * (LONGEST_LINE - 1) + "…", id="hostile depth"),
]


@pytest.mark.parametrize(("body", "content_type", "line"), SHAPES)
def test_a_body_is_read_into_one_line(body: bytes, content_type: str, line: str) -> None:
    """All common forms are reduced to their message."""
    assert readable(body, content_type) == line


def test_a_long_body_is_capped() -> None:
    """A page of text does not fill a report."""
    assert len(readable(b'{"detail": "' + b"x" * 5000 + b'"}')) == LONGEST_LINE


HUGE = [
    pytest.param(b"<title>" * 36_000, "text/html", id="titles that do not end"),
    pytest.param(b"<h1>" * 65_000, "text/html", id="headings that do not end"),
    pytest.param(b"http://" * 37_000, "", id="addresses in a row"),
    pytest.param(b'["' + b"http://" * 37_000 + b'"]', "", id="addresses in JSON"),
]


@pytest.mark.parametrize(("body", "content_type"), HUGE)
def test_a_huge_body_is_read_quickly(body: bytes, content_type: str) -> None:
    """Meanwhile no other response and no Ctrl-C is handled; it once took half a minute."""
    began = time.process_time()
    assert len(readable(body, content_type)) <= LONGEST_LINE
    assert time.process_time() - began < 5


def test_a_lone_surrogate_is_left_out() -> None:
    """JSON can contain one, UTF-8 cannot."""
    assert readable(rb'{"first_name": "not valid: \ud83d!"}') == "first_name: not valid: !"
