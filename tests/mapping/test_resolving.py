"""A mapping that fits its header and questions is ready for rows."""

from __future__ import annotations

import pytest

from importer.mapping import Kind
from importer.mapping.resolved import ResolvedEntries, ResolvedMapping, ResolvedValue
from tests.mapping.mapping_files import HEAD, HEADER, question, resolved


def _columns(mapping: ResolvedMapping, answer: int = 0) -> list[str]:
    content = mapping.answers[answer].content
    assert isinstance(content, ResolvedValue)
    return [column.letter for column in content.columns]


@pytest.mark.parametrize(
    ("named", "header"),
    [
        pytest.param("şehir", "ŞEHİR", id="dotted capital"),
        pytest.param("E posta", "E-posta:", id="punctuation"),
        pytest.param("Home\u00a0Town", " home town", id="non-breaking space"),
        pytest.param("=E", "", id="letter of a blank header"),
        pytest.param("=e", "whatever", id="small letter"),
        pytest.param("C++", "C++", id="only punctuation differs from C"),
    ],
)
def test_a_column_is_found(named: str, header: str) -> None:
    """A column is found by its normalized name, or by its letter."""
    mapping = resolved(HEAD + f'answers: {{q: "{named}"}}\n', (*HEADER, header, "C"), [question("q")])
    assert _columns(mapping) == ["E"]


@pytest.mark.parametrize(
    ("names", "repeat", "template", "groups"),
    [
        pytest.param(("School 1", "School 2"), '"{n}"', "School {n}", ["E", "F"], id="suffix"),
        pytest.param(("2 School", "1 School"), '"{n}"', "{n} School", ["F", "E"], id="prefix"),
        pytest.param(("Study-1-Name", "Study-3-Name"), '"{n}"', "Study-{n}-Name", ["E", "F"], id="infix with a gap"),
        pytest.param(("School 01", "School 02"), '"{n}"', "School {n}", ["E", "F"], id="leading zeros"),
        pytest.param(
            ("school", "school2", "school10"), "{first: unnumbered}", "school{n}", ["E", "F", "G"], id="first"
        ),
        pytest.param(("School 9", "School 10"), '"{n}"', "School {n}", ["E", "F"], id="ten after nine"),
    ],
)
def test_groups_are_counted_from_the_header(
    names: tuple[str, ...], repeat: str, template: str, groups: list[str]
) -> None:
    """Numbered column groups are found with the number at any position, in the order of the numbers."""
    text = HEAD + f'answers: {{q: {{education: {{repeat: {repeat}, school_name: "{template}"}}}}}}\n'
    content = resolved(text, (*HEADER, *names), [question("q", "long_text")]).answers[0].content
    assert isinstance(content, ResolvedEntries)
    assert [next(iter(group.values())).columns[0].letter for group in content.sources[0].groups] == groups


def test_a_group_may_lack_columns() -> None:
    """A group without some of the columns is still a group."""
    text = HEAD + 'answers: {q: {education: {repeat: "{n}", school_name: "School {n}", major: "Major {n}"}}}\n'
    mapping = resolved(text, (*HEADER, "School 1", "School 2", "Major 2"), [question("q")])
    content = mapping.answers[0].content
    assert isinstance(content, ResolvedEntries)
    assert [list(group) for group in content.sources[0].groups] == [
        ["school_name"], ["school_name", "major"],
    ]  # fmt: skip


def test_answers_keep_the_order_of_the_questions() -> None:
    """The order of the file does not change what is sent."""
    questions = [question("a", id=1), question("b", id=2)]
    mapping = resolved(HEAD + "answers: {b: First, a: Last}\n", HEADER, questions)
    assert [answer.question.key for answer in mapping.answers] == ["a", "b"]


