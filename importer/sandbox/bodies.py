"""Request bodies (service description 2.1 to 2.4, 4.2 and 4.3): everything that is wrong with one, at once."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import date
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ValidationError, model_validator

from importer.sandbox.company import AnswerForms, Email, EntryKind, JobPost, Question
from importer.sandbox.files import STRICT, NotJson, listed, problems_of, quoted, read_json

_LONGEST_SHORT_TEXT: Final = 255
_SEPARATORS: Final = {"comma": ",", "semicolon": ";", "newline": "\n"}

FieldErrors = list[tuple[str, str]]
"""Each error: the field of the body, and the message."""

# --- formats of values ---------------------------------------------------------------------------------


def is_date(text: str) -> bool:
    """Whether the text is an existing date as YYYY-MM-DD."""
    try:
        return re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text) is not None and bool(date.fromisoformat(text))
    except ValueError:
        return False


def is_phone(text: str) -> bool:
    """Whether the text is 7 to 15 digits with separators, after an optional +."""
    return re.fullmatch(r"\+?[0-9 ()./-]+", text) is not None and 7 <= sum(map(str.isdigit, text)) <= 15


def is_web_address(text: str) -> bool:
    """Whether the text is an http or https address with a host and without white space."""
    try:
        parts = urlsplit(text)
        is_possible = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return is_possible and not any(map(str.isspace, text))


def is_document_number(value: Any) -> bool:
    """Whether the value is a document ID: an integer or a string of digits (service description 2.2)."""
    return (value.isascii() and value.isdigit()) if isinstance(value, str) else type(value) is int and value >= 0


def _filled(text: str) -> str:
    if not text.strip():
        raise ValueError("may not be blank")
    return text


def _day(text: str) -> str:
    if not is_date(text):
        raise ValueError(f"{quoted(text)} is not a valid date (YYYY-MM-DD)")
    return text


def _document(value: Any) -> Any:
    if type(value) is int or (isinstance(value, str) and value.strip()):
        return value
    raise ValueError("must be an integer or a string that is not blank")


Filled = Annotated[str, AfterValidator(_filled)]
_Day = Annotated[str, AfterValidator(_day)]

# --- the fields of a candidate (4.2 and 4.3) ---------------------------------------------------------


class _Candidate(BaseModel):
    model_config = STRICT

    email: Email
    first_name: Filled
    last_name: Filled
    cv: Annotated[Any, AfterValidator(_document)]


class _Application(_Candidate):
    terms_of_use: bool = False
    answers: list[dict[str, Any]]


class _PoolCandidate(_Candidate):
    source_platform: str = ""


def check_application(body: dict[str, Any], post: JobPost, forms: AnswerForms) -> FieldErrors:
    """All errors in the body of an application (4.2); empty for a valid one."""
    errors, answers = _errors(_Application, body), body.get("answers")
    if isinstance(answers, list) and all(isinstance(item, dict) for item in answers):
        errors += [("answers", message) for message in _check_answers(answers, post, forms)]
    return errors


def check_pool_candidate(body: dict[str, Any]) -> FieldErrors:
    """All errors in the body of a talent pool addition (4.3); empty for a valid one."""
    return _errors(_PoolCandidate, body)


def _errors(model: type[BaseModel], body: Any) -> FieldErrors:
    try:
        model.model_validate(body)
    except ValidationError as error:
        return [(".".join(place), message) for place, message in problems_of(error)]
    return []


# --- answers (2.1 and 2.2) ----------------------------------------------------------------------------


def _check_answers(items: list[dict[str, Any]], post: JobPost, forms: AnswerForms) -> Iterator[str]:
    answered: set[int] = set()
    for number, item in enumerate(items, start=1):
        question = _question_of(item.get("job_post_question"), post)
        if isinstance(question, str):
            yield f"item {number}: {question}"
            continue
        for message in _check_item(question, item, forms):
            yield f"{question.label}: {message}"
        if question.id in answered:
            yield f"{question.label}: answered more than once"
        answered.add(question.id)
    for question in post.questions:
        if question.required and question.id not in answered:
            yield f"{question.label}: a required question is not answered"


def _question_of(reference: Any, post: JobPost) -> Question | str:
    """The question that an item refers to, in either form, or the error in its reference."""
    if type(reference) is int:
        reference = {"id": reference}
    if not isinstance(reference, dict) or not reference or reference.keys() - {"id", "question_key"}:
        return "job_post_question must be the id of a question, or an object with its id and question_key"
    id, found = reference.get("id"), list(post.questions)
    if "id" in reference:
        found = [post.by_id[id]] if type(id) is int and id in post.by_id else []
    if "question_key" in reference:
        found = [question for question in found if question.key == reference["question_key"]]
    if len(found) == 1:
        return found[0]
    problem = "is the key of several questions; use an id" if found else f"is not a question of job post {post.hash}"
    return f"{json.dumps(reference)} {problem}"


def _check_item(question: Question, item: dict[str, Any], forms: AnswerForms) -> Iterator[str]:
    name = "answer_file" if question.takes_file else "answer"
    answer = item.get(name)
    for other in item.keys() - {"job_post_question", name}:
        yield f"takes {name}, not {other}"
    if question.takes_file:
        if not is_document_number(answer):
            yield f"{quoted(answer)} is not a document ID, an integer or a string of digits"
    elif not isinstance(answer, str) or not answer.strip():
        yield "answer must be a string that is not blank"
    elif question.entries:
        yield from _check_entries(question.entries, answer)
    else:
        yield from _check_text(question, answer, forms)


_FORMATS: Final[dict[str, tuple[Callable[[str], Any], str]]] = {
    "date": (is_date, "a valid date (YYYY-MM-DD)"),
    "integer": (re.compile(r"-?[0-9]+").fullmatch, "an integer"),
    "decimal": (re.compile(r"-?[0-9]+(\.[0-9]+)?").fullmatch, "a decimal number"),
    "url": (is_web_address, "an http or https address"),
    "phone": (is_phone, "a valid phone number of 7 to 15 digits"),
}


def _check_text(question: Question, answer: str, forms: AnswerForms) -> Iterator[str]:
    """Checks the answer by the question's answer type and type; unknown ones accept any text."""
    for name in (question.answer_type, question.type):
        fits, noun = _FORMATS.get(name or "", (bool, ""))
        if not fits(answer):
            yield f"{quoted(answer)} is not {noun}"
    match question.answer_type:
        case "short_text":
            if "\n" in answer or "\r" in answer:
                yield "answer may not contain a line break"
            if len(answer) > _LONGEST_SHORT_TEXT:
                yield f"answer has {len(answer)} characters, {_LONGEST_SHORT_TEXT} are allowed"
        case "yes_no":
            yield from _check_option(answer, forms.yes_no)
        case "single_choice":
            yield from _check_option(answer, question.choices)
        case "multiple_choice":
            chosen = _chosen(answer, forms)
            if not chosen or len(set(chosen)) < len(chosen):
                yield f"{quoted(answer)} does not list different options in the form {forms.multiple_choice}"
            for choice in chosen:
                yield from _check_option(choice, question.choices)


