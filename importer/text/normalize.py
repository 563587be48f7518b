"""Texts for comparing, suggesting, splitting and showing to a person."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from rapidfuzz import fuzz, process
from rapidfuzz.distance import OSA

# --- comparing: ignores case, spacing and the dots of Turkish i -----------------------------------

_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
_PUNCTUATION = re.compile(r"[\W_]+")
_PADDING = "\u200b\ufeff\u2060 \t\r\n\u00a0\u202f\u3000\v\f"


def normalize(text: str) -> str:
    """The form in which texts are compared: `İSTANBUL`, `ıstanbul` and `istanbul` are equal.

    Case, the kind and number of spaces, zero-width characters and the dots of Turkish i do not matter. Punctuation
    does: `C`, `C++` and `C#` are three values.
    """
    if text.isascii():
        return " ".join(text.casefold().split())
    text = unicodedata.normalize("NFKC", text.translate(_INVISIBLE))
    # casefold turns İ into i + combining dot and does not change ı, so both are replaced first.
    folded = text.replace("İ", "i").replace("ı", "i").casefold().replace("i\u0307", "i")
    return " ".join(unicodedata.normalize("NFKC", folded).split())


def normalized(texts: Iterable[str]) -> frozenset[str]:
    """All of them as `normalize` gives them."""
    return frozenset(map(normalize, texts))


def normalize_name(text: str) -> str:
    """The form in which column names are compared: `E-posta`, `e posta` and `Eposta` are equal.

    Like `normalize`, without punctuation and spaces. A name of nothing else becomes "".
    """
    return _PUNCTUATION.sub("", normalize(text))


def stripped(text: str) -> str:
    """The text without the white space and zero-width characters around it."""
    return text.strip(_PADDING)


def join_key(cell: str, missing: frozenset[str] = frozenset()) -> str:
    """How keys of two tables are compared: exactly, but for several blanks or others inside, e-mail addresses without
    case, and 7.0 as 7, as programs write a column of numbers with gaps; "" for a word that is missing.
    """
    key = " ".join(stripped(cell).split())
    if missing and normalize(key) in missing:
        return ""
    if key.endswith(".0") and key[:-2].isdecimal():
        return key[:-2]
    return key.casefold() if "@" in key else key


# --- suggesting: the "did you mean" of messages --------------------------------------------------

_MIN_SCORE = 65  # of 100: below, a suggestion is more often wrong than right
_MIN_LENGTH = 4  # characters, to compare parts of words
_MIN_TYPED = 6  # letters of a word in which one may be a typing error
_MAX_SHOWN = 200  # characters of a word in a message


def closest(typed: str, known: Iterable[str]) -> str | None:
    """The known word that is most similar to the typed one; None if none is similar."""
    words = list(known)
    wanted = normalize(typed)
    # A long part of a word is enough: "degree" finds "bachelors_degree", but "C" does not find "Cobol".
    found = process.extractOne(wanted, words, scorer=fuzz.ratio, processor=normalize, score_cutoff=_MIN_SCORE)
    if found is None and len(wanted) >= _MIN_LENGTH:
        long_words = [word for word in words if len(normalize(word)) >= _MIN_LENGTH]
        found = process.extractOne(wanted, long_words, scorer=fuzz.WRatio, processor=normalize, score_cutoff=_MIN_SCORE)
    return str(found[0]) if found else None


def mistyped(typed: str, known: Sequence[str]) -> str | None:
    """The known text that differs in one letter of one long word: `mehmet` and `mehmt`. Short words are other names."""
    found = process.extractOne(typed, known, scorer=OSA.distance, processor=normalize, score_cutoff=1)
    words, others = (re.split(r"[\W\d_]+", normalize(text)) for text in (typed, found[0] if found else ""))
    differing = [pair for pair in zip(words, others, strict=False) if pair[0] != pair[1]]
    is_one = len(words) == len(others) and len(differing) == 1 and max(map(len, differing[0])) >= _MIN_TYPED
    return found[0] if found and is_one else None


def is_one_letter_off(text: str, other: str) -> bool:
    """Whether one letter is added, left out or replaced, or two are swapped; a digit or a sign distinguishes."""
    letters, others = (re.sub(r"[\W\d]", "", each) for each in (text, other))
    return OSA.distance(text, other, score_cutoff=1) == 1 and letters != others


def did_you_mean(typed: str, known: Iterable[str], listed: int = 12, *, is_value: bool = False) -> str:
    """A hint with the closest known word, if any is similar, and up to `listed` known words.

    is_value: of a cell; what says more is no typing error: `not senior`, `Mid/Senior`, `JavaScript`.
    """
    words = [word if len(word) <= _MAX_SHOWN else f"{word[:_MAX_SHOWN]}…" for word in known]
    near = closest(typed, words)
    shown = ", ".join(words[:listed]) + (", ..." if len(words) > listed else "")
    use = f"use one of {shown}" if words else ""
    if near is None or (is_value and _says_more(typed, near)):
        return use
    return f"did you mean '{near}'? {use}"


def _says_more(text: str, known: str) -> bool:
    words, others = (re.findall(r"[^\W_]+", normalize(each)) for each in (text, known))
    if "".join(words) == "".join(others) or is_one_letter_off("".join(words), "".join(others)):
        return False
    return len(words) > len(others) or (len(words) == 1 and others[0] in words[0])


# --- splitting --------------------------------------------------------------------------------------

# Tried in this order; a bare hyphen comes last, because dates contain it too.
_RANGE_SEPARATORS = tuple(
    map(re.compile, (r"\s+[-–—]\s+", r"\s*[–—]\s*", r"\s+(?:to|bis)\s+", r"\s+-|-\s+", r"\s*-\s*"))
)


def range_pieces(text: str) -> list[str]:
    """The ends of a range such as `Sep 2021 - Present` or `2019-2023`, either may be blank; else the text alone."""
    padded = f" {text} "  # for an open end: `2021 -`
    for separator in _RANGE_SEPARATORS:
        found = separator.split(padded)
        if len(found) > 1:
            return [piece.strip() for piece in found]
    return [text]


_SPACES_AND_SIGNS = re.compile(r"[\s<>\"|]|[;,](?=\s|$|https?://|www\.)", re.IGNORECASE)  # between web addresses
_IN_BRACKETS = re.compile(r"[<(\[]([^<>()\[\]]*)[>)\]]")
_BETWEEN_EMAILS = re.compile(r"[\s;,|]+")
_AROUND = ".,;:!'`“”„"
_SCHEME_AND_WWW = re.compile(r"(?:https?://)?(?:www\.)?", re.IGNORECASE)
_SITE = re.compile(r"[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}(?:/\S*)?", re.IGNORECASE)
_SECOND_ADDRESS = re.compile(r"[,;+&][\w-]+\.[a-z]|://", re.IGNORECASE)
_BETWEEN_PIECES = re.compile(r"([\n\r|;]|,\s|\s/\s)")
_LABEL = re.compile(r"\s*([^\W\d_][^:=\d\n]{0,40})[:=](?!//)")
_LABEL_INSIDE = re.compile(r"[^\W\d_]\s*[:=](?!//)")
_LABEL_BEHIND = re.compile(r"([^\n]*\S)\s*[(\[]([^()\[\]\n]+)[)\]]\s*")


def site_of(wanted: str) -> str | None:
    """The part of addresses that a text names, without https:// and www.; None for a label."""
    bare = _SCHEME_AND_WWW.sub("", wanted, 1)
    return bare if "@" in wanted or _SITE.fullmatch(bare) else None


