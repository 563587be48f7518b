"""Match and Check in a real browser: a file whose proposal is partly wrong, by clicks and by the keyboard alone."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.web import walk
from tests.web.conftest import Pages
from tests.web.test_in_browser import _FOCUSED, Person, chromium, person
from tests.web.test_match_and_check import odd_file
from tests.web.test_runs import outcomes_of

pytestmark = pytest.mark.net

__all__ = ["chromium", "person"]

Start = Callable[..., Pages]
DONE = "text=6 of 6 required questions are matched"


def _at_match(found: Pages, person: Person) -> Any:
    person.open(found)
    page = person.page
    person.main("target")
    page.fill("#target", "4f2c9a")
    page.click(".actions .main")
    page.wait_for_selector("button[form=choice]:has-text('Match')")
    person.main("match")
    return page


def _choose(page: Any, anchor: str, column: str) -> None:
    """Choose the column of a question, and wait until the page has it."""
    chooser = f"#{anchor} tr:first-child select"
    page.select_option(chooser, column)
    page.wait_for_selector(f"#{anchor} details[open]")


def test_a_wrong_proposal_is_put_right_by_clicks(pages: Start, tmp_path: Path, person: Person) -> None:
    """Columns, an option, the form of a date and a cell; then what is ready is sent."""
    found = pages(file=odd_file(tmp_path), sandbox=True)
    page = _at_match(found, person)
    for anchor, column in (("candidate-email", "Info"), ("candidate-cv", "Ref"), ("answers-phone", "Line")):
        _choose(page, anchor, column)
    page.select_option("#answers-level select[name=option]", "Lead")
    page.click("#answers-level button:text-is('Use these options')")
    page.wait_for_selector("#answers-level.matched")
    page.click("#answers-available_from summary")
    page.uncheck("#answers-available_from input[value='%m/%d/%Y']")
    page.check("#answers-available_from input[value='%d/%m/%Y']")
    page.click("text=Read dates like this")
    page.wait_for_selector("#answers-available_from details[open] td:text-is('2025-04-03')")
    page.wait_for_selector(DONE)
    person.main("check")
    page.wait_for_selector("#rows")
    page.click("#r3c0")
    assert "'bob(at)example.com' is not a valid e-mail address" in page.inner_text("#reason")
    page.keyboard.type("bob@example.com")
    page.keyboard.press("Tab")
    page.wait_for_selector("text=1 cell was corrected since this check")
    page.click("#r3c8")
    page.keyboard.type("1100")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=2 cells were corrected since this check")
    assert "ready (as corrected)" in " ".join(page.inner_text("#rows").split())
    page.click("text=Check 5 rows again")
    page.wait_for_selector("text=Prepare to send 2 candidates")
    person.main("send")
    page.click("text=Rehearse with 2 candidates")
    page.wait_for_selector("text=The last run has finished")
    task = walk.task_of(found)
    assert task.finished is not None
    assert sorted(kind for kind, _ in outcomes_of(task.finished.folder).values()) == ["created"] * 2 + ["invalid"] * 3
    assert person.said == []


def test_a_wrong_proposal_is_put_right_by_the_keyboard(pages: Start, tmp_path: Path, person: Person) -> None:
    """Tab reaches each field, arrows choose, and the focus stays where it was after each change."""
    found = pages(file=odd_file(tmp_path), sandbox=True)
    page = _at_match(found, person)

    def to(wanted: str) -> None:
        """Tab to the element that a selector finds."""
        for _ in range(300):
            *focused, can_be_seen, is_wanted = page.evaluate(
                f"wanted => [...{_FOCUSED}, document.activeElement.matches(wanted)]", wanted
            )
            if is_wanted:
                return
            assert can_be_seen, focused
            page.keyboard.press("Tab")
        raise AssertionError(f"{wanted} cannot be reached by Tab")

    for anchor, column in (("candidate-email", "Info"), ("candidate-cv", "Ref"), ("answers-phone", "Line")):
        to(f"#{anchor} tr:first-child select")
        letter = page.evaluate(f"[...document.activeElement.options].find(o => o.value == '{column}').text[0]")
        page.keyboard.type(letter)
        page.wait_for_selector(f"#{anchor} details[open]")
        assert page.evaluate("document.activeElement.id") == f"column-{anchor}"
    to(".actions .main")
    page.keyboard.press("Enter")
    page.wait_for_url("**/check")
    page.wait_for_selector("#rows")
    to("#grid td")
    for key in ("ArrowRight", "ArrowDown"):  # from the first cell, the name of row 2
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.id") == "r3c0"
    page.keyboard.press("Enter")
    page.keyboard.press("Control+A")
    page.keyboard.type("bob@example.com")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=1 cell was corrected since this check")
    page.keyboard.press("ArrowUp")
    page.wait_for_selector("#cell-back:not([hidden])")
    page.keyboard.press("Delete")
    page.wait_for_selector("#r3c0.bad:text-is('')")


def test_a_choice_that_was_not_sent_yet_stays(pages: Start, tmp_path: Path, person: Person) -> None:
    """An option and a form of dates, chosen but not used yet, are still chosen when another question is changed."""
    page = _at_match(pages(file=odd_file(tmp_path), sandbox=True), person)
    option, date = "#answers-level select[name=option]", "#answers-available_from input[value='%d/%m/%Y']"
    page.select_option(option, "Lead")
    page.click("#answers-available_from summary")
    page.check(date)
    _choose(page, "candidate-email", "Info")
    assert page.input_value(option) == "Lead"
    assert page.is_checked(date)
    page.click("#answers-level button:text-is('Use these options')")
    page.wait_for_selector("#answers-level.matched")
    assert page.is_checked(date)
    page.click("#take-back")
    page.wait_for_selector("#answers-level.unknown")
    assert page.input_value(option) == ""
    assert person.said == []


def test_what_is_chosen_last_counts(pages: Start, tmp_path: Path, person: Person) -> None:
    """Changes one right after the other, and the main button right behind them: all of them are in the mapping."""
    found = pages(file=odd_file(tmp_path), sandbox=True)
    page = _at_match(found, person)
    page.route("**/match*", lambda route: (time.sleep(0.2), route.continue_()))
    for anchor, column in (("candidate-email", "Info"), ("candidate-cv", "Ref"), ("answers-phone", "Line")):
        page.select_option(f"#{anchor} tr:first-child select", column)
    page.select_option("#answers-level select[name=option]", "Lead")
    page.click(".actions .main")
    page.wait_for_url("**/check")
    page.wait_for_selector("#grid")
    (mapping,) = (tmp_path / "results").rglob("odd people.yaml")
    text = mapping.read_text("utf-8")
    assert all(line in text for line in ("email: Info", "cv: Ref", "phone: Line", "Chef: Lead"))


def test_what_is_beside_follows_each_change(pages: Start, tmp_path: Path, person: Person) -> None:
    """The row, its order and what is folded stay; the mapping file shows the lines that were changed."""
    found = pages(file=odd_file(tmp_path), sandbox=True)
    page = _at_match(found, person)
    page.click("text=as in the file")
    page.wait_for_selector("text=Row 2 as it would be sent")
    page.click("#next-row")
    page.wait_for_selector("text=Row 3 as it would be sent")
    assert page.evaluate("document.activeElement.id") == "next-row"
    page.click("#candidate-title")
    page.click("#mapping-title")
    _choose(page, "candidate-email", "Info")
    assert page.inner_text("mark").strip() == "email: Info"
    assert not page.evaluate("document.getElementById('candidate-row').open")
    page.click("#candidate-title")
    assert "'bob(at)example.com' is not a valid e-mail address" in page.inner_text("#candidate")
    page.select_option(".unused li:first-child select", "candidate/cv")
    page.click(".unused li:first-child button")
    page.wait_for_selector("#candidate-cv details[open]")
    page.click("#take-back")
    page.wait_for_selector("#candidate-cv .state.open")
    assert person.said == []


def test_what_is_typed_is_not_lost_by_the_main_button(pages: Start, tmp_path: Path, person: Person) -> None:
    """It names the field whose own button was not pressed, and goes on when that is done."""
    page = _at_match(pages(file=odd_file(tmp_path), sandbox=True), person)
    page.click("#answers-salary summary")
    page.fill("#missing-answers-salary", "a lot")
    page.click(".actions .main")
    assert page.evaluate("document.activeElement.id") == "missing-answers-salary"
    assert "/match" in page.url
    page.click("#answers-salary button:text-is('Read it like this')")
    page.wait_for_selector("#answers-salary details[open]")
    assert page.input_value("#missing-answers-salary") == "a lot"
    person.review()
    page.click(".actions .main")
    page.wait_for_url("**/match?show=open*")  # a required question has no answer yet
