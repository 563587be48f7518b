"""Builders for columns, questions and proposals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from importer.models import Operation, Question, Row, Target
from importer.problems import Column, Origin
from importer.suggest import ColumnView, Proposal, SourceFacts, propose, sample_columns

JOB_POST = Target(Operation.APPLY, "4f2c9a")
POOL = Target(Operation.ADD_TO_POOL, "17")
EMAILS = ("ada@example.com", "berk@example.org", "carla@example.net")
PERSON: dict[str, Sequence[str]] = {
    "E-mail": EMAILS,
    "First name": ("Ada", "Berk", "Carla"),
    "Last name": ("Nur", "Kaya", "Franke"),
    "CV": ("70001", "70002", "70003"),
}


def sampled(columns: Mapping[str, Sequence[str]]) -> tuple[ColumnView, ...]:
    """Columns with these headers and values, beginning with A."""
    named = [Column(index, chr(ord("A") + index), name) for index, name in enumerate(columns)]
    height = max((len(values) for values in columns.values()), default=0)
    cells = [[*values, *[""] * (height - len(values))] for values in columns.values()]
    rows = [Row(Origin("f.csv"), number + 2, tuple(texts)) for number, texts in enumerate(zip(*cells, strict=True))]
    return sample_columns(named, rows)


def proposed(
    columns: Mapping[str, Sequence[str]], *questions: Question, target: Target = JOB_POST, person: bool = True
) -> Proposal:
    """The proposal for these columns and, by default, the four required ones."""
    source = SourceFacts("f.csv", header_row=1)
    return propose(target, questions, sampled({**PERSON, **columns} if person else columns), source)


def asked(
    key: str, answer_type: str = "short_text", *, text: str = "", options: Sequence[str] = (), required: bool = False,
    type: str | None = None, id: int = 7,
) -> Question:  # fmt: skip
    return Question(id, text or key, required, answer_type, tuple(options), key, type)
