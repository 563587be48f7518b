"""report.html: one page that shows what happened and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from importer.models import Outcome, OutcomeKind
from importer.report.write import write_report
from tests.report.building import bad_degree, bad_mobile, facts_with, refused, row

_CHROMIUM = Path("/usr/bin/chromium")


class _Texts(HTMLParser):
    """The visible texts of a page, and every address in it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.addresses: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "action", "srcset")]

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append(" ".join(data.split()))


def _page(folder: Path, *outcomes: Outcome, rows: Any = None, **facts: Any) -> str:
    read = rows or [row(each.row) for each in outcomes]
    write_report(folder, facts_with(**facts), read, outcomes)
    return (folder / "report.html").read_text("utf-8")


def _some_outcomes() -> list[Outcome]:
    first, second = row(4, "0004", "ada@example.com", "call me", "Ph.D."), row(5)
    return [
        Outcome(2, OutcomeKind.CREATED, 201, 1),
        Outcome(3, OutcomeKind.ALREADY_EXISTS, 409, 2),
        Outcome(4, OutcomeKind.INVALID, problems=(bad_degree(first), bad_mobile(first))),
        Outcome(5, OutcomeKind.REJECTED, 400, 1, (refused(f"the service said: {second.cells[1]} is banned"),)),
    ]


def _some_page(folder: Path, **facts: Any) -> str:
    rows = [row(2), row(3), row(4, "0004", "ada@example.com", "call me", "Ph.D."), row(5)]
    return _page(folder, *_some_outcomes(), rows=rows, **facts)


def test_what_happened_and_what_to_do(tmp_path: Path) -> None:
    """The sentence, then the causes with their cells, what to click and to type, and each outcome with its file."""
    texts = _Texts(_some_page(tmp_path)).texts
    everything = " ".join(texts)
    assert "Finished: 2 of 4 rows imported, 2 to fix" in texts
    for label, file in (("created", "201_ created.csv"), ("invalid", "invalid.csv")):
        assert re.search(rf"{label} 1 [a-z ;()0-9]*{file}", everything), (label, everything)
    assert texts.index("What to fix") < texts.index("What to do next") < texts.index("Outcomes")
    assert "On the page of importer web: Correct rows here At the terminal: importer run " in everything
    assert "'call me' is not a valid phone number" in texts
    assert re.search("What to do: write it with its country C4 · invalid · phone-invalid", everything)
    assert "the service said: person5@example.com is banned" in texts
    assert any(text.startswith("importer run ") and "report.xlsx" in text for text in texts)


def test_no_request_leaves_the_page(tmp_path: Path) -> None:
    """The page has no script, refers only to files beside it, and its policy forbids everything else."""
    html = _some_page(tmp_path)
    assert "<script" not in html
    assert "default-src 'none'" in html
    addresses = [each for each in _Texts(html).addresses if each != "data:,"]
    assert addresses
    assert all((tmp_path / each).is_file() for each in addresses)


def test_texts_stay_texts(tmp_path: Path) -> None:
    """Markup, quotes and control characters in cells, columns and responses are shown, never interpreted."""
    payload = "<script>alert(1)</script>\"'{{7*7}}&amp;\x1b[31m\u202e"
    html = _page(tmp_path, Outcome(2, OutcomeKind.REJECTED, 400, 1, (refused(payload, payload),)))
    assert "<script" not in html
    shown = "<script>alert(1)</script>\"'{{7*7}}&amp;\\u001b[31m\\u202e"
    assert _Texts(html).texts.count(shown) == 2  # what was said, and what to do
    assert not {"\x1b", "\u202e"} & set(html)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="needs a browser")
    if not _CHROMIUM.exists():
        pytest.skip("needs /usr/bin/chromium")
    offline = ["--disable-quic", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(
            executable_path=str(_CHROMIUM), args=["--no-sandbox", "--disable-gpu", "--no-first-run", *offline]
        )
        yield chromium
        chromium.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_a_browser(browser: Any, tmp_path: Path, scheme: str) -> None:
    """No request leaves the page, nothing is in the console, it is accessible, and fits on a phone and a screen."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    _some_page(tmp_path, sandbox=True)
    context = browser.new_context(viewport={"width": 390, "height": 800}, color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    requests: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    address = (tmp_path / "report.html").as_uri()
    page.goto(address)
    assert requests == [address]
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        found = axe.Axe().run(page)
        assert not found.violations_count, found.generate_report()
    assert said == []
    context.close()
