"""The workbook whose sheets belong together: candidates, their schools and positions, and a hidden list."""

from __future__ import annotations

from datetime import date

from invented.cells import Cell

Line = tuple[Cell, ...]

SHEETS: dict[str, tuple[Line, ...]] = {
    "People": (
        ("Export of the old system, 30.05.2025",),
        (),
        ("ID", "First", "Last", "E-mail", "Phone", "CV document"),
        ("C-001", "Hakan", "Yıldırım", "hakan.yildirim@example.com", "+90 555 000 10 01", "99201"),
        (),
        ("C-002", "Işıl", "Gök", "isil.gok@example.com", "+90 555 000 10 02", "99202"),
        ("C-003", "Jale", "Kılıç", "jale.kilic@example.org", "+90 555 000 10 03", "99203"),
        ("C-002", "Kemal", "Gök", "kemal.gok@example.org", "+90 555 000 10 04", "99204"),
    ),
    "Schools": (
        ("Candidate", "No", "School", "Degree", "From", "To"),
        ("C-001", 2, "Ege Üniversitesi", "Lisans", date(2010, 9, 1), date(2014, 6, 30)),
        ("C-001", 1, "Example Lisesi", "Lise", date(2006, 9, 1), date(2010, 6, 30)),
        ("C-002", 1, "Example Koleji", "Lise", "Eylül 2007", "Haziran 2011"),
        ("C-003", "first", "Example Üniversitesi", "Lisans", "2007-09-01", "2011-06-30"),
        ("C-003", 2, "Ege Üniversitesi", "Master", "2012-09-01", "2014-06-30"),
    ),
    "Jobs": (
        ("Candidate", "Company", "Title", "From", "To"),
        ("C-001", "Example A.Ş.", "Developer", date(2015, 1, 1), "halen"),
        ("C-999", "Örnek Ltd", "Tester", date(2015, 1, 1), date(2016, 1, 1)),
        ("", "Örnek Ltd", "Tester", date(2017, 1, 1), date(2018, 1, 1)),
    ),
    "Lists": (("Degree",), ("Lise",), ("Lisans",)),
}
HIDDEN = "Lists"
