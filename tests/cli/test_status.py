"""`importer status FILE`: what became of each row of a file, over all its runs and those of its corrected rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from openpyxl import Workbook

from tests.cli.conftest import HEADER, Served, candidate, write_csv
from tests.cli.test_corrections import BAD, MAIL, correct, fix, run_first
from tests.cli.test_run import RUN

Serve = Callable[..., Served]
TARGET = "people.csv, for job post 4f2c9a"


def test_each_row_over_all_runs(serve: Serve) -> None:
    """Three runs leave one row to fix: its last problem is shown, with the file that has it and what to run."""
    refused = {"kind": "refuse", "emails": ["person4@example.com"], "message": "no", "times": 1, "operation": "apply"}
    served = serve(refused)
    folder = served.door.folder
    wrong = [candidate(number, **{MAIL: BAD}) for number in (2, 3)]
    write_csv(folder / "people.csv", [candidate(1), *wrong, candidate(4)])
    first = Path("results") / str(served(*RUN, "--rows", "2-5", "--json").summary["run"])
    second = correct(served, first, {MAIL: "ada@example.com"}, {MAIL: "eve@example.com", "Phone": "call me"})
    third = served(*RUN, "--rows", "5-5", "--resend-rejected", "--json")
    assert (second.counts, third.counts) == (
        {"created": 1, "invalid": 1, "already_imported": 1, "rejected": 1},
        {"created": 1},
    )
    before = {path: path.stat().st_mtime_ns for path in (folder / "results").rglob("*") if path.is_file()}
    shown = served("status", "people.csv")
    assert (shown.code, shown.err) == (4, "")
    assert shown.out == (
        f"{TARGET}, over 3 runs, the last: {third.summary['run']}\n"
        "Finished: 3 of 4 rows imported, 1 to fix\n"
        "\n"
        "       3 created                 1 invalid\n"
        "\n"
        "What to fix\n"
        "     1  Phone, row 4: 'call me' is not a valid phone number [phone-invalid]\n"
        "        -> write it as +90 ..., or in the usual form for TR\n"
        "\n"
        "What to do next\n"
        "  Fix the rows in report.xlsx, then import it\n"
        f"     importer run results/{second.summary['run']}/report.xlsx\n"
        "\n"
    )
    assert {path: path.stat().st_mtime_ns for path in before} == before
    printed = json.loads(served("status", "people.csv", "--json").out)
    (target,) = printed["targets"]
    assert (printed["version"], target["target"], target["service"]) == (
        1, {"job_post": "4f2c9a"}, served.sandbox.base_url,
    )  # fmt: skip
    assert [(row["row"], row["outcome"], row["run"]) for row in target["rows"]] == [
        (4, "invalid", second.summary["run"])
    ]
    done = correct(served, second.summary["run"], {"Phone": "+905550000003"})
    assert done.counts == {"created": 1, "already_imported": 3}
    done = served("status", "people.csv")
    assert (done.code, done.out.splitlines()[-2]) == (0, "  No action needed: every row is complete")


def test_rows_that_no_run_has_reached(serve: Serve) -> None:
    """A selection of rows leaves the others to be sent; a sandbox run counts only if there is no real one."""
    served = serve()
    write_csv(served.door.folder / "people.csv", [candidate(number) for number in range(5)])
    served(*RUN, "--sandbox")
    assert served("status", "people.csv").out == served("status", "people.csv", "--sandbox").out
    served(*RUN, "--rows", "2-3")
    (target,) = json.loads(served("status", "people.csv", "--json").out)["targets"]
    assert {kind: count for kind, count in target["outcomes"].items() if count} == {"created": 2, "not_sent": 3}
    assert [row["problem"] for row in target["rows"]] == ["no run has sent this row yet"] * 3
    write_csv(served.door.folder / "people.csv", [candidate(number) for number in range(6)])
    ran = served("status", "people.csv")
    assert (ran.code, ran.err) == (
        2,
        "importer: no run in results was for people.csv with its current content; if it was changed since, or its "
        "runs were purged, import it again: completed rows are skipped\n",
    )
    served(*RUN)
    ran = served("status", "people.csv", "--sandbox")
    assert (ran.code, ran.err) == (2, "importer: people.csv has only real runs: leave out --sandbox\n")


def test_a_row_that_the_last_run_did_not_reach_is_not_sent(serve: Serve) -> None:
    """It was left out and wrong by the mapping of an earlier run; now it only waits, also if the run was killed."""
    served = serve({"kind": "hang_after", "seconds": 30, "emails": ["person2@example.com"], "operation": "apply"})
    rows = [candidate(1, Salary="out"), candidate(2), candidate(3, Salary="abc"), candidate(4)]
    write_csv(served.door.folder / "people.csv", rows)
    mapping = served.door.folder / "mapping.yaml"
    text = mapping.read_text("utf-8")
    mapping.write_text(text + "source: {where: {column: Salary, is_not: [out]}}\n", "utf-8")
    served.killed_after(1, *RUN)
    (target,) = json.loads(served("status", "people.csv", "--json").out)["targets"]
    assert {kind: count for kind, count in target["outcomes"].items() if count} == {
        "filtered": 1, "unconfirmed": 1, "invalid": 1, "not_sent": 1
    }  # fmt: skip
    mapping.write_text(text.replace("Salary", "{value: '900'}"), "utf-8")
    served.killed_after(2, *RUN, "--resend-unconfirmed", "never")
    (target,) = json.loads(served("status", "people.csv", "--json").out)["targets"]
    counts = {kind: count for kind, count in target["outcomes"].items() if count}
    assert (counts.keys() & {"filtered", "invalid"}, sum(counts.values())) == (set(), 4)


def test_each_sheet_of_a_workbook_has_its_own_rows(serve: Serve) -> None:
    """Rows of two sheets with the same number are two rows: one that is done does not complete the other."""
    served = serve()
    book = Workbook()
    for title, numbers in (("A", (1, 2)), ("B", (3, 4))):
        sheet = book.create_sheet(title)
        for row in (HEADER, *(candidate(number, **({MAIL: BAD} if number == 4 else {})) for number in numbers)):
            sheet.append(row)
    del book["Sheet"]
    book.save(served.door.folder / "people.xlsx")
    command = ("run", "people.xlsx", "--mapping", "mapping.yaml", "--json", "--sheet")
    assert served(*command, "A").counts == {"created": 2}
    last = served(*command, "B")
    assert last.counts == {"created": 1, "invalid": 1}
    shown = served("status", "people.xlsx")
    lines = shown.out.splitlines()
    assert (shown.code, [line for line in lines if line.startswith("people.xlsx")]) == (
        4,
        [lines[0], f"people.xlsx, sheet B, for job post 4f2c9a, over 1 run: {last.summary['run']}"],
    )
    targets = json.loads(served("status", "people.xlsx", "--json").out)["targets"]
    assert [(one["sheet"], [row["row"] for row in one["rows"]]) for one in targets] == [("A", []), ("B", [3])]


def test_a_corrected_row_of_a_killed_run_stays_unconfirmed(serve: Serve) -> None:
    """Also if the original is run again: the service may have it, and resume of the killed run finds out."""
    served = serve({"kind": "hang_after", "seconds": 30, "emails": ["ada@example.com"], "operation": "apply"})
    report = run_first(served) / "report.xlsx"
    fix(served.door.folder / report, {MAIL: "ada@example.com"})
    served.killed_after(2, "run", str(report), "--mapping", "mapping.yaml")
    assert served(*RUN, "--json").counts == {"already_imported": 1, "unconfirmed": 1}
    killed = sorted(path.name for path in (served.door.folder / "results").glob("2*"))[1]
    shown = served("status", "people.csv")
    assert (shown.code, shown.out.splitlines()[3].split()[2:]) == (4, ["1", "unconfirmed"]), shown.out
    assert served("resume", killed).code == 0
    assert served("status", "people.csv").code == 0
    assert served.accepted == ["person1@example.com", "ada@example.com"]
