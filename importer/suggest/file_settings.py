"""The settings of a whole file: how full names are split, the region of phone numbers, words for an empty cell."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import phonenumbers
from phonenumbers import PhoneNumberType, number_type

from importer.mapping import Kind
from importer.models import Question
from importer.suggest.cell_texts import MISSING_OR_NAME, MISSING_WORDS
from importer.suggest.columns import ColumnView
from importer.suggest.header_words import language_of
from importer.suggest.proposal import PLAIN_STYLE, Goal, Match, ProposedValue, Setting, SourceFacts
from importer.text.normalize import normalize

_CHOICES = (Kind.CHOICE, Kind.CHOICES, Kind.YES_NO)


def names_setting(matches: Sequence[Match]) -> tuple[Setting, ...]:
    """How full names are split, if not only by their last word."""
    style = next((match.style for match in matches if match.part == "last"), PLAIN_STYLE)
    lists = (("particles", style.particles), ("suffixes", style.suffixes))
    surname = (Setting("surname", style.rule),) if style.rule else ()
    return (*surname, *(Setting(key, words) for key, words in lists if words))


def phone_region(values: Mapping[Goal, ProposedValue], views: Sequence[ColumnView]) -> str | None:
    phones = {column.index for goal, value in values.items() if goal.spec.kind is Kind.PHONE for column in value.taken}
    numbers = [pair for one in views if one.column.index in phones for pair in one.counts]
    return _region_of(numbers, language_of(one.name for one in views)) if numbers else None


def with_missing_words(
    source: SourceFacts,
    views: Sequence[ColumnView],
    questions: Sequence[Question],
    values: Mapping[Goal, ProposedValue],
) -> SourceFacts:
    """The source with the words for an empty cell, as written, except those that are an option of a question."""
    own, choices = set[int](), set[int]()
    for goal, value in values.items():
        taken = {column.index for column in value.taken}
        own |= taken if any(setting.key == "missing" for setting in value.settings) else set()
        choices |= taken if goal.spec.kind in _CHOICES else set()
    options = {normalize(option) for question in questions for option in question.options}
    columns = Counter[str]()
    written: dict[str, str] = {}
    for one in (one for one in views if one.column.index not in own):
        words = {normalize(text): text for text in one.texts if normalize(text) in MISSING_WORDS - options}
        columns.update(set(words))
        written = {**words, **written}
    missing = {word: text for word, text in sorted(written.items()) if word not in MISSING_OR_NAME or columns[word] > 1}
    in_choices = ((one, one.count_of(missing)) for one in views if one.column.index in choices - own)
    hidden = tuple((one.name, count) for one, count in in_choices if count)
    return replace(source, missing=tuple(missing.values()), hidden=hidden)


# --- phone numbers --------------------------------------------------------------------------------

_NEARLY_ALL, _MOST = 0.9, 0.5  # of the numbers without +
_NON_DIGIT = re.compile(r"\D+")
_FLOAT = re.compile(r"\.0$")
_REGION_OF_NUMBER = {"TR": re.compile(r"05\d{9}"), "GB": re.compile(r"07\d{9}"), "DE": re.compile(r"01[5-7]\d{8,9}")}
# The usual country of a language, and others where it is spoken; English, Spanish and others have no usual one.
_REGIONS_OF_LANGUAGE = {
    "tr": ("TR",), "pl": ("PL",), "de": ("DE", "AT", "CH"), "fr": ("FR", "BE", "CH", "MA", "CA"), "it": ("IT", "CH"),
}  # fmt: skip
_ENGLISH = ("US", "IN")  # whose numbers have ten digits, without a zero in front
_OF_EXAMPLES = re.compile(r"[2-9]\d{2}555\d{4}")  # of North America


def _region_of(counts: Iterable[tuple[str, int]], language: str) -> str | None:
    """The most likely region of the numbers without +, as two letters.

    None if every number has a country code or the region is unknown. language: the language of most headers.
    """
    clear, named, others = Counter[str](), Counter[str](), Counter[str]()
    for text, count in counts:
        digits = _NON_DIGIT.sub("", _FLOAT.sub("", text))
        if text.startswith(("+", "(+", "00")):
            named[_region_named_in(text)] += count
        elif region := next((name for name, form in _REGION_OF_NUMBER.items() if form.fullmatch(digits)), None):
            clear[region] += count
        elif len(digits) >= 7:
            others[digits] += count
    if clear["TR"]:  # 5XX XXX XX XX is a Turkish mobile number without its zero, if others of the file have it
        for digits in [digits for digits in others if re.fullmatch(r"5\d{9}", digits)]:
            clear["TR"] += others.pop(digits)
    of_language = next(iter(_REGIONS_OF_LANGUAGE.get(language, ())), None)
    if clear:
        region = clear.most_common(1)[0][0]
        if region == ("GB" if language == "en" else of_language):  # others may be its landlines
            clear[region] += sum(count for digits, count in others.items() if _is_number_of(region, digits))
        if clear.total() >= others.total():
            return region
    region = named.most_common(1)[0][0] if others and named else ""
    fitting = sum(count for digits, count in others.items() if region and _is_number_of(region, digits))
    if region and (named.total() >= others.total() or fitting >= _NEARLY_ALL * others.total()):
        return region
    region = _likeliest_region(others, language)
    return region if language != "en" or (not clear and named.keys() <= {region}) else None


def _likeliest_region(numbers: Counter[str], language: str) -> str | None:
    """The country where a language is spoken that nearly all numbers are of, and most of them mobile ones."""
    fitting: dict[str, tuple[int, int]] = {}
    for region in _REGIONS_OF_LANGUAGE.get(language, _ENGLISH if language == "en" else ()):
        valid = Counter({digits: count for digits, count in numbers.items() if _is_number_of(region, digits)})
        mobile = sum(valid[digits] for digits in valid if _is_mobile(region, digits))
        least = _NEARLY_ALL if language == "en" else _MOST
        if (total := valid.total()) >= max(1, least * numbers.total()):
            fitting[region] = mobile, total
    usual = next(iter(_REGIONS_OF_LANGUAGE.get(language, ())), "")
    if usual in fitting and fitting[usual][0] >= _NEARLY_ALL * numbers.total():
        return usual
    best = [region for region, fits in fitting.items() if fits == max(fitting.values())]
    return best[0] if len(best) == 1 or (best and language != "en") else None


def _region_named_in(text: str) -> str:
    """The region of the country code that the number begins with, or ""."""
    try:
        number = phonenumbers.parse("+" + text.lstrip("(+0"), None)
    except phonenumbers.NumberParseException:
        return ""
    return phonenumbers.region_code_for_country_code(number.country_code or 0)


def _is_mobile(region: str, digits: str) -> bool:
    return region in ("US", "CA") or number_type(phonenumbers.parse(digits, region)) is PhoneNumberType.MOBILE


def _is_number_of(region: str, digits: str) -> bool:
    """Whether these digits are a number of a region, with or without its country code: `79125550003`, `89125550003`."""
    if region == "US" and _OF_EXAMPLES.fullmatch(digits):
        return True
    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(digits, region))
    except phonenumbers.NumberParseException:
        return False
