"""The names of months in the languages that a mapping may declare, long and short."""

from __future__ import annotations

from collections.abc import Sequence

from importer.mapping.fold import fold

# Each month with its forms; a short form may end in a point, which is not written here.
LANGUAGES: dict[str, tuple[str, ...]] = {
    "en": (
        "january jan", "february feb", "march mar", "april apr", "may", "june jun",
        "july jul", "august aug", "september sep sept", "october oct", "november nov", "december dec",
    ),
    "tr": (
        "ocak oca", "şubat şub", "mart mar", "nisan nis", "mayıs may", "haziran haz",
        "temmuz tem", "ağustos ağu", "eylül eyl", "ekim eki", "kasım kas", "aralık ara",
    ),
    "de": (
        "januar jänner jan jän", "februar feber feb", "märz mär mrz", "april apr", "mai", "juni jun",
        "juli jul", "august aug", "september sep sept", "oktober okt", "november nov", "dezember dez",
    ),
    "fr": (
        "janvier janv jan", "février févr fév", "mars mar", "avril avr", "mai", "juin",
        "juillet juil", "août aoû", "septembre sept sep", "octobre oct", "novembre nov", "décembre déc",
    ),
    "es": (
        "enero ene", "febrero feb", "marzo mar", "abril abr", "mayo may", "junio jun",
        "julio jul", "agosto ago", "septiembre setiembre sep sept", "octubre oct", "noviembre nov", "diciembre dic",
    ),
    "it": (
        "gennaio gen", "febbraio feb", "marzo mar", "aprile apr", "maggio mag", "giugno giu",
        "luglio lug", "agosto ago", "settembre set sett", "ottobre ott", "novembre nov", "dicembre dic",
    ),
    "pt": (
        "janeiro jan", "fevereiro fev", "março mar", "abril abr", "maio mai", "junho jun",
        "julho jul", "agosto ago", "setembro set", "outubro out", "novembro nov", "dezembro dez",
    ),
    "nl": (
        "januari jan", "februari feb", "maart mrt", "april apr", "mei", "juni jun",
        "juli jul", "augustus aug", "september sep sept", "oktober okt", "november nov", "december dec",
    ),
    "pl": (
        "styczeń stycznia sty", "luty lutego lut", "marzec marca mar", "kwiecień kwietnia kwi", "maj maja",
        "czerwiec czerwca cze", "lipiec lipca lip", "sierpień sierpnia sie", "wrzesień września wrz",
        "październik października paź", "listopad listopada lis", "grudzień grudnia gru",
    ),
    "ru": (
        "январь января янв", "февраль февраля фев", "март марта мар", "апрель апреля апр", "май мая", "июнь июня июн",
        "июль июля июл", "август августа авг", "сентябрь сентября сен сент", "октябрь октября окт",
        "ноябрь ноября ноя нояб", "декабрь декабря дек",
    ),
}  # fmt: skip


def month_numbers(languages: Sequence[str]) -> dict[str, int]:
    """The number of a month by its folded name, in the given languages; of two, the language named first decides."""
    numbers: dict[str, int] = {}
    for language in languages:
        for number, forms in enumerate(LANGUAGES[language], start=1):
            for form in forms.split():
                numbers.setdefault(fold(form), number)
    return numbers
