"""A mapping file for another reading or target: what a person changed stays, the rest is as it is proposed now."""

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


def test_an_untouched_proposal_is_proposed_again() -> None:
    """Nothing of it was chosen by a person."""
    first, now = _for(JOB_POST, asked("city")), _for(OTHER, asked("city"), LEVEL)
    text = write_proposal(first)
    assert refitted(text, text, now) == write_proposal(now)


def test_another_target_keeps_what_it_asks_too() -> None:
    """Comments and choices stay, also those that are not asked; new questions get their proposal, and back again."""
    first = _for(JOB_POST, asked("city"), LEVEL, asked("x", id=9))
    text = _of_person(write_proposal(first))
    now = _for(OTHER, asked("city"), asked("grade", id=9))
    other = refitted(text, write_proposal(first), now)
    _read(other)
    assert other.startswith("# Kept by Ada\n")
    assert "  city: Town   # the private one\n" in other
    assert MappingText(other).top("target") == {"job_post": "other"}
    assert MappingText(other).aside("answers") == ("id: 9",)  # another question there
    assert MappingText(other).values("answers")["grade"] == "Grade"
    pool = refitted(other, write_proposal(now), _for(POOL))
    _read(pool)
    assert MappingText(pool).values("answers") == {}
    assert set(MappingText(pool).aside("answers")) == {"city", "id: 9"}
    back = refitted(pool, write_proposal(_for(POOL)), first)
    _read(back)
    assert "  city: Town   # the private one\n" in back
    assert set(MappingText(back).values("answers")) == {"city", "level"}


def test_another_reading_changes_how_it_is_read_and_what_was_proposed() -> None:
    """A choice stays even if its column is gone: the page shows that; words for an empty cell stay too."""
    first = _for(JOB_POST, asked("city"), LEVEL)
    text = _of_person(write_proposal(first)).replace(
        "header_row: 1", "header_row: 1\n  where: {column: City, is: [Van]}"
    )
    now = replace(proposed({"Ort": COLUMNS["City"]}, asked("city"), LEVEL), source=SourceFacts("f.csv", "Two", 3))
    new = MappingText(refitted(text, write_proposal(first), now))
    assert new.values("source") == {"sheet": "Two", "header_row": "3", "where": {"column": "City", "is": ["Van"]}}
    assert new.values("answers")["city"] == "Town"
    assert "level" not in new.values("answers")


def test_a_mapping_that_was_opened_is_wholly_of_a_person() -> None:
    """Without the proposal that it began with, what a person left out is not proposed again."""
    text = write_proposal(_for(JOB_POST, asked("city"))).replace("city: City", "city: Gone")
    new = MappingText(refitted(text, None, _for(JOB_POST, asked("city"), asked("town"))))
    assert new.values("answers") == {"city": "Gone"}
    left = MappingText(text).drop("answers", "city").text
    assert "city" not in MappingText(refitted(left, None, _for(JOB_POST, asked("city")))).values("answers")
