"""Rows are classified the same in this process and in others; e-mail addresses that are there twice."""

from __future__ import annotations

import dataclasses
import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path

import pytest

from importer.app import prepare_rows
from importer.app.classify_rows import Classified, ReadRows, check_rows, each_by_itself
from importer.mapping import DuplicatePolicy, ResolvedMapping, read_mapping, resolve
from importer.models import Outcome, Question, Row
from importer.problems import Column, FilePlace, Origin, Problem, UnusableInput
from importer.runs.row_selection import ALL_ROWS
from importer.runs.table import RunTable
from importer.settings import WireFormat
from importer.sources import Sheet
from importer.transform import LikelyErrors
from tests.patience import wait_until
from tests.samples.sample import ROOT

_MAPPING = """\
version: 1
target: {job_post: 4f2c9a}
defaults: {region: TR}
candidate: {email: E-mail, first_name: First, last_name: Last, cv: {value: "1"}}
source:
  where: {column: City, is_not: [Rome]}
answers:
  phone: Phone
  level: {column: Level, values: {Jr: Junior, Sr: Senior}, otherwise: blank}
"""
_HEADER = ("E-mail", "First", "Last", "Phone", "Level", "City")
_QUESTIONS = (
    Question(1, "Phone", False, "short_text", (), "phone", "phone"),
    Question(2, "Level", False, "single_choice", ("Junior", "Senior"), "level"),
)
_BROKEN = Problem("file-not-readable", "the file ends within a cell", "export it again", FilePlace("c.csv"))


def _row(number: int) -> Row:
    """A row of a messy file: it is sent, excluded, invalid, repeats an address or a person, or has warnings."""
    email = {3: "person1@example.com", 4: "nobody", 5: f"person{number}@gmial.com"}.get(number % 7)
    phone = "12" if number % 11 == 3 else f"0555 000 {number % 90:04d}"
    city, level = "Rome" if number % 13 == 5 else "Bursa", ("Jr", "Sr", "Medium", "")[number % 4]
    cells = (email or f"person{number}@example.com", "Ada", f"Nur {number % 90}", phone, level, city)
    return Row(Origin("c.csv"), number, cells)


def _rows() -> Iterator[Row]:
    """Enough for several blocks; then the file cannot be read any more."""
    yield from map(_row, range(2, 1000))
    raise UnusableInput([_BROKEN])


def _classified(read: ReadRows, mapping: ResolvedMapping) -> list[Classified]:
    """Each candidate by itself, as far as the file can be read."""
    found = list[Classified]()
    with suppress(UnusableInput):
        found.extend(each_by_itself(read, mapping, LikelyErrors(mapping)))
    return found


@pytest.fixture
def mapping(tmp_path: Path) -> ResolvedMapping:
    file = tmp_path / "m.yaml"
    file.write_text(_MAPPING, encoding="utf-8")
    columns = (Column(n, chr(65 + n), name) for n, name in enumerate(_HEADER))
    return resolve(read_mapping(file), tuple(columns), _QUESTIONS, WireFormat())


