"""Rows are classified the same in this process and in others; the first row of each key, however many there are."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from importer.app.background_worker import BackgroundWorker
from importer.app.classify_rows import Candidates, Classified, FirstRows
from importer.mapping import ResolvedMapping, read_mapping, resolve
from importer.models import Outcome, Question, Row
from importer.problems import Column, FilePlace, Origin, Problem, UnusableInput
from importer.settings import WireFormat

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


def _classified(
    mapping: ResolvedMapping, *, in_background: bool
) -> tuple[list[Classified], tuple[Problem, ...] | None]:
    candidates = Candidates(_rows, mapping, 20)
    if in_background:
        assert isinstance(candidates._worker, BackgroundWorker)
    elif candidates._worker is not None:
        candidates._worker.close()
        candidates._worker = None
    found: list[Classified] = []
    with pytest.raises(UnusableInput) as caught:
        found.extend(iter(candidates))
    candidates.close()
    assert caught.value.problems == (_BROKEN,)
    return found, candidates.warnings


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux only")
def test_other_processes_classify_rows_as_this_one_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same candidates, bytes, problems and warnings in the same order, up to the place where the file breaks."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})  # also on one processor
    file = tmp_path / "m.yaml"
    file.write_text(_MAPPING, encoding="utf-8")
    columns = (Column(n, chr(65 + n), name) for n, name in enumerate(_HEADER))
    mapping = resolve(read_mapping(file), tuple(columns), _QUESTIONS, WireFormat())
    here, there = _classified(mapping, in_background=False), _classified(mapping, in_background=True)
    assert there == here
    outcomes = [one.result for one in here[0] if isinstance(one.result, Outcome)]
    codes = {problem.code for outcome in outcomes for problem in outcome.problems}
    warned = {warning.code for one in here[0] for warning in one.warnings}
    assert codes == {"filtered", "email-duplicate", "email-invalid", "phone-invalid"}
    assert warned == {"email-domain-mistyped"}


@given(st.lists(st.integers(0, 30)))
def test_it_is_a_dict_whatever_is_put_away(keys: list[int]) -> None:
    """With room for three keys in memory it answers as a dict does."""
    plain: dict[bytes, int] = {}
    with FirstRows(in_memory=3) as first_rows:
        for row, number in enumerate(keys, start=2):
            key = number.to_bytes(16)
            assert first_rows.setdefault(key, row) == plain.setdefault(key, row)
