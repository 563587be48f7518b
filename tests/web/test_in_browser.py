"""The ways that people go, in a real browser: by clicks, by the keyboard alone, on a phone, in the dark."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import HEADER, Served, candidate, write_csv
from tests.patience import PATIENCE
from tests.web import walk
from tests.web.conftest import Pages
from tests.web.test_file_step import EXPORT
from tests.web.test_runs import live, people

Start = Callable[..., Pages]
Serve = Callable[..., Served]

_CHROMIUM = Path("/usr/bin/chromium")
_OFFLINE = ("--disable-quic", "--disable-background-networking", "--disable-component-update", "--disable-sync")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="needs a browser")
    if not _CHROMIUM.exists():
        pytest.skip("needs /usr/bin/chromium")
    with playwright.sync_playwright() as started:
        options = ["--no-sandbox", "--disable-gpu", "--no-first-run", *_OFFLINE]
        browser = started.chromium.launch(executable_path=str(_CHROMIUM), args=options)
        yield browser
        browser.close()


class Person:
    """A page of the browser. requests: all addresses that it asked; said: what the console has."""

    def __init__(self, context: Any) -> None:
        self.page = context.new_page()
        self.page.set_default_timeout(PATIENCE * 1000)
        self.requests: list[str] = []
        self.said: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))

    def open(self, found: Pages) -> None:
        self.page.goto(found.server.access.address(found.first.address))
        self.page.wait_for_url(f"**{found.first.address}")

    def main(self, step: str) -> None:
        """Click the main button, which leads to a step."""
        self.page.click(".actions .main")
        self.page.wait_for_url(f"**/{step}")

    def to_match(self) -> None:
        self.main("target")
        self.page.fill("#target", "4f2c9a")
        self.page.click(".actions .main")
        self.page.wait_for_selector("button[form=choice]:has-text('Match')")
        self.main("match")

    def review(self, click: Callable[[], None] | None = None) -> None:
        """Clear every mark of the proposal in the step Match."""
        right = self.page.locator("button:text-is('It is right')")
        while count := right.count():
            (click or right.first.click)()
            right.nth(count - 1).wait_for(state="detached")

    def to_send(self) -> None:
        self.to_match()
        self.review()
        self.main("check")
        self.page.wait_for_selector("a.main")
        self.main("send")


@pytest.fixture
def person(chromium: Any, request: pytest.FixtureRequest) -> Iterator[Person]:
    """A person at a wide screen; or with the options of a context."""
    options = {"viewport": {"width": 1280, "height": 800}, **getattr(request, "param", {})}
    context = chromium.new_context(**options)
    yield Person(context)
    context.close()


def test_from_drop_to_result_by_clicks(pages: Start, tmp_path: Path, person: Person) -> None:
    """A file, uploaded, goes to its result by clicks alone; no request leaves, nothing is in the console."""
    rows = [candidate(0), candidate(1, **{"E-mail": "nazan.kurt(at)example.com"}), candidate(2)]
    file = write_csv(tmp_path / "people.csv", rows)
    found = pages(sandbox=True)
    page = person.page
    page.goto(found.server.access.address())
    page.wait_for_url(f"http://{found.client.host}/")
    page.set_input_files("#upload", file)  # as a drop does
    page.wait_for_url("**/file")
    page.wait_for_selector("text=header found in row 1")
    person.to_send()
    page.click("text=Rehearse with 2 candidates")
    page.wait_for_selector("text=The last run has finished")
    page.click("text=Show its result")
    assert "2 of 3 candidates are in; 1 row needs a fix." in page.inner_text("main")
    page.click("text=Row 3")
    assert "nazan.kurt(at)example.com" in page.inner_text("main")
    assert {address.split("/")[2] for address in person.requests} == {found.client.host}
    assert person.said == []


_FOCUSED = """[document.activeElement.innerText || '', document.activeElement.id,
    document.activeElement === document.body || getComputedStyle(document.activeElement).outlineStyle != 'none']"""


@pytest.mark.net
def test_by_the_keyboard_alone(pages: Start, serve: Serve, person: Person) -> None:
    """Each step is done with Tab, arrows and Enter; where the focus is can always be seen."""
    served = serve()
    found = pages(live(served), file=people(served.door.folder, 3))
    person.open(found)
    page = person.page

    def press(words: str) -> None:
        """Tab to what has these words, and press Enter."""
        for _ in range(200):
            page.keyboard.press("Tab")
            *focused, can_be_seen = page.evaluate(_FOCUSED)
            assert can_be_seen, focused
            if words in focused:
                page.keyboard.press("Enter") if words != "target" else page.keyboard.type("4f2c9a")
                return
        raise AssertionError(f"{words} cannot be reached by Tab")

    press("Use these 7 columns")
    page.wait_for_url("**/target")
    press("target")
    page.keyboard.press("Enter")
    page.wait_for_selector("button[form=choice]:has-text('Match')")
    press(page.inner_text("button[form=choice]:has-text('Match')"))
    page.wait_for_url("**/match")
    person.review(lambda: press("It is right"))
    press("Check 3 rows")
    page.wait_for_selector("a.main")
    press("Prepare to send 3 candidates")
    page.wait_for_url("**/send")
    press("Send 3 candidates")
    page.wait_for_selector("text=The last run has finished")
    assert len(served.accepted) == 3


def test_what_is_typed_while_an_answer_arrives_is_kept(pages: Start, tmp_path: Path, person: Person) -> None:
    """A cell is sent when it is left; the page changes in place while a person types on in the next ones."""
    file = write_csv(tmp_path / "people.csv", [candidate(0), candidate(1, **{"E-mail": "nazan.kurt(at)example.com"})])
    found = pages(sandbox=True, file=file)
    person.open(found)
    page = person.page
    person.to_match()
    person.review()
    person.main("check")
    page.wait_for_selector("a.main")
    held: list[Any] = []

    def hold(route: Any) -> None:
        held.append(route)

    page.route("**/check/cells", hold)

    def go_on() -> None:
        """The answer arrives now."""
        until = time.monotonic() + PATIENCE
        while not held and time.monotonic() < until:
            page.wait_for_timeout(10)
        with page.expect_response("**/check/cells"):
            held.pop(0).continue_()

    cells = [f"#r3c{index}" for index in range(4)]
    page.click(cells[0])
    page.keyboard.type("nazan@example.com")
    page.keyboard.press("Tab")
    page.wait_for_selector(f"{cells[0]}:text-is('nazan@example.com')")
    page.click(cells[1])
    page.keyboard.type("Enge")
    go_on()
    page.wait_for_selector(f"{cells[0]}.corrected")
    page.keyboard.type("lhardt")
    page.keyboard.press("Tab")
    for cell, text in zip(cells[2:], ("Two", "Three"), strict=True):  # before any answer
        page.click(cell)
        page.keyboard.type(text)
        page.keyboard.press("Enter")
    go_on()
    go_on()  # both at once
    page.wait_for_selector("text=4 cells were corrected since this check")
    page.unroute("**/check/cells")
    page.reload()
    expected = ["nazan@example.com", "Engelhardt", "Two", "Three"]
    assert [page.inner_text(cell) for cell in cells] == expected
    page.click(cells[0])
    page.keyboard.type("no")
    page.keyboard.press("Escape")
    assert page.inner_text(cells[0]) == expected[0]
    page.evaluate(
        r"""cell => {
        const pasted = new DataTransfer();
        pasted.setData("text/plain", "Ada\tÖz\r\n");
        document.querySelector(cell).dispatchEvent(
            new ClipboardEvent("paste", {clipboardData: pasted, bubbles: true, cancelable: true}));
    }""",
        cells[1],
    )
    page.wait_for_selector(f"{cells[1]}:text-is('Ada')")
    page.click("#cell-back")
    page.wait_for_selector("text=3 cells were corrected since this check")


def test_nothing_typed_is_lost_or_changed(pages: Start, tmp_path: Path, person: Person) -> None:
    """A request that fails is done again; links and buttons wait for what is typed; signs that are not seen stay."""
    family = "family \u200d joined"
    rows = [candidate(0), candidate(1, **{"E-mail": "nazan.kurt(at)example.com", "First": family}), candidate(2)]
    found = pages(sandbox=True, file=write_csv(tmp_path / "people.csv", rows))
    person.open(found)
    page = person.page
    person.to_match()
    person.review()
    person.main("check")
    page.wait_for_selector("#grid")
    page.click("text=all rows")
    page.wait_for_selector("#r2c1")
    cell = f"#r3c{HEADER.index('First')}"
    page.click(cell)
    page.keyboard.press("F2")
    page.keyboard.type("!")
    page.keyboard.press("Enter")
    page.wait_for_selector(f"{cell}.corrected")
    assert page.get_attribute(cell, "data-text") == f"{family}!"
    page.click(cell)
    page.click("#cell-back")
    page.wait_for_selector(f"{cell}:not(.corrected)")
    assert page.get_attribute(cell, "data-text") == family

    failing = [True]
    page.route("**/check/cells", lambda route: route.abort() if failing and failing.pop() else route.continue_())
    page.click("#r2c1")
    page.keyboard.type("Kept")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=The last change was not stored")
    page.click("#r3c1")
    page.keyboard.type("Two")
    page.click("text=rows with problems")  # it waits until both are stored
    page.wait_for_url("**/check#rows")
    page.click("text=all rows")
    page.wait_for_selector("#r2c1.corrected:text-is('Kept')")
    page.wait_for_selector("#r3c1.corrected:text-is('Two')")

    page.click("#r2c1")
    page.evaluate(
        r"""cell => {
        const pasted = new DataTransfer();
        pasted.setData("text/plain", '"Main ""1""\nBerlin"\nsecond\n');
        document.querySelector(cell).dispatchEvent(
            new ClipboardEvent("paste", {clipboardData: pasted, bubbles: true, cancelable: true}));
    }""",
        "#r2c1",
    )
    page.wait_for_selector("#r3c1:text-is('second')")
    assert page.text_content("#r2c1") == 'Main "1"\nBerlin'
    page.click("#r4c1")
    page.keyboard.type("Last")
    page.locator(".actions .main").click(delay=200)  # what is typed is stored, then all rows are checked again
    page.wait_for_selector("text=Prepare to send")
    page.wait_for_selector("text=3 corrected cells")


def test_the_table_follows_and_the_focus_stays(pages: Start, person: Person) -> None:
    """A change of how the file is read changes the table without a new page; the field that was left is not lost."""
    found = pages(file=EXPORT, sandbox=True)
    person.open(found)
    page = person.page
    page.evaluate("window.stays = true")
    page.fill("#header_row", "2")
    page.keyboard.press("Tab")
    page.wait_for_selector("text=header in row 2")
    assert page.evaluate("[window.stays, document.activeElement.id]") == [True, "header_rows"]


@pytest.mark.parametrize("person", [{"java_script_enabled": False}], indirect=True)
def test_without_scripts(pages: Start, person: Person) -> None:
    """A browser without scripts is told that the page needs them."""
    found = pages()
    person.page.goto(found.server.access.address())
    person.page.wait_for_url(f"http://{found.client.host}/")
    needs = "This page needs JavaScript: allow it in your browser, then reload the page."
    assert person.page.inner_text("noscript") == needs


@pytest.mark.net
def test_live_progress_and_a_closed_browser(pages: Start, serve: Serve, person: Person) -> None:
    """The tab's title has the percentage, pause shows at once; a closed page does not stop the run."""
    served = serve()
    found = pages(live(served), file=people(served.door.folder, 40))
    person.open(found)
    person.to_send()
    page = person.page
    with served.held_after(20):
        page.click(".actions .main")
        served.wait_for(20)
        page.wait_for_selector("text=of 40 rows done")
        page.wait_for_function("/^\\d+ % - /.test(document.title)")
        page.click("button:text-is('Pause')")
        page.wait_for_selector("text=Paused: nothing new is sent until you go on.")
        page.click("button:text-is('Go on')")
        page.wait_for_selector("button:text-is('Pause')")
        page.close()
    assert walk.task_of(found).finished is not None
    assert len(served.accepted) == 40


