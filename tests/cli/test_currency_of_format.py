"""The currency that a number format shows is part of the amount: without `currency:`, or in another, it is not sent."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from openpyxl import Workbook

from importer.text.currencies import is_declared
from tests.cli.conftest import HEADER, MAPPING, Ran, Served, candidate
from tests.cli.test_corrections import correct

Serve = Callable[..., Served]
_SHOWS_MORE = "give the column the format General or Text, and check what it shows then"
_OTHER = "'45000 {}' is not a whole number"


def _ran(served: Served, *formats: str, currency: str = "EUR", **changed: str) -> Ran:
    """A run of people whose salaries are 45000, in cells with these formats; with this currency in the mapping."""
    book = Workbook()
    sheet = book.worksheets[0]
    sheet.append(HEADER)
    for number, number_format in enumerate(formats, start=1):
        sheet.append([*candidate(number, **changed)[:-1], 45000])
        sheet.cell(number + 1, len(HEADER)).number_format = number_format
    book.save(served.door.folder / "people.xlsx")
    declared = f"{{column: Salary, currency: {currency}}}" if currency else "Salary"
    mapping = MAPPING.replace("salary: Salary", f"salary: {declared}")
    (served.door.folder / "mapping.yaml").write_text(mapping, "utf-8")
    return served("run", "people.xlsx", "--mapping", "mapping.yaml", "--json")


def test_an_amount_whose_format_shows_another_currency_is_a_problem_at_its_cell(serve: Serve) -> None:
    """The same currency, or none, is sent; another one is refused, with what to do."""
    ran = _ran(serve(), "0.00", '#,##0.00 "€"', "[$€-407] #,##0.00", "[$$-409]#,##0.00", '#,##0 "TL"', '#,##0 "k€"')
    assert ran.counts == {"created": 3, "invalid": 3}, ran.err
    others, thousands = sorted(ran.summary["problems"], key=lambda problem: str(problem["places"]))
    assert (others["places"], others["what"]) == (["G5", "G6"], _OTHER.format("$"))
    assert others["hint"] == "write it in digits and in EUR, or correct currency: in mapping.yaml:11"
    assert (thousands["places"], thousands["hint"]) == (["G7"], _SHOWS_MORE)


def test_a_currency_must_be_declared(serve: Serve) -> None:
    """Without currency: in the mapping, no amount with one is sent as a plain number."""
    ran = _ran(serve(), '#,##0.00 "zł"', '#,##0 "PLN"', "0", currency="")
    assert ran.counts == {"created": 1, "invalid": 2}, ran.err
    (problem,) = ran.summary["problems"]
    assert problem["hint"] == "write it in digits, or set currency: in mapping.yaml:11"


def test_a_fixed_report_keeps_the_currency_of_an_amount(serve: Serve) -> None:
    """It is refused there too, until the amount is another one."""
    served = serve()
    ran = _ran(served, "[$USD] 0.00", Permit="perhaps")
    for fixed, counts in (({"Permit": "yes"}, {"invalid": 1}), ({"Salary": "41000"}, {"created": 1})):
        ran = correct(served, ran.summary["run"], fixed)
        assert ran.counts == counts, ran.err
        assert {problem["what"] for problem in ran.summary["problems"]} <= {_OTHER.format("USD")}


@pytest.mark.parametrize(
    ("declared", "same", "other"),
    [
        pytest.param("EUR", "€ EUR eur Euro", "$ USD kr CHF", id="a code"),
        pytest.param("CAD", "$ CAD", "USD US$ MXN", id="a code with a shared sign"),
        pytest.param("USD $", "$ USD US$", "MXN CAD €", id="a sign beside a code has its meaning"),
        pytest.param("SEK kr", "kr. SEK", "DKK NOK", id="so has a short form"),
        pytest.param("JPY ¥", "¥ JPY", "CNY", id="and another sign"),
        pytest.param("$", "$ USD US$", "MXN CAD", id="alone it has one meaning"),
        pytest.param("kr", "kr Kr.", "SEK DKK", id="or none"),
        pytest.param("JMD $", "$ JMD", "USD", id="a sign of any other currency"),
        pytest.param("kr kroner", "kr kroner", "SEK", id="two words"),
        pytest.param("TL Ft", "TRY HUF ft", "EUR", id="two are declared"),
    ],
)
def test_a_shown_currency_is_the_declared_one(declared: str, same: str, other: str) -> None:
    """An amount in a currency that the mapping does not name is never sent."""
    assert [one for one in (*same.split(), *other.split()) if is_declared(one, declared.split())] == same.split()
