"""The two request bodies (service description 4.2 and 4.3): every fault of a body, told at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from importer.sandbox.answer_items import check_answers
from importer.sandbox.company import AnswerForms, JobPost
from importer.sandbox.refusals import Refusal, quoted
from importer.sandbox.written_forms import is_email

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