def test_other_processes_classify_rows_as_this_one_does(
    mapping: ResolvedMapping, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same candidates, bytes, problems and warnings in the same order, up to the place where the file breaks."""
    monkeypatch.setattr(prepare_rows, "_cores", lambda: 1)
    here = _classified(_rows, mapping)
    monkeypatch.setattr(prepare_rows, "_cores", lambda: 2)
    monkeypatch.setattr(prepare_rows, "_FEW", 100)
    monkeypatch.setattr(prepare_rows._ThisProcess, "rows", None)  # no block is prepared here
    monkeypatch.setattr(prepare_rows, "_MOST_WAITING", 0)
    there = _classified(_rows, mapping)
    assert len(here) == 998
    assert there == here[: len(there)]
    assert len(there) >= 998 - 64 * (1 + prepare_rows._AHEAD)  # those in its last blocks are not worth more
    outcomes = [one.result for one in here if isinstance(one.result, Outcome)]
    codes = {problem.code for outcome in outcomes for problem in outcome.problems}
    assert codes == {"filtered", "email-invalid", "phone-invalid"}


def test_this_process_prepares_rows_too_while_another_one_is_slow(
    mapping: ResolvedMapping, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then it waits for the first answer: what waits has a bound. All come in order."""
    prepare, waiting = prepare_rows._ThisProcess.rows, list[int]()

    def rows(this: prepare_rows._ThisProcess, block: list[Row]) -> list[prepare_rows.Prepared]:
        waiting.append(len(this._answers))
        return prepare(this, block)

    monkeypatch.setattr(prepare_rows, "_cores", lambda: 1)
    expected = _classified(lambda: map(_row, range(2, 3000)), mapping)
    monkeypatch.setattr(prepare_rows._ThisProcess, "rows", rows)
    monkeypatch.setattr(prepare_rows._OtherProcess, "has_answered", False)
    monkeypatch.setattr(prepare_rows, "_cores", lambda: 2)
    monkeypatch.setattr(prepare_rows, "_FEW", 10)
    assert _classified(lambda: map(_row, range(2, 3000)), mapping) == expected
    assert max(waiting) == prepare_rows._MOST_WAITING - prepare_rows._AHEAD - 1


@pytest.fixture
def others(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """The processes that are started, which prepare all rows but a few."""
    started = list[subprocess.Popen[bytes]]()

    class Recorded(prepare_rows._OtherProcess):
        def __init__(self, mapping: ResolvedMapping) -> None:
            super().__init__(mapping)
            assert self._process is not None
            started.append(self._process)

    monkeypatch.setattr(prepare_rows, "_OtherProcess", Recorded)
    monkeypatch.setattr(prepare_rows, "_cores", lambda: 2)
    monkeypatch.setattr(prepare_rows, "_FEW", 10)
    return started


def test_a_process_that_is_killed_costs_nothing(
    mapping: ResolvedMapping, others: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """This process prepares what the others do not: one may be killed when memory runs out."""

    def rows() -> Iterator[Row]:
        for number in range(2, 1000):
            if number == 500:
                for other in others:
                    other.kill()
            yield _row(number)

    found = _classified(rows, mapping)
    monkeypatch.setattr(prepare_rows, "_cores", lambda: 1)
    assert (len(others), found) == (1, _classified(rows, mapping))


def test_a_process_that_cannot_be_started_costs_nothing(
    mapping: ResolvedMapping, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither one that is no Python, nor one that does not exist."""
    monkeypatch.setattr(prepare_rows, "_cores", lambda: 1)
    expected = _classified(lambda: map(_row, range(2, 1000)), mapping)
    monkeypatch.setattr(prepare_rows, "_cores", lambda: 2)
    monkeypatch.setattr(prepare_rows, "_FEW", 10)
    for program in ("/bin/false", "/no/such/program", ""):
        monkeypatch.setattr(sys, "executable", program)
        assert _classified(lambda: map(_row, range(2, 1000)), mapping) == expected


@pytest.mark.parametrize(
    "more", [b"", b"\x80\x04\x95", b"Initialised\n"], ids=["before an answer", "in the middle of one", "other text"]
)
def test_after_a_part_of_an_answer_no_other_one_is_taken(
    more: bytes, mapping: ResolvedMapping, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be that to other rows."""
    program = f"import sys; sys.stdout.buffer.write({pickle.dumps([]) + more!r})"
    monkeypatch.setattr(prepare_rows, "_PROGRAM", program)
    with closing(prepare_rows._OtherProcess(mapping)) as other:
        assert [other.receive() for _ in range(3)] == [[], None, None]
        other.send([])


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="reads the environment of processes in /proc")
def test_other_processes_have_no_token(
    mapping: ResolvedMapping, others: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not in their environment."""
    monkeypatch.setenv("IMPORTER_TOKEN", "s3cret-of-this-test")
    found: list[bytes] = []

    def rows() -> Iterator[Row]:
        for number in range(2, 600):
            if number == 500:
                found.extend(Path(f"/proc/{other.pid}/environ").read_bytes() for other in others)
            yield _row(number)

    assert _classified(rows, mapping)
    assert [(b"PATH=" in one, b"s3cret-of-this-test" in one) for one in found] == [(True, False)]


_ENDLESS = """
import itertools, subprocess, sys
from pathlib import Path
from importer.app import classify_rows, prepare_rows
from tests.app.test_classify_rows import _row, mapping
prepare_rows._cores, prepare_rows._FEW, start, others = (lambda: 2), 10, subprocess.Popen, []
prepare_rows.Popen = lambda *args, **named: others.append(start(*args, **named)) or others[-1]
from importer.transform import LikelyErrors
mapping = mapping.__wrapped__(Path(sys.argv[1]))
read = lambda: map(_row, itertools.count(2))
for count, one in enumerate(classify_rows.each_by_itself(read, mapping, LikelyErrors(mapping))):
    if count == 2000:
        print(*(other.pid for other in others), flush=True)
"""


_ENDED = """
import itertools, sys
from pathlib import Path
from importer.app import prepare_rows
from tests.app.test_classify_rows import _row, mapping
prepare_rows._cores, prepare_rows._FEW = (lambda: 2), 10
rows = prepare_rows.prepared(map(_row, itertools.count(2)), mapping.__wrapped__(Path(sys.argv[1])))
print(*(next(rows) and number for number in range(2000)))
raise KeyError("a bug")
"""


def test_an_error_ends_a_program_as_any_error_does(tmp_path: Path) -> None:
    """Python would abort (134) if a thread still read from another process when it ends."""
    ended = subprocess.run(
        [sys.executable, "-c", _ENDED, str(tmp_path)], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert (ended.returncode, ended.stderr.splitlines()[-1]) == (1, "KeyError: 'a bug'")


@pytest.mark.skipif(not Path("/proc/self/exe").exists(), reason="looks for the processes in /proc")
def test_no_process_outlives_a_killed_one(tmp_path: Path) -> None:
    """After kill -9 the others end by themselves."""
    with subprocess.Popen(
        [sys.executable, "-c", _ENDLESS, str(tmp_path)], stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        assert process.stdout is not None
        others = process.stdout.readline().split()
        process.kill()
    assert len(others) == 1
    wait_until(lambda: not any(Path(f"/proc/{other}/exe").exists() for other in others))


def _sheet(rows: Sequence[Row]) -> Sheet:
    columns = tuple(Column.at(index, name) for index, name in enumerate(_HEADER))
    return Sheet(Origin("c.csv"), 1, columns, "", (), ",", 1, lambda: iter(rows))


@pytest.mark.parametrize("policy", ["first", "error"])
def test_addresses_that_are_there_twice(mapping: ResolvedMapping, tmp_path: Path, policy: str) -> None:
    """Of those with one address, the first is sent, or none; one that is not valid by itself counts too."""
    mapping = dataclasses.replace(mapping, duplicate_policy=DuplicatePolicy(policy))
    addresses = ("a@example.com", "b@example.com", "A@Example.com", "c@example.com", "a@example.com", "b@example.com")
    cells = ("Ada", "Nur", "0555 000 0001", "Jr", "Bursa")
    rows = [Row(Origin("c.csv"), at, (one, *cells)) for at, one in enumerate(addresses, start=2)]
    rows[1] = dataclasses.replace(rows[1], cells=(addresses[1], *cells[:2], "12", *cells[3:]))
    with RunTable(tmp_path) as table:
        table.store(_sheet(rows), ALL_ROWS)
        check_rows(table, table.sheet.rows, mapping)
        found = {one.rows[0]: one.result for one in table.kept()}
    held = {row: [one.message for one in each.problems] for row, each in found.items() if isinstance(each, Outcome)}
    ways = {"first": "which is imported instead", "error": "and neither row is sent"}
    same, also = "the e-mail address is the same as in row", ways[policy]
    second = [f"{same} 3, {'which has problems of its own' if policy == 'first' else also}"]
    expected = {4: [f"{same} 2, {also}"], 6: [f"{same} 2, {also}"], 7: second}
    first = {2: [f"{same} 4, {also}"]} if policy == "error" else {}
    assert {row: told for row, told in held.items() if row != 3} == expected | first
    assert len(held[3]) == (1 if policy == "first" else 2)
