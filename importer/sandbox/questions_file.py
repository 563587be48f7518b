"""The questions file: the company, its job posts with their questions, its talent pools, read and checked whole."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from importer.sandbox.answers import is_email
from importer.sandbox.company import ANSWER_TYPES, AnswerForms, Company, EntryKind, JobPost, Question, TalentPool
from importer.sandbox.http_messages import listed, quoted
from importer.sandbox.json_reading import Findings, NotJson, read_json, read_json_file

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
        SandboxUnusable: the file cannot be used; tells every mistake in it.
    """
    value = read_json_file(path)
    findings = Findings(path)
    company = _read_listing(value, findings) if "job_post" in value else _read_company(value, findings)
    findings.raise_if_any()
    return company


def _read_listing(value: dict[str, Any], findings: Findings) -> Company:
    findings.unknown_names("", value, _LISTING_NAMES)
    name = value["job_post"]
    if not isinstance(name, str) or not _HASH.fullmatch(name):
        findings.add("job_post", "must be a job post hash of letters, digits, '_' and '-'")
        return Company()
    questions = _read_questions("questions", value.get("questions"), findings, as_listed=True)
    return Company(job_posts={name: JobPost(name, _text("title", value, "title", findings), questions)})


def _read_company(value: dict[str, Any], findings: Findings) -> Company:
    findings.unknown_names("", value, _FILE_NAMES)
    job_posts = {
        name: _read_job_post(f"job_posts.{name}", name, post, findings)
        for name, post in _object("job_posts", value.get("job_posts", {}), findings).items()
    }
    talent_pools = {
        name: _read_talent_pool(f"talent_pools.{name}", name, pool, findings)
        for name, pool in _object("talent_pools", value.get("talent_pools", {}), findings).items()
    }
    forms = _read_forms(_object("answers", value.get("answers", {}), findings), findings)
    return Company(_text("company", value, "company", findings), job_posts, talent_pools, forms)


def _read_forms(value: dict[str, Any], findings: Findings) -> AnswerForms:
    findings.unknown_names("answers", value, ("yes_no", "multiple_choice"))
    words = value.get("yes_no", ["yes", "no"])
    multiple = value.get("multiple_choice", "json")
    if multiple not in _MULTIPLE_CHOICE:
        findings.add("answers.multiple_choice", f"{quoted(multiple)} is not one of {listed(_MULTIPLE_CHOICE)}")
    if not _are_texts(words) or len(words) != 2 or words[0] == words[1]:
        findings.add("answers.yes_no", "must be two different words, the one for yes and the one for no")
        return AnswerForms()
    return AnswerForms((words[0], words[1]), multiple)


def _read_job_post(place: str, name: str, value: Any, findings: Findings) -> JobPost:
    if not _HASH.fullmatch(name):
        findings.add(place, "a job post hash is made of letters, digits, '_' and '-'")
    post = _object(place, value, findings)
    findings.unknown_names(place, post, ("title", "questions", "already_applied"))
    return JobPost(
        name,
        _text(f"{place}.title", post, "title", findings),
        _read_questions(f"{place}.questions", post.get("questions"), findings),
        _read_emails(f"{place}.already_applied", post.get("already_applied", []), findings),
    )


def _read_talent_pool(place: str, name: str, value: Any, findings: Findings) -> TalentPool:
    if not _POOL.fullmatch(name):
        findings.add(place, "a talent pool number is made of 1 to 18 digits")
    pool = _object(place, value, findings)
    findings.unknown_names(place, pool, ("title", "already_there"))
    already = _read_emails(f"{place}.already_there", pool.get("already_there", []), findings)
    return TalentPool(name, _text(f"{place}.title", pool, "title", findings), already)


def _read_emails(place: str, value: Any, findings: Findings) -> tuple[str, ...]:
    if not _are_texts(value):
        findings.add(place, "must be an array of e-mail addresses")
        return ()
    for email in value:
        if not is_email(email):
            findings.add(place, f"{quoted(email)} is no e-mail address")
    return tuple(value)


def _read_questions(place: str, value: Any, findings: Findings, *, as_listed: bool = False) -> tuple[Question, ...]:
    if not isinstance(value, list):
        findings.add(place, "must be an array of questions")
        return ()
    questions: list[Question] = []
    for index, item in enumerate(value):
        question = _read_question(f"{place}[{index}]", item, findings, as_listed)
        if question is None:
            continue
        if any(question.id == other.id for other in questions):
            findings.add(f"{place}[{index}].id", f"{question.id} stands for another question already")
        questions.append(question)
    return tuple(questions)


def _read_question(place: str, item: Any, findings: Findings, as_listed: bool) -> Question | None:
    """One question, or None where what it must have is missing; every fault is told either way.

    `as_listed`: it is what a service gave, and nobody can mend that: a new answer type or a choice without options is
    taken, and any text answers it. Which questions are entries is guessed by their key or type.
    """
    question = _object(place, item, findings)
    if not question:
        return None
    findings.unknown_names(place, question, _QUESTION_NAMES)
    number, answer_type = question.get("id"), question.get("answer_type")
    if not isinstance(number, int) or isinstance(number, bool):
        findings.add(f"{place}.id", "must be an integer")
    if answer_type not in ANSWER_TYPES and not (as_listed and isinstance(answer_type, str)):
        findings.add(f"{place}.answer_type", f"{quoted(answer_type)} is not one of {listed(ANSWER_TYPES)}")
    if not isinstance(question.get("is_required"), bool):
        findings.add(f"{place}.is_required", "must be true or false")
    key = _optional_text(place, question, "question_key", findings)
    kind = _optional_text(place, question, "question_type", findings)
    choices = _read_choices(f"{place}.options", question.get("options"), None if as_listed else answer_type, findings)
    entries = _read_entries(f"{place}.entries", question.get("entries"), findings)
    if as_listed and entries is None:
        entries = _ENTRY_WORDS.get(key or "") or _ENTRY_WORDS.get(kind or "")
    text = _text(f"{place}.question_text", question, "question_text", findings)
    if not isinstance(number, int) or not isinstance(answer_type, str):
        return None
    required, shown = question.get("is_required") is True, _shown_options(question.get("options"))
    return Question(number, text, required, answer_type, shown, choices, key, kind, entries)


def _read_entries(place: str, value: Any, findings: Findings) -> EntryKind | None:
    if value is None:
        return None
    if value == "education" or value == "experience":
        return "education" if value == "education" else "experience"
    findings.add(place, f"{quoted(value)} is neither 'education' nor 'experience'")
    return None


def _read_choices(place: str, options: Any, answer_type: Any, findings: Findings) -> tuple[str, ...]:
    if options is not None and not isinstance(options, str) and not _are_texts(options):
        findings.add(place, "must be a string, an array of strings or null")
        return ()
    choices = tuple(options) if isinstance(options, list) else _split_options(options or "")
    if answer_type in _CHOICE_TYPES and not choices:
        findings.add(place, f"a {answer_type} question needs options")
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


def _object(place: str, value: Any, findings: Findings) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    findings.add(place, "must be an object")
    return {}


def _text(place: str, value: dict[str, Any], name: str, findings: Findings) -> str:
    text = value.get(name, "")
    if isinstance(text, str):
        return text
    findings.add(place, "must be a string")
    return ""


def _optional_text(place: str, value: dict[str, Any], name: str, findings: Findings) -> str | None:
    text = value.get(name)
    if text is None or isinstance(text, str):
        return text
    findings.add(f"{place}.{name}", "must be a string or null")
    return None


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
