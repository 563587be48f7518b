"""Date formats are found from values, and what is not certain is said."""

from __future__ import annotations

from datetime import date

import pytest

from importer.suggest.date_forms import date_forms

_ORDER = "'{}' is ambiguous: the day or the month may come first"
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


@pytest.mark.parametrize(("values", "formats", "ambiguity"), FOUND)
def test_formats_are_found(values: list[str], formats: tuple[str, ...], ambiguity: str) -> None:
    """The fewest formats that read the values; an order of day and month that nothing tells is called ambiguity."""
    forms = date_forms([(value, values.count(value)) for value in dict.fromkeys(values)])
    assert (forms.formats, forms.ambiguity) == (formats, ambiguity)


MONTHS = [
    pytest.param(["3 May 2020", "10 June 2021"], (), id="English needs nothing said"),
    pytest.param(["3 Eylül 2024", "1 ŞUBAT 2025"], ("tr",), id="Turkish"),
    pytest.param(["3. Oktober 2024", "1. März 2025"], ("de",), id="German"),
    pytest.param(["02-Май-2025"], ("ru",), id="Russian"),
    pytest.param(["3 Eylül 2024", "10 June 2021"], ("en", "tr"), id="two languages"),
]


@pytest.mark.parametrize(("values", "languages"), MONTHS)
def test_the_languages_of_month_names_are_found(values: list[str], languages: tuple[str, ...]) -> None:
    """As few as know every name; English is known anyway."""
    forms = date_forms([(value, 1) for value in values])
    assert (set(forms.months), forms.unread) == (set(languages), ())


# 1930 to 2029 until that is over: the hundred years that are nearly past.
_PIVOT = (date.today().year + 10) // 10 * 10 - 100
PIVOTS = [
    pytest.param(["07.10.68", "01.02.03"], _PIVOT, id="births"),
    pytest.param(["31.12.99"], _PIVOT, id="last century"),
    pytest.param([f"01.02.{(date.today().year + years) % 100:02}" for years in (0, 3)],
                 (date.today().year + 13) // 10 * 10 - 100, id="soon"),
    pytest.param(["07.10.1968"], None, id="four digits"),
]  # fmt: skip


@pytest.mark.parametrize(("values", "pivot"), PIVOTS)
def test_the_century_of_two_digits(values: list[str], pivot: int | None) -> None:
    """Years of two digits are taken for those of which none is far in the future, and a person is asked to check."""
    forms = date_forms([(value, 1) for value in values])
    assert forms.pivot == pivot
    assert forms.ambiguity == (f"two-digit years are read as {pivot} to {pivot + 99}" if pivot else "")


def test_other_columns_decide_the_order_and_it_stays_unsure() -> None:
    """What the rest of the file does is taken, and still said."""
    forms = date_forms([("03/04/2020", 1)], day_first=False)
    assert (forms.formats, forms.ambiguity) == (("%m/%d/%Y",), _ORDER.format("03/04/2020"))


def test_open_ends_partial_dates_and_words_are_told_apart() -> None:
    """An open end is no date, a year lacks its month, and a word is left unread with its count."""
    forms = date_forms([("halen", 2), ("Halen", 1), ("2019", 3), ("2018-05", 1), ("soon", 2)])
    assert [word.casefold() for word in forms.open_ends] == ["halen"]
    assert (forms.lacks_month, forms.lacks_day) == (True, True)
    assert (forms.unread, round(forms.share, 2)) == ((("soon", 2),), 0.67)


def test_a_text_of_two_columns_counts_in_both() -> None:
    """The dates of start and end are looked at combined: what is in no date's form is counted wherever it stands."""
    forms = date_forms([("2019", 3), ("soon", 2), ("2019", 1), ("soon", 1)])
    assert (forms.total, forms.unread) == (7, (("soon", 3),))
