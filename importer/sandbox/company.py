"""What the sandbox's company owns: its job posts with their questions, and its talent pools."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

ANSWER_TYPES = (
    "date",
    "short_text",
    "long_text",
    "integer",
    "decimal",
    "yes_no",
    "single_choice",
    "multiple_choice",
    "file_upload",
    "url",
)

EntryKind = Literal["education", "experience"]
MultipleChoice = Literal["json", "comma", "semicolon", "newline"]


@dataclass(frozen=True, slots=True)
class AnswerForms:
    """What the service description leaves open about answers, as this company has it."""

    yes_no: tuple[str, str] = ("yes", "no")
    multiple_choice: MultipleChoice = "json"


@dataclass(frozen=True, slots=True)
class Question:
    """A job post question (service description 2.1).

    `options` is the string as it is shown, `choices` what it holds. `entries` is the sandbox's own knowledge, never
    shown: the answer is a JSON array of such entries (2.3, 2.4).
    """

    id: int
    text: str
    required: bool
    answer_type: str
    options: str | None = None
    choices: tuple[str, ...] = ()
    key: str | None = None
    type: str | None = None
    entries: EntryKind | None = None

    @property
    def label(self) -> str:
        """How an error message names this question."""
        return f"question {self.id} ({self.key or self.text})"

    @property
    def takes_file(self) -> bool:
        """Whether the answer is a document ID in answer_file."""
        return self.answer_type == "file_upload" or self.type == "photo"

    def shown(self) -> dict[str, Any]:
        """The question as the service shows it."""
        return {
            "id": self.id,
            "question_text": self.text,
            "is_required": self.required,
            "answer_type": self.answer_type,
            "options": self.options,
            "question_key": self.key,
            "question_type": self.type,
        }


@dataclass(frozen=True)
class JobPost:
    """A job post: its hash, its questions, and who has applied before the sandbox began."""

    hash: str
    title: str = ""
    questions: tuple[Question, ...] = ()
    already_applied: tuple[str, ...] = ()

    @cached_property
    def by_id(self) -> dict[int, Question]:
        return {question.id: question for question in self.questions}

    @cached_property
    def by_key(self) -> dict[str, tuple[Question, ...]]:
        """Questions by key; nothing promises that a key is there once only."""
        found: dict[str, tuple[Question, ...]] = {}
        for question in self.questions:
            if question.key is not None:
                found[question.key] = (*found.get(question.key, ()), question)
        return found

    @cached_property
    def required(self) -> tuple[Question, ...]:
        return tuple(question for question in self.questions if question.required)

    @cached_property
    def listing(self) -> bytes:
        """The body of the question list (4.1)."""
        content = [question.shown() for question in self.questions]
        return json.dumps({"success": "OK", "content": content}, ensure_ascii=False).encode()


@dataclass(frozen=True, slots=True)
class TalentPool:
    """A talent pool: its number as text, and who was in it before the sandbox began."""

    id: str
    title: str = ""
    already_there: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Company:
    """The company whose token the sandbox knows."""

    name: str = ""
    job_posts: dict[str, JobPost] = field(default_factory=dict)
    talent_pools: dict[str, TalentPool] = field(default_factory=dict)
    forms: AnswerForms = AnswerForms()
