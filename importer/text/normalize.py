"""How texts are compared: without regard to case, spacing and the dots of Turkish i."""

from __future__ import annotations

import re
import unicodedata

_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
_NO_LETTER_OR_DIGIT = re.compile(r"[\W_]+")


def normalize(text: str) -> str:
    """The text by which two texts are the same: `İSTANBUL`, `ıstanbul` and `istanbul` give one.

    Case, the kind and number of spaces, zero-width characters and the dots of Turkish i are taken out.
    Punctuation stays, for `C`, `C++` and `C#` are three values.
    """
    if text.isascii():
        return " ".join(text.casefold().split())
    text = unicodedata.normalize("NFKC", text.translate(_INVISIBLE))
    # casefold turns İ into i + combining dot and leaves ı alone, so that both are mapped by hand.
    folded = text.replace("İ", "i").replace("ı", "i").casefold().replace("i\u0307", "i")
    return " ".join(unicodedata.normalize("NFKC", folded).split())


def normalize_name(text: str) -> str:
    """The looser form by which a column is found: `E-posta`, `e posta` and `Eposta` give one.

    Beside what `normalize` takes out, punctuation and spaces are. A name of nothing else gives "".
    """
    return _NO_LETTER_OR_DIGIT.sub("", normalize(text))
