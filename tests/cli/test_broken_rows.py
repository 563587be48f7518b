"""Exports with misplaced quotes and blanks: each row is sent as the file says, or held back alone."""

from __future__ import annotations

from collections.abc import Callable

from tests.cli.conftest import HEADER, MAPPING, Served, candidate, read_csv

Serve = Callable[..., Served]
RUN = ("run", "people.csv", "--mapping", "mapping.yaml", "--json")


def _padded(number: int) -> str:
    return f'"person{number}@example.com" , "Ada" ,"Nr{number}" ,"7001" ,"+90555000{number:04d}" ,"yes" ,"1000"\n'


def test_padded_export(serve: Serve) -> None:
    """Blanks around quoted cells are no part of them, and a row with a misplaced quote is held back alone."""
    served = serve()
    source = served.door.folder / "people.csv"
    header = " ,".join(f'"{name}"' for name in HEADER) + "\n"
    broken = _padded(2).replace('"Ada"', '"Ada "Countess" L."')
    source.write_text(header + _padded(1) + broken + _padded(3) + _padded(4), encoding="utf-8")
    ran = served(*RUN)
    assert (ran.code, ran.counts) == (4, {"created": 3, "invalid": 1})
    assert served.accepted == [f"person{number}@example.com" for number in (1, 3, 4)]
    (run,) = (served.door.folder / "results").glob("2*")
    (held_back,) = read_csv(run / "invalid.csv")
    assert held_back["import_problem"] == (
        'a closing quote (") must be followed by "," or by the end of the line (line 3)'
    )
    assert held_back["E-mail"] == broken.strip()
    source.write_text(header + _padded(1) + _padded(2) + _padded(3) + _padded(4), encoding="utf-8")
    fixed = served(*RUN)
    assert (fixed.code, fixed.counts) == (0, {"created": 1, "already_imported": 3})


def test_a_quote_that_hides_rows(serve: Serve) -> None:
    """Rows after a quote that was not closed are rows, and not its text; a text with line breaks is a text."""
    served = serve()
    source = served.door.folder / "people.csv"
    (served.door.folder / "mapping.yaml").write_text(f"{MAPPING}  cover_letter: Letter\n", encoding="utf-8")
    rows = [",".join(candidate(number)) for number in range(7)]
    hidden = ['{},"5 inch', "{},plain", '{},b"'], ['{}, "5 inch', '{},b"'], ['{},"5 inch', '{},b" ']
    texts = [f'{rows[0]},"Dear Sir,\nwrite, to, a@example.com,\nAda"']
    for broken in hidden:
        lines = [line.format(row) for line, row in zip(broken, rows[1:], strict=False)]
        header = ",".join([*HEADER, "Letter"])
        source.write_text("\n".join([header, *texts, *lines, f"{rows[5]},x", f"{rows[6]},x", ""]), encoding="utf-8")
        ran = served(*RUN)
        assert ran.code == 4
        assert sorted(served.accepted) == [f"person{number}@example.com" for number in (0, 2, 3, 5, 6)]
        (held_back,) = read_csv(served.door.folder / "results" / ran.summary["run"] / "invalid.csv")
        assert (held_back["E-mail"], held_back["import_problem"]) == (lines[0], 'a quote (") is not closed (line 5)')


def test_two_rows_with_misplaced_quotes_are_not_one_row(serve: Serve) -> None:
    """A cell that is not closed ends in the next row, whose address is then in the right place."""
    served = serve()
    (served.door.folder / "mapping.yaml").write_text(MAPPING.replace("cv: CV", "cv: {value: '1'}"), encoding="utf-8")
    rows = [[*row[1:4], *row[4:], row[0]] for row in map(candidate, range(1, 7))]  # the address comes last
    rows[1][2], rows[2][2] = '"see file', '6 foot"'
    text = "\n".join(",".join(row) for row in [[*HEADER[1:], HEADER[0]], *rows])
    (served.door.folder / "people.csv").write_text(text, encoding="utf-8")
    ran = served(*RUN)
    assert (ran.code, ran.counts) == (4, {"created": 5, "invalid": 1})
    assert sorted(served.accepted) == [f"person{number}@example.com" for number in (1, 3, 4, 5, 6)]


def test_a_text_with_a_line_like_a_row(serve: Serve) -> None:
    """Such as a table that was pasted into a letter: it is held back alone, and the rows after it are sent."""
    served = serve()
    (served.door.folder / "mapping.yaml").write_text(f"{MAPPING}  cover_letter: Letter\n", encoding="utf-8")
    letter = f'"Dear Sir,\n{",".join(candidate(9))},x\nAda"'
    rows = [",".join([*candidate(number), letter if number == 2 else '""']) for number in range(1, 8)]
    source = "\n".join([",".join([*HEADER, "Letter"]), *rows])
    (served.door.folder / "people.csv").write_text(source, encoding="utf-8")
    ran = served(*RUN)
    assert (ran.code, ran.counts) == (4, {"created": 6, "invalid": 1})
    told = ran.summary["problems"][0]["what"]
    assert told == "a line within a cell looks like another row (the row begins in line 3)"
    assert "person9@example.com" not in served.accepted
