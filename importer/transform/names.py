"""Reads names, and splits full names by a declared rule."""

from __future__ import annotations

import re
from typing import Literal

from importer.mapping import NameRule, Surname
from importer.text.damage import NULL_WORDS, code_in
from importer.text.normalize import begins_with_last_name, normalize, normalized, words_in_capitals, wrong_word
from importer.transform.texts import WITHOUT_EFFECT, InvalidValue, quoted, read_text

Side = Literal["first", "last"]
_DEFAULT = NameRule()
_AT_END = (None, Surname.LAST_WORD, Surname.LAST_TWO_WORDS)  # where the last name is
# Left over from copying from web pages. Joiners (U+200C, U+200D) matter in some scripts.
_INVISIBLE = dict.fromkeys(map(ord, WITHOUT_EFFECT.replace("\u200c", "").replace("\u200d", "")))
# What belongs to the last name, to no name, or makes it two people: only a person, or the mapping, can say so.
# fmt: off
_PARTICLES = frozenset((
    "van", "von", "vom", "der", "den", "de", "dos", "das", "del", "della", "du", "des", "zu", "zum", "zur", "ter",
    "ten", "bin", "ibn", "بن", "la", "las", "los", "da", "dalla", "degli", "dei", "bint", "af", "'t",
    "ní", "nic", "uí", "ó",
    *map(normalize, ("Graf", "Gräfin", "Freiherr", "Freifrau", "Fürst", "Fürstin", "Prinz", "Prinzessin", "Baron")),
))
# These are also names, so they count only where the last name is the last word.
_MAY_BE_NAMES = frozenset((
    *("di", "dal", "lo", "le", "el", "al", "ben", "abu", "ait", "aït", "san", "st", "mac", "mc"),
    *("abd", "abdal", "abdel", "abdul"),
))
# `María del Carmen García` has one last name, `Ana del Río García` two.
_OF_MARY = normalized((
    "Carmen", "Pilar", "Mar", "Rosario", "Ángeles", "Cruz", "Jesús", "Dios", "Luz", "Sol", "Lourdes", "Fátima",
    "Guadalupe", "Rocío", "Socorro", "Consuelo", "Remedios", "Mercedes", "Dolores", "Nieves", "Concepción", "Valle",
))
_CONJUNCTIONS = frozenset(("e", "y", "i"))  # between two last names: what is before belongs to the last name, too
_TITLES = frozenset(("dr", "prof", "mr", "mrs", "ms", "miss", "mme", "mlle", "herr", "frau"))
_ADDED = _TITLES | {"sr", "sra", "jr", "jnr", "snr", "phd", "mba", "msc", "bsc", "esq", "pmp", "cpa", "cfa", "mgr"}
# fmt: on
_ADDED_IN_CAPITALS = frozenset(("II", "III", "IV", "MD"))
_ABBREVIATED = re.compile(r"[^\W\d_]{2,}\.(?:-[^\W\d_]+\.)?")  # Av., Dipl.-Ing.
_DEGREE = re.compile(r"[^\W\d_]{1,3}(?:\.[^\W\d_]{1,3})+\.?")  # M.A., at the end of a name; J.P. may begin one
# What people are addressed by; with a comma or in another place, these are names.
_IN_FRONT = normalized((
    "Bay", "Bayan", "Sayın", "Doç", "Uzm", "Op", "Av", "Ing", "Mag", "Dipl-Ing", "Inż", "Dott", "Avv", "Sir", "Shri",
    "Smt", "د", "Pani", "Señor", "Señora", "Monsieur", "Madame", "Signor", "Signora",
))  # fmt: skip
_BEHIND = normalized(("Bey", "Hanım", "Efendi", "junior", "júnior", "senior"))
_BEHIND_LAST_NAME = frozenset(
    ("filho", "filha", "neto", "neta", "sobrinho", "sobrinha", "hijo", "hija", "fils", "v")
)  # alone, last names
# JD, KVS, J.P., J-P
_INITIALS = re.compile(r"[^\W\d_]{1,2}|[B-DF-HJ-NP-TV-XZ.-]+|(?:[^\W\d_][.-]?)+\.|(?:[^\W\d_]-)+[^\W\d_]")
_NO_FULL_NAME = re.compile(r"[\d&/+;()\"@<>=|]|(?<!\S)[-–—]|[-–—](?!\S)")


