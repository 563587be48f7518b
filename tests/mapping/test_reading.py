"""The values of a mapping file are read as they were typed."""

from __future__ import annotations

from importer.mapping.model import QuestionBy
from importer.mapping.values import Replacement, UnusedColumns, ValueSpec
from importer.models import SourceOptions
from importer.problems import LinePlace
from tests.mapping.mapping_files import HEAD, read


def _value(text: str) -> ValueSpec:
    content = read(f"{HEAD}answers:\n  q: {text}\n").answers[0].content
    assert isinstance(content, ValueSpec)
    return content


def test_plain_words_stay_text() -> None:
    """NO, 012, dates and null stay texts, never booleans, numbers or dates."""
    value = _value("{column: C, values: {NO: 012, 2024-01-02: ~, 1e3: 0x1F}, otherwise: {value: off}}")
    assert value.values == (("NO", "012"), ("2024-01-02", "~"), ("1e3", "0x1F"))
    assert isinstance(value.otherwise, Replacement)
    assert value.otherwise.value == "off"


def test_each_text_knows_its_line_and_column() -> None:
    """A place is the line, the column and the text of the line, for showing a caret."""
    assert _value("Town").columns[0].place == LinePlace("m.yaml", 5, 6, "  q: Town")


def test_forms_of_a_value() -> None:
    """A column, alternatives, joined columns and a constant are distinguished."""
    assert _value("=AB").column == ("=AB",)
    assert _value("{column: [Mobile, Phone]}").column == ("Mobile", "Phone")
    joined = _value('{join: [City, Country], with: ", "}')
    assert (joined.join, joined.with_, joined.column) == (("City", "Country"), ", ", None)
    constant = _value("{value: true}")
    assert (constant.value, constant.columns) == ("true", ())


def test_source_and_defaults() -> None:
    """The settings for reading the file and the defaults for columns are read."""
    mapping = read(
        HEAD + "source: {sheet: 2, header_row: 3, encoding: cp1254, delimiter: tab, missing: ['', N/A],"
        " where: {column: Status, is_not: Old}}\n"
        'defaults: {dates: "%d.%m.%Y", region: tr, decimal: ",", unused_columns: ignore, duplicates: error}\n'
    )
    assert mapping.source == SourceOptions("2", 3, "cp1254", "\t")
    assert mapping.missing == ("", "N/A")
    assert mapping.where is not None
    assert (mapping.where.words, mapping.where.negated) == (("Old",), True)
    assert mapping.defaults.dates == ("%d.%m.%Y",)
    assert (mapping.defaults.region, mapping.defaults.unused_columns) == ("TR", UnusedColumns.IGNORE)


def test_source_rows() -> None:
    """The rows of the table are read: skipped rows and ranges, the end, hidden rows."""
    mapping = read(
        HEAD + "source: {header_row: 2, header_rows: 2, skip_rows: [1, 4 - 6], stop_at: Total, hidden_rows: skip}\n"
    )
    assert mapping.source == SourceOptions(
        header_row=2, header_rows=2, skip_rows=(1, 4, 5, 6), stop_at="Total", hidden_rows="skip"
    )


def test_questions_are_identified_by_key_text_or_id() -> None:
    """A question without a key is identified by its text or its ID."""
    answers = read(HEAD + 'answers:\n  city: A\n  "text: Why us?": B\n  "ID: 12": C\n').answers
    assert [(a.by, str(a.question)) for a in answers] == [
        (QuestionBy.KEY, "city"), (QuestionBy.TEXT, "Why us?"), (QuestionBy.ID, "12"),
    ]  # fmt: skip


def test_names_that_show_the_header() -> None:
    """Each table has the names that are read of it, of numbered columns the first; a column by its letter has none."""
    mapping = read(
        HEAD + "answers:\n"
        "  phone: '=G'\n"
        "  school: {education: {repeat: '{n}', school_name: 'School {n}'}}\n"
        "  jobs: {experience: {sheet: {name: Jobs, key: Person, equals: ID}, company_name: Company}}\n"
    )
    assert mapping.source.names == ("E-mail", "First", "Last", "CV", "=G", "School 1", "ID")
    assert [child.options.names for child in mapping.child_sources] == [("Person", "Company")]


def test_which_tables_have_days_since_1900() -> None:
    """Those of which a column is read as such, and not the others of the mapping."""
    jobs = "{file: {name: jobs.csv, key: P, equals: ID}, company_name: C, start_date: {column: S, dates: [excel]}}"
    school = "{sheet: {name: Schools, key: P, equals: ID}, school_name: N}"
    mapping = read(HEAD + f"answers:\n  jobs: {{experience: {jobs}}}\n  school: {{education: {school}}}\n")
    assert mapping.source.counts_from_1900 is False
    assert [(str(one), one.options.counts_from_1900) for one in mapping.child_sources] == [
        ("jobs.csv", True),
        ("Schools", False),
    ]
    everywhere = read(HEAD + f"defaults: {{dates: [excel]}}\nanswers:\n  school: {{education: {school}}}\n")
    assert everywhere.source.counts_from_1900
