"""The workbook of an old Macintosh program: a header of two merged rows, hidden rows, a total below the table."""

from __future__ import annotations

from datetime import date

from invented.cells import Cell

Line = tuple[Cell, ...]

COVER = ("Report", "Printed by the old system")
# The upper names are merged over the lower ones: (first column, last column, name), from 0.
MERGED = ((0, 3, "Applicant"), (4, 6, "Last school"), (7, 9, "Last position"))
LOWER = ("No", "First", "Last", "E-mail", "School", "From", "To", "Company", "From", "To")
TALL = ("Phone", "CV", "Permit")  # merged over both rows, after the others
TITLE = "Applicants of the year"
INSTRUCTIONS = "the number that was given"  # an example row below the header
LINES: tuple[Line, ...] = (
    (
        1, "Derya", "Ekin", "derya.ekin@example.com", "Ege Üniversitesi", date(2011, 9, 1), date(2015, 6, 30),
        "Example A.Ş.", date(2016, 3, 1), "Present", "+90 555 000 12 01", "99501", "yes",
    ),
    (2, "Hidden", "Person", "hidden.person@example.com", "", "", "", "", "", "", "+90 555 000 12 02", "99502", "yes"),
    (
        3, "Emre", "Fidan", "emre.fidan@example.org", "Example Koleji", 2008, 2012,
        "Örnek Ltd", date(2013, 1, 1), date(2014, 12, 31), "+90 555 000 12 03", "99503", "yes",
    ),
    (
        4, "Gonca", "Has", "gonca.has@example.org", "", "", "",
        "Örnek Ltd", 39083, date(2014, 12, 31), "+90 555 000 12 04", "99504", "no",
    ),
)  # fmt: skip
HIDDEN_LINE = 1
SUM: Line = ("Total", 4)
SIGNATURE: Line = ("", "signed by the head of the department")