def _check_option(text: str, options: Any) -> Iterator[str]:
    if options and text not in options:
        yield f"{quoted(text)} is not one of {listed(options)}"


def _chosen(answer: str, forms: AnswerForms) -> list[str]:
    """The options in an answer; none, if it has another form."""
    if forms.multiple_choice != "json":
        return [choice.strip() for choice in answer.split(_SEPARATORS[forms.multiple_choice])]
    try:
        chosen = read_json(answer)
    except NotJson:
        return []
    return chosen if isinstance(chosen, list) and all(isinstance(one, str) for one in chosen) else []


# --- entries of education and experience (2.3 and 2.4) ---------------------------------------------------


class _Entry(BaseModel):
    model_config = STRICT

    start_date: _Day = ""
    end_date: _Day = ""

    @model_validator(mode="after")
    def _period(self) -> _Entry:
        if self.end_date and True in (getattr(self, "currently_pursuing", 0), getattr(self, "currently_employed", 0)):
            raise ValueError("end_date is not allowed in a current entry")
        if self.start_date and self.end_date and self.start_date > self.end_date:
            raise ValueError(f"start_date {self.start_date} is after end_date {self.end_date}")
        return self


class Education(_Entry):
    """Service description 2.3."""

    school_name: Filled
    major: Filled = "-"
    degree: Literal[
        "high_school_diploma",
        "associate_degree",
        "bachelors_degree",
        "masters_degree",
        "doctorate_degree",
        "certificate_or_diploma",
    ] = "high_school_diploma"
    currently_pursuing: bool = False


class Experience(_Entry):
    """Service description 2.4."""

    company_name: Filled
    position_title: Filled = "-"
    employment_type: Literal["full_time", "part_time", "contract", "intern"] = "full_time"
    currently_employed: bool = False


_ENTRIES: Final[dict[EntryKind, type[_Entry]]] = {"education": Education, "experience": Experience}


def _check_entries(kind: EntryKind, answer: str) -> Iterator[str]:
    try:
        entries = read_json(answer)
    except NotJson:
        entries = None
    if not isinstance(entries, list) or not entries:
        yield f"the answer is not a JSON array of {kind} entries"
        return
    for number, entry in enumerate(entries, start=1):
        for place, message in _errors(_ENTRIES[kind], entry):
            yield f"{kind} entry {number}{f', {place}' if place else ''}: {message}"