def pieces_with(wanted: str, text: str) -> list[str] | None:
    """The different pieces of a text that have a part of an address (`github.com`, `@`), or that have a label.

    A site is only found where an address has it. A label stands alone before its piece, `Mobile: 0555`, or behind it in
    brackets, and is taken off. None if the wanted text is there, and nothing shows which piece it belongs to.

    >>> pieces_with("github.com", "https://a.example.com, github.com/ada"), pieces_with("home", "Home: 1, 2; Work: 3")
    (['github.com/ada'], ['1, 2'])
    """
    site = site_of(wanted)
    found = _labeled(wanted, text) if site is None else _emails(site, text) if "@" in site else _addresses(site, text)
    if found is None or (not found and normalize_name(wanted) and normalize_name(wanted) in normalize_name(text)):
        return None
    different = dict[str, str]()
    for piece in found:
        host, slash, path = _SCHEME_AND_WWW.sub("", piece, 1).rstrip("/").partition("/")
        different.setdefault(host.casefold() + slash + path, piece)
    return list(different.values())


def _emails(wanted: str, text: str) -> list[str] | None:
    """Addresses in brackets, `Ada <ada@example.com>`, or a cell of nothing else: beside other words one may be cut."""
    inside = [each for each in _IN_BRACKETS.findall(text) if "@" in each]
    words = [word.strip(_AROUND).removeprefix("mailto:") for word in inside or _BETWEEN_EMAILS.split(text) if word]
    outside = _IN_BRACKETS.sub(" ", text) if inside else ""
    if "@" in outside or any("@" not in word or _BETWEEN_EMAILS.search(word) for word in words):
        return None if "@" in text else []
    return [word for word in words if wanted == "@" or word.casefold().endswith(wanted.casefold())]


