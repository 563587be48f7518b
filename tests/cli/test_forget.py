"""`importer forget`: no file of the importer has the person any more, and all others are reported as before."""

from __future__ import annotations

import csv
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest
from openpyxl import Workbook

from importer.app.forget import Person
from importer.ledger import Scope, open_ledger
from importer.models import Operation, Target
from importer.runs.results_folder import make_private_folder
from tests.cli.conftest import HEADER, Served, candidate, read_csv, write_csv
from tests.cli.test_corrections import BAD, MAIL, correct
from tests.cli.test_run import RUN
from tests.patience import PATIENCE
from tests.samples.sample import ROOT

Serve = Callable[..., Served]
PERSON = "Person1@example.com"  # as a person may write it


def holding(folder: Path, *words: str) -> set[str]:
    """The files below a folder that have one of the words, also inside of workbooks."""
    found = set()
    for path in filter(Path.is_file, folder.rglob("*")):
        content = path.read_bytes()
        if path.suffix == ".xlsx":
            with ZipFile(path) as book:
                content = b"".join(map(book.read, book.namelist()))
        if any(word.casefold().encode() in content.lower() for word in words):
            found.add(path.name)
    return found


def forgotten(served: Served, *flags: str, code: int = 0) -> str:
    ran = served("forget", PERSON, "--yes", *flags)
    assert ran.code == code, ran.err
    return ran.out


def test_a_person_goes_and_every_other_row_stays(serve: Serve) -> None:
    """Copies and reports are written again without the person; the outcomes stay, and nobody is entered twice."""
    served = serve()
    folder = served.door.folder
    others = [candidate(2), candidate(11), candidate(3, Salary="a lot")]
    write_csv(folder / "people.csv", [candidate(1, First="Zelda"), *others])
    run = served(*RUN, "--json").summary["run"]
    results = folder / "results"
    assert holding(results, "person1@example.com", "Zelda") >= {"source.csv", "run.sqlite", "report.xlsx"}
    out = forgotten(served)
    assert out.splitlines()[:2] == [f"results/{run}", "1 row blanked in 1 folder."]
    assert "people.csv: has the address too" in " ".join(out.split())
    assert holding(results, "person1@example.com", "Zelda", "+905550000001") == set()
    created = read_csv(results / run / "201_created.csv")
    assert [(row["import_row"], row[MAIL]) for row in created] == [
        ("2", ""), ("3", "person2@example.com"), ("4", "person11@example.com"),
    ]  # fmt: skip
    assert created[0]["import_problem"] == "a person was removed from this row by importer forget"
    assert served("show", run, "--json").counts == {"created": 3, "invalid": 1}
    assert "Fix the rows in people.csv and run" in served("show", run).out
    refused = correct(served, run, {"Salary": "900"})  # the copy of its file is gone
    assert (refused.code, refused.err.splitlines()[-1][-47:]) == (2, " importer run people.csv --mapping mapping.yaml")
    again = served(*RUN, "--json")
    assert again.counts == {"already_imported": 3, "invalid": 1}
    assert served.accepted.count("person1@example.com") == 1


def test_the_ledger_forgets_by_choice(serve: Serve) -> None:
    """With --from-ledger, a file with the person is sent as new, and the service says that it has the person."""
    served = serve()
    write_csv(served.door.folder / "people.csv", [candidate(1), candidate(2)])
    served(*RUN)
    assert "keeps keyed hashes, so that no one is entered twice" in forgotten(served)
    assert "removed from the ledger" in forgotten(served, "--from-ledger")
    assert forgotten(served).splitlines()[0] == "No run and no draft in results has this address."
    assert served(*RUN, "--json").counts == {"already_exists": 1, "already_imported": 1}


def test_the_ledger_does_not_forget_while_a_target_is_held(serve: Serve) -> None:
    """A run of another results folder may be waiting for the answer about this person."""
    served = serve()
    write_csv(served.door.folder / "people.csv", [candidate(1)])
    served(*RUN)
    scope = Scope(served.sandbox.base_url, Target(Operation.APPLY, "4f2c9a"))
    with open_ledger(served.door.folder / "results" / "ledger.sqlite") as ledger, ledger.lock_target(scope):
        assert served("forget", PERSON, "--yes", "--from-ledger").code == 75
    assert holding(served.door.folder / "results", "person1@example.com") == set()
    assert "removed from the ledger" in forgotten(served, "--from-ledger")


