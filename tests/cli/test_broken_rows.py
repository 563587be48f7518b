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