def _addresses(site: str, text: str) -> list[str] | None:
    host, _, path = site.casefold().partition("/")
    found = []
    for word in map(_without_punctuation, _SPACES_AND_SIGNS.split(text)):
        own, slash, rest = _SCHEME_AND_WWW.sub("", word, 1).partition("/")
        is_there = own.casefold() == host or own.casefold().endswith(f".{host}")
        if is_there and rest.casefold().startswith(path):
            if _SECOND_ADDRESS.search(slash + rest) or host in rest.casefold():
                return None  # two addresses, perhaps
            found.append(word)
    return found


def _without_punctuation(word: str) -> str:
    word = word.lstrip("([" + _AROUND).rstrip(_AROUND)
    for opening, closing in ("()", "[]"):
        excess = max(0, word.count(closing) - word.count(opening))
        word = word[: len(word) - min(excess, len(word) - len(word.rstrip(closing)))]
    return word.rstrip(_AROUND)


def _labeled(wanted: str, text: str) -> list[str] | None:
    name = normalize_name(wanted)
    segments = _BETWEEN_PIECES.split(text)  # and what is between them
    behind = [_LABEL_BEHIND.fullmatch(segment) for segment in segments[::2] if segment.strip()]
    if behind and all(behind):
        if any(re.search(r"[(\[][^()\[\]]*[^\W\d_][^()\[\]]*[)\]]", match[1]) for match in behind if match):
            return None  # `1 (work)/2 (home)`: two pieces
        return [match[1].strip() for match in behind if match and normalize_name(match[2]) == name]
    pieces: list[tuple[str, str]] = []  # labels, each with its piece, which goes on to the next label
    for separator, segment in zip(["", *segments[1::2]], segments[::2], strict=True):
        if label := _LABEL.match(segment):
            pieces.append((label[1], segment[label.end() :]))
        elif pieces:
            pieces[-1] = (pieces[-1][0], pieces[-1][1] + separator + segment)
    found = [piece.strip().rstrip("|;,").strip() for label, piece in pieces if normalize_name(label) == name]
    return None if any(map(_LABEL_INSIDE.search, found)) else found


# --- escaping -----------------------------------------------------------------------------------------

_NOT_PLAIN = re.compile(r"[^\w\t\n -~]")
# Control and format characters (including those that change the direction of text), surrogates, line separators.
_CONTROL_CATEGORIES = ("Cc", "Cf", "Cs", "Zl", "Zp")


def visible(text: str) -> str:
    """An untrusted text for a terminal: characters that move the cursor, recolor or reorder are escaped as in JSON.

    The result is valid inside a JSON string and has the same value there. Tabs and line feeds stay.
    """
    return text if text.isprintable() else _NOT_PLAIN.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    character = found[0]
    if unicodedata.category(character) not in _CONTROL_CATEGORIES:
        return character
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))


# --- what the words of a full name show ---


