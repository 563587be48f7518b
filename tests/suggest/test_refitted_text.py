"""A mapping file for another reading or target: what is in it stays, as far as it is asked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from importer.mapping import read_mapping
from importer.models import Question, Target
from importer.suggest import MappingText, Proposal, SourceFacts, refitted, write_proposal
from tests.suggest.builders import JOB_POST, POOL, asked, proposed

OTHER = Target(JOB_POST.operation, "other")
COLUMNS = {"City": ("Izmir", "Bern", "Van"), "Town": ("A", "B", "C"), "Grade": ("Junior", "Senior", "Chef")}
LEVEL = asked("level", "single_choice", options=("Junior", "Senior"), id=8)


def _for(target: Target, *questions: Question) -> Proposal:
    return proposed(COLUMNS, *questions, target=target)


def _of_person(text: str) -> str:
    """The proposal with a comment, a choice of a person, and an answer by the ID of its question."""
    changed = (
        MappingText(text)
        .put("answers", "city", ["city: Town   # the private one"])
        .put("answers", "id: 9", ['"id: 9": Grade'])
    )
    return f"# Kept by Ada\n{changed.text}"


def _read(text: str) -> None:
    """It is a mapping file without errors."""
    path = Path("people.yaml")
    path.write_text(text, "utf-8")
    read_mapping(path)


def test_another_target_keeps_what_it_asks_too() -> None:
    """Comments and choices stay, new questions get their proposal, and what is not asked there is removed."""
    text = _of_person(write_proposal(_for(JOB_POST, asked("city"), LEVEL, asked("x", id=9))))
    other = refitted(text, _for(OTHER, asked("city"), asked("grade", id=9)))
    _read(other)
    assert other.startswith("# Kept by Ada\n")
    assert "  city: Town   # the private one\n" in other
    assert MappingText(other).top("target") == {"job_post": "other"}
    assert MappingText(other).values("answers") == {"city": "Town", "grade": "Grade"}  # ID 9 is another question there
    pool = refitted(other, _for(POOL))
    _read(pool)
    assert MappingText(pool).values("answers") == {}
    back = refitted(pool, _for(JOB_POST, asked("city"), LEVEL))
    _read(back)
    assert set(MappingText(back).values("answers")) == {"city", "level"}


def test_another_reading_changes_only_how_it_is_read() -> None:
    """A choice stays even if its column is gone: the page shows that; words for an empty cell stay too."""
    text = _of_person(write_proposal(_for(JOB_POST, asked("city"), LEVEL))).replace(
        "header_row: 1", "header_row: 1\n  where: {column: City, is: [Van]}"
    )
    now = replace(proposed({"Ort": COLUMNS["City"]}, asked("city"), LEVEL), source=SourceFacts("f.csv", "Two", 3))
    new = MappingText(refitted(text, now))
    assert new.values("source") == {"sheet": "Two", "header_row": "3", "where": {"column": "City", "is": ["Van"]}}
    assert new.values("answers")["city"] == "Town"


def test_what_a_person_left_out_is_not_proposed_again() -> None:
    """At the same target: only how the file is read may be another."""
    left = MappingText(write_proposal(_for(JOB_POST, asked("city")))).drop("answers", "city").text
    assert "city" not in MappingText(refitted(left, _for(JOB_POST, asked("city"), asked("town")))).values("answers")


def test_letters_of_columns_are_not_taken_over_to_another_reading() -> None:
    """They may be other columns there: the proposal is taken, or nothing."""
    text = MappingText(write_proposal(_for(JOB_POST, asked("city"), LEVEL))).put("answers", "city", ['city: "=B"'])
    text = text.put("answers", "level", ["level: {column: [Grade, =C]}"])
    now = replace(_for(JOB_POST, asked("city")), source=SourceFacts("f.csv", "Two", 3))
    assert MappingText(refitted(text.text, now)).values("answers") == {"city": "City"}
    same = _for(JOB_POST, asked("city"), LEVEL)
    assert MappingText(refitted(text.text, same)).values("answers")["city"] == "=B"
