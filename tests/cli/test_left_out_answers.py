"""With `optional: leave_out`, an invalid optional answer is not sent and is reported; its row is sent."""

from __future__ import annotations

from collections.abc import Callable

from tests.cli.conftest import MAPPING, Served, candidate, read_csv, write_csv

_REASON = "'about 1000' is not a whole number; the answer to salary is left out"
_HINT = "write it in digits"


def test_a_row_is_sent_without_its_invalid_optional_answer(serve: Callable[..., Served]) -> None:
    """The answer is missing in the request, and check and report list its cell; a required answer is never left out."""
    served = serve()
    folder = served.door.folder
    (folder / "mapping.yaml").write_text(MAPPING + "defaults: {optional: leave_out}\n", encoding="utf-8")
    rows = [candidate(1, Salary="about 1000"), candidate(2, Salary="about 1000", Permit="perhaps"), candidate(3)]
    write_csv(folder / "people.csv", rows)
    for command, kind, name in (("check", "not_sent", "not_sent.csv"), ("run", "created", "201_created.csv")):
        ran = served(command, "people.csv", "--mapping", "mapping.yaml", "--json")
        assert (ran.code, ran.counts) == (4, {kind: 2, "invalid": 1})
        results = folder / "results" / ran.summary["run"]
        sent = [(row["import_row"], row["import_problem"], row["import_hint"]) for row in read_csv(results / name)]
        warned = ("2", f'row 2, column "Salary": {_REASON}', _HINT)
        assert sent == [warned, ("4", "", "")] if command == "run" else [warned]
        if command == "check":
            assert "not_<wbr>sent.csv</a> (with a warning)" in (results / "report.html").read_text("utf-8")
        (invalid,) = read_csv(results / "invalid.csv")
        permit = "'perhaps' is neither yes nor no"
        assert invalid["import_problem"] == f'row 3, column "Permit": {permit} | row 3, column "Salary": {_REASON}'
    answers = [len(body["answers"]) for body in served.sandbox.memory.accepted()]
    assert answers == [2, 3]
    assert "Warnings\n     1  Salary, row 2: " in served("show", "last", "--verbose").out


def test_resume_and_a_report_keep_what_was_left_out(serve: Callable[..., Served]) -> None:
    """A second run does not send the row again; the report that is written again still lists the answer."""
    served = serve()
    folder = served.door.folder
    (folder / "mapping.yaml").write_text(MAPPING + "defaults: {optional: leave_out}\n", encoding="utf-8")
    write_csv(folder / "people.csv", [candidate(1, Salary="about 1000")])
    first = served("run", "people.csv", "--mapping", "mapping.yaml", "--json")
    assert first.counts == {"created": 1}
    assert served("report", first.summary["run"]).code == 0
    (row,) = read_csv(folder / "results" / first.summary["run"] / "201_created.csv")
    assert row["import_problem"] == f'row 2, column "Salary": {_REASON}'
    again = served("run", "people.csv", "--mapping", "mapping.yaml", "--json")
    assert (again.counts, again.summary["problems"]) == ({"already_imported": 1}, [])


def test_a_resolved_row_keeps_what_was_left_out(serve: Callable[..., Served]) -> None:
    """A person who finds the candidate in the service still sees which answer it lacks."""
    served = serve({"kind": "reset", "when": "before", "emails": ["person1@example.com"], "operation": "apply"})
    folder = served.door.folder
    (folder / "mapping.yaml").write_text(MAPPING + "defaults: {optional: leave_out}\n", encoding="utf-8")
    write_csv(folder / "people.csv", [candidate(1, Salary="about 1000")])
    run = served("run", "people.csv", "--mapping", "mapping.yaml", "--json", "--resend-unconfirmed", "never")
    assert run.counts == {"unconfirmed": 1}
    for _ in range(2):  # it can be repeated
        assert served("resolve", run.summary["run"], "2", "--created").code == 0
    (row,) = read_csv(folder / "results" / run.summary["run"] / "201_created.csv")
    assert row["import_problem"] == (
        "the response was lost or inconclusive; a user confirmed that the candidate was created | "
        f'row 2, column "Salary": {_REASON}'
    )


def test_strict_holds_a_row_back_that_would_lack_an_answer(serve: Callable[..., Served]) -> None:
    """With `--strict`, an answer that would be left out makes its row invalid, and nothing is sent."""
    served = serve()
    (served.door.folder / "mapping.yaml").write_text(MAPPING + "defaults: {optional: leave_out}\n", encoding="utf-8")
    write_csv(served.door.folder / "people.csv", [candidate(1, Salary="about 1000"), candidate(2)])
    ran = served("run", "people.csv", "--mapping", "mapping.yaml", "--json", "--strict")
    assert (ran.counts, served.accepted) == ({"created": 1, "invalid": 1}, ["person2@example.com"])


def test_a_killed_run_lists_what_was_left_out(serve: Callable[..., Served]) -> None:
    """Of every row that was sent, also if the kill came before its outcome was written, or its response was lost."""
    served = serve({"kind": "delay", "ms": 20, "share": 1, "times": 9, "operation": "apply"})
    folder = served.door.folder
    (folder / "mapping.yaml").write_text(MAPPING + "defaults: {optional: leave_out}\n", encoding="utf-8")
    write_csv(folder / "people.csv", [candidate(number, Salary="about 1000") for number in range(60)])
    served.killed_after(20, "run", "people.csv", "--mapping", "mapping.yaml", "--concurrency", "4")
    assert served("report", "last").code == 0
    killed = served("show", "last", "--json").summary
    again = served("run", "people.csv", "--mapping", "mapping.yaml", "--json")
    listed: dict[str, str] = {}
    for run in (killed["run"], again.summary["run"]):
        for name in ("201_created.csv", "unconfirmed.csv", "409_already_exists.csv"):
            if (path := folder / "results" / run / name).exists():
                listed |= {row["import_row"]: row["import_problem"] for row in read_csv(path)}
    assert killed["outcomes"]["unconfirmed"]
    assert sorted(map(int, listed)) == list(range(2, 62))
    assert [row for row, problem in listed.items() if _REASON not in problem] == []