def read_name(text: str, typed: bool) -> str | InvalidValue:
    """A name with single spaces; one without any letter, or with what programs write, is not valid."""
    name = " ".join(_without_invisible(text).split())
    if not any(character.isalpha() for character in name):
        return InvalidValue("name-invalid", f"{quoted(text)} is not a valid name", "write the name in letters")
    is_nothing = normalize(name) in NULL_WORDS and (not name.isalpha() or normalize(name) == "undefined")
    code = name if is_nothing or (typed and name in ("TRUE", "FALSE")) else "?" if "?" in name else code_in(name)
    return _damaged(text, code) if code else read_text(name, typed)


def _damaged(text: str, code: str) -> InvalidValue:
    place = "letters" if code == "?" else "the name"
    message = f"{quoted(text)} has {quoted(code)}, which a program wrote in place of {place}"
    return InvalidValue("text-damaged", message, "write the name as a person reads it")


def part_of_name(full_name: str, part: Side, rule: NameRule | None = None) -> str | InvalidValue:
    """The first or last name: split at a comma as in `Ada, Nur`, else by the rule.

    A single word is not valid, as it could be either name; nor is a name that the rule does not fit, as patronymics
    show, one with a title, suffix or particle that the rule does not list, or a text with two people.
    """
    rule = rule or _DEFAULT
    full_name = _without_invisible(full_name)
    if "?" in full_name:
        return _damaged(full_name, "?")
    if unsure := _unsure_word(full_name, rule):
        word, hint = unsure
        return _not_split(full_name, f" because of '{word}'", hint)
    before, comma, after = full_name.rpartition(",")
    if comma and normalize(after) in rule.suffixes:  # `Ada Nur, Jr.` has no last name before the comma
        full_name = f"{before} {after}"
    if "," in full_name:
        *first, last = full_name.rpartition(",")[2].split() or [""]
        is_listed = normalize(last) in rule.particles | rule.suffixes
        if (first and is_listed) or (last.islower() and (is_listed or _bare(last) in _PARTICLES)):  # Goethe, Johann von
            hint = "write what belongs to the last name before the comma"
            return _not_split(full_name, f" because of '{last}'", hint)
        return _part_by_comma(full_name, part)
    if rule.surname is Surname.BEFORE_COMMA:
        message = f"{quoted(full_name)} has no comma after the last name"
        return InvalidValue("name-split-failed", message, "write it as 'Last, First'")
    words = full_name.split()
    without_suffixes = _without_suffixes(words, rule)
    if rule.surname is not Surname.CAPITALS and (wrong := _wrong_order(full_name, without_suffixes, rule)):
        return wrong
    found = _last_name_words(without_suffixes, rule)
    if found is None:
        return _split_failed(full_name, words, rule)
    begin, end = found
    first_name, last_name = without_suffixes[:begin] + without_suffixes[end:], without_suffixes[begin:end]
    inner = [word for word in last_name if normalize(word) not in rule.particles]
    is_two = rule.surname is Surname.LAST_TWO_WORDS and begin == 1 and len(inner) == 2 and last_name[0] not in inner
    initial = next((word for word in inner if word.isupper() and len(word.removesuffix(".")) == 1), None)
    if initial and rule.surname in (Surname.LAST_TWO_WORDS, Surname.FIRST_WORD):
        return _not_split(full_name, f" because of '{initial}'", _LAST_FIRST)
    if is_two and normalize(inner[0]) in _OF_MARY:
        return _not_split(full_name, f" because of '{last_name[0]} {inner[0]}'", _LAST_FIRST)
    if beside := _beside_last_name(first_name, last_name, rule, is_first=begin > 0):
        return _not_split(full_name, f" because of '{beside}'", _LAST_FIRST)
    if part == "first":
        return " ".join(first_name)
    return " ".join(last_name + words[len(without_suffixes) :])


def _without_invisible(text: str) -> str:
    return text if text.isprintable() else text.translate(_INVISIBLE)


