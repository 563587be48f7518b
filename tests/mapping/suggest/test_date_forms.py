"""Date formats are found from values, and what is not certain is said."""

from __future__ import annotations

import pytest

from importer.mapping.suggest.date_forms import date_forms

_ORDER = "'{}' can be read with the day or the month first, and no value of the column tells"
FOUND = [
    pytest.param(["2020-01-31"], (), "", id="ISO needs no format"),
    pytest.param(["31.01.2020", "01.02.2020"], ("%d.%m.%Y",), "", id="points"),
    pytest.param(["03/04/2020", "25/04/2020"], ("%d/%m/%Y",), "", id="a day above 12 tells"),
    pytest.param(["03/04/2020", "04/25/2020"], ("%m/%d/%Y",), "", id="the month is first"),
    pytest.param(["03/04/2020"], ("%d/%m/%Y",), _ORDER.format("03/04/2020"), id="nothing tells"),
    pytest.param(
        ["25/04/2020", "04/25/2020", "26/04/2020"], ("%d/%m/%Y",), "some values have the day first, others the month",
        id="both",
    ),
    pytest.param(["25/04/2020"] * 30 + ["04/25/2020"], ("%d/%m/%Y",), "", id="one slip"),
    pytest.param(["10/2019", "31.12.2020"], ("%d.%m.%Y", "%m/%Y"), "", id="months among days"),
    pytest.param(["Jan 2020", "Sept 2019"], ("%b %Y",), "", id="month names"),
    pytest.param(["25.06.2025 10:46"], ("%d.%m.%Y %H:%M",), "", id="with time"),
    pytest.param(["soon", "31.02.2020"], ("%d.%m.%Y",), "", id="no dates"),
]  # fmt: skip


@pytest.mark.parametrize(("values", "formats", "unsure"), FOUND)
def test_formats_are_found(values: list[str], formats: tuple[str, ...], unsure: str) -> None:
    """The fewest formats that read the values; an order of day and month that nothing tells is called unsure."""
    forms = date_forms([(value, values.count(value)) for value in dict.fromkeys(values)])
    assert (forms.formats, forms.unsure) == (formats, unsure)


def test_other_columns_decide_the_order_and_it_stays_unsure() -> None:
    """What the rest of the file does is taken, and still said."""
    forms = date_forms([("03/04/2020", 1)], day_first=False)
    assert (forms.formats, forms.unsure) == (("%m/%d/%Y",), _ORDER.format("03/04/2020"))


def test_open_ends_partial_dates_and_words_are_told_apart() -> None:
    """An open end is no date, a year lacks its month, and a word is left unread with its count."""
    forms = date_forms([("halen", 2), ("Halen", 1), ("2019", 3), ("2018-05", 1), ("soon", 2)])
    assert [word.casefold() for word in forms.open_ends] == ["halen"]
    assert (forms.lacks_month, forms.lacks_day) == (True, True)
    assert (forms.unread, round(forms.share, 2)) == ((("soon", 2),), 0.67)
