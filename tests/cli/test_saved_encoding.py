"""Results files that a spreadsheet program has saved in the encoding of its system, not as UTF-8."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.cli.conftest import Ran, Served, candidate, read_csv, write_csv

Serve = Callable[..., Served]
Name = tuple[str, str]


def _ran(served: Served, *names: Name, **changed: str) -> Path:
    """The invalid.csv of a run of people with these names, whose salaries are wrong."""
    rows = [
        candidate(at, **({"First": first, "Last": last, "Salary": "a lot"} | changed))
        for at, (first, last) in enumerate(names, start=1)
    ]
    write_csv(served.door.folder / "people.csv", rows)
    ran = served("run", "people.csv", "--mapping", "mapping.yaml", "--json")
    assert ran.counts == {"invalid": len(names)}, ran.err
    return served.door.folder / "results" / str(ran.summary["run"]) / "invalid.csv"


def _saved(results: Path, encoding: str, names: Sequence[Name], lost: Callable[[str], str] = str) -> None:
    """The file with fixed salaries and these names, as a program saves it in an encoding."""
    rows = read_csv(results)
    with results.open("w", encoding=encoding, errors="replace", newline="") as file:
        writer = csv.DictWriter(file, rows[0], delimiter=";")
        writer.writeheader()
        for row, (first, last) in zip(rows, names, strict=True):
            writer.writerow(row | {"Salary": "900", "First": lost(first), "Last": lost(last)})


def _again(served: Served, results: Path) -> Ran:
    return served("run", str(results), "--mapping", "mapping.yaml", "--json")


def _sent(served: Served) -> list[Name]:
    bodies = sorted(served.sandbox.memory.accepted(), key=lambda body: str(body["email"]))
    return [(body["first_name"], body["last_name"]) for body in bodies]


TURKISH = [("Şule", "Öz"), ("İbrahim", "Ağaoğlu")]
RUSSIAN = [("Иван", "Петров"), ("Мария", "Öz")]
# What Windows writes where its encoding does not have a character.
_BEST_FIT = str.maketrans("şŞğĞıİ", "sSgGiI")
PROVEN = [
    pytest.param("cp1254", TURKISH, str, id="all of its characters"),
    pytest.param("cp1251", RUSSIAN[:1], str, id="another script"),
    pytest.param("koi8-r", RUSSIAN[:1], str, id="an older one of another script"),
    pytest.param("cp1252", TURKISH, str, id="some became ?"),
    pytest.param("cp1252", TURKISH, lambda text: text.translate(_BEST_FIT), id="some became letters without marks"),
    pytest.param("ascii", RUSSIAN, str, id="all became ?"),
    pytest.param("mac-turkish", TURKISH, str, id="of a Mac"),
]


@pytest.mark.parametrize(("encoding", "names", "lost"), PROVEN)
def test_an_encoding_that_the_unchanged_cells_prove_is_read(
    serve: Serve, encoding: str, names: list[Name], lost: Callable[[str], str]
) -> None:
    """The encoding is the one in which the cells are what they were; what it does not have is what it was."""
    served = serve()
    results = _ran(served, *names)
    _saved(results, encoding, names, lost)
    again = _again(served, results)
    assert again.counts == {"created": len(names)}, again.err
    assert _sent(served) == names


def test_what_a_person_typed_is_read_in_the_proven_encoding(serve: Serve) -> None:
    """A changed cell is read in it too; the report says which it is."""
    served = serve()
    results = _ran(served, *TURKISH)
    _saved(results, "cp1254", [("Ayşe", "Öz"), TURKISH[1]])
    again = _again(served, results)
    assert _sent(served) == [("Ayşe", "Öz"), TURKISH[1]]
    assert again.summary["source"]["reading"].startswith('CSV, cp1254, delimiter ";", a corrected results file')


def test_a_cell_that_the_proven_encodings_read_differently_is_refused(serve: Serve) -> None:
    """If unchanged cells leave two encodings, a cell with another character in each of them is refused, others not."""
    served = serve()
    results = _ran(served, ("Jörg", "Öz"), ("Ada", "Nr2"))
    _saved(results, "cp1254", [("Jörg", "Öz"), ("Şule", "Nr2")])
    again = _again(served, results)
    assert again.counts == {"created": 1, "invalid": 1}, again.err
    (problem,) = again.summary["problems"]
    assert str(problem["message"]).partition("row 3, ")[2] == (
        "column \"First\": '\ufffdule' contains U+FFFD, which another program wrote where it lost a character; "
        "type the character again"
    )


def test_a_lost_character_in_what_a_person_typed_is_refused(serve: Serve) -> None:
    """A ? in a changed cell, or in one that was to be fixed, is perhaps a character that the encoding does not have."""
    served = serve()
    results = _ran(served, *TURKISH)
    _saved(results, "cp1252", [("Ayşe", "Öz"), TURKISH[1]])
    again = _again(served, results)
    assert again.counts == {"created": 1, "invalid": 1}, again.err
    (problem,) = again.summary["problems"]
    assert "column \"First\": this cell was 'Şule' and is now 'Ay?e'; a spreadsheet program may have changed it" in str(
        problem["message"]
    )


def test_an_encoding_without_proof_is_refused_and_can_be_declared(serve: Serve) -> None:
    """If no unchanged cell shows it, the file is refused; `encoding:` in the mapping is then taken at its word."""
    served = serve()
    results = _ran(served, ("Ada", "Nr1"))
    _saved(results, "cp1254", [("Şule", "Nr1")])
    again = _again(served, results)
    assert (again.code, "set its encoding under source: in the mapping" in again.err) == (3, True)
    mapping = served.door.folder / "mapping.yaml"
    mapping.write_text(mapping.read_text("utf-8") + "source: {encoding: cp1254}\n", "utf-8")
    assert _again(served, results).counts == {"created": 1}
    assert _sent(served) == [("Şule", "Nr1")]


@pytest.mark.parametrize(("encoding", "last"), [("utf-8", "Öz"), ("utf-8-sig", "Nr1")])
def test_a_letter_that_a_person_changed_in_utf_8_is_theirs(serve: Serve, encoding: str, last: str) -> None:
    """UTF-8 loses no character: a letter without its mark is what the person wrote."""
    served = serve()
    results = _ran(served, ("Ayşe", last))
    _saved(results, encoding, [("Ayse", last)])
    assert _again(served, results).counts == {"created": 1}
    assert _sent(served) == [("Ayse", last)]


def test_a_letter_without_its_mark_in_a_file_of_ascii_is_refused(serve: Serve) -> None:
    """Nothing shows whether the person or the encoding took the mark away."""
    served = serve()
    results = _ran(served, ("Ayşe", "Nr1"))
    _saved(results, "ascii", [("Ayse", "Nr1")])
    assert _again(served, results).counts == {"invalid": 1}
