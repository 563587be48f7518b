"""The commands that a command prints: they run as they stand."""

from __future__ import annotations

import json
import re
import shlex
import signal
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from tests.cli.conftest import MAPPING, FrontDoor, Ran, candidate, write_csv
from tests.patience import wait_until

_PRINTED = re.compile(r"\bimporter (?:inspect|check|run|resume|retry|show|report|mapping (?:new|check)) .*")
REHEARSAL = ("--sandbox", "--questions", "my questions.json", "--out", "my results")


def printed(ran: Ran) -> list[tuple[str, ...]]:
    """The commands that were printed, on stdout and stderr, as words."""
    lines = [*ran.out.splitlines(), *ran.err.splitlines()]
    return [tuple(shlex.split(found[0])[1:]) for line in lines if (found := _PRINTED.search(line))]


def follow(front_door: FrontDoor, *command: str) -> dict[tuple[str, ...], int]:
    """Run a command, and each command that is printed, once; the exit codes. Rows that are still wrong end it."""
    codes: dict[tuple[str, ...], int] = {}
    left = [command]
    while left:
        words = left.pop(0)
        if words not in codes:
            ran = front_door(*words)
            codes[words] = ran.code
            left += printed(ran) if not words[1].endswith("report.xlsx") else []
        assert len(codes) < 30
    return codes


def own_questions(folder: Path) -> None:
    """A file of questions with a job post that the sandbox itself does not have."""
    asked = {"question_text": "Salary", "is_required": True, "answer_type": "short_text", "options": None}
    questions = [{**asked, "id": 1, "question_key": "salary", "question_type": None}]
    (folder / "my questions.json").write_text(
        json.dumps({"job_posts": {"77aa": {"title": "Juggler", "questions": questions}}}), "utf-8"
    )
    mapping = MAPPING.partition("answers:")[0].replace("4f2c9a", "77aa") + "answers:\n  salary: Salary\n"
    (folder / "my mapping.yaml").write_text("defaults: {unused_columns: ignore}\n" + mapping, "utf-8")


def test_a_command_is_not_wrapped_with_quiet(front_door: FrontDoor) -> None:
    """On a terminal of 80 columns each command stays in one line, also where only errors are shown."""
    own_questions(front_door.folder)
    write_csv(front_door.folder / "my list.csv", [candidate(1), candidate(2, **{"E-mail": "ada"})])
    run = ("run", "my list.csv", "--mapping", "my mapping.yaml", *REHEARSAL)
    ran = front_door(*run, "--quiet", COLUMNS="80")
    assert (ran.code, ran.out) == (4, "")
    assert [words[0] for words in printed(ran)] == ["run", "run"]
    assert [
        words[-1].endswith(end) for words, end in zip(printed(ran), ("report.xlsx", "my questions.json"), strict=True)
    ]


def test_a_command_in_an_error_is_not_wrapped(front_door: FrontDoor) -> None:
    """An error on a terminal of 80 columns breaks its sentence, not the command that ends it."""
    own_questions(front_door.folder)
    write_csv(front_door.folder / "my list.csv", [candidate(1)])
    front_door("check", "my list.csv", "--mapping", "my mapping.yaml", *REHEARSAL)
    assert front_door("show", "2099-unknown", "--out", "my results", COLUMNS="80").err == (
        "importer: there is no run '2099-unknown' in my results; list the runs with:\n"
        "  importer runs --out 'my results'\n"
    )


def test_each_printed_command_runs_as_it_stands(front_door: FrontDoor) -> None:
    """From the first look to the rows that are left: flags are repeated, and names with blanks are quoted."""
    own_questions(front_door.folder)
    write_csv(front_door.folder / "my list.csv", [candidate(1), candidate(2, **{"E-mail": "ada"}), candidate(3)])
    first = ("check", "my list.csv", "--mapping", "my mapping.yaml", *REHEARSAL, "--rows", "2-3")
    codes = follow(front_door, *first)
    run = ("--mapping", "my mapping.yaml", "--out", "my results", "--sandbox", "--questions", "my questions.json")
    assert ("run", "my list.csv", *run, "--rows", "2-3") in codes
    assert next(words[2:] for words in codes if words[1].endswith("report.xlsx")) == ()  # its run knows them
    assert {code for words, code in codes.items() if not words[1].endswith("report.xlsx")} == {4}  # it is still wrong

    codes = follow(front_door, "mapping", "new", "my list.csv", "--job-post", "77aa", "--delimiter", ",", *REHEARSAL)
    assert {words[:2]: code for words, code in codes.items()}.items() >= {
        ("mapping", "new"): 0,
        ("mapping", "check"): 0,
        ("check", "my list.csv"): 4,
        ("run", "my list.csv"): 4,
    }.items()
    looked = front_door("inspect", "my list.csv", "--encoding", "utf-8", "--delimiter", ",", "--out", "my results")
    assert looked.err.splitlines()[-1] == (
        "Next: importer mapping new 'my list.csv' --job-post HASH --encoding utf-8 --delimiter , --out 'my results'"
    )
    listed = front_door("runs", "--out", "my results")
    assert follow(front_door, *printed(listed)[0])[printed(listed)[0]] == 0


