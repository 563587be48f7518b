"""The company of the sandbox: its job posts with their questions, its talent pools, and the file that lists them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

from importer.sandbox.json_reading import Diagnostics, NotJson, is_email, listed, quoted, read_json, read_json_file

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
    """Formats of answers that the service description leaves open."""

    yes_no: tuple[str, str] = ("yes", "no")
    multiple_choice: MultipleChoice = "json"


@dataclass(frozen=True, slots=True)
class Question:
    """A job post question (service description 2.1).

    `options` is the string that the service shows, `choices` its parsed options. `entries` is internal to the sandbox:
    the answer is a JSON array of such entries (2.3, 2.4).
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
        """The question as an error message shows it."""
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
    """A job post: its hash, its questions, and who applied before the sandbox started."""

    hash: str
    title: str = ""
    questions: tuple[Question, ...] = ()
    already_applied: tuple[str, ...] = ()

    @cached_property
    def by_id(self) -> dict[int, Question]:
        return {question.id: question for question in self.questions}

    @cached_property
    def by_key(self) -> dict[str, tuple[Question, ...]]:
        """Questions by key; the contract does not promise unique keys."""
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
    """A talent pool: its number as text, and who was in it before the sandbox started."""

    id: str
    title: str = ""
    already_exists: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Company:
    """The company that the sandbox serves."""

    name: str = ""
    job_posts: dict[str, JobPost] = field(default_factory=dict)
    talent_pools: dict[str, TalentPool] = field(default_factory=dict)
    forms: AnswerForms = AnswerForms()


# --- the questions file, read and checked ---------------------------------------------------

_QUESTION_NAMES = (*Question(0, "", False, "").shown(), "entries")
_ENTRY_WORDS: dict[str | None, EntryKind] = {
    "education": "education",
    "experience": "experience",
    "work_experience": "experience",
}
_MULTIPLE_CHOICE: tuple[str, ...] = get_args(MultipleChoice)
_SEPARATORS = ("\n", ";", "|", ",")
_HASH = re.compile(r"[A-Za-z0-9_-]{1,128}")
_POOL = re.compile(r"[0-9]{1,18}")


def read_questions(path: Path) -> Company:
    """The company that a questions file describes.

    Two forms are read: the sandbox's own, with `job_posts` and `talent_pools`; and `{"job_post": HASH, "questions":
    [...]}`, the live questions of one job post as `importer questions HASH --json` prints them. In the latter,
    education and experience questions are recognized by their key or type.

    Raises:
        SandboxUnusable: the file cannot be used; lists every problem in it.
    """
    value = read_json_file(path)
    problems = Diagnostics(path)
    company = _read_listing(value, problems) if "job_post" in value else _read_company(value, problems)
    problems.raise_if_any()
    return company


class _Object:
    """An object of the file: returns its values by name and reports their problems."""

    def __init__(self, place: str, value: Any, problems: Diagnostics) -> None:
        self.place = place
        self.problems = problems
        self.values: dict[str, Any] = value if isinstance(value, dict) else {}
        if not isinstance(value, dict):
            problems.add(place, "must be an object")

    def allow(self, *names: str) -> None:
        """Report every name that is not listed."""
        self.problems.unknown_names(self.place, self.values, names)

    def at(self, name: str) -> str:
        return f"{self.place}.{name}" if self.place else name

    def report(self, name: str, message: str) -> None:
        self.problems.add(self.at(name), message)

    def within(self, name: str) -> _Object:
        return _Object(self.at(name), self.values.get(name, {}), self.problems)

    def text(self, name: str) -> str:
        """The text of that name, or "" if it is missing."""
        value = self.values.get(name, "")
        if not isinstance(value, str):
            self.report(name, "must be a string")
            return ""
        return value

    def optional_text(self, name: str) -> str | None:
        value = self.values.get(name)
        if value is not None and not isinstance(value, str):
            self.report(name, "must be a string or null")
            return None
        return value

    def emails(self, name: str) -> tuple[str, ...]:
        value = self.values.get(name, [])
        if not _are_texts(value):
            self.report(name, "must be an array of e-mail addresses")
            return ()
        for email in value:
            if not is_email(email):
                self.report(name, f"{quoted(email)} is not a valid e-mail address")
        return tuple(value)

    def questions(self, *, as_listed: bool = False) -> tuple[Question, ...]:
        items = self.values.get("questions")
        if not isinstance(items, list):
            self.report("questions", "must be an array of questions")
            return ()
        found: dict[int, Question] = {}
        for index, item in enumerate(items):
            read = _Object(self.at(f"questions[{index}]"), item, self.problems)
            question = _read_question(read, as_listed)
            if question is not None and question.id in found:
                read.report("id", f"{question.id} is already used by another question")
            elif question is not None:
                found[question.id] = question
        return tuple(found.values())


