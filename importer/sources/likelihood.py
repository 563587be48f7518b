"""How likely the text is that an encoding reads: letters that one language writes are likely, symbols in words are not.

An encoding that differs in few letters from the right one reads whole words, but those of no language: YAÑEZ becomes
YAŃEZ, and no language has both Ń and the Í of the next name.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from functools import lru_cache

# fmt: off
_WRITTEN = {
    "es": "áéíóúüñ¿¡", "fr": "àâæçèéêëîïôöùûüÿœ", "de": "äöüßé", "pt": "àáâãçéêíóôõúü", "ca": "àçèéíïòóúü·",
    "it": "àèéìíòóù", "nl": "áéëïóöüèê", "sv da nb nn": "åäöæøéü", "is fo": "áæðéíóöþúýø", "fi et": "äöõüšž",
    "tr az": "çğıöşüâîûİ", "pl": "ąćęłńóśźż", "cs": "áčďéěíňóřšťúůýž", "sk": "áäčďéíĺľňóôŕšťúýž", "hu": "áéíóöőúüű",
    "ro": "ăâîșțşţ", "hr sl bs": "čćđšž", "lv": "āčēģīķļņōŗšūž", "lt": "ąčęėįšųūž", "sq": "çë", "mt": "ċġħżàèìòù",
    "cy": "âêîôûŵŷ",
}  # the letters that one language, or a few near ones, write
_OTHER_ALPHABETS = {"ru uk bg sr mk": "я", "el": "ω", "he": "א", "ar fa": "ع", "ja": "の", "zh": "的", "ko": "한"}
_COMMON = frozenset("çğışöüÇĞİŞÖÜâîûäßéèêëàáíóúñãõåøæøÅØÆÄÉÑÁÍÓÚÀÈÊ’‘“”–—€…°·«»ªº")
# fmt: on
_SIGNS = frozenset("’‘“”–—€…°·«»ªº")
_MONEY = frozenset("€£¥¢")  # beside a number
_MARKS = frozenset("©®™§±½¼¾²³µ†•")  # beside a space, or at one end of a word
_RARE = frozenset({frozenset(each + each.upper()) for each in ("áæðéíóöþúýø", "âêîôûŵŷ", "ċġħżàèìòù")})
_OF_RARE = 0.95  # of two languages with the same letters' bytes, the one that more people write comes first
_ICELANDIC = frozenset("áæðéíóöþúýøÁÆÐÉÍÓÖÞÚÝØ")
_LANGUAGES = tuple(frozenset(letters + letters.upper()) for letters in _WRITTEN.values())


def letters_of(locale: str) -> str:
    """Letters that the language of a locale like `tr_TR` writes beside those of ASCII; "" if none are known."""
    language = locale.partition("_")[0].lower()
    return next((letters for of, letters in (_WRITTEN | _OTHER_ALPHABETS).items() if language in of.split()), "")


def likelihood(text: str, only: frozenset[int] | None = None) -> float:
    """The mean weight of the non-ASCII characters, of those at the indexes `only` if given: 2 for a letter of the
    language that writes the most of the text's letters; 0 if there are none."""
    if text.isascii():
        return 0.0
    written = _language(text)
    weights = [
        _weight(before, character, after, written)
        for index, (before, character, after) in enumerate(zip(" " + text, text, text[1:] + " ", strict=False))
        if character > "\x7f" and (only is None or index in only)
    ]
    mean = sum(weights) / len(weights) if weights else 0.0
    return _OF_RARE * mean if written in _RARE else mean


def _language(text: str) -> frozenset[str]:
    counts = Counter(character for character in text if character > "\x7f")
    # Turkish in an encoding of the West is þ, ý and ð; Icelandic has other letters too.
    is_icelandic = counts.keys() & frozenset("áæéíóúÁÆÉÍÓÚ") or not counts.keys() & frozenset("þðÞÐ")
    possible = _LANGUAGES if is_icelandic else [one for one in _LANGUAGES if one != _ICELANDIC]
    return max(possible, key=lambda letters: sum(counts[each] for each in letters))


def _weight(before: str, character: str, after: str, written: frozenset[str]) -> float:
    if character in "¿¡":
        opens_word = after.isalpha() and not before.isalpha()
        return (2.0 if character in written else -0.7) if opens_word else -2.0
    near_digit = before.isdigit() or after.isdigit()
    if character in _MONEY and (near_digit or not (before.isalpha() or after.isalpha())):
        return 2.0
    if character in _MARKS and not (before.isalpha() and after.isalpha()):
        return 1.5
    if character in "ªº" and not before.isalnum():
        return 0.3  # they stand after a number, or after N
    if character.isalpha() and near_digit and character not in "ªº":
        return -1.0  # a sign beside a number that another encoding reads as a letter
    if character in written or character in _COMMON:
        if character.isupper() and before.islower():
            return -1.0  # a wrong encoding turns lower-case letters into capitals inside a word
        if any(near in _COMMON and near not in written for near in (before, after)):
            return 0.4
        if character in _SIGNS:  # beside letters of another alphabet they are as often letters read wrongly
            return 0.5 if any(near.isalpha() and _script(near) != "LATIN" for near in (before, after)) else 2.0
        if not (before.isalpha() or after.isalpha()):
            return 1.0  # few letters are words
        beside = sum(1 for near in (before, after) if near > "\x7f" and near.isalpha())
        return (2.0, 1.6, -1.0)[beside] if character in written else 1.0  # of letters with marks, three are no word
    if not character.isalpha() and before.isalpha() and after.isalpha():
        return -2.0  # a symbol inside a word
    if not character.isalpha():
        return -3.0 if unicodedata.category(character) in ("Cc", "Co", "Cn") else -0.7
    if character.isupper() and before.islower():
        return -1.0
    script = _script(character)
    if script == "LATIN":
        return 0.3
    if any(near.isalpha() and _script(near) != script for near in (before, after)):
        return -2.0  # mixed scripts in one word
    if character.islower() and not before.isalpha():
        return 0.8  # names begin with a capital, in alphabets that have some
    if script == "HANGUL":  # of the many syllables, only the usual ones have two bytes there
        return 1.2 if len(character.encode("euc_kr")) == 2 else 0.3
    of_kana = ["\u3041" <= each <= "\u30ff" for each in (before, character, after)]
    return 1.6 if of_kana[1] and (of_kana[0] or of_kana[2]) else 1.0


@lru_cache(maxsize=1024)
def _script(character: str) -> str:
    name = unicodedata.name(character, "UNKNOWN")
    return "CJK" if name.startswith(("HIRAGANA", "KATAKANA")) else name.partition(" ")[0]  # one word has them all
