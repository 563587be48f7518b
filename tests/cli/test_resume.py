"""Earlier runs: resume, resolve, and when a row whose response was lost is sent again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.cli.conftest import MAPPING, Served, candidate, read_csv
from tests.cli.test_run import RUN, people

Serve = Callable[..., Served]
SLOW = {"kind": "delay", "share": 1, "ms": 30, "jitter_ms": 30, "times": 9}
SURE = "work_permit: {column: Permit, values: {sure: yes}}"
REFUSED = {
    "kind": "refuse",
    "emails": ["person1@example.com"],
    "operation": "apply",
    "message": "not today",
    "times": 1,
}


def everybody(count: int) -> Counter[str]:
    return Counter(f"person{number}@example.com" for number in range(count))


def test_resume_reads_the_private_copies(serve: Serve) -> None:
    """After kill -9 resume brings every row in, once, whatever became of the file and the mapping since."""
    served = serve(SLOW)
    folder = served.door.folder
    people(folder, 30)
    served.killed_after(7, *RUN, "--json")
    (folder / "people.csv").write_text("something else", encoding="utf-8")
    (folder / "mapping.yaml").unlink()
    ran = served("resume", "--json")
    assert ran.code == 0
    assert set(ran.counts) <= {"created", "already_exists", "already_imported"}
    assert sum(ran.counts.values()) == 30
    assert (ran.summary["source"]["file"], ran.summary["mapping"]) == ("people.csv", "mapping.yaml")
    assert Counter(served.accepted) == everybody(30)


def test_resume_takes_the_same_rows(serve: Serve) -> None:
    """A run of selected rows that was stopped is resumed with these rows only."""
    served = serve({"kind": "401", "emails": ["person2@example.com"], "operation": "apply"})
    people(served.door.folder, 9)
    assert served(*RUN, "--rows", "4-6").code == 5
    assert sum(served("resume", "--json").counts.values()) == 3
    assert Counter(served.accepted) == Counter(f"person{number}@example.com" for number in (2, 3, 4))


def test_a_resumed_run_names_the_lines_of_the_mapping_of_the_person(serve: Serve) -> None:
    """A person fixes their own file; only if it has changed since is the copy in the run's folder what was read."""
    served = serve({"kind": "401", "emails": ["person0@example.com"], "operation": "apply"})
    folder = served.door.folder
    (folder / "mapping.yaml").write_text(MAPPING.replace("work_permit: Permit", SURE), "utf-8")
    people(folder, 3, candidate(9, Permit="surely"))
    served(*RUN)
    run = served("resume", "--json").summary["run"]
    (hint,) = [row["import_hint"] for row in read_csv(folder / "results" / run / "invalid.csv")]
    assert hint.endswith("in mapping.yaml:10")


def test_a_finished_run_is_not_resumed(serve: Serve) -> None:
    """If every row is done or has to be fixed, nothing is left to be sent, and no new run is made."""
    served = serve(REFUSED)
    people(served.door.folder, 3, candidate(9, Salary="a lot"))
    run = served(*RUN, "--json").summary["run"]
    ran = served("resume")
    assert (ran.code, ran.err) == (
        0,
        f"Run {run} has finished, and no row is left to be sent. Next: importer show {run}\n",
    )
    assert len(served("runs").out.splitlines()) == 2


def test_rejected_rows_are_sent_again_unchanged_when_told_to(serve: Serve) -> None:
    """`run --resend-rejected` sends them with the rows that failed, and nothing that is done."""
    served = serve(REFUSED)
    people(served.door.folder, 6, candidate(9, Salary="a lot"))
    assert served(*RUN, "--json").counts == {"created": 5, "rejected": 1, "invalid": 1}
    assert served(*RUN, "--json").counts == {"already_imported": 5, "rejected": 1, "invalid": 1}
    again = served(*RUN, "--resend-rejected", "--json")
    assert again.counts == {"already_imported": 5, "created": 1, "invalid": 1}
    assert Counter(served.accepted) == everybody(6)


