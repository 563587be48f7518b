"""A proposal for any sheet and any questions can be used."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from importer.mapping import read_mapping, resolve
from importer.models import AnswerType, Question, Row
from importer.problems import Column, Origin, Problem, UnusableInput
from importer.settings import WireFormat
from importer.suggest import SourceFacts, open_points, propose, sample_columns, write_proposal
from importer.suggest.header_words import CONCEPTS, ENTRY_PHRASES
from tests.mapping.mapping_files import FILE
from tests.suggest.builders import JOB_POST, POOL

_KNOWN = [word for table in CONCEPTS.values() for words in table.values() for word in words]
_KNOWN += [
    word for kind in ENTRY_PHRASES.values() for table in kind.values() for words in table.values() for word in words
]
_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_HEADERS = st.one_of(
    st.sampled_from(_KNOWN),
    st.sampled_from(["Salary (€)", "Зарплата, руб.", "From", "To"]),
    st.builds(lambda word, number: f"{word} {number}", st.sampled_from(_KNOWN), st.integers(1, 3)),
    _TEXT,
)
_CELLS = st.one_of(
    st.sampled_from(
        ["", "-", "yok", "Evet", "31.12.2020", "03/04/2021", "2019", "halen", "45.000", "2,5", "a@example.com"]
    ),
    st.sampled_from(["BSc", "Kıdemli", "+90 555 000 11 22", "0555 000 11 22", "Ada Nur", "x; y", "linkedin.com/in/a"]),
    st.sampled_from(
        ["$61,000", "45.000 TL", "50 руб.", "Unknown", '[{"firma": "X", "bitis": "31.12.2020"}]', '["x", "1"]']
    ),
    _TEXT,
)
_QUESTIONS = st.builds(
    Question,
    id=st.integers(1, 99),
    text=st.one_of(st.sampled_from(_KNOWN), _TEXT),
    required=st.booleans(),
    answer_type=st.sampled_from([*map(str, AnswerType), "newest"]),
    options=st.lists(st.sampled_from(["Senior", "x", "y, z", "No", "1"]), unique=True, max_size=3).map(tuple),
    key=st.one_of(st.none(), st.sampled_from(["phone", "education", "experience", "no", "text: x", "email"]), _TEXT),
    type=st.sampled_from([None, "phone", "photo", "address", "linkedin_url", "salary", "experience"]),
)


@st.composite
def sheets(draw: st.DrawFn) -> tuple[list[Column], list[Row]]:
    # Half of the sheets have the required columns, so that the rest of the file is tested.
    needed = ["E-mail", "First name", "Last name", "CV"] if draw(st.booleans()) else []
    headers = [*needed, *draw(st.lists(_HEADERS, min_size=1, max_size=10))]
    columns = [Column(index, chr(ord("A") + index), " ".join(name.split())) for index, name in enumerate(headers)]
    cells = st.tuples(*[_CELLS] * len(headers))
    rows = draw(st.lists(cells, max_size=4))
    return columns, [Row(Origin("f.csv"), number, row) for number, row in enumerate(rows, start=2)]


@settings(max_examples=60)
@given(
    sheet=sheets(),
    questions=st.lists(_QUESTIONS, max_size=5, unique_by=(lambda q: q.id, lambda q: q.key or f"text {q.text}")),
    pool=st.booleans(),
)
def test_a_proposal_fits_except_for_what_it_reports_as_missing(
    sheet: tuple[list[Column], list[Row]], questions: list[Question], pool: bool
) -> None:
    """The file can be read, and it fits the header and the questions, unless something required was not found."""
    columns, rows = sheet
    asked = () if pool else tuple(questions)
    proposal = propose(
        POOL if pool else JOB_POST, asked, sample_columns(columns, rows), SourceFacts("f.csv", header_row=1)
    )
    FILE.write_text(write_proposal(proposal), encoding="utf-8")
    missing_required = open_points(proposal).missing_required
    problems = problems_of_the_proposal(columns, asked)
    assert bool(problems) == bool(missing_required), [str(problem) for problem in problems]
    assert {problem.code for problem in problems} <= {"key-missing", "mapping-value-invalid", "question-not-mapped"}


def problems_of_the_proposal(columns: list[Column], questions: Sequence[Question]) -> tuple[Problem, ...]:
    try:
        resolve(read_mapping(FILE), columns, questions, WireFormat())
    except UnusableInput as error:
        return error.problems
    return ()
