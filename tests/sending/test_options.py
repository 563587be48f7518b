"""The options of sending."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from importer.problems import UsageError
from importer.sending import ErrorLimit, parse_window


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("25", ErrorLimit(25)),
        ("0", ErrorLimit(0)),
        ("5%", ErrorLimit(5, is_percentage=True)),
        (" 2.5 % ", ErrorLimit(2.5, is_percentage=True)),
        ("100%", ErrorLimit(100, is_percentage=True)),
    ],
)
def test_a_limit_is_read(text: str, limit: ErrorLimit) -> None:
    """A number of rows, or a percentage of them."""
    assert ErrorLimit.parse(text) == limit


@pytest.mark.parametrize("text", ["", "many", "-1", "2.5", "5%%", "101%", "٥"])
def test_a_limit_that_is_not_valid_is_reported(text: str) -> None:
    """The message shows the text and the valid forms."""
    with pytest.raises(UsageError) as caught:
        ErrorLimit.parse(text)
    assert str(caught.value) == (
        f"{text!r} is not a valid limit for errors; use a number of rows (25) or a percentage (5%)"
    )


@pytest.mark.parametrize(
    ("limit", "errors", "ended", "passed"),
    [
        pytest.param("2", 2, 2, False, id="up to the number"),
        pytest.param("2", 3, 100, True, id="one more"),
        pytest.param("0", 1, 1, True, id="none allowed"),
        pytest.param("10%", 19, 19, False, id="too early to judge a percentage"),
        pytest.param("10%", 2, 20, False, id="up to the percentage"),
        pytest.param("10%", 3, 20, True, id="above the percentage"),
    ],
)
def test_when_a_limit_is_passed(limit: str, errors: int, ended: int, passed: bool) -> None:
    """A limit may be reached, but not exceeded."""
    assert ErrorLimit.parse(limit).is_passed_by(errors, ended) is passed


@pytest.fixture
def in_berlin() -> Iterator[None]:
    """A machine with summer time."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = "Europe/Berlin"
    time.tzset()
    yield
    os.environ.pop("TZ")
    if before is not None:
        os.environ["TZ"] = before
    time.tzset()


@pytest.mark.usefixtures("in_berlin")
@pytest.mark.parametrize(
    ("until", "max_runtime", "now", "hours", "flag"),
    [
        pytest.param("06:00", None, "2026-11-23T22:00+01:00", 8, "--until 06:00", id="the next morning"),
        pytest.param("6:00", None, "2026-11-23T05:00+01:00", 1, "--until 6:00", id="the same morning"),
        pytest.param("06:00", None, "2026-11-23T06:00+01:00", 24, "--until 06:00", id="now is the next day"),
        pytest.param("06:00", None, "2026-10-24T22:00+02:00", 9, "--until 06:00", id="the night of 25 hours"),
        pytest.param("06:00", None, "2026-03-28T22:00+01:00", 7, "--until 06:00", id="the night of 23 hours"),
        pytest.param(None, "90m", "2026-11-23T22:00+01:00", 1.5, "--max-runtime 90m", id="a duration"),
        pytest.param("06:00", "4h", "2026-11-23T22:00+01:00", 4, "--max-runtime 4h", id="the first of both"),
        pytest.param("23:00", "4h", "2026-11-23T22:00+01:00", 1, "--until 23:00", id="the first of both, the time"),
    ],
)
def test_a_window_ends_by_the_clock_of_the_machine(
    until: str | None, max_runtime: str | None, now: str, hours: float, flag: str
) -> None:
    """--until is the next time that its clock shows; --max-runtime counts from now."""
    began = datetime.fromisoformat(now).astimezone(UTC)
    window = parse_window(until, max_runtime, began)
    assert window is not None
    assert (window.ends_at - began.timestamp(), window.set_by) == (hours * 3600, flag)
    assert window.waits is (until is not None)


@pytest.mark.parametrize("text", ["6", "24:00", "06:60", "6am", "", "-1:00"])
def test_a_time_of_day_that_is_not_valid_is_reported(text: str) -> None:
    """The message shows the text and the valid form."""
    with pytest.raises(UsageError) as caught:
        parse_window(text, None, datetime.now(UTC))
    assert str(caught.value) == f"{text!r} is not a time of day; write it like 06:00 or 22:30"
