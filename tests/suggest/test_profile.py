"""`importer inspect` shows kinds, samples and formats of columns, and problems of a file."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from importer.cli.inspect_command import inspect
from importer.models import SourceOptions
from importer.problems import UnusableInput
from importer.sources import open_sheet
from importer.suggest import ColumnKind, SheetProfile, profile_sheet
from tests.sources.corpus.writers import csv_text, edited


def profile_of(path: Path, options: SourceOptions) -> SheetProfile:
    sheet = open_sheet(path, options, shown_as=path.name)
    return profile_sheet(sheet.columns, sheet.rows(), sheet.header_row)


def profiled(tmp_path: Path, name: str, *cells: str) -> tuple[ColumnKind, tuple[str, ...], bool]:
    """The kind and date formats of a column, and whether these are ambiguous."""
    path = tmp_path / "a.csv"
    path.write_text(csv_text([("id", name), *((f"x{n}", cell) for n, cell in enumerate(cells))]))
    column = profile_of(path, SourceOptions(header_row=1, delimiter=",")).columns[1]
    return column.kind, column.formats, column.ambiguous


@pytest.mark.parametrize(
    ("footer", "total"),
    [
        ("Total,,,,,5,\nSource: HR export 01.05.2024,,,,,,\n", (7, "Total")),
        (",,,,,Total : 5 postes,\n,,,,,as of May,\n", (7, "Total : 5 postes")),
        ("Toplam,,,,,5,\n", (7, "Toplam")),
        (",,,,,Total,Engineer\n,,,,,Acme,Lead\n", None),  # two jobs, one of them at a company of this name
        ("Total,,,,,5,\n4,Dan,Ek,dan@example.com,4,Acme,Dev\n", None),
        ("Total,,,,,5,\n4,Dan,Ek,,,,\n", None),
        ("Total,,,,,5,\nquestions to hr@example.com,,,,,,\n", (7, "Total")),
    ],
    ids=[
        "a note below",
        "how many",
        "the last row",
        "entries",
        "a candidate below",
        "one without address",
        "a contact",
    ],
)
def test_a_total_may_have_notes_below(tmp_path: Path, footer: str, total: tuple[int, str] | None) -> None:
    """Then the table ends before it: the rows of a candidate that go on would take it for one of them."""
    path = tmp_path / "a.csv"
    rows = "1,Ada,Nur,ada@example.com,1,Acme,Dev\n,,,,,Beta,Lead\n2,Bob,Ek,bob@example.com,2,Gamma,Dev\n"
    rows += "3,Cem,Ek,cem@example.com,3,Delta,Dev\n,,,,,Eps,Lead\n"
    path.write_text("ID,First name,Last name,E-mail,CV,Company,Title\n" + rows + footer)
    assert profile_of(path, SourceOptions(header_row=1, delimiter=",")).total == total


@pytest.mark.parametrize(
    ("name", "cells", "kind"),
    [
        ("Contact", ("ada@example.com", "alan@example.org"), ColumnKind.E_MAIL),
        ("Profile", ("https://example.com/ada", "www.example.org/alan"), ColumnKind.URL),
        ("Contact", ("+44 20 7946 0001", "020 7946 0002"), ColumnKind.PHONE),
        ("Cep Telefonu", ("442079460001", "442079460002"), ColumnKind.PHONE),
        ("Emergency phone", ("5320008200", "5320008201"), ColumnKind.PHONE),
        ("Id", ("442079460001", "442079460002"), ColumnKind.NUMBER),
        ("CV", ("cv_ada.pdf", "cv_alan.pdf"), ColumnKind.TEXT),
        ("Skill", ("ASP.NET", "Node.js"), ColumnKind.TEXT),
        ("Salary", ("1.234,50", "1200", "-"), ColumnKind.NUMBER),
        ("Consent", ("Evet", "Hayır"), ColumnKind.YES_NO),
        ("Führerschein", ("Ja", "Nein", "-"), ColumnKind.YES_NO),
        ("Children", ("0", "1"), ColumnKind.NUMBER),
        ("Id", ("0004701", "0004702"), ColumnKind.NUMBER),
        ("Date", ("45292", "45323", "01.02.2024"), ColumnKind.TEXT),
        ("Years", ("2015-2019", "2011 - 2015"), ColumnKind.TEXT),
        ("Notes", ("knows Rust", "12"), ColumnKind.TEXT),
        ("Notes", ("", ""), ColumnKind.EMPTY),
        ("Notes", ("-", "n/a"), ColumnKind.EMPTY),
    ],
    ids=[
        "e-mail",
        "url",
        "phone",
        "phone-by-header",
        "phone-by-a-word-of-the-header",
        "number",
        "file-names",
        "names-with-a-dot",
        "decimals",
        "yes-no",
        "ja-nein",
        "1-and-0",
        "leading-zeros",
        "counts-and-dates",
        "range",
        "text",
        "empty",
        "only-missing",
    ],
)
def test_kind(tmp_path: Path, name: str, cells: tuple[str, ...], kind: ColumnKind) -> None:
    """The kind of a column is detected from its cells, and for digits only from its header."""
    assert profiled(tmp_path, name, *cells) == (kind, (), False)


@pytest.mark.parametrize(
    ("cells", "formats", "ambiguous"),
    [
        (("15.03.2021", "1.12.2020"), ("%d.%m.%Y",), False),
        (("15/03/2021", "01/02/2020"), ("%d/%m/%Y",), False),
        (("03/04/2021", "01/02/2020"), ("%d/%m/%Y", "%m/%d/%Y"), True),
        (("Jan 2020", "Mar 2021"), ("%b %Y",), False),
        (("2020", "2021-05", "2022", "03.2019"), ("%Y", "%m.%Y", "%Y-%m"), False),
        (("2021-03-15 14:30:00",), ("%Y-%m-%d %H:%M:%S",), False),
        (("2021-03-15", "Present", "halen"), ("%Y-%m-%d",), False),
    ],
    ids=["day-first", "a-day-above-12", "ambiguous", "month-name", "mixed", "with-time", "open-ends"],
)
def test_dates(tmp_path: Path, cells: tuple[str, ...], formats: tuple[str, ...], ambiguous: bool) -> None:
    """Dates are shown with the formats that a mapping must declare, and whether day and month are ambiguous."""
    assert profiled(tmp_path, "From", *cells) == (ColumnKind.DATE, formats, ambiguous)


def test_years_alone_are_numbers(tmp_path: Path) -> None:
    """A column with only years is a column of numbers."""
    assert profiled(tmp_path, "Year", "2020", "2021") == (ColumnKind.NUMBER, (), False)


def test_counts_and_samples(tmp_path: Path) -> None:
    """A profile counts rows, filled cells and rows with problems, and shows three different samples."""
    path = tmp_path / "a.csv"
    path.write_text("Name,City\nAda,Rome\nAda,\n\nAlan,Oslo\nGrace,#N/A\nMary,Bern\n")
    profile = profile_of(path, SourceOptions())
    assert (profile.rows, profile.last_row, profile.rows_with_problems) == (5, 7, 1)
    assert [(each.filled, each.samples) for each in profile.columns] == [
        (5, ("Ada", "Alan", "Grace")),
        (4, ("Rome", "Oslo", "#N/A")),
    ]
    assert [str(problem) for problem in profile.problems] == [
        'a.csv, row 6, column "City": the cell contains the error #N/A; fix the formula or clear the cell'
    ]


# --- the command --------------------------------------------------------------------------------

app = typer.Typer()
app.command()(inspect)
_CSV = "Ad;Şehir\nGül;[İzmir]\n"


def test_inspect_shows_a_file(tmp_path: Path) -> None:
    """`importer inspect` shows how a file is read and its columns; square brackets in cells stay."""
    path = tmp_path / "a.csv"
    path.write_text(_CSV, encoding="utf-8")
    shown = CliRunner().invoke(app, [str(path)])
    assert shown.exit_code == 0
    assert f'{path}: CSV, UTF-8, delimiter ";", header found in row 1, 2 columns, 1 row, last row 2' in (
        shown.stdout.replace("\n", "")
    )
    assert "B  Şehir   text  100%    [İzmir]" in shown.stdout


def test_inspect_escapes_control_characters(tmp_path: Path) -> None:
    """Control sequences of terminals are shown escaped, in the table and in messages."""
    path = tmp_path / "a.csv"
    path.write_text("First\x1b[31m,City\nA\x1b[2Jda,Rome\nAlan,Bern\n", encoding="utf-8")
    shown = CliRunner().invoke(app, [str(path)])
    assert "\x1b" not in shown.stdout
    assert "A  First\\u001b[31m  text  100%    A\\u001b[2Jda" in shown.stdout
    assert shown.stdout.endswith(
        "1 row with cells that cannot be read; the first problems:\n"
        f"{path}, row 2, column \"First\\u001b[31m\": 'A\\x1b[2Jda' contains the control character U+001B"
        " [control-character]\n"
        "  -> clear the cell and type it again\n"
    )


def test_inspect_names_the_flag(tmp_path: Path) -> None:
    """Without a mapping, hints name the flags of `inspect` instead of keys of a mapping."""
    path = tmp_path / "a.csv"
    path.write_bytes(_CSV.encode("cp1254"))
    with pytest.raises(UnusableInput, match=r"; for this command use --encoding$"):
        CliRunner().invoke(app, [str(path)], catch_exceptions=False)
    book = tmp_path / "a.xlsx"
    book.write_bytes(edited((("Name",), ("Ada",)), lambda book, _: book.create_sheet("Notes")))
    assert (
        f"{book}: only the sheet 'Sheet' is read, not 'Notes' [sheets-not-read]\n"
        "  -> to read another sheet, set sheet: under source: in the mapping; for this command use --sheet\n"
    ) in CliRunner().invoke(app, [str(book)]).stdout


def test_inspect_refuses_what_cannot_be_read(tmp_path: Path) -> None:
    """A file that cannot be read is refused with the message of the reader."""
    with pytest.raises(UnusableInput, match="the file does not exist; check the path"):
        CliRunner().invoke(app, [str(tmp_path / "nowhere.csv")], catch_exceptions=False)


def test_a_row_of_instructions_is_seen_although_an_address_is_wrong(tmp_path: Path) -> None:
    """Nearly all rows below have an address, and numbers where it has words."""
    people = [(f"Ada {n}", f"ada{n}@example.com", f"0555 000 00 {n}", f"{n}000") for n in range(10, 22)]
    people[3] = ("Cem", "cem(at)example.com", "0555 000 00 99", "900")
    path = tmp_path / "a.csv"
    head = [("Name", "E-mail", "Phone", "Salary"), ("required", "required", "with area code", "whole number")]
    path.write_text(csv_text([*head, *people]))
    assert profile_of(path, SourceOptions(header_row=1, delimiter=",")).instructions == (2,)
    path.write_text(csv_text([head[0], ("Bob", "unknown", "0555 000 00 98", "800"), *people]))
    assert profile_of(path, SourceOptions(header_row=1, delimiter=",")).instructions == ()
