"""The sandbox responds to any request body."""

from __future__ import annotations

import json
from typing import Any, get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from importer.sandbox import SHIPPED_QUESTIONS, SandboxOptions
from importer.sandbox.company import read_questions
from importer.sandbox.faults import ErrorShape, Faults
from importer.sandbox.memory import Memory
from importer.sandbox.service import Request, Service
from tests.sandbox.wire import ADD_TO_POOL, APPLY, TOKEN, application, candidate

COMPANY = read_questions(SHIPPED_QUESTIONS)
HEADERS = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"}

shapes = st.sampled_from(get_args(ErrorShape))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
references = st.one_of(
    st.sampled_from(sorted(COMPANY.job_posts["4f2c9a"].by_id)),
    st.fixed_dictionaries({}, optional={"id": st.integers(100, 121) | values, "question_key": values}),
    values,
)
near_entries = st.lists(
    st.dictionaries(
        st.sampled_from(["school_name", "company_name", "degree", "start_date", "end_date", "currently_pursuing"]),
        values | st.dates().map(str) | st.just("bachelors_degree"),
    ),
    max_size=3,
).map(json.dumps)
items = st.fixed_dictionaries(
    {"job_post_question": references}, optional={"answer": values | near_entries, "answer_file": values}
)
bodies = st.fixed_dictionaries(
    {},
    optional={
        "email": st.emails() | values,
        "first_name": st.text() | values,
        "last_name": st.just("Yılmaz") | values,
        "cv": st.text() | st.integers() | values,
        "terms_of_use": values,
        "source_platform": values,
        "answers": st.lists(items | values, max_size=4).map(lambda more: application()["answers"] + more) | values,
    },
)


def answer(path: str, body: Any, shape: ErrorShape) -> int:
    memory = Memory(COMPANY)
    app = Service(SandboxOptions(token=TOKEN), COMPANY, Faults(error_shape=shape), memory)
    status = app.answer(Request("POST", path, HEADERS, json.dumps(body).encode())).reply.status
    assert len(memory) == (status == 201)
    return status


@settings(max_examples=300)
@given(st.one_of(bodies, bodies.map(lambda body: {**application(), **body}), values), shapes)
def test_any_application_is_accepted_or_rejected(body: Any, shape: ErrorShape) -> None:
    """Any JSON is accepted and stored, or rejected; nothing breaks the sandbox."""
    assert answer(APPLY, body, shape) in (201, 400)


@settings(max_examples=150)
@given(st.one_of(bodies, bodies.map(lambda body: {**candidate(), **body}), values), shapes)
def test_any_pool_addition_is_accepted_or_rejected(body: Any, shape: ErrorShape) -> None:
    """The same for a talent pool."""
    assert answer(ADD_TO_POOL, body, shape) in (201, 400)
