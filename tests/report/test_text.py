"""The summary in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from importer.models import Outcome, OutcomeKind, Row, Stop
from importer.problems import Origin
from importer.report import RunFacts, summary_lines, write_report, write_unfinished_summary
from importer.report.text import MOST_GROUPS, attention_lines, subject_line
from importer.text.terminal import WIDTH
from tests.report.building import FACTS, ORIGIN, bad_degree, bad_mobile, created, facts_with, refused, row, rows

SHOWN = Path("results/20261121-021503-7f3a")


def _lines(folder: Path, facts: RunFacts, source: Sequence[Row], outcomes: Sequence[Outcome]) -> list[str]:
    return summary_lines(write_report(folder, facts, source, outcomes), SHOWN)


def test_a_run_with_something_of_everything(tmp_path: Path) -> None:
    """It shows what happened, the meaning of each count, what to fix and where, and the next commands."""
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

    lines = _lines(tmp_path, facts, [*rows(range(4, 8)), *bad, row(16)], outcomes)

    assert "\n".join(lines) == (
        "Finished: 13 rows read, 2 created, 1 already existed, 1 rejected, 8 invalid, 1\n"
        "unconfirmed\n"
        "Sandbox run: nothing was sent to the real service\n"
        "\n"
        "       2  created           the service accepted it (201)\n"
        "       1  already exists    the service already had this person (409)\n"
        "       1  rejected          the service refused it (400)\n"
        "       8  invalid           our own checks refused it; nothing was sent\n"
        "       1  unconfirmed       sent, but no response confirms that it arrived\n"
        "      13  total\n"
        "\n"
        "What to fix\n"
        "       7  invalid: Degree 1 [value-unknown]\n"
        "          D8: 'bachelor' is not a degree that the service accepts\n"
        "          -> add it under values: in mappings/zoho.yaml:41\n"
        "          also D9, D10, D11, D12 and 2 more\n"
        "       1  rejected [refused]\n"
        "          row 7: answers: salary is required, salary is required, salary is\n"
        "          required, salary is required, salary is required,\n"
        "          -> fix the row\n"
        "       1  invalid: Mobile [phone-invalid]\n"
        "          C15: '12' is not a valid phone number\n"
        "          -> write it with its country\n"
        "       1  unconfirmed [refused]\n"
        "          row 16: 503 three times\n"
        "          -> run the same command again\n"
        "\n"
        "Warnings\n"
        '  - candidates.xlsx: column "Notes" is not used; map it\n'
        "\n"
        "Notes\n"
        "       1  already exists [refused]\n"
        "          row 6: most likely our own earlier attempt\n"
        "\n"
        "Requests: 8 sent, 3 of them retries\n"
        "\n"
        "Report: results/20261121-021503-7f3a/report.html\n"
        "        results/20261121-021503-7f3a/report.xlsx\n"
        "\n"
        "What to do next\n"
        "  1. fix the rows in invalid.csv and 400_rejected.csv, then import them\n"
        "     importer run results/20261121-021503-7f3a/invalid.csv --mapping mappings/zoho.yaml --sandbox\n"
        "     importer run results/20261121-021503-7f3a/400_rejected.csv --mapping mappings/zoho.yaml --sandbox\n"
        "  2. run the same command again, also after fixing rows in candidates.xlsx;\n"
        "     completed rows are skipped\n"
        "     importer run candidates.xlsx --mapping mappings/zoho.yaml --sandbox\n"
        "  3. this run used the sandbox; to import the file, run it without --sandbox"
    )


def test_a_run_where_all_is_well(tmp_path: Path) -> None:
    """If every row is complete, it shows only that."""
    outcomes = [*created([4]), Outcome(5, OutcomeKind.ALREADY_IMPORTED)]

    assert _lines(tmp_path, FACTS, [row(4), row(5)], outcomes) == [
        "Finished: 2 rows read, 1 created, 1 already imported",
        "",
        "       1  created           the service accepted it (201)",
        "       1  already imported  an earlier run imported it; nothing was sent",
        "       2  total",
        "",
        "Requests: 1 sent",
        "",
        "Report: results/20261121-021503-7f3a/report.html",
        "        results/20261121-021503-7f3a/report.xlsx",
        "",
        "What to do next",
        "  1. no action needed: every row is complete",
    ]


def test_a_run_that_was_stopped(tmp_path: Path) -> None:
    """The reason of a stop and its hint are shown once, not for each row."""
    facts = facts_with(stopped=Stop("token-refused", "the service refuses the token (401)", "renew IMPORTER_TOKEN"))
    stopped = Outcome(5, OutcomeKind.NOT_SENT, problems=(refused("the service refuses the token (401)"),))

    assert _lines(tmp_path, facts, [row(4), row(5)], [Outcome(4, OutcomeKind.FAILED, 401, 1), stopped]) == [
        "Stopped early: 2 rows read, 1 failed, 1 not sent",
        "Why: the service refuses the token (401)",
        "",
        "       1  failed            it was not accepted when the run ended",
        "       1  not sent          the run stopped before its turn",
        "       2  total",
        "",
        "Requests: 1 sent",
        "",
        "Report: results/20261121-021503-7f3a/report.html",
        "        results/20261121-021503-7f3a/report.xlsx",
        "",
        "What to do next",
        "  1. renew IMPORTER_TOKEN",
        "     importer run candidates.xlsx --mapping mappings/zoho.yaml",
    ]


def test_a_dry_run(tmp_path: Path) -> None:
    """It shows which rows are ready, and how to run the import."""
    bad = row(5, "1", "a@example.com", "12", "bachelor")
    outcomes = [Outcome(4, OutcomeKind.NOT_SENT), Outcome(5, OutcomeKind.INVALID, problems=(bad_degree(bad),))]

    assert _lines(tmp_path, facts_with(dry_run=True), [row(4), bad], outcomes) == [
        "Dry run, nothing sent: 2 rows read, 1 invalid, 1 ready",
        "",
        "       1  invalid           our own checks refused it; nothing was sent",
        "       1  ready             passed every check; nothing was sent",
        "       2  total",
        "",
        "What to fix",
        "       1  invalid: Degree 1 [value-unknown]",
        "          D5: 'bachelor' is not a degree that the service accepts",
        "          -> add it under values: in mappings/zoho.yaml:41",
        "",
        "Report: results/20261121-021503-7f3a/report.html",
        "        results/20261121-021503-7f3a/report.xlsx",
        "",
        "What to do next",
        "  1. fix the rows in invalid.csv, then import it",
        "     importer run results/20261121-021503-7f3a/invalid.csv --mapping mappings/zoho.yaml",
        "  2. send the rows that are ready, and those that you fix in candidates.xlsx;",
        "     invalid rows are skipped",
        "     importer run candidates.xlsx --mapping mappings/zoho.yaml",
    ]


def test_a_run_that_was_killed(tmp_path: Path) -> None:
    """It shows that the run has not finished, and how to continue."""
    assert summary_lines(write_unfinished_summary(tmp_path, FACTS), SHOWN) == [
        "Not finished: rows are not counted yet",
        "",
        "What to do next",
        "  1. if it is no longer running, it was killed: continue it; completed rows are",
        "     skipped",
        "     importer resume 20261121-021503-7f3a",
    ]


def test_many_problems_are_capped(tmp_path: Path) -> None:
    """After twelve groups the next are shown in one line each, and for the rest it points to the workbook."""
    numbers = range(1, MOST_GROUPS + 9)
    outcomes = [Outcome(n, OutcomeKind.REJECTED, 400, 1, (refused(f"no {n}{' x' * n * 2}"),)) for n in numbers]

    lines = _lines(tmp_path, FACTS, list(rows(numbers)), outcomes)

    assert lines.count("       1  rejected [refused]") == MOST_GROUPS
    short = [line for line in lines if line.startswith("       1  rejected [refused], row")]
    assert short[0] == "       1  rejected [refused], row 13: no 13 x x x x x x x x x x x x x x x x x x…"
    assert (len(short), {len(line) for line in short}) == (5, {80})
    assert "... and 3 more; details are in report.html and report.xlsx" in lines


def test_what_needs_a_person(tmp_path: Path) -> None:
    """Its lines have the three largest problems and what to do next, and nothing else."""
    read = [row(number) for number in range(1, 11)]
    problems = [refused("most"), refused("most"), *(refused(f"no {number}") for number in range(3, 11))]
    outcomes = [Outcome(n, OutcomeKind.REJECTED, 400, 1, (found,)) for n, found in enumerate(problems, start=1)]

    summary = write_report(tmp_path, facts_with(exit_code=4, warnings=("inspect",)), read, outcomes)

    assert attention_lines(summary, SHOWN) == [
        "Finished: 10 rows read, 10 rejected",
        "",
        "What to fix",
        "       2  rejected [refused]",
        "          row 1: most",
        "          -> fix the row",
        "          also row 2",
        "       1  rejected [refused]",
        "          row 3: no 3",
        "          -> fix the row",
        "       1  rejected [refused]",
        "          row 4: no 4",
        "          -> fix the row",
        *(f"       1  rejected [refused], row {number}: no {number}" for number in range(5, 11)),
        "... details are in report.html and report.xlsx",
        "",
        "Report: results/20261121-021503-7f3a/report.html",
        "        results/20261121-021503-7f3a/report.xlsx",
        "",
        "What to do next",
        "  1. fix the rows in 400_rejected.csv, then import it",
        "     importer run results/20261121-021503-7f3a/400_rejected.csv --mapping mappings/zoho.yaml",
        "  2. or fix the rows in candidates.xlsx, then import it again; completed rows",
        "     are skipped",
        "     importer run candidates.xlsx --mapping mappings/zoho.yaml",
    ]


SUBJECTS = [
    pytest.param({}, OutcomeKind.CREATED, "complete: candidates.xlsx: 1 row read, 1 created", id="complete"),
    pytest.param(
        {"exit_code": 4}, OutcomeKind.FAILED, "needs attention: candidates.xlsx: 1 row read, 1 failed", id="4"
    ),
    pytest.param(
        {"stopped": Stop("x", "y", "z"), "exit_code": 5},
        OutcomeKind.NOT_SENT,
        "stopped early: candidates.xlsx: 1 row read, 1 not sent",
        id="stopped",
    ),
    pytest.param(
        {"finished": False, "exit_code": None, "origin": Origin("a/b\nBcc: x.csv")},
        OutcomeKind.CREATED,
        "stopped early: b Bcc: x.csv: 1 row read, 1 created",
        id="killed, and a name with a line break",
    ),
]


@pytest.mark.parametrize(("facts", "kind", "expected"), SUBJECTS)
def test_the_subject_of_a_mail(tmp_path: Path, facts: dict[str, Any], kind: OutcomeKind, expected: str) -> None:
    """One line says whether the run needs attention, of which file, and the counts."""
    origin = facts.get("origin", ORIGIN)
    summary = write_report(tmp_path, facts_with(**facts), [row(4, origin=origin)], [Outcome(4, kind)])
    assert subject_line(summary) == f"importer: {expected}"


def test_many_warnings_are_capped(tmp_path: Path) -> None:
    """After six warnings it points to the workbook for the rest."""
    lines = _lines(tmp_path, facts_with(warnings=tuple(f"warning {n}" for n in range(8))), [], [])

    assert [line for line in lines if "warning" in line] == [f"  - warning {n}" for n in range(6)]
    assert "... and 2 more in report.xlsx" in lines


@pytest.mark.parametrize("text", ["\x1b[31mred\x1b[0m", "a\rb", "a\x07b", "a\u202eb", "a\nb"])
def test_control_sequences_do_not_reach_the_terminal(tmp_path: Path, text: str) -> None:
    """Neither from the service nor from a cell, and no line can be forged."""
    rejected = Outcome(4, OutcomeKind.REJECTED, 400, 1, (refused(text, text),))

    lines = _lines(tmp_path, facts_with(warnings=(text,)), [row(4)], [rejected])

    assert all(line.isprintable() for line in lines)
    assert max(map(len, lines)) <= WIDTH + len("     importer run  --mapping ") + len(str(SHOWN))


def test_names_with_blanks_are_quoted_in_commands(tmp_path: Path) -> None:
    """A command can be copied unchanged even if names contain spaces."""
    facts = facts_with(mapping="my mappings/zoho.yaml")

    lines = _lines(tmp_path, facts, [row(4)], [Outcome(4, OutcomeKind.FAILED, 429, 6)])

    assert lines[-1] == "     importer run candidates.xlsx --mapping 'my mappings/zoho.yaml'"


def test_a_few_more_problems_are_shown(tmp_path: Path) -> None:
    """Two more than the maximum are shown rather than mentioned."""
    numbers = range(1, MOST_GROUPS + 3)
    outcomes = [Outcome(n, OutcomeKind.REJECTED, 400, 1, (refused(f"no {n}"),)) for n in numbers]

    lines = _lines(tmp_path, FACTS, list(rows(numbers)), outcomes)

    assert lines.count("       1  rejected [refused]") == MOST_GROUPS + 2
    assert not any("more in" in line for line in lines)
