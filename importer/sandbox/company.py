"""The company of the sandbox: its job posts with their questions, its talent pools, and the file that lists them."""

from __future__ import annotations

import json
import re
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, field_validator, model_validator

from importer.sandbox.files import STRICT, NotJson, checked, quoted, read_json, read_json_file

_EMAIL: Final = re.compile(
    r"(?!\.)(?!.*\.\.)(?![^@]*\.@)[^@\s,;:<>()\[\]\"\\]{1,64}@"
    r"(?:[^@\s,;:<>()\[\]\"\\._-][^@\s,;:<>()\[\]\"\\.]*\.)+[^@\W_.]{2,}"
)

EntryKind = Literal["education", "experience"]
_ENTRY_WORDS: Final = {"education": "education", "experience": "experience", "work_experience": "experience"}


def _email(text: str) -> str:
    if len(text) > 254 or not _EMAIL.fullmatch(text):
        raise ValueError(f"{quoted(text)} is not a valid e-mail address")
    return text


def _options(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value


Email = Annotated[str, AfterValidator(_email)]
"""One bare address with a dotted domain, of at most 254 characters."""


class AnswerForms(BaseModel):
    """Formats of answers that the service description leaves open."""

    model_config = STRICT

    yes_no: Annotated[list[str], Field(min_length=2, max_length=2)] = ["yes", "no"]
    multiple_choice: Literal["json", "comma", "semicolon", "newline"] = "json"


class Question(BaseModel):
    """A job post question (service description 2.1).

    `options` is the string that the service shows. `entries` is internal to the sandbox: the answer is a JSON array of
    such entries (2.3, 2.4). Any text answers a question of an unknown answer type, or a choice without options.
    """

    model_config = STRICT

    id: int
    text: str = Field("", alias="question_text")
    required: bool = Field(alias="is_required")
    answer_type: str
    options: Annotated[str | None, BeforeValidator(_options)] = None
    key: str | None = Field(None, alias="question_key")
    type: str | None = Field(None, alias="question_type")
    entries: EntryKind | None = None

    @cached_property
    def choices(self) -> tuple[str, ...]:
        """The options: a JSON array, or else text with the first separator that occurs in it."""
        options = self.options or ""
        try:
            listing = read_json(options)
        except NotJson:
            listing = None
        if isinstance(listing, list):
            return tuple(map(str, listing))
        separator = next((separator for separator in ("\n", ";", "|", ",") if separator in options), "\n")
        return tuple(choice.strip() for choice in options.split(separator) if choice.strip())

    @property
    def label(self) -> str:
        """The question as an error message shows it."""
        return f"question {self.id} ({self.key or self.text})"

    @property
    def takes_file(self) -> bool:
        """Whether the answer is a document ID in answer_file."""
        return self.answer_type == "file_upload" or self.type == "photo"


class JobPost(BaseModel):
    """A job post: its hash, its questions, and who applied before the sandbox started."""

    model_config = STRICT

    hash: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,128}$")]
    title: str = ""
    questions: list[Question]
    already_applied: list[Email] = []

    @field_validator("questions")
    @classmethod
    def _unique(cls, questions: list[Question]) -> list[Question]:
        ids = [question.id for question in questions]
        if twice := [id for index, id in enumerate(ids) if id in ids[:index]]:
            raise ValueError(f"the id {twice[0]} is used by several questions")
        return questions

    @cached_property
    def by_id(self) -> dict[int, Question]:
        return {question.id: question for question in self.questions}

    @cached_property
    def listing(self) -> bytes:
        """The body of the question list (4.1)."""
        content = [question.model_dump(by_alias=True, exclude={"entries"}) for question in self.questions]
        return json.dumps({"success": "OK", "content": content}, ensure_ascii=False).encode()


class TalentPool(BaseModel):
    """A talent pool: its number as text, and who was in it before the sandbox started."""

    model_config = STRICT

    id: Annotated[str, Field(pattern=r"^[0-9]{1,18}$")]
    title: str = ""
    already_exists: list[Email] = []


class Company(BaseModel):
    """The company that the sandbox serves."""

    model_config = STRICT

    name: str = Field("", alias="company")
    forms: AnswerForms = Field(AnswerForms(), alias="answers")
    job_posts: dict[str, JobPost] = {}
    talent_pools: dict[str, TalentPool] = {}

    @model_validator(mode="before")
    @classmethod
    def _named(cls, value: Any) -> Any:
        """Each job post and pool with its name, which is its key in the file."""
        if not isinstance(value, dict):
            return value
        named = {"job_posts": "hash", "talent_pools": "id"}
        return value | {
            field: {key: one | {name: key} if isinstance(one, dict) else one for key, one in value[field].items()}
            for field, name in named.items()
            if isinstance(value.get(field), dict)
        }


def read_questions(path: Path) -> Company:
    """The company that a questions file describes.

    Two forms are read: the sandbox's own, with `job_posts` and `talent_pools`; and `{"job_post": HASH, "questions":
    [...]}`, the live questions of one job post as `importer questions HASH --json` prints them: there, questions for
    entries are recognized by their key or type.

    Raises SandboxUnusable: the file cannot be used; lists every problem in it.
    """
    value = read_json_file(path)
    if isinstance(value, dict) and "job_post" in value:
        for one in value.get("questions") or ():
            if isinstance(one, dict):
                kinds = (_ENTRY_WORDS.get(str(one.get(name))) for name in ("question_key", "question_type"))
                one.setdefault("entries", next(filter(None, kinds), None))
        value = {"job_posts": {str(value.pop("job_post")): value}}
    return checked(Company, path, value)
