"""Fixes of many cells at once: for the cells of one cause, the rewrite that makes most of them valid.

A rewrite replaces signs that a valid text cannot have there; it never completes a text. A cell counts only if the
mapping then reads it without a problem. A person sees the count and examples before anything is replaced.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from importer.models import Row
from importer.problems import UsageError
from importer.web.models.checked_rows import CauseKey, CheckedRows

_LOOKED_AT: Final = 300  # rows of a cause, before a person chooses its fix
_EXAMPLES: Final = 3


@dataclass(frozen=True, slots=True)
class Fix:
    """A rewrite by its name, how many cells become valid by it, and examples of their old and new texts.

    rows: how many rows were looked at; is_all: the cause has no more.
    """

    name: str
    cells: int
    examples: tuple[tuple[str, str], ...]
    rows: int
    is_all: bool


def proposed_fix(checked: CheckedRows, cause: CauseKey) -> Fix | None:
    """The rewrite that makes most of the cells of a cause valid, of its first rows; None if none does."""
    rewrites = _REWRITES.get(cause[0], {})
    cells = list(checked.cells_of(cause, _LOOKED_AT + 1)) if rewrites else []
    best = None
    for name, rewrite in rewrites.items():
        fixed = list(_fixed(checked, cells[:_LOOKED_AT], rewrite))
        if fixed and (best is None or len(fixed) > best.cells):
            examples = tuple(dict.fromkeys((row.cells[index], new) for row, index, new in fixed))[:_EXAMPLES]
            best = Fix(name, len(fixed), examples, len(cells[:_LOOKED_AT]), len(cells) <= _LOOKED_AT)
    return best


def apply_fix(checked: CheckedRows, cause: CauseKey, name: str) -> int:
    """Correct all cells of a cause that become valid by a rewrite. Returns how many.

    Raises UsageError: there is no such rewrite for this cause.
    """
    if (rewrite := _REWRITES.get(cause[0], {}).get(name)) is None:
        raise UsageError("this fix is not known; load the page again")
    fixed = _fixed(checked, checked.cells_of(cause), rewrite)
    return checked.correct({(row.number, index): new for row, index, new in fixed})


_Cells = Iterator[tuple[Row, int]] | list[tuple[Row, int]]
_Rewrite = Callable[[str], str]


def _fixed(checked: CheckedRows, cells: _Cells, rewrite: _Rewrite) -> Iterator[tuple[Row, int, str]]:
    for row, index in cells:
        new = rewrite(row.cells[index]).strip()
        if new != row.cells[index] and checked.is_valid(row, index, new):
            yield row, index, new


# --- the rewrites -----------------------------------------------------------------------------------


def _replacing(*pairs: tuple[str, str]) -> _Rewrite:
    patterns = [(re.compile(pattern, re.IGNORECASE), new) for pattern, new in pairs]

    def rewrite(text: str) -> str:
        for pattern, new in patterns:
            text = pattern.sub(new, text)
        return text

    return rewrite


_AROUND: Final = r"^[\s<\[(\"\'“”„‘’]+|[\s>\])\"\'“”„‘’.,;:]+$"
# A blank inside a name could be a dot or an underscore as well, so only those beside @ and dots are removed.
_EMAIL: Final[Mapping[str, _Rewrite]] = {
    "at_sign": _replacing(
        (r"\s*[\[({<]\s*(?:at|@|ät)\s*[\])}>]\s*|\s+at\s+", "@"),
        (r"\s*[\[({<]\s*(?:dot|\.|punkt)\s*[\])}>]\s*|\s+dot\s+", "."),
    ),
    "blanks": _replacing((r"\s*([@.])\s*", r"\1")),
    "around": _replacing((r"^\s*(?:mailto|e-?mail)\s*:", ""), (_AROUND, "")),
    "commas": _replacing((r",(?=[^@]*$)", ".")),
    "signs_twice": _replacing((r"@{2,}", "@"), (r"\.{2,}(?=[^@]*$)", ".")),
}
_OTHER_LETTER: Final = re.compile(r"[^\W\d_OoIl]")


def _letters_as_digits(text: str) -> str:
    """A text with no other letters than those that look like digits, in digits."""
    return text if _OTHER_LETTER.search(text) else text.translate(str.maketrans("OoIl", "0011"))


_WORD: Final = r"\s*[(\[]?(?:[^\W\d_]+[.:]?\s*)+[)\]]?[.:]?\s*"  # one between digits may announce an extension
_PHONE: Final[Mapping[str, _Rewrite]] = {
    "pluses": _replacing((r"^\s*\+(?:\s*\+)+|^\s*00\s*\+", "+"), (r"\++\s*$", "")),
    "letters_as_digits": _letters_as_digits,
    "words": _replacing((rf"^{_WORD}", ""), (rf"{_WORD}$", "")),
    "around": _replacing((_AROUND.replace("(", ""), "")),
}
_DATE: Final[Mapping[str, _Rewrite]] = {
    "year_first": _replacing((r"^\s*(\d{4})\s*[./]\s*(\d\d)\s*[./]\s*(\d\d)\s*$", r"\1-\2-\3"))
}
_REWRITES: Final[Mapping[str, Mapping[str, _Rewrite]]] = {
    "email-invalid": _EMAIL,
    "phone-invalid": _PHONE,
    "date-invalid": _DATE,
}