def test_where_a_person_is_named_only_the_cell_is_blanked(serve: Serve) -> None:
    """In the row of somebody else. Longer addresses are other people."""
    served = serve()
    rows = [candidate(2, Salary="see person1@example.com"), candidate(3), candidate(4, First="x.person1@example.com")]
    write_csv(served.door.folder / "people.csv", rows)
    run = served(*RUN, "--json").summary["run"]
    forgotten(served)
    results = served.door.folder / "results" / run
    (row,) = read_csv(results / "invalid.csv")[:1]
    assert (row[MAIL], row["Salary"], row["First"]) == ("person2@example.com", "", "Ada")
    assert holding(results, "see person1@example.com") == set()
    assert "x.person1@example.com" in (results / "201_created.csv").read_text() + (results / "invalid.csv").read_text()


def test_corrections_and_all_rows_of_a_candidate_go(serve: Serve) -> None:
    """Also what the cells had before they were corrected, and rows without the address."""
    served = serve()
    mapping = served.door.folder / "mapping.yaml"
    mapping.write_text(mapping.read_text("utf-8") + "source: {group_by: {column: Last, blank: continues}}\n", "utf-8")
    other = ["", "", "", "", "", "", "1000"]
    write_csv(
        served.door.folder / "people.csv", [candidate(1, **{MAIL: BAD, "Last": "Zeldason"}), other, candidate(2), other]
    )
    run = served(*RUN, "--json").summary["run"]
    fixed = correct(served, run, {MAIL: "person1@example.com"})
    assert fixed.counts == {"created": 2, "already_imported": 2}
    out = " ".join(forgotten(served).split())
    assert "4 rows blanked in 2 folders." in out
    assert f"results/{run}/report.xlsx was changed: import it first, or what you corrected in it is lost." in out
    results = served.door.folder / "results"
    assert holding(results, "person1@example.com", BAD, "Zeldason") == set()
    assert served("show", fixed.summary["run"], "--json").counts == {"created": 2, "already_imported": 2}


def test_a_folder_of_mappings(serve: Serve) -> None:
    """The run of each mapping has all rows of the file."""
    served = serve()
    folder = served.door.folder
    shutil.copytree(ROOT / "mappings" / "all_job_posts", folder / "all")
    with (ROOT / "sample_data" / "all_job_posts" / "export.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    book = Workbook()
    for row in rows:
        book.active.append(row)  # type: ignore[union-attr]
    book.save(folder / "export.xlsx")
    served("run", "export.xlsx", "--mapping", "all", "--sandbox")
    results = folder / "results"
    assert holding(results, "kerem.ay@example.com")
    ran = served("forget", "kerem.ay@example.com", "--yes")
    assert "6 rows blanked in 3 folders." in ran.out
    assert holding(results, "kerem.ay@example.com", "Kerem Ay") == set()
    assert served("show", "last", "--json").counts == {"created": 1, "filtered": 5}


def test_a_part_of_a_file_and_a_killed_run(serve: Serve) -> None:
    """The copy has rows that the run did not read; a killed run is ended first, and a running one is skipped."""
    served = serve()
    rows = [candidate(number) for number in range(30)]
    write_csv(served.door.folder / "people.csv", rows)
    served(*RUN, "--rows", "5-9")
    served.killed_after(10, *RUN, "--rate", "50")
    forgotten(served)
    results = served.door.folder / "results"
    assert holding(results, "person1@example.com") == set()
    assert sum(served("show", "last", "--json").counts.values()) == 30
    assert served(*RUN, "--json").code == 0
    assert sorted(served.accepted) == sorted(row[0] for row in rows)
    write_csv(served.door.folder / "people.csv", [candidate(1), *(candidate(number) for number in range(100, 300))])
    with served.door.started(*RUN, "--rate", "4") as process:
        served.wait_for(31)
        refused = served("forget", PERSON, "--yes")
        assert (refused.code, "is running, and nothing was removed" in refused.err) == (75, True)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=PATIENCE) == 143
    forgotten(served)
    assert holding(results, "person1@example.com") == set()


def test_a_workbook_that_is_imported_again_is_read_again(serve: Serve) -> None:
    """The rows of an earlier run are usually taken over; blanked ones are not those of the file."""
    served = serve()
    book = Workbook()
    for row in (HEADER, candidate(1), candidate(2, Salary="1000; ask person1@example.com")):
        book.active.append(row)  # type: ignore[union-attr]
    book.save(served.door.folder / "people.xlsx")
    command = ("run", "people.xlsx", "--mapping", "mapping.yaml", "--json")
    assert served(*command).counts == {"created": 1, "invalid": 1}
    forgotten(served, "--from-ledger")
    assert served(*command).counts == {"already_exists": 1, "invalid": 1}
    assert served.accepted == ["person1@example.com"]


