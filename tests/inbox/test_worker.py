"""What becomes of the files in an inbox: each is imported once, or waits with a reason."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from importer.app.orders import Event, Planned, Window, ignore
from importer.cli.app import main
from importer.inbox.arrivals import WaitingFile
from importer.inbox.attention import release, status_of
from importer.problems import UsageError
from tests.cli.conftest import HEADER, Served
from tests.inbox.conftest import RULES, Night, night_of


def reasons(night: Night) -> list[str]:
    return [reason.code for event in night.ended for reason in event.reasons]


def test_a_complete_file_is_imported_and_done(night: Night) -> None:
    """It lies in done/, and only its owner can read it."""
    night.drop("people1.csv", range(3))
    assert night.run() == 0
    (first,) = night.ended
    assert (first.place, first.outcomes) == ("done", {"created": 3})
    assert {path.name for path in first.folder.iterdir()} == {"people1.csv", ".taken.json"}
    assert oct(first.folder.stat().st_mode & 0o777) == "0o700"
    night.drop("people2.csv", range(3, 6))
    assert night.run() == 0
    assert night.served.accepted == [f"person{number}@example.com" for number in range(6)]
    assert (night.run(), night.events) == (0, [])


def test_a_file_that_grows_is_looked_at_until_it_is_complete(night: Night) -> None:
    """Only then it is taken, once, with all rows."""
    written = []

    def write_more() -> None:
        if len(written) < 5:
            written.append(night.drop("people.csv", range(len(written) + 2)))

    night.drop("people.csv", range(1))
    night.at_sleep = write_more
    assert night.run() == 0
    assert [event.outcomes for event in night.ended] == [{"created": 6}]
    assert night.slept >= 60


def test_a_file_that_grows_for_too_long_stays_for_the_next_pass(night: Night) -> None:
    """The pass ends after `wait` and reports the file, which a later pass takes."""
    night.drop("people.csv", range(1))
    path = night.folder / "incoming" / "people.csv"
    night.at_sleep = lambda: path.write_text(path.read_text() + "\n")
    assert night.run() == 0
    (left,) = night.events
    assert isinstance(left, WaitingFile)
    assert (left.name, left.why, left.is_odd) == ("people.csv", "is still changing", False)
    night.at_sleep = lambda: None
    assert night.run() == 0
    assert night.places == {"done": ["people.csv"]}


def test_a_sender_that_writes_during_the_import_is_noticed(night: Night) -> None:
    """A rename does not stop it: the file waits in attention, and a release imports the rest."""
    path = night.drop("people.csv", range(3))
    rows = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(rows[:3]))
    with path.open("ab", buffering=0) as sender:
        night.listen = lambda event: sender.write(rows.pop()) if isinstance(event, Planned) else None
        assert (night.run(), reasons(night)) == (4, ["inbox-file-changed"])
    night.listen = ignore
    assert night.ended[0].reasons[0].text == (
        "people.csv: its sender changed it after the import had read it: rows may be missing, "
        "and its last one then may have been sent incomplete"
    )
    release(night.folder, ["people.csv"])
    assert night.run() == 0
    assert night.ended[0].outcomes == {"created": 1, "already_imported": 2}


def test_rows_to_fix_wait_in_attention_with_the_commands_that_go_on(night: Night) -> None:
    """reason.txt says what, where and what to do; the fixed file is released and imported by the next pass."""
    night.drop("people.csv", range(2), Salary="much")
    assert night.run() == 4
    (event,) = night.ended
    text = (event.folder / "reason.txt").read_text()
    assert text.startswith(
        f"people.csv needs a person. It was in inbox/incoming, and is now here: {event.folder}/people.csv\n\n"
        "- 2 of its 2 rows need a person [inbox-rows-open]\n"
    )
    release_it, run_it = f"importer inbox release inbox {event.folder.name}", "importer inbox run inbox"
    assert (
        f"  3. Or fix them in {event.folder}/people.csv, then\n     import it again\n"
        f"     {release_it}\n     {run_it}\n\n"
    ) in text
    page = Path("results", event.run or "", "report.html").read_text()
    assert f"<code>{release_it}</code></pre><pre><code>{run_it}</code>" in page
    assert "inbox/incoming/people.csv" not in "".join(re.findall("<code>(.*?)</code>", page))
    assert text.endswith(
        "To import the file again from here, with what you changed since (imported rows are skipped):\n"
        f"  {release_it}\n  {run_it}\n"
        f"If it is settled in another way, move this folder to done/:\n  mv {event.folder} inbox/done\n"
    )
    file = event.folder / "people.csv"
    file.write_text(file.read_text().replace("much", "1000"))
    release(night.folder, ["people.csv"])
    assert night.places == {"working": ["people.csv"]}
    assert {path.name for path in (night.folder / "working").glob("*/*")} == {"people.csv", ".taken.json"}
    assert night.run() == 0
    assert (night.ended[0].place, len(night.served.accepted)) == ("done", 2)


def test_files_are_released_together_or_not_at_all(night: Night) -> None:
    """What cannot be released is named at once, with the patterns and the right order of the arguments."""
    for name in ("people1.csv", "people2.csv", "other.csv"):
        (night.folder / "incoming" / name).write_bytes(b"")
    assert night.run() == 3

    def refusal(folder: Path, *names: str) -> str:
        with pytest.raises(UsageError) as refused:
            release(folder, names)
        return str(refused.value)

    assert refusal(night.folder, "people1.csv", "other.csv", "people3.csv").splitlines() == [
        "other.csv matches no pattern of inbox/inbox.toml (it has: people*.csv); add a [[files]] section for it there, "
        "or move the file to inbox/incoming under a name that matches",
        "inbox/attention has no file people3.csv; list its files with: importer inbox status inbox",
        "no file was released",
    ]
    (first,) = (path.name for path in (night.folder / "attention").glob("*people1.csv"))
    released = release(night.folder, ["people1.csv", first, "people2.csv"])
    assert [record.name for record in released] == ["people1.csv", "people2.csv"]
    assert night.places == {"attention": ["other.csv"], "working": ["people1.csv", "people2.csv"]}


OTHERS = [
    pytest.param("people.csv", b"", 3, ["file-empty"], id="empty"),
    pytest.param("other.csv", b"x", 3, ["inbox-file-unmatched"], id="no pattern"),
    pytest.param("people.csv", ",".join(HEADER[1:]).encode() + b"\n1\n", 3, ["column-not-found"], id="wrong header"),
    pytest.param("people.csv", b"PK\x03\x04", 3, ["workbook-damaged"], id="not a table"),
    pytest.param("reason.txt", b"x", 3, ["inbox-file-unmatched"], id="a name that we use too"),
]


@pytest.mark.parametrize(("name", "content", "code", "found"), OTHERS)
def test_a_file_that_cannot_be_imported_waits_in_attention(
    night: Night, name: str, content: bytes, code: int, found: list[str]
) -> None:
    """With its reason, unchanged, and nothing was sent."""
    (night.folder / "incoming" / name).write_bytes(content)
    assert night.run() == code
    assert reasons(night) == found
    assert (night.ended[0].folder / name).read_bytes() == content
    assert (night.ended[0].place, night.served.accepted) == ("attention", [])
    (reason,) = (path for path in night.ended[0].folder.glob("reason*.txt") if path.read_bytes() != content)
    assert "working" not in reason.read_text()  # where the file was during the import


def test_a_quiet_night_is_no_repeated_file(night: Night) -> None:
    """A file without rows has the same content each night."""
    for number in range(3):
        night.drop(f"people{number}.csv", range(0))
        assert (night.run(), reasons(night)) == (0, [])


def test_the_same_content_as_of_an_imported_file_is_held_before_anything_is_sent(night: Night) -> None:
    """Under any name; a person releases it. Only of a file that is not held, the plan is shown."""
    plans: list[Event] = []
    night.listen = lambda event: plans.append(event) if isinstance(event, Planned) else None
    night.drop("people1.csv", range(20))
    assert night.run() == 0
    night.drop("people2.csv", range(20))
    assert (night.run(), reasons(night)) == (3, ["inbox-file-repeated"])
    assert (night.places, len(plans)) == ({"attention": ["people2.csv"], "done": ["people1.csv"]}, 1)
    (reason,) = night.ended[0].reasons
    assert (reason.text, reason.hint) == (
        "people2.csv: it has the same content as people1.csv, which was imported on 2026-03-01 at 02:00 UTC",
        "ask its sender for the file that was meant",
    )
    release(night.folder, ["people2.csv"])
    assert night.run() == 0
    assert (night.ended[0].outcomes, len(night.served.accepted)) == ({"already_imported": 20}, 20)


def test_a_service_that_is_down_or_refuses_the_token_leaves_every_file_for_the_next_pass(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file that was begun is continued from working/, the others are not even taken, nothing is sent twice."""
    night.drop("people1.csv", range(2))
    night.drop("people2.csv", range(2, 4))
    token = os.environ["IMPORTER_TOKEN"]
    monkeypatch.setenv("IMPORTER_TOKEN", "expired")
    assert night.run() == 5
    assert night.places == {"incoming": ["people2.csv"], "working": ["people1.csv"]}
    assert (night.ended[0].place, len(night.ended[0].reasons)) == ("working", 1)
    monkeypatch.setenv("IMPORTER_TOKEN", "")
    monkeypatch.setenv("IMPORTER_TOKEN_FILE", "missing")
    assert (night.run(), reasons(night)) == (3, ["token-invalid"])
    monkeypatch.delenv("IMPORTER_TOKEN_FILE")
    monkeypatch.setenv("IMPORTER_TOKEN", token)
    assert night.run() == 0
    assert night.places == {"done": ["people1.csv", "people2.csv"]}
    assert len(night.served.accepted) == 4


