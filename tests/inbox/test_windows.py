"""until and max_runtime in inbox.toml: when the sending of files ends, and what becomes of those that wait."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from importer.app.orders import Planned, Window, ignore
from importer.inbox.folders import Inbox, Windows
from importer.inbox.happened import FileLeft
from importer.inbox.rules import FileRule, Rules
from importer.inbox.status import status_of
from tests.cli.conftest import Served
from tests.inbox.conftest import RULES, night_of

BEGAN = datetime(2026, 3, 1, 22, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def utc() -> Iterator[None]:
    """The clock of the machine shows the time of UTC."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = "UTC"
    time.tzset()
    yield
    os.environ.pop("TZ")
    if before is not None:
        os.environ["TZ"] = before
    time.tzset()


@pytest.mark.parametrize(
    ("of_inbox", "of_rule", "hours", "set_by"),
    [
        pytest.param({"until": "06:00"}, {}, 8, 'until = "06:00"', id="until of the inbox"),
        pytest.param({"until": "06:00"}, {"until": "04:00"}, 6, 'until = "04:00"', id="the section wins"),
        pytest.param({"max_runtime": "4h"}, {}, 4, 'max_runtime = "4h"', id="from the start of the pass"),
        pytest.param({}, {"max_runtime": "4h"}, 5, 'max_runtime = "4h"', id="from its first file"),
        pytest.param({"max_runtime": "2h"}, {"max_runtime": "4h"}, 5, 'max_runtime = "4h"', id="its own runtime"),
        pytest.param({"until": "23:30"}, {"max_runtime": "4h"}, 1.5, 'until = "23:30"', id="what comes first"),
    ],
)
def test_a_window_is_computed_once_in_a_pass(
    of_inbox: dict[str, str], of_rule: dict[str, str], hours: float, set_by: str
) -> None:
    """By the start of the pass, or by the first file of its section; the next file, and a later day, change nothing."""
    rule = replace(FileRule("*.csv", Path("m.yaml")), **of_rule)
    now = [BEGAN]
    windows = Windows(Inbox(Path("night"), Rules((rule,), **of_inbox)), None, lambda: now[0])
    ends_at = (BEGAN + timedelta(hours=hours)).timestamp()
    now[0] += timedelta(hours=1)
    assert windows.of(rule) == Window(ends_at, f"{set_by} in night/inbox.toml", waits="until" in of_inbox)
    assert windows.over(rule) is None
    now[0] += timedelta(days=1)
    assert windows.over(rule) == windows.of(rule)
    given = Window(0.0, "--until 05:00", waits=True)
    windows = Windows(Inbox(Path("night"), Rules((rule,), **of_inbox)), given, lambda: now[0])
    assert (windows.of(rule), windows.over(rule)) == (given, None)


def test_the_end_of_a_window_leaves_the_files_of_its_section_for_the_next_pass(
    serve: Callable[..., Served], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one that was being sent is continued then, the next one is not begun, and other files are still imported."""
    rules = f'{RULES}max_runtime = "1h"\n' + RULES.replace("people", "staff")
    night = night_of(serve(), monkeypatch, rules)  # its nights are long ago, so the time of a run is over at once
    night.drop("people1.csv", range(2))
    night.drop("people2.csv", range(2, 4))
    night.drop("staff.csv", range(4, 6))

    def hours_pass(event: object) -> None:
        night.at += timedelta(hours=2 if isinstance(event, Planned) else 0)

    night.listen = hours_pass
    assert night.run() == 5
    why = 'waits for the next pass: its time for sending is over (max_runtime = "1h" in inbox/inbox.toml)'
    assert [event for event in night.events if isinstance(event, FileLeft)] == [
        FileLeft("people2.csv", why, is_odd=False, is_late=True)
    ]
    assert [reason.text for reason in night.ended[0].reasons] == [
        'the time for sending is over (max_runtime = "1h" in inbox/inbox.toml)'
    ]
    assert night.places == {"incoming": ["people2.csv"], "working": ["people1.csv"], "done": ["staff.csv"]}
    assert status_of(night.folder, night.at).needs_person is False
    night.listen, night.at = ignore, datetime.now(UTC)
    assert night.run() == 0
    assert sorted(night.served.accepted) == [f"person{number}@example.com" for number in range(6)]
