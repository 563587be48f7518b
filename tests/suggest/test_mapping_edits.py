"""Proposed changes of a mapping, pasted as their comments say."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from importer.mapping import read_mapping, resolve
from importer.models import Question, Row
from importer.problems import Column, Origin, Unread
from importer.settings import WireFormat
from importer.suggest.mapping_edits import MappingEdit, mapping_edits
from importer.transform import Invalid, transform_row

FILE = Path("m.yaml")
HEAD = """\
version: 1
target: {job_post: 4f2c9a}
candidate: {email: Email, first_name: First, last_name: Last, cv: {value: "7"}}
"""
HEADER = ("Email", "First", "Last", "Level", "Start", "Degree", "Degree 1", "Degree 2")
OPTIONS = ("Junior", "Senior")
QUESTIONS = (
    Question(1, "Level", False, "single_choice", OPTIONS, "level", None),
    Question(2, "Start", False, "date", (), "start", None),
    Question(3, "Rank", False, "single_choice", OPTIONS, "rank", None),
    Question(4, "Education", False, "long_text", (), "school", None),
    Question(5, "Permit", False, "yes_no", (), "permit", None),
)
LEVELS = ("Sr", "Sr", "Jr", "Chief", "Senior")
STARTS = ("31.05.2024", "3 Haz 2024", "17 Eyl 2023", "17.09.2023", "2024-01-02")


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _unread(
    *, levels: Sequence[str] = LEVELS, starts: Sequence[str] = (), questions: Sequence[Question] = QUESTIONS
) -> tuple[Counter[str], list[MappingEdit]]:
    """The texts that the mapping cannot read, and the changes that are proposed."""
    columns = tuple(Column(index, chr(65 + index), name) for index, name in enumerate(HEADER))
    mapping = resolve(read_mapping(FILE), columns, questions, WireFormat())
    counts: Counter[tuple[Unread, str]] = Counter()
    for number in range(max(len(levels), len(starts))):
        level, start = (texts[number] if number < len(texts) else "" for texts in (levels, starts))
        degree = {"Sr": "masters", "Jr": "bachelors", "Chief": "none"}.get(level, "")
        cells = (f"a{number}@example.com", "Ada", "Nur", level, start, degree, degree, degree)
        found = transform_row(Row(Origin("a.csv"), number + 2, cells), mapping)
        for problem in found.problems if isinstance(found, Invalid) else ():
            assert problem.unread is not None, problem
            counts[problem.unread, problem.code] += 1
    texts = Counter({one.text: count for (one, _), count in counts.items()})
    return texts, list(mapping_edits(mapping, counts))


def _paste(edits: Iterable[MappingEdit]) -> None:
    """Do what the comments of the changes say, from the first to the last."""
    for edit in edits:
        starts = [i for i, line in enumerate(edit.lines) if re.match("# (Insert|Replace|Write|Add) .*:$", line)]
        for first, end in zip(starts, [*starts[1:], len(edit.lines)], strict=True):
            _paste_one(edit.lines[first], list(edit.lines[first + 1 : end]))


def _paste_one(wanted: str, pasted: list[str]) -> None:
    if found := re.fullmatch("# Add to the file (.+):", wanted):
        with Path(found[1]).open("a", encoding="utf-8") as table:
            table.writelines(f"{line}\n" for line in pasted)
        return
    lines = FILE.read_text("utf-8").split("\n")
    number = int(re.findall(r"line (\d+)", wanted)[-1])
    line = lines[number - 1]
    if wanted.startswith("# Replace line"):
        lines[number - 1 : number] = pasted
    elif wanted.startswith("# Insert below line"):
        lines[number:number] = pasted
    elif wanted.startswith("# Insert above line"):
        lines[number - 1 : number - 1] = pasted
    elif found := re.fullmatch(r"# Insert after (.+) in line \d+:", wanted):
        assert line.count(found[1]) == 1, wanted
        lines[number - 1] = line.replace(found[1], found[1] + pasted[0])
    else:
        found = re.fullmatch(r"# Write instead of (.+) in line \d+, from character (\d+):", wanted)
        assert found is not None, wanted
        start = int(found[2]) - 1
        assert line[start:].startswith(found[1]), wanted
        lines[number - 1] = line[:start] + pasted[0] + line[start + len(found[1]) :]
    FILE.write_text("\n".join(lines), encoding="utf-8")


@pytest.mark.parametrize(
    "answers",
    [
        pytest.param("answers:\n  level: Level   # as in: {the old} system\n  start: Start\n", id="only a column"),
        pytest.param('answers:\n  "level" : "Level" # old\n', id="a column in quotes"),
        pytest.param("answers:\n  level:\n    Level\n", id="a column on its own line"),
        pytest.param("answers:\n    level:   # old\n        column: Level\n        missing: [-]\n", id="lines of keys"),
        pytest.param("answers:\n  level:\n    # old\n    missing: [-]\n    column: Level\n", id="keys and comments"),
        pytest.param("answers:\n  level: {column: Level, missing: [-]}   # {old}\n", id="keys between braces"),
        pytest.param("answers: {start: {column: Start}, level: {column: Level}}\n", id="two values between braces"),
        pytest.param("answers:\n  level: {\n    # old\n    column: Level,\n  }\n", id="braces over several lines"),
        pytest.param("answers:\n  level:\n    column: Level\n    values:\n        x: Junior # old\n", id="a table"),
        pytest.param("answers:\n  level:\n    column: Level\n    values:\n      # x: ...\n", id="no lines in a table"),
        pytest.param("answers:\n  level:\n    values:   # old\n      x: Junior\n    column: Level\n", id="first"),
        pytest.param("answers:\n  level: {column: Level, values: {x: Junior}}\n", id="a table between braces"),
        pytest.param("answers:\n  level: {column: Level, values: {}}\n", id="an empty table between braces"),
        pytest.param("answers:\n  level: {column: Level, values: }\n", id="no table between braces"),
        pytest.param("answers:\n  level:\n    column: Level\n    values:\n      {x: Junior}\n", id="below"),
        pytest.param("answers:\n  level: {column: Level, values:\n    {x: Junior, # old\n    y: Junior}}\n", id="2"),
        pytest.param("answers:\n  level: {column: Level, values: levels.csv}   # old\n", id="a table in a file"),
        pytest.param('answers:\n  level: {column: Level, values: "semicolons.csv"}\n', id="a table with semicolons"),
        pytest.param("answers: {start: Start, level: Level}\n", id="a column between braces"),
        pytest.param("answers: {\n  start: Start,\n  level: Level\n}\n", id="a line of its own between braces"),
        pytest.param('"answers": {\n  "level": "Level"\n}\n', id="JSON"),
        pytest.param("answers: {level: Level, rank: Level}\n", id="two columns between braces"),
        pytest.param("answers:\n  rank: Level\n  level: Level\n", id="two columns"),
        pytest.param(
            "answers:\n  rank: &ranks {column: Level, values: {x: Junior}}\n  level: *ranks\n", id="a shared value"
        ),
        pytest.param(
            "answers:\n  rank:\n    column: Level\n    values: &t\n      x: Junior\n"
            "  level: {column: Level, values: *t}\n", id="a shared table",
        ),
        pytest.param("answers:\n  school:\n    education: {school_name: First, degree: Degree}\n", id="an entry"),
        pytest.param(
            "answers:\n  school:\n    education:\n    - degree: Degree\n      school_name: First\n", id="a list"
        ),
        pytest.param(
            "answers:\n  school:\n    education:\n      repeat: '{n}'\n      school_name: {value: Y}\n"
            "      degree: 'Degree {n}' # old\n", id="numbered entries",
        ),
    ],
)  # fmt: skip
def test_a_value_table_can_be_pasted(answers: str) -> None:
    """Unknown texts with a similar option are lines of a table, in any form that the mapping has there."""
    Path("levels.csv").write_text("cell,value\nx,Junior\n", encoding="utf-8")
    Path("semicolons.csv").write_text("cell;value\nx;Junior\n", encoding="utf-8")
    FILE.write_text(HEAD + answers, encoding="utf-8")
    before, edits = _unread()
    _paste(edits)
    after, _ = _unread()
    assert len(before) == 3
    assert len(after) == 1, FILE.read_text("utf-8")
    comments = re.findall("# .*old.*", answers)
    assert all(comment in FILE.read_text("utf-8") for comment in comments)


@pytest.mark.parametrize(
    "answers",
    [
        pytest.param("  level: &shared Level\n  rank: *shared\n", id="a column with an anchor"),
        pytest.param("  level: |-\n    Level\n", id="a column in a block"),
        pytest.param('  level: "Lev\\\n    el"\n', id="quotes over two lines"),
    ],
)
def test_no_change_is_proposed_where_none_can_be_pasted(answers: str) -> None:
    """In unusual YAML, nothing is better than lines that break the file."""
    FILE.write_text(f"{HEAD}answers:\n{answers}", encoding="utf-8")
    before, edits = _unread()
    assert (len(before), edits) == (3, [])


@pytest.mark.parametrize(
    "answers",
    [
        pytest.param("  level: {column: Level, missing: [-]}\n", id="keys between braces"),
        pytest.param("  level: {column: Level, values: {x: Junior}}\n", id="a table between braces"),
        pytest.param("  {start: Start, level: Level}\n", id="a column between braces"),
        pytest.param("  level:\n    column: Level\n    values:\n      x: Junior\n", id="a table"),
        pytest.param("  level: Level\n", id="a column"),
    ],
)
def test_a_line_can_be_completed(answers: str) -> None:
    """A text without a similar option is in a line to complete; between braces that replaces the other one."""
    FILE.write_text(f"{HEAD}answers:\n{answers}", encoding="utf-8")
    _, (edit,) = _unread()
    (number,) = (number for number, line in enumerate(edit.lines) if "Chief: ..." in line)
    lines = list(edit.lines)
    lines[number] = re.sub(r"# (\W*)", r"\1", lines[number], count=1).replace("...", "Senior")
    if lines[number - 1].endswith("use it instead:"):
        lines[number - 2 : number] = []
    _paste([MappingEdit(edit.summary, tuple(lines))])
    assert _unread()[0] == {}


@pytest.mark.parametrize(
    "start",
    [
        pytest.param("Start   # old", id="only a column"),
        pytest.param("'Start'", id="quotes"),
        pytest.param("{column: Start}", id="braces"),
        pytest.param("{column: Start, dates: '%d.%m.%Y'}   # old", id="one format"),
        pytest.param('{column: Start, dates: ["%Y.%m.%d"], months: [de], missing: [-]}', id="lists"),
        pytest.param("{dates: '%Y.%m.%d',\n    column: Start}", id="two lines"),
        pytest.param("\n    {column: Start, dates: '%d.%m.%Y'}", id="braces below"),
        pytest.param("\n    column: Start", id="lines"),
        pytest.param("\n    dates: '%d.%m.%Y'   # old\n    column: Start", id="lines with a format"),
        pytest.param("\n    column: Start\n    dates:\n      - '%d.%m.%Y'\n    months:\n    - de", id="lines of lists"),
    ],
)
def test_date_formats_that_read_all_cells_can_be_pasted(start: str) -> None:
    """If more formats read every cell that is not a date, each in one way, they are proposed."""
    FILE.write_text(f"{HEAD}answers:\n  start: {start}\n  level: Level\n", encoding="utf-8")
    before, edits = _unread(starts=STARTS, levels=())
    assert len(before) >= 2
    _paste(edits)
    after, _ = _unread(starts=STARTS, levels=())
    assert after == {}, FILE.read_text("utf-8")
    assert ("# old" in FILE.read_text("utf-8")) == ("# old" in start)


@pytest.mark.parametrize(
    "permit",
    [
        pytest.param("Level", id="only a column"),
        pytest.param("{column: Level}", id="braces"),
        pytest.param("\n    column: Level\n    values:\n      x: yes", id="a table"),
    ],
)
def test_words_for_yes_and_no_can_be_pasted(permit: str) -> None:
    """A word for yes or no is a line; a longer text only resembles one, and others can be completed."""
    FILE.write_text(f"{HEAD}answers:\n  permit: {permit}\n", encoding="utf-8")
    words = ("Oui", "Non", "Oui", "Ja (Klasse B)", "keine Angabe")
    _, (edit,) = _unread(levels=words)
    assert (
        edit.summary
        == "m.yaml:5, the answer to permit: 4 unknown texts in 5 cells, 3 with a similar option".replace(
            ":5,", ":6," if "\n" in permit else ":5,"
        )
    )
    assert edit.lines[0] == '# The options are: yes, no; "" leaves a text out'
    _paste([edit])
    assert _unread(levels=words)[0] == {"Ja (Klasse B)": 1, "keine Angabe": 1}, FILE.read_text("utf-8")


def test_a_text_that_only_resembles_yes_or_no_is_a_comment() -> None:
    """Oui means yes, in whatever table it is missing; a longer text is to be completed, one with more has none."""
    FILE.write_text(f"{HEAD}answers:\n  permit:\n    column: Level\n    values:\n      x: yes\n", encoding="utf-8")
    words = ("Oui", "Non", "Oui (voiture)", "Oui, mais pas maintenant", "Ja (nicht jetzt)", "Yes/No", "Nein (krank)")
    _, (edit,) = _unread(levels=words)
    assert [line.strip() for line in edit.lines[2:]] == [
        'Oui: "yes"   # 1 cell',
        'Non: "no"   # 1 cell',
        '# Oui (voiture): "yes"   # 1 cell; similar: if it is right, remove the first #',
        '# "Oui, mais pas maintenant": ...   # 1 cell; no similar option',
        "# Ja (nicht jetzt): ...   # 1 cell; no similar option",
        "# Yes/No: ...   # 1 cell; no similar option",
        '# Nein (krank): "no"   # 1 cell; similar: if it is right, remove the first #',
    ]


def test_a_text_that_only_resembles_an_option_is_never_pasted() -> None:
    """It is a comment in a table of lines; between braces, and for a table in a file, a person writes it."""
    Path("levels.csv").write_text("cell,value\nx,Junior\n", encoding="utf-8")
    texts = ("Senoir", "not senior", "Junior/Senior")
    FILE.write_text(f"{HEAD}answers:\n  level: Level\n", encoding="utf-8")
    _paste(_unread(levels=texts)[1])
    assert _unread(levels=texts)[0] == dict.fromkeys(texts, 1), FILE.read_text("utf-8")
    for answer in ("{column: Level}", "{column: Level, values: {x: Junior}}"):
        FILE.write_text(f"{HEAD}answers:\n  level: {answer}\n", encoding="utf-8")
        _, (edit,) = _unread(levels=texts)
        assert [line for line in edit.lines if not line.startswith("#")] == []
        assert "Senoir: ..." in edit.lines[-1]
    FILE.write_text(f"{HEAD}answers:\n  level: {{column: Level, values: levels.csv}}\n", encoding="utf-8")
    _, (edit,) = _unread(levels=texts)
    assert edit.lines[1:] == ("# Add to the file levels.csv:",)


@pytest.mark.parametrize(
    ("start", "day"),
    [
        pytest.param("Start", "...", id="only a column"),
        pytest.param("{column: Start, dates: '%Y.%m.%d'}", "...", id="braces"),
        pytest.param("\n    column: Start\n    values:\n      x: 2024-01-01\n    otherwise: keep", "...", id="a table"),
    ],
)
def test_words_in_a_column_of_dates(start: str, day: str) -> None:
    """A word among dates is a line to complete in a value table, beside the formats of the other cells."""
    FILE.write_text(f"{HEAD}answers:\n  start: {start}\n", encoding="utf-8")
    starts = ("31.05.2024", "sofort", "30.05.2024", "2024-01-02", "sofort")
    _, edits = _unread(levels=(), starts=starts)
    assert "1 unknown text in 2 cells" in edits[0].summary
    completed = []
    for edit in edits:
        lines = [line.replace("sofort: ...", "sofort: 2026-12-01") for line in edit.lines]
        for number, line in enumerate(lines):
            if "2026-12-01" in line:
                lines[number] = re.sub(r"# (\W*)", r"\1", line, count=1)
                if lines[number - 1].endswith("use it instead:"):
                    first = next(i for i in range(number) if lines[i].startswith("# Insert after"))
                    del lines[first + 1 : number]
                break
        completed.append(MappingEdit(edit.summary, tuple(lines)))
    _paste(completed)
    assert _unread(levels=(), starts=starts)[0] == {}, FILE.read_text("utf-8")


def test_a_required_date_cannot_be_left_out() -> None:
    """The lines of a required question do not propose to leave a text out."""
    FILE.write_text(f"{HEAD}answers:\n  start: Start\n", encoding="utf-8")
    required = [replace(question, required=question.key == "start") for question in QUESTIONS]
    _, (edit,) = _unread(levels=(), starts=("sofort",), questions=required)
    assert edit.lines == (
        "# Write a date as YYYY-MM-DD",
        "# Replace line 5 by:",
        "  start:",
        "    column: Start",
        "    values:",
        "      # sofort: ...   # 1 cell; no similar option",
        "    otherwise: keep",
    )


def test_a_line_to_complete_is_not_written_twice() -> None:
    """Where `mapping new` has left a text in a comment, the change names its line instead of a second one."""
    table = "answers:\n  level:\n    column: Level\n    values:\n      x: Junior\n"
    FILE.write_text(f"{HEAD}{table}      # Chief: ...   # in 7 cells; no similar option\n", encoding="utf-8")
    _, (edit,) = _unread(levels=("Sr", "Chief"))
    assert edit.lines == (
        '# The options are: Junior, Senior; "" leaves a text out',
        "# Complete line 9: Chief: ...   # in 7 cells; no similar option",
        "# Insert above line 8:",
        "      Sr: Senior   # 1 cell",
    )
    _, (edit,) = _unread(levels=("Chief",))
    assert len(edit.lines) == 2
    similar = "# Senoir: Senior   # in 7 cells; similar: if it is right, remove the first #"
    FILE.write_text(f"{HEAD}{table}      {similar}\n", encoding="utf-8")
    _, (edit,) = _unread(levels=("Senoir",))
    assert edit.lines[1:] == (f"# Complete line 9: {similar.removeprefix('# ')}",)