MISTYPED = {
    (
        "resolve",
        "last",
        "2",
    ): "importer: use --created if the candidate exists in the service, or --not-created if not\n",
    (
        "resolve",
        "last",
        "2",
        "--created",
    ): "importer: row 2 of run {run} is rejected, not unconfirmed; there is nothing to resolve\n",
    (
        "purge",
        "--older-than",
        "soon",
    ): "importer: --older-than 'soon' is not a valid age; write it in days or weeks, for example 90d or 12w\n",
}


def test_a_mistyped_command_says_how(serve: Serve) -> None:
    """Each ends with 2 and changes nothing."""
    served = serve({**REFUSED, "emails": ["person0@example.com"]})
    people(served.door.folder, 1)
    run = served(*RUN, "--json").summary["run"]
    for command, message in MISTYPED.items():
        ran = served(*command)
        assert (ran.code, ran.err) == (2, message.format(run=run))


def test_nothing_goes_on_from_a_check(serve: Serve) -> None:
    """A check sent nothing, so there is nothing to resume."""
    served = serve()
    people(served.door.folder, 2)
    run = served("check", "people.csv", "--mapping", "mapping.yaml", "--json").summary["run"]
    ran = served("resume")
    assert (ran.code, ran.err) == (
        2,
        f"importer: {run} was only a check and sent nothing; use: importer run people.csv --mapping mapping.yaml\n",
    )


def test_a_run_goes_on_at_its_own_service_only(serve: Serve) -> None:
    """Rows of one service are not sent to another because the settings were changed."""
    served = serve({"kind": "401", "emails": ["person0@example.com"], "operation": "apply"})
    people(served.door.folder, 2)
    run = served(*RUN, "--json").summary["run"]
    ran = served("resume", IMPORTER_BASE_URL="http://127.0.0.1:9")
    assert ran.err == (
        f"importer: run {run} was for {served.sandbox.base_url}, but IMPORTER_BASE_URL is http://127.0.0.1:9; "
        "set it to the address of that run, or start a new import with importer run\n"
    )


# --- resolve ---

FOUND = [
    pytest.param("--created", "created", {"already_imported": 2}, id="the candidate is there"),
    pytest.param("--not-created", "failed", {"created": 1, "already_imported": 1}, id="the candidate is not there"),
]


@pytest.mark.parametrize(("found", "outcome", "later"), FOUND)
def test_a_user_resolves_an_unconfirmed_row(serve: Serve, found: str, outcome: str, later: dict[str, int]) -> None:
    """The result is recorded in the report, and the next run sends the row only if it was not created."""
    served = serve({"kind": "reset", "when": "before", "emails": ["person1@example.com"], "operation": "apply"})
    folder = served.door.folder
    people(folder, 2)
    first = served(*RUN, "--json", "--resend-unconfirmed", "never")
    assert first.counts == {"created": 1, "unconfirmed": 1}
    run = first.summary["run"]
    for _ in range(2):  # it can be repeated
        resolved = served("resolve", run, "3", found)
        assert resolved.code == 0
    assert resolved.out == (
        f"Row 3 of run {run} is recorded as created and will not be sent again.\nNext: importer show {run}\n"
        if found == "--created"
        else f"Row 3 of run {run} is recorded as not created.\n"
        "Next: run the command again that named this row; it sends the row.\n"
    )
    kept = json.loads((folder / "results" / run / "summary.json").read_text("utf-8"))
    assert kept["outcomes"]["unconfirmed"] == 0
    files = {"created": "201_created.csv", "failed": "failed.csv"}
    reported = read_csv(folder / "results" / run / files[outcome])[-1]
    assert (reported["import_row"], reported["import_status"]) == ("3", outcome)
    assert served(*RUN, "--json").counts == later


