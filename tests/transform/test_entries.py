"""Education and experience become one JSON string."""

from __future__ import annotations

import json
from datetime import date

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from importer.mapping import ResolvedMapping
from importer.settings import WireFormat
from tests.transform.cells import answer_of, mapping_of, problems_of, question, row

_SCHOOLS = (
    '{education: {repeat: "{n}", school_name: "School {n}", degree: {column: "Degree {n}", values: {Lisans: '
    'bachelors_degree}}, major: "Major {n}", start_date: "From {n}", end_date: {column: "To {n}", present: Halen}, '
    'currently_pursuing: "Now {n}"}}'
)
_NAMES = tuple(f"{name} {n}" for n in (1, 2, 3) for name in ("School", "Degree", "Major", "From", "To", "Now"))
_BLANK = ("",) * 6


@pytest.fixture
def schools() -> ResolvedMapping:
    return mapping_of(_SCHOOLS, _NAMES, question("long_text"))


def _sent(mapping: ResolvedMapping, *cells: str) -> str | None:
    answer = answer_of(mapping, row(*cells))
    return answer.answer if answer else None


def test_entries_hold_what_is_filled_in(schools: ResolvedMapping) -> None:
    """An entry has only the filled fields, in the order of the service description; blank groups are skipped."""
    assert _sent(
        schools,
        *("İTÜ", "Lisans", "Makine", "2015-09-01", "2019-06-30", ""),
        *_BLANK,
        *("ETH", "", "", "2020-01-01", "", "x"),
    ) == (
        '[{"school_name": "İTÜ", "degree": "bachelors_degree", "major": "Makine", "start_date": "2015-09-01", '
        '"end_date": "2019-06-30"}, {"school_name": "ETH", "start_date": "2020-01-01", "currently_pursuing": true}]'
    )


@pytest.mark.parametrize(
    ("end", "now", "sent"),
    [
        pytest.param("HALEN", "", {"currently_pursuing": True}, id="present word"),
        pytest.param("Halen", "x", {"currently_pursuing": True}, id="word and flag"),
        pytest.param("", "yes", {"currently_pursuing": True}, id="flag"),
        pytest.param("", "no", {}, id="flag set to no"),
        pytest.param("2020-01-01", "no", {"end_date": "2020-01-01"}, id="ended"),
        pytest.param("", "", {}, id="blank end"),
    ],
)
def test_ends(schools: ResolvedMapping, end: str, now: str, sent: dict[str, object]) -> None:
    """A current entry has the flag and no end date; nothing is sent that is not in the row."""
    packed = _sent(schools, "ETH", "", "", "", end, now, *_BLANK, *_BLANK)
    assert packed is not None
    assert json.loads(packed) == [{"school_name": "ETH"} | sent]


@pytest.mark.parametrize(
    ("end", "now", "sent"),
    [
        pytest.param("Halen", "", {"currently_pursuing": True}, id="present word"),
        pytest.param("", "no", {"currently_pursuing": False}, id="flag set to no"),
        pytest.param("2020-01-01", "", {"end_date": "2020-01-01", "currently_pursuing": False}, id="ended"),
    ],
)
def test_flags_in_every_entry(end: str, now: str, sent: dict[str, object]) -> None:
    """With the setting `always`, an entry that is not current says so."""
    mapping = mapping_of(_SCHOOLS, _NAMES, question("long_text"), WireFormat(currently_flags="always"))
    packed = _sent(mapping, "ETH", "", "", "", end, now, *_BLANK, *_BLANK)
    assert packed is not None
    assert json.loads(packed) == [{"school_name": "ETH"} | sent]


@pytest.mark.parametrize(
    ("group", "message"),
    [
        pytest.param(
            ("", "Lisans", "", "", "", ""),
            '"School 1": the entry has no school_name; fill it in, or clear the cells of the entry',
            id="no school",
        ),
        pytest.param(
            ("ETH", "bachelor", "", "", "", ""),
            "\"Degree 1\": 'bachelor' is not a degree that the service accepts; did you mean 'bachelors_degree'? "
            "use one of "
            "high_school_diploma, associate_degree, bachelors_degree, masters_degree, doctorate_degree, "
            "certificate_or_diploma, or add it under values: in m.yaml:4; to leave it out, add it under missing:",
            id="degree of the record, not of the entry",
        ),
        pytest.param(
            ("ETH", "", "", "", "2020-01-01", "yes"),
            '"To 1": the entry is marked as current but has the end date 2020-01-01; remove one of the two',
            id="current and ended",
        ),
        pytest.param(
            ("ETH", "", "", "", "Halen", "no"),
            '"To 1": the end date marks the entry as current, but its flag does not; '
            "correct one of the two",
            id="word contradicts flag",
        ),
        pytest.param(
            ("ETH", "", "", "2021-05-01", "2020-01-01", ""),
            "\"From 1\": the start date 2021-05-01 is after the end date 2020-01-01 in 'To 1'; correct one of the two",
            id="start after end",
        ),
    ],
)  # fmt: skip
def test_a_wrong_entry(schools: ResolvedMapping, group: tuple[str, ...], message: str) -> None:
    """An entry that contradicts itself or has no name is a problem at its cell."""
    assert problems_of(schools, row(*group, *_BLANK, *_BLANK)) == [f"c.csv, row 5, column {message}"]


