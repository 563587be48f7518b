"""Rows that must fail, each in its own way: the problem, and the cells that cause it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from invented.cells import ErrorCell, Record


@dataclass(frozen=True)
class Flaw:
    """One thing wrong with an otherwise good row."""

    shows: str
    cells: Record


FLAWS = (
    Flaw("an invalid e-mail", {"E-mail": "nazan.kurt(at)example.com"}),
    Flaw("two e-mails in one cell", {"E-mail": "pinar.su@example.com; p.su@example.org"}),
    Flaw("an invalid phone number", {"Mobile": "12345", "Phone": "call me"}),
    Flaw("a phone number shortened by the spreadsheet", {"Mobile": "9,05E+11", "Phone": None}),
    Flaw("no phone, though required", {"Mobile": None, "Phone": "-"}),
    Flaw("no work permit answer, though required", {"Work permit": None}),
    Flaw("neither yes nor no", {"Work permit": "belki"}),
    Flaw("the 31st of February", {"Company 1": "Globex GmbH", "Start 1": "31.02.2021", "End 1": "", "Current 1": "x"}),
    Flaw("a month 13", {"School 1": "Kuzey Yıldızı Üniversitesi", "From 1": "2017-13", "To 1": date(2021, 6, 30)}),
    Flaw("an American date", {"Available from": "12/31/2025"}),
    Flaw("an unknown degree", {"School 1": "Çınaraltı Üniversitesi", "Degree 1": "Kurs (yarıda)"}),
    Flaw("an unknown level", {"Level": "Ninja"}),
    Flaw("a skill that is not an option", {"Skills": "Python; Cobol"}),
    Flaw("an unknown employment type", {"Company 1": "Hooli Ankara", "Type 1": "Gönüllü"}),
    Flaw(
        "an end before the start",
        {"Company 1": "Vandelay Ltd", "Start 1": date(2022, 5, 1), "End 1": date(2019, 1, 31), "Current 1": None},
    ),
    Flaw(
        "current with an end date",
        {"Company 1": "Initech Sp. z o.o.", "Start 1": "2018-03", "End 1": "30.11.2020", "Current 1": "Evet"},
    ),
    Flaw("a position without a company", {"Company 1": None, "Title 1": "DevOps Engineer", "Start 1": "2020"}),
    Flaw("a salary in words", {"Expected salary": "pazarlık payı var"}),
    Flaw("an error cell", {"Available from": ErrorCell()}),
    Flaw("no CV", {"CV document": None}),
    Flaw("a file name for a document ID", {"CV document": "CV son hali (2).pdf"}),
    Flaw("a name of one word", {"Full name": "Teoman"}),
    Flaw("an invalid link", {"LinkedIn": "bende yok"}),
    Flaw(
        "four problems at once",
        {"E-mail": "kemal.aras@", "Mobile": "0000", "Phone": None, "Level": "Guru", "Available from": "yakında"},
    ),
)
