"""The two request bodies (service description 4.2 and 4.3): every fault of a body, reported at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from importer.sandbox.answers import check_answer, is_email
from importer.sandbox.company import AnswerForms, JobPost, Question
from importer.sandbox.http_messages import Refusal, quoted

_CANDIDATE_FIELDS = ("email", "first_name", "last_name", "cv")
_APPLICATION_FIELDS = frozenset((*_CANDIDATE_FIELDS, "terms_of_use", "answers"))
_POOL_FIELDS = frozenset((*_CANDIDATE_FIELDS, "source_platform"))


def check_application(body: dict[str, Any], post: JobPost, forms: AnswerForms) -> list[Refusal]:
    """What is wrong with the body of an application (4.2); empty for a good one."""
    refusals = list(_check_candidate(body, _APPLICATION_FIELDS))
    if "terms_of_use" in body and not isinstance(body["terms_of_use"], bool):
        refusals.append(Refusal("terms_of_use", "must be true or false"))
    if "answers" not in body:
        refusals.append(Refusal("answers", "this field is required"))
    else:
        refusals += [Refusal("answers", message) for message in check_answers(body["answers"], post, forms)]
    return refusals


def check_pool_candidate(body: dict[str, Any]) -> list[Refusal]:
    """What is wrong with the body of a talent pool addition (4.3); empty for a good one."""
    refusals = list(_check_candidate(body, _POOL_FIELDS))
    if "source_platform" in body and not isinstance(body["source_platform"], str):
        refusals.append(Refusal("source_platform", "must be a string"))
    return refusals


def _check_candidate(body: dict[str, Any], fields: frozenset[str]) -> Iterator[Refusal]:
    for field in _CANDIDATE_FIELDS:
        message = _check_field(field, body[field]) if field in body else "this field is required"
        if message:
            yield Refusal(field, message)
    for field in body:
        if field not in fields:
            yield Refusal(field, "unknown field")


def _check_field(field: str, value: Any) -> str | None:
    if field == "cv" and isinstance(value, int) and not isinstance(value, bool):
        return None
    if not isinstance(value, str):
        return "must be a string or an integer" if field == "cv" else "must be a string"
    if not value.strip():
        return "may not be blank"
    if field == "email" and not is_email(value):
        return f"{quoted(value)} is no e-mail address"
    return None


_FIELDS = frozenset(("job_post_question", "answer", "answer_file"))
_REFERENCE_FIELDS = frozenset(("id", "question_key"))


def check_answers(items: Any, post: JobPost, forms: AnswerForms) -> Iterator[str]:
    """What is wrong with the answers array (service description 2.2), one line for each fault."""
    if not isinstance(items, list):
        yield "must be an array"
        return
    answered: set[int] = set()
    for number, item in enumerate(items, start=1):
        if not isinstance(item, dict):
            yield f"item {number} must be an object"
            continue
        question = _question_of(item, post)
        if isinstance(question, str):
            yield f"item {number}: {question}"
            continue
        for message in _check_item(question, item, forms):
            yield f"{question.label}: {message}"
        if question.id in answered:
            yield f"{question.label}: answered more than once"
        answered.add(question.id)
    for question in post.required:
        if question.id not in answered:
            yield f"{question.label}: a required question is not answered"


def _check_item(question: Question, item: dict[str, Any], forms: AnswerForms) -> Iterator[str]:
    for field in item:
        if field not in _FIELDS:
            yield f"unknown field {quoted(field)}"
    yield from check_answer(question, item, forms)


def _question_of(item: dict[str, Any], post: JobPost) -> Question | str:
    """The question that an item names, in either form, or what is wrong with its reference."""
    if "job_post_question" not in item:
        return "job_post_question is required"
    reference = item["job_post_question"]
    if isinstance(reference, int) and not isinstance(reference, bool):
        return post.by_id.get(reference) or f"question {reference} is no question of job post {post.hash}"
    if not isinstance(reference, dict):
        return "job_post_question must be an object or an integer"
    return _question_by_object(reference, post)


def _question_by_object(reference: dict[str, Any], post: JobPost) -> Question | str:
    unknown = sorted(reference.keys() - _REFERENCE_FIELDS)
    if unknown:
        return f"job_post_question has an unknown field {quoted(unknown[0])}"
    if "id" not in reference:
        return _question_by_key(reference.get("question_key"), post)
    number = reference["id"]
    if not isinstance(number, int) or isinstance(number, bool):
        return "job_post_question.id must be an integer"
    question = post.by_id.get(number)
    if question is None:
        return f"question {number} is no question of job post {post.hash}"
    if "question_key" in reference and reference["question_key"] != question.key:
        shown = quoted(question.key) if question.key is not None else "null"
        return f"question {number} has the key {shown}, not {quoted(reference['question_key'])}"
    return question


def _question_by_key(key: Any, post: JobPost) -> Question | str:
    if not isinstance(key, str):
        return "job_post_question needs an id or a question_key"
    questions = post.by_key.get(key, ())
    if not questions:
        return f"{quoted(key)} is no question key of job post {post.hash}"
    return questions[0] if len(questions) == 1 else f"{quoted(key)} is the key of more than one question, name its id"
