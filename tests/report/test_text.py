"""The screen at the end of a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from importer.models import Outcome, OutcomeKind, Row, Stop
from importer.problems import Origin
from importer.report.summary import RunFacts
from importer.report.text import subject_line, summary_lines
from importer.report.write import write_report, write_unfinished_summary
from importer.text.terminal import HEIGHT, WIDTH
from tests.report.building import FACTS, ORIGIN, bad_degree, bad_mobile, created, facts_with, refused, row, rows

SHOWN = Path("results/20261121-021503-7f3a")


def _lines(folder: Path, facts: RunFacts, source: Sequence[Row], outcomes: Sequence[Outcome], **how: bool) -> list[str]:
    return summary_lines(write_report(folder, facts, source, outcomes), SHOWN, **how)


def _everything() -> tuple[RunFacts, list[Row], list[Outcome]]:
    bad = [row(number, "1", "a@example.com", "12", "bachelor") for number in range(8, 16)]
    outcomes = [
        *created([4, 5]),
        Outcome(6, OutcomeKind.ALREADY_EXISTS, 409, 2, (refused("most likely our own earlier attempt", ""),)),
        Outcome(7, OutcomeKind.REJECTED, 400, 1, (refused("answers: " + "salary is required, " * 5),)),
        *(Outcome(each.number, OutcomeKind.INVALID, problems=(bad_degree(each),)) for each in bad[:-1]),
        Outcome(15, OutcomeKind.INVALID, problems=(bad_mobile(bad[-1]),)),
        Outcome(16, OutcomeKind.UNCONFIRMED, 503, 3, (refused("503 three times", "run the same command again"),)),
    ]
    facts = facts_with(sandbox=True, warnings=('candidates.xlsx: column "Notes" is not used; map it',))
    return facts, [*rows(range(4, 8)), *bad, row(16)], outcomes


def test_a_run_with_something_of_everything(tmp_path: Path) -> None:
    """It shows what happened, the outcomes, the causes that there is room for with their remedies, and what is next."""
    assert _lines(tmp_path, *_everything()) == [
        "Finished in the sandbox: 3 of 13 rows imported, 9 to fix, 1 to send again",
        "",
        "       2 created                 1 already exists          1 rejected",
        "       8 invalid                 1 unconfirmed",
        "",
        "What to fix (3 of 4 causes; the report has all)",
        "     7  Degree 1, D8: 'bachelor' is not a degree that the service accepts",
        "        [value-unknown]",
        "        -> add it under values: in mappings/zoho.yaml:41",
        "     1  row 7: answers: salary is required, salary is required, salary is",
        "        required, salary is required, salary is required,  [refused]",
        "        -> fix the row",
        "     1  Mobile, C15: '12' is not a valid phone number [phone-invalid]",
        "        -> write it with its country",
        "Warnings: 1; the report has all",
        "",
        "Report: results/20261121-021503-7f3a/report.html (and report.xlsx)",
        "What to do next",
        "  1. Fix the rows in report.xlsx, then import it",
        "     importer run results/20261121-021503-7f3a/report.xlsx",
        "  2. Run the same command again, also after fixing rows in candidates.xlsx;",
        "     completed rows are skipped",
        "     importer run candidates.xlsx --mapping mappings/zoho.yaml --sandbox",
    ]


def test_the_command_that_was_given_is_not_repeated(tmp_path: Path) -> None:
    """A person at the terminal has just typed it: that leaves room for another cause."""
    lines = _lines(tmp_path, *_everything(), with_repeated=False)
    assert "     importer run candidates.xlsx --mapping mappings/zoho.yaml --sandbox" not in lines
    assert "What to fix (3 of 4 causes; the report has all)" in lines


def test_everything_is_shown_when_asked(tmp_path: Path) -> None:
    """With --verbose: every cause with its outcome and more of its cells, warnings and notes."""
    lines = _lines(tmp_path, *_everything(), is_verbose=True)
    assert lines[
        lines.index("What to fix") : lines.index("Report: results/20261121-021503-7f3a/report.html (and report.xlsx)")
    ] == [
        "What to fix",
        "     7  Degree 1, D8: 'bachelor' is not a degree that the service accepts",
        "        [value-unknown]",
        "        -> add it under values: in mappings/zoho.yaml:41",
        "        also D9, D10, D11, D12 and 2 more",
        "     1  row 7: answers: salary is required, salary is required, salary is",
        "        required, salary is required, salary is required,  [refused]",
        "        -> fix the row",
        "     1  Mobile, C15: '12' is not a valid phone number [phone-invalid]",
        "        -> write it with its country",
        "     1  row 16: 503 three times [refused]",
        "        -> run the same command again",
        "",
        "Warnings",
        '  - candidates.xlsx: column "Notes" is not used; map it',
        "",
        "Notes",
        "     1  row 6: most likely our own earlier attempt [refused]",
        "",
    ]


def test_a_run_where_all_is_well(tmp_path: Path) -> None:
    """If every row is complete, it shows only that."""
    outcomes = [*created([4]), Outcome(5, OutcomeKind.ALREADY_IMPORTED)]
    assert _lines(tmp_path, FACTS, [row(4), row(5)], outcomes) == [
        "Finished: 2 of 2 rows imported",
        "",
        "       1 created                 1 already imported",
        "",
        "Report: results/20261121-021503-7f3a/report.html (and report.xlsx)",
        "What to do next",
        "  No action needed: every row is complete",
    ]


def test_a_run_that_was_stopped(tmp_path: Path) -> None:
    """The reason of a stop and its hint are shown once, not for each row."""
    facts = facts_with(stopped=Stop("token-refused", "the service refuses the token (401)", "renew IMPORTER_TOKEN"))
    stopped = Outcome(5, OutcomeKind.NOT_SENT, problems=(refused("the service refuses the token (401)"),))
    assert _lines(tmp_path, facts, [row(4), row(5)], [Outcome(4, OutcomeKind.FAILED, 401, 1), stopped]) == [
        "Stopped early: 0 of 2 rows imported, 1 to send again, 1 not sent",
        "Why: the service refuses the token (401)",
        "",
        "       1 failed                  1 not sent",
        "",
        "Report: results/20261121-021503-7f3a/report.html (and report.xlsx)",
        "What to do next",
        "  Renew IMPORTER_TOKEN",
        "     importer run candidates.xlsx --mapping mappings/zoho.yaml",
    ]


def test_a_dry_run(tmp_path: Path) -> None:
    """It shows which rows are ready, and how to run the import."""
    bad = row(5, "1", "a@example.com", "12", "bachelor")
    outcomes = [Outcome(4, OutcomeKind.NOT_SENT), Outcome(5, OutcomeKind.INVALID, problems=(bad_degree(bad),))]
    assert _lines(tmp_path, facts_with(dry_run=True), [row(4), bad], outcomes) == [
        "Checked, nothing sent: 1 of 2 rows ready, 1 to fix",
        "",
        "       1 invalid                 1 ready",
        "",
        "What to fix",
        "     1  Degree 1, D5: 'bachelor' is not a degree that the service accepts",
        "        [value-unknown]",
        "        -> add it under values: in mappings/zoho.yaml:41",
        "",
        "Report: results/20261121-021503-7f3a/report.html (and report.xlsx)",
        "What to do next",
        "  1. Fix the rows in report.xlsx, then import it",
        "     importer run results/20261121-021503-7f3a/report.xlsx",
        "  2. Send the rows that are ready, and those that you fix in candidates.xlsx",
        "     importer run candidates.xlsx --mapping mappings/zoho.yaml",
    ]


def test_a_run_that_was_killed(tmp_path: Path) -> None:
    """It shows that the run has not finished, and how to continue."""
    assert summary_lines(write_unfinished_summary(tmp_path, FACTS), SHOWN) == [
        "Not finished: rows are not counted yet",
        "",
        "What to do next",
        "  If it is no longer running, it was killed: continue it; completed rows are",
        "  skipped",
        "     importer resume 20261121-021503-7f3a",
    ]


def _worst(facts: RunFacts, length: int) -> tuple[RunFacts, list[Row], list[Outcome]]:
    """A run with every outcome and long texts."""
    kinds = [*OutcomeKind] * 3
    texts = [f"{kind} {number} {'is wrong ' * length}".strip() for number, kind in enumerate(kinds)]
    outcomes = [
        Outcome(number, kind, problems=(refused(text, text),))
        for number, (kind, text) in enumerate(zip(kinds, texts, strict=True), start=1)
    ]
    return facts, [row(each.row) for each in outcomes], outcomes


@pytest.mark.parametrize("length", [1, 10, 100])
@pytest.mark.parametrize("dry_run", [False, True], ids=["run", "check"])
def test_it_fits_one_screen(tmp_path: Path, length: int, dry_run: bool) -> None:
    """24 lines of 80 columns with the prompt, however many causes and outcomes and however long their texts."""
    facts = facts_with(sandbox=True, dry_run=dry_run, warnings=tuple(f"warning {n} " * length for n in range(9)))
    lines = _lines(tmp_path, *_worst(facts, length), with_repeated=False)
    assert sum(1 + (len(line) - 1) // WIDTH for line in lines) < HEIGHT
    assert any(line.startswith("What to fix (") for line in lines)


SUBJECTS = [
    pytest.param({}, OutcomeKind.CREATED, "complete: candidates.xlsx: 1 of 1 row imported", id="complete"),
    pytest.param(
        {"exit_code": 4},
        OutcomeKind.FAILED,
        "needs attention: candidates.xlsx: 0 of 1 row imported, 1 to send again",
        id="4",
    ),
    pytest.param(
        {"stopped": Stop("x", "y", "z"), "exit_code": 5},
        OutcomeKind.NOT_SENT,
        "stopped early: candidates.xlsx: 0 of 1 row imported, 1 not sent",
        id="stopped",
    ),
    pytest.param(
        {"finished": False, "exit_code": None, "origin": Origin("a/b\nBcc: x.csv")},
        OutcomeKind.CREATED,
        "stopped early: b\\nBcc: x.csv: 1 of 1 row imported",
        id="killed, and a name with a line break",
    ),
]


@pytest.mark.parametrize(("facts", "kind", "expected"), SUBJECTS)
def test_the_subject_of_a_mail(tmp_path: Path, facts: dict[str, Any], kind: OutcomeKind, expected: str) -> None:
    """One line says whether the run needs attention, of which file, and the counts."""
    origin = facts.get("origin", ORIGIN)
    summary = write_report(tmp_path, facts_with(**facts), [row(4, origin=origin)], [Outcome(4, kind)])
    assert subject_line(summary) == f"importer: {expected}"


@pytest.mark.parametrize("is_verbose", [False, True], ids=["screen", "verbose"])
@pytest.mark.parametrize("text", ["\x1b[31mred\x1b[0m", "a\rb", "a\x07b", "a\u202eb", "a\nb"])
def test_control_sequences_do_not_reach_the_terminal(tmp_path: Path, text: str, is_verbose: bool) -> None:
    """Neither from the service nor from a cell, and no line can be forged: they are shown escaped."""
    rejected = Outcome(4, OutcomeKind.REJECTED, 400, 1, (refused(text, text),))
    lines = _lines(tmp_path, facts_with(warnings=(text,)), [row(4)], [rejected], is_verbose=is_verbose)
    assert all(line.isprintable() for line in lines)
    assert sum("\\" in line for line in lines) >= 2


def test_names_with_blanks_are_quoted_in_commands(tmp_path: Path) -> None:
    """A command can be copied unchanged even if names contain spaces."""
    facts = facts_with(mapping="my mappings/zoho.yaml")
    lines = _lines(tmp_path, facts, [row(4)], [Outcome(4, OutcomeKind.FAILED, 429, 6)])
    assert lines[-1] == "     importer run candidates.xlsx --mapping 'my mappings/zoho.yaml'"