def has_sent(ledger: Path) -> bool:
    """Whether the ledger knows of a candidate that was created."""
    with suppress(sqlite3.OperationalError), closing(sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)) as opened:
        return opened.execute("SELECT 1 FROM people WHERE state = 'created'").fetchone() is not None
    return False


def test_a_rehearsal_goes_on_with_its_own_questions(front_door: FrontDoor) -> None:
    """After a kill `show` names the command that continues, with the copies of mapping, file and questions."""
    own_questions(front_door.folder)
    write_csv(front_door.folder / "my list.csv", [candidate(number) for number in range(30)])
    slow = {"seed": 1, "faults": [{"kind": "delay", "share": 1, "ms": 1000, "operation": "apply", "times": 9}]}
    (front_door.folder / "slow.json").write_text(json.dumps(slow), "utf-8")
    command = ("run", "my list.csv", "--mapping", "my mapping.yaml", *REHEARSAL, "--faults", "slow.json")
    with front_door.started(*command, "--concurrency", "2") as process:
        wait_until(lambda: has_sent(front_door.folder / "my results" / "ledger.sqlite"))
        shown = front_door("show", "--out", "my results")
        assert "The run is running now.\n" in shown.err
        process.send_signal(signal.SIGKILL)
        process.wait()
    for name in ("my questions.json", "my mapping.yaml", "my list.csv", "slow.json"):
        (front_door.folder / name).unlink()
    shown = front_door("show", "--out", "my results")
    run = shown.out.split("importer resume ")[1].split()[0]
    assert (shown.err, printed(shown)) == ("", [("resume", run, "--out", "my results", "--concurrency", "2")])
    (listed,) = front_door("runs", "--out", "my results").out.splitlines()[1:]
    assert "UTC  killed    " in listed
    assert f"  {run}: my list.csv, " in listed
    ran = front_door(*printed(shown)[0], "--json")
    assert (ran.code, sum(ran.counts.values())) == (0, 30)
    again = front_door("resume", ran.summary["run"], "--out", "my results")
    assert printed(again) == [("show", ran.summary["run"], "--out", "my results")]


def test_a_results_file_knows_its_run(front_door: FrontDoor) -> None:
    """Without --mapping it is imported with the mapping and the flags of its run; given ones come on top of them."""
    own_questions(front_door.folder)
    write_csv(front_door.folder / "my list.csv", [candidate(1), candidate(2, **{"E-mail": "ada"})])
    ran = front_door("run", "my list.csv", "--mapping", "my mapping.yaml", *REHEARSAL, "--rows", "2-3", "--json")
    folder = f"my results/{ran.summary['run']}"
    results = front_door.folder / folder / "invalid.csv"
    results.write_text(results.read_text("utf-8-sig").replace("ada,", "ada@example,", 1), "utf-8-sig")
    again = front_door("run", f"{folder}/invalid.csv", "--json", "--rate", "50")
    assert (again.code, again.counts) == (4, {"invalid": 1, "already_imported": 1})
    assert again.summary["flags"] == {
        "--out": "my results", "--sandbox": "", "--questions": "my questions.json", "--rows": "2-3", "--rate": "50.0",
    }  # fmt: skip
    checked = front_door("check", f"{folder}/invalid.csv", "--json")
    assert (checked.summary["dry_run"], checked.summary["mapping"]) == (True, "my mapping.yaml")
    other = front_door("run", "my list.csv")
    assert (other.code, other.err) == (
        2,
        "importer: --mapping is missing: name the mapping file; only the results file of a run needs none\n",
    )
    real = front_door("run", f"{folder}/invalid.csv", "--mapping", "my mapping.yaml")
    assert (real.code, real.err) == (
        2,
        f"importer: {folder}/invalid.csv is of a sandbox run: add --sandbox, or import your own file\n",
    )