_LOOKS = ((390, "light"), (1280, "dark"))  # colors are those of the scheme, the layout is that of the width
_VIOLATIONS = """axe.run({resultTypes: ['violations']}).then(
    found => found.violations.map(one => [one.id, one.help, one.nodes.map(node => node.html)]))"""


@pytest.mark.net
@pytest.mark.parametrize("person", [{"bypass_csp": True}], indirect=True)
def test_every_page_is_accessible_and_fits(pages: Start, serve: Serve, person: Person) -> None:
    """On a phone and on a screen, light and dark, axe-core finds nothing on any page, and no page is too wide."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    served = serve({"kind": "reset", "emails": ["person3@example.com"], "when": "after"})
    rows = [candidate(number, Salary="much" if number in (2, 4) else "1000") for number in range(8)]
    rows[2][5] = "perhaps"
    file = write_csv(served.door.folder / "people.csv", rows)
    found = pages({**live(served), "IMPORTER_MAX_ATTEMPTS": "1"}, file=file)
    page = person.page

    def look() -> None:
        wide = "[...document.querySelectorAll('body *')].filter(one => one.getBoundingClientRect().right > innerWidth)"
        page.evaluate(axe.Axe().axe_script)
        for width, scheme in _LOOKS:
            page.set_viewport_size({"width": width, "height": 844})
            page.emulate_media(color_scheme=scheme)
            assert page.evaluate(_VIOLATIONS) == [], (page.url, width, scheme)
            if page.evaluate("document.documentElement.scrollWidth") > width:
                raise AssertionError((page.url, page.evaluate(f"{wide}.map(one => one.outerHTML.slice(0, 80))")))

    page.goto(f"http://{found.client.host}/")
    look()  # no session yet
    person.open(found)
    look()
    page.fill("#skip_rows", "some")
    page.keyboard.press("Tab")
    page.wait_for_selector("#problems")
    assert page.evaluate("document.activeElement.id") == "problems"
    look()
    page.goto(page.url)
    walk.to_result(found)
    for step in ("target", "match", "check", "send", "result", "result/row?number=4"):
        page.goto(f"http://{found.client.host}{walk.address(found, step)}")
        if step == "match":
            assert page.locator(".choices").count() == 1
            assert "2 problems hold it back" in page.inner_text("#candidate")
            page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        look()
    page.goto(f"http://{found.client.host}{walk.address(found, 'check')}?row=4")
    page.click("td[aria-invalid]")
    page.keyboard.type("1000")
    page.keyboard.press("Enter")
    page.click("td.corrected")
    page.wait_for_selector("text=Take back")
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    look()
    page.goto(f"http://{found.client.host}/")
    look()
