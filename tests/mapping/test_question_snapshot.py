"""The question snapshot of a mapping file: changes since then are reported, each at its line."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from importer.mapping.question_snapshot import changes, snapshot_lines, with_snapshot
from importer.models import Question
from tests.mapping.mapping_files import HEAD, question, read

HINT = "check its line under answers:, then run: importer mapping check MAPPING --accept"
ASKED = question("q", text="What?", id=1)
CHOICE = question("q", "single_choice", options=("a", "b"), text="What?")


def reported(then: Sequence[Question], now: Sequence[Question]) -> list[str]:
    """The changes from the snapshot `then` to the questions `now`."""
    mapping = read(HEAD + "\n".join(snapshot_lines(then)) + "\n")
    assert mapping.questions_seen is not None
    return [str(problem) for problem in changes(mapping.questions_seen, now, mapping.answers_place)]


CHANGES = [
    pytest.param(ASKED, question("q", text="what?", id=99), None, id="another ID and other capitals are not a change"),
    pytest.param(
        ASKED, question("q", "integer", text="What?"),
        f"m.yaml:6:3: the answer type of q changed from short_text to integer; {HINT}",
        id="answer type",
    ),
    pytest.param(
        ASKED, question("q", type="phone", text="What?"),
        f"m.yaml:6:3: the question_type of q changed from none to phone; {HINT}", id="question type",
    ),
    pytest.param(
        ASKED, question("q", required=True, text="What?"), f"m.yaml:6:3: q is now required; {HINT}", id="required"
    ),
    pytest.param(
        question("q", required=True, text="What?"), ASKED, f"m.yaml:6:3: q is no longer required; {HINT}",
        id="not required",
    ),
    pytest.param(
        ASKED, question("q", text="Which?"),
        f"m.yaml:6:3: the text of q changed from 'What?' to 'Which?'; {HINT}", id="text",
    ),
    pytest.param(
        CHOICE, question("q", "single_choice", options=("b", "c"), text="What?"),
        f"m.yaml:6:3: the options of q changed: 'c' is new, 'a' was removed; {HINT}", id="options",
    ),
    pytest.param(
        CHOICE, question("q", "single_choice", options=("b", "a"), text="What?"), None, id="the order of options"
    ),
]  # fmt: skip


@pytest.mark.parametrize(("then", "now", "message"), CHANGES)
def test_a_change_is_reported(then: Question, now: Question, message: str | None) -> None:
    """Everything that a mapping depends on is compared, but not IDs, which differ for each job post."""
    assert reported([then], [now]) == ([message] if message else [])


def test_gone_and_new_questions_are_reported() -> None:
    """A removed question, a new one, and a new required one."""
    new, required = question("n", "date", text="When?"), question(None, text="Where?", required=True)
    assert reported([ASKED], [new, required]) == [
        "m.yaml:6:3: q is no longer asked; remove it under answers:",
        "m.yaml:2:1: n ('When?', date) is new: a question; add it under answers: if a column answers it",
        "m.yaml:2:1: text: Where? ('Where?', short_text) is new: a required question; add it under answers:",
    ]


def test_the_snapshot_is_replaced_and_all_else_is_unchanged() -> None:
    """Accepting the current questions changes nothing that a person wrote, even after the snapshot."""
    old = HEAD + "# mine\n" + "\n".join(snapshot_lines([CHOICE])) + "\n\n# also mine\nanswers: {q: A}   # here\n"
    new = HEAD + "# mine\n" + "\n".join(snapshot_lines([ASKED])) + "\n# also mine\nanswers: {q: A}   # here\n"
    assert with_snapshot(old, [ASKED]) == new
    assert with_snapshot(new, [ASKED]) == new
    assert with_snapshot(HEAD, [ASKED]) == HEAD + "\n".join(snapshot_lines([ASKED])) + "\n"
