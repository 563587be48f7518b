"""Checks whether the values of columns suit a field, and finds the settings that a mapping needs to read them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from importer.mapping import NO_WORDS, YES_WORDS, ChoiceOptions, FieldSpec, Kind
from importer.suggest.cell_texts import (
    MISSING_WORDS,
    NUMBER,
    Amount,
    amount_of,
    currencies_in,
    is_no,
    is_yes,
    json_items,
)
from importer.suggest.columns import ColumnView
from importer.suggest.date_forms import DateForms, date_forms
from importer.suggest.header_words import read_table, words_of
from importer.suggest.proposal import ProposedValue, Setting, TableLine
from importer.text.normalize import normalize, pieces_with

Counts = Sequence[tuple[str, int]]  # texts, each with how often it occurs

# --- whether values suit a field ------------------------------------------------------------------

_MIN_SHARE = 0.6  # of the filled cells: exports are messy, and the run reports the rest row by row


def mismatch_reason(spec: FieldSpec, values: ColumnView) -> str:
    """Why the values do not suit the field; "" if they do, or if there are no values."""
    if not values.filled:
        return ""
    if not values.total and spec.kind not in (Kind.YES_NO, Kind.FLAG):
        return ""
    test = _TESTS.get(spec.kind)
    if test is None:
        return ""
    share, noun = test(values, spec)
    if spec.kind in (Kind.CV, Kind.DOCUMENT) and values.files + values.urls > 0.3:
        return "the values look like files, but the service expects the ID of an uploaded document"
    return "" if share >= _MIN_SHARE else f"only {share:.0%} of the values look like {noun}"


def is_like(spec: FieldSpec, values: ColumnView) -> bool:
    """Whether there are values and they suit the field."""
    return bool(values.total) and not mismatch_reason(spec, values)


def _choice(values: ColumnView, spec: FieldSpec) -> tuple[float, str]:
    if not spec.options:
        return 1.0, ""
    meant = {normalize(line.cell) for line in _table_of(values.counts, spec.options) if line.target}
    options = ChoiceOptions(spec.options)
    share = values.share(lambda text: options.find(text) or normalize(text) in meant)
    return share, spec.noun


_ENOUGH = 200  # different texts


def _choices(values: ColumnView, spec: FieldSpec) -> tuple[float, str]:
    if not spec.options:
        return 1.0, ""
    values = replace(values, values=values.values[:_ENOUGH])
    separator = _separator_of(values.counts, spec.options)

    def has_option(text: str) -> bool:
        return any(_meant_option(piece, spec.options, levels=True) for piece in _split(text, separator))

    return values.share(has_option), f"options of {spec.noun.removeprefix('an option of ')}"


_TESTS: dict[Kind, Callable[[ColumnView, FieldSpec], tuple[float, str]]] = {
    Kind.EMAIL: lambda values, _: (values.emails, "an e-mail address"),
    Kind.URL: lambda values, _: (max(values.urls, values.linked), "a web address"),
    Kind.PHONE: lambda values, _: (values.phones, "a phone number"),
    Kind.DATE: lambda values, _: (values.dates.share, "a date"),
    Kind.INTEGER: lambda values, _: (values.whole_numbers, "a whole number"),
    Kind.DECIMAL: lambda values, _: (values.numbers, "a number"),
    Kind.YES_NO: lambda values, _: (values.yes_no, "yes or no"),
    Kind.FLAG: lambda values, _: (values.yes_no, "yes or no"),
    Kind.CV: lambda values, _: (values.documents, "a document ID"),
    Kind.DOCUMENT: lambda values, _: (values.documents, "a document ID"),
    Kind.NAME: lambda values, _: (1 - max(values.digits, values.emails), "a name"),
    Kind.CHOICE: _choice,
    Kind.CHOICES: _choices,
}

# --- the settings ---------------------------------------------------------------------------------

_FEW = 0.1  # of the cells: below that, a person corrects them


def reading_of(
    spec: FieldSpec, columns: Sequence[ColumnView], day_first: bool | None, question: str = ""
) -> ProposedValue:
    """How these columns are read together as values of the field, without their names.

    day_first: whether the file writes the day first (`3/4/2021`); None: unknown. question: its text, which may name a
    currency.
    """
    counts = tuple(pair for values in columns for pair in values.counts)
    if spec.kind is Kind.EMAIL:
        wrapped = sum(count for text, count in counts if "@" in text and pieces_with("@", text) != [text])
        is_wrapped = wrapped > _FEW * sum(count for _, count in counts)
        return ProposedValue(settings=(Setting("pick", "@"),) if is_wrapped else ())
    if spec.kind is Kind.DATE:
        return date_reading(date_forms(counts, day_first), "first", is_required=spec.required)
    if spec.kind in (Kind.INTEGER, Kind.DECIMAL):
        return _number_reading(spec, counts, " ".join(one.name for one in columns), question)
    if spec.kind in (Kind.YES_NO, Kind.FLAG):
        return _yes_no_reading(tuple(pair for values in columns for pair in values.values), spec)
    if spec.kind is Kind.CHOICE and spec.options:
        return ProposedValue(table=_table_of(counts, spec.options))
    if spec.kind is Kind.CHOICES:
        separator = _separator_of(counts, spec.options)
        settings = (Setting("split", separator),) if separator else ()
        pieces = _pieces(counts, separator, spec.options)
        table = _table_of(pieces, spec.options, levels=True) if spec.options else ()
        return ProposedValue(settings=settings, table=table)
    return ProposedValue()


def date_reading(forms: DateForms, edge: str, *, is_end: bool = False, is_required: bool = False) -> ProposedValue:
    """The settings for dates: formats, century, and incomplete dates.

    edge: whether an incomplete date means the first or the last day or month. is_end: words for an open end are read.
    """
    settings = [Setting("dates", forms.formats)] if forms.formats else []
    if forms.pivot is not None:
        settings.append(Setting("pivot", str(forms.pivot)))
    notes = []
    if forms.lacks_month:
        settings.append(Setting("missing_month", edge))
        notes.append(f"a year without a month is read as {'January' if edge == 'first' else 'December'}")
    if forms.lacks_day:
        settings.append(Setting("missing_day", edge))
        notes.append(f"a month without a day is read as its {edge} day")
    if is_end and forms.open_ends:
        settings.append(Setting("present", forms.open_ends))
    unread = (*forms.unread, *forms.nonexistent)
    remedy = _FIX_REQUIRED_DATE if is_required else _FIX_END if is_end else _FIX
    if unread and all(_DAYS.fullmatch(text) for text, _ in unread):
        remedy = "as numbers of days, they are read with dates: excel, or excel_1904"
    notes.append(_unread("a date", unread, remedy))
    return ProposedValue(settings=tuple(settings), review_reason=forms.ambiguity, note="; ".join(filter(None, notes)))


_DAYS = re.compile(r"[2-5]\d{4}")  # as a spreadsheet stores 1954 to 2064
_FIX = "fix {them}, or list {them} under missing: [...]"
_FIX_END = "fix {them}, or list {them} under present: [...] if that means until now, else under missing: [...]"
_FIX_REQUIRED = "fix {them}"
_FIX_REQUIRED_DATE = "fix {them}, or write values: {{{text}: YYYY-MM-DD}}, otherwise: keep"


def _unread(what: str, unread: Counts, remedy: str) -> str:
    """The note about values that cannot be read: how many, and the most frequent one; "" if there are none."""
    if not unread:
        return ""
    text, _ = max(unread, key=lambda pair: pair[1])
    count = sum(count for _, count in unread)
    cells, example, them = ("1 cell is", "", "it") if count == 1 else (f"{count} cells are", "for example ", "them")
    return f"{cells} not {what} ({example}'{text[:30]}'): {remedy.format(them=them, text=text[:30])}"


def _yes_no_reading(counts: Counts, spec: FieldSpec) -> ProposedValue:
    """The settings for words other than the known yes and no; `yok` as a word for no is not a missing value."""
    known = {normalize(word) for word in (*YES_WORDS, *NO_WORDS)}
    new = [text for text in dict.fromkeys(text for text, _ in counts) if normalize(text) not in known]
    yes, no = tuple(text for text in new if is_yes(text)), tuple(text for text in new if is_no(text))
    settings = [Setting(key, words) for key, words in (("yes", yes), ("no", no)) if words]
    if any(normalize(word) in MISSING_WORDS for word in no):
        others = tuple(text for text in new if normalize(text) in MISSING_WORDS and text not in no)
        settings.append(Setting("missing", others or ("",)))
    understood = {*yes, *no, *(text for text in new if normalize(text) in MISSING_WORDS)}
    unread = [(text, count) for text, count in counts if text in new and text not in understood]
    lists = "yes: [...] or no: [...]" if spec.required else "yes: [...], no: [...] or missing: [...]"
    note = _unread("yes or no", unread, f"list {{them}} under {lists}")
    return ProposedValue(settings=tuple(settings), note=note)


# --- numbers --------------------------------------------------------------------------------------

_BOTH = re.compile(r"[+-]?[1-9]\d{0,2}(?:([., '’])\d{3})+([.,])\d+")
_DECIMAL = re.compile(r"[+-]?\d+([.,])(\d+)")
_MANY_TIMES = 10
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(?:([., '’])\d{3})+")


def _number_reading(spec: FieldSpec, counts: Counts, header: str, question: str) -> ProposedValue:
    kind = spec.kind
    amounts = [(amount_of(text), count) for text, count in counts]
    currency, review_reason = _currency(Counter(one for one, _ in amounts), header, question)
    decimals, groups = Counter[str](), Counter[str]()  # in how many cells
    grouped_texts, decimal_texts = list[str](), dict[str, str]()
    for one, count in amounts:
        text = one.number.replace("\u00a0", " ").replace("\u202f", " ").strip()
        if both := _BOTH.fullmatch(text):
            if both.group(1) != both.group(2):
                groups[both.group(1)] += count
                decimals[both.group(2)] += count
        elif grouped := _GROUPED.fullmatch(text):
            groups[grouped.group(1)] += count
            grouped_texts.append(text)
        elif (found := _DECIMAL.fullmatch(text)) and (len(found.group(2)) != 3 or text.lstrip("+-")[0] == "0"):
            decimals[found.group(1)] += count
            decimal_texts.setdefault(found.group(1), text)
    for sign in decimals.keys() & groups.keys():  # 4,50 among many 2,800: who wrote it meant something else
        if _MANY_TIMES * decimals[sign] <= groups[sign]:
            del decimals[sign]
            if sign in decimal_texts:
                review_reason = f"'{decimal_texts[sign]}' has '{sign}' too, which separates thousands in other cells"
        elif _MANY_TIMES * groups[sign] <= decimals[sign]:  # 60,000.00 among many 47.000,00
            del groups[sign]
    thousands = min(groups.keys() - decimals.keys(), default=None)
    # If the thousands separator is the default decimal separator, the decimal separator must be set.
    comma = "," in decimals or (not decimals and thousands == ".")
    settings = [Setting("currency", currency[0] if len(currency) == 1 else currency)] if currency else []
    clashing = next((text for text in grouped_texts if decimals.keys() & text), None)
    if kind is Kind.DECIMAL and comma:
        settings.append(Setting("decimal", ","))
    elif decimals and (kind is Kind.INTEGER or (clashing and thousands is None)):  # 62,000.00 is a whole number
        settings.append(Setting("decimal", "," if comma else "."))
    if thousands is not None:
        settings.append(Setting("thousands", thousands))
    if kind is Kind.DECIMAL and thousands in (".", ",") and not decimals and grouped_texts:
        review_reason = review_reason or f"'{grouped_texts[0]}' is read with a thousands separator"
    # 45.000 among 60000.5: who wrote it may have meant 45,000.
    if clashing:
        sign = min(decimals.keys() & clashing)
        how = f"read as {clashing.rstrip('0').rstrip(sign)}" if kind is Kind.DECIMAL else "held back"
        review_reason = f"'{clashing}' is {how}: '{sign}' is decimal in other cells"
    unread = [pair for pair, (one, _) in zip(counts, amounts, strict=True) if not NUMBER.fullmatch(one.number)]
    return ProposedValue(
        settings=tuple(settings),
        review_reason=review_reason,
        note=_unread("a number", unread, _FIX_REQUIRED if spec.required else _FIX),
    )


def _currency(amounts: Counter[Amount], header: str, question: str) -> tuple[tuple[str, ...], str]:
    """The spellings of the one currency of a column, and why they need review; none if there are several currencies."""
    wanted, named = currencies_in(question), currencies_in(header)
    codes = Counter(one.code for one in amounts.elements() if one.code)
    # 48,000 USD is not 48,000 EUR: only one currency is read, the one that the header names, else that of most cells.
    code = next(iter(named), "") or (codes.most_common(1)[0][0] if codes else "")
    spelled = {normalize(one.currency): one.currency for one in amounts if one.code == code and code}
    words = tuple(spelled.values()) or ((named[code],) if code in named else ())
    if code and wanted and code not in wanted:
        return (), f"the question asks for {' or '.join(wanted)}, but the column is in {words[0]}"
    if codes.keys() - {code}:
        return words, f"some cells are in {' and '.join(sorted(codes.keys() - {code}))}, not in {words[0]}"
    known = not code or code in wanted or code in named
    return words, "" if known else f"the cells are in {words[0]}, and only the number is sent"


# --- choices --------------------------------------------------------------------------------------

_MAX_LINES = 60  # a longer table is not a choice
_NEITHER = frozenset("dxou")  # divers, X, other, unknown: beside M and F, or M and W
_JSON = "json"  # as `split:`
_SEPARATORS = (_JSON, ";", "|", "\n", ",", "/")
_NON_WORD = re.compile(r"[\W\d_]+")
_SIGNS = re.compile(r"\d+|\([\W\d]*\)|[^\w\s.,;:'’\"()/&-]")  # that make another text of the same words: > 5 years, C#
_WORDS = re.compile(r"[^\W\d_]+(?:[\s.,:;'’/&()_-]+[^\W\d_]+)*[.)]*")  # nothing but words
_LONG = 2_000  # characters
_REMARK = re.compile(r"([^()]+)\(([^()]*)\)")  # an option, and in brackets how well it is known
_CEFR = re.compile(r"\b[ABC][12]\+?(?!\w)")
_LEVELS = frozenset(word for text in read_table("value_words")["levels_of_languages"] for word in words_of(text))
_PARTS = re.compile(r"\s+[-–]\s+|[()]")  # that may say the same twice


def _table_of(
    counts: Iterable[tuple[str, int]], options: Sequence[str], *, levels: bool = False
) -> tuple[TableLine, ...]:
    """A line for each text that is not an option, the most frequent first; without a target if it may mean none.

    levels: as in `_meant_option`.
    """
    known = ChoiceOptions(options)
    found = Counter[str]()
    written: dict[str, str] = {}
    for text, count in counts:
        if known.find(text) is None:
            found[normalize(text)] += count
            written.setdefault(normalize(text), text)
    meant = {key: _matching_option(text, tuple(options), levels=levels) for key, text in written.items()}
    letters = {key: option for key, option in meant.items() if len(key) == 1 and key.isalpha()}
    unknown = {key for key, option in letters.items() if option is None} - _NEITHER
    if unknown or len(set(letters.values())) == 1:  # `M` beside `H` is mujer, and `F` beside `N` férfi
        meant |= dict.fromkeys(letters)
    return tuple(TableLine(written[key], meant[key], count) for key, count in found.most_common(_MAX_LINES))


def _split(text: str, separator: str | None) -> list[str]:
    items: Sequence[object] | None = json_items(text) if separator == _JSON else None
    if separator and separator != _JSON:  # not inside brackets: `German (C1, spoken), French`
        has_brackets = "(" in text and len(text) < _LONG
        items = re.split(rf"{re.escape(separator)}(?![^()]*\))", text) if has_brackets else text.split(separator)
    return [text] if items is None else [item.strip() for item in items if isinstance(item, str) and item.strip()]


def _pieces(counts: Counts, separator: str | None, options: Sequence[str] = ()) -> Counts:
    """The texts between the separators, without options that have one inside."""
    found, whole = Counter[str](), [re.escape(option) for option in options if separator and separator in option]
    known = re.compile("|".join(sorted(whole, key=len, reverse=True)), re.IGNORECASE) if whole else None
    for text, count in counts:
        for piece in _split(known.sub("", text) if known else text, separator):
            found[piece] += count
    return tuple(found.items())


def _separator_of(counts: Counts, options: Sequence[str]) -> str | None:
    """The separator between several choices in one cell: the one that yields most options, or None."""
    known = ChoiceOptions(options)
    best, best_hits = None, 0
    for separator in _SEPARATORS:
        containing = tuple(
            (text, count)
            for text, count in counts
            if known.find(text) is None and (json_items(text) if separator == _JSON else separator in text)
        )
        pieces = _pieces(containing, separator)
        hits = sum(count for piece, count in pieces if not options or _meant_option(piece, tuple(options), levels=True))
        if hits > best_hits:
            best, best_hits = separator, hits
    return best


@lru_cache(maxsize=8192)
def _meant_option(text: str, options: tuple[str, ...], *, levels: bool = False) -> str | None:
    """The option that a text is, or certainly means by the table of value words. levels: also with how well it is
    known, `German (C1)`, where several may be chosen."""
    known, words = _words_of_options(options)
    if (option := known.find(text) or words.get(_word_key(text))) is not None:
        return option
    remark = _REMARK.fullmatch(text) if levels else None
    if remark and re.search(r"[^\W\d_]", remark[2]) and _LEVELS.issuperset(words_of(_CEFR.sub(" ", remark[2]))):
        return known.find(remark[1].strip())
    parts = [part.strip() for part in _PARTS.split(text) if part.strip()]  # Bachelor of Science - BS
    meant = {_meant_option(part, options) for part in parts} if len(parts) > 1 else {None}
    return meant.pop() if len(meant) == 1 else None


@lru_cache(maxsize=64)
def _words_of_options(options: tuple[str, ...]) -> tuple[ChoiceOptions, dict[str, str]]:
    """The options, and each word of the table for one of them; the first option counts."""
    table, found = _option_words(), dict[str, str]()
    for option in options:
        words = table.get(option.casefold().replace(" ", "_")) or table.get(_key(option), frozenset())
        for word in words - {""}:
            found.setdefault(word, option)
    return ChoiceOptions(options), found


@lru_cache(maxsize=1)
def _option_words() -> dict[str, frozenset[str]]:
    """The words for each option, by its name in the table of value words."""
    return {name: frozenset(map(_word_key, words)) for name, words in read_table("value_words")["options"].items()}


@lru_cache(maxsize=4096)
def _matching_option(text: str, options: tuple[str, ...], *, levels: bool = False) -> str | None:
    """The option that a text means, or that has the same words and signs; none for a text that is only similar."""
    if (option := _meant_option(text, options, levels=levels)) is not None:
        return option
    same = (each for each in options if _key(text) == _key(each) and _signs_of(text) == _signs_of(each))
    return next(same, None)


def _signs_of(text: str) -> tuple[str, list[str]]:
    """What stands before the first word, as in `-Senior`, and what else is not usual between words."""
    return text[:1] if not text[:1].isalnum() else "", _SIGNS.findall(text)


def _word_key(text: str) -> str:
    """The key of words; with digits or signs that may be another text: `Bac+5`, `Lisans?`, `-Senior`."""
    return _key(text) if _WORDS.fullmatch(text.strip(" \t\"'“”„•·*,;:")) else "".join(text.casefold().split())


@lru_cache(maxsize=8192)
def _key(text: str) -> str:
    return "".join(words_of(text)) or _NON_WORD.sub("", text.casefold())
