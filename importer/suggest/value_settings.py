"""Whether the values of columns are what a target wants, and the keys that a mapping needs to read them so."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz import fuzz

from importer.mapping import NO_WORDS, YES_WORDS, FieldSpec, Kind, Options
from importer.suggest.columns import MISSING_WORDS, NUMBER, ColumnView, is_no, is_yes
from importer.suggest.date_forms import DateForms, date_forms
from importer.suggest.header_words import read_table, words_of
from importer.suggest.proposal import Setting, TableLine
from importer.text.normalize import closest, normalize

Counts = Sequence[tuple[str, int]]  # texts, each with how often it occurs

# --- whether values are what is wanted ------------------------------------------------------------

_ENOUGH = 0.6  # of the filled cells: exports are messy, and the rest is told row by row


def doubt_about(wanted: FieldSpec, values: ColumnView) -> str:
    """Why the values do not look like what is wanted, "" where they do or where there are none to judge by."""
    if not values.filled:
        return ""
    if not values.total and wanted.kind not in (Kind.YES_NO, Kind.FLAG):
        return ""
    test = _TESTS.get(wanted.kind)
    if test is None:
        return ""
    share, noun = test(values, wanted)
    if wanted.kind in (Kind.CV, Kind.DOCUMENT) and values.files + values.urls > 0.3:
        return "the values look like files, and the service wants the ID of an uploaded document"
    return "" if share >= _ENOUGH else f"only {share:.0%} of the values look like {noun}"


def is_like(wanted: FieldSpec, values: ColumnView) -> bool:
    """Whether the values themselves speak for it: there are some, and they are of the kind."""
    return bool(values.total) and not doubt_about(wanted, values)


def _choice(values: ColumnView, wanted: FieldSpec) -> tuple[float, str]:
    if not wanted.options:
        return 1.0, ""
    meant = {normalize(line.cell) for line in table_of(values.counts, wanted.options) if line.target}
    options = Options(wanted.options)
    share = values.share(lambda text: options.find(text) or normalize(text) in meant)
    return share, wanted.noun


def _choices(values: ColumnView, wanted: FieldSpec) -> tuple[float, str]:
    if not wanted.options:
        return 1.0, ""
    separator = _separator_of(values.counts, wanted.options)
    options = Options(wanted.options)

    def holds_an_option(text: str) -> bool:
        return any(options.find(piece.strip()) for piece in (text.split(separator) if separator else [text]))

    return values.share(holds_an_option), f"options of {wanted.noun.removeprefix('an option of ')}"


_TESTS: dict[Kind, Callable[[ColumnView, FieldSpec], tuple[float, str]]] = {
    Kind.EMAIL: lambda values, _: (values.emails, "an e-mail address"),
    Kind.URL: lambda values, _: (values.urls, "a web address"),
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

# --- the keys -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reading:
    """How a value is read. `doubt` as in ProposedValue."""

    settings: tuple[Setting, ...] = ()
    table: tuple[TableLine, ...] = ()
    doubt: str = ""
    note: str = ""


def reading_of(wanted: FieldSpec, columns: Sequence[ColumnView], day_first: bool | None) -> Reading:
    """The keys that these columns together need to be read as what is wanted.

    day_first: how the file as a whole writes `3/4/2021`, None where nothing says it.
    """
    counts = tuple(pair for values in columns for pair in values.counts)
    if wanted.kind is Kind.DATE:
        return date_reading(date_forms(counts, day_first), "first")
    if wanted.kind in (Kind.INTEGER, Kind.DECIMAL):
        return _number_reading(wanted.kind, counts)
    if wanted.kind in (Kind.YES_NO, Kind.FLAG):
        return _yes_no_reading(tuple(text for values in columns for text in values.texts))
    if wanted.kind is Kind.CHOICE and wanted.options:
        return Reading(table=table_of(counts, wanted.options))
    if wanted.kind is Kind.CHOICES:
        separator = _separator_of(counts, wanted.options)
        settings = (Setting("split", separator),) if separator else ()
        table = table_of(_pieces(counts, separator), wanted.options) if wanted.options else ()
        return Reading(settings, table)
    return Reading()


def date_reading(forms: DateForms, edge: str, *, is_end: bool = False) -> Reading:
    """The formats of dates, the century of their years, the languages of month names, and what is not said.

    edge: the first or the last day or month that an incomplete date means; is_end: words of an open end are read.
    """
    settings = [Setting("dates", forms.formats)] if forms.formats else []
    if forms.pivot is not None:
        settings.append(Setting("pivot", str(forms.pivot)))
    if forms.months:
        settings.append(Setting("months", forms.months))
    notes = []
    if forms.lacks_month:
        settings.append(Setting("missing_month", edge))
        notes.append(f"a year alone means its {'January' if edge == 'first' else 'December'}")
    if forms.lacks_day:
        settings.append(Setting("missing_day", edge))
        notes.append(f"a month alone means its {edge} day")
    if is_end and forms.open_ends:
        settings.append(Setting("present", forms.open_ends))
    if forms.unread:
        notes.append(_unread("no date", forms.unread))
    return Reading(tuple(settings), doubt=forms.unsure, note="; ".join(notes))


def _unread(what: str, unread: Counts) -> str:
    """What is said of values that will not be read: how many, and the most frequent one."""
    text, _ = max(unread, key=lambda pair: pair[1])
    count = sum(count for _, count in unread)
    cells = "1 cell is" if count == 1 else f"{count} cells are"
    return f"{cells} {what}, as '{text[:30]}': mend them, or read words as empty with missing: [...]"


def _yes_no_reading(texts: Sequence[str]) -> Reading:
    """The words that are not read as yes or no anyway; `yok` as an answer is then no missing value."""
    known = {normalize(word) for word in (*YES_WORDS, *NO_WORDS)}
    new = [text for text in dict.fromkeys(texts) if normalize(text) not in known]
    yes, no = tuple(text for text in new if is_yes(text)), tuple(text for text in new if is_no(text))
    settings = [Setting(key, words) for key, words in (("yes", yes), ("no", no)) if words]
    if any(normalize(word) in MISSING_WORDS for word in no):
        others = tuple(text for text in new if normalize(text) in MISSING_WORDS and text not in no)
        settings.append(Setting("missing", others or ("",)))
    return Reading(tuple(settings))


# --- numbers --------------------------------------------------------------------------------------

_BOTH = re.compile(r"[+-]?\d{1,3}(?:([.,])\d{3})+([.,])\d+")
_DECIMAL = re.compile(r"[+-]?\d+([.,])(\d+)")
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:([., '’])\d{3})+")


def _number_reading(kind: Kind, counts: Counts) -> Reading:
    decimals, groups = set[str](), set[str]()
    grouped_texts = []
    for text in (text.replace("\u00a0", " ").replace("\u202f", " ").strip() for text, _ in counts):
        if both := _BOTH.fullmatch(text):
            if both.group(1) != both.group(2):
                groups.add(both.group(1))
                decimals.add(both.group(2))
        elif grouped := _GROUPED.fullmatch(text):
            groups.add(grouped.group(1))
            grouped_texts.append(text)
        elif (one := _DECIMAL.fullmatch(text)) and len(one.group(2)) != 3:
            decimals.add(one.group(1))
    thousands = min(groups - decimals, default=None)
    # A thousands separator that is also the default decimal sign needs the other one said.
    comma = "," in decimals or (not decimals and thousands == ".")
    settings = [Setting("decimal", ",")] if kind is Kind.DECIMAL and comma else []
    if thousands is not None:
        settings.append(Setting("thousands", thousands))
    doubt = ""
    if kind is Kind.DECIMAL and thousands in (".", ",") and not decimals and grouped_texts:
        doubt = f"'{grouped_texts[0]}' is taken for thousands"
    unread = [pair for pair in counts if not NUMBER.fullmatch(pair[0])]
    return Reading(tuple(settings), doubt=doubt, note=_unread("no number", unread) if unread else "")


# --- choices --------------------------------------------------------------------------------------

_MOST_LINES = 60  # a table longer than this is no choice
_SEPARATORS = (";", "|", "\n", ",", "/")
_NEARLY_SAME = 88  # of 100: a slip of the pen
_NO_WORD = re.compile(r"[\W\d_]+")


def table_of(counts: Iterable[tuple[str, int]], options: Sequence[str]) -> tuple[TableLine, ...]:
    """A line for each text that is no option already, the most frequent first; without a target where none is near."""
    known = Options(options)
    found = Counter[str]()
    written: dict[str, str] = {}
    for text, count in counts:
        if known.find(text) is None:
            found[normalize(text)] += count
            written.setdefault(normalize(text), text)
    lines = []
    for key, count in found.most_common(_MOST_LINES):
        target, sure = _meant(written[key], tuple(options))
        lines.append(TableLine(written[key], target, count, sure))
    return tuple(lines)


def _pieces(counts: Counts, separator: str | None) -> Counts:
    """The texts between the separators."""
    found = Counter[str]()
    for text, count in counts:
        for piece in text.split(separator) if separator else (text,):
            if piece.strip():
                found[piece.strip()] += count
    return tuple(found.items())


def _separator_of(counts: Counts, options: Sequence[str]) -> str | None:
    """What stands between several choices in one cell, None where nothing does: what yields most options."""
    known = Options(options)
    best, best_hits = None, 0
    for separator in _SEPARATORS:
        holding = tuple((text, count) for text, count in counts if separator in text and known.find(text) is None)
        hits = sum(count for piece, count in _pieces(holding, separator) if not options or known.find(piece))
        if hits > best_hits:
            best, best_hits = separator, hits
    return best


@lru_cache(maxsize=1)
def _option_words() -> dict[str, frozenset[str]]:
    """What cells say for an option, by its name in the table of value words."""
    return {name: frozenset(map(_key, words)) for name, words in read_table("value_words")["options"].items()}


@lru_cache(maxsize=4096)
def _meant(text: str, options: tuple[str, ...]) -> tuple[str | None, bool]:
    """The option that a text means and whether that is sure: by the table of value words, else by similarity."""
    key, table = _key(text), _option_words()
    for option in options:
        words = table.get(option.casefold().replace(" ", "_")) or table.get(_key(option), frozenset())
        if key and key in words:
            return option, True
    near = closest(text, options)
    return near, near is not None and fuzz.ratio(_key(text), _key(near)) >= _NEARLY_SAME


@lru_cache(maxsize=8192)
def _key(text: str) -> str:
    return "".join(words_of(text)) or _NO_WORD.sub("", text.casefold())


# --- full names -----------------------------------------------------------------------------------

_PARTICLES = frozenset(read_table("value_words")["particles"])
_SUFFIXES = frozenset(read_table("value_words")["name_suffixes"])
_CAPITALS = 0.8  # of the names: the others will be told row by row


@dataclass(frozen=True, slots=True)
class NameHabits:
    """How the full names of a file are written: whether capitals mark the last name, words that belong to it."""

    in_capitals: bool = False
    particles: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()


PLAIN = NameHabits()


def name_habits(values: ColumnView) -> NameHabits:
    """How these full names are written."""
    return NameHabits(values.share(_has_capitals) > _CAPITALS, *_words_of_last_names(text for text, _ in values.counts))


def _words_of_last_names(names: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The particles and the suffixes that occur: `van der Berg`, `Polat Jr.`."""
    particles, suffixes = dict[str, None](), dict[str, None]()
    for words in (name.split() for name in names if "," not in name):
        particles.update(dict.fromkeys(word for word in words[1:-1] if word in _PARTICLES))
        suffixes.update(dict.fromkeys(word for word in words[2:] if word.casefold().rstrip(".") in _SUFFIXES))
    return tuple(particles), tuple(suffixes)


def _has_capitals(name: str) -> bool:
    """`YILMAZ Ayşe`, `Ayşe YILMAZ`: the words in capitals stand on one side, and there are others."""
    capital = [word.isupper() and len(word) > 1 and not word.endswith(".") for word in name.split()]
    return any(capital) and not all(capital) and capital in (sorted(capital), sorted(capital, reverse=True))


def surname_first(name: str) -> bool:
    """`YILMAZ Ayşe`: the first word in capitals and the last not. A comma is read the right way round anyway."""
    words = name.split()
    return len(words) > 1 and "," not in name and words[0].isupper() and len(words[0]) > 1 and not words[-1].isupper()