@pytest.mark.parametrize(
    ("answer_type", "question_type", "kind"),
    [
        pytest.param("short_text", "phone", Kind.PHONE, id="phone"),
        pytest.param("short_text", "address", Kind.LINE, id="address"),
        pytest.param("short_text", "photo", Kind.DOCUMENT, id="photo of any answer type"),
        pytest.param("file_upload", None, Kind.DOCUMENT, id="file"),
        pytest.param("url", "linkedin_url", Kind.URL, id="link"),
        pytest.param("short_text", "github_url", Kind.LINE, id="link as text"),
        pytest.param("not_listed", "phone", Kind.PHONE, id="special type before answer type"),
    ],
)
def test_a_question_type_takes_precedence_over_an_answer_type(
    answer_type: str, question_type: str | None, kind: Kind
) -> None:
    """photo, phone and address are read as such, with any answer type."""
    mapping = resolved(HEAD + "answers: {q: CV}\n", HEADER, [question("q", answer_type, type=question_type)])
    content = mapping.answers[0].content
    assert isinstance(content, ResolvedValue)
    assert content.field.kind is kind


def test_unused_columns_are_a_warning() -> None:
    """Unused columns are reported in one warning, which stops nothing."""
    mapping = resolved(HEAD, (*HEADER, "Notes", "", "Age"))
    assert [str(warning) for warning in mapping.warnings] == [
        "m.yaml: 2 columns are not used: 'Notes' (E), 'Age' (G); map the columns that should be imported, or, "
        "under defaults:, set unused_columns: ignore"
    ]


def test_unused_columns_of_a_talent_pool() -> None:
    """A talent pool takes no answers, which the warning says."""
    text = HEAD.replace("{job_post: 4f2c9a}", "{talent_pool: 17}")
    (warning,) = resolved(text, (*HEADER, "Notes")).warnings
    assert warning.hint == (
        "a talent pool takes only e-mail, names, CV and source_platform: send the file to a job post, or, "
        "under defaults:, set unused_columns: ignore"
    )


def test_many_unused_columns_are_counted() -> None:
    """A long list of unused columns ends after twelve names."""
    (warning,) = resolved(HEAD, (*HEADER, *(f"Custom {number}" for number in range(15)))).warnings
    assert warning.message.endswith("'Custom 10' (O), 'Custom 11' (P) and 3 more")


def test_a_value_table_without_lines_changes_nothing() -> None:
    """`values:` with only comments below it can be completed line by line."""
    text = HEAD + "answers:\n  q:\n    column: CV\n    values:\n      # Guru: ...   # in 1 cell; choose an option\n"
    content = resolved(text, HEADER, [question("q", "single_choice", options=("a", "b"))]).answers[0].content
    assert isinstance(content, ResolvedValue)
    assert content.table is not None
    assert content.table.targets == {}


def test_unused_columns_can_be_ignored() -> None:
    """A nightly file with additional columns needs no warning."""
    assert resolved(HEAD + "defaults: {unused_columns: ignore}\n", (*HEADER, "Notes")).warnings == ()


def test_a_choice_without_options_is_a_warning() -> None:
    """If the service lists no options, answers cannot be checked, which is reported."""
    mapping = resolved(HEAD + "answers: {q: CV}\n", HEADER, [question("q", "single_choice")])
    assert [str(warning) for warning in mapping.warnings] == [
        "m.yaml:4:11: the service lists no options for q, so its answers cannot be checked; check the question in "
        "the job post"
    ]


def test_different_currencies_in_one_column_are_a_warning() -> None:
    """Only the number is sent, so 100 EUR and 100 TRY would be the same; it is reported once for all columns."""
    text = HEAD + "answers: {p: CV, q: CV}\ndefaults: {currency: [EUR, €, TL]}\n"
    questions = [question("p", "integer", id=7), question("q", "decimal", id=8)]
    assert [str(warning) for warning in resolved(text, HEADER, questions).warnings] == [
        "m.yaml:5:23: currency lists EUR and TRY, and only the number is sent, without its currency; list the "
        "spellings of one currency, and convert the other amounts in the file"
    ]
    assert resolved(text.replace(", TL", ""), HEADER, questions).warnings == ()