def _read_listing(value: dict[str, Any], problems: Diagnostics) -> Company:
    listing = _Object("", value, problems)
    listing.allow("job_post", "title", "questions")
    name = value["job_post"]
    if not isinstance(name, str) or not _HASH.fullmatch(name):
        listing.report("job_post", "must be a job post hash of letters, digits, '_' and '-'")
        return Company()
    questions = listing.questions(as_listed=True)
    return Company(job_posts={name: JobPost(name, listing.text("title"), questions)})


def _read_company(value: dict[str, Any], problems: Diagnostics) -> Company:
    file = _Object("", value, problems)
    file.allow("company", "answers", "job_posts", "talent_pools")
    posts, pools = file.within("job_posts"), file.within("talent_pools")
    job_posts = {name: _read_job_post(name, posts.within(name)) for name in posts.values}
    talent_pools = {name: _read_talent_pool(name, pools.within(name)) for name in pools.values}
    return Company(file.text("company"), job_posts, talent_pools, _read_forms(file.within("answers")))


def _read_forms(answers: _Object) -> AnswerForms:
    answers.allow("yes_no", "multiple_choice")
    words = answers.values.get("yes_no", ["yes", "no"])
    multiple = answers.values.get("multiple_choice", "json")
    if multiple not in _MULTIPLE_CHOICE:
        answers.report("multiple_choice", f"{quoted(multiple)} is not one of {listed(_MULTIPLE_CHOICE)}")
    if not _are_texts(words) or len(words) != 2 or words[0] == words[1]:
        answers.report("yes_no", "must be two different words, one for yes and one for no")
        return AnswerForms()
    return AnswerForms((words[0], words[1]), multiple)


def _read_job_post(name: str, post: _Object) -> JobPost:
    if not _HASH.fullmatch(name):
        post.problems.add(post.place, "a job post hash consists of letters, digits, '_' and '-'")
    post.allow("title", "questions", "already_applied")
    return JobPost(name, post.text("title"), post.questions(), post.emails("already_applied"))


def _read_talent_pool(name: str, pool: _Object) -> TalentPool:
    if not _POOL.fullmatch(name):
        pool.problems.add(pool.place, "a talent pool number consists of 1 to 18 digits")
    pool.allow("title", "already_exists")
    return TalentPool(name, pool.text("title"), pool.emails("already_exists"))


def _read_question(question: _Object, as_listed: bool) -> Question | None:
    """One question, or None where a required value is missing; every problem is reported either way.

    `as_listed`: the question came from a service and cannot be fixed, so a new answer type or a choice without options
    is accepted, and any text answers it. Entry questions are recognized by their key or type.
    """
    values = question.values
    if not values:
        return None
    question.allow(*_QUESTION_NAMES)
    number, answer_type, options = values.get("id"), values.get("answer_type"), values.get("options")
    if not isinstance(number, int) or isinstance(number, bool):
        question.report("id", "must be an integer")
    if answer_type not in ANSWER_TYPES and not (as_listed and isinstance(answer_type, str)):
        question.report("answer_type", f"{quoted(answer_type)} is not one of {listed(ANSWER_TYPES)}")
    if not isinstance(values.get("is_required"), bool):
        question.report("is_required", "must be true or false")
    key, kind = question.optional_text("question_key"), question.optional_text("question_type")
    choices = _read_choices(question, needed=not as_listed and answer_type in ("single_choice", "multiple_choice"))
    entries = values.get("entries")
    if entries not in (None, "education", "experience"):
        question.report("entries", f"{quoted(entries)} is neither 'education' nor 'experience'")
    if as_listed and entries is None:
        entries = _ENTRY_WORDS.get(key) or _ENTRY_WORDS.get(kind)
    text = question.text("question_text")
    if not isinstance(number, int) or not isinstance(answer_type, str):
        return None
    shown = json.dumps(options, ensure_ascii=False) if isinstance(options, list) else options
    return Question(number, text, values.get("is_required") is True, answer_type, shown, choices, key, kind, entries)


def _read_choices(question: _Object, *, needed: bool) -> tuple[str, ...]:
    options = question.values.get("options")
    if options is not None and not isinstance(options, str) and not _are_texts(options):
        question.report("options", "must be a string, an array of strings or null")
        return ()
    choices = tuple(options) if isinstance(options, list) else _split_options(options or "")
    if needed and not choices:
        question.report("options", f"a {question.values['answer_type']} question needs options")
    return choices


def _split_options(options: str) -> tuple[str, ...]:
    """The options of an options string: a JSON array, or else text with the first separator that occurs in it."""
    try:
        listing = read_json(options)
    except NotJson:
        listing = None
    if _are_texts(listing):
        return tuple(listing)
    separator = next((separator for separator in _SEPARATORS if separator in options), "\n")
    return tuple(choice.strip() for choice in options.split(separator) if choice.strip())


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