_LAST_FIRST = "write it as 'Last, First'"
_WITHOUT = "write both names without it"
_TWO_PEOPLE = frozenset(("and", "und", "ve", "et"))
_LISTED = f"{_WITHOUT}, or list it under particles: or suffixes: of names: in the mapping"
_PARTICLE = f"{_LAST_FIRST}, or list it under particles: of names: in the mapping"


def _unsure_word(full_name: str, rule: NameRule) -> tuple[str, str] | None:
    """The first word or sign of which is not known to which name it belongs, and what to do about it."""
    if sign := _NO_FULL_NAME.search(full_name):
        is_dash = sign[0] in "-–—"
        return sign[0], f"{_WITHOUT}, or, in a double name, without the blanks beside it" if is_dash else _WITHOUT
    words = full_name.replace(",", " ").split()
    is_cased = any(word[:1].isupper() for word in words)
    for index, word in enumerate(words):
        bare = _bare(word)
        is_last, has_comma = index == len(words) - 1, "," in full_name
        # A comma or capitals show where the last name begins. In front, as in `Van Morrison`, it is a first name.
        is_shown = has_comma or (rule.surname is Surname.CAPITALS and word.isupper())
        is_inside, takes_last = not (is_last or is_shown) and index > 0, rule.surname in _AT_END
        if word.casefold() in _TWO_PEOPLE and is_inside:
            return word, "write a row for each person"
        is_two = rule.surname is Surname.LAST_TWO_WORDS and bare in rule.particles
        # With a point, or a capital letter among small ones, it is an initial.
        joins = word in _CONJUNCTIONS or (full_name.isupper() and normalize(word) in _CONJUNCTIONS)
        if joins and is_inside and takes_last and not is_two:
            return word, _LAST_FIRST
        if normalize(word) in rule.suffixes or (normalize(word) in rule.particles and bare not in _TITLES):
            continue
        if bare in _ADDED or word in _ADDED_IN_CAPITALS or _ABBREVIATED.fullmatch(word):
            return word, _LISTED if index > 0 and bare not in _TITLES else _WITHOUT
        is_address = bare in _IN_FRONT if index == 0 else is_last and bare in _BEHIND
        is_third = index > 1 and is_last
        if is_third and bare in _BEHIND_LAST_NAME and not is_shown:
            return word, f"{_LAST_FIRST}, or list it under suffixes: of names: in the mapping"
        if (is_third and _DEGREE.fullmatch(word)) or (is_address and not is_shown):
            return word, f"{_WITHOUT}, or, if it is a name, as 'Last, First'"
        behind = _HYPHEN.split(word)[1:]
        is_joined = bool(behind) and _is_particle(behind[-1], rule) and (index > 0 or behind[-1].islower())
        if is_joined and not is_last and not is_shown:  # Anna Jansen-de Vries, but not Xiao-Di Chen
            return word, _LAST_FIRST
        is_first = index == 0 and takes_last and not (is_cased and word.islower())  # de Vries Jan
        is_particle = bare in _PARTICLES or (is_cased and word.islower()) or (takes_last and bare in _MAY_BE_NAMES)
        if is_particle and not is_shown and not is_first and not is_last:
            return word, _PARTICLE
    return None


_HYPHEN = re.compile("[-‐‑]")


def _is_particle(word: str, rule: NameRule) -> bool:
    return _bare(word) in _PARTICLES | _MAY_BE_NAMES or normalize(word) in rule.particles


_SIGNS = dict.fromkeys(map(ord, ".®™"))


def _bare(word: str) -> str:
    return normalize(word).translate(_SIGNS)


def _wrong_order(full_name: str, words: list[str], rule: NameRule) -> InvalidValue | None:
    """The problem of a name whose words show that its last name is not where the rule takes it from."""
    is_first = rule.surname is Surname.FIRST_WORD
    if not is_first and words and begins_with_last_name(words):
        hint = f"{_LAST_FIRST}; only if all names of the column are in this order, set names: {{surname: first_word}}"
        return _not_split(full_name, f": '{words[0]}' looks like a last name", f"{hint} in the mapping")
    found = wrong_word(words, is_first)
    if found is None:
        return _wrong_capitals(full_name, words, rule)
    word, kind = found
    hint = _LAST_FIRST
    if wrong_word(words, not is_first) is None:
        other, place = (Surname.LAST_WORD, "last") if is_first else (Surname.FIRST_WORD, "first")
        hint += f"; if the column has the last name {place}, set names: {{surname: {other}}} in the mapping"
    return _not_split(full_name, f": '{word}' looks like {kind}", hint)


