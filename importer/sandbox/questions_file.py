"""The questions file: the company, its job posts with their questions, its talent pools, read and checked whole."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from importer.sandbox.answers import is_email
from importer.sandbox.company import ANSWER_TYPES, AnswerForms, Company, EntryKind, JobPost, Question, TalentPool
from importer.sandbox.http_messages import listed, quoted
from importer.sandbox.json_reading import Diagnostics, NotJson, read_json, read_json_file

_QUESTION_NAMES = (
    "id",
    "question_text",
    "is_required",
    "answer_type",
    "options",
    "question_key",
    "question_type",
    "entries",
)
_FILE_NAMES = ("company", "answers", "job_posts", "talent_pools")
_LISTING_NAMES = ("job_post", "title", "questions")
_ENTRY_WORDS: dict[str, EntryKind] = {
    "education": "education",
    "experience": "experience",
    "work_experience": "experience",
}
_MULTIPLE_CHOICE = ("json", "comma", "semicolon", "newline")
_SEPARATORS = ("\n", ";", "|", ",")
_CHOICE_TYPES = ("single_choice", "multiple_choice")
_HASH = re.compile(r"[A-Za-z0-9_-]{1,128}")
_POOL = re.compile(r"[0-9]{1,18}")


def read_questions(path: Path) -> Company:
    """The company that a questions file describes.

    Two forms are read: the sandbox's own, with `job_posts` and `talent_pools`; and `{"job_post": HASH, "questions":
    [...]}`, the live questions of one job post as `importer questions HASH --json` prints them. In the latter the
    education and experience questions are known by their key or type.

    Raises:
        SandboxUnusable: the file cannot be used; reports every error in it.
    """
    value = read_json_file(path)
    problems = Diagnostics(path)
    company = _read_listing(value, problems) if "job_post" in value else _read_company(value, problems)
    problems.raise_if_any()
    return company


def _read_listing(value: dict[str, Any], problems: Diagnostics) -> Company:
    problems.unknown_names("", value, _LISTING_NAMES)
    name = value["job_post"]
    if not isinstance(name, str) or not _HASH.fullmatch(name):
        problems.add("job_post", "must be a job post hash of letters, digits, '_' and '-'")
        return Company()
    questions = _read_questions("questions", value.get("questions"), problems, as_listed=True)
    return Company(job_posts={name: JobPost(name, _text("title", value, "title", problems), questions)})


def _read_company(value: dict[str, Any], problems: Diagnostics) -> Company:
    problems.unknown_names("", value, _FILE_NAMES)
    job_posts = {
        name: _read_job_post(f"job_posts.{name}", name, post, problems)
        for name, post in _object("job_posts", value.get("job_posts", {}), problems).items()
    }
    talent_pools = {
        name: _read_talent_pool(f"talent_pools.{name}", name, pool, problems)
        for name, pool in _object("talent_pools", value.get("talent_pools", {}), problems).items()
    }
    forms = _read_forms(_object("answers", value.get("answers", {}), problems), problems)
    return Company(_text("company", value, "company", problems), job_posts, talent_pools, forms)


def _read_forms(value: dict[str, Any], problems: Diagnostics) -> AnswerForms:
    problems.unknown_names("answers", value, ("yes_no", "multiple_choice"))
    words = value.get("yes_no", ["yes", "no"])
    multiple = value.get("multiple_choice", "json")
    if multiple not in _MULTIPLE_CHOICE:
        problems.add("answers.multiple_choice", f"{quoted(multiple)} is not one of {listed(_MULTIPLE_CHOICE)}")
    if not _are_texts(words) or len(words) != 2 or words[0] == words[1]:
        problems.add("answers.yes_no", "must be two different words, the one for yes and the one for no")
        return AnswerForms()
    return AnswerForms((words[0], words[1]), multiple)


def _read_job_post(place: str, name: str, value: Any, problems: Diagnostics) -> JobPost:
    if not _HASH.fullmatch(name):
        problems.add(place, "a job post hash is made of letters, digits, '_' and '-'")
    post = _object(place, value, problems)
    problems.unknown_names(place, post, ("title", "questions", "already_applied"))
    return JobPost(
        name,
        _text(f"{place}.title", post, "title", problems),
        _read_questions(f"{place}.questions", post.get("questions"), problems),
        _read_emails(f"{place}.already_applied", post.get("already_applied", []), problems),
    )


def _read_talent_pool(place: str, name: str, value: Any, problems: Diagnostics) -> TalentPool:
    if not _POOL.fullmatch(name):
        problems.add(place, "a talent pool number is made of 1 to 18 digits")
    pool = _object(place, value, problems)
    problems.unknown_names(place, pool, ("title", "already_there"))
    already = _read_emails(f"{place}.already_there", pool.get("already_there", []), problems)
    return TalentPool(name, _text(f"{place}.title", pool, "title", problems), already)


def _read_emails(place: str, value: Any, problems: Diagnostics) -> tuple[str, ...]:
    if not _are_texts(value):
        problems.add(place, "must be an array of e-mail addresses")
        return ()
    for email in value:
        if not is_email(email):
            problems.add(place, f"{quoted(email)} is no e-mail address")
    return tuple(value)


def _read_questions(place: str, value: Any, problems: Diagnostics, *, as_listed: bool = False) -> tuple[Question, ...]:
    if not isinstance(value, list):
        problems.add(place, "must be an array of questions")
        return ()
    questions: list[Question] = []
    for index, item in enumerate(value):
        question = _read_question(f"{place}[{index}]", item, problems, as_listed)
        if question is None:
            continue
        if any(question.id == other.id for other in questions):
            problems.add(f"{place}[{index}].id", f"{question.id} stands for another question already")
        questions.append(question)
    return tuple(questions)


def _read_question(place: str, item: Any, problems: Diagnostics, as_listed: bool) -> Question | None:
    """One question, or None where what it must have is missing; every error is reported either way.

    `as_listed`: it is what a service gave, and nobody can fix that: a new answer type or a choice without options is
    taken, and any text answers it. Which questions are entries is guessed by their key or type.
    """
    question = _object(place, item, problems)
    if not question:
        return None
    problems.unknown_names(place, question, _QUESTION_NAMES)
    number, answer_type = question.get("id"), question.get("answer_type")
    if not isinstance(number, int) or isinstance(number, bool):
        problems.add(f"{place}.id", "must be an integer")
    if answer_type not in ANSWER_TYPES and not (as_listed and isinstance(answer_type, str)):
        problems.add(f"{place}.answer_type", f"{quoted(answer_type)} is not one of {listed(ANSWER_TYPES)}")
    if not isinstance(question.get("is_required"), bool):
        problems.add(f"{place}.is_required", "must be true or false")
    key = _optional_text(place, question, "question_key", problems)
    kind = _optional_text(place, question, "question_type", problems)
    choices = _read_choices(f"{place}.options", question.get("options"), None if as_listed else answer_type, problems)
    entries = _read_entries(f"{place}.entries", question.get("entries"), problems)
    if as_listed and entries is None:
        entries = _ENTRY_WORDS.get(key or "") or _ENTRY_WORDS.get(kind or "")
    text = _text(f"{place}.question_text", question, "question_text", problems)
    if not isinstance(number, int) or not isinstance(answer_type, str):
        return None
    required, shown = question.get("is_required") is True, _shown_options(question.get("options"))
    return Question(number, text, required, answer_type, shown, choices, key, kind, entries)


def _read_entries(place: str, value: Any, problems: Diagnostics) -> EntryKind | None:
    if value is None:
        return None
    if value == "education" or value == "experience":
        return "education" if value == "education" else "experience"
    problems.add(place, f"{quoted(value)} is neither 'education' nor 'experience'")
    return None


def _read_choices(place: str, options: Any, answer_type: Any, problems: Diagnostics) -> tuple[str, ...]:
    if options is not None and not isinstance(options, str) and not _are_texts(options):
        problems.add(place, "must be a string, an array of strings or null")
        return ()
    choices = tuple(options) if isinstance(options, list) else _split_options(options or "")
    if answer_type in _CHOICE_TYPES and not choices:
        problems.add(place, f"a {answer_type} question needs options")
    return choices


def _split_options(options: str) -> tuple[str, ...]:
    """The options of an options string: a JSON array, or else text with the first separator that is in it."""
    try:
        listing = read_json(options)
    except NotJson:
        listing = None
    if _are_texts(listing):
        return tuple(listing)
    separator = next((separator for separator in _SEPARATORS if separator in options), "\n")
    return tuple(choice.strip() for choice in options.split(separator) if choice.strip())


def _shown_options(options: Any) -> str | None:
    if isinstance(options, list):
        return json.dumps(options, ensure_ascii=False)
    return options if isinstance(options, str) else None


def _object(place: str, value: Any, problems: Diagnostics) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    problems.add(place, "must be an object")
    return {}


def _text(place: str, value: dict[str, Any], name: str, problems: Diagnostics) -> str:
    text = value.get(name, "")
    if isinstance(text, str):
        return text
    problems.add(place, "must be a string")
    return ""


def _optional_text(place: str, value: dict[str, Any], name: str, problems: Diagnostics) -> str | None:
    text = value.get(name)
    if text is None or isinstance(text, str):
        return text
    problems.add(f"{place}.{name}", "must be a string or null")
    return None


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
