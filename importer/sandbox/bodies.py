"""Request bodies (service description 4.2 and 4.3): all their errors at once, and the record in a 201 response."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from importer.sandbox.answers import check_answer
from importer.sandbox.company import AnswerForms, Company, JobPost, Question, TalentPool
from importer.sandbox.http_messages import FieldError
from importer.sandbox.json_reading import is_email, quoted

_CANDIDATE_FIELDS = ("email", "first_name", "last_name", "cv")
_APPLICATION_FIELDS = frozenset((*_CANDIDATE_FIELDS, "terms_of_use", "answers"))
_POOL_FIELDS = frozenset((*_CANDIDATE_FIELDS, "source_platform"))


def check_application(body: dict[str, Any], post: JobPost, forms: AnswerForms) -> list[FieldError]:
    """All errors in the body of an application (4.2); empty for a valid one."""
    errors = list(_check_candidate(body, _APPLICATION_FIELDS))
    if "terms_of_use" in body and not isinstance(body["terms_of_use"], bool):
        errors.append(FieldError("terms_of_use", "must be true or false"))
    if "answers" not in body:
        errors.append(FieldError("answers", "this field is required"))
    else:
        errors += [FieldError("answers", message) for message in check_answers(body["answers"], post, forms)]
    return errors


def check_pool_candidate(body: dict[str, Any]) -> list[FieldError]:
    """All errors in the body of a talent pool addition (4.3); empty for a valid one."""
    errors = list(_check_candidate(body, _POOL_FIELDS))
    if "source_platform" in body and not isinstance(body["source_platform"], str):
        errors.append(FieldError("source_platform", "must be a string"))
    return errors


def _check_candidate(body: dict[str, Any], fields: frozenset[str]) -> Iterator[FieldError]:
    for field in _CANDIDATE_FIELDS:
        message = _check_field(field, body[field]) if field in body else "this field is required"
        if message:
            yield FieldError(field, message)
    for field in body:
        if field not in fields:
            yield FieldError(field, "unknown field")


def _check_field(field: str, value: Any) -> str | None:
    if field == "cv" and isinstance(value, int) and not isinstance(value, bool):
        return None
    if not isinstance(value, str):
        return "must be a string or an integer" if field == "cv" else "must be a string"
    if not value.strip():
        return "may not be blank"
    if field == "email" and not is_email(value):
        return f"{quoted(value)} is not a valid e-mail address"
    return None


_FIELDS = frozenset(("job_post_question", "answer", "answer_file"))
_REFERENCE_FIELDS = frozenset(("id", "question_key"))


def check_answers(items: Any, post: JobPost, forms: AnswerForms) -> Iterator[str]:
    """All errors in the answers array (service description 2.2), one line each."""
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
        for field in [name for name in item if name not in _FIELDS]:
            yield f"{question.label}: unknown field {quoted(field)}"
        for message in check_answer(question, item, forms):
            yield f"{question.label}: {message}"
        if question.id in answered:
            yield f"{question.label}: answered more than once"
        answered.add(question.id)
    for question in post.required:
        if question.id not in answered:
            yield f"{question.label}: a required question is not answered"


def _question_of(item: dict[str, Any], post: JobPost) -> Question | str:
    """The question that an item refers to, in either form, or the error in its reference."""
    if "job_post_question" not in item:
        return "job_post_question is required"
    reference = item["job_post_question"]
    if isinstance(reference, int) and not isinstance(reference, bool):
        return post.by_id.get(reference) or f"question {reference} is not a question of job post {post.hash}"
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
        return f"question {number} is not a question of job post {post.hash}"
    if "question_key" in reference and reference["question_key"] != question.key:
        shown = quoted(question.key) if question.key is not None else "null"
        return f"question {number} has the key {shown}, not {quoted(reference['question_key'])}"
    return question


def _question_by_key(key: Any, post: JobPost) -> Question | str:
    if not isinstance(key, str):
        return "job_post_question needs an id or a question_key"
    questions = post.by_key.get(key, ())
    if not questions:
        return f"{quoted(key)} is not a question key of job post {post.hash}"
    return questions[0] if len(questions) == 1 else f"{quoted(key)} is the key of more than one question; use its id"


# --- the record in a 201 of a talent pool --------------------------------------------------------------

_PRESIGNED = "https://files.example.com/{path}?X-Amz-Expires=3600&X-Amz-Signature={signature}"


def candidate_record(number: int, body: dict[str, Any], pool: TalentPool, company: Company, now: datetime) -> Any:
    """The full record of the candidate that a body (4.3) creates; `number` is its id."""
    at = timestamp(now)
    person = {"email": body["email"], "first_name": body["first_name"], "last_name": body["last_name"]}
    photo = _file_object(number * 10 + 1, f"photos/{number}.jpg", at)
    job_post = _job_post(company)
    return {
        "id": number,
        "user": {"id": number + 5000, **person, "profile_img": photo},
        "job_post": job_post,
        "source_job_post": job_post,
        "company": company.name,
        **person,
        "cv": _file_object(number * 10, f"cvs/{body['cv']}.pdf", at),
        "photo": photo,
        "phone_number": "",
        "address": "",
        "city": "",
        "country": "",
        "education": [],
        "work_experience": [],
        "tags": [{"id": 1, "title": pool.title}],
        "suitability": "suitable",
        "score": 0,
        "summary": "",
        "skills": "",
        "total_work_experience": 0,
        "seniority": "",
        "company_pipeline": {"id": 1, "queue": 1, "name": "New", "key": "new", "created_at": at},
        "rejected_mail_sended": False,
        "source_platform": body.get("source_platform", ""),
        "source_type": "applied_from_candidate",
        "error_status": False,
        "created_at": at,
        "updated_at": at,
    }


def timestamp(moment: datetime) -> str:
    """A UTC time in the format of the service: ISO 8601 with Z."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _job_post(company: Company) -> dict[str, str]:
    """The job post of a record; even a pool record has one, and the description does not show which."""
    post = next(iter(company.job_posts.values()), None)
    return {"hash": post.hash if post else "", "title": post.title if post else ""}


def _file_object(number: int, path: str, at: str) -> dict[str, Any]:
    folder, _, name = path.partition("/")
    signature = hashlib.blake2b(path.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return {
        "id": number,
        "path": path,
        "name": name,
        "type": "application/pdf" if folder == "cvs" else "image/jpeg",
        "file_size": 48_213,
        "base": "https://files.example.com/",
        "presigned_url": _PRESIGNED.format(path=path, signature=signature),
        "uploaded_at": at,
    }