def _wrong_capitals(full_name: str, words: list[str], rule: NameRule) -> InvalidValue | None:
    """The problem of a name of which other words are in capitals than those that the rule takes: `MÜLLER Hans`."""
    capitals = [word for word in words if word.isupper() and not _INITIALS.fullmatch(word)]
    if not capitals or all(map(str.isupper, words)) or (taken := _last_name_words(words, rule)) is None:
        return None
    last = [word for word in words[slice(*taken)] if word.isupper() or normalize(word) not in rule.particles]
    if all(map(str.isupper, last)) and {*capitals} <= {*last}:
        return None
    hint = "write it as 'Last, First'; if the column has last names in capitals, set names: {surname: capitals}"
    return _not_split(full_name, f": '{capitals[0]}' is in capitals", f"{hint} in the mapping")


def _beside_last_name(first: list[str], last: list[str], rule: NameRule, *, is_first: bool) -> str | None:
    """A listed particle or suffix that would be sent as a part of the first name, or a particle at the end.

    In front, as in `Van Morrison`, one may be a name; not a small one, and not before another one: `Van der Berg`.
    """
    if normalize(last[-1]) in rule.particles:
        return last[-1]
    is_listed = bool(first) and normalize(first[0]) in rule.particles
    if is_listed and (not first[0].istitle() or normalize(last[0]) in rule.particles):
        return first[0]
    return next((word for word in first[is_first:] if normalize(word) in rule.particles | rule.suffixes), None)


def _without_suffixes(words: list[str], rule: NameRule) -> list[str]:
    """The words before the suffixes at the end."""
    count = len(words)
    while count and normalize(words[count - 1]) in rule.suffixes:
        count -= 1
    return words[:count]


def _last_name_words(words: list[str], rule: NameRule) -> tuple[int, int] | None:
    """Where the last name begins and ends among the words, or None where the rule leaves no first or no last name."""
    match rule.surname:
        case Surname.CAPITALS:
            found = words_in_capitals(words)
        case Surname.FIRST_WORD:
            end = 0
            while end < len(words) - 1 and normalize(words[end]) in rule.particles:
                end += 1
            found = (0, end + 1)
        case _:
            begin = _last_name_begin(words, len(words), rule)
            if rule.surname is Surname.LAST_TWO_WORDS and begin > 1:
                begin = _last_name_begin(words, begin, rule)
            found = (begin, len(words))
    if found is None or found[1] - found[0] >= len(words) or found[0] < 0:
        return None
    return found


def _last_name_begin(words: list[str], end: int, rule: NameRule) -> int:
    """Where the last name that ends there begins, with its particles; the first word is never a part of it."""
    begin = end - 1
    while begin > 1 and normalize(words[begin - 1]) in rule.particles:
        begin -= 1
    return begin


def _split_failed(full_name: str, words: list[str], rule: NameRule) -> InvalidValue:
    if len(words) < 2:
        message = f"{quoted(full_name)} is one word and cannot be split into a first and a last name"
        return InvalidValue("name-split-failed", message, "write both names")
    if rule.surname is Surname.CAPITALS:
        message = f"{quoted(full_name)} needs a last name in capitals, with a first name before or after it"
        return InvalidValue("name-split-failed", message, "write it as 'LAST First', or as 'Last, First'")
    return _not_split(full_name, "", _LAST_FIRST)


def _not_split(full_name: str, reason: str, hint: str) -> InvalidValue:
    message = f"{quoted(full_name)} cannot be split into a first and a last name{reason}"
    return InvalidValue("name-split-failed", message, hint)


def _part_by_comma(full_name: str, part: Side) -> str | InvalidValue:
    pieces = [" ".join(piece.split()) for piece in full_name.split(",")]
    if len(pieces) != 2 or not all(pieces):
        return _not_split(full_name, "", "write it as 'Last, First' or 'First Last'")
    return pieces[0] if part == "last" else pieces[1]