def test_no_entries(schools: ResolvedMapping) -> None:
    """Where every group is blank there is no answer; a check box set to no does not fill a group."""
    assert _sent(schools, *_BLANK, "", "", "", "", "", "FALSE", *_BLANK) is None


def test_no_entries_for_a_required_question() -> None:
    """A required question without any entry is a problem at the first column of the groups."""
    mapping = mapping_of(_SCHOOLS, _NAMES, question("long_text", required=True))
    assert problems_of(mapping, row(*_BLANK * 3)) == [
        'c.csv, row 5, column "School 1": the required question q has no answer; fill it in'
    ]


def test_experience_without_numbers() -> None:
    """A row may have one position, in columns without a number; a constant alone is not an entry."""
    mapping = mapping_of(
        "{experience: {company_name: Company, employment_type: {value: full_time}}}",
        ("Company",),
        question("short_text"),
    )
    assert _sent(mapping, "Acme") == '[{"company_name": "Acme", "employment_type": "full_time"}]'
    assert _sent(mapping, "") is None


def test_otherwise_does_not_replace_a_known_degree() -> None:
    """`otherwise` does not replace a degree that the service accepts, even if the table has no line for it."""
    degree = "{column: Degree, values: {Lisans: bachelors_degree}, otherwise: {value: certificate_or_diploma}}"
    names, asked = ("School", "Degree"), question("long_text")
    mapping = mapping_of(f"{{education: {{school_name: School, degree: {degree}}}}}", names, asked)
    assert _sent(mapping, "ETH", "masters_degree") == '[{"school_name": "ETH", "degree": "masters_degree"}]'
    assert _sent(mapping, "ETH", "Kurs") == '[{"school_name": "ETH", "degree": "certificate_or_diploma"}]'


def test_a_word_as_the_end_date_may_mean_an_open_end(schools: ResolvedMapping) -> None:
    """The hint names `present:` first: as an empty cell, the word would not say that the entry is current."""
    (problem,) = problems_of(schools, row("ETH", "", "", "", "heute", "", *_BLANK, *_BLANK))
    assert problem.endswith("; if it means until now, add it under present:; to leave it out, add it under missing:")


def test_problems_of_several_groups(schools: ResolvedMapping) -> None:
    """Every group of a row is checked, whatever is wrong with the first."""
    codes = problems_of(schools, row("ETH", "x", "", "soon", "", "", "", "", "M", "", "", "", *_BLANK))
    assert [line.split(":")[0] for line in codes] == [
        'c.csv, row 5, column "Degree 1"', 'c.csv, row 5, column "From 1"', 'c.csv, row 5, column "School 2"',
    ]  # fmt: skip


_text = st.text(alphabet=st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=20)
_dates = st.dates(date(1900, 1, 1), date(2100, 12, 31))


@st.composite
def _entry(draw: st.DrawFn) -> dict[str, str]:
    entry = {"school_name": draw(_text)}
    if draw(st.booleans()):
        entry["major"] = draw(_text)
    days = sorted(draw(st.lists(_dates, max_size=2)))
    for name, day in zip(("start_date", "end_date"), days, strict=False):
        entry[name] = day.isoformat()
    return entry


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(st.one_of(st.none(), _entry()), min_size=3, max_size=3))
def test_packed_entries_equal_the_columns(schools: ResolvedMapping, entries: list[dict[str, str] | None]) -> None:
    """The packed string contains the values of the columns, group by group, for any characters."""
    cells: list[str] = []
    for entry in entries:
        filled = entry or {}
        names = ("school_name", "degree", "major", "start_date", "end_date", "currently_pursuing")
        cells += [filled.get(name, "") for name in names]
    packed = _sent(schools, *cells)
    assert json.loads(packed or "[]") == [entry for entry in entries if entry]
