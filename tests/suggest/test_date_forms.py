"""Date formats are detected from values, and ambiguity is reported."""

from __future__ import annotations

from datetime import date

import pytest

from importer.suggest.date_forms import date_forms

_ORDER = "'{}' is ambiguous: the day or the month may come first; keep the right format"
_BOTH = ("%d/%m/%Y", "%m/%d/%Y")
FOUND = [
    pytest.param(["2020-01-31"], (), "", id="ISO needs no format"),
    pytest.param(["31.01.2020", "01.02.2020"], ("%d.%m.%Y",), "", id="dots"),
    pytest.param(["03/04/2020", "25/04/2020"], ("%d/%m/%Y",), "", id="a day above 12"),
    pytest.param(["03/04/2020", "04/25/2020"], ("%m/%d/%Y",), "", id="the month is first"),
    pytest.param(["03/04/2020"], _BOTH, _ORDER.format("03/04/2020"), id="ambiguous"),
    pytest.param(
        ["25/04/2020", "04/25/2020", "26/04/2020"], _BOTH, "some values have the day first, others the month",
        id="both",
    ),
    pytest.param(["25/04/2020"] * 30 + ["04/25/2020"], ("%d/%m/%Y",), "", id="one outlier"),
    pytest.param(
        ["2020-01-31"] * 100 + ["25/04/2020", "04/25/2020"], _BOTH, "some values have the day first, others the month",
        id="both, among other dates",
    ),
    pytest.param(["10/2019", "31.12.2020"], ("%d.%m.%Y", "%m/%Y"), "", id="months among days"),
    pytest.param(["Jan 2020", "Sept 2019"], ("%b %Y",), "", id="month names"),
    pytest.param(["25.06.2025 10:46"], ("%d.%m.%Y %H:%M",), "", id="with time"),
    pytest.param(["soon", "31.02.2020"], ("%d.%m.%Y",), "", id="no dates"),
]  # fmt: skip


@pytest.mark.parametrize(("values", "formats", "ambiguity"), FOUND)
def test_formats_are_found(values: list[str], formats: tuple[str, ...], ambiguity: str) -> None:
    """The fewest formats that read the values; where day and month may be swapped, both are proposed, for review."""
    forms = date_forms([(value, values.count(value)) for value in dict.fromkeys(values)])
    assert (forms.formats, forms.ambiguity) == (formats, ambiguity)


@pytest.mark.parametrize(
    "values",
    [
        ["3 May 2020", "10 June 2021"],
        ["3 Eylül 2024", "1 ŞUBAT 2025"],
        ["02-Май-2025"],
        ["3 Eylül 2024", "10 June 2021"],
    ],
    ids=["English", "Turkish", "Russian", "two languages"],
)
def test_names_of_months_are_read_in_all_languages(values: list[str]) -> None:
    assert date_forms([(value, 1) for value in values]).unread == ()


# 1930 to 2029 until 2029 is over: the hundred years that end in the near future.
_PIVOT = (date.today().year + 10) // 10 * 10 - 100
PIVOTS = [
    pytest.param(["07.10.68", "01.02.03"], _PIVOT, id="birth dates"),
    pytest.param(["31.12.99"], _PIVOT, id="last century"),
    pytest.param([f"01.02.{(date.today().year + years) % 100:02}" for years in (0, 3)],
                 (date.today().year + 13) // 10 * 10 - 100, id="soon"),
    pytest.param(["07.10.1968"], None, id="four digits"),
]  # fmt: skip


@pytest.mark.parametrize(("values", "pivot"), PIVOTS)
def test_the_century_of_two_digits(values: list[str], pivot: int | None) -> None:
    """Two-digit years are read so that none is far in the future, and marked for review."""
    forms = date_forms([(value, 1) for value in values])
    assert forms.pivot == pivot
    assert forms.ambiguity == (f"two-digit years are read as {pivot} to {pivot + 99}" if pivot else "")


def test_other_columns_decide_the_order_but_it_is_still_reported() -> None:
    """The order of the other columns is used, and the ambiguity is still reported."""
    forms = date_forms([("03/04/2020", 1)], day_first=False)
    assert (forms.formats, forms.ambiguity) == (
        ("%m/%d/%Y",),
        "'03/04/2020' is ambiguous: the month is first in other columns",
    )


def test_open_ends_partial_dates_and_words_are_distinguished() -> None:
    """An open end is not a date, a year has no month, and an unread word is counted."""
    forms = date_forms([("halen", 2), ("Halen", 1), ("2019", 3), ("2018-05", 1), ("soon", 2)])
    assert [word.casefold() for word in forms.open_ends] == ["halen"]
    assert (forms.lacks_month, forms.lacks_day) == (True, True)
    assert (forms.unread, round(forms.share, 2)) == ((("soon", 2),), 0.67)


def test_a_text_of_two_columns_counts_in_both() -> None:
    """Start and end dates are examined together: an unread text is counted in both columns."""
    forms = date_forms([("2019", 3), ("soon", 2), ("2019", 1), ("soon", 1)])
    assert (forms.total, forms.unread) == (7, (("soon", 3),))


def test_a_day_that_does_not_exist() -> None:
    """A date that no calendar has is counted, however it is written; its format is recognized all the same."""
    forms = date_forms([("9/18/2027", 3), ("2/30/2027", 2), ("2027-02-30", 1), ("2028-02-29", 1)])
    assert forms.formats == ("%m/%d/%Y",)
    assert (forms.unread, forms.nonexistent) == ((), (("2/30/2027", 2), ("2027-02-30", 1)))