def test_a_target_that_forbids_the_file_does_not_keep_it_in_work_for_ever(
    serve: Callable[..., Served], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No later pass could finish it: it waits in attention, where a person looks, and the next file is imported."""
    night = night_of(serve({"kind": "403", "first": 1, "operation": "apply"}), monkeypatch)
    night.drop("people1.csv", range(2))
    night.drop("people2.csv", range(2, 4))
    assert (night.run(), reasons(night)) == (5, ["target-forbidden"])
    assert night.places == {"attention": ["people1.csv"], "done": ["people2.csv"]}
    said = night.ended[0].reason_file.read_text("utf-8")
    assert "- the service does not allow adding candidates to job post 4f2c9a (403) [target-forbidden]\n" in said
    release(night.folder, ["people1.csv"])
    assert night.run() == 0
    assert night.places == {"done": ["people1.csv", "people2.csv"]}


UNFINISHED = [
    pytest.param({"IMPORTER_TOKEN": "expired"}, id="the token is refused"),
    pytest.param({"IMPORTER_TOKEN": "", "IMPORTER_TOKEN_FILE": "missing"}, id="a setting"),
]


@pytest.mark.parametrize("environment", UNFINISHED)
def test_the_status_reports_a_file_that_a_pass_could_not_finish(
    night: Night, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]
) -> None:
    """Also one that the next pass continues, and after a release; not any more once it is done."""
    night.drop("people1.csv", range(2))
    (night.drop("people2.csv", range(2, 3))).rename(night.folder / "incoming" / "other.csv")
    with monkeypatch.context() as changed:
        for name, value in environment.items():
            changed.setenv(name, value)
        assert night.run() in (3, 5)
        assert night.places["working"] == ["people1.csv"]
        assert status_of(night.folder, night.at).needs_person is True
    assert night.run() == 3
    (night.folder / "attention" / night.ended[-1].folder.name).rename(night.folder / "done" / "settled")
    assert status_of(night.folder, night.at).needs_person is False
    night.drop("people3.csv", range(2))
    assert (night.run(), reasons(night)) == (3, ["inbox-file-repeated"])
    release(night.folder, ["people3.csv"])
    assert status_of(night.folder, night.at).needs_person is False
    with monkeypatch.context() as changed:
        for name, value in environment.items():
            changed.setenv(name, value)
        assert night.run() in (3, 5)
    assert status_of(night.folder, night.at).needs_person is True


def test_an_import_that_began_is_not_continued_at_another_service(
    night: Night, serve: Callable[..., Served], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits until a person releases it."""
    served = serve({"kind": "401", "share": 1.0, "times": 9999, "operation": "apply"})
    monkeypatch.setenv("IMPORTER_BASE_URL", served.sandbox.base_url)
    night.drop("people.csv", range(2))
    assert night.run() == 5
    monkeypatch.setenv("IMPORTER_BASE_URL", night.served.sandbox.base_url)
    assert (night.run(), reasons(night)) == (3, ["inbox-service-differs"])
    assert night.served.accepted == []


def test_what_a_pass_ended_with_is_over_when_the_next_one_sends(night: Night, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until it ends, no status says that nothing was sent."""
    night.drop("people.csv", range(2))
    token = os.environ["IMPORTER_TOKEN"]
    monkeypatch.setenv("IMPORTER_TOKEN", "old")
    assert (night.run(), len(status_of(night.folder, night.at).working)) == (5, 1)
    monkeypatch.setenv("IMPORTER_TOKEN", token)
    left = []

    def look(event: Event) -> None:
        if isinstance(event, Planned):
            left.extend(record.result for record in status_of(night.folder, night.at).working)

    night.listen = look
    assert (night.run(), left) == (0, [None])


def test_a_release_for_another_reason_sends_nothing_to_another_service(
    night: Night, serve: Callable[..., Served], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as the practice of yesterday; a person who was told of the other service may send the rows there."""
    other = serve()
    night.drop("people.csv", range(2), Salary="much")
    assert (night.run(), reasons(night)) == (4, ["inbox-rows-open"])
    file = night.ended[0].folder / "people.csv"
    file.write_text(file.read_text().replace("much", "1000"))
    release(night.folder, ["people.csv"])
    monkeypatch.setenv("IMPORTER_BASE_URL", other.sandbox.base_url)
    assert (night.run(), reasons(night), other.accepted) == (3, ["inbox-service-differs"], [])
    release(night.folder, ["people.csv"])
    assert (night.run(), len(other.accepted), night.served.accepted) == (0, 2, [])


def test_a_file_that_is_removed_during_its_import_was_sent_all_the_same(night: Night) -> None:
    """It is told, with its run, and the next file is imported."""
    night.drop("people1.csv", range(2))
    night.drop("people2.csv", range(2, 4))

    def remove(event: Event) -> None:
        if isinstance(event, Planned):
            for path in (night.folder / "working").glob("*/people1.csv"):
                path.unlink()

    night.listen = remove
    assert (night.run(), reasons(night), len(night.served.accepted)) == (4, ["inbox-file-missing"], 4)
    told = night.ended[0].reason_file.read_text()
    assert (f"results/{night.ended[0].run}" in told, "release" in told) == (True, False)
    with pytest.raises(UsageError, match="is missing, or has a second name"):
        release(night.folder, ["people1.csv"])
    night.listen = ignore
    night.drop("people1.csv", range(2))
    assert (night.run(), night.ended[0].outcomes) == (0, {"already_imported": 2})


def test_the_status_reports_what_no_pass_takes(night: Night) -> None:
    """A link with the name of a file to import, and a folder that has no record; not one of another name."""
    (night.folder / "incoming" / "old").mkdir()
    assert (night.run(), status_of(night.folder, night.at).needs_person) == (0, False)
    (night.folder / "incoming" / "people.csv").symlink_to("old")
    assert (night.run(), status_of(night.folder, night.at).needs_person) == (4, True)
    (night.folder / "incoming" / "people.csv").unlink()
    (night.folder / "attention" / "lost").mkdir()
    assert status_of(night.folder, night.at).needs_person is True


def test_a_pass_that_waits_for_nothing_takes_what_is_complete(
    serve: Callable[..., Served], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It must look twice, so it waits for `settle` once."""
    night = night_of(serve(), monkeypatch, f"wait = 0\n{RULES}")
    night.drop("people.csv", range(2))
    assert (night.run(), night.places) == (0, {"done": ["people.csv"]})


def test_a_file_whose_worker_died_comes_after_the_others(night: Night) -> None:
    """If it is the file that kills the worker, the others are imported all the same."""

    def die() -> None:
        night.at_taken = lambda: None
        raise KeyboardInterrupt

    night.drop("people1.csv", range(2))
    night.at_taken = die
    with pytest.raises(KeyboardInterrupt):
        night.run()
    night.drop("people2.csv", range(2, 4))
    assert night.run() == 0
    assert [event.name for event in night.ended] == ["people2.csv", "people1.csv"]


FORGED = "people\n- everything is fine [ok]\r\x1b[2K\u2028.csv"
SHOWN = "people\\u000a- everything is fine [ok]\\u000d\\u001b[2K\\u2028.csv"


def test_a_name_with_line_breaks_forges_no_line(night: Night, capsys: pytest.CaptureFixture[str]) -> None:
    """It is shown escaped, in reason.txt, events (terminal, notices) and the status; the commands work with it."""
    night.drop(FORGED, range(2), Salary="much")
    (night.folder / "incoming" / f"link\n{FORGED}").symlink_to("/")
    assert night.run() == 4
    (left,) = (event for event in night.events if isinstance(event, WaitingFile))
    assert left.name == f"link\\u000a{SHOWN}"
    (ended,) = night.ended
    assert (ended.name, (ended.folder / SHOWN).is_file()) == (SHOWN, True)
    assert str(ended.folder).endswith(SHOWN)
    text = ended.reason_file.read_text("utf-8")
    assert text.splitlines()[0] == (
        f"{SHOWN} needs a person. It was in inbox/incoming, and is now here: {ended.folder / SHOWN}"
    )
    assert [line for line in text.splitlines() if line.startswith("- ")] == [
        "- 2 of its 2 rows need a person [inbox-rows-open]"
    ]
    with pytest.raises(SystemExit):
        main(["inbox", "status", "inbox"])
    shown = capsys.readouterr().out.splitlines()
    assert [line[:13] for line in shown[1:]] == ["  incoming   ", "  attention  ", "  pattern    "]
    release(night.folder, [SHOWN])
    assert (night.run(), [event.name for event in night.ended]) == (4, [SHOWN])


def test_a_name_that_is_too_long_to_be_escaped_gets_underscores(night: Night) -> None:
    """A name has at most 255 bytes."""
    night.drop("people" + "\n" * 100 + ".csv", range(2))
    assert night.run() == 0
    assert night.places["done"] == [f"people{'_' * 100}.csv"]


def test_two_workers_do_not_use_one_inbox(night: Night) -> None:
    """The second one ends with 75 and touches nothing."""
    night.drop("people.csv", range(2))
    codes = []

    def run_another() -> None:
        other = Night(night.folder, night.served)
        codes.append(other.run())
        codes.append(len(other.errors))

    night.at_sleep = run_another
    assert night.run() == 0
    assert codes == [75, 1]
    assert night.places == {"done": ["people.csv"]}


def test_the_end_of_the_time_for_sending_leaves_files_for_the_next_pass(night: Night) -> None:
    """The one that was being sent is continued then, and the next one is not begun."""
    night.drop("people1.csv", range(2))
    night.drop("people2.csv", range(2, 4))
    night.window = Window(0.0, "--until 06:00", waits=True)
    assert (night.run(), reasons(night)) == (5, ["time-over"])
    assert night.places == {"incoming": ["people2.csv"], "working": ["people1.csv"]}
    assert status_of(night.folder, night.at).needs_person is False
    night.window = None
    assert night.run() == 0
    assert sorted(night.served.accepted) == [f"person{number}@example.com" for number in range(4)]