def test_what_killed_commands_left_goes_too(serve: Serve) -> None:
    """A run that was killed in its check has no manifest; a report of parts that was killed has half a folder."""
    served = serve()
    results = served.door.folder / "results"
    write_csv(served.door.folder / "people.csv", [candidate(2)])
    served(*RUN)
    for name in ("20250101-020000-abcd", "20250101-020000-abcd.4parts"):
        left = make_private_folder(results, name)
        (left / "source.csv").write_text("person1@example.com", "utf-8")
    assert "0 rows blanked in 2 folders." in forgotten(served)
    assert holding(results, "person1@example.com") == set()
    assert len(list(results.glob("2*"))) == 1


def test_what_cannot_be_read_is_named_and_does_not_stop_the_rest(serve: Serve) -> None:
    """The table of one run is damaged, and another one was killed while it sent with another ledger."""
    served = serve()
    results = served.door.folder / "results"
    write_csv(served.door.folder / "people.csv", [candidate(number) for number in range(30)])
    damaged, good = (served(*RUN, "--json").summary["run"] for _ in range(2))
    (results / damaged / "run.sqlite").write_bytes(b"person1@example.com" * 99)
    served.killed_after(32, "run", "people.csv", "--mapping", "pool.yaml", IMPORTER_LEDGER="other/ledger.sqlite")
    out = " ".join(forgotten(served, code=4).split())
    assert f"results/{damaged}: " in out
    assert "uses another ledger" in out
    assert "1 row blanked" in out
    assert holding(results / good, "person1@example.com") == set()
    assert len(list(results.glob("2*"))) == 3


def test_a_mention_in_a_group_or_a_child_file_is_removed(serve: Serve) -> None:
    """Texts of the candidate are stored with its first row, whatever row or file has the mention."""
    served = serve()
    folder = served.door.folder
    text = (folder / "mapping.yaml").read_text("utf-8").replace("  salary: Salary\n", "  salary: {join: [Salary]}\n")
    (folder / "mapping.yaml").write_text(text + "source: {group_by: Last}\n", "utf-8")
    rows = [candidate(2, Salary=""), candidate(2, Salary="or person1@example.com")]
    write_csv(folder / "people.csv", rows)
    run = served(*RUN, "--json").summary["run"]
    assert "person1@example.com" in (folder / "results" / run / "invalid.csv").read_text("utf-8")
    (folder / "results" / "20250101-020000-abcd").mkdir()  # not a run, and no workbook
    (folder / "results" / run / "notes.xlsx").write_bytes(b"PK\x03\x04 damaged")
    forgotten(served)
    assert holding(folder / "results", "person1@example.com") == set()
    assert "person2@example.com" in (folder / "results" / run / "invalid.csv").read_text("utf-8")


def test_letters_that_are_not_ascii_are_found_in_every_text(serve: Serve) -> None:
    """Problems and bodies are stored with escapes."""
    served = serve()
    rows = [candidate(2, Salary="ask jörg@example.com"), candidate(3, Last="JÖRG@example.com"), candidate(4)]
    write_csv(served.door.folder / "people.csv", rows)
    run = served(*RUN, "--json").summary["run"]
    assert served("forget", "jörg@example.com", "--yes").code == 0
    assert holding(served.door.folder / "results", "jörg@example.com", "j\\u00f6rg@", "J\\u00d6RG@") == set()
    assert served("show", run, "--json").code == 0


def test_the_status_of_a_file_is_known_after_a_person_is_forgotten(serve: Serve) -> None:
    """Also if a run had only some of its rows: the copy is gone, and the table has these."""
    served = serve()
    write_csv(served.door.folder / "people.csv", [candidate(1), candidate(2), candidate(3)])
    served(*RUN, "--limit", "2")
    forgotten(served)
    assert served("status", "people.csv").code == 0
    served(*RUN)
    assert "3 created" in served("status", "people.csv").out


@pytest.mark.parametrize("address", ["ada", "ada@", "a b@example.com", ""])
def test_only_an_address_is_taken(serve: Serve, address: str) -> None:
    """A name would be found in the rows of other people."""
    refused = serve()("forget", address, "--yes")
    assert (refused.code, "is not an e-mail address" in refused.err) == (2, True)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp1254", "utf-16"])
def test_a_file_in_another_encoding(tmp_path: Path, encoding: str) -> None:
    """The bytes of an address differ, and it may stand where two pieces of a large file meet."""
    path = tmp_path / "people.csv"
    for before in (0, (1 << 20) - 10):
        path.write_text(f"{'x' * before},Person1@Example.com,\n", encoding)
        assert Person("person1@example.com").is_in_file(path)
        assert not Person("erson1@example.com").is_in_file(path)
        assert not Person("person1@example.co").is_in_file(path)
    path.write_text("JÖRG@example.com", encoding)
    assert Person("jörg@example.com").is_in_file(path)
    assert HEADER[0] == MAIL
