"""The keys that a value needs beside its column: date formats, signs of numbers, words, value tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from importer.mapping import NO_WORDS, YES_WORDS, FieldSpec, Kind
from importer.suggest.choice_tables import pieces_of, splitting_sign, table_of
from importer.suggest.date_forms import DateForms, date_forms
from importer.suggest.proposal import Setting, TableLine
from importer.suggest.value_kinds import MISSING_WORDS, NUMBER, ValueKinds, is_no, is_yes
from importer.text.normalize import normalize

_BOTH_SIGNS = re.compile(r"[+-]?\d{1,3}(?:([.,])\d{3})+([.,])\d+")
_ONE_SIGN = re.compile(r"[+-]?\d+([.,])(\d+)")
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:([., '’])\d{3})+")


@dataclass(frozen=True, slots=True)
class Reading:
    """How a value is read. `doubt` as in ProposedValue."""

    settings: tuple[Setting, ...] = ()
    table: tuple[TableLine, ...] = ()
    doubt: str = ""
    remark: str = ""


def reading_of(wanted: FieldSpec, columns: Sequence[ValueKinds], day_first: bool | None) -> Reading:
    """The keys that these columns together need to be read as what is wanted.

    day_first: how the file as a whole writes `3/4/2021`, None where nothing says it.
    """
    values = tuple(pair for kinds in columns for pair in kinds.values)
    if wanted.kind is Kind.DATE:
        return _dates(values, day_first)
    if wanted.kind in (Kind.INTEGER, Kind.DECIMAL):
        return _numbers(wanted.kind, values)
    if wanted.kind in (Kind.YES_NO, Kind.FLAG):
        return _yes_no(tuple(text for kinds in columns for text in kinds.sampled.texts))
    if wanted.kind is Kind.CHOICE and wanted.options:
        return Reading(table=table_of(values, wanted.options))
    if wanted.kind is Kind.CHOICES:
        sign = splitting_sign(values, wanted.options)
        settings = (Setting("split", sign),) if sign else ()
        table = table_of(pieces_of(values, sign), wanted.options) if wanted.options else ()
        return Reading(settings, table)
    return Reading()


def _dates(values: Sequence[tuple[str, int]], day_first: bool | None) -> Reading:
    forms = date_forms(values, day_first)
    settings = form_settings(forms)
    remarks = []
    if forms.lacks_month:
        settings.append(Setting("missing_month", "first"))
        remarks.append("a year alone means its January")
    if forms.lacks_day:
        settings.append(Setting("missing_day", "first"))
        remarks.append("a month alone means its first day")
    if forms.unread:
        remarks.append(unread_remark("no date", forms.unread))
    return Reading(tuple(settings), doubt=forms.unsure, remark="; ".join(remarks))


def form_settings(forms: DateForms) -> list[Setting]:
    """The formats of dates, the century of their years, and the languages of month names in them."""
    settings = [Setting("dates", forms.formats)] if forms.formats else []
    if forms.pivot is not None:
        settings.append(Setting("pivot", str(forms.pivot)))
    if forms.months:
        settings.append(Setting("months", forms.months))
    return settings


def unread_remark(what: str, unread: Sequence[tuple[str, int]]) -> str:
    """What is said of values that will not be read: how many, and the most frequent one."""
    text, _ = max(unread, key=lambda pair: pair[1])
    count = sum(count for _, count in unread)
    cells = "1 cell is" if count == 1 else f"{count} cells are"
    return f"{cells} {what}, as '{text[:30]}': mend them, or read words as empty with missing: [...]"


def _numbers(kind: Kind, values: Sequence[tuple[str, int]]) -> Reading:
    signs = _signs([text for text, _ in values])
    unread = [pair for pair in values if not NUMBER.fullmatch(pair[0])]
    note = unread_remark("no number", unread) if unread else ""
    settings = []
    # A thousands sign that is also the default decimal sign needs the other one said.
    decimal = signs.decimal or ("," if signs.thousands == "." else None)
    if kind is Kind.DECIMAL and decimal == ",":
        settings.append(Setting("decimal", ","))
    if signs.thousands is not None:
        settings.append(Setting("thousands", signs.thousands))
    return Reading(tuple(settings), doubt=signs.doubt if kind is Kind.DECIMAL else "", remark=note)


@dataclass(frozen=True, slots=True)
class _Signs:
    decimal: str | None
    thousands: str | None
    doubt: str = ""


def _signs(texts: Sequence[str]) -> _Signs:
    decimals, groups = set[str](), set[str]()
    open_texts = []
    for text in (text.replace("\u00a0", " ").replace("\u202f", " ").strip() for text in texts):
        if both := _BOTH_SIGNS.fullmatch(text):
            if both.group(1) != both.group(2):
                groups.add(both.group(1))
                decimals.add(both.group(2))
        elif grouped := _GROUPED.fullmatch(text):
            groups.add(grouped.group(1))
            open_texts.append(text)
        elif (one := _ONE_SIGN.fullmatch(text)) and len(one.group(2)) != 3:
            decimals.add(one.group(1))
    groups -= decimals
    decimal = "," if "," in decimals else "." if decimals else None
    thousands = sorted(groups)[0] if groups else None
    doubt = ""
    if thousands in (".", ",") and decimal is None and open_texts:
        doubt = f"'{open_texts[0]}' is taken for thousands"
    return _Signs(decimal, thousands, doubt)


def _yes_no(texts: Sequence[str]) -> Reading:
    """The words that are not read as yes or no anyway; `yok` as an answer is then no missing value."""
    known = {normalize(word) for word in (*YES_WORDS, *NO_WORDS)}
    new = [text for text in dict.fromkeys(texts) if normalize(text) not in known]
    yes, no = tuple(text for text in new if is_yes(text)), tuple(text for text in new if is_no(text))
    settings = [Setting(key, words) for key, words in (("yes", yes), ("no", no)) if words]
    if any(normalize(word) in MISSING_WORDS for word in no):
        others = tuple(text for text in new if normalize(text) in MISSING_WORDS and text not in no)
        settings.append(Setting("missing", others or ("",)))
    return Reading(tuple(settings))