def test_what_a_person_has_edited_is_kept_when_the_report_is_written_again(serve: Serve) -> None:
    """Under another name, also several times; files that nobody changed are replaced."""
    lost = ["person1@example.com", "person2@example.com", "person3@example.com"]
    served = serve({"kind": "reset", "when": "before", "emails": lost, "operation": "apply", "times": 3})
    people(served.door.folder, 4)
    run = served(*RUN, "--json", "--resend-unconfirmed", "never").summary["run"]
    folder = served.door.folder / "results" / run
    open_rows = folder / "unconfirmed.csv"

    assert "kept" not in served("resolve", run, "3", "--not-created").err
    for number, row in (("", "4"), ("2", "5")):
        edited = open_rows.read_text("utf-8-sig").replace("Ada", f"Adah{number}")
        open_rows.write_text(edited, "utf-8-sig")
        resolved = served("resolve", run, row, "--not-created")
        assert resolved.code == 0
        assert f"  results/{run}/unconfirmed_edited{number}.csv\n" in resolved.err
        assert (folder / f"unconfirmed_edited{number}.csv").read_text("utf-8-sig") == edited
    assert not open_rows.exists()
    assert len(list(folder.glob("*_edited*"))) == 2
    assert "kept" not in served("show", run).err


def test_only_an_unconfirmed_row_can_be_resolved(serve: Serve) -> None:
    """A row with a response of the service keeps its outcome."""
    served = serve({"kind": "reset", "when": "before", "emails": ["person1@example.com"], "operation": "apply"})
    people(served.door.folder, 2)
    run = served(*RUN, "--json", "--resend-unconfirmed", "never").summary["run"]
    report = served.door.folder / "results" / run / "201_created.csv"
    before = report.read_bytes()
    for found in ("--created", "--not-created"):
        resolved = served("resolve", run, "2", found)
        assert resolved.code == 2
        assert f"row 2 of run {run} is created, not unconfirmed; there is nothing to resolve" in resolved.err
    assert report.read_bytes() == before


# --- when unconfirmed rows are sent again ---

RESEND = [
    pytest.param("now", 0, {"created": 199, "already_exists": 1}, id="at once"),
    pytest.param("end", 0, {"created": 199, "already_exists": 1}, id="at the end of the run"),
    pytest.param("never", 4, {"created": 199, "unconfirmed": 1}, id="not at all"),
]


@pytest.mark.parametrize(("resend", "code", "counts"), RESEND)
def test_when_unconfirmed_rows_are_sent_again_is_a_choice(
    serve: Serve, resend: str, code: int, counts: dict[str, Any]
) -> None:
    """A row whose response was lost is sent again at once, at the end of the run, or never."""
    served = serve({"kind": "503", "when": "after", "emails": ["person5@example.com"], "operation": "apply"})
    people(served.door.folder, 200)
    ran = served(*RUN, "--json", "--resend-unconfirmed", resend)
    assert (ran.code, ran.counts) == (code, counts)
    statuses = [request.status for request in served.sandbox.requests if request.method == "POST"]
    assert {
        "now": 409 in statuses[:-8],  # pending requests can finish in any order
        "end": 409 in statuses[-8:],
        "never": 409 not in statuses,
    }[resend]


def test_a_run_gives_up_on_a_service_that_accepts_nothing(serve: Serve) -> None:
    """After the configured time; the reason for waiting is shown, and few requests are sent."""
    served = serve({"kind": "429", "share": 1, "retry_after": "none", "times": 500, "operation": "apply"})
    people(served.door.folder, 300)
    ran = served(*RUN, "--json", "--give-up-after", "4s")
    assert ran.code == 5
    assert ran.summary["stopped"]["reason"] == (
        "no row was completed for 4 seconds: the service refuses too many requests (429)"
    )
    assert ran.summary["requests"]["sent"] <= 40
    assert "Waiting " in ran.err
    assert ": the service refuses too many requests (429). " in ran.err
