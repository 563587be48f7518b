"""A mapping file beside a file: what is shown of each question, and what each change sends."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from importer.mapping import read_mapping, resolve
from importer.models import Application, Operation, Question, SourceOptions, Target
from importer.problems import Column, UsageError
from importer.settings import Settings, load_settings
from importer.sources import open_sheet
from importer.suggest import ColumnView, date_settings, write_proposal
from importer.transform import Invalid, trace_row, transform_row
from importer.web.models.draft_mapping import open_mapping
from importer.web.models.matching import EntryKind, Matched, Matching, sample_of
from importer.web.models.sent_lines import sent_lines

HEADER = [
    "E-mail",
    "Name",
    "CV",
    "Mobile",
    "Grade",
    "Since",
    "Gross salary",
    "School 1",
    "School 2",
    "Town",
    "Land",
    "Note",
]
ROWS = [
    [
        "a@example.com",
        "Ada Öz",
        "71",
        "+905550000001",
        "Sr",
        "03/04/2019",
        "1.200,50",
        "Ege",
        "ETH",
        "İzmir",
        "TR",
        "x",
    ],
    ["b@example.com", "Bob Ak", "72", "+905550000002", "Junior", "05/04/2019", "900", "ODTÜ", "", "Bern", "", ""],
    ["c@example.com", "Cem Su", "73", "+905550000003", "Chef", "13/04/2019", "", "", "", "", "", ""],
    ["d@example.com", "Dan Ay", "74", "+905550000004", "Chef", "", "", "", "", "Van", "TR", "x"],
]
QUESTIONS = (
    Question(1, "Phone", True, "short_text", (), "phone", "phone"),
    Question(2, "Level", True, "single_choice", ("Junior", "Senior", "Lead"), "level", None),
    Question(3, "Start date", False, "date", (), "start", None),
    Question(4, "Salary", False, "decimal", (), "salary", None),
    Question(5, "Education", False, "long_text", (), "education", None),
    Question(6, "Where do you live?", False, "short_text", (), None, None),
)
TARGET = Target(Operation.APPLY, "4f2c9a")


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    return load_settings()


Match = Callable[..., Matching]


@pytest.fixture
def match(tmp_path: Path, settings: Settings) -> Match:
    """Call it with the text of a mapping file, or without one for the proposal."""
    file = tmp_path / "people.csv"
    with file.open("w", encoding="utf-8", newline="") as opened:
        csv.writer(opened).writerows([HEADER, *ROWS])
    sample = sample_of(file, SourceOptions(), TARGET, QUESTIONS)

    def made(text: str | None = None) -> Matching:
        return Matching(text or write_proposal(sample.proposal), tmp_path / "people.yaml", file, sample, settings)

    return made


def _of(matching: Matching, id: str) -> Matched:
    return next(one for one in matching.questions if one.id == id)


def _sent(matching: Matching, id: str) -> list[str]:
    return [one.sent or one.problem for one in _of(matching, id).results]


def test_the_proposal_is_shown_by_question(match: Match) -> None:
    """Each with its columns, how sure they are and why, filled cells, samples, results and unknown texts."""
    matching = match()
    assert {one.id: (one.state, one.columns) for one in matching.questions if not one.entries} == {
        "candidate/email": ("matched", ("E-mail",)),
        "candidate/first_name": ("matched", ("Name",)),
        "candidate/last_name": ("matched", ("Name",)),
        "candidate/cv": ("matched", ("CV",)),
        "candidate/terms_of_use": ("open", ()),
        "answers/phone": ("matched", ("Mobile",)),
        "answers/level": ("open", ()),
        "answers/start": ("open", ()),
        "answers/salary": ("review", ("Gross salary",)),
        "answers/text: Where do you live?": ("open", ()),
    }
    phone = _of(matching, "answers/phone")
    assert (phone.title, phone.kind, phone.required, phone.filled) == ("Phone", "short text", True, 4)
    assert phone.samples[0] == "+905550000001"
    assert matching.required == (5, 6)
    assert _of(matching, "answers/level").closest == ("Grade",)
    assert {one.name for one in matching.unused} == {"Grade", "Since", "Town", "Land", "Note"}
    entries = _of(matching, "answers/education").entries
    assert entries is not None
    assert [list(group.values()) for group in entries.groups] == [["School 1"], ["School 2"]]
    first = entries.candidates[0]
    assert (first[0], [*first[1]]) == (2, [{"school_name": "Ege"}, {"school_name": "ETH"}])


def test_dates_of_a_first_group_are_read_as_their_cells_show() -> None:
    """There is no other group to take the forms from; what leaves a doubt is not guessed."""
    begun = ColumnView(Column(0, "A", "Begun"), (("15.03.2019", 3), ("01.02.2020", 2)), 5)
    ended = ColumnView(Column(1, "B", "Ended"), (("31.12.2021", 3), ("heute", 2)), 5)
    read = date_settings({"company_name": begun, "start_date": begun, "end_date": ended}, None)
    forms = {"dates": ["%d.%m.%Y"]}
    assert read == {"start_date": forms, "end_date": {**forms, "present": ["heute"]}}
    doubtful = ColumnView(Column(0, "A", "Begun"), (("03/04/2019", 3), ("01/02/2020", 2)), 5)
    assert date_settings({"start_date": doubtful}, None) == {}


def test_a_missing_word_is_blank_in_every_count(match: Match) -> None:
    """It is no sample and not filled in, beside its question and in the list of columns; it holds rows back."""
    text = match(match().changes.use("answers/level", ["Grade"])).text
    matching = match(text.replace("source:\n", 'source:\n  missing: ["+905550000001", chef]\n'))
    phone, level = _of(matching, "answers/phone"), _of(matching, "answers/level")
    assert (phone.state, phone.filled, phone.blank, phone.holds_back) == ("held", 3, 1, 1)
    assert (phone.missing, "+905550000001" in phone.samples) == (("+905550000001",), False)
    assert (level.state, level.filled, level.missing, level.holds_back) == ("held", 2, ("Chef",), 2)
    assert {one.label: one.filled for one in matching.columns if one.label in ("Mobile", "Grade")} == {
        "Mobile": 3,
        "Grade": 2,
    }
    assert (matching.required, matching.candidates.held_back) == ((6, 6), 3)
    matching = match(matching.text.replace("{column: Gross salary,", "{column: Note, optional: leave_out,"))
    salary = _of(matching, "answers/salary")
    assert (salary.held > 0, salary.is_left_out, salary.holds_back) == (True, True, 0)


def test_a_chosen_column_gets_the_settings_that_its_cells_need(match: Match) -> None:
    """Unknown texts with their counts, the form of its dates, its decimal sign; no other line changes."""
    text = match().changes.use("answers/level", ["Grade"])
    text = match(text).changes.use("answers/start", ["Since"])
    matching = match(match(text).changes.use("answers/salary", ["Gross salary"]))
    level = _of(matching, "answers/level")
    assert (level.state, [(one.text, one.count) for one in level.choices]) == ("unknown", [("Chef", 2)])
    assert _sent(matching, "answers/level")[:2] == ["Senior", "Junior"]
    assert _sent(matching, "answers/salary") == ["1200.50", "900"]
    dates = {one.form: (one.cell, one.means, one.is_used) for one in _of(matching, "answers/start").dates}
    assert dates["%d/%m/%Y"] == ("03/04/2019", "3 April 2019", True)
    assert dates["%m/%d/%Y"] == ("03/04/2019", "4 March 2019", False)
    assert matching.required == (6, 6)
    before, after = match().text.splitlines(), matching.text.splitlines()
    gone = [line for line in before if line not in after and not line.strip().startswith("#")]
    assert gone == [
        '  salary: {column: Gross salary, decimal: ",", thousands: "."}   # please check: the header is similar'
    ]


def test_an_option_for_an_unknown_text_is_a_line_of_the_value_table(match: Match) -> None:
    """Chosen, left out, or held back again; the file that the command reads has the same."""
    matching = match(match().changes.use("answers/level", ["Grade"]))
    matching = match(matching.changes.translate("answers/level", {"Chef": "Lead"}))
    assert _sent(matching, "answers/level") == ["Senior", "Junior", "Lead", "Lead"]
    assert _of(matching, "answers/level").state == "matched"
    matching = match(matching.changes.translate("answers/level", {"Chef": ""}))
    assert _sent(matching, "answers/level")[2:] == ["", ""]


def test_joins_alternatives_constants_and_leaving_out(match: Match) -> None:
    """Each is a form of the value in the file, with its results."""
    id = "answers/text: Where do you live?"
    matching = match(match().changes.use(id, ["Town", "Land"], ", "))
    assert _sent(matching, id) == ["İzmir, TR", "Bern", "Van, TR"]
    assert _of(matching, id).joined == ", "
    matching = match(matching.changes.use(id, ["Land", "Town"]))
    assert (_sent(matching, id), _of(matching, id).joined) == (["TR", "Bern", "TR"], None)
    matching = match(matching.changes.constant(id, "no: where?"))
    assert (_of(matching, id).constant, _sent(matching, id)[0]) == ("no: where?", "no: where?")
    assert _of(match(matching.changes.leave_out(id)), id).is_open


def test_keys_beside_a_column_are_set_and_removed(match: Match) -> None:
    """The other reading of a date is one choice; what a page does not show is kept, and said."""
    matching = match(match().changes.use("answers/start", ["Since"]))
    matching = match(matching.changes.set("answers/start", {"dates": "%m/%d/%Y", "pivot": "1950"}))
    assert _sent(matching, "answers/start")[0] == "2019-03-04"
    assert _of(matching, "answers/start").kept == ("pivot",)
    assert _of(match(matching.changes.set("answers/start", {"dates": None})), "answers/start").invalid


def test_groups_of_entries_are_added_and_removed_as_a_whole(match: Match) -> None:
    """From numbered columns they become one for each; the entries follow, and without a group the answer is gone."""
    id = "answers/education"
    matching = match(match().changes.remove_group(id, 0))
    assert [list(group.values()) for group in _of(matching, id).entries.groups] == [["School 2"]]
    matching = match(matching.changes.add_group(id, EntryKind.EDUCATION, {"school_name": "Town", "end_date": "Since"}))
    entries = _of(matching, id).entries.candidates[1]
    assert entries[0] == 3
    assert _of(match(match(matching.changes.remove_group(id, 0)).changes.remove_group(id, 0)), id).is_open


def test_rows_of_a_candidate_become_its_entries(match: Match) -> None:
    """Their columns are chosen by field, also after some were proposed; how a column is read stays."""
    id = "answers/education"
    rows = {"where": "", "is_not": "", "words": "", "group_by": "Note"}
    matching = match(match(match().changes.leave_out(id)).changes.choose_rows(rows))
    matching = match(matching.changes.use_rows(id, EntryKind.EDUCATION, {"school_name": "Town"}))
    assert _of(matching, id).entries.fields == {"school_name": "Town"}
    both = {"school_name": "Town", "end_date": "Since"}
    matching = match(matching.changes.use_rows(id, EntryKind.EDUCATION, both))
    entries = _of(matching, id).entries
    assert (entries.other, entries.fields) == ("rows", both)
    assert entries.candidates[0][1][0] == {"school_name": "Bern", "end_date": "2019-04-05"}
    again = matching.changes.use_rows(id, EntryKind.EDUCATION, both)
    assert again == matching.text


def test_unknown_texts_of_entries_get_an_option_too(match: Match) -> None:
    """They are counted by field, and an option is a line of the table of that field in all groups."""
    id = "answers/education"
    text = match().changes.add_group(id, EntryKind.EDUCATION, {"school_name": "Town", "degree": "Grade"})
    found = _of(match(text), id)
    assert (found.state, found.held) == ("unknown", 4)
    unknown = {(one.field, one.text): one.count for one in found.choices}
    assert unknown == {("degree", "Sr"): 1, ("degree", "Junior"): 1, ("degree", "Chef"): 2}
    matching = match(match(text).changes.translate(id, {"Sr": "masters_degree", "Chef": ""}, "degree"))
    assert [(one.text, one.count) for one in _of(matching, id).choices] == [("Junior", 1)]
    assert _of(matching, id).entries.candidates[0][1][-1]["degree"] == "masters_degree"


def test_a_mapping_that_is_wrong_is_shown_at_its_questions(match: Match) -> None:
    """The others are read all the same; what belongs to no question is told on top."""
    text = (
        match()
        .text.replace("email: E-mail", "email: Mail")
        .replace("phone: Mobile", "phone: {column: Mobile, spilt: x}")
    )
    matching = match(text)
    assert (_of(matching, "candidate/email").state, _of(matching, "answers/phone").state) == ("wrong", "wrong")
    assert _of(matching, "candidate/email").why == "the column 'Mail' does not exist"
    assert _sent(matching, "candidate/cv") == ["71", "72", "73", "74"]
    assert matching.required == (3, 6)
    assert [one.code for one in match(match().text + "surprise: x\n").problems] == ["key-unknown"]


def test_words_dates_and_rows_need_no_mapping_file(match: Match) -> None:
    """What a person types is written as the keys of the mapping; an empty field removes its key."""
    matching = match(match().changes.use("answers/start", ["Since"]))
    words = {"missing": ["open"], "default": "2020-01-02"}
    matching = match(matching.changes.set("answers/start", words))
    assert _of(matching, "answers/start").texts == {"missing": "open", "default": "2020-01-02"}
    text = matching.changes.translate("answers/start", {"soon": "2030-01-01"}, keeps_others=True)
    assert "values: {soon: 2030-01-01}" in text.replace('"', "")
    assert "otherwise: keep" in text
    assert _of(match(text), "answers/start").table == {"soon": "2030-01-01"}
    assert "values:" not in match(text).changes.translate("answers/start", {"soon": None})
    rows = {"where": "Since", "is_not": "is_not", "words": "old; x; (blank)", "group_by": "Since"}
    matching = match(match(text).changes.choose_rows(rows))
    assert 'is_not: [old, x, ""]' in matching.text
    assert matching.changes.rows == rows
    assert matching.changes.choose_rows(rows) == matching.text
    none = dict.fromkeys(rows, "")
    assert match().changes.choose_rows({**none, "words": "old"}) == match().text
    assert match(matching.changes.choose_rows(none)).changes.rows == none
    names = {"surname": "first_word", "particles": "van", "suffixes": ""}
    matching = match(matching.changes.split_names(names))
    assert matching.changes.names == names
    assert matching.changes.split_names(names) == matching.text


@pytest.mark.parametrize(
    "written",
    [
        *("group_by: {column: since, ignore: [Note]}", "where: {column: SINCE, is: old}", "group_by: Gone"),
        *("where: {column: Since, is: ['a;b', c]}", "where: {column: Since, is: ['a;b']}"),
    ],
)
def test_what_a_form_does_not_change_stays_as_it_is_written(match: Match, written: str) -> None:
    """Each form is sent whole: a column that the mapping spells in another way, or that the file lacks, stays."""
    text = match().text.replace("source:\n", f"source:\n  {written}\n")
    assert written in text
    changes = match(text).changes
    assert changes.choose_rows(changes.rows) == text
    changed = changes.choose_rows({**changes.rows, "where": "Since", "is_not": "is_not"})
    assert ("a;b" in changed) == ("a;b" in written)


def test_words_that_a_field_cannot_show_stay(match: Match) -> None:
    """A field is sent as it was shown, without line breaks; a list with such words is changed in the file."""
    text = match(match().changes.use("answers/level", ["Grade"])).text
    text = match(text).changes.set("answers/level", {"missing": ["n;a", " - "], "default": "a\nb"})
    sent = {"missing": "n;a;  - ", "default": "ab"}
    assert match(text).changes.set("answers/level", sent, ["missing"]) == text
    with pytest.raises(UsageError, match="change the list in the mapping file"):
        match(text).changes.set("answers/level", {"missing": "n; x"}, ["missing"])


def test_what_a_page_does_not_show_is_kept_and_named(match: Match) -> None:
    """Sections, and answers to questions that are not asked."""
    text = match().text.replace("defaults:\n", "defaults:\n  optional: leave_out\n")
    text = match(text.replace("answers:\n", "answers:\n  other: Note\n")).changes.accept("candidate/email")
    assert match(text).kept == ("defaults: optional", "answers: other")
    assert "  optional: leave_out\n" in match(match(text).changes.constant("answers/level", "Lead")).text


def test_every_change_is_a_file_that_the_command_reads(match: Match, tmp_path: Path, settings: Settings) -> None:
    """The text is a valid mapping file; opened again, it is the same."""
    text = match(match().changes.use("answers/level", ["Grade"])).changes.translate("answers/level", {"Chef": "Lead"})
    path = tmp_path / "people.yaml"
    path.write_text(text, "utf-8")
    assert read_mapping(path).target == TARGET
    opened = open_mapping(path, TARGET, settings)
    assert (opened.text, opened.source, opened.fits) == (text, read_mapping(path).source, True)
    assert not open_mapping(path, Target(Operation.ADD_TO_POOL, "17"), settings).fits


def _whole(match: Match) -> Matching:
    matching = match(match().changes.use("answers/level", ["Grade"]))
    matching = match(matching.changes.use("answers/start", ["Since"]))
    return match(matching.changes.set("answers/start", {"dates": "%m/%d/%Y"}))


def test_a_row_is_shown_as_it_is_read(match: Match, tmp_path: Path, settings: Settings) -> None:
    """Each row of a complete mapping: the lines are those that are sent, or the problems those that hold it back."""
    matching, path = _whole(match), tmp_path / "people.yaml"
    path.write_text(matching.text, "utf-8")
    sheet = open_sheet(tmp_path / "people.csv", SourceOptions())
    resolved = resolve(read_mapping(path), sheet.columns, QUESTIONS, settings.wire, {})
    held = []
    for row in sheet.rows():
        shown = matching.candidates.at(row.number, "file")
        assert shown is not None
        read = transform_row(row, resolved)
        if isinstance(read, Invalid):
            held.append(row.number)
            found = [problem for part in shown.parts for problem in part.problems]
            assert [(one.code, one.place) for one in found] == [(one.code, one.place) for one in read.problems]
            assert "people.yaml" not in "".join(one.hint for one in found)
        else:
            assert isinstance(read, Application)
            lines = [line for part in shown.parts for line in part.lines]
            assert lines == list(sent_lines(trace_row(row, resolved), row.origin))
            assert shown.problem_count == 0
        assert {line.column for line in shown.unused} <= {"Town", "Land", "Note"}
    assert held == [4, 5]


def test_what_is_read_of_a_mapping_that_is_not_complete(match: Match) -> None:
    """The other values are shown; what is required and lacks is named, and no placeholder is seen."""
    matching = match(match().changes.leave_out("candidate/email"))
    shown = matching.candidates.at(3, "file")
    assert shown is not None
    assert shown.lacking == ("e-mail address", "Level")
    assert [(part.id, part.lines[0].sent) for part in shown.parts][:3] == [
        ("candidate/first_name", "Bob"),
        ("candidate/last_name", "Ak"),
        ("candidate/cv", "72"),
    ]
    assert match(matching.text.replace("version: 1", "version: 7")).candidates.at(3, "file") is None


def test_the_odd_rows_come_first(tmp_path: Path, settings: Settings) -> None:
    """Each new set of problems, then further rows with the same, then the rarest cells; the reason is named."""
    rows = [[f"p{one}@example.com", "Ada Öz", "71", "+905550000001", "Senior", ""] for one in range(40)]
    rows[10][4] = rows[20][4] = "Chef"
    rows[30][0] = "p30(at)example.com"
    rows[35][5] = "https://www.linkedin.com/in/ada"
    file = tmp_path / "many.csv"
    with file.open("w", encoding="utf-8", newline="") as opened:
        csv.writer(opened).writerows([["E-mail", "Name", "CV", "Phone", "Level", "LinkedIn"], *rows])
    questions = (*QUESTIONS[:2], Question(9, "LinkedIn", False, "url", (), "linkedin", "linkedin_url"))
    sample = sample_of(file, SourceOptions(), TARGET, questions)
    candidates = Matching(write_proposal(sample.proposal), tmp_path / "many.yaml", file, sample, settings).candidates
    first = candidates.at(0, "odd")
    order = [first]
    while order[-1] is not None and order[-1].following is not None:
        order.append(candidates.at(order[-1].following, "odd"))
    numbers = [one.row for one in order if one is not None]
    assert sorted(numbers) == list(range(2, 42))
    assert set(numbers[:2]) == {32, 12}
    assert numbers[2:4] == [22, 37]
    assert order[3] is not None


def test_an_unknown_column_is_refused(match: Match) -> None:
    """The page offers only those of the file."""
    with pytest.raises(UsageError, match="choose a column of the file"):
        match().changes.use("answers/level", ["Rank"])


@pytest.mark.parametrize(
    ("cell", "forms"),
    [
        ("15 Jan 2027", {"%d %b %Y": "15 January 2027"}),
        ("Jan 15, 2027", {"%b %d, %Y": "15 January 2027"}),
        ("15.01.27", {"%d.%m.%y": "15 January 2027"}),
        ("Jan 2027", {"%b %Y": "1 January 2027"}),
        ("01/2027", {"%m/%Y": "1 January 2027"}),
        ("20270115", {"%Y%m%d": "15 January 2027"}),
        ("15/01/2027 09:30 AM", {"%d/%m/%Y %I:%M %p": "15 January 2027"}),
        ("03-04-2027", {"%d-%m-%Y": "3 April 2027", "%m-%d-%Y": "4 March 2027"}),
    ],
)
def test_every_form_of_dates_is_shown(tmp_path: Path, settings: Settings, cell: str, forms: dict[str, str]) -> None:
    """Also one with the name of a month, and one without a day: there is no form with day and month exchanged."""
    file = tmp_path / "dates.csv"
    with file.open("w", encoding="utf-8", newline="") as opened:
        csv.writer(opened).writerows([["E-mail", "Start date"], ["a@example.com", cell], ["b@example.com", cell]])
    sample = sample_of(file, SourceOptions(), TARGET, QUESTIONS)
    matching = Matching(write_proposal(sample.proposal), tmp_path / "dates.yaml", file, sample, settings)
    assert {one.form: one.means for one in _of(matching, "answers/start").dates} == forms


def test_a_form_of_dates_that_no_cell_has_is_not_dropped(tmp_path: Path, settings: Settings) -> None:
    """It may be that of later rows: the button of the page sets the forms that are shown."""
    file = tmp_path / "dates.csv"
    file.write_text("E-mail,Start date\na@example.com,15.01.2027\nb@example.com,16.01.2027\n", "utf-8")
    sample = sample_of(file, SourceOptions(), TARGET, QUESTIONS)
    text = write_proposal(sample.proposal).replace('["%d.%m.%Y"]', '["%d.%m.%Y", "%d/%m/%Y"]')
    shown = _of(Matching(text, tmp_path / "dates.yaml", file, sample, settings), "answers/start").dates
    assert [(one.form, one.cell, one.is_used) for one in shown] == [
        ("%d.%m.%Y", "15.01.2027", True),
        ("%d/%m/%Y", "", True),
    ]
