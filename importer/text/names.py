"""What the words of a full name show about their order: capitals, patronymics, and last names in Cyrillic."""

from __future__ import annotations

import re
from collections.abc import Sequence

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
