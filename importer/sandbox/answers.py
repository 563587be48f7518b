"""One answer against its question: the form that each answer type asks for (service description 2.1 and 2.2)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from importer.sandbox.company import AnswerForms, Question
from importer.sandbox.entries import check_entries
from importer.sandbox.refusals import listed, quoted
from importer.sandbox.strict_json import NotJson, read_json
from importer.sandbox.written_forms import is_date, is_document_number, is_phone, is_web_address

_INTEGER = re.compile(r"-?[0-9]+")
_DECIMAL = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_LONGEST_SHORT_TEXT = 255
_SEPARATORS = {"comma": ",", "semicolon": ";", "newline": "\n"}


def check_answer(question: Question, item: dict[str, Any], forms: AnswerForms) -> Iterator[str]:
    """What is wrong with the answer that an item gives to its question, one line for each fault."""
    if "answer" in item and "answer_file" in item:
        yield "has both answer and answer_file, one is allowed"
    elif "answer_file" in item:
        yield from _check_file(question, item["answer_file"])
    elif "answer" in item:
        yield from _check_text(question, item["answer"], forms)
    else:
        yield f"has no {'answer_file' if question.takes_file else 'answer'}"


def _check_file(question: Question, document: Any) -> Iterator[str]:
    if not question.takes_file:
        yield "takes answer, not answer_file"
    elif not is_document_number(document):
        yield f"answer_file {quoted(document)} is no document ID, an integer or a string of digits"


def _check_text(question: Question, answer: Any, forms: AnswerForms) -> Iterator[str]:
    if question.takes_file:
        yield "takes answer_file, not answer"
    elif not isinstance(answer, str):
        yield "answer must be a string"
    elif not answer.strip():
        yield "answer may not be blank"
    elif question.entries:
        yield from check_entries(question.entries, answer)
    else:
        yield from _CHECKS.get(question.answer_type, _check_long_text)(question, answer, forms)
        if question.type == "phone" and not is_phone(answer):
            yield f"{quoted(answer)} is no phone number of 7 to 15 digits"


def _check_short_text(question: Question, answer: str, forms: AnswerForms) -> Iterator[str]:
    if "\n" in answer or "\r" in answer:
        yield "answer may not hold a line break"
    if len(answer) > _LONGEST_SHORT_TEXT:
        yield f"answer has {len(answer)} characters, {_LONGEST_SHORT_TEXT} are allowed"


def _check_long_text(question: Question, answer: str, forms: AnswerForms) -> Iterator[str]:
    return iter(())


def _check_date(question: Question, answer: str, forms: AnswerForms) -> Iterator[str]:
    if not is_date(answer):
        yield f"{quoted(answer)} is no date in the form YYYY-MM-DD"


def _check_integer(question: Question, answer: str, forms: AnswerForms) -> Iterator[str]:
    if not _INTEGER.fullmatch(answer):
        yield f"{quoted(answer)} is no integer"


def _check_decimal(question: Question, answer: str, forms: AnswerForms) -> Iterator[str]:
    if not _DECIMAL.fullmatch(answer):
        yield f"{quoted(answer)} is no decimal number"


def _check_yes_no(question: Question, answer: str, forms: AnswerForms) -> Iterator[str]:
    if answer not in forms.yes_no:
        yield f"{quoted(answer)} is neither {quoted(forms.yes_no[0])} nor {quoted(forms.yes_no[1])}"


def _check_url(question: Question, answer: str, forms: AnswerForms) -> Iterator[str]:
    if not is_web_address(answer):
        yield f"{quoted(answer)} is no http or https address"


def _check_single_choice(question: Question, answer: str, forms: AnswerForms) -> Iterator[str]:
    if question.choices and answer not in question.choices:
        yield f"{quoted(answer)} is not one of {listed(question.choices)}"


def _check_multiple_choice(question: Question, answer: str, forms: AnswerForms) -> Iterator[str]:
    chosen = _chosen(answer, forms)
    if chosen is None:
        yield f"{quoted(answer)} is no JSON array of strings"
        return
    if not chosen:
        yield "no option is chosen"
    for choice in dict.fromkeys(chosen):
        if question.choices and choice not in question.choices:
            yield f"{quoted(choice)} is not one of {listed(question.choices)}"
        if chosen.count(choice) > 1:
            yield f"{quoted(choice)} is chosen more than once"


def _chosen(answer: str, forms: AnswerForms) -> list[str] | None:
    if forms.multiple_choice != "json":
        return [choice.strip() for choice in answer.split(_SEPARATORS[forms.multiple_choice])]
    try:
        chosen = read_json(answer)
    except NotJson:
        return None
    if not isinstance(chosen, list) or not all(isinstance(choice, str) for choice in chosen):
        return None
    return chosen


_CHECKS: dict[str, Callable[[Question, str, AnswerForms], Iterator[str]]] = {
    "date": _check_date,
    "short_text": _check_short_text,
    "long_text": _check_long_text,
    "integer": _check_integer,
    "decimal": _check_decimal,
    "yes_no": _check_yes_no,
    "single_choice": _check_single_choice,
    "multiple_choice": _check_multiple_choice,
    "url": _check_url,
}
