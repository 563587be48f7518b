"""A header as words: without case, accents, punctuation, numbers and the endings that Turkish puts on a noun."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from importer.suggest.header_words import NOISE_WORDS
from importer.text.normalize import normalize

_CAMEL = re.compile(r"(?<=[a-zçğıöşüäß])(?=[A-ZÇĞİÖŞÜÄ])")
_WORD = re.compile(r"[^\W\d_]+")
_LETTERS = str.maketrans({"ä": "ae", "ß": "ss"})  # ö and ü are Turkish too: they lose their dots in either language
_YOUR = re.compile(r"(?<=[a-z]{2})[iu]?n[iu]z$")  # Adınız, numaranız
_ITS = re.compile(r"(?<=[a-z]{4})s?[iu]$")  # tarihi, numarası


@lru_cache(maxsize=8192)
def words_of(text: str) -> tuple[str, ...]:
    """The words of a header in order: `Telefon Numaranız *` is `telefon`, `numara`; `jobTitle2` is `job`, `title`."""
    return tuple(_stem(_plain(word)) for word in _WORD.findall(normalize(_CAMEL.sub(" ", text))))


@lru_cache(maxsize=8192)
def key_of(text: str) -> str:
    """What two headers that say the same have in common, spaces left out: `E mail` and `email` are one."""
    return "".join(words_of(text))


def bare_key_of(text: str) -> str:
    """The key without words that say nothing about the content (`Candidate e-mail` is `email`)."""
    return "".join(word for word in words_of(text) if word not in NOISE_WORDS)


def joined(text: str) -> str:
    """The words with one space between them, for comparing likeness."""
    return " ".join(words_of(text))


def _plain(word: str) -> str:
    decomposed = unicodedata.normalize("NFD", word.translate(_LETTERS))
    return "".join(sign for sign in decomposed if not unicodedata.combining(sign))


def _stem(word: str) -> str:
    return _ITS.sub("", _YOUR.sub("", word))
