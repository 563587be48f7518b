"""A row is known again in whatever form it comes back: nobody is entered twice, and every row is accounted for."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from openpyxl import load_workbook
from openpyxl.worksheet.worksheet import Worksheet

from importer.app import import_file, orders
from importer.app.earlier_runs import fixed_order
from importer.settings import load_settings
from tests.cli.conftest import Served, candidate, read_csv, write_csv
from tests.cli.test_corrections import BAD, MAIL, fix, run_first
from tests.cli.test_run import RUN

Serve = Callable[..., Served]
LOST = {"kind": "hang_after", "seconds": 0.1, "emails": ["person2@example.com"], "operation": "apply"}


def change(path: Path, *changes: tuple[str, str]) -> None:
    text = path.read_text("utf-8-sig")
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    path.write_text(text, "utf-8-sig")


# --- a folder of mappings -------------------------------------------------------------------------


# --- an answer that was lost ----------------------------------------------------------------------


@pytest.mark.parametrize("created", [True, False])
def test_an_unconfirmed_row_with_another_email_waits_for_the_first(serve: Serve, created: bool) -> None:
    """It may be the same person: the row names run and row to resolve, and is sent only if that was not created."""
    served = serve(LOST)
    write_csv(served.door.folder / "people.csv", [candidate(1), candidate(2)])
    first = served(*RUN, "--json", "--resend-unconfirmed", "never")
    run = first.summary["run"]
    assert first.counts == {"created": 1, "unconfirmed": 1}
    report = str(Path("results") / run / "report.xlsx")
    fix(served.door.folder / report, {MAIL: "ada@example.com"}, sheet="unconfirmed")
    again = ("--mapping", "mapping.yaml", "--json")
    for command in ("check", "run"):
        told = served(command, report, *again)
        assert (told.code, told.counts) == (4, {"unconfirmed": 1, "already_imported": 1})
        (problem,) = told.summary["problems"]
        assert problem["what"] == (
            f"sent with another e-mail address by run {run}, row 3, but the response was lost or "
            "inconclusive; it may be the same person, so this row was not sent"
        )
        assert f"importer resolve {run} 3 --created" in problem["hint"]
    screen = served("run", report, "--mapping", "mapping.yaml").out
    assert "Settle the rows that another run left unconfirmed" in screen
    assert f"importer resume {run}" in screen
    assert "completed rows are skipped" not in screen  # the same command alone changes nothing
    assert "person2@example.com" in served.accepted
    assert "ada@example.com" not in served.accepted
    assert served("resolve", run, "3", "--created" if created else "--not-created").code == 0
    resumed = served("resume", told.summary["run"], "--json")
    assert resumed.counts == ({"already_imported": 2} if created else {"created": 1, "already_imported": 1})


def test_an_unconfirmed_correction_holds_the_original_back(serve: Serve) -> None:
    """Also a row of the original that could be sent by now: its correction may have arrived."""
    refused = {"kind": "refuse", "emails": ["person1@example.com"], "message": "no", "times": 1, "operation": "apply"}
    served = serve(refused, LOST)
    first = run_first(served, candidate(1))
    never = ("--resend-unconfirmed", "never")
    report = first / "report.xlsx"
    fix(served.door.folder / report, {MAIL: "person2@example.com"}, sheet="400 rejected")
    corrected = served("run", str(report), "--mapping", "mapping.yaml", "--json", *never)
    assert corrected.counts == {"unconfirmed": 1}
    held = served(*RUN, "--json", "--resend-rejected")
    assert held.counts == {"unconfirmed": 1}
    assert f"importer resume {corrected.summary['run']}" in held.summary["problems"][0]["hint"]
    assert served("resume", corrected.summary["run"], "--json").counts == {"already_exists": 1}
    assert served(*RUN, "--json", "--resend-rejected").counts == {"already_imported": 1}
    assert served.accepted == ["person2@example.com"]


# --- warnings of a killed run ---------------------------------------------------------------------


def test_a_killed_run_reports_the_warnings_of_an_uninterrupted_one(serve: Serve) -> None:
    """Of every row that was sent, also if the kill came between the answer and the journal."""
    served = serve({"kind": "delay", "ms": 20, "share": 1, "times": 9, "operation": "apply"})
    folder = served.door.folder
    write_csv(folder / "people.csv", [candidate(n, **{MAIL: f"p{n}@gmial.com"}) for n in range(60)])
    whole = served(*RUN, "--sandbox", "--json")
    expected = _problems(folder, [whole.summary["run"]])
    served.killed_after(20, *RUN, "--concurrency", "4")
    resumed = served("resume", "last", "--json")
    assert resumed.code == 0
    found = _problems(folder, [resumed.summary["continues"], resumed.summary["run"]])
    assert len(expected) == len(found) == 60
    assert {row: _warnings(text) for row, text in found.items()} == {
        row: _warnings(text) for row, text in expected.items()
    }
    assert all(_warnings(text) for text in found.values())


def _warnings(problems: str) -> list[str]:
    return [one for one in problems.split(" | ") if "otherwise" in one or "gmial" in one]


def _problems(folder: Path, runs: list[str]) -> dict[str, str]:
    """The problems of each row in the first of these runs that sent it."""
    found: dict[str, str] = {}
    for run in runs:
        for name in ("201_created.csv", "unconfirmed.csv", "409_already_exists.csv"):
            if (path := folder / "results" / run / name).exists():
                for row in read_csv(path):
                    if "no action needed" in row["import_hint"] or name != "409_already_exists.csv":
                        found.setdefault(row["import_row"], row["import_problem"])
    return found


# --- the same file, read in another way -------------------------------------------------------------


def test_a_file_is_known_by_its_content_and_its_rows_by_their_number(serve: Serve) -> None:
    """Under another name, and with another column of the e-mail address in its mapping, nobody is entered twice."""
    served = serve()
    folder = served.door.folder
    write_csv(folder / "people.csv", [candidate(1), candidate(2)])
    header, *rows = (folder / "people.csv").read_text("utf-8").splitlines()
    both = "\n".join([f"{header},Work e-mail", *(f"{row},work{at}@example.com" for at, row in enumerate(rows))])
    (folder / "people.csv").write_text(both, "utf-8")
    run = served(*RUN, "--json").summary["run"]
    shutil.copy(folder / "people.csv", folder / "copy.csv")
    change(folder / "mapping.yaml", ("email: E-mail", "email: Work e-mail"))
    for command in ("check", "run"):
        again = served(command, "copy.csv", *RUN[2:], "--json")
        assert (again.code, again.counts) == (0, {"already_imported": 2}), again.out
        assert [one["what"] for one in again.summary["problems"] if one["code"] == "imported-corrected"] == [
            f"imported with another e-mail address by run {run}, row 2"
        ]
    assert len(served.accepted) == 2


def test_a_row_of_the_next_export_that_is_not_valid_and_is_in_the_service(serve: Serve) -> None:
    """It was fixed in the report; the next export still has the wrong cell, and there is nothing to fix in it."""
    served = serve()
    wrong = candidate(2, Phone="call me")
    run = run_first(served, candidate(1), wrong)
    fix(served.door.folder / run / "report.xlsx", {"Phone": "+90 555 000 00 02"})
    assert served("run", str(run / "report.xlsx")).code == 0
    write_csv(served.door.folder / "people.csv", [candidate(1), wrong, candidate(3), candidate(4, Phone="call me")])
    for command, new in (("check", "not_sent"), ("run", "created")):
        ran = served(command, *RUN[1:], "--json")
        assert (ran.code, ran.counts) == (4, {"already_imported": 2, new: 1, "invalid": 1})


# --- two runs at once -----------------------------------------------------------------------------


def test_what_was_entered_since_the_check_is_known(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """A correction that another run enters while this one is planned is found under the lock."""
    served = serve()
    first = run_first(served, candidate(1), candidate(2, **{MAIL: BAD}))
    report, other = first / "report.xlsx", served.door.folder / "other.xlsx"
    shutil.copy(served.door.folder / report, other)
    fix(served.door.folder / report, {MAIL: "eve@example.com"})
    fix(other, {MAIL: "ada@example.com"})
    monkeypatch.chdir(served.door.folder)
    for name, value in served.door.environment.items():
        monkeypatch.setenv(name, value)
    order = fixed_order(orders.Order(report, Path("mapping.yaml"), load_settings()))

    def meanwhile(planned: orders.Planned) -> bool:
        assert served("run", "other.xlsx", "--mapping", "mapping.yaml", "--json").counts == {
            "created": 1,
            "already_imported": 1,
        }
        return True

    finished = import_file.import_file(order, confirm=meanwhile)
    assert finished is not None
    counts = {kind.value: count for kind, count in finished.summary.outcomes.items() if count}
    assert counts == {"already_imported": 2}
    assert served.accepted == ["person1@example.com", "ada@example.com"]


# --- anything ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(2))
def test_reports_fixed_in_any_way_enter_nobody_twice(serve: Serve, seed: int) -> None:
    """Cells, rows and columns of reports are changed at random: every row is accounted for, each person once."""
    draw = random.Random(seed)
    refused = {"kind": "refuse", "emails": [f"p{n}@example.com" for n in (1, 2)], "message": "no", "times": 2}
    lost = {"kind": "hang_after", "seconds": 0.1, "emails": ["p3@example.com"], "times": 1}
    served = serve({**refused, "operation": "apply"}, {**lost, "operation": "apply"})
    folder = served.door.folder
    people = [candidate(n, First=f"Person{n}", Last=f"Nr{n}", **{MAIL: f"p{n}@example.com"}) for n in range(1, 9)]
    for wrong in people[5:]:
        wrong[draw.choice((0, 4, 6))] = "wrong"
    write_csv(folder / "people.csv", people)
    never = ("--mapping", "mapping.yaml", "--json", "--resend-unconfirmed", "never")
    runs = [served("run", "people.csv", *never)]
    for _ in range(8):
        report = Path("results") / draw.choice(runs).summary["run"] / "report.xlsx"
        book = load_workbook(folder / report)
        for sheet in book.worksheets[1:]:
            _shuffle(sheet, draw)
        book.save(folder / report)
        ran = served("run", str(report), *never, *draw.choice(((), ("--resend-rejected",))))
        assert ran.code in (0, 3, 4), ran.err
        if ran.code != 3:
            assert sum(ran.counts.values()) == ran.summary["source"]["rows"] == len(people)
            runs.append(ran)
    assert len(runs) > 1
    again = served("run", "people.csv", *never, "--resend-rejected")
    assert sum(again.counts.values()) == len(people)
    entered = Counter(body["first_name"] for body in served.sandbox.memory.accepted())
    assert [name for name, times in entered.items() if times > 1] == []
    assert set(entered) <= {row[1] for row in people}
    assert served("status", "people.csv").code in (0, 4)


def _shuffle(sheet: Worksheet, draw: random.Random) -> None:
    """The rows as a person may leave them: new e-mails, others' values, rows sorted, removed and copied."""
    header, *rows = ([cell.value for cell in row] for row in sheet.iter_rows())
    at = {name: index for index, name in enumerate(header)}
    for row in rows:
        for _ in range(draw.choice((0, 1, 2))):
            name, values = draw.choice(
                (
                    (MAIL, (f"other{draw.randrange(10_000)}@example.com", "wrong", "")),
                    ("Phone", ("+905550001234", "wrong", "")),
                    ("Salary", ("900", "a lot")),
                    ("Last", (str(row[at["Last"]]).upper(),)),
                )
            )
            row[at[name]] = draw.choice(values)
    rows += [list(draw.choice(rows)) for _ in range(draw.choice((0,) * 9 + (1,)))]
    draw.shuffle(rows)
    rows = [row for row in rows if draw.random() < 0.9]
    sheet.delete_rows(2, sheet.max_row)
    for row in rows:
        sheet.append(row)
