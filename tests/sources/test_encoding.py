"""Which encodings are proposed for a CSV that is not UTF-8."""

from __future__ import annotations

from pathlib import Path

import pytest
from openpyxl import Workbook

from importer.models import SourceOptions
from importer.problems import UnusableInput
from importer.sources import open_sheet
from importer.sources.likelihood import letters_of


@pytest.mark.parametrize(
    ("written", "cells"),
    [
        ("cp1252", "£50000\n£42000"),
        ("cp1252", "50000 €\n42000 €"),
        ("cp1252", "Example © Ltd"),
        ("cp1252", "Example®\nSample™"),
        ("cp1252", "§ 5"),
        ("cp1252", "½ day\n±5"),
        ("cp1252", "¥500\n¢20"),
        ("cp1252", "20°C"),
        ("cp1254", "Şule Işık\n£500"),
        ("cp1250", "Łukasz Żak\nŁódź"),
        ("cp857", "Şule Işık\nİzmir"),
        ("cp932", "髙橋 さくら\nタナカ 太郎\n㈱テスト"),
        ("cp949", "김똠방\n이서연"),
    ],
)
def test_the_encoding_of_signs_and_names_is_proposed_first(written: str, cells: str, tmp_path: Path) -> None:
    """The encoding that a file was written in comes first, also where it differs from ASCII only in signs."""
    path = tmp_path / "a.csv"
    rows = "".join(f"Ada,{cell}\n" for cell in cells.split("\n"))
    path.write_bytes(f"Name,Note\n{rows}".encode(written))
    with pytest.raises(UnusableInput) as refused:
        open_sheet(path, SourceOptions())
    assert refused.value.problems[0].encodings[0].names[0] == written


@pytest.mark.parametrize(
    ("written", "cells", "wanted", "first"),
    [
        ("cp1252", "Köln", (), "cp1252"),
        ("cp1254", "Köln", ("Doğum Tarihi",), "cp1254"),  # the same bytes, and its other rows may differ
        ("cp1254", "Ağa", ("Doğum Tarihi",), "cp1254"),
        ("cp1257", "Aša", ("Pavardė",), "cp1257"),
        ("cp1250", "Čapek", ("Příjmení",), "cp1250"),
        ("cp1253", "Ινώ", ("Όνομα",), "cp1253"),
    ],
)
def test_the_languages_of_the_mapping_come_first(
    written: str, cells: str, wanted: tuple[str, ...], first: str, tmp_path: Path
) -> None:
    """Of readings that are alike, the one that can write the names that the mapping reads comes first."""
    path = tmp_path / "a.csv"
    path.write_bytes(f"Name,Note\nAda,{cells}\n".encode(written))
    with pytest.raises(UnusableInput) as refused:
        open_sheet(path, SourceOptions(names=wanted))
    assert refused.value.problems[0].encodings[0].names[0] == first


def test_the_words_tell_each_two_readings_apart(tmp_path: Path) -> None:
    """Zoë and Zoė differ in one cell, which must be among those that are shown."""
    path = tmp_path / "a.csv"
    path.write_bytes("Straße,Größe,Name\nMüller,Köln,Zoë\nÖz,Süd,Ada\n".encode("cp1252"))
    with pytest.raises(UnusableInput) as refused:
        open_sheet(path, SourceOptions())
    words = [one.words for one in refused.value.problems[0].encodings]
    assert len(words) > 1
    assert len({*map(tuple, words)}) == len(words)


def test_a_reading_with_the_names_of_the_mapping_comes_first(tmp_path: Path) -> None:
    """A name of the mapping in the file proves its encoding more than the letters of the other cells."""
    path = tmp_path / "a.csv"
    path.write_bytes("Žž,Name\nAda,Köln\n".encode("cp1257"))
    with pytest.raises(UnusableInput) as refused:
        open_sheet(path, SourceOptions(names=("Žž",)))
    assert refused.value.problems[0].encodings[0].names[0] == "cp1257"


def test_the_language_of_the_machine_has_its_letters() -> None:
    """Without names of a mapping the machine's language is favored; an unknown one favors nothing."""
    assert "ş" in letters_of("tr_TR")
    assert "я" in letters_of("uk_UA")
    assert letters_of("en_US") == letters_of("C") == ""


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_cells_that_another_program_read_in_a_wrong_encoding(ending: str, tmp_path: Path) -> None:
    """They are a problem at their cell in every format, with what they probably were; the others are read."""
    cells = {"MÃ¼ller": "Müller", "WĂłjcik": "Wójcik", "YÄ±ldÄ±z": "Yıldız", "Müller": "", "Îşi": ""}
    path = tmp_path / f"a.{ending}"
    if ending == "csv":
        path.write_text("E-mail,Name\n" + "".join(f"a@example.com,{cell}\n" for cell in cells), encoding="utf-8")
    else:
        book = Workbook()
        for row in (["E-mail", "Name"], *(["a@example.com", cell] for cell in cells)):
            book.worksheets[0].append(row)
        book.save(path)
    rows = list(open_sheet(path, SourceOptions()).rows())
    assert [row.cells[1] for row in rows] == list(cells)
    says = "was read in a wrong encoding by another program; it was probably"
    assert [(one.code, one.column, one.message) for row in rows for one in row.problems] == [
        ("text-damaged", "Name", f"'{cell}' {says} '{meant}'") for cell, meant in cells.items() if meant
    ]
