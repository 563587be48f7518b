"""The way of a person through the steps, for tests of what comes after."""

from __future__ import annotations

from importer.web.running import Task
from tests.patience import wait_until
from tests.web.client import Shown
from tests.web.conftest import Pages


def to_match(found: Pages, target: str = "4f2c9a") -> Shown:
    """The step Match of the import that was opened, with its proposal."""
    shown = found.client.send(found.first.form("/file/use"))
    found.client.send(shown.form("/target"), kind="job", target=target)
    return found.client.get(address(found, "match"))


def review(found: Pages) -> Shown:
    """The step Match, with every mark of the proposal cleared by a click."""
    shown = found.client.get(address(found, "match"))
    while forms := [form for form in shown.forms if form.fields.get("do") == "accept"]:
        shown = found.client.send(forms[0])
    return shown


def propose(found: Pages) -> Shown:
    """The step Match with a new proposal."""
    return found.client.send(found.client.get(address(found, "match")).form("/match/propose"))


def to_check(found: Pages) -> Shown:
    """The step Check, with every row checked."""
    to_match(found)
    found.client.send(review(found).form("/match/use"))
    task_of(found)
    return found.client.get(address(found, "check"))


def to_send(found: Pages) -> Shown:
    """The step Send, with nothing sent yet."""
    to_check(found)
    return found.client.get(address(found, "send"))


def to_result(found: Pages) -> Shown:
    """The step Result, after the run."""
    found.client.send(to_send(found).form("/send"))
    task_of(found)
    return found.client.get(address(found, "result"))


def address(found: Pages, step: str) -> str:
    return found.first.address.replace("/file", f"/{step}")


def task_of(found: Pages) -> Task:
    """The check or run of the import, when it is over."""
    draft = found.server.web.drafts.get(found.first.address.split("/")[2])
    assert draft is not None
    task = found.server.web.tasks.of(draft)
    assert task is not None
    wait_until(lambda: task.is_over, "the task did not end")
    return task