# Рашид оглы: a word of its own, or behind a hyphen. With only two words it is a last name.
# fmt: off
_SON_OR_DAUGHTER = frozenset((
    "оглы", "оглу", "угли", "углы", "улы", "уулу", "ұлы", "кызы", "қызы", "гызы", "кизи", "ogly", "ogli", "oglu",
    "oğlu", "qizi", "qızı", "kyzy", "kizi",
))
# fmt: on
# A last name may end like these as well (Абрамович), but nothing in a name of two words shows which it is.
_PATRONYMIC = re.compile(r"\w+([оеё]вич|[оеёії]вна|ична|[oe]vna)")
_PATRONYMIC_OF_THREE = re.compile(r"\w+([иі]ч|ұлы|қызы|[oe]v[iy]ch)")
_LAST_NAME = re.compile(r"[\w-]{3,}([оеё]ва?|енко|[сц]к(ий|ая)|[сц]ьк(ий|а))")  # neither Яков nor Ева
_FIRST_NAMES = frozenset(("любов", "иаков"))
# 王 伟, 김 민수, 佐藤 花子: written so, the last name comes first; names of other countries are in katakana.
_OF_EAST_ASIA = re.compile(r"(?=[^\u30a0-\u30ff])[\u3005\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff]+")
_OF_VIETNAM = re.compile("nguyễn|trần|phạm|huỳnh|đặng|bùi|đỗ|ngô")
_MAY_BE_OF_VIETNAM = re.compile("lê|phan|hoàng|vũ|võ|hồ|dương|lý|đinh|đoàn|trương")  # first names, or of others, too
_WORD_OF_VIETNAM = re.compile(r".*[ăâđêôơư\u1ea0-\u1ef9].*")


def words_in_capitals(words: Sequence[str]) -> tuple[int, int] | None:
    """Where the words in capitals begin and end, all at the beginning or all at the end; None where they do not."""
    capital = [word.isupper() and len(word) > 1 and not word.endswith(".") for word in words]
    count = sum(capital)
    if not count:
        return None
    return (0, count) if all(capital[:count]) else (len(words) - count, len(words)) if all(capital[-count:]) else None


def wrong_word(words: Sequence[str], is_last_name_first: bool) -> tuple[str, str] | None:
    """The word that shows that the names are in another order, and what it looks like; None if no word does.

    A patronymic stands behind the first name, so a last name is neither a patronymic nor in front of one.
    """
    if len(words) < 2:
        return None
    fathers = [_is_patronymic(words, index) for index in range(len(words))]
    last_names = [_is_last_name(word) for word in (words[0], words[-1])]
    if is_last_name_first:
        index = len(words) - 2 if len(words) > 2 else 1
        if fathers[index]:
            return words[index], "a patronymic"
        return (words[-1], "a last name") if last_names == [False, True] else None
    if fathers[-1] and not (len(words) > 2 and fathers[-2]):  # Дмитрий Дмитриевич Шостакович
        return words[-1], "a patronymic"
    return (words[0], "a last name") if last_names == [True, False] else None


def begins_with_last_name(words: Sequence[str]) -> bool:
    """Whether the script of a name, or its first word, shows that its last name comes first, whatever others do."""
    first, *others = (word.casefold() for word in words)
    own = others if others and not _MAY_BE_OF_VIETNAM.fullmatch(others[-1]) else others[:-1]
    is_sure = len(others) > 1 and any(map(_WORD_OF_VIETNAM.fullmatch, own)) and _MAY_BE_OF_VIETNAM.fullmatch(first)
    is_of_vietnam = bool(others) and not _OF_VIETNAM.fullmatch(others[-1]) and (is_sure or _OF_VIETNAM.fullmatch(first))
    return bool(is_of_vietnam) or (len(words) > 1 and all(map(_OF_EAST_ASIA.fullmatch, words)))


def _is_patronymic(words: Sequence[str], index: int) -> bool:
    word = words[index].casefold()
    if len(words) > 2 and index:
        is_after_initial = len(words[index - 1].rstrip(".")) == 1  # John A. Markovich
        if word.rpartition("-")[2] in _SON_OR_DAUGHTER or (
            _PATRONYMIC_OF_THREE.fullmatch(word) and not is_after_initial
        ):
            return True
    return _PATRONYMIC.fullmatch(word) is not None


def _is_last_name(word: str) -> bool:
    return _LAST_NAME.fullmatch(word.casefold()) is not None and word.casefold() not in _FIRST_NAMES
